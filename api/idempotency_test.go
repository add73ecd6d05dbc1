package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
)

func TestIdempotency(t *testing.T) {
	f := start(t, Options{})
	for name, w := range map[string]struct {
		method, target, body string
		status               int
	}{
		"turn":     {"POST", "/v1/turns", `{"prompt":"hi","response":"hello"}`, 201},
		"memory":   {"POST", "/v1/memories", `{"content":"Releases are frozen on Fridays."}`, 201},
		"document": {"PUT", "/v1/documents/a/b.md?namespace=n", `{"text":"alpha"}`, 201},
	} {
		key := "Idempotency-Key: " + name
		first := f.call(t, w.method, w.target, w.body, key)
		if first.status != w.status || first.header.Get(replayedHeader) != "" {
			t.Errorf("%s: %d %v %s", name, first.status, first.header, first.body)
		}
		again := f.call(t, w.method, w.target, w.body, key)
		if again.status != first.status || again.body != first.body || again.header.Get(replayedHeader) != "true" ||
			again.header.Get("Content-Type") != first.header.Get("Content-Type") {
			t.Errorf("%s again: %d %v %s", name, again.status, again.header, again.body)
		}
		p := f.call(t, w.method, w.target, strings.Replace(w.body, "h", "H", 1)+" ", key).problem(t)
		if p.Status != 422 || p.Errors[0].Location != "header.Idempotency-Key" {
			t.Errorf("%s with another request: %+v", name, p)
		}
		if other := f.call(t, w.method, w.target, w.body, "Idempotency-Key: x"+name); other.status >= 300 || other.body == first.body && name == "turn" {
			t.Errorf("%s with another key: %d %s", name, other.status, other.body)
		}
	}
	if page := into[memoryPage](t, f.call(t, "GET", "/v1/memories", ""), 200); len(page.Memories) != 4 {
		t.Errorf("%d memories", len(page.Memories))
	}
	del := "Idempotency-Key: delete"
	for range 2 {
		if a := f.call(t, "DELETE", "/v1/documents/a/b.md?namespace=n", "", del); a.status != 204 || a.body != "" {
			t.Errorf("delete: %d %s", a.status, a.body)
		}
	}
	// A namespace has its own keys, and so has a route.
	if a := f.call(t, "DELETE", "/v1/documents/a/b.md", "", del); a.status != 404 {
		t.Errorf("another namespace: %d", a.status)
	}
	if a := f.call(t, "PUT", "/v1/documents/a/b.md?namespace=n", `{"text":"x"}`, del); a.status != 200 && a.status != 201 {
		t.Errorf("another route: %d", a.status)
	}
	// What is not sound was never begun; its key is free.
	k := "Idempotency-Key: once more"
	f.call(t, "POST", "/v1/memories", `{"contents":"x"}`, k).problem(t)
	into[memoryPut](t, f.call(t, "POST", "/v1/memories", `{"content":"x"}`, k), 201)
	// Reads know no keys.
	for _, q := range []string{"one", "two"} {
		if a := f.call(t, "POST", "/v1/search", `{"query":"`+q+`"}`, k); a.status != 200 || a.header.Get(replayedHeader) != "" {
			t.Errorf("search: %d", a.status)
		}
	}
}

// TestReadersStoreNothing: no operation for the role read takes a key, as its stored answer would take room and
// hide what changed since.
func TestReadersStoreNothing(t *testing.T) {
	f := startPaused(t, Options{})
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string                  `json:"operationId"`
			Role       string                  `json:"x-required-role"`
			Parameters []struct{ Name string } `json:"parameters"`
		}
	}
	if err := json.Unmarshal([]byte(f.call(t, "GET", "/openapi.json", "").body), &doc); err != nil {
		t.Fatal(err)
	}
	readers := 0
	for path, of := range doc.Paths {
		for method, op := range of {
			takes := slices.ContainsFunc(op.Parameters, func(p struct{ Name string }) bool { return p.Name == keyHeader })
			if reads := op.Role == "read" || op.Role == "none"; reads {
				readers++
				if takes || isWrite(&huma.Operation{Method: strings.ToUpper(method), Path: path, OperationID: op.ID}) {
					t.Errorf("%s takes a key", op.ID)
				}
			}
		}
	}
	if readers < 50 {
		t.Errorf("only %d operations read", readers)
	}
	for _, text := range []string{"one", "two"} {
		a := f.call(t, "POST", "/v2/rerank", `{"query":"q","documents":["`+text+`"]}`, "Idempotency-Key: k")
		if a.status != 200 || a.header.Get(replayedHeader) != "" {
			t.Errorf("rerank: %d %s", a.status, a.body)
		}
	}
}

