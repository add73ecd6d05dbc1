package index_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// one returns a batch that adds one chunk of one item.
func one(n uint64, text string, v ...float32) index.Batch {
	return index.Batch{Seq: n, Add: []index.Chunk{entry(n, n, &index.Item{ID: n, Recorded: t0}, text, v...)}}
}

// settle waits until nothing is degraded.
func settle(t *testing.T, h *harness, q index.Query) index.Result {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		r := search(t, h, q)
		if len(r.Degraded) == 0 {
			return r
		}
		if time.Now().After(end) {
			t.Fatalf("%v stay degraded; %+v", r.Degraded, h.health(t))
		}
	}
}

var both = index.Query{Text: "apple", Vector: []float32{1, 0}}

// TestLegIsMadeAgain breaks one index while it is written to. The other answers,
// and the broken one is opened again and fed everything.
func TestLegIsMadeAgain(t *testing.T) {
	for _, name := range []string{"keyword", "vector"} {
		t.Run(name, func(t *testing.T) {
			legs := []*words{newWords(), newWords()}
			nears := []*arrows{newArrows(), newArrows()}
			var opened, openedNear int
			h := newHarness(t, index.Options{
				Keyword: func(context.Context) (index.KeywordIndex, error) { opened++; return legs[min(opened, 2)-1], nil },
				Vector: func(context.Context, index.Space) (index.VectorIndex, error) {
					openedNear++
					return nears[min(openedNear, 2)-1], nil
				},
			})
			defer h.Close()
			apply(t, h, one(1, "apple", 1, 0))
			settle(t, h, both)
			if name == "keyword" {
				legs[0].broken = errBroken
			} else {
				nears[0].broken = errBroken
			}
			apply(t, h, one(2, "apple", 1, 0))
			if got := ids(settle(t, h, both)); !slices.Equal(got, []uint64{1, 2}) {
				t.Errorf("found %v, want both", got)
			}
			method := index.Fusion{Method: name}
			if got := ids(search(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Fusion: method})); !slices.Equal(got, []uint64{1, 2}) {
				t.Errorf("the new index found %v, want both", got)
			}
		})
	}
}

// TestWritesAreFoundWhileALegIsBehind holds the feed back: what is caught up with
// is found by an index that lacks what came before it.
func TestWritesAreFoundWhileALegIsBehind(t *testing.T) {
	f := &slow{gate: make(chan struct{})}
	for n := range uint64(50) {
		f.add(one(n+1, "apple", 1, 0))
	}
	h := newHarness(t, index.Options{Feed: f, OpenWait: 10 * time.Millisecond})
	defer h.Close()
	h.feed = &f.history
	f.held.Store(true)
	apply(t, h, one(51, "apple pear", 1, 0))
	r := search(t, h, index.Query{Text: "pear"})
	if !slices.Equal(ids(r), []uint64{51}) || !slices.Equal(r.Degraded, []string{"keyword"}) {
		t.Errorf("found %v, degraded %v; want [51] by a degraded keyword index", ids(r), r.Degraded)
	}
	if st := h.health(t).Keyword; st.State != index.Behind {
		t.Errorf("the index's state is %q, want %q", st.State, index.Behind)
	}
	close(f.gate)
	if r := settle(t, h, index.Query{Text: "apple", K: 100}); len(r.Hits) != 51 {
		t.Errorf("found %d chunks after catching up, want 51", len(r.Hits))
	}
}

// slow is a feed that gives the indexes nothing until its gate opens.
type slow struct {
	history

	gate chan struct{}
	held atomic.Bool
}

func (f *slow) Follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	if after < 50 && want.Texts {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return index.Batch{Seq: after}, ctx.Err()
		}
	}
	return f.history.Follow(ctx, after, want)
}

// TestLegThatDoesNotOpen is tried again until it does.
func TestLegThatDoesNotOpen(t *testing.T) {
	var tries atomic.Int32
	near := newArrows()
	h := newHarness(t, index.Options{Vector: func(context.Context, index.Space) (index.VectorIndex, error) {
		if tries.Add(1) < 2 {
			return nil, errBroken
		}
		return near, nil
	}})
	defer h.Close()
	apply(t, h, one(1, "apple", 1, 0))
	if r := search(t, h, both); !slices.Equal(r.Degraded, []string{"vector"}) || len(r.Hits) != 1 {
		t.Errorf("got %+v, want one hit without the vector index", r)
	}
	settle(t, h, both)
	if len(near.chunks) != 1 {
		t.Error("the index was not fed when it opened")
	}
}

