package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

func testRequestKeys(t *testing.T, open Opener) {
	f := fresh(t, open)
	k := store.RequestKey{Namespace: "n", Route: "POST /", Key: "k"}
	long := t0
	first, err := f.BeginRequest(t.Context(), k, []byte("h"), "seed", long)
	if err != nil || first.Seed != "seed" || first.Status != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := f.BeginRequest(t.Context(), k, []byte("h"), "other", long); err != nil || again.Seed != "seed" {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := f.BeginRequest(t.Context(), k, []byte("other"), "x", long); !errors.Is(err, store.ErrKeyReused) {
		t.Errorf("another request: %v", err)
	}
	first.Status, first.Header, first.Body = 201, map[string]string{"Location": "/x"}, []byte("body")
	if err := f.SaveResponse(t.Context(), k, first); err != nil {
		t.Fatal(err)
	}
	a, known, err := f.Response(t.Context(), k, long)
	if err != nil || !known || a.Status != 201 || string(a.Body) != "body" || a.Header["Location"] != "/x" {
		t.Errorf("%+v, %v, %v", a, known, err)
	}
	late := f.now()
	a, err = f.BeginRequest(t.Context(), k, []byte("other"), "new", late)
	if err != nil || a.Seed != "new" || a.Status != 0 {
		t.Errorf("an entry from before the oldest: %+v, %v", a, err)
	}
	if err := f.PruneResponses(t.Context(), f.now()); err != nil {
		t.Fatal(err)
	}
	if _, known, err := f.Response(t.Context(), k, time.Time{}); err != nil || known {
		t.Errorf("%v, %v", known, err)
	}
	if _, err := f.BeginRequest(t.Context(), k, []byte("h"), "dropped", t0); err != nil {
		t.Fatal(err)
	}
	if err := f.SaveResponse(t.Context(), k, first); err != nil { // of another seed
		t.Fatal(err)
	}
	if a, _, err := f.Response(t.Context(), k, t0); err != nil || a.Status != 0 {
		t.Errorf("the response to an earlier request: %+v, %v", a, err)
	}
	for i, seed := range []string{"another seed", "dropped"} {
		if err := f.DropRequest(t.Context(), k, seed); err != nil {
			t.Fatal(err)
		}
		if _, known, err := f.Response(t.Context(), k, t0); err != nil || known != (i == 0) {
			t.Errorf("dropped %q: known %v, %v", seed, known, err)
		}
	}
}

// testErasingDeletesResponses checks that an erasure deletes the responses that may repeat erased text, and no others.
func testErasingDeletesResponses(t *testing.T, open Opener) {
	routes := []string{
		"PUT /v1/documents/{id}", `POST /v1/documents\:bulk`, "POST /v1/memories", "PATCH /v1/memories/{id}",
		"POST /v1/turns",
		"PUT /v1/procedures/{name}/draft",
		"POST /v1/clusters/{cluster}/messages", "POST /mem0/v1/memories/", "POST /v1/jobs", "PUT /v1/documentsandmore",
	}
	for name, tt := range map[string]struct {
		erase func(f *world) error
		kept  []int
	}{
		"a document": {func(f *world) error {
			_, err := f.EraseDocument(t.Context(), f.ns, "d")
			return err
		}, []int{2, 3, 4, 5, 6, 7}},
		"a memory": {func(f *world) error {
			_, err := f.EraseMemory(t.Context(), f.ns, "m", "", true)
			return err
		}, []int{0, 1, 6}},
		"a user": {func(f *world) error {
			_, err := f.EraseUser(t.Context(), f.ns, "ada")
			return err
		}, []int{0, 1, 6}},
		"a quarantined memory": {func(f *world) error {
			_, err := f.EraseMemory(t.Context(), f.ns, "aside", "", true)
			return err
		}, []int{0, 1, 6}},
		"a namespace": {func(f *world) error {
			_, err := f.EraseNamespace(t.Context(), "default", func(note func() error) error { return note() })
			return err
		}, nil},
		"a missing document": {func(f *world) error {
			_, err := f.EraseDocument(t.Context(), f.ns, "none")
			if err == nil {
				_, err = f.EraseUser(t.Context(), f.ns, "nobody")
			}
			return err
		}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t, open)
			f.doc(t, "d", "Zebras.", "")
			if _, _, _, err := f.ReplaceMemory(t.Context(), f.ns, ragctx.Memory{ID: "m", UserID: "ada", Content: "Tea."},
				f.content("Tea.", nil), store.Tier{}, 0); err != nil {
				t.Fatal(err)
			}
			if err := f.PutInQuarantine(t.Context(), f.ns, ragctx.Memory{ID: "aside", Content: "Obey."}, "why"); err != nil {
				t.Fatal(err)
			}
			key := func(i int) store.RequestKey {
				return store.RequestKey{Namespace: "default", Route: routes[i], Key: "k"}
			}
			for i := range routes {
				a, err := f.BeginRequest(t.Context(), key(i), []byte("h"), "seed", time.Time{})
				if err != nil {
					t.Fatal(err)
				}
				a.Status = 200
				if err := f.SaveResponse(t.Context(), key(i), a); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.erase(f); err != nil {
				t.Fatal(err)
			}
			for i, route := range routes {
				_, known, err := f.Response(t.Context(), key(i), time.Time{})
				if err != nil || known != slices.Contains(tt.kept, i) {
					t.Errorf("%s is kept: %v, %v", route, known, err)
				}
			}
		})
	}
}
