package indextest

import (
	"context"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// epsilon is how far a score may be from the cosine in float64.
const epsilon = 1e-5

// denseLeg is a leg under test. It keeps what was applied, so that it can reopen
// the leg as the engine would.
type denseLeg struct {
	index.Dense
	opts   DenseOptions
	dir    string
	openAt func(t *testing.T, dir string) index.Dense
	open   func() index.Dense
	seq    uint64
	log    []denseBatch
}

type denseBatch struct {
	seq     uint64
	upserts []index.VectorUnit
	deletes []uint64
}

// openDense opens a leg in a fresh directory and closes it after the test.
func openDense(t *testing.T, open func(t *testing.T, dir string) index.Dense, opts DenseOptions) *denseLeg {
	t.Helper()
	dir := t.TempDir()
	leg := &denseLeg{opts: opts, dir: dir, openAt: open, open: func() index.Dense { return open(t, dir) }}
	leg.Dense = leg.open()
	t.Cleanup(func() { _ = leg.Close() }) // tests that close the leg themselves check it
	return leg
}

// another opens a leg of the same kind in another directory.
func (l *denseLeg) another(t *testing.T) *denseLeg {
	return openDense(t, l.openAt, l.opts)
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// apply applies a batch under the next sequence number.
func (l *denseLeg) apply(t fataler, upserts []index.VectorUnit, deletes ...uint64) {
	t.Helper()
	l.seq++
	l.log = append(l.log, denseBatch{l.seq, upserts, deletes})
	if err := l.Apply(context.Background(), l.seq, upserts, deletes); err != nil {
		t.Fatalf("Apply %d: %v", l.seq, err)
	}
}

// reopen closes the leg, opens it again, and applies everything after its
// cursor.
func (l *denseLeg) reopen(t fataler) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	l.Dense = l.open()
	for _, b := range l.log {
		if b.seq <= l.Cursor() {
			continue
		}
		if err := l.Apply(context.Background(), b.seq, b.upserts, b.deletes); err != nil {
			t.Fatalf("Apply %d after reopening: %v", b.seq, err)
		}
	}
}

// search searches, and checks what holds for every answer.
func (l *denseLeg) search(t fataler, q index.DenseQuery) []index.Scored {
	t.Helper()
	hits, err := l.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	for i := 1; i < len(hits); i++ {
		a, b := hits[i-1], hits[i]
		if a.Score < b.Score || a.Score == b.Score && a.ID >= b.ID {
			t.Fatalf("hits %d and %d are out of order: %+v, %+v", i-1, i, a, b)
		}
	}
	for _, h := range hits {
		if !(math.Abs(h.Score) <= 1) {
			t.Fatalf("score of %+v is no cosine", h)
		}
	}
	return hits
}

// approximate reports whether only some searches are exact.
func (l *denseLeg) approximate() bool { return l.opts.MinRecall < 1 }

// wantIDs checks the ids of the k units nearest to the first axis.
func (l *denseLeg) wantIDs(t *testing.T, k int, want ...uint64) {
	t.Helper()
	var got []uint64
	for _, h := range l.search(t, index.DenseQuery{Vector: l.at(0, 0).Vector, K: k, Exact: l.approximate()}) {
		got = append(got, h.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("search for %d: got %v, want %v", k, got, want)
	}
}

// wantUnits checks the number of live units.
func (l *denseLeg) wantUnits(t fataler, want int) {
	t.Helper()
	s := l.Stats()
	if s.Units != want || s.Pending < 0 || s.Pending > s.Units || s.Kind == "" {
		t.Errorf("Stats = %+v, want %d units, as many or fewer pending, and a kind", s, want)
	}
}

// at returns a unit whose vector has length 1 and stands at an angle to the
// first axis, in the plane of the first and the last.
func (l *denseLeg) at(id uint64, degrees float64) index.VectorUnit {
	v := make([]float32, l.opts.Dim)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	v[0], v[len(v)-1] = float32(cos), float32(sin)
	return index.VectorUnit{ID: id, Vector: v}
}

// badVectors names vectors that every leg refuses.
func (l *denseLeg) badVectors() iter.Seq2[string, []float32] {
	with := func(i int, x float64) []float32 {
		v := l.at(0, 45).Vector
		v[i] = float32(x)
		return v
	}
	return maps.All(map[string][]float32{
		"NaN":       with(0, math.NaN()),
		"last NaN":  with(l.opts.Dim-1, math.NaN()),
		"infinite":  with(1, math.Inf(1)),
		"-infinite": with(1, math.Inf(-1)),
		"short":     make([]float32, l.opts.Dim-1),
		"long":      make([]float32, l.opts.Dim+1),
		"empty":     {},
		"nil":       nil,
	})
}

// clustered returns n vectors around a few centres, as texts of a few subjects
// have them.
func (l *denseLeg) clustered(r *rand.Rand, n int) []index.VectorUnit {
	const centres, spread = 12, 0.25
	normal := func(v []float32, scale float64) {
		for i := range v {
			v[i] += float32(scale * r.NormFloat64())
		}
	}
	middle := make([][]float32, centres)
	for i := range middle {
		middle[i] = make([]float32, l.opts.Dim)
		normal(middle[i], 1)
	}
	units := make([]index.VectorUnit, n)
	for i := range units {
		v := slices.Clone(middle[r.IntN(centres)])
		normal(v, spread)
		units[i] = index.VectorUnit{ID: uint64(i), Vector: v}
	}
	return units
}
