package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// TestSessionsPage runs the walk through of docs/sessions.md: each line after a $ is a
// request, and what follows is the answer, whose white space does not count and in which an
// ellipsis stands for anything.
func TestSessionsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/sessions.md")
	if err != nil {
		t.Fatal(err)
	}
	f, ran := start(t, Options{}), 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllSubmatch(page, -1) {
		for _, step := range strings.Split("\n"+string(block[1]), "\n$ ")[1:] {
			at := strings.LastIndex(step, "localhost:7700")
			end := at + strings.IndexByte(step[at:], '\n')
			method, target, body := curlLine(t, step[:end])
			a := f.call(t, method, target, body)
			ran++
			if want := pageAnswer(step[end:]); a.status >= 300 || !want.MatchString(bare(a.body)) {
				t.Errorf("%s\nanswers %d %s\nthe page says:%s", step[:end], a.status, a.body, step[end:])
			}
		}
	}
	if ran < 10 {
		t.Errorf("the page has only %d requests", ran)
	}
}

var (
	curlMethod = regexp.MustCompile(`^curl -s (?:-X ([A-Z]+) )?`)
	curlBody   = regexp.MustCompile(`(?s)--json '(.*)' `)
	curlTarget = regexp.MustCompile(`localhost:7700([^' ]+)'?$`)
)

// curlLine takes a command of curl apart.
func curlLine(t *testing.T, line string) (method, target, body string) {
	t.Helper()
	m, at := curlMethod.FindStringSubmatch(line), curlTarget.FindStringSubmatch(line)
	if m == nil || at == nil {
		t.Fatalf("not a request: %s", line)
	}
	if method = "GET"; m[1] != "" {
		method = m[1]
	}
	if b := curlBody.FindStringSubmatch(line); b != nil {
		body = b[1]
		if m[1] == "" {
			method = "POST"
		}
	}
	return method, at[1], body
}

// bare returns a text without its white space.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }

func pageAnswer(text string) *regexp.Regexp {
	return regexp.MustCompile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(bare(text)), "…", ".*?") + `\z`)
}

