package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/sessiontest"
)

type volatile struct{ *session.Memory }

func (volatile) Close() error { return nil }

func TestMemory(t *testing.T) {
	sessiontest.Test(t, func(_ testing.TB, _ string, o session.Options) sessiontest.Storage {
		return volatile{session.NewMemory(o)}
	}, sessiontest.Options{Volatile: true})
}

// The lines of a session.
const lines = `{"type":"session","version":1,"id":"s","createdAt":"2026-01-02T03:04:05Z","leafId":"b"}
{"type":"message","id":"a","section":"messages","timestamp":"2026-01-02T03:04:06Z","data":{"id":"a","createdAt":"2026-01-02T03:04:06Z","role":"user","content":"hi"}}
{"type":"message","id":"b","parentId":"a","section":"buffer","data":{"id":"b","parentId":"a","role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}]}}
{"type":"label","id":"label-a","parentId":"a","targetId":"a","label":"start"}
{"type":"compaction","id":"c","timestamp":"2026-01-02T03:04:07Z","data":{"id":"c","createdAt":"2026-01-02T03:04:07Z","from":"a","to":"a","record":{"x":1}}}
`

// TestDepth: a line with deep nesting is quarantined before it is decoded.
func TestDepth(t *testing.T) {
	nested := func(n int) string {
		return `{"type":"message","id":"m","section":"messages","data":{"role":"user","content":"]]}}\"[[","_metadata":{"x":` +
			strings.Repeat("[", n) + strings.Repeat("]", n) + "}}}\n"
	}
	for n, want := range map[int]int{61: 0, 62: 1, 100_000: 1} {
		a, bad, err := session.ReadJSONL(strings.NewReader(`{"type":"session","version":1,"id":"s"}` + "\n" + nested(n)))
		if err != nil || len(bad) != want || len(a.Entries) != 1-want {
			t.Errorf("%d: %d entries, %v, %v", n, len(a.Entries), bad, err)
		}
	}
}

func TestJSONL(t *testing.T) {
	a, bad, err := session.ReadJSONL(strings.NewReader(lines))
	if err != nil || len(bad) > 0 {
		t.Fatalf("%+v, %v", bad, err)
	}
	if a.ID != "s" || a.Leaf != "b" || len(a.Entries) != 2 || a.Labels["a"] != "start" || len(a.Compactions) != 1 {
		t.Errorf("%+v", a)
	}
	var b bytes.Buffer
	if err := session.WriteJSONL(&b, a); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(lines, b.String()); d != "" {
		t.Error(d)
	}
}

// upTo returns the text before something that is in it.
func upTo(text, end string) string {
	before, _, _ := strings.Cut(text, end)
	return before
}

// Damaged lines are quarantined with a reason, and the rest is read.
func TestLenientJSONL(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		path  string // of the leaf
		label string
		bad   []string // line and reason
	}{
		"cut off": {upTo(lines, `,"section":"buffer"`), "a", "", []string{"3 unexpected end"}},
		"torn":    {strings.Replace(lines, `{"type":"label"`, "\x00\x00", 1), "a b", "", []string{"4 invalid character"}},
		"unknown": {lines + `{"type":"branch_summary","id":"z"}` + "\n\n", "a b", "start", []string{`6 the type "branch_summary"`}},
		// a damaged line keeps its place: ancestors stay on the path
		"bad role": {strings.Replace(lines, `"role":"assistant"`, `"role":"pirate"`, 1) +
			`{"type":"message","id":"d","parentId":"b","data":{"role":"user","content":"on"}}`, "a", "start", []string{"3 role"}},
		"bad and navigated": {strings.Replace(strings.Replace(lines, `"role":"assistant"`, `"role":"pirate"`, 1), `"leafId":"b"`, `"leafId":"d"`, 1) +
			`{"type":"message","id":"d","parentId":"b","data":{"role":"user","content":"on"}}`, "a d", "start", []string{"3 role"}},
		"a lost circle": {strings.Replace(lines, `"leafId":"b"`, `"leafId":"x"`, 1) + `{"type":"message","id":"x","parentId":"y","data":7}` + "\n" +
			`{"type":"message","id":"y","parentId":"x","data":7}`, "a b", "start", []string{"6 json", "7 json"}},
		"lost twice": {strings.Replace(lines, `"leafId":"b"`, `"leafId":"z"`, 1) + `{"type":"message","id":"x","parentId":"b","data":7}` + "\n" +
			`{"type":"message","id":"y","parentId":"x","data":7}` + "\n" + `{"type":"message","id":"z","parentId":"y","data":{"content":"z"}}`, "a b z", "start", []string{"6 json", "7 json"}},
		"twice":         {lines + strings.Split(lines, "\n")[1], "a b", "start", []string{`6 another message has the id "a"`}},
		"two headers":   {lines + strings.Split(lines, "\n")[0], "a b", "start", []string{"6 a second header"}},
		"no header":     {strings.Join(strings.Split(lines, "\n")[1:], "\n"), "a b", "start", nil},
		"newer":         {strings.Replace(lines, `"version":1`, `"version":2`, 1), "a b", "start", []string{"1 version 2"}},
		"label of what": {lines + `{"type":"label","targetId":"?","label":"x"}`, "a b", "start", []string{"6 no message"}},
		"unlabelled":    {lines + `{"type":"label","targetId":"a","label":null}`, "a b", "", nil},
		"range of what": {strings.Replace(lines, `"to":"a"`, `"to":"?"`, 1), "a b", "start", []string{"5 to: no message"}},
		"no id":         {lines + `{"type":"message","data":{"role":"user","content":"x"}}`, "a b", "start", []string{"6 the message has no id"}},
		"no data":       {lines + `{"type":"message","id":"x"}` + "\n" + `{"type":"compaction","id":"x"}`, "a b", "start", []string{"6 unexpected end", "7 unexpected end"}},
	} {
		a, bad, err := session.ReadJSONL(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		path, err := a.Path("")
		var ids []string
		for _, e := range path {
			ids = append(ids, e.Message.ID)
		}
		if err != nil || strings.Join(ids, " ") != c.path || a.Labels["a"] != c.label {
			t.Errorf("%s: the path is %v, %v; labels %v", name, ids, err, a.Labels)
		}
		for i, b := range bad {
			if i >= len(c.bad) || !strings.HasPrefix(fmt.Sprintf("%d %s", b.Line, b.Reason), c.bad[i]) || b.Text == "" {
				t.Errorf("%s: quarantined %+v", name, b)
			}
		}
		if len(bad) != len(c.bad) {
			t.Errorf("%s: %d lines are quarantined, want %v", name, len(bad), c.bad)
		}
		if _, err := session.NewMemory(session.Options{}).Create(t.Context(), session.Key{ID: "s"}, a, ""); err != nil {
			t.Errorf("%s cannot be imported: %v", name, err)
		}
	}
}