func TestBrokenFeedFailsOpen(t *testing.T) {
	_, err := index.Open(t.Context(), index.Options{
		Feed:    &history{broken: errBroken},
		Keyword: func(context.Context) (index.KeywordIndex, error) { return newWords(), nil },
		Vector:  func(context.Context, index.Space) (index.VectorIndex, error) { return newArrows(), nil },
	})
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v, want the feed's", err)
	}
}

// TestPartsOfALargeDocument come with ids from before those that are known.
func TestPartsOfALargeDocument(t *testing.T) {
	h, _, _ := open(t)
	big, small := &index.Item{ID: 1, Recorded: t0}, &index.Item{ID: 2, Recorded: t0}
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(5, 1, small, "apple"), entry(7, 1, small, "apple")}})
	before := search(t, h, index.Query{Text: "apple"})
	apply(t, h, index.Batch{Seq: 2, Add: []index.Chunk{entry(2, 2, big, "apple"), entry(6, 2, big, "apple"), entry(9, 2, big, "apple")}})
	if got := ids(search(t, h, index.Query{Text: "apple"})); !slices.Equal(got, []uint64{2, 5, 6, 7, 9}) {
		t.Errorf("found %v", got)
	}
	if got := ids(before); !slices.Equal(got, []uint64{5, 7}) {
		t.Errorf("found %v before", got)
	}
}

