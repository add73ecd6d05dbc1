package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// remembered stores memories, each a JSON object without its id and content.
func (f *fixture) remembered(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		into[any](t, f.call(t, "POST", "/v1/memories", line), 201)
	}
}

// ids returns the ids of a list of memories.
func ids(t *testing.T, a answer) string {
	t.Helper()
	var out []string
	for _, m := range into[memoryPage](t, a, 200).Memories {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

func TestListMemories(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t,
		`{"id":"a","content":"Oolong at four","importance":0.2,"tags":["tea"],"occurred":"2026-01-03T00:00:00Z","pinned":true}`,
		`{"id":"b","content":"Assam at noon","importance":0.9,"tags":["tea","strong"],"occurred":"2026-01-01T00:00:00Z","memory_type":"semantic"}`,
		`{"id":"c","content":"Coffee, too","importance":0.5,"tags":["bean"],"occurred":"2026-01-02T00:00:00Z","profile":true}`,
		`{"id":"d","content":"gone","importance":1}`, `{"id":"e","content":"ada's","user_id":"ada"}`)
	f.call(t, "DELETE", "/v1/memories/d", "")
	for query, want := range map[string]string{
		"":                                      "b c a",
		"?order=recent":                         "a c b",
		"?order=importance":                     "b c a",
		"?order=id":                             "a b c",
		"?order=id&all_users=true":              "a b c e",
		"?user_id=ada&order=id":                 "a b c e",
		"?contains=AT":                          "b a",
		"?contains=100%25":                      "",
		"?tag=tea":                              "b a",
		"?tag=strong&tag=bean":                  "b c",
		"?tag=none":                             "",
		"?min_importance=0.5":                   "b c",
		"?pinned=true":                          "a",
		"?profile=true":                         "c",
		"?pinned=false&order=id":                "a b c",
		"?type=semantic":                        "b",
		"?kind=preference":                      "",
		"?occurred_after=2026-01-02T00:00:00Z":  "c a",
		"?occurred_before=2026-01-02T00:00:00Z": "b",
		"?state=deleted":                        "d",
		"?state=superseded":                     "",
		"?state=quarantined":                    "",
		"?as_of=2026-01-01T00:00:00Z":           "",
	} {
		if got := ids(t, f.call(t, "GET", "/v1/memories"+query, "")); got != want {
			t.Errorf("list %q: %q, want %q", query, got, want)
		}
	}
	for query, where := range map[string]string{
		"?state=odd": "query.state", "?order=odd": "query.order", "?kind=odd": "query.kind", "?min_importance=2": "query.min_importance",
		"?min_importance=x": "query.min_importance", "?occurred_after=now": "query.occurred_after", "?all_users=true&user_id=ada": "query.all_users",
		"?state=deleted&as_of=2026-01-01T00:00:00Z": "query.as_of",
	} {
		if p := f.call(t, "GET", "/v1/memories"+query, "").problem(t); p.Status != 422 || p.Errors[0].Location != where {
			t.Errorf("list %q: %+v", query, p)
		}
	}
}

// TestPagesInEveryOrder: the pages of a list make the list, and a page of one order is
// none of another.
func TestPagesInEveryOrder(t *testing.T) {
	f := start(t, Options{})
	for i := range 7 {
		f.remembered(t, fmt.Sprintf(`{"id":"m%d","content":"x","importance":%v,"occurred":"2026-01-0%dT00:00:00Z"}`, i, float64(i%3)/2, 1+i%4))
	}
	for _, order := range []string{"score", "recent", "importance", "id"} {
		want := ids(t, f.call(t, "GET", "/v1/memories?order="+order, ""))
		var got []string
		for cursor := ""; ; {
			page := into[memoryPage](t, f.call(t, "GET", "/v1/memories?limit=2&order="+order+cursor, ""), 200)
			for _, m := range page.Memories {
				got = append(got, m.ID)
			}
			if page.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + page.NextCursor
			if order == "recent" {
				f.call(t, "GET", "/v1/memories?order=id"+cursor, "").problem(t)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", order, got, want)
		}
	}
}

func TestChangeMemory(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t, `{"id":"a/b","content":"one","importance":0.2,"tags":["x"],"metadata":{"k":{"a":1,"b":2},"n":12345678901234567890},"occurred":"2026-01-01T00:00:00Z","expires":"2100-01-01T00:00:00Z"}`)
	patch := func(body string, status store.Status) memoryPut {
		t.Helper()
		put := into[memoryPut](t, f.call(t, "PATCH", "/v1/memories/a/b", body), 200)
		if put.Status != status {
			t.Errorf("%s: %s, want %s", body, put.Status, status)
		}
		return put
	}
	m := patch(`{"content":"two","metadata":{"k":{"a":null,"c":[3]}},"pinned":true}`, store.Replaced)
	if m.Content != "two" || m.Version != 2 || !m.Pinned || m.Importance != 0.2 || fmt.Sprint(m.Tags) != "[x]" || m.Expires.IsZero() || m.Occurred.Day() != 1 {
		t.Errorf("%+v", m)
	}
	a := f.call(t, "GET", "/v1/memories/a/b", "")
	if !strings.Contains(a.body, `"metadata":{"k":{"b":2,"c":[3]},"n":12345678901234567890}`) || !strings.Contains(a.body, `"state":"active"`) {
		t.Error(a.body)
	}
	if m := patch(`{"content":"two","pinned":true,"tags":["x"]}`, store.Unchanged); m.Version != 2 {
		t.Errorf("%+v", m)
	}
	if m := patch(`{"expires":null,"tags":[],"importance":0}`, store.Replaced); !m.Expires.IsZero() || len(m.Tags) != 0 || m.Importance != 0 {
		t.Errorf("%+v", m)
	}
	if m := patch(`{"ttl":"1h"}`, store.Replaced); m.Expires.IsZero() {
		t.Errorf("%+v", m)
	}
	patch(`{}`, store.Unchanged)
	for body, where := range map[string]string{
		`{"content":""}`: "body.content", `{"importance":2}`: "body.importance", `{"expires":"2001-01-01T00:00:00Z"}`: "body.expires",
		`{"ttl":"1h","expires":null}`: "body.ttl", `{"ttl":0}`: "body.ttl", `{"ttl":"soon"}`: "body.ttl", `{"user_id":"eve"}`: "body.user_id", `{"tags":[""]}`: "body.tags[0]",
	} {
		if p := f.call(t, "PATCH", "/v1/memories/a/b", body).problem(t); p.Status != 422 || p.Errors[0].Location != where {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if p := f.call(t, "PATCH", "/v1/memories/none", `{"content":"x"}`).problem(t); p.Status != 404 {
		t.Errorf("%+v", p)
	}
}

func TestTagsOfAMemory(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t, `{"id":"a/b","content":"x","tags":["one"]}`, `{"id":"c","content":"y","tags":["one","two"],"user_id":"ada"}`)
	for _, tc := range []struct{ method, body, want string }{
		{"PATCH", `{"add":["two","one"],"remove":["three"]}`, "[one two]"},
		{"PUT", `{"tags":["four"]}`, "[four]"},
		{"PATCH", `{"add":["one"],"remove":["four"]}`, "[one]"},
	} {
		for _, path := range []string{"/v1/memories/a/b/tags", "/v1/memories/a%2Fb/tags"} {
			if m := into[memoryPut](t, f.call(t, tc.method, path, tc.body), 200); fmt.Sprint(m.Tags) != tc.want {
				t.Errorf("%s %s: %v", tc.method, tc.body, m.Tags)
			}
		}
	}
	for query, want := range map[string]string{"": "[{one 1}]", "?all_users=true": "[{one 2} {two 1}]", "?user_id=ada&limit=1": "[{one 2}]", "?namespace=none": "[]"} {
		if list := into[tagList](t, f.call(t, "GET", "/v1/memories:tags"+query, ""), 200); fmt.Sprint(list.Tags) != want {
			t.Errorf("tags %q: %v, want %s", query, list.Tags, want)
		}
	}
}

// TestHistoryAndUndo also looks for ids that look like routes.
func TestHistoryAndUndo(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"m", "a/b", "x:undo", "y/history", "history", "tags", "z/tags"} {
		path := "/v1/memories/" + escaped(id)
		ops := func() (out string) {
			for _, c := range into[memoryHistory](t, f.call(t, "GET", path+"/history", ""), 200).History {
				out += " " + string(c.Op)
				if c.Undone {
					out += "~"
				}
			}
			return out
		}
		f.remembered(t, fmt.Sprintf(`{"id":%q,"content":"one"}`, id))
		into[any](t, f.call(t, "PATCH", path, `{"content":"two"}`), 200)
		f.call(t, "DELETE", path, "")
		if got := ops(); got != " created updated deleted" {
			t.Errorf("%s: %s", id, got)
		}
		for i, want := range []string{"two", "one", ""} {
			u := into[undone](t, f.call(t, "POST", path+":undo", ""), 200)
			if u.Undone.Op != []ragctx.ChangeOp{ragctx.OpDeleted, ragctx.OpUpdated, ragctx.OpCreated}[i] {
				t.Errorf("%s: undid %s", id, u.Undone.Op)
			}
			if want == "" {
				f.call(t, "GET", path, "").problem(t)
			} else if m := into[ragctx.Memory](t, f.call(t, "GET", path, ""), 200); m.Content != want {
				t.Errorf("%s: %q, want %q", id, m.Content, want)
			}
		}
		if p := f.call(t, "POST", path+":undo", "").problem(t); p.Status != 409 {
			t.Errorf("%s: %+v", id, p)
		}
		if got := ops(); got != " created~ updated~ deleted~ undone undone undone" {
			t.Errorf("%s: %s", id, got)
		}
	}
	for _, path := range []string{"/v1/memories/none/history", "/v1/memories/m/history?user_id=x&namespace=n"} {
		if p := f.call(t, "GET", path, "").problem(t); p.Status != 404 {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// TestOnlyTheOwner: a caller who acts as a user cannot reach another's memory.
func TestOnlyTheOwner(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t, `{"id":"m","content":"ada's","user_id":"ada"}`)
	into[any](t, f.call(t, "POST", "/v1/turns", `{"id":"t","prompt":"ada's, too","user_id":"ada","session_id":"s"}`), 201)
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/v1/memories/m", ""},
		{"PATCH", "/v1/memories/m", `{"content":"eve's"}`},
		{"PUT", "/v1/memories/m/tags", `{"tags":["eve"]}`},
		{"POST", "/v1/memories/m/tags", `{"add":["eve"]}`},
		{"GET", "/v1/memories/m/history", ""},
		{"POST", "/v1/memories/m:undo", ""},
		{"POST", "/v1/memories/m:release", ""},
		{"POST", "/v1/memories/m:discard", ""},
		{"GET", "/v1/turns/t", ""},
		{"POST", "/v1/turns/t:undo", ""},
		{"DELETE", "/v1/memories/m", ""},
	} {
		if p := f.call(t, r.method, r.path+"?user_id=eve", r.body).problem(t); p.Status != 404 {
			t.Errorf("%s %s: %+v", r.method, r.path, p)
		}
	}
	if m := into[ragctx.Memory](t, f.call(t, "GET", "/v1/memories/m?user_id=ada", ""), 200); m.Content != "ada's" || m.Version != 1 {
		t.Errorf("%+v", m)
	}
	for _, c := range []string{"", "bob"} {
		if _, err := f.client.FindMemory(t.Context(), "", "m", engine.Viewer{User: c}); err == nil {
			t.Errorf("user %q found it", c)
		}
	}
}

func TestTurnAsStored(t *testing.T) {
	f := start(t, Options{})
	body := `{"id":"a/t","session_id":"s","messages":[{"role":"user","content":"Hello."},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"find","input":{"q":1}}]}],"metadata":{"n":12345678901234567890}}`
	into[any](t, f.call(t, "POST", "/v1/turns", body), 201)
	a := f.call(t, "GET", "/v1/turns/a/t", "")
	turn := into[turn](t, a, 200)
	if turn.ID != "a/t" || len(turn.Messages) != 2 || turn.Recorded.IsZero() || !strings.Contains(a.body, `"n":12345678901234567890`) || !strings.Contains(a.body, `"input":{"q":1}`) {
		t.Error(a.body)
	}
	h := into[memoryHistory](t, f.call(t, "GET", "/v1/memories/a/t/history", ""), 200).History
	if len(h) != 1 || h[0].Op != ragctx.OpCreated || h[0].By != ragctx.ByTurn || h[0].Turn != "a/t" || !strings.Contains(h[0].Content, "Hello.") {
		t.Errorf("%+v", h)
	}
	if p := f.call(t, "POST", "/v1/memories/a/t:undo", "").problem(t); p.Status != 409 {
		t.Errorf("%+v", p)
	}
	if u := into[turnUndone](t, f.call(t, "POST", "/v1/turns/a/t:undo", ""), 200); len(u.MemoryIDs) != 0 {
		t.Errorf("%+v", u)
	}
	for _, r := range [][2]string{{"GET", "/v1/turns/none"}, {"POST", "/v1/turns/none:undo"}} {
		if p := f.call(t, r[0], r[1], "").problem(t); p.Status != 404 {
			t.Errorf("%v: %+v", r, p)
		}
	}
}

func TestTTL(t *testing.T) {
	f := start(t, Options{})
	for ttl, want := range map[string]int{`3600`: 3600, `"36h"`: 36 * 3600, `"30d"`: 30 * 86400, `"0.5d"`: 43200, `"90"`: 90, `1.5e3`: 1500} {
		m := into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", `{"content":"x","ttl":`+ttl+`}`), 201)
		if left := m.Expires.Sub(m.Recorded).Seconds(); left < float64(want)-1 || left > float64(want)+1 {
			t.Errorf("ttl %s: %v s", ttl, left)
		}
	}
	for _, ttl := range []string{`0`, `-1`, `"-1h"`, `"1y"`, `1e300`, `"NaN"`, `""`, `true`} {
		a := f.call(t, "POST", "/v1/memories", `{"content":"x","ttl":`+ttl+`}`)
		if ttl == `""` {
			into[any](t, a, 201) // the same as none
		} else if p := a.problem(t); p.Status != 422 || p.Errors[0].Location != "body.ttl" {
			t.Errorf("ttl %s: %+v", ttl, p)
		}
	}
	if p := f.call(t, "POST", "/v1/memories", `{"content":"x","ttl":1,"expires":"2100-01-01T00:00:00Z"}`).problem(t); p.Errors[0].Location != "body.ttl" {
		t.Errorf("%+v", p)
	}
}

func TestOutcomes(t *testing.T) {
	f := start(t, Options{})
	m := into[memoryPut](t, f.call(t, "POST", "/v1/memories:outcome", `{"prompt":"Roll back","tools":["git","deploy"],"result":"Release 7 serves.","user_id":"ada","session_id":"s"}`), 201)
	if m.Content != "Success: Roll back\nTools: git, deploy\nResult: Release 7 serves." || m.Type != ragctx.MemoryProcedural || m.Importance != 0.8 ||
		fmt.Sprint(m.Tags) != "[success pattern]" || fmt.Sprint(m.Metadata) != "map[prompt:Roll back tools:[git deploy]]" || m.UserID != "ada" || m.SessionID != "s" {
		t.Errorf("%+v", m)
	}
	m = into[memoryPut](t, f.call(t, "POST", "/v1/memories:outcome", `{"prompt":"Roll back","tools":["git"],"error":"conflict"}`), 201)
	if m.Content != "Failure: Roll back\nError: conflict\nAttempted tools: git" || m.Type != ragctx.MemoryEpisodic || m.Importance != 0.9 ||
		fmt.Sprint(m.Tags) != "[failure avoid]" || fmt.Sprint(m.Metadata) != "map[error:conflict prompt:Roll back]" {
		t.Errorf("%+v", m)
	}
	for body, where := range map[string]string{
		`{"prompt":"x"}`: "body.result", `{"prompt":"x","result":"a","error":"b"}`: "body.error", `{"prompt":" ","result":"a"}`: "body.prompt",
	} {
		if p := f.call(t, "POST", "/v1/memories:outcome", body).problem(t); p.Status != 422 || p.Errors[0].Location != where {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if p := f.call(t, "POST", "/v1/memories:outcome", `{"result":"x","prompt":"`+strings.Repeat("x", 17<<10)+`"}`).problem(t); p.Status != 413 {
		t.Errorf("%+v", p)
	}
}

func TestPruneAndStats(t *testing.T) {
	f := start(t, Options{})
	f.remembered(t,
		`{"id":"old","content":"x","importance":0.4,"occurred":"2020-01-01T00:00:00Z"}`,
		`{"id":"dear","content":"x","importance":0.6,"occurred":"2020-01-01T00:00:00Z"}`,
		`{"id":"pinned","content":"x","importance":0,"occurred":"2020-01-01T00:00:00Z","pinned":true}`,
		`{"id":"hers","content":"x","importance":0.4,"occurred":"2020-01-01T00:00:00Z","user_id":"ada","memory_type":"working"}`,
		`{"id":"new","content":"x","importance":0.1}`)
	prune := func(body, want string) {
		t.Helper()
		if p := into[engine.Pruned](t, f.call(t, "POST", "/v1/memories:prune", body), 200); strings.Join(p.IDs, " ") != want || p.More {
			t.Errorf("prune %s: %+v, want %s", body, p, want)
		}
	}
	prune(`{"dry_run":true}`, "old")
	prune(`{"dry_run":true,"all_users":true}`, "hers old")
	prune(`{"dry_run":true,"min_importance":1}`, "old dear")
	prune(`{"dry_run":true,"max_age_days":0,"max_items":1}`, "old new")
	st := into[store.MemoryStats](t, f.call(t, "GET", "/v1/memories:stats?all_users=true", ""), 200)
	if st.LongTerm != 5 || st.ShortTerm != 5 || st.Working != 1 || st.ByType["episodic"] != 4 || st.Superseded != 0 {
		t.Errorf("%+v", st)
	}
	prune(`{}`, "old")
	prune(`{}`, "")
	into[any](t, f.call(t, "POST", "/v1/memories/old:undo", ""), 200)
	if got := ids(t, f.call(t, "GET", "/v1/memories?order=id", "")); got != "dear new old pinned" {
		t.Errorf("after undo: %s", got)
	}
	for body, where := range map[string]string{
		`{"all_users":true,"user_id":"x"}`: "body.all_users", `{"max_items":-1}`: "body.max_items", `{"min_importance":2}`: "body.min_importance",
	} {
		if p := f.call(t, "POST", "/v1/memories:prune", body).problem(t); p.Status != 422 || p.Errors[0].Location != where {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if a := f.call(t, "GET", "/v1/memories:stats?namespace="+url.QueryEscape("no/ne"), ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
}
