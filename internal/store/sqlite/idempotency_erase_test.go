package sqlite_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// TestErasingDeletesResponses: those that may hold what was erased, and no others.
func TestErasingDeletesResponses(t *testing.T) {
	routes := []string{
		"PUT /v1/documents/{id}", `POST /v1/documents\:bulk`, "POST /v1/memories", "PATCH /v1/memories/{id}", "POST /v1/turns",
		"PUT /v1/procedures/{name}/draft",
		"POST /v1/ledger/{cluster}/messages", "POST /mem0/v1/memories/", "POST /v1/jobs", "PUT /v1/documentsandmore",
	}
	for name, tt := range map[string]struct {
		erase func(f *fixture) error
		kept  []int
	}{
		"a document": {func(f *fixture) error {
			_, err := f.EraseDocument(t.Context(), f.ns, "d")
			return err
		}, []int{2, 3, 4, 5, 6, 7}},
		"a memory": {func(f *fixture) error {
			_, err := f.EraseMemory(t.Context(), f.ns, "m", "", true)
			return err
		}, []int{0, 1, 6}},
		"a user": {func(f *fixture) error {
			_, err := f.EraseUser(t.Context(), f.ns, "ada")
			return err
		}, []int{0, 1, 6}},
		"what is in quarantine": {func(f *fixture) error {
			_, err := f.EraseMemory(t.Context(), f.ns, "aside", "", true)
			return err
		}, []int{0, 1, 6}},
		"a namespace": {func(f *fixture) error {
			_, err := f.EraseNamespace(t.Context(), "default", func(note func() error) error { return note() })
			return err
		}, nil},
		"what is not there": {func(f *fixture) error {
			_, err := f.EraseDocument(t.Context(), f.ns, "none")
			if err == nil {
				_, err = f.EraseUser(t.Context(), f.ns, "nobody")
			}
			return err
		}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t)
			f.doc(t, "d", "Zebras.", "")
			if _, _, _, err := f.PutMemory(t.Context(), f.ns, ragctx.Memory{ID: "m", UserID: "ada", Content: "Tea."},
				f.content("Tea.", nil), store.Tier{}); err != nil {
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
				if _, known, err := f.Response(t.Context(), key(i), time.Time{}); err != nil || known != slices.Contains(tt.kept, i) {
					t.Errorf("%s is kept: %v, %v", route, known, err)
				}
			}
		})
	}
}
