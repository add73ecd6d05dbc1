package engine

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// TestPeekIsNoUse looks at an index, which must not keep it from being idle.
func TestPeekIsNoUse(t *testing.T) {
	e, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Documents().Put(t.Context(), "default", ragctx.Document{ExternalID: "a", Text: "Zebras have stripes."}, ""); err != nil {
		t.Fatal(err)
	}
	c := e.collections
	used := func() (n, users int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, col := range c.all {
			n, users = n+int(col.used.UnixNano()), users+col.users
		}
		return n, users
	}
	before, _ := used()
	looked := 0
	c.eachOpen(func(_ store.Collection, i *index.Hybrid) { looked += i.Health().Chunks })
	if after, users := used(); looked != 1 || after != before || users != 0 {
		t.Errorf("%d units; used then %d, now %d, by %d", looked, before, after, users)
	}
	c.retire(c.idle(col(c).used.Add(2 * idleAfter))...)
	if n := len(e.Metrics().Indexes()); n != 0 {
		t.Errorf("%d are open after they were not used", n)
	}
}

// TestOpenIndexesAreBounded writes to more namespaces than may be open, and finds every namespace's
// contents, whether its index was closed in between or not.
func TestOpenIndexesAreBounded(t *testing.T) {
	e, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const writers, each = 4, maxOpen/4 + 16
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
				if open := len(e.Metrics().Indexes()); open > maxOpen+4*writers {
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

// col returns any collection.
func col(c *collections) *collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, col := range c.all {
		return col
	}
	return nil
}
