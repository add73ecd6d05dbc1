package vector

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector/kernel"
)

// random returns n chunks with ids from first on.
func random(r *rand.Rand, first uint64, n, dim int) []index.VectorChunk {
	chunks := make([]index.VectorChunk, n)
	for i := range chunks {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		chunks[i] = index.VectorChunk{ID: first + uint64(i), Vector: v}
	}
	return chunks
}

// fill applies chunks in one batch.
func fill(tb testing.TB, ix index.VectorIndex, chunks []index.VectorChunk) {
	tb.Helper()
	if err := ix.Apply(tb.Context(), 0, chunks, nil); err != nil {
		tb.Fatal(err)
	}
}

// filled returns an exact index with n random chunks.
func filled(tb testing.TB, n, dim int) *flat {
	tb.Helper()
	f := newFlat(dim)
	r := rand.New(rand.NewPCG(1, 1))
	for first := 0; first < n; first += 1000 {
		if err := f.Apply(tb.Context(), 0, random(r, uint64(first), min(1000, n-first), dim), nil); err != nil {
			tb.Fatal(err)
		}
	}
	return f
}

func TestDotAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, dim := range []int{1, 2, 7, 8, 9, 63, 64, 384, 1000} {
		chunks := random(r, 0, 5, dim)
		q, _ := queryUnit(chunks[0].Vector, dim)
		for _, u := range chunks {
			unit, _ := queryUnit(u.Vector, dim)
			var want float64
			for j, x := range q {
				want += float64(x) * float64(unit[j])
			}
			row := make([]int16, stride(dim))
			kernel.Encode16(row, u.Vector)
			if got := dot(q, row); math.Abs(float64(got)-want) > 2e-5 {
				t.Errorf("dimension %d, row %d: %v, want %v", dim, u.ID, got, want)
			}
		}
	}
}

func TestSnapshotsNeverChange(t *testing.T) {
	const n, dim = 700, 8
	r := rand.New(rand.NewPCG(3, 3))
	f := filled(t, n, dim)
	q, err := queryUnit(random(r, 0, 1, dim)[0].Vector, dim)
	if err != nil {
		t.Fatal(err)
	}
	old := f.state.Load()
	before, err := old.scan(t.Context(), search{unit: q, k: n})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // replace, delete, add, and so fill holes
		gone := []uint64{uint64(r.IntN(n)), uint64(r.IntN(n)), uint64(r.IntN(2 * n))}
		if err := f.Apply(t.Context(), 0, random(r, uint64(r.IntN(n)), 300, dim), gone); err != nil {
			t.Fatal(err)
		}
	}
	after, err := old.scan(t.Context(), search{unit: q, k: n})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, after) {
		t.Error("a snapshot changed while batches were applied")
	}
}

func TestChurnNeedsNoMoreRoom(t *testing.T) {
	const n, dim = 2000, 8
	f := filled(t, n, dim)
	r := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		if err := f.Apply(t.Context(), 0, random(r, uint64(r.IntN(n-500)), 500, dim), nil); err != nil {
			t.Fatal(err)
		}
	}
	rows := 0
	for _, b := range f.state.Load().blocks {
		if b != nil {
			rows += len(b.ids)
		}
	}
	if limit := n*3/2 + maxBlockRows; rows > limit {
		t.Errorf("%d chunks take %d rows after churn, want at most %d", n, rows, limit)
	}
	var all []uint64
	for id := range uint64(n) {
		all = append(all, id)
	}
	if err := f.Apply(t.Context(), 0, nil, all); err != nil {
		t.Fatal(err)
	}
	for _, b := range f.state.Load().blocks {
		if b != nil {
			t.Fatal("an empty index holds a block")
		}
	}
}

func TestAcceptIsAskedOnlyAboutCandidates(t *testing.T) {
	const n, k = 5000, 10
	f := filled(t, n, 16)
	asked := 0
	_, err := f.Search(t.Context(), index.VectorQuery{
		Vector: random(rand.New(rand.NewPCG(5, 5)), 0, 1, 16)[0].Vector, K: k,
		Accept: func(uint64) bool { asked++; return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	// Random order: about k·ln(n/k) chunks enter after the first k.
	if asked < k || asked > 200 {
		t.Errorf("accept was asked %d times for %d of %d", asked, k, n)
	}
}

func TestAcceptMayCallTheLeg(t *testing.T) {
	f := filled(t, 100, 4)
	v := []float32{1, 0, 0, 0}
	hits, err := f.Search(t.Context(), index.VectorQuery{Vector: v, K: 3, Accept: func(id uint64) bool {
		if err := f.Apply(context.Background(), 0, nil, []uint64{id}); err != nil {
			t.Error(err)
		}
		_, ok := f.Similarity(v)(id)
		return !ok
	}})
	if err != nil || len(hits) != 3 {
		t.Errorf("got %v, %v", hits, err)
	}
}

func TestKinds(t *testing.T) {
	for kind, want := range map[string]string{"": "native", "native": "native", "flat": "flat", "coder": "coder"} {
		ix, err := New(Options{Graph: kind, Dimensions: 8})
		if err != nil {
			t.Fatal(err)
		}
		if got := ix.Stats().Kind; got != want {
			t.Errorf("New(%q) gave %q", kind, got)
		}
		_ = ix.Close()
	}
	for _, c := range []struct {
		kind string
		dim  int
	}{{"Native", 8}, {"flat", 0}, {"flat", -1}, {"coder", MaxDimensions + 1}} {
		if _, err := New(Options{Graph: c.kind, Dimensions: c.dim}); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("New(%q, %d) = %v, want ErrInvalid", c.kind, c.dim, err)
		}
	}
}
