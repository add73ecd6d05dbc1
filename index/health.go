package index

import (
	"context"
	"time"
)

// Health describes the state of an index for its operators.
type Health struct {
	Chunks          int // in the catalog
	Applied         uint64
	Keyword, Vector PartStats
	// Searches measures the searches of the vector index since the index was opened.
	Searches Measurements
}

// Health implements [Follower]. It does not wait for a batch that is being applied, so it may be
// called often.
func (h *Hybrid) Health(context.Context) (Health, error) {
	v := Health{
		Chunks: len(h.view.Load().ids), Applied: h.applied.Load(),
		Keyword: h.keyword.stats(), Vector: h.vector.Load().stats(),
	}
	if h.monitor != nil {
		v.Searches = h.monitor.Measurements()
	}
	return v, nil
}

// SearchReport is [Measurements] in a human-readable form.
type SearchReport struct {
	Searches uint64  `json:"searches" doc:"searches that may be approximate"`
	P50MS    float64 `json:"p50_ms" doc:"median time of a search of the vector index, estimated from a histogram"`
	P99MS    float64 `json:"p99_ms"`

	Exact      uint64  `json:"exact" doc:"exact searches, requested by a query or for a sample"`
	ExactP50MS float64 `json:"exact_p50_ms"`
	ExactP99MS float64 `json:"exact_p99_ms"`

	Recall *Recall `json:"recall,omitempty" doc:"absent until a search has been compared with an exact one"`
	// Skipped counts sampled searches that were not compared: another comparison was running, or the
	// index changed too much.
	Skipped uint64 `json:"skipped"`
}

// Report returns the measurements in a human-readable form.
func (m Measurements) Report() SearchReport {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return SearchReport{
		Searches: m.Took.Count, P50MS: ms(m.Took.Quantile(.5)), P99MS: ms(m.Took.Quantile(.99)),
		Exact: m.Exact.Count, ExactP50MS: ms(m.Exact.Quantile(.5)), ExactP99MS: ms(m.Exact.Quantile(.99)),
		Recall: m.Recall, Skipped: m.Skipped,
	}
}