// talk appends texts to a session, of a user and an assistant in turn.
func (f *fixture) talk(t *testing.T, k session.Key, texts ...string) Appended {
	t.Helper()
	var messages []ragctx.Message
	for i, text := range texts {
		role := ragctx.RoleUser
		if i%2 > 0 {
			role = ragctx.RoleAssistant
		}
		messages = append(messages, ragctx.TextMessage(role, text))
	}
	said, err := saidOf(messages)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.client.AppendToSession(t.Context(), k, AppendRequest{Said: said, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// where returns the field that an answer is about.
func where(err error) string {
	if p, ok := errors.AsType[*Problem](err); ok && len(p.Errors) == 1 {
		return p.Errors[0].Location
	}
	return ""
}

// TestSessions takes a session through its life, by the client.
func TestSessions(t *testing.T) {
	f := start(t, Options{})
	ctx, c, k := t.Context(), f.client, session.Key{User: "ann", ID: "a/b%2F:compile"}
	made, err := c.CreateSession(ctx, SessionRequest{ID: k.ID, UserID: "ann", Layer: "compaction", Parameters: Metadata{"project": "x", "n": 9007199254740993}})
	if err != nil || made.ID != k.ID || made.UserID != "ann" || made.Namespace != "default" || made.Layer != "compaction" || made.Messages != 0 || made.CreatedAt.IsZero() {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := c.CreateSession(ctx, SessionRequest{ID: k.ID, UserID: "ann"}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("again: %v", err)
	}
	if got, err := c.DescribeSession(ctx, session.Key{ID: k.ID}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("nobody's: %+v, %v", got, err)
	}
	said := f.talk(t, k, "one", "two", "three", "four")
	two := said.Messages[1].ID
	if said.Leaf != said.Messages[3].ID || said.Messages[1].ParentID != said.Messages[0].ID {
		t.Errorf("%+v", said)
	}
	layer := "any"
	changed, err := c.ChangeSession(ctx, k, SessionPatch{Layer: &layer, Parameters: Metadata{"project": nil, "more": true}})
	if err != nil || changed.Layer != anyLayer || len(changed.Parameters) != 2 || changed.Parameters["more"] != true {
		t.Errorf("%+v, %v", changed, err)
	}
	if m, err := c.LabelMessage(ctx, k, two, "here"); err != nil || m.Label != "here" || m.Section != "messages" || m.Content.String() != "two" {
		t.Errorf("%+v, %v", m, err)
	}
	if at, err := c.NavigateSession(ctx, k, two); err != nil || at.Leaf != two {
		t.Errorf("%+v, %v", at, err)
	}
	f.talk(t, k, "another three")
	d, err := c.DescribeSession(ctx, k)
	if err != nil || d.Messages != 5 || d.Branches != 2 || d.Labels != 1 || len(d.Sections) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	fork, err := c.ForkSession(ctx, k, ForkRequest{To: "fork", MessageID: two})
	if err != nil || fork.ID != "fork" || fork.Messages != 2 || fork.Leaf != two || fork.Labels != 1 {
		t.Errorf("%+v, %v", fork, err)
	}
	if _, err := c.ForkSession(ctx, k, ForkRequest{To: "fork"}); !errors.Is(err, ragctx.ErrConflict) || where(err) != "body.to" {
		t.Errorf("the fork again: %v", err)
	}
	for _, tc := range []struct {
		section, leaf, before string
		limit                 int
		want, older           string
	}{
		{"", "", "", 0, "one two another three", ""},
		{"", said.Leaf, "", 2, "three four", said.Messages[2].ID},
		{"", "", two, 0, "one", ""},
		{"messages", "", "", 3, "three four another three", said.Messages[2].ID},
		{"messages", "", said.Messages[2].ID, 1, "two", two},
		{"none", "", "", 0, "", ""},
	} {
		cursor := func(id string) string {
			if id == "" {
				return ""
			}
			q := ofKept(k)
			set(q, "section", tc.section)
			return encodeCursor(listIdentity(keptAt(k)+"/messages", q), sessionMessageCursor{id})
		}
		page, err := c.SessionMessages(ctx, k, tc.section, tc.leaf, cursor(tc.before), tc.limit)
		var texts []string
		for _, m := range page.Messages {
			texts = append(texts, m.Content.String())
		}
		if got := strings.Join(texts, " "); err != nil || got != tc.want || page.NextCursor != cursor(tc.older) {
			t.Errorf("%+v: %q before %q, %v", tc, got, page.NextCursor, err)
		}
	}
	list, err := c.ListSessions(ctx, "", "ann", "", 1)
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].ID != "fork" || list.NextCursor == "" {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = c.ListSessions(ctx, "", "ann", list.NextCursor, 10)
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].ID != k.ID || list.NextCursor != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if labels, err := c.SessionLabels(ctx, k); err != nil || len(labels) != 1 || labels[0] != (Label{two, "here"}) {
		t.Errorf("%+v, %v", labels, err)
	}
	if erased, err := c.EraseSession(ctx, k); err != nil {
		t.Errorf("%+v, %v", erased, err)
	}
	if _, err := c.DescribeSession(ctx, k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("erased: %v", err)
	}
}

// TestSectionsOfASession replaces and removes sections, whose names may have slashes.
func TestSectionsOfASession(t *testing.T) {
	f := start(t, Options{})
	ctx, c, k := t.Context(), f.client, session.Key{ID: "s"}
	f.talk(t, k, "hello", "hi")
	said, err := saidOf([]ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "what there was")})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"summary", "a/b%c"} {
		if d, err := c.PutSection(ctx, k, name, said); err != nil || d.Messages != 3 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if page, err := c.SessionMessages(ctx, k, name, "", "", 0); err != nil || len(page.Messages) != 1 || page.Messages[0].Section != name {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
		if err := c.DeleteSection(ctx, k, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d, err := c.DescribeSession(ctx, k); err != nil || d.Messages != 2 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if err := c.DeleteSection(ctx, k, name); !errors.Is(err, ragctx.ErrNotFound) || where(err) != "path.section" {
			t.Errorf("%s again: %v", name, err)
		}
	}
}

// TestFormsOfSessions: what came in a vendor's form comes back in it, also where it came
// in pieces, and in the others as far as they can say it.
func TestFormsOfSessions(t *testing.T) {
	f := start(t, Options{})
	for format, pieces := range map[string][]string{
		"openai": {
			`{"role":"user","content":"why?"}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}}]}`,
			`{"role":"tool","content":"nothing","tool_call_id":"c1"}`,
			`{"role":"assistant","content":"No idea."}`,
		},
		"anthropic": {
			`{"role":"user","content":"why?"}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{"at":1}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"nothing"}]}`,
			`{"role":"assistant","content":"No idea."}`,
		},
		"gemini": {
			`{"role":"user","parts":[{"text":"why?"}]}`,
			`{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":1}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"nothing"}}}]}`,
			`{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":2}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"something"}}}]}`,
			`{"role":"model","parts":[{"text":"No idea."}]}`,
		},
	} {
		k := session.Key{ID: format}
		for i, piece := range pieces {
			said := Said{Format: format, Messages: SaidMessages{json.RawMessage(piece)}}
			a, err := f.client.AppendToSession(t.Context(), k, AppendRequest{Said: said, Create: true})
			if err != nil || len(a.Losses) > 0 {
				t.Fatalf("%s %d: %+v, %v", format, i, a, err)
			}
		}
		for _, to := range []string{"", "openai", "anthropic", "gemini"} {
			got, err := f.client.CompileSession(t.Context(), k, CompileRequest{Format: to})
			if err != nil || len(got.Dropped) > 0 || len(got.Messages) < len(pieces) {
				t.Errorf("%s as %q: %+v, %v", format, to, got, err)
			}
			if to != format {
				continue
			}
			for i, piece := range pieces {
				if diff := cmp.Diff(plain(t, json.RawMessage(piece), nil), plain(t, got.Messages[i], nil)); diff != "" {
					t.Errorf("%s %d (-sent +got):\n%s", format, i, diff)
				}
			}
		}
	}
}

// longTalk is a conversation that can be compacted.
func longTalk(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Repeat("We decided that step "+string(rune('a'+i%26))+" is done before lunch. ", 20)
	}
	return out
}

// summaries counts those of compactions.
func summaries(said Said) int {
	n := 0
	for _, m := range said.Messages {
		n += strings.Count(string(m), "[Context Summary")
	}
	return n
}

// TestCompactingASession: a compaction is told to whoever follows the session, shows in
// what is compiled, and can be undone.
func TestCompactingASession(t *testing.T) {
	f := start(t, Options{})
	ctx, k := t.Context(), session.Key{ID: "s"}
	f.talk(t, k, longTalk(60)...)
	f.talk(t, session.Key{ID: "other"}, longTalk(60)...)
	told := f.eventsFrom(t, "?session_id=s")
	rules := CompactRules{Window: 4000, KeepLast: 4, Strategy: "extractive"}
	if _, err := f.client.CompactSession(ctx, session.Key{ID: "other"}, rules); err != nil {
		t.Fatal(err)
	}
	if _, err := f.client.CompactSession(ctx, k, CompactRules{Strategy: "llm"}); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "llm_model") {
		t.Errorf("there is no model: %v", err)
	}
	got, err := f.client.CompactSession(ctx, k, rules)
	if err != nil || !got.Compacted || got.Record == nil || got.After.Tokens >= got.Before.Tokens || got.Before.Messages != 60 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, want := range []string{"context_warning", "context_compacting", "context_compacted"} {
		if ev := <-told; ev.name != want || !strings.Contains(ev.data, `"session_id":"s"`) {
			t.Errorf("%s instead of %s: %s", ev.name, want, ev.data)
		}
	}
	view, err := f.client.CompileSession(ctx, k, CompileRequest{})
	if err != nil || len(view.Messages) != got.After.Messages || summaries(view.Said) != 1 {
		t.Errorf("%+v, %v", view, err)
	}
	raw, err := f.client.CompileSession(ctx, k, CompileRequest{Raw: true})
	if err != nil || len(raw.Messages) != 60 {
		t.Errorf("%d raw messages, %v", len(raw.Messages), err)
	}
	short, err := f.client.CompileSession(ctx, k, CompileRequest{Raw: true, CompileRules: CompileRules{MaxTokens: raw.Tokens / 3}})
	if err != nil || short.Tokens > raw.Tokens/3 || len(short.Dropped)+len(short.Messages) != 60 {
		t.Errorf("%d tokens of %d, %d dropped, %v", short.Tokens, raw.Tokens, len(short.Dropped), err)
	}
	if due, err := f.client.CompactSession(ctx, k, CompactRules{IfDue: true}); err != nil || due.Compacted || due.Reason == "" {
		t.Errorf("not due: %+v, %v", due, err)
	}
	list, err := f.client.Compactions(ctx, k)
	if err != nil || len(list) != 1 || list[0].ID != got.Record.ID || list[0].From != got.Record.From {
		t.Errorf("%+v, %v", list, err)
	}
	if undone, err := f.client.UndoCompaction(ctx, k); err != nil || undone.ID != got.Record.ID {
		t.Errorf("%+v, %v", undone, err)
	}
	if _, err := f.client.UndoCompaction(ctx, k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("undone twice: %v", err)
	}
	if view, err = f.client.CompileSession(ctx, k, CompileRequest{}); err != nil || len(view.Messages) != 60 {
		t.Errorf("%d messages, %v", len(view.Messages), err)
	}
	if notes, err := f.client.Observations(ctx, k); err != nil || notes == nil || len(notes) > 0 {
		t.Errorf("%v, %v", notes, err)
	}
}

