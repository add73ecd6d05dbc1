package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// exported returns the lines of an export without what is not imported.
func exported(t *testing.T, ndjson string) (out []memoryLine) {
	t.Helper()
	for line := range strings.Lines(ndjson) {
		var l memoryLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		l.Namespace, l.Score, l.Version, l.Recorded = "", 0, 0, l.Occurred
		out = append(out, l)
	}
	return out
}

func TestExportAndImport(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t,
		`{"id":"a/b","content":"Ada <likes> é\noolong","memory_type":"semantic","importance":0,"user_id":"ada","agent_id":"g","session_id":"s","tags":["x"],"metadata":{"n":12345678901234567890},"profile":true,"occurred":"2020-01-02T03:04:05.123456Z","expires":"2100-01-01T00:00:00Z"}`,
		`{"id":"c","content":"everyone's","pinned":true}`, `{"id":"gone","content":"x"}`)
	f.call(t, "DELETE", "/v1/memories/gone", "")
	into[any](t, f.call(t, "POST", "/v1/turns", `{"id":"t","prompt":"Hello.","session_id":"s"}`), 201)
	fact := `{"id":"fact-1","content":"The user lives in Rome.","memory_type":"semantic","user_id":"ada","tags":["identity"],"occurred":"2026-01-01T00:00:00Z",` +
		`"about":{"kind":"identity","subject":"user","attribute":"home","value":"Rome","exclusive":true,"confidence":0.9,"rule":"lives","reason":"says so","when":"now"},` +
		`"sources":[{"turn":"t0","message":1,"start":2,"end":9,"at":"2026-01-01T00:00:00Z"}],"access_count":3,"last_accessed":"2026-01-02T00:00:00Z"}`
	send := func(ns, body string) MemoryImport {
		t.Helper()
		return into[MemoryImport](t, f.call(t, "POST", "/v1/memories:import?namespace="+ns, body, "Content-Type: application/x-ndjson"), 200)
	}
	if done := send("default", fact); done.Created != 1 || len(done.Errors) != 0 {
		t.Fatalf("%+v", done)
	}
	m := into[ragctx.Memory](t, f.call(t, "GET", "/v1/memories/fact-1", ""), 200)
	if m.About == nil || m.About.Kind != ragctx.FactIdentity || m.About.Value != "Rome" || len(m.Sources) != 1 || m.Sources[0].End != 9 || m.Uses != 3 {
		t.Errorf("%+v", m)
	}
	export := func(query string) string {
		t.Helper()
		a := f.call(t, "GET", "/v1/memories:export"+query, "")
		if a.status != 200 || a.header.Get("Content-Type") != linesType {
			t.Fatalf("%+v", a)
		}
		return a.body
	}
	all := export("?all_users=true")
	if n := strings.Count(all, "\n"); n != 4 {
		t.Fatalf("%d lines: %s", n, all)
	}
	for i, want := range []MemoryImport{{Created: 4}, {Unchanged: 4}, {Unchanged: 4}} {
		want.Errors = []LineError{}
		if done := send("copy", all); !reflect.DeepEqual(done, want) {
			t.Errorf("import %d: %+v", i, done)
		}
	}
	if done := send("default", all); done.Unchanged != 4 {
		t.Errorf("where it comes from: %+v", done)
	}
	again := export("?all_users=true&namespace=copy")
	if got, want := exported(t, again), exported(t, all); !reflect.DeepEqual(got, want) {
		t.Errorf("came back as\n%s, want\n%s", again, all)
	}
	if got := export("?namespace=copy&tag=none"); got != "" {
		t.Error(got)
	}
	if got := export("?namespace=copy&history=true&user_id=ada&contains=oolong"); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"history":[{`) {
		t.Error(got)
	}
	if p := f.call(t, "GET", "/v1/memories:export?limit=2", "").problem(t); p.Status != 422 {
		t.Errorf("%+v", p)
	}
}

// TestImportOfBadLines: one bad line never fails the others.
func TestImportOfBadLines(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t, `{"id":"hers","content":"x","user_id":"ada"}`)
	body := strings.Join([]string{
		`{"id":"a","content":"good"}`,
		`{"id":"b"}`,
		`{"id":"c","content":""}`,
		`not json`,
		``,
		`{"id":"d","content":"x","memory_type":"odd"}`,
		`{"id":"e","content":"x","importance":2,"extra":1}`,
		`{"id":"","content":"x"}`,
		`{"id":"g","content":"x","state":"quarantined"}`,
		`{"id":"h","content":"x","expires":"2001-01-01T00:00:00Z"}`,
		`{"id":"hers","content":"not hers"}`,
		`{"id":"i","content":"x","about":{"kind":"odd"}}`,
		`{"id":"j","content":"x","sources":[{"turn":"t"}]}`,
		`{"id":"k","content":"` + strings.Repeat("x", 9<<20) + `"}`,
		`{"id":"z","content":"good, too"}`,
	}, "\n")
	done := into[MemoryImport](t, f.call(t, "POST", "/v1/memories:import", body, "Content-Type: application/x-ndjson"), 200)
	if done.Created != 2 || done.Failed != 12 {
		t.Errorf("%+v", done)
	}
	wants := []string{"2 content", "3 content", "4 line", "6 memory_type", "7 importance", "8 id", "9 state", "10 expires", `11 memory "hers"`, "12 about.kind", "13 sources", "14 line"}
	for i, e := range done.Errors {
		if got := fmt.Sprintf("%d %s", e.Line, e.Error); i >= len(wants) || !strings.HasPrefix(got, wants[i]) {
			t.Errorf("error %d: %+v", i, e)
		}
	}
	if got := ids(t, f.call(t, "GET", "/v1/memories?order=id", "")); got != "a z" {
		t.Error(got)
	}
	if p := f.call(t, "POST", "/v1/memories:import", `{}`).problem(t); p.Status != 415 {
		t.Errorf("%+v", p)
	}
}

// TestEveryMemoryComesBack sends memories of all kinds out of one namespace and into
// another.
func TestEveryMemoryComesBack(t *testing.T) {
	f := start(t, Options{})
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		from, to := fmt.Sprintf("from%d", n), fmt.Sprintf("to%d", n)
		text := rapid.StringN(1, 40, 200).Filter(func(s string) bool { return strings.TrimSpace(s) != "" && !strings.ContainsRune(s, 0) })
		for i := range rapid.IntRange(1, 4).Draw(rt, "memories") {
			m := ragctx.Memory{
				ID: fmt.Sprint("m", i), Namespace: from, Content: text.Draw(rt, "content"), Importance: rapid.Float64Range(0, 1).Draw(rt, "importance"),
				UserID:  rapid.SampledFrom([]string{"", "ada", "é"}).Draw(rt, "user"),
				Type:    rapid.SampledFrom([]ragctx.MemoryType{ragctx.MemoryEpisodic, ragctx.MemorySemantic, ragctx.MemoryProcedural, ragctx.MemoryWorking}).Draw(rt, "type"),
				Profile: rapid.Bool().Draw(rt, "profile"), Pinned: rapid.Bool().Draw(rt, "pinned"),
				Tags: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y z", "<é>"}), 0, 3, rapid.ID).Draw(rt, "tags"),
			}
			if _, _, err := f.eng.Memories().Put(t.Context(), m); err != nil {
				rt.Fatal(err)
			}
		}
		var out, again bytes.Buffer
		all := store.MemoryFilter{AnyUser: true}
		if err := f.client.ExportMemories(t.Context(), from, all, false, &out); err != nil {
			rt.Fatal(err)
		}
		for range 2 {
			if done, err := f.client.ImportMemories(t.Context(), to, strings.NewReader(out.String())); err != nil || done.Failed > 0 || done.Replaced > 0 {
				rt.Fatalf("%+v, %v", done, err)
			}
		}
		if err := exportMemories(t.Context(), f.eng.Memories(), to, all, false, &again); err != nil {
			rt.Fatal(err)
		}
		if got, want := exported(t, again.String()), exported(t, out.String()); !reflect.DeepEqual(got, want) {
			rt.Fatalf("came back as\n%s, want\n%s", again.String(), out.String())
		}
	})
}
