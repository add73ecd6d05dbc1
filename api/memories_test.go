package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

func TestMemoryLifecycle(t *testing.T) {
	f := start(t, Options{})
	body := `{"id":"a/b","content":"Ada likes oolong","memory_type":"SEMANTIC","importance":0,"user_id":"ada","tags":["tea"],"namespace":"n"}`
	m := into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", body), 201)
	if m.ID != "a/b" || m.Importance != 0 || m.Type != ragctx.MemorySemantic || m.Version != 1 {
		t.Errorf("%+v", m)
	}
	if m := into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", strings.Replace(body, "oolong", "assam", 1)), 200); m.Version != 2 {
		t.Errorf("replaced: %+v", m)
	}
	for _, id := range []string{"a/b", "a%2Fb"} { // the admin reads anyone's
		if m := into[ragctx.Memory](t, f.call(t, "GET", "/v1/memories/"+id+"?namespace=n", ""), 200); m.Content != "Ada likes assam" {
			t.Errorf("%+v", m)
		}
	}
	for query, want := range map[string]int{
		"": 0, "&user_id=ada": 1, "&user_id=bob": 0, "&all_users=true": 1,
		"&all_users=true&type=semantic": 1, "&all_users=true&type=working&type=episodic": 0,
		"&all_users=true&tag=tea": 1, "&all_users=true&tag=te": 0, "&all_users=true&session_id=s": 0,
	} {
		page := into[memoryPage](t, f.call(t, "GET", "/v1/memories?namespace=n"+query, ""), 200)
		if page.Memories == nil || len(page.Memories) != want {
			t.Errorf("list %q: %d memories, want %d", query, len(page.Memories), want)
		}
	}
	for body, want := range map[string]int{
		`{"query":"assam","namespace":"n"}`: 0, `{"query":"assam","namespace":"n","user_id":"ada"}`: 1,
		`{"query":"assam","namespace":"n","user_id":"ada","context_types":["Memory"]}`: 1, `{"query":"assam","user_id":"ada"}`: 0,
	} {
		if found := into[engine.SearchResult](t, f.call(t, "POST", "/v1/memories:search", body), 200); len(found.Items) != want {
			t.Errorf("search %s: %d items, want %d", body, len(found.Items), want)
		}
	}
	if a := f.call(t, "DELETE", "/v1/memories/a/b?namespace=n", ""); a.status != 204 {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
	f.call(t, "GET", "/v1/memories/a/b?namespace=n", "").problem(t)
}

