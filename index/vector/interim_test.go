package vector_test

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
	"github.com/ragctx/ragctx/index/vector"
)

// other is the number of dimensions of the other space.
const other = 12

// TestInterim runs the suite with the vectors of the space alone, and with interim ones alone.
func TestInterim(t *testing.T) {
	for name, o := range map[string]vector.Options{
		"First":  {Dimensions: dim, Interim: &index.Interim{Dimensions: other, Identity: "table", Scale: 0.7}},
		"Second": {Dimensions: other, Interim: &index.Interim{Dimensions: dim, Identity: "table", Scale: 0.7}},
	} {
		t.Run(name, func(t *testing.T) {
			indextest.TestVector(t, func(t *testing.T, dir string) index.VectorIndex {
				o.Graph, o.Dir, o.Identity = "flat", dir, "conformance"
				return open(t, o)
			}, indextest.VectorOptions{Dim: dim, Stored: vector.KeptVector, MinRecall: 1, Copies: 2000})
		})
	}
}

// TestInterimMixed gives random chunks vectors of either space, in any order. Every chunk is found with
// the cosine of the vector that it has, of the first space's if both came in whatever order, also after a reopening.
func TestInterimMixed(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		of := index.Interim{Dimensions: other, Identity: "table", Scale: 0.7, Offset: -0.02}
		o := vector.Options{Graph: "native", Dir: t.TempDir(), Dimensions: dim, Identity: "first", Interim: &of}
		ix := open(t, o)
		query := append(direction(rng, dim), direction(rng, other)...)
		want := make(map[uint64]float64)
		better := make(map[uint64]bool)
		for seq := range uint64(30) {
			var upserts []index.VectorChunk
			var deletes []uint64
			for range rng.IntN(6) {
				id := 1 + rng.Uint64N(40)
				switch {
				case rng.IntN(5) == 0:
					deletes = append(deletes, id)
				case rng.IntN(2) == 0:
					upserts = append(upserts, index.VectorChunk{ID: id, Vector: direction(rng, other)})
				default:
					upserts = append(upserts, index.VectorChunk{ID: id, Vector: direction(rng, dim)})
				}
			}
			if err := ix.Apply(t.Context(), seq, upserts, deletes); err != nil {
				t.Fatal(err)
			}
			for _, u := range upserts {
				if len(u.Vector) == dim {
					want[u.ID], better[u.ID] = cos(query[:dim], vector.KeptVector(u.Vector)), true
				}
			}
			for _, u := range upserts {
				if !better[u.ID] {
					want[u.ID] = of.Scale*cos(query[dim:], vector.KeptVector(u.Vector)) + of.Offset
				}
			}
			for _, id := range deletes {
				delete(want, id)
				delete(better, id)
			}
			if rng.IntN(8) == 0 {
				if err := ix.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			wantMixed(t, ix, query, want)
		}
		if err := ix.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
		ix = open(t, o)
		wantMixed(t, ix, query, want)
		if c := ix.Cursor(); c != 29 {
			t.Errorf("the cursor is %d after a flush of change 29", c)
		}
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantMixed checks the hits of a query, their number and the cosine of each chunk.
func wantMixed(t *testing.T, ix index.VectorIndex, query []float32, want map[uint64]float64) {
	t.Helper()
	got, err := ix.Search(t.Context(), index.VectorQuery{Vector: query, K: 100})
	if err != nil {
		t.Fatal(err)
	}
	if n := ix.Stats().Chunks; n != len(want) {
		t.Fatalf("the index has %d chunks, want %d", n, len(want))
	}
	ids := slices.SortedFunc(maps.Keys(want), func(a, b uint64) int { return cmp.Compare(want[b], want[a]) })
	if len(got) != len(ids) {
		t.Fatalf("%d hits, want %d", len(got), len(ids))
	}
	for i, id := range ids {
		cosine, ok := ix.Similarity(query)(id)
		if got[i].ID != id || math.Abs(got[i].Score-want[id]) > 1e-5 || !ok || math.Abs(cosine-want[id]) > 1e-5 {
			t.Fatalf("hit %d is %v with cosine %v, want %d with %v", i, got[i], cosine, id, want[id])
		}
	}
}

// TestInterimRejected gives what cannot be told apart, or fits neither space.
func TestInterimRejected(t *testing.T) {
	for _, of := range []index.Interim{{Dimensions: dim, Scale: 1}, {Dimensions: other}, {Scale: 1}} {
		if ix, err := vector.New(vector.Options{Dimensions: dim, Interim: &of}); err == nil {
			t.Errorf("%+v is accepted", of)
			_ = ix.Close()
		}
	}
	ix := open(t, vector.Options{Dimensions: dim, Interim: &index.Interim{Dimensions: other, Scale: 1}})
	defer ix.Close()
	good, bad := make([]float32, dim), make([]float32, other)
	good[0], bad[0] = 1, float32(math.NaN())
	for _, v := range [][]float32{bad, make([]float32, other+1)} {
		err := ix.Apply(t.Context(), 1, []index.VectorChunk{{ID: 1, Vector: good}, {ID: 2, Vector: v}}, nil)
		if n := ix.Stats().Chunks; err == nil || n != 0 {
			t.Errorf("a batch with %v: %v, and %d chunks", v, err, n)
		}
	}
	if _, err := ix.Search(t.Context(), index.VectorQuery{Vector: make([]float32, dim+1), K: 1}); err == nil {
		t.Error("a query of neither space is accepted")
	}
}

func direction(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func cos(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}