// TestWithoutSessions: what nobody stores is compiled and compacted as stored sessions
// are, and its second compaction merges the first.
func TestWithoutSessions(t *testing.T) {
	f := start(t, Options{})
	var messages []ragctx.Message
	for i, text := range longTalk(60) {
		m := ragctx.TextMessage(ragctx.RoleUser, text)
		if m.ID = "m" + string(rune('0'+i/10)) + string(rune('0'+i%10)); i%2 > 0 {
			m.Role = ragctx.RoleAssistant
		}
		messages = append(messages, m)
	}
	var records []compact.Record
	for _, n := range []int{40, 60} {
		said, err := saidOf(messages[:n])
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(compactStatelessRequest{Said: said, Records: records, CompactRules: CompactRules{Window: 4000, KeepLast: 4}})
		if err != nil {
			t.Fatal(err)
		}
		got := into[compactStatelessAnswer](t, f.call(t, "POST", "/v1/compact", string(body)), 200)
		if !got.Compacted || len(got.Messages) != got.After.Messages || got.After.Messages >= n {
			t.Fatalf("%+v", got)
		}
		records = append(records, *got.Record)
	}
	if len(records[1].Supersedes) != 1 {
		t.Errorf("the second compaction does not merge the first: %+v", records[1])
	}
	said, err := saidOf(messages)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(compileStatelessRequest{CompileSections: CompileSections{Said: said, Records: records}})
	if err != nil {
		t.Fatal(err)
	}
	shown := into[CompileAnswer](t, f.call(t, "POST", "/v1/compile", string(body)), 200)
	if n := summaries(shown.Said); n != 1 || len(shown.Messages) >= 60 {
		t.Errorf("%d summaries in %d messages", n, len(shown.Messages))
	}
	sections := `{"sections":[{"name":"messages","messages":[{"content":"b"}]},{"name":"summary","messages":[{"content":"a"}]},{"name":"notes","messages":[{"content":"c"}]}]`
	for extra, want := range map[string]string{"": "ab", `,"compiler":"all_sections"`: "bac", `,"compiler":"selected_sections","select":["notes","messages"]`: "cb"} {
		a := into[CompileAnswer](t, f.call(t, "POST", "/v1/compile", sections+extra+"}"), 200)
		texts := ""
		for _, raw := range a.Messages {
			var m ragctx.Message
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			texts += m.Content.String()
		}
		if texts != want {
			t.Errorf("%s: %q, want %q", extra, texts, want)
		}
	}
	if page, err := f.client.ListSessions(t.Context(), "", "", "", 0); err != nil || len(page.Sessions) > 0 {
		t.Errorf("something was stored: %+v, %v", page, err)
	}
}

