package index_test

import (
	"math"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// What only the words found has its cosine, whether it is of few chunks or of many, which
// are filled in from two goroutines.
func TestCosinesOfWhatWordsFound(t *testing.T) {
	const depth = 100 // of each index
	for _, lacking := range []int{0, 1, 16, 17, 60, depth} {
		h, _, _ := open(t)
		var b index.Batch
		want := make(map[uint64]float64)
		// The words find the first chunks, the vectors the last, and depth less lacking are both's.
		total := depth + lacking
		for i := range total {
			id, angle := uint64(i+1), math.Pi/2*float64(total-i)/float64(total+1) //nolint:gosec // small
			v := []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
			p := &index.Item{ID: id, Source: "s", Recorded: t0}
			b.Add = append(b.Add, entry(id, id, p, "pear", v...))
			want[id] = dot([]float32{1, 0}, v)
		}
		b.Seq = uint64(total) //nolint:gosec // small
		apply(t, h, b)
		r := search(t, h, index.Query{Text: "pear", Vector: []float32{1, 0}, K: total, Fusion: index.Fusion{VectorFloor: -1}})
		if len(r.Hits) != total {
			t.Fatalf("%d lacking: %d hits of %d", lacking, len(r.Hits), total)
		}
		for _, hit := range r.Hits {
			if hit.Signals.Vector != want[hit.ID] {
				t.Errorf("%d lacking: chunk %d has the cosine %v, want %v", lacking, hit.ID, hit.Signals.Vector, want[hit.ID])
			}
		}
	}
}
