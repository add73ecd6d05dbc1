// Package memory turns conversation turns and explicit notes into memories, and answers queries
// from them.
//
// A turn is stored verbatim as one episodic memory and can be found at once. Relevance is the match
// between text and query. Importance and recency are reported in addition; they rank the memories
// of a request without a query.
package memory

import (
	"math"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// MemoryWeights are the weights of importance and recency in a memory's score.
type MemoryWeights struct {
	Decay      time.Duration // time for recency to fall to 1/e; 0 means 30 days
	Importance float64       // if both are 0: .7 and .3
	Recency    float64
}

// WithDefaults returns w with the defaults for unset fields.
func (w MemoryWeights) WithDefaults() MemoryWeights {
	if w.Decay <= 0 {
		w.Decay = 30 * 24 * time.Hour
	}
	if w.Importance == 0 && w.Recency == 0 {
		w.Importance, w.Recency = 0.7, 0.3
	}
	return w
}

// Score returns importance·w + exp(−age/decay)·w, rounded. A time in the future counts as now.
func (w MemoryWeights) Score(importance float64, age time.Duration) float64 {
	w = w.WithDefaults()
	return ragctx.Rounded(importance*w.Importance + math.Exp(-max(age, 0).Seconds()/w.Decay.Seconds())*w.Recency)
}

// Chunks splits a memory's text into chunks.
func Chunks(text string) []chunk.Chunk { return chunk.Split(text, chunk.Options{}) }