// TestMovingSessions exports a session and imports it, also with lines that are damaged.
func TestMovingSessions(t *testing.T) {
	f := start(t, Options{})
	ctx, k := t.Context(), session.Key{ID: "s"}
	said := f.talk(t, k, "one", "two", "three")
	if _, err := f.client.LabelMessage(ctx, k, said.Leaf, "end"); err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := f.client.ExportSession(ctx, k, &first); err != nil {
		t.Fatal(err)
	}
	to := session.Key{ID: "t"}
	lines := first.String()
	in, err := f.client.ImportSession(ctx, to, strings.NewReader(lines))
	if err != nil || in.Failed != 0 || in.Session.Messages != 3 || in.Session.Labels != 1 || in.Session.Leaf != said.Leaf {
		t.Errorf("%+v, %v", in, err)
	}
	if err := f.client.ExportSession(ctx, to, &second); err != nil || strings.Replace(second.String(), `"id":"t"`, `"id":"s"`, 1) != lines {
		t.Errorf("%v:\n%s\n%s", err, second.String(), lines)
	}
	if _, err := f.client.ImportSession(ctx, to, strings.NewReader(lines)); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("over another: %v", err)
	}
	broken := strings.Replace(lines, `"data":{`, `"data":[{`, 1) + "{not json\n"
	if in, err = f.client.ImportSession(ctx, session.Key{ID: "u"}, strings.NewReader(broken)); err != nil || in.Failed != 2 || in.Session.Messages != 2 || in.Quarantined[0].Line != 2 {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := f.client.ImportSession(ctx, session.Key{ID: "v"}, strings.NewReader("{}\n")); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("nothing: %v", err)
	}
	if err := f.client.ExportSession(ctx, session.Key{ID: "v"}, &second); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("export of nothing: %v", err)
	}
}

// TestSessionFaults: what is wrong with a request is told of its field.
func TestSessionFaults(t *testing.T) {
	f := start(t, Options{})
	f.talk(t, session.Key{ID: "s"}, "one")
	const at, one = "/v1/sessions/s", `{"messages":[{"content":"a"}]`
	for _, tc := range []struct {
		method, target, body string
		status               int
		where                string
	}{
		{"POST", "/v1/sessions", `{"id":"s"}`, 409, "body.id"},
		{"POST", "/v1/sessions", `{"layer":"two"}`, 422, "body.layer"},
		{"POST", "/v1/sessions", `{"messages":[{"role":"robot","content":"a"}]}`, 422, "body.messages[0].role"},
		{"POST", "/v1/sessions", `{"parameters":{"compression_layer":"none"}}`, 422, "body.parameters.compression_layer"},
		{"GET", "/v1/sessions/none", "", 404, "path.id"},
		{"GET", "/v1/sessions?cursor=x", "", 422, "query.cursor"},
		{"PATCH", at, `{"layer":"two"}`, 422, "body.layer"},
		{"POST", at + "/messages", `{}`, 422, "body.messages"},
		{"POST", at + "/messages", `{"messages":[{"content":"a"},{"content":[{"type":"sound"}]}]}`, 422, "body.messages[1].content[0].type"},
		{"POST", at + "/messages", `{"messages":[{"content":"a","texts":"b"}]}`, 422, "body.messages[0].texts"},
		{"POST", at + "/messages", one + `,"format":"word"}`, 422, "body.format"},
		{"POST", at + "/messages", one + `,"system":"a"}`, 422, "body.system"},
		{"POST", at + "/messages", `{"messages":[{"role":"robot"}],"format":"gemini"}`, 422, "body.messages"},
		{"POST", at + "/messages", one + `,"parent_id":"none"}`, 422, "body.messages[0].parent_id"},
		{"POST", at + "/messages", one + `,"section":"notes","step":{"step_id":"1"}}`, 422, "body.section"},
		{"POST", "/v1/sessions/none/messages", one + `}`, 404, "path.id"},
		{"GET", at + "/messages?leaf=none", "", 404, "query.leaf"},
		{"GET", at + "/messages?cursor=" + encodeCursor(listIdentity(at+"/messages", nil), sessionMessageCursor{"none"}), "", 404, "query.cursor"},
		{"GET", at + "/messages?section=messages&cursor=" +
			encodeCursor(listIdentity(at+"/messages", url.Values{"section": {"messages"}}), sessionMessageCursor{"none"}), "", 422, "query.cursor"},
		{"GET", at + "/messages?section=messages&leaf=x", "", 422, "query.leaf"},
		{"GET", at + "/messages/none", "", 404, "path.message_id"},
		{"GET", at + "/messages/%00", "", 422, "path.message_id"},
		{"PUT", at + "/messages/none/label", `{"label":"x"}`, 404, "path.message_id"},
		{"PUT", at + "/sections/%FF", one + "}", 422, "path.section"},
		{"DELETE", at + "/sections/none", "", 404, "path.section"},
		{"POST", at + ":compile", `{"compiler":"gcc"}`, 422, "body.compiler"},
		{"POST", at + ":compile", `{"leaf":"none"}`, 404, "body.leaf"},
		{"POST", at + ":compile", `{"tokenizer":"words"}`, 422, "body.tokenizer"},
		{"POST", at + ":compact", `{"threshold":0.01}`, 422, "body.threshold"},
		{"POST", at + ":compact", `{"policy":"none"}`, 422, "body.policy"},
		{"POST", at + ":navigate", `{"message_id":"none"}`, 404, "body.message_id"},
		{"POST", at + ":navigate", `{}`, 422, "body.message_id"},
		{"POST", at + ":fork", `{"message_id":"none"}`, 404, "body.message_id"},
		{"POST", "/v1/compile", `{"messages":[{}],"sections":[]}`, 422, "body.sections"},
		{"POST", "/v1/compile", `{"sections":[{"name":"a","messages":[]},{"name":"a","messages":[]}]}`, 422, "body.sections"},
		{"POST", "/v1/compile", `{"sections":[{"name":"a","messages":[{"role":1}]}]}`, 422, "body.sections[0].messages[0].role"},
		{"POST", "/v1/compact", one + `,"policy":"buffer"}`, 422, "body.policy"},
		{"DELETE", at, "", 422, "query.erase"},
	} {
		a := f.call(t, tc.method, tc.target, tc.body)
		if a.status < 300 {
			t.Errorf("%s %s %s: %s", tc.method, tc.target, tc.body, a.body)
			continue
		}
		if p := a.problem(t); p.Status != tc.status || len(p.Errors) != 1 || p.Errors[0].Location != tc.where {
			t.Errorf("%s %s %s: %d %+v, want %d %s", tc.method, tc.target, tc.body, p.Status, p.Errors, tc.status, tc.where)
		}
	}
}

