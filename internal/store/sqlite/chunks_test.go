package sqlite_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// someUnits writes documents of several units each in a namespace, and returns the
// units' ids.
func someUnits(t *testing.T, f *fixture, namespace string) (ids []uint64) {
	t.Helper()
	ns, err := f.Namespace(t.Context(), namespace, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c"} {
		p := prepared(t, id, "# Of "+namespace+"\n\n"+strings.Repeat("A longer text that makes several chunks. ", 60))
		if _, err := f.PutDocument(t.Context(), ns, p, "", f.content(p.Text, p.Chunks)); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range f.follow(t, store.Collection{Namespace: ns, Kind: store.KindDocuments}, 0).Add {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestChunks asks for some of the units, more than once and among ids that nothing has:
// each is there once, with the item that it is of.
func TestChunks(t *testing.T) {
	f := fresh(t)
	known := append(someUnits(t, f, "default"), someUnits(t, f, "other")...)
	missing := []uint64{0, slices.Max(known) + 1, math.MaxInt64}
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(known, missing)), 0, 40).Draw(t, "asked")
		units, items, err := f.Chunks(ctx, asked)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		of := make(map[uint64]bool)
		for _, u := range units {
			got = append(got, u.ID)
			of[u.Item] = true
			it := items[u.Item]
			if it == nil || it.ID != u.Item || it.Title != "Of "+it.Namespace || u.Text == "" {
				t.Errorf("unit %d of item %d: %+v", u.ID, u.Item, it)
			}
		}
		want := slices.DeleteFunc(slices.Clone(asked), func(id uint64) bool { return slices.Contains(missing, id) })
		slices.Sort(want)
		slices.Sort(got)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("asked for %v, got %v", want, got)
		}
		if len(of) != len(items) {
			t.Errorf("%d items for units of %d", len(items), len(of))
		}
	})
}

// TestManyChunks asks for more than a statement of SQLite takes.
func TestManyChunks(t *testing.T) {
	f := fresh(t)
	known := someUnits(t, f, "default")
	asked := make([]uint64, 100_000)
	for i := range asked {
		asked[i] = uint64(i + 1)
	}
	units, items, err := f.Chunks(t.Context(), asked)
	if err != nil || len(units) != len(known) || len(items) != 3 {
		t.Errorf("%d units of %d items, %v; want %d of 3", len(units), len(items), err, len(known))
	}
}

// TestChunksOfOthers checks that chunks of other namespaces and of replaced, deleted or erased items are
// recognised by their item, or are missing.
func TestChunksOfOthers(t *testing.T) {
	f := fresh(t)
	known := someUnits(t, f, "default")
	others := someUnits(t, f, "other")
	f.doc(t, "a", "Another text.", "")
	if _, err := f.DeleteDocument(t.Context(), f.ns, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EraseDocument(t.Context(), f.ns, "c"); err != nil {
		t.Fatal(err)
	}
	now := f.follow(t, f.documents(), 0)
	var hits []index.Hit
	for _, id := range slices.Concat(known, others) {
		hits = append(hits, index.Hit{ID: id})
	}
	for _, e := range now.Add {
		if e.Text == "Another text." {
			hits = append(hits, index.Hit{ID: e.ID})
		}
	}
	found, err := passage.Resolve(t.Context(), f, passage.Request{
		Query: ragctx.ContextQuery{Namespace: "default"}, Search: index.Query{Now: t0}, Hits: hits, State: now.Seq,
	})
	if err != nil || len(found) != 1 || found[0].Item.Key != "a" || found[0].Item.Version != 2 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// What is said of an item is read once, however many of its units were found: an outline
// may be as long as the text.
func TestChunksOfOneItem(t *testing.T) {
	f := fresh(t)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "# A heading of section number %d which is rather long, as such are\n\nSome words.\n\n", i)
	}
	ns, err := f.Namespace(t.Context(), "default", true)
	if err != nil {
		t.Fatal(err)
	}
	p := prepared(t, "a", text.String())
	c := f.content(p.Text, p.Chunks)
	c.Outline = p.Outline
	if _, err := f.PutDocument(t.Context(), ns, p, "", c); err != nil {
		t.Fatal(err)
	}
	var ids []uint64
	for _, e := range f.follow(t, store.Collection{Namespace: ns, Kind: store.KindDocuments}, 0).Add {
		ids = append(ids, e.ID)
	}
	read := func(ids []uint64) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		units, items, err := f.Chunks(t.Context(), ids)
		runtime.ReadMemStats(&after)
		if err != nil || len(units) != len(ids) || len(items) != 1 {
			t.Fatal(len(units), len(items), err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	read(ids) // what is made once
	if one, all := read(ids[:1]), read(ids[:50]); all > 4*one {
		t.Errorf("50 units of an item allocate %d bytes, one of them %d", all, one)
	}
}
