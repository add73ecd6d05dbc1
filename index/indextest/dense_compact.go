package indextest

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// vectorPatterns returns how a component of a unit vector may be written, give
// or take a rounding.
func vectorPatterns(x float32) (patterns [][]byte) {
	for _, y := range []float32{math.Nextafter32(x, 0), x, math.Nextafter32(x, 2)} {
		patterns = append(patterns, binary.LittleEndian.AppendUint32(nil, math.Float32bits(y)),
			binary.BigEndian.AppendUint32(nil, math.Float32bits(y)))
	}
	return patterns
}

func testDenseCompact(t *testing.T, leg *denseLeg) {
	gone := leg.at(goneID, 33.33)
	patterns := append(vectorPatterns(gone.Vector[0]), idPatterns(goneID)...)
	for others := range uint64(3) {
		for id := range 20 * others {
			leg.apply(t, []index.VectorUnit{leg.at(id, float64(id))})
		}
		leg.apply(t, []index.VectorUnit{gone})
		leg.flush(t)
		leg.apply(t, nil, goneID)
		leg.compact(t)
		wantNowhere(t, leg.dir, patterns...)
		leg.wantUnits(t, int(20*others))
		if s, ok := leg.Similarity(gone.Vector, goneID); ok {
			t.Errorf("Similarity of a deleted unit = %v", s)
		}
	}
	leg.apply(t, []index.VectorUnit{gone})
	leg.flush(t)
	leg.apply(t, []index.VectorUnit{leg.at(goneID, 50)}) // replaced: the old vector goes
	leg.compact(t)
	wantNowhere(t, leg.dir, vectorPatterns(gone.Vector[0])...)
	leg.wantIDs(t, 3, 0, 1, 2)
	leg.reopen(t)
	leg.wantUnits(t, 41)
	leg.wantIDs(t, 3, 0, 1, 2)
}

func (l *denseLeg) flush(t fataler) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatalf("Flush: %v", err)
	}
}

func (l *denseLeg) compact(t fataler) {
	t.Helper()
	if err := l.Compact(context.Background()); err != nil {
		t.Fatalf("Compact: %v", err)
	}
}

// testDenseCompactBeside compacts beside changes and searches.
func testDenseCompactBeside(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 1)})
	probe := leg.at(0, 0).Vector
	stop := readers(t, 2, func(t fataler) {
		if len(leg.search(t, index.DenseQuery{Vector: probe, K: 5, Exact: true})) == 0 {
			t.Errorf("nothing was found while the index was compacted")
		}
	})
	compacted := readers(t, 1, func(t fataler) { leg.compact(t) })
	for i := range uint64(60) {
		leg.apply(t, []index.VectorUnit{leg.at(i, float64(i))}, i/2)
		if i%20 == 19 {
			leg.flush(t)
		}
	}
	compacted()
	stop()
	leg.wantUnits(t, 30)
	leg.wantIDs(t, 2, 30, 31)
}
