package index

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