// TestManyBlocks: a message has no more blocks than one that is stored, wherever it is sent.
func TestManyBlocks(t *testing.T) {
	f := start(t, Options{})
	f.talk(t, session.Key{ID: "s"}, "one")
	many := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a"},`, session.MaxBlocks+1), ",")
	said := func(content string) string {
		return `[{"role":"user","content":"a"},{"role":"user","content":[` + content + `]}]`
	}
	within := `{"type":"tool_result","tool_use_id":"x","content":[` + many + `]}`
	for _, target := range []string{"/v1/compile", "/v1/compact", "/v1/assemble", "/v1/sessions/s:assemble", "/v1/sessions/s/messages"} {
		for body, where := range map[string]string{
			`{"messages":` + said(many) + `}`:                                                           "body.messages[1].content",
			`{"messages":` + said(within) + `}`:                                                         "body.messages[1].content",
			`{"format":"openai","messages":` + said(many) + `}`:                                         "body.messages[1].content",
			`{"format":"anthropic","system":"Be brief.","messages":` + said(many) + `}`:                 "body.messages[1].content",
			`{"format":"anthropic","system":[` + many + `],"messages":[{"role":"user","content":"a"}]}`: "body.system",
		} {
			p := f.call(t, "POST", target, body).problem(t)
			if p.Status != 413 || len(p.Errors) != 1 || p.Errors[0].Location != where || !strings.Contains(p.Detail, "limit is 4096; split it into several") {
				t.Errorf("%s %.60s: %d %s %+v, want %s", target, body, p.Status, p.Detail, p.Errors, where)
			}
		}
	}
	most := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a"},`, session.MaxBlocks), ",")
	into[CompileAnswer](t, f.call(t, "POST", "/v1/compile", `{"messages":`+said(most)+`}`), 200)
}

// TestChangingASession: a change is made whole or not at all.
func TestChangingASession(t *testing.T) {
	f := start(t, Options{})
	f.talk(t, session.Key{ID: "s"}, "one")
	long, none := strings.Repeat("x", session.MaxParameters), "none"
	_, err := f.client.ChangeSession(t.Context(), session.Key{ID: "s"}, SessionPatch{Layer: &none, Parameters: Metadata{"a": long}})
	if !errors.Is(err, ragctx.ErrTooLarge) || where(err) != "body.parameters" {
		t.Errorf("too much: %v", err)
	}
	if d, err := f.client.DescribeSession(t.Context(), session.Key{ID: "s"}); err != nil || d.Layer != anyLayer {
		t.Errorf("half of it was done: %+v, %v", d, err)
	}
}

