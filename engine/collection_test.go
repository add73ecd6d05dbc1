package engine

import (
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// TestPeekIsNoUse looks at an index, which must not keep it from being idle.
func TestPeekIsNoUse(t *testing.T) {
	e, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.PutDocument(t.Context(), "default", docs.Document{ExternalID: "a", Text: "Zebras have stripes."}, ""); err != nil {
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
	c.peek(func(_ store.Collection, i *index.Hybrid) { looked += i.Vitals().Units })
	if after, users := used(); looked != 1 || after != before || users != 0 {
		t.Errorf("%d units; used then %d, now %d, by %d", looked, before, after, users)
	}
	for _, col := range c.idle(col(c).used.Add(2 * idleAfter)) {
		c.retire(col)
	}
	if n := len(e.OpenIndexes()); n != 0 {
		t.Errorf("%d are open after they were not used", n)
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