// TestNoKeyCostsNothing: the body is not read for the namespace of a key that
// there is not, whatever its size.
func TestNoKeyCostsNothing(t *testing.T) {
	s := New(nil, Options{})
	c := s.echo.NewContext(httptest.NewRequest(http.MethodPut, "/v1/documents/a", nil), nil)
	op := &huma.Operation{Method: http.MethodPut, Path: "/v1/documents/{id}"}
	body := []byte(`{"text":"` + strings.Repeat("x", 1<<10) + `"}`)
	called := 0
	next := func(string) { called++ }
	if n := testing.AllocsPerRun(10, func() { _ = s.once(c, op, body, next) }); n > 0 || called != 11 {
		t.Errorf("%v allocations, %d calls", n, called)
	}
}

func TestBadKeys(t *testing.T) {
	f := start(t, Options{})
	for _, key := range []string{" ", strings.Repeat("x", 256), "é", "a\tb"} {
		a := f.call(t, "POST", "/v1/memories", `{"content":"x"}`, "Idempotency-Key: "+key)
		if p := a.problem(t); p.Status != 422 || p.Errors[0].Location != "header.Idempotency-Key" {
			t.Errorf("%q: %+v", key, p)
		}
	}
	into[memoryPut](t, f.call(t, "POST", "/v1/memories", `{"content":"x"}`, "Idempotency-Key: "+strings.Repeat("~", 255)), 201)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, f.url+"/v1/documents/a", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header["Idempotency-Key"] = []string{"a", "b"}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("two keys: %s", resp.Status)
	}
}

// TestPromptsAreNotKept: assembling a call of a session passes over a key, as its answer,
// the whole prompt, is not stored.
func TestPromptsAreNotKept(t *testing.T) {
	f := start(t, Options{})
	for _, said := range []string{"the first words", "the second words"} {
		f.talk(t, session.Key{ID: "s"}, said)
		a := f.call(t, "POST", "/v1/sessions/s:assemble", `{"budget":{"window":8000}}`, "Idempotency-Key: k")
		if a.status != 200 || a.header.Get(replayedHeader) != "" || !strings.Contains(a.body, said) {
			t.Errorf("%s: %d %v %s", said, a.status, a.header, a.body)
		}
	}
}

// TestIdempotencyRaces: of many requests at once one is done.
func TestIdempotencyRaces(t *testing.T) {
	f := start(t, Options{})
	for _, w := range []struct{ target, body, header string }{
		{"/v1/turns", `{"prompt":"hi","response":"hello"}`, "Content-Type: application/json"},
		{"/v1/documents:bulk", `{"id":"a","text":"alpha"}`, asLines},
	} {
		var answers [8]answer
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = f.call(t, "POST", w.target, w.body, w.header, "Idempotency-Key: race") })
		}
		wg.Wait()
		fresh := 0
		for _, a := range answers {
			if a.status >= 300 {
				t.Errorf("%s: %d %s", w.target, a.status, a.body)
			}
			if a.header.Get(replayedHeader) == "" {
				fresh++
			}
		}
		if fresh != 1 {
			t.Errorf("%s: %d answers are no replays", w.target, fresh)
		}
	}
	if page := into[memoryPage](t, f.call(t, "GET", "/v1/memories", ""), 200); len(page.Memories) != 1 {
		t.Errorf("%d memories", len(page.Memories))
	}
	if n := len(f.jobs(t)); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