// TestSwitch prepares an index of another space, beside writes, and puts it in the
// at of the first.
func TestSwitch(t *testing.T) {
	h := newHarness(t, index.Options{Space: index.Space{Name: "old"}})
	defer h.Close()
	apply(t, h, one(1, "apple", 1, 0))
	next := newArrows()
	if err := h.prepare(t.Context(), "new", func() (index.VectorIndex, error) { return next, nil }); err != nil {
		t.Fatal(err)
	}
	apply(t, h, one(2, "apple", 1, 0))
	for {
		if ok, err := h.Prepared(t.Context()); ok || err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	apply(t, h, one(3, "apple", 1, 0))
	old := both
	old.Space = "old"
	if r := settle(t, h, old); len(r.Hits) != 3 {
		t.Errorf("found %d chunks in the old space, want 3", len(r.Hits))
	}
	if err := h.Switch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(next.chunks) != 3 || h.Space() != "new" {
		t.Errorf("the new index has %d chunks, the space is %q", len(next.chunks), h.Space())
	}
	if r := search(t, h, old); !slices.Equal(r.Degraded, []string{"vector"}) {
		t.Errorf("a vector of the old space was compared: degraded %v", r.Degraded)
	}
	now := both
	now.Space = "new"
	if r := settle(t, h, now); len(r.Hits) != 3 {
		t.Errorf("found %d chunks in the new space, want 3", len(r.Hits))
	}
}

// many returns batches of enough chunks for a catalog file.
func many(f *history, from, to uint64) {
	for n := from; n <= to; n++ {
		p := &index.Item{
			ID: n, User: []string{"", "a"}[n%2], Source: "file:x", Tags: []string{"t"}, Recorded: t0,
			Metadata: map[string]string{"lang": "en"}, Occurred: t0.AddDate(0, 0, int(n%7)),
		}
		b := index.Batch{Seq: n, Add: []index.Chunk{entry(n, n, p, "apple", 1, 0)}}
		if n%10 == 0 {
			b.Ended = []index.End{{Item: n - 1, At: t0.AddDate(0, 0, 1), Seq: n}}
		}
		f.add(b)
	}
}

// TestCatalogIsKept opens an index again: all of it is known without reading all
// of the store.
func TestCatalogIsKept(t *testing.T) {
	dir := t.TempDir()
	f := &history{}
	many(f, 1, 1500)
	w, a := newWords(), newArrows()
	reopen := func() *harness {
		return newHarness(t, index.Options{
			Dir: dir, Feed: f, OpenWait: time.Minute,
			Keyword: func(context.Context) (index.KeywordIndex, error) { return w, nil },
			Vector:  func(context.Context, index.Space) (index.VectorIndex, error) { return a, nil },
		})
	}
	q := index.Query{Text: "apple", K: 5000, Scope: index.Scope{User: "a"}}
	h := reopen()
	want := ids(settle(t, h, q))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	all := f.batches
	f.batches = nil // nothing of it may be asked for again
	w.cursor, a.cursor = 1500, 1500
	h = reopen()
	if got := ids(settle(t, h, q)); !slices.Equal(got, want) {
		t.Errorf("%d chunks are found after opening again, want %d", len(got), len(want))
	}
	if got := ids(search(t, h, index.Query{Text: "apple", K: 5000, AsOf: t0, Scope: index.Scope{User: "a"}})); len(got) != 1500 {
		t.Errorf("%d chunks are found as of the beginning, want 1500", len(got))
	}
	h.Close()
	name := filepath.Join(dir, "catalog")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f.batches = all
	for i := 0; i < len(b); i += 1 + len(b)/50 {
		damaged := slices.Clone(b)
		damaged[i] ^= 1 << (i % 8)
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		h = reopen()
		if got := ids(settle(t, h, q)); !slices.Equal(got, want) {
			t.Errorf("byte %d damaged: %d chunks are found, want %d", i, len(got), len(want))
		}
		h.Close()
	}
}

// TestCatalogOfAnotherStore is not used.
func TestCatalogOfAnotherStore(t *testing.T) {
	dir := t.TempDir()
	f := &history{}
	many(f, 1, 1200)
	o := index.Options{Dir: dir, Feed: f, Origin: func() string { return "one" }}
	newHarness(t, o).Close()
	other := &history{}
	other.add(one(1, "apple"))
	h := newHarness(t, index.Options{Dir: dir, Feed: other, Knows: func(origin string) bool { return origin != "one" }})
	defer h.Close()
	if n := h.health(t).Chunks; n != 1 {
		t.Errorf("%d chunks are known, want the other store's one", n)
	}
}

// TestCatalogRoundTrip keeps random histories, with removals, in a file.
func TestCatalogRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "catalog") //nolint:usetesting // rapid's T has no TempDir
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		f := &history{}
		many(f, 1, 1000)
		seq := uint64(1000)
		for range rapid.IntRange(0, 20).Draw(t, "removed") {
			n := rapid.Uint64Range(1, 1000).Draw(t, "n")
			seq++
			f.add(index.Batch{Seq: seq, Removed: []index.Removal{{Item: n, Chunks: []uint64{n}}}})
		}
		h := newHarness(t, index.Options{Dir: dir, Feed: f, OpenWait: time.Minute})
		want, items := h.health(t), h.hybrid.Items()
		q := index.Query{Text: "apple", K: 5000}
		found := ids(search(t, h, q))
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		h = newHarness(t, index.Options{Dir: dir, Feed: f, OpenWait: time.Minute})
		defer h.Close()
		if got := h.health(t); h.hybrid.Items() != items || got.Applied != want.Applied {
			t.Fatalf("%+v after opening again, want %+v", got, want)
		}
		if got := ids(search(t, h, q)); !slices.Equal(got, found) {
			t.Fatalf("%d chunks are found after opening again, want %d", len(got), len(found))
		}
	})
}

// TestSwitchAtOnce does not wait until the next index has been opened.
func TestSwitchAtOnce(t *testing.T) {
	h := newHarness(t, index.Options{Space: index.Space{Name: "old"}})
	defer h.Close()
	for n := range uint64(50) {
		apply(t, h, one(n+1, "apple", 1, 0))
	}
	next := newArrows()
	if err := h.prepare(t.Context(), "new", func() (index.VectorIndex, error) { return next, nil }); err != nil {
		t.Fatal(err)
	}
	if err := h.Switch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(next.chunks) != 50 || h.Space() != "new" {
		t.Errorf("the new index has %d chunks, the space is %q", len(next.chunks), h.Space())
	}
}

