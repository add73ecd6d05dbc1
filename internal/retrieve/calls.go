package retrieve

import (
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

// Calls counts embedder calls for queries and for documents.
type Calls struct{ Queries, Documents CallTally }

// CallTally counts embedder calls for one purpose.
type CallTally struct {
	texts, failed atomic.Uint64
	took          trace.Histogram
}

func (t *CallTally) add(texts int, began time.Time, err error) {
	t.took.Add(time.Since(began))
	if err != nil {
		t.failed.Add(1)
		return
	}
	t.texts.Add(uint64(texts)) //nolint:gosec // not negative
}

// Read returns the counters.
func (t *CallTally) Read() CallCounts {
	return CallCounts{t.texts.Load(), t.failed.Load(), t.took.Durations()}
}

// CallCounts counts embedder calls for one purpose since the data directory was opened. For a
// remote embedder each call is one or more requests; see [embed.Usage].
type CallCounts struct {
	Texts  uint64 // successfully embedded
	Failed uint64 // calls, including those cancelled by the caller
	Took   trace.Durations
}
