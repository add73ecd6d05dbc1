package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/store"
)

func TestMemoryLifecycle(t *testing.T) {
	f := start(t, Options{})
	body := `{"id":"a/b","content":"Ada likes oolong","memory_type":"SEMANTIC","importance":0,"user_id":"ada","tags":["tea"],"namespace":"n"}`
	m := into[memory.Memory](t, f.call(t, "POST", "/v1/memories", body), 201)
	if m.ID != "a/b" || m.Importance != 0 || m.Type != memory.Semantic || m.Version != 1 {
		t.Errorf("%+v", m)
	}
	if m := into[memory.Memory](t, f.call(t, "POST", "/v1/memories", strings.Replace(body, "oolong", "assam", 1)), 200); m.Version != 2 {
		t.Errorf("replaced: %+v", m)
	}
	for _, id := range []string{"a/b", "a%2Fb"} { // the admin reads anyone's
		if m := into[memory.Memory](t, f.call(t, "GET", "/v1/memories/"+id+"?namespace=n", ""), 200); m.Content != "Ada likes assam" {
			t.Errorf("%+v", m)
		}
	}
	for query, want := range map[string]int{
		"": 0, "&user_id=ada": 1, "&user_id=bob": 0, "&all_users=true": 1,
		"&all_users=true&type=semantic": 1, "&all_users=true&type=working&type=episodic": 0,
		"&all_users=true&tag=tea": 1, "&all_users=true&tag=te": 0, "&all_users=true&session_id=s": 0,
	} {
		page := into[MemoryPage](t, f.call(t, "GET", "/v1/memories?namespace=n"+query, ""), 200)
		if page.Memories == nil || len(page.Memories) != want {
			t.Errorf("list %q: %d memories, want %d", query, len(page.Memories), want)
		}
	}
	for body, want := range map[string]int{
		`{"query":"assam","namespace":"n"}`: 0, `{"query":"assam","namespace":"n","user_id":"ada"}`: 1,
		`{"query":"assam","namespace":"n","user_id":"ada","context_types":["Memory"]}`: 1, `{"query":"assam","user_id":"ada"}`: 0,
	} {
		if found := into[engine.SearchResult](t, f.call(t, "POST", "/v1/memories/search", body), 200); len(found.Items) != want {
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
		into[memory.Memory](t, f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"id":%q,"content":"x"}`, id)), 201)
		if m := into[memory.Memory](t, f.call(t, "GET", "/v1/memories/"+id, ""), 200); m.ID != id {
			t.Errorf("%q came back as %q", id, m.ID)
		}
	}
}

func TestMemoryPages(t *testing.T) {
	f := start(t, Options{})
	for i := range 5 {
		into[memory.Memory](t, f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"id":"m%d","content":"x","importance":0.%d}`, i, i)), 201)
	}
	var ids []string
	cursor := ""
	for {
		page := into[MemoryPage](t, f.call(t, "GET", "/v1/memories?limit=2&cursor="+cursor, ""), 200)
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
	m := into[memory.Memory](t, f.call(t, "GET", "/v1/memories/"+first.MemoryID, ""), 200)
	if m.Content != "user: Which port?\nassistant: 8443" {
		t.Errorf("%+v", m)
	}
}