// TestCatalogForgets removes most of what there is: the catalog does not keep it,
// and the rest is found as before.
func TestCatalogForgets(t *testing.T) {
	h, _, _ := open(t)
	many(h.feed, 1, 3000)
	if err := h.CatchUp(t.Context(), 3000); err != nil {
		t.Fatal(err)
	}
	b := index.Batch{Seq: 3001}
	for n := uint64(1); n <= 3000; n++ {
		if n%3 != 0 {
			b.Removed = append(b.Removed, index.Removal{Item: n, Chunks: []uint64{n}})
		}
	}
	apply(t, h, b)
	if s := h.health(t); s.Chunks != 1000 || h.hybrid.Items() != 1000 {
		t.Errorf("%+v, want 1000 chunks and items", s)
	}
	q := index.Query{Text: "apple", K: 5000, Scope: index.Scope{AnyUser: true}}
	for _, hit := range search(t, h, q).Hits {
		if hit.ID%3 != 0 {
			t.Fatalf("chunk %d was removed", hit.ID)
		}
	}
	apply(t, h, one(3002, "apple", 1, 0))
	if got := ids(search(t, h, index.Query{Text: "apple", K: 5000, Scope: index.Scope{AnyUser: true}})); !slices.Contains(got, 3002) {
		t.Error("what came later is not found")
	}
}

// TestCompactNeedsEveryLeg compacts while an index cannot be opened: its files may
// hold what was removed.
func TestCompactNeedsEveryLeg(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	h := newHarness(t, index.Options{Keyword: func(context.Context) (index.KeywordIndex, error) {
		if broken.Load() {
			return nil, errBroken
		}
		return newWords(), nil
	}})
	defer h.Close()
	apply(t, h, one(1, "apple", 1, 0))
	if err := h.Compact(t.Context()); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("without a keyword index: %v", err)
	}
	broken.Store(false)
	settle(t, h, both)
	if err := h.Compact(t.Context()); err != nil {
		t.Errorf("with both indexes: %v", err)
	}
}

// TestCompactOfALegThatIsReplaced changes the space while the old index is compacted,
// which closes it. That is no failure for good: the next try compacts the new index.
func TestCompactOfALegThatIsReplaced(t *testing.T) {
	var h *harness
	next := newArrows()
	old := &replaced{newArrows(), func() error {
		err := h.Prepare(t.Context(), index.Space{Name: "new"})
		return errors.Join(err, h.Switch(t.Context()))
	}}
	h = newHarness(t, index.Options{Space: index.Space{Name: "old"}, Vector: func(_ context.Context, s index.Space) (index.VectorIndex, error) {
		if s.Name == "new" {
			return next, nil
		}
		return old, nil
	}})
	defer h.Close()
	apply(t, h, one(1, "apple", 1, 0))
	if err := h.Compact(t.Context()); !errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, index.ErrClosed) {
		t.Errorf("while the index is replaced: %v", err)
	}
	if err := h.Compact(t.Context()); err != nil || !slices.Equal(next.compacted, []int{1}) {
		t.Errorf("afterwards: %v, the new index was compacted with %v chunks", err, next.compacted)
	}
}

// replaced is a vector index that is closed while it is compacted.
type replaced struct {
	*arrows

	by func() error
}

func (r *replaced) Compact(context.Context) error { return errors.Join(index.ErrClosed, r.by()) }

// TestCompactReachesThePreparedLeg removes something after an index of another space
// was prepared.
func TestCompactReachesThePreparedLeg(t *testing.T) {
	h := newHarness(t, index.Options{Space: index.Space{Name: "old"}})
	defer h.Close()
	apply(t, h, one(1, "apple", 1, 0))
	apply(t, h, one(2, "apple", 1, 0))
	if err := h.prepare(t.Context(), "broken", func() (index.VectorIndex, error) { return nil, errBroken }); err != nil {
		t.Fatal(err)
	}
	if err := h.Compact(t.Context()); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("while an index is being prepared: %v", err)
	}
	next := newArrows()
	if err := h.prepare(t.Context(), "new", func() (index.VectorIndex, error) { return next, nil }); err != nil {
		t.Fatal(err)
	}
	for {
		if ok, err := h.Prepared(t.Context()); ok || err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	apply(t, h, index.Batch{Seq: 3, Removed: []index.Removal{{Item: 1, Chunks: []uint64{1}}}})
	if err := h.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(next.compacted, []int{1}) {
		t.Errorf("the prepared index was compacted with %v chunks", next.compacted)
	}
}