func TestUnreadableJSONL(t *testing.T) {
	for _, in := range []string{"", "\n\n", "hello\n", `{"type":"label"}`} {
		if a, _, err := session.ReadJSONL(strings.NewReader(in)); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%q: %+v, %v", in, a, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := session.ReadJSONL(io.MultiReader(strings.NewReader(lines), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	long := lines + `{"type":"message","id":"` + strings.Repeat("x", 33<<20) + "\"}\n" + `{"type":"label","targetId":"b","label":"end"}`
	a, bad, err := session.ReadJSONL(strings.NewReader(long))
	if err != nil || len(bad) != 1 || bad[0].Line != 6 || len(bad[0].Text) > 1000 || a.Labels["b"] != "end" {
		t.Errorf("a line without end: %d put aside, %v, %v", len(bad), a.Labels, err)
	}
}

// Writing is strict.
func TestStrictJSONL(t *testing.T) {
	bad := session.Archive{Entries: []session.Entry{{Message: ragctx.Message{ID: "a", Role: "pirate"}}}}
	var b bytes.Buffer
	if err := session.WriteJSONL(&b, bad); !errors.Is(err, ragctx.ErrInvalid) || b.Len() > 0 {
		t.Errorf("%v: %s", err, &b)
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte(lines))
	f.Add([]byte(strings.Replace(lines, `"role":"assistant"`, `"role":"pirate"`, 1)))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, _, err := session.ReadJSONL(bytes.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := session.WriteJSONL(&b, a); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, bad, err := session.ReadJSONL(&b)
		if d := cmp.Diff(a, again, same, cmpopts.EquateApproxTime(time.Nanosecond)); err != nil || len(bad) > 0 || d != "" {
			t.Fatalf("%v, %+v:\n%s", err, bad, d)
		}
	})
}

// The result of saving, as it is written.
func TestResult(t *testing.T) {
	o := session.Options{Now: func() time.Time { return time.Unix(0, 0) }}
	r, err := session.Save(t.Context(), session.NewMemory(o), session.Key{ID: "s"}, sections(t, "messages:1"), session.Condition{}, o)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"sessionId":"s","success":true,"startedAt":"1970-01-01T00:00:00Z","finishedAt":"1970-01-01T00:00:00Z","durationMs":0,"sectionsStored":1,"messagesStored":1,"newMessages":1}`
	if got := marshal(t, r); got != want {
		t.Errorf("%s", got)
	}
}

func BenchmarkMemoryAppend(b *testing.B) {
	s, k := session.NewMemory(session.Options{}), session.Key{ID: "s"}
	if _, err := session.Save(b.Context(), s, k, long().Store(), session.Condition{}, session.Options{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := s.Append(b.Context(), k, session.SectionMessages, []ragctx.Message{user("one more")}, session.Condition{}); err != nil {
			b.Fatal(err)
		}
	}
}
