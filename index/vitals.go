package index

import "time"

// Vitals say how an index is doing, for those who operate it.
type Vitals struct {
	Units          int // in the catalog
	Applied        uint64
	Lexical, Dense LegStats
	// Searches are those of the dense leg since the index was opened.
	Searches Measured
}

// Vitals describes the index. Unlike [Hybrid.Stats] it does not wait for a batch that
// is being applied, so that it can be asked often.
func (h *Hybrid) Vitals() Vitals {
	v := Vitals{
		Units: len(h.view.Load().ids), Applied: h.applied.Load(),
		Lexical: h.lexical.stats(), Dense: h.dense.Load().stats(),
	}
	if h.gauge != nil {
		v.Searches = h.gauge.Measured()
	}
	return v
}

// SearchReport is [Measured] for people.
type SearchReport struct {
	Searches uint64  `json:"searches" doc:"that may approximate"`
	P50MS    float64 `json:"p50_ms" doc:"the median of their time in the vector leg, estimated from a histogram"`
	P99MS    float64 `json:"p99_ms"`

	Exact      uint64  `json:"exact" doc:"searches that were asked for as exact ones, by a query or for a sample"`
	ExactP50MS float64 `json:"exact_p50_ms"`
	ExactP99MS float64 `json:"exact_p99_ms"`

	Recall  *Recall `json:"recall,omitempty" doc:"absent until a search was compared with an exact one"`
	Skipped uint64  `json:"skipped" doc:"searches that were chosen to be compared and were not: others were in the way, or the index changed too much meanwhile"`
}

// Report returns what people read of it.
func (m Measured) Report() SearchReport {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return SearchReport{
		Searches: m.Took.Count, P50MS: ms(m.Took.Quantile(.5)), P99MS: ms(m.Took.Quantile(.99)),
		Exact: m.Exact.Count, ExactP50MS: ms(m.Exact.Quantile(.5)), ExactP99MS: ms(m.Exact.Quantile(.99)),
		Recall: m.Recall, Skipped: m.Skipped,
	}
}
