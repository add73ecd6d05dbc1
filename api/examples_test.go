package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/resolve"
)

// TestExamples sends the examples of the OpenAPI document to a server. With -update the
// answers are written down. Whoever adds a route adds its request to examples.json, where
// the server is in a state to answer it, and runs it so.
func TestExamples(t *testing.T) {
	f := exampleServer(t)
	owner, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "owner", Role: access.Admin})
	if err != nil {
		t.Fatal(err)
	}
	all := readExamples()
	ids := make(map[string]string)
	for i := range all {
		e := &all[i]
		got := f.answerTo(t, *e, owner.Text, ids)
		if id := idIn(got); id != "" {
			ids[e.Operation] = id
		}
		if e.Shown != "" || e.Varies && e.Answer != nil {
			continue
		}
		same := cmp.Options{passing}
		if !*update {
			same = append(same, sixDigits)
		}
		if diff := cmp.Diff(plain(t, e.Answer, nil), plain(t, got, nil), same); diff != "" {
			if !*update {
				t.Errorf("%s: %s (-want +got; -update writes it down):\n%s", e.Operation, e.Request, diff)
			}
			e.Answer = got
		}
	}
	if *update {
		writeExamples(t, all)
	}
}

func TestEveryOperationHasAnExample(t *testing.T) {
	for _, op := range operations(New(nil, Options{}).api.OpenAPI()) {
		if op.Extensions["x-codeSamples"] == nil {
			t.Errorf("%s has no example; add a request to examples.json and run go test ./api -run TestExamples -update", op.OperationID)
		}
	}
}

// exampleServer is a server whose clock and ids are always the same.
func exampleServer(t *testing.T) *fixture {
	at, n := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 0
	next := make(chan string)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case next <- fmt.Sprintf("0198c0de-0000-7000-8000-%012d", n):
				n++
			case <-done:
				return
			}
		}
	}()
	return startWith(t, engine.Options{
		PauseJobs: true, Now: func() time.Time { return at }, NewID: func() string { return <-next },
		SessionProviders: []resolve.Registered{{Provider: crm{}}},
	}, Options{})
}

// crm is a provider that the examples speak of.
type crm struct{}

func (crm) Name() string { return "crm" }

func (crm) Query(context.Context, ragctx.ContextQuery) (ragctx.ContextResult, error) {
	return ragctx.ContextResult{}, nil
}

// answerTo sends an example and returns what is answered, as JSON.
func (f *fixture) answerTo(t *testing.T, e example, key string, ids map[string]string) json.RawMessage {
	t.Helper()
	method, target, _ := strings.Cut(resolved(e.Request, ids), " ")
	if path, _, _ := strings.Cut(target, "?"); strings.HasSuffix(path, "/stream") || path == eventsPath {
		return nil // which has no end
	}
	e.Body = resolvedBody(e.Body, ids)
	a := f.call(t, method, target, e.body(), "Content-Type: "+e.contentType(), "Authorization: Bearer "+key)
	if a.status != e.Status {
		t.Fatalf("%s: status %d, want %d: %s", e.Request, a.status, e.Status, a.body)
	}
	if e.Shown != "" || a.body == "" {
		return nil
	}
	if a.header.Get("Content-Type") == jsonType {
		return json.RawMessage(a.body)
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func plain(t *testing.T, raw json.RawMessage, v any) any {
	t.Helper()
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// passing are times; it is enough that they are there.
var passing = cmp.FilterPath(func(p cmp.Path) bool {
	field, ok := p.Last().(cmp.MapIndex)
	return ok && strings.HasSuffix(field.Key().String(), "_ms")
}, cmp.Comparer(func(a, b any) bool { return (a == nil) == (b == nil) }))

// sixDigits compares numbers as far as answers show them: the last digit may be rounded
// otherwise on another processor.
var sixDigits = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Max(math.Abs(a), math.Abs(b)) })

func writeExamples(t *testing.T, all []example) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("examples.json", b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
