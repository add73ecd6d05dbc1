package vector

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// lattice returns a vector whose codes leave nothing out.
func lattice(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.IntN(255) - 127)
	}
	v[r.IntN(dim)] = 127
	return v
}

// A vector that is replaced by one with the same codes is not put again; what codes
// leave out of it counts all the same, or an exact search would miss it.
func TestNativeSameCodes(t *testing.T) {
	const dim, n = 8, 1000
	ix, err := New(Options{Graph: kindNative, Dimensions: dim, minGraphChunks: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	flat := newFlat(dim)
	r := rand.New(rand.NewPCG(1, 2))
	var chunks, moved []index.VectorChunk
	for id := range uint64(n) {
		chunks = append(chunks, index.VectorChunk{ID: id, Vector: lattice(r, dim)})
		if id%10 == 0 {
			near := slices.Clone(chunks[id].Vector)
			for i, x := range near {
				if x != 127 && x != -127 {
					near[i] += (r.Float32() - .5) * .96
				}
			}
			moved = append(moved, index.VectorChunk{ID: id, Vector: near})
		}
	}
	for _, batch := range [][]index.VectorChunk{chunks, moved} {
		fill(t, ix, batch)
		fill(t, flat, batch)
		settle(t, ix.(*native))
	}
	for range 500 {
		q := index.VectorQuery{Vector: chunks[r.IntN(n)].Vector, K: 10, Exact: true}
		got, err := ix.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := flat.Search(t.Context(), q); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// Dead vectors that stand for live ones with the same codes cannot be tidied away:
// a graph is not tidied for them again and again.
func TestNativeKeepsHeads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	const dim, n = 16, 3000
	ix, err := New(Options{Graph: kindNative, Dimensions: dim, minGraphChunks: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	native := ix.(*native)
	r := rand.New(rand.NewPCG(1, 2))
	chunks := random(r, 0, n, dim)
	fill(t, ix, chunks)
	settle(t, native)
	old := make([]uint64, n)
	for i := range chunks {
		old[i], chunks[i].ID = chunks[i].ID, chunks[i].ID+n
	}
	fill(t, ix, chunks)
	settle(t, native)
	if err := ix.Apply(t.Context(), 2, nil, old); err != nil {
		t.Fatal(err)
	}
	settle(t, native)
	a := native.acquire()
	defer a.release()
	before := a.tidies.Load()
	for i := range 5 {
		fill(t, ix, random(r, uint64(n+i), 1, dim))
		settle(t, native)
	}
	if st := a.Stats(); a.tidies.Load() != before || st.Retained < n/2 || st.Live != n {
		t.Errorf("tidied %d times more: %+v", a.tidies.Load()-before, st)
	}
}

// A graph with far more places than vectors is made again.
func TestNativeShrinks(t *testing.T) {
	o := tiny("/leg", faultfs.New(), nil)
	o.minWaste = 100
	n := openTiny(t, o)
	chunks := random(rand.New(rand.NewPCG(1, 1)), 0, 600, nativeDim)
	fill(t, n, chunks)
	settle(t, n)
	gone := make([]uint64, 0, 500)
	for _, u := range chunks[100:] {
		gone = append(gone, u.ID)
	}
	if err := n.Apply(t.Context(), 2, nil, gone); err != nil {
		t.Fatal(err)
	}
	settle(t, n)
	wantFlat(t, n, chunks[:100])
	if st := n.accel.Load().Stats(); st.Slots > 4*100+100 {
		t.Errorf("%+v", st)
	}
}