// TestMemoryCalledSearch checks that the route of searches hides no memory.
func TestMemoryCalledSearch(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"search", "search/x", "searching"} {
		into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"id":%q,"content":"x"}`, id)), 201)
		if m := into[ragctx.Memory](t, f.call(t, "GET", "/v1/memories/"+id, ""), 200); m.ID != id {
			t.Errorf("%q came back as %q", id, m.ID)
		}
	}
}

func TestMemoryPages(t *testing.T) {
	f := start(t, Options{})
	for i := range 5 {
		into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"id":"m%d","content":"x","importance":0.%d}`, i, i)), 201)
	}
	var ids []string
	cursor := ""
	for {
		page := into[memoryPage](t, f.call(t, "GET", "/v1/memories?limit=2&cursor="+cursor, ""), 200)
		for _, m := range page.Memories {
			ids = append(ids, m.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "m4 m3 m2 m1 m0" {
		t.Errorf("order: %s", got)
	}
}

func TestTurns(t *testing.T) {
	f := start(t, Options{})
	body := `{"id":"t1","prompt":"Which port?","response":"8443","session_id":"s","occurred":"2026-01-01T00:00:00Z"}`
	first := into[engine.TurnResult](t, f.call(t, "POST", "/v1/turns", body), 201)
	again := into[engine.TurnResult](t, f.call(t, "POST", "/v1/turns", body), 200)
	if first.MemoryID == "" || first.MemoryID != again.MemoryID || again.Status != store.Unchanged {
		t.Errorf("%+v, then %+v", first, again)
	}
	m := into[ragctx.Memory](t, f.call(t, "GET", "/v1/memories/"+first.MemoryID, ""), 200)
	if m.Content != "user: Which port?\nassistant: 8443" {
		t.Errorf("%+v", m)
	}
}

// TestMemoryPagesWhileDeleting: a list whose pages are deleted as they are read
// ends when everything is gone.
func TestMemoryPagesWhileDeleting(t *testing.T) {
	f := start(t, Options{})
	for i := range 7 {
		into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"id":"m%d","content":"x"}`, i)), 201)
	}
	n := 0
	for cursor := "?limit=2"; cursor != ""; {
		page := into[memoryPage](t, f.call(t, "GET", "/v1/memories"+cursor, ""), 200)
		for _, m := range page.Memories {
			n++
			f.call(t, "DELETE", "/v1/memories/"+m.ID, "")
		}
		if cursor = ""; page.NextCursor != "" {
			cursor = "?limit=2&cursor=" + page.NextCursor
		}
	}
	if n != 7 {
		t.Errorf("listed %d of 7", n)
	}
}

// TestCursorsKeepScores: a score that went through a cursor is the same to the bit.
func TestCursorsKeepScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := memoryCursor{Now: time.Unix(1, 2).UTC(), Score: rapid.Float64Range(-1, 2).Draw(t, "score"), ID: rapid.String().Draw(t, "id")}
		if got, err := decodeCursor[memoryCursor](encodeCursor("list", c), "list"); err != nil || got != c {
			t.Errorf("%+v came back as %+v, %v", c, got, err)
		}
	})
}

func TestItemOfAMemory(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"m", "a@1#0"} {
		into[ragctx.Memory](t, f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"id":%q,"content":"é one\ntwo"}`, id)), 201)
		a := f.call(t, "GET", "/v1/items/"+url.PathEscape(id), "")
		item := into[Item](t, a, 200)
		if item.ID != id || item.Text != "é one\ntwo" || item.Type != ragctx.TypeMemory || item.Version != 1 || item.End != (Position{10, 2, 9}) {
			t.Errorf("%+v", item)
		}
		if strings.Contains(a.body, `"document"`) {
			t.Errorf("a memory of a document: %s", a.body)
		}
	}
	if p := f.call(t, "GET", "/v1/items/none", "").problem(t); p.Status != 404 || p.Detail != `item "none": not found` {
		t.Errorf("%+v", p)
	}
}

// TestNumbersSurvive: metadata comes back with its numbers as they were sent.
func TestNumbersSurvive(t *testing.T) {
	f := start(t, Options{})
	const meta = `"metadata":{"big":12345678901234567890,"list":[9007199254740993],"n":1234567,"s":"1"}`
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/v1/memories", `{"id":"m","content":"a walrus sleeps",` + meta + `}`},
		{"PUT", "/v1/documents/d", `{"text":"walrus",` + meta + `}`},
		{"POST", "/v1/turns", `{"id":"t","prompt":"walrus",` + meta + `}`},
	} {
		into[any](t, f.call(t, r.method, r.path, r.body), 201)
	}
	for _, path := range []string{"/v1/memories/m", "/v1/memories/t", "/v1/documents/d"} {
		if a := f.call(t, "GET", path, ""); !strings.Contains(a.body, meta) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	a := f.call(t, "POST", "/v1/search", `{"query":"walrus","filter":{"metadata":{"big":"12345678901234567890","n":"1234567"}}}`)
	if found := into[engine.SearchResult](t, a, 200); len(found.Items) != 3 {
		t.Errorf("found %s", a.body)
	}
}

func TestTurnOfToolsAlone(t *testing.T) {
	f := start(t, Options{})
	body := `{"id":"t","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"find","input":{}}]}]}`
	for _, status := range []int{201, 200} {
		if a := f.call(t, "POST", "/v1/turns", body); a.status != status || strings.Contains(a.body, "memory_id") {
			t.Errorf("status %d, want %d: %s", a.status, status, a.body)
		}
	}
}
