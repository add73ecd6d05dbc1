package indextest

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// vectorPatterns returns the possible encodings of a component of a unit vector, up to rounding.
func vectorPatterns(x float32) (patterns [][]byte) {
	for _, y := range []float32{math.Nextafter32(x, 0), x, math.Nextafter32(x, 2)} {
		patterns = append(patterns, binary.LittleEndian.AppendUint32(nil, math.Float32bits(y)),
			binary.BigEndian.AppendUint32(nil, math.Float32bits(y)))
	}
	return patterns
}

func testVectorCompact(t *testing.T, ix *vectorIndex) {
	gone := ix.at(goneID, 33.33)
	patterns := append(vectorPatterns(gone.Vector[0]), idPatterns(goneID)...)
	for others := range uint64(3) {
		for id := range 20 * others {
			ix.apply(t, []index.VectorChunk{ix.at(id, float64(id))})
		}
		ix.apply(t, []index.VectorChunk{gone})
		ix.flush(t)
		ix.apply(t, nil, goneID)
		ix.compact(t)
		wantNowhere(t, ix.dir, patterns...)
		ix.wantChunks(t, int(20*others))
		if s, ok := ix.Similarity(gone.Vector)(goneID); ok {
			t.Errorf("Similarity of a deleted chunk = %v", s)
		}
	}
	ix.apply(t, []index.VectorChunk{gone})
	ix.flush(t)
	ix.apply(t, []index.VectorChunk{ix.at(goneID, 50)}) // replaced: the old vector is deleted
	ix.compact(t)
	wantNowhere(t, ix.dir, vectorPatterns(gone.Vector[0])...)
	ix.wantIDs(t, 3, 0, 1, 2)
	ix.reopen(t)
	ix.wantChunks(t, 41)
	ix.wantIDs(t, 3, 0, 1, 2)
}

func (l *vectorIndex) flush(t fataler) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatalf("Flush: %v", err)
	}
}

func (l *vectorIndex) compact(t fataler) {
	t.Helper()
	if err := l.Compact(context.Background()); err != nil {
		t.Fatalf("Compact: %v", err)
	}
}

// testVectorCompactConcurrently compacts during changes and searches.
func testVectorCompactConcurrently(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 1)})
	probe := ix.at(0, 0).Vector
	stop := readers(t, 2, func(t fataler) {
		if len(ix.search(t, index.VectorQuery{Vector: probe, K: 5, Exact: true})) == 0 {
			t.Errorf("nothing was found while the index was compacted")
		}
	})
	compacted := readers(t, 1, func(t fataler) { ix.compact(t) })
	for i := range uint64(60) {
		ix.apply(t, []index.VectorChunk{ix.at(i, float64(i))}, i/2)
		if i%20 == 19 {
			ix.flush(t)
		}
	}
	compacted()
	stop()
	ix.wantChunks(t, 30)
	ix.wantIDs(t, 2, 30, 31)
}