// TestAppendingAgain: a request with a key appends once, also if the process ended
// between the work and the answer.
func TestAppendingAgain(t *testing.T) {
	f := start(t, Options{})
	const body = `{"create":true,"messages":[{"content":"one"},{"role":"assistant","content":"two"}]}`
	key := "Idempotency-Key: k"
	first, again := f.call(t, "POST", "/v1/sessions/s/messages", body, key), f.call(t, "POST", "/v1/sessions/s/messages", body, key)
	if first.status != 201 || again.body != first.body || again.header.Get(replayedHeader) != "true" {
		t.Errorf("%d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	in := &appendInput{SessionKey: SessionKey{ID: "s"}}
	if err := json.Unmarshal([]byte(body), &in.Body); err != nil {
		t.Fatal(err)
	}
	ctx := context.WithValue(t.Context(), seedKey, "seed")
	once, err := f.appendToSession(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := f.appendToSession(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once.Body, twice.Body); diff != "" || once.ETag == "" || twice.ETag != "" { // which has made no state of its own
		t.Errorf("%q, then %q (-first +second):\n%s", once.ETag, twice.ETag, diff)
	}
	if d, err := f.client.DescribeSession(t.Context(), session.Key{ID: "s"}); err != nil || d.Messages != 4 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestAppendingAnotherForm: a message in another vendor's form is refused with a remedy, and
// what may be said so and is not understood is told.
// What means nothing is refused, and errors are about the field that the caller wrote.
func TestSessionFieldsThatMeanNothing(t *testing.T) {
	f := start(t, Options{})
	f.talk(t, session.Key{ID: "s"}, longTalk(2)...)
	for _, c := range []struct {
		path, body, location string
		status               int
	}{
		{"/messages", `{"messages":[{"content":"x"}],"step":{}}`, "body.step", 422},
		{"/messages", `{"messages":[{"content":"x"}],"step":{"tool_executions":{"a":"b"}}}`, "body.step", 422},
		{":compile", `{"select":["messages"]}`, "body.select", 422},
		{":compile", `{"compiler":"all_sections","select":["messages"]}`, "body.select", 422},
		{":compile", `{"leaf":"unknown"}`, "body.leaf", 404},
		{":assemble", `{"budget":{"window":4000},"leaf":"unknown"}`, "body.leaf", 404},
		{":navigate", `{"message_id":"unknown"}`, "body.message_id", 404},
		{":fork", `{"message_id":"unknown"}`, "body.message_id", 404},
	} {
		p := f.call(t, "POST", "/v1/sessions/s"+c.path, c.body).problem(t)
		if p.Status != c.status || len(p.Errors) != 1 || p.Errors[0].Location != c.location {
			t.Errorf("%s %s: %d %+v", c.path, c.body, p.Status, p.Errors)
		}
	}
	const large = `{"n":9007199254740993}`
	f.call(t, "PATCH", "/v1/sessions/s", `{"parameters":`+large+`}`)
	if got := f.call(t, "GET", "/v1/sessions/s", ""); !strings.Contains(got.body, `"n":9007199254740993`) {
		t.Errorf("a number has lost digits: %s", got.body)
	}
}

// A request that was done and not answered finds the session that it made, whether it names one
// or not. For other requests that one is in the way.
func TestMakingASessionAgain(t *testing.T) {
	f := start(t, Options{})
	f.talk(t, session.Key{ID: "s"}, longTalk(4)...)
	of := func(request string) context.Context { return context.WithValue(t.Context(), seedKey, request) }
	for _, id := range []string{"", "mine"} {
		said := &sessionInput{Body: SessionRequest{ID: id, Said: Said{Messages: SaidMessages{json.RawMessage(`{"content":"hello"}`)}}}}
		first, err := f.createSession(of("made "+id), said)
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.createSession(of("made "+id), said)
		if d := cmp.Diff(first, again); err != nil || d != "" || again.Body.Messages != 1 {
			t.Errorf("%q is created: %v (-first +again):\n%s", id, err, d)
		}
		in := &forkInput{SessionKey: SessionKey{ID: "s"}, Body: ForkRequest{To: id + id}}
		fork, err := f.forkSession(of("forked "+id), in)
		if err != nil {
			t.Fatal(err)
		}
		forked, err := f.forkSession(of("forked "+id), in)
		if d := cmp.Diff(fork, forked); err != nil || d != "" || forked.Body.Messages != 4 {
			t.Errorf("%q is forked: %v (-first +again):\n%s", id, err, d)
		}
	}
	for _, id := range []string{"s", "mine"} {
		if _, err := f.createSession(of("another"), &sessionInput{Body: SessionRequest{ID: id}}); !errors.Is(err, ragctx.ErrConflict) {
			t.Errorf("%s is taken: %v", id, err)
		}
		if _, err := f.forkSession(of("another"), &forkInput{SessionKey: SessionKey{ID: "s"}, Body: ForkRequest{To: id}}); !errors.Is(err, ragctx.ErrConflict) {
			t.Errorf("%s is taken, for a fork: %v", id, err)
		}
	}
}

func TestAppendingAnotherForm(t *testing.T) {
	f := start(t, Options{})
	at := "/v1/sessions/s/messages"
	for body, want := range map[string]string{
		`{"format":"anthropic","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]}]}`: "tool_calls: is a field of the form openai",
		`{"format":"gemini","messages":[{"role":"model","content":"x"}]}`:                                   "content: is a field of the form openai or anthropic",
		`{"format":"openai","messages":[{"role":"user","text":"typo"}]}`:                                    "text: is not understood",
	} {
		p := f.call(t, "POST", at, `{"create":true,`+body[1:]).problem(t)
		if p.Status != 422 || p.Errors[0].Location != "body.messages" || !strings.Contains(p.Errors[0].Message, want) {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if _, err := f.client.DescribeSession(t.Context(), session.Key{ID: "s"}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("something was stored: %v", err)
	}
	got := into[Appended](t, f.call(t, "POST", at, `{"create":true,"format":"openai","messages":[{"role":"assistant","thoughts":"x"}]}`), 201)
	if len(got.Losses) != 1 || !strings.Contains(got.Losses[0].What, "thoughts") {
		t.Errorf("%+v", got)
	}
}

// TestAppendingIsNotLost: a new request whose ids other messages have is a conflict, with
// a key too. What is equal and in its place is a repetition.
func TestAppendingIsNotLost(t *testing.T) {
	f := start(t, Options{})
	const said = `{"create":true,"messages":[
		{"id":"m0","content":"<hello>"},
		{"id":"m1","role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c","name":"look","input":{"at": 1e2}}],"metadata":{"n":9007199254740993,"a":[]}},
		{"id":"m2","role":"tool","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}],"step":{"execution_id":"e","step_id":"1"}}`
	at := "/v1/sessions/s/messages"
	first := f.call(t, "POST", at, said, "Idempotency-Key: first")
	if first.status != 201 {
		t.Fatalf("%d %s", first.status, first.body)
	}
	if again := f.call(t, "POST", at, said, "Idempotency-Key: again"); again.status != 201 || again.body != first.body {
		t.Errorf("the same: %d %s", again.status, again.body)
	}
	for name, body := range map[string]string{
		"another text":             `{"messages":[{"id":"m0","content":"transfer it"}]}`,
		"another role":             `{"messages":[{"id":"m0","role":"assistant","content":"<hello>"}]}`,
		"another name":             `{"messages":[{"id":"m0","name":"ann","content":"<hello>"}]}`,
		"other metadata":           `{"messages":[{"id":"m0","content":"<hello>","metadata":{"a":1}}]}`,
		"another parent":           `{"messages":[{"id":"m2","role":"tool","parent_id":"m0","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}]}`,
		"another section":          `{"section":"notes","messages":[{"id":"m0","content":"<hello>"}]}`,
		"after another one":        `{"messages":[{"id":"m1","role":"assistant","content":"I look."},{"id":"m0","content":"<hello>"}]}`,
		"one of them is not there": `{"messages":[{"id":"m0","content":"<hello>"},{"id":"new","content":"and this"}]}`,
	} {
		if a := f.call(t, "POST", at, body, "Idempotency-Key: "+name); a.status != 409 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if d, err := f.client.DescribeSession(t.Context(), session.Key{ID: "s"}); err != nil || d.Messages != 3 || d.Leaf != "m2" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestSessionsOfAKey: a key of a user sees and erases that user's sessions alone.
func TestSessionsOfAKey(t *testing.T) {
	f := start(t, Options{})
	for _, user := range []string{"ann", "ben"} {
		f.talk(t, session.Key{User: user, ID: "s"}, "of "+user)
	}
	made, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "ann", Role: access.Write, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	ann := NewClientWith(f.url, ClientOptions{Key: made.Text})
	t.Cleanup(ann.Close)
	if page, err := ann.ListSessions(t.Context(), "", "", "", 0); err != nil || len(page.Sessions) != 1 || page.Sessions[0].UserID != "ann" {
		t.Errorf("%+v, %v", page, err)
	}
	if page, err := ann.SessionMessages(t.Context(), session.Key{ID: "s"}, "", "", "", 0); err != nil || page.Messages[0].Content.String() != "of ann" {
		t.Errorf("%+v, %v", page, err)
	}
	for name, try := range map[string]func(k session.Key) error{
		"read":   func(k session.Key) error { _, err := ann.DescribeSession(t.Context(), k); return err },
		"append": func(k session.Key) error { _, err := ann.NavigateSession(t.Context(), k, ""); return err },
		"erase":  func(k session.Key) error { _, err := ann.EraseSession(t.Context(), k); return err },
	} {
		if err := try(session.Key{User: "ben", ID: "s"}); !errors.Is(err, ragctx.ErrDenied) && !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%s of another's: %v", name, err)
		}
	}
	if _, err := ann.EraseSession(t.Context(), session.Key{User: "ann", ID: "s"}); err != nil {
		t.Error(err)
	}
	if ok, err := session.Has(t.Context(), f.eng.Sessions().Storage(), session.Key{User: "ben", ID: "s"}); !ok || err != nil {
		t.Errorf("the other's is gone: %v", err)
	}
}

// TestSessionPaths: a session may be called like what is below one, and a message like
// anything.
func TestSessionPaths(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"messages", "a/messages", "x/compile", "s/messages/m/label", "sections/summary", ".", "..", "100%", "%2F", "é/ü"} {
		k := session.Key{ID: id}
		for _, message := range []string{"m", "label", "a/label", "..", "%41", "m/messages/n"} {
			said := Said{Messages: SaidMessages{json.RawMessage(`{"id":` + string(quoted(message)) + `,"content":"x"}`)}}
			if _, err := f.client.AppendToSession(t.Context(), k, AppendRequest{Said: said, Create: true}); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if m, err := f.client.LabelMessage(t.Context(), k, message, "l"); err != nil || m.ID != message {
				t.Errorf("label %s of %s: %+v, %v", message, id, m, err)
			}
			if m, err := f.client.SessionMessage(t.Context(), k, message); err != nil || m.ID != message || m.Label != "l" {
				t.Errorf("%s of %s: %+v, %v", message, id, m, err)
			}
		}
		if d, err := f.client.DescribeSession(t.Context(), k); err != nil || d.ID != id || d.Messages != 6 {
			t.Errorf("%s: %+v, %v", id, d, err)
		}
	}
	if a := f.call(t, "GET", "/v1/sessions/"+url.PathEscape("a/messages"), ""); a.status != 200 {
		t.Errorf("escaped: %d", a.status)
	}
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a text: cannot fail
	return b
}

// TestAuditOfSessions: the log names the session that was changed, until it is erased.
func TestAuditOfSessions(t *testing.T) {
	f := start(t, Options{})
	said := f.talk(t, session.Key{ID: "s"}, "one")
	if _, err := f.client.LabelMessage(t.Context(), session.Key{ID: "s"}, said.Leaf, "here"); err != nil {
		t.Fatal(err)
	}
	targets := func() (out []string) {
		for _, e := range into[auditPage](t, f.call(t, "GET", "/v1/audit", ""), 200).Entries {
			out = append(out, e.Operation+" "+e.Target)
		}
		return out
	}
	if diff := cmp.Diff([]string{"label-session-message s", "append-session-messages s"}, targets()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := f.client.EraseSession(t.Context(), session.Key{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"erase-session ", "label-session-message ", "append-session-messages "}, targets()); diff != "" {
		t.Errorf("after erasing (-want +got):\n%s", diff)
	}

	f.talk(t, session.Key{ID: "a", User: "ann"}, "one")
	f.talk(t, session.Key{ID: "b"}, "one")
	if _, err := f.client.ForkSession(t.Context(), session.Key{ID: "b"}, ForkRequest{To: "c"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.client.LabelMessage(t.Context(), session.Key{ID: "c"}, f.talk(t, session.Key{ID: "c"}, "two").Leaf, "here"); err != nil {
		t.Fatal(err)
	}
	if a := f.call(t, "DELETE", "/v1/users/ann?erase=true", ""); a.status != 200 {
		t.Fatalf("erase a user: %d %s", a.status, a.body)
	}
	if _, err := f.client.EraseSession(t.Context(), session.Key{ID: "b"}); err != nil {
		t.Fatal(err)
	}
	for _, one := range targets() {
		if name := one[strings.LastIndexByte(one, ' ')+1:]; name != "" && name != "ann" {
			t.Errorf("after erasing the user and what the fork is of: %q", one)
		}
	}
}

// TestTagOfASession: whoever has what there is need not be sent it again.
func TestTagOfASession(t *testing.T) {
	f := start(t, Options{})
	said := f.talk(t, session.Key{ID: "s"}, "one")
	for _, target := range []string{"/v1/sessions/s", "/v1/sessions/s/messages/" + said.Leaf} {
		tag := f.call(t, "GET", target, "").header.Get(tagHeader)
		if a := f.call(t, "GET", target, "", unlessHeader+": "+tag); a.status != 304 || a.body != "" {
			t.Errorf("%s: %d", target, a.status)
		}
		if _, err := f.client.LabelMessage(t.Context(), session.Key{ID: "s"}, said.Leaf, "at "+target); err != nil {
			t.Fatal(err)
		}
		if a := f.call(t, "GET", target, "", unlessHeader+": "+tag); a.status != 200 {
			t.Errorf("%s after a change: %d", target, a.status)
		}
	}
}

// TestImportingAgain: an import with a key is done once, also if the process ended between the
// work and the answer.
func TestImportingAgain(t *testing.T) {
	f := start(t, Options{})
	f.talk(t, session.Key{ID: "s"}, longTalk(4)...)
	lines := f.call(t, "GET", "/v1/sessions/s:export", "").body + "{damaged\n"
	const at, key = "/v1/sessions/copy:import", "Idempotency-Key: k"
	first, again := f.call(t, "POST", at, lines, asLines, key), f.call(t, "POST", at, lines, asLines, key)
	if got := into[SessionImport](t, first, 201); got.Session.Messages != 4 || got.Failed != 1 {
		t.Errorf("%+v", got)
	}
	if again.status != 201 || again.body != first.body || again.header.Get(replayedHeader) != "true" || again.header.Get(tagHeader) != first.header.Get(tagHeader) {
		t.Errorf("%d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	// The tag is that of the session.
	if got := f.call(t, "PATCH", "/v1/sessions/copy", `{"layer":"none"}`, "If-Match: "+first.header.Get(tagHeader)); got.status != 200 {
		t.Errorf("imported as %q: %d %s", first.header.Get(tagHeader), got.status, got.body)
	}
	// As if the process had ended before the answer was noted; others have gone on since.
	k := store.RequestKey{Namespace: "default", Route: "POST " + verbPath(sessionsRoot, "import"), Key: "k"}
	a, known, err := f.eng.Requests().Known(t.Context(), k)
	if err != nil || !known {
		t.Fatalf("%+v, %v", a, err)
	}
	a.Status = 0
	if err := f.eng.Requests().End(t.Context(), k, a); err != nil {
		t.Fatal(err)
	}
	f.call(t, "POST", "/v1/sessions/copy/messages", `{"messages":[{"content":"since"}]}`)
	if got := into[SessionImport](t, f.call(t, "POST", at, lines, asLines, key), 201); got.Session.Messages != 5 || got.Failed != 1 {
		t.Errorf("after a crash: %+v", got)
	}
	// Another body is another request, and for a request without the key the session is in the way.
	if p := f.call(t, "POST", at, lines+lines, asLines, key).problem(t); p.Status != 422 || p.Errors[0].Location != "header."+keyHeader {
		t.Errorf("another body: %+v", p)
	}
	for _, header := range []string{"Idempotency-Key: other", "X-None: x"} {
		if p := f.call(t, "POST", at, lines, asLines, header).problem(t); p.Status != 409 {
			t.Errorf("%s: %+v", header, p)
		}
	}
	// What is refused leaves its key free.
	if p := f.call(t, "POST", at, lines, "Content-Type: application/json", "Idempotency-Key: free").problem(t); p.Status != 415 {
		t.Errorf("%+v", p)
	}
	into[SessionImport](t, f.call(t, "POST", "/v1/sessions/free:import", lines, asLines, "Idempotency-Key: free"), 201)
}

// An import with a key that is none is refused before its body is there.
func TestImportWithABadKey(t *testing.T) {
	f := start(t, Options{})
	body, never := io.Pipe()
	defer never.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/v1/sessions/s:import", body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 64 << 20 // too much for the server to read it only to keep the connection
	req.Header.Set("Content-Type", linesType)
	req.Header.Set(keyHeader, strings.Repeat("k", maxKeyBytes+1))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("answered %s", res.Status)
	}
}
