package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/remote"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
)

// TestEmbedderIsDown: documents are accepted, questions answered by words, and the
// answer and /v1/embedder say so.
func TestEmbedderIsDown(t *testing.T) {
	var down atomic.Bool
	hashing := embed.NewHashing(64)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Inputs []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		vectors, _ := hashing.EmbedDocuments(r.Context(), req.Inputs)
		json.NewEncoder(w).Encode(vectors)
	}))
	defer service.Close()
	client, err := remote.New(remote.Options{Shape: remote.TEI, URL: service.URL, Model: "m", Retries: -1, Price: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	f := startWith(t, engine.Options{Embedder: client}, Options{})

	into[documentPut](t, f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Zebras have stripes."}`), 201)
	ask := func() resolve.Answer {
		t.Helper()
		a := into[resolve.Answer](t, f.call(t, "POST", "/v1/context", `{"query":"zebras and stripes"}`), 200)
		if len(a.Items) == 0 {
			t.Fatal("nothing is found")
		}
		return a
	}
	if a := ask(); len(a.Degraded) > 0 {
		t.Errorf("degraded: %v", a.Degraded)
	}
	e := into[engine.EmbedderInfo](t, f.call(t, "GET", "/v1/embedder", ""), 200)
	if e.Name != "tei/m" || e.Dimensions != 64 || e.Service == nil || e.Service.State != "closed" || e.Service.Documents.Texts == 0 || e.Service.Cost == 0 {
		t.Errorf("%+v, %+v", e, e.Service)
	}

	down.Store(true)
	for _, id := range []string{"b", "c", "d", "e", "f", "g"} {
		into[documentPut](t, f.call(t, "PUT", "/v1/documents/"+id, `{"text":"Stripes of `+id+`."}`), 201)
	}
	a := into[resolve.Answer](t, f.call(t, "POST", "/v1/context", `{"query":"stripes of g"}`), 200)
	if len(a.Items) == 0 || a.Items[0].ID != "g@1#0" || !slices.Equal(a.Degraded, []string{"docs:vector", "memory:vector"}) {
		t.Errorf("%+v, degraded %v", a.Items, a.Degraded)
	}
	e = into[engine.EmbedderInfo](t, f.call(t, "GET", "/v1/embedder", ""), 200)
	if e.Service.State != "open" || e.Service.AsksAgain == nil || e.Service.Documents.Failures != 5 || e.Service.Documents.NotAsked == 0 {
		t.Errorf("%+v", e.Service)
	}
	f.call(t, "POST", "/v1/reembed", `{"embedder":"remote"}`).problem(t) // it is that already
}

// TestReembedRemote: without a service there is no such embedder.
func TestReembedRemote(t *testing.T) {
	f := start(t, Options{})
	if p := f.call(t, "POST", "/v1/reembed", `{"embedder":"remote"}`).problem(t); p.Status != 422 {
		t.Errorf("%+v", p)
	}
	if e := into[engine.EmbedderInfo](t, f.call(t, "GET", "/v1/embedder", ""), 200); e.Name != f.eng.Indexes().Embedder().Name || e.Service != nil {
		t.Errorf("%+v", e)
	}
}
