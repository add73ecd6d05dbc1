package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// axis returns a chunk whose vector stands at an angle to the first axis, in the
// plane of the first two.
func axis(id uint64, degrees float64) index.VectorChunk {
	v := make([]float32, nativeDim)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	v[0], v[1] = float32(cos), float32(sin)
	return index.VectorChunk{ID: id, Vector: v}
}

// apart returns chunks that are far from the first two axes.
func apart(r *rand.Rand, first uint64, n int) []index.VectorChunk {
	chunks := random(r, first, n, nativeDim)
	for _, u := range chunks {
		u.Vector[0], u.Vector[1] = 0, 0
	}
	return chunks
}

func mustApply(t testing.TB, ix index.VectorIndex, upserts []index.VectorChunk, deletes ...uint64) {
	t.Helper()
	if err := ix.Apply(t.Context(), 0, upserts, deletes); err != nil {
		t.Fatal(err)
	}
}

// best returns the hit nearest to the first axis, and whether the graph found it.
func best(t testing.TB, n *native, exact bool) (index.Scored, bool) {
	t.Helper()
	q := index.VectorQuery{Vector: axis(0, 0).Vector, K: 3, Exact: exact}
	hits, ok, err := n.nearest(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		if hits, err = n.rows.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return hits[0], ok
}

// A search whose view is overtaken by a change while it is in the graph answers as
// of that view, or of a later one where the graph cannot tell.
func TestNativeOvertaken(t *testing.T) {
	near, far := axis(7, 0), axis(7, 90)
	for name, c := range map[string]struct {
		change func(t *testing.T, n *native)
		exact  bool
		graph  bool // answers
		found  bool // chunk 7, where it was
	}{
		"replaced": {func(t *testing.T, n *native) { mustApply(t, n, []index.VectorChunk{far}) }, false, true, true},
		"deleted":  {func(t *testing.T, n *native) { mustApply(t, n, nil, 7) }, false, true, true},
		"zeroed": {func(t *testing.T, n *native) {
			mustApply(t, n, []index.VectorChunk{{ID: 7, Vector: make([]float32, nativeDim)}})
		}, false, true, true},
		"added":        {func(t *testing.T, n *native) { mustApply(t, n, []index.VectorChunk{axis(8, 0)}) }, false, true, true},
		"exact":        {func(t *testing.T, n *native) { mustApply(t, n, []index.VectorChunk{far}) }, true, false, false},
		"added, exact": {func(t *testing.T, n *native) { mustApply(t, n, []index.VectorChunk{axis(8, 0)}) }, true, false, true},
		"tidied": {func(t *testing.T, n *native) {
			mustApply(t, n, nil, 7)
			if err := n.accel.Load().tidy(t.Context()); err != nil {
				t.Error(err)
			}
		}, false, false, false},
		"freed": {func(t *testing.T, n *native) {
			mustApply(t, n, nil, 7)
			n.accel.Load().annGraph.(*fakeGraph).freed.Add(1)
		}, false, false, false},
		"flushed": {func(t *testing.T, n *native) { mustFlush(t, n) }, false, true, true},
		"moved in memory": {func(t *testing.T, n *native) {
			mustApply(t, n, apart(rand.New(rand.NewPCG(3, 3)), 500, 20), 501, 502, 503, 504, 7)
			mustFlush(t, n)
		}, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dir := range []string{"", "/leg"} {
				i := new(ills)
				n := openTiny(t, tiny(dir, faultfs.New(), i))
				fill(t, n, apart(rand.New(rand.NewPCG(1, 1)), 100, 300))
				mustApply(t, n, []index.VectorChunk{near})
				settle(t, n)
				change := func() { c.change(t, n) }
				i.beside.Store(&change)
				hit, graph := best(t, n, c.exact)
				if graph != c.graph || (hit.ID == 7 && hit.Score > .99) != c.found {
					t.Errorf("directory %q: found %+v, by the graph: %v", dir, hit, graph)
				}
			}
		})
	}
}

// A chunk that moves between two places near the query is found in one of them,
// whatever happens beside.
func TestNativeNeverMissesBothVersions(t *testing.T) {
	for name, i := range map[string]*ills{"Fake": new(ills), "Real": nil} {
		for _, dir := range []string{"", "/leg"} {
			t.Run(name+dir, func(t *testing.T) {
				n := openTiny(t, tiny(dir, faultfs.New(), i))
				fill(t, n, apart(rand.New(rand.NewPCG(1, 1)), 100, 200))
				moves(t, n, 800)
			})
		}
	}
}

// moves moves chunks beside searches that know where they must be.
func moves(t *testing.T, n *native, rounds int) {
	mustApply(t, n, []index.VectorChunk{axis(7, 10)})
	settle(t, n)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for s := range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits, err := n.Search(t.Context(), index.VectorQuery{Vector: axis(0, 0).Vector, K: 3, Exact: s == 0})
				if err != nil || len(hits) != 3 || hits[0].ID != 7 || hits[0].Score < .9 {
					t.Errorf("found %v (%v)", hits, err)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(2, 2))
	for i := range rounds {
		mustApply(t, n, append(apart(r, 100+r.Uint64N(300), 3), axis(7, float64(10-20*(i%2)))), 100+r.Uint64N(300))
		if i%200 == 99 {
			mustFlush(t, n)
		}
	}
	close(done)
	wg.Wait()
}

// What is applied is found by the next search, while the graph is linked, tidied,
// and written.
func TestNativeFindsAtOnce(t *testing.T) {
	for name, i := range map[string]*ills{"Fake": new(ills), "Real": nil} {
		t.Run(name, func(t *testing.T) {
			n := openTiny(t, tiny("/leg", faultfs.New(), i))
			r := rand.New(rand.NewPCG(1, 1))
			for range 600 {
				u := random(r, r.Uint64N(300), 1, nativeDim)[0]
				mustApply(t, n, []index.VectorChunk{u})
				if ids := nearestIDs(t, n, u, 1); !slices.Equal(ids, []uint64{u.ID}) {
					t.Fatalf("found %v, want %d", ids, u.ID)
				}
				if r.IntN(3) > 0 {
					continue
				}
				mustApply(t, n, nil, u.ID)
				if ids := nearestIDs(t, n, u, 5); slices.Contains(ids, u.ID) {
					t.Fatalf("found %v, and %d is deleted", ids, u.ID)
				}
			}
		})
	}
}

func nearestIDs(t *testing.T, ix index.VectorIndex, to index.VectorChunk, k int) (ids []uint64) {
	t.Helper()
	hits, err := ix.Search(t.Context(), index.VectorQuery{Vector: to.Vector, K: k})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}
