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
	leg, err := New(Options{Graph: kindNative, Dimensions: dim, minGraphChunks: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer leg.Close()
	flat := NewFlat(dim)
	r := rand.New(rand.NewPCG(1, 2))
	var units, moved []index.VectorChunk
	for id := range uint64(n) {
		units = append(units, index.VectorChunk{ID: id, Vector: lattice(r, dim)})
		if id%10 == 0 {
			near := slices.Clone(units[id].Vector)
			for i, x := range near {
				if x != 127 && x != -127 {
					near[i] += (r.Float32() - .5) * .96
				}
			}
			moved = append(moved, index.VectorChunk{ID: id, Vector: near})
		}
	}
	for _, batch := range [][]index.VectorChunk{units, moved} {
		fill(t, leg, batch)
		fill(t, flat, batch)
		settle(t, leg.(*Native))
	}
	for range 500 {
		q := index.VectorQuery{Vector: units[r.IntN(n)].Vector, K: 10, Exact: true}
		got, err := leg.Search(t.Context(), q)
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
	leg, err := New(Options{Graph: kindNative, Dimensions: dim, minGraphChunks: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer leg.Close()
	native := leg.(*Native)
	r := rand.New(rand.NewPCG(1, 2))
	units := random(r, 0, n, dim)
	fill(t, leg, units)
	settle(t, native)
	old := make([]uint64, n)
	for i := range units {
		old[i], units[i].ID = units[i].ID, units[i].ID+n
	}
	fill(t, leg, units)
	settle(t, native)
	if err := leg.Apply(t.Context(), 2, nil, old); err != nil {
		t.Fatal(err)
	}
	settle(t, native)
	a := native.acquire()
	defer a.release()
	before := a.tidies.Load()
	for i := range 5 {
		fill(t, leg, random(r, uint64(n+i), 1, dim))
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
	units := random(rand.New(rand.NewPCG(1, 1)), 0, 600, nativeDim)
	fill(t, n, units)
	settle(t, n)
	gone := make([]uint64, 0, 500)
	for _, u := range units[100:] {
		gone = append(gone, u.ID)
	}
	if err := n.Apply(t.Context(), 2, nil, gone); err != nil {
		t.Fatal(err)
	}
	settle(t, n)
	wantFlat(t, n, units[:100])
	if st := n.accel.Load().Stats(); st.Slots > 4*100+100 {
		t.Errorf("%+v", st)
	}
}
