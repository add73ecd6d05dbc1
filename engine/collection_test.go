package engine_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/retrieve"
)

// TestOpenIndexesAreBounded writes to more namespaces than may be open, and finds every namespace's
// contents, whether its index was closed in between or not.
func TestOpenIndexesAreBounded(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), ProviderTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const writers, each = 4, retrieve.MaxOpen/4 + 16
	name := func(w, n int) string { return fmt.Sprintf("n-%d-%d", w, n) }
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				if _, err := e.Documents().Put(t.Context(), name(w, n), ragctx.Document{ExternalID: "a", Text: "Zebras have stripes."}, ""); err != nil {
					t.Error(err)
				}
				// Indexes in use or being opened stay open: one for each writer, and those catching up after its last
				// writes, which are more on a slow machine.
				if open := len(e.Metrics().Indexes(t.Context())); open > retrieve.MaxOpen+4*writers {
					t.Errorf("%d are open", open)
				}
			}
		})
	}
	wg.Wait()
	for n := range each {
		q := ragctx.NewQuery("zebras")
		q.Namespace = name(n%writers, n)
		if a, err := e.Context(t.Context(), q); err != nil || len(a.Items) != 1 {
			t.Errorf("%s: %d items, %v", q.Namespace, len(a.Items), err)
		}
	}
}