// TestCrashBeforeTheAnswer: a request that was done, but whose answer was never
// noted, is not done twice.
func TestCrashBeforeTheAnswer(t *testing.T) {
	f := start(t, Options{})
	body := `{"prompt":"hi","response":"hello"}`
	first := into[engine.TurnResult](t, f.call(t, "POST", "/v1/turns", body, "Idempotency-Key: k"), 201)
	a, known, err := f.eng.Requests().Known(t.Context(), store.RequestKey{Namespace: "default", Route: "POST /v1/turns", Key: "k"})
	if err != nil || !known || a.Seed != first.ID {
		t.Fatalf("%+v, %v", a, err)
	}
	a.Status = 0 // as if the process had ended in between
	if err := f.eng.Requests().End(t.Context(), store.RequestKey{Namespace: "default", Route: "POST /v1/turns", Key: "k"}, a); err != nil {
		t.Fatal(err)
	}
	again := into[engine.TurnResult](t, f.call(t, "POST", "/v1/turns", body, "Idempotency-Key: k"), 200)
	if again.ID != first.ID || again.Status != store.Unchanged {
		t.Errorf("%+v, %+v", first, again)
	}
}

func TestIdempotentBulk(t *testing.T) {
	f := start(t, Options{})
	body := `{"id":"a","text":"alpha"}` + "\n"
	key := "Idempotency-Key: k"
	first := into[engine.Job](t, f.call(t, "POST", "/v1/documents:bulk?wait=60s", body, asLines, key), 200)
	a := f.call(t, "POST", "/v1/documents:bulk?wait=60s", body, asLines, key)
	if again := into[engine.Job](t, a, 200); again.ID != first.ID || a.header.Get(replayedHeader) != "true" {
		t.Errorf("%+v", again)
	}
	if p := f.call(t, "POST", "/v1/documents:bulk?wait=60s", body+body, asLines, key).problem(t); p.Status != 422 {
		t.Errorf("%+v", p)
	}
	if n := len(f.jobs(t)); n != 1 {
		t.Errorf("%d jobs", n)
	}
	// What was refused leaves its key free.
	key = "Idempotency-Key: l"
	f.call(t, "POST", "/v1/documents:bulk", "\n", asLines, key).problem(t)
	into[engine.Job](t, f.call(t, "POST", "/v1/documents:bulk?wait=60s", body, asLines, key), 200)
}

// TestRefusedLeavesTheKeyFree: the next request with the key may be another one.
func TestRefusedLeavesTheKeyFree(t *testing.T) {
	f := start(t, Options{MaxBulkItems: 1})
	line := `{"id":"a","text":"alpha"}` + "\n"
	for i, w := range []struct {
		method, target, bad, good, header string
		status                            int
	}{
		{"POST", "/v1/memories", `{"content":" "}`, `{"content":"x"}`, "", 422},
		{"POST", "/v1/memories", `{"content":"` + strings.Repeat("x", ragctx.MaxMemoryBytes+1) + `"}`, `{"content":"y"}`, "", 413},
		{"POST", "/v1/memories", `{"content":"x","expires":"2001-01-01T00:00:00Z"}`, `{"content":"z"}`, "", 422},
		{"POST", "/v1/turns", `{"prompt":" "}`, `{"prompt":"x"}`, "", 422},
		{"PUT", "/v1/documents/a", `{"text":"x","tags":[""]}`, `{"text":"x"}`, "", 422},
		{"POST", "/v1/documents:bulk", "\n", line, asLines, 422},
		{"POST", "/v1/documents:bulk", line + line, line, asLines, 413},
	} {
		headers := []string{fmt.Sprintf("Idempotency-Key: %d", i)}
		if w.header != "" {
			headers = append(headers, w.header)
		}
		for range 2 { // refused as often as it is sent
			a := f.call(t, w.method, w.target, w.bad, headers...)
			if p := a.problem(t); p.Status != w.status || a.header.Get(replayedHeader) != "" {
				t.Errorf("%d: %+v", i, p)
			}
		}
		if a := f.call(t, w.method, w.target, w.good, headers...); a.status >= 300 || a.header.Get(replayedHeader) != "" {
			t.Errorf("%d: %d %s", i, a.status, a.body)
		}
		if a := f.call(t, w.method, w.target, w.good, headers...); a.status >= 300 || a.header.Get(replayedHeader) != "true" {
			t.Errorf("%d again: %d %s", i, a.status, a.body)
		}
	}
}

// TestFailuresAreNotKept: what the server could not do is done the next time.
func TestFailuresAreNotKept(t *testing.T) {
	for status, want := range map[int]bool{200: true, 201: true, 204: true, 404: true, 409: true, 413: false, 422: false, 408: false, 429: false, 499: false, 500: false, 503: false, 507: false, 0: false} {
		if (repeatable(status) && !refused(status)) != want {
			t.Errorf("%d: %v", status, !want)
		}
	}
}
