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

// epsilon is the maximum difference between a score and the cosine in float64.
const epsilon = 1e-5

// vectorIndex is an index under test. It records the applied batches, so that it can reopen the
// index as the engine would.
type vectorIndex struct {
	index.VectorIndex
	opts   VectorOptions
	dir    string
	openAt func(t *testing.T, dir string) index.VectorIndex
	open   func() index.VectorIndex
	seq    uint64
	log    []vectorBatch
}

type vectorBatch struct {
	seq     uint64
	upserts []index.VectorChunk
	deletes []uint64
}

// openVector opens an index in a fresh directory and closes it after the test.
func openVector(t *testing.T, open func(t *testing.T, dir string) index.VectorIndex, opts VectorOptions) *vectorIndex {
	t.Helper()
	dir := t.TempDir()
	ix := &vectorIndex{opts: opts, dir: dir, openAt: open, open: func() index.VectorIndex { return open(t, dir) }}
	ix.VectorIndex = ix.open()
	t.Cleanup(func() { _ = ix.Close() }) // tests that close the index themselves check the error
	return ix
}

// another opens an index of the same kind in another directory.
func (l *vectorIndex) another(t *testing.T) *vectorIndex {
	return openVector(t, l.openAt, l.opts)
}

// fataler is the interface shared by *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// apply applies a batch with the next sequence number.
func (l *vectorIndex) apply(t fataler, upserts []index.VectorChunk, deletes ...uint64) {
	t.Helper()
	l.seq++
	l.log = append(l.log, vectorBatch{l.seq, upserts, deletes})
	if err := l.Apply(context.Background(), l.seq, upserts, deletes); err != nil {
		t.Fatalf("Apply %d: %v", l.seq, err)
	}
}

// reopen closes and reopens the index, then applies everything after its cursor.
func (l *vectorIndex) reopen(t fataler) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	l.VectorIndex = l.open()
	for _, b := range l.log {
		if b.seq <= l.Cursor() {
			continue
		}
		if err := l.Apply(context.Background(), b.seq, b.upserts, b.deletes); err != nil {
			t.Fatalf("Apply %d after reopening: %v", b.seq, err)
		}
	}
}

// search searches and checks the invariants of every result.
func (l *vectorIndex) search(t fataler, q index.VectorQuery) []index.Scored {
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

// approximate reports whether searches that do not ask for Exact may be approximate.
func (l *vectorIndex) approximate() bool { return l.opts.MinRecall < 1 }

// wantIDs checks the ids of the k chunks nearest to the first axis.
func (l *vectorIndex) wantIDs(t *testing.T, k int, want ...uint64) {
	t.Helper()
	var got []uint64
	for _, h := range l.search(t, index.VectorQuery{Vector: l.at(0, 0).Vector, K: k, Exact: l.approximate()}) {
		got = append(got, h.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("search for %d: got %v, want %v", k, got, want)
	}
}

// wantChunks checks the number of live chunks.
func (l *vectorIndex) wantChunks(t fataler, want int) {
	t.Helper()
	s := l.Stats()
	if s.Chunks != want || s.Pending < 0 || s.Pending > s.Chunks || s.Kind == "" {
		t.Errorf("Stats = %+v, want %d chunks, as many or fewer pending, and a kind", s, want)
	}
}

// at returns a chunk with a vector of length 1 that stands at an angle to the
// first axis, in the plane of the first and the last.
func (l *vectorIndex) at(id uint64, degrees float64) index.VectorChunk {
	v := make([]float32, l.opts.Dim)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	v[0], v[len(v)-1] = float32(cos), float32(sin)
	return index.VectorChunk{ID: id, Vector: v}
}

// badVectors names vectors that every index rejects.
func (l *vectorIndex) badVectors() iter.Seq2[string, []float32] {
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

// clustered returns n vectors around a few centres, like the vectors of texts on a few subjects.
func (l *vectorIndex) clustered(r *rand.Rand, n int) []index.VectorChunk {
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
	chunks := make([]index.VectorChunk, n)
	for i := range chunks {
		v := slices.Clone(middle[r.IntN(centres)])
		normal(v, spread)
		chunks[i] = index.VectorChunk{ID: uint64(i), Vector: v}
	}
	return chunks
}
