package storetest

import (
	"errors"
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
)

// someChunks writes documents of several chunks each in a namespace, and returns the chunks' ids.
func (f *world) someChunks(t *testing.T, namespace string) (ids []uint64) {
	t.Helper()
	f = f.in(t, namespace)
	for _, id := range []string{"a", "b", "c"} {
		f.doc(t, id, "# Of "+namespace+"\n\n"+strings.Repeat("A longer text that makes several chunks. ", 60), "")
	}
	for _, e := range f.follow(t, f.documents(), 0).Add {
		ids = append(ids, e.ID)
	}
	return ids
}

// testChunks reads random chunks, some more than once, with missing ids among them. Each chunk comes once,
// with its item.
func testChunks(t *testing.T, open Opener) {
	f := fresh(t, open)
	known := append(f.someChunks(t, "default"), f.someChunks(t, "other")...)
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

// testManyChunks reads more chunks at once than a statement of a database may name.
func testManyChunks(t *testing.T, open Opener) {
	f := fresh(t, open)
	known := f.someChunks(t, "default")
	asked := make([]uint64, 100_000)
	for i := range asked {
		asked[i] = uint64(i + 1)
	}
	units, items, err := f.Chunks(t.Context(), asked)
	if err != nil || len(units) != len(known) || len(items) != 3 {
		t.Errorf("%d units of %d items, %v; want %d of 3", len(units), len(items), err, len(known))
	}
}

// testChunksOfOthers checks that chunks of other namespaces and of replaced, deleted or erased items are
// recognised by their item, or are missing.
func testChunksOfOthers(t *testing.T, open Opener) {
	f := fresh(t, open)
	known := f.someChunks(t, "default")
	others := f.someChunks(t, "other")
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
	found, err := passage.Load(t.Context(), f, passage.Request{
		Query: ragctx.ContextQuery{Namespace: "default"}, Search: index.Query{Now: t0}, Hits: hits, State: now.Seq,
	})
	if err != nil || len(found) != 1 || found[0].Item.Key != "a" || found[0].Item.Version != 2 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// testChunksOfOneItem checks that an item is read once, however many of its chunks were found: an outline may be
// as long as the text.
func testChunksOfOneItem(t *testing.T, open Opener) {
	f := fresh(t, open)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "# A heading of section number %d which is rather long, as such are\n\nSome words.\n\n", i)
	}
	p := Prepare(t, "a", text.String())
	c := f.content(p.Text, p.Chunks)
	c.Outline = p.Outline
	if _, err := f.PutDocument(t.Context(), f.ns, p, "", c); err != nil {
		t.Fatal(err)
	}
	var ids []uint64
	for _, e := range f.follow(t, f.documents(), 0).Add {
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
	read(ids) // fills caches
	if one, all := read(ids[:1]), read(ids[:50]); all > 4*one {
		t.Errorf("50 units of an item allocate %d bytes, one of them %d", all, one)
	}
}

// testTexts reads texts, parts of texts and items by row.
func testTexts(t *testing.T, open Opener) {
	f := fresh(t, open)
	text := "# Héading\n\n" + strings.Repeat("A longer text that makes several chunks. ", 60)
	f.doc(t, "a", text, "")
	chunks := must(f.DocumentChunks(t.Context(), f.ns, "a", 0))(t)
	item := chunks[0].Item
	if len(chunks) < 2 {
		t.Fatalf("%d chunks", len(chunks))
	}
	items := must(f.Items(t.Context(), []uint64{item, item + 1000}))(t)
	if len(items) != 1 || items[item].Key != "a" || items[item].Namespace != "default" || items[item].Version != 1 {
		t.Errorf("items %+v", items)
	}
	texts := must(f.Texts(t.Context(), []uint64{item, item + 1000}))(t)
	if len(texts) != 1 || !strings.HasPrefix(text, texts[item]) || texts[item] == "" {
		t.Errorf("texts %v", texts)
	}
	for _, c := range chunks {
		got, err := f.Text(t.Context(), item, c.Start.Byte, c.End.Byte)
		if err != nil || got != text[c.Start.Byte:c.End.Byte] {
			t.Errorf("bytes %d to %d: %q, %v", c.Start.Byte, c.End.Byte, got, err)
		}
	}
	if _, err := f.Text(t.Context(), item+1000, 0, 1); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the text of a missing item: %v", err)
	}
	span := must(f.Span(t.Context(), item, 1, 99))(t)
	if len(span) != len(chunks)-1 || span[0].Ordinal != 1 || span[0].Text != chunks[1].Text {
		t.Errorf("a span of %d chunks of %d", len(span), len(chunks))
	}
}

// testTextRanges reads random ranges of a long text.
func testTextRanges(t *testing.T, open Opener) {
	f := fresh(t, open)
	p, c := LongDocument("a", 1, 2200, f.embedder)
	must(f.PutDocument(t.Context(), f.ns, p, "", c))(t)
	item := f.follow(t, f.documents(), 0).Add[0].Item.ID
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.IntRange(0, len(c.Text)).Draw(rt, "start")
		end := rapid.IntRange(start, len(c.Text)+10).Draw(rt, "end")
		got, err := f.Text(t.Context(), item, start, end)
		if want := c.Text[start:min(end, len(c.Text))]; err != nil || got != want {
			rt.Fatalf("%d to %d: %d bytes, want %d, %v", start, end, len(got), len(want), err)
		}
	})
}
