package store

// Severity is the severity of a [Finding].
type Severity string

// The severities. Damage requires a restored copy. A warning resolves itself or costs quality, not
// data. A note is for information.
const (
	Damage  Severity = "damage"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is a result of [Health.Verify].
type Finding struct {
	Severity Severity `json:"severity"`
	// Check names the check: file, rows, references, text, units, vectors, staged, erased, ledger,
	// session.
	Check  string `json:"check"`
	Detail string `json:"detail"`
	// Item identifies the item concerned, as in document "a" version 2.
	Item string `json:"item,omitempty"`
}

// VerifyReport is the report of [Health.Verify].
type VerifyReport struct {
	Items    int       `json:"items"`
	Chunks   int       `json:"units"`
	Messages int       `json:"messages" doc:"of ledgers"`
	Findings []Finding `json:"findings"`
	// More counts the findings left out.
	More int `json:"more,omitempty"`
}

// Damaged reports whether any finding is damage.
func (r *VerifyReport) Damaged() bool {
	for _, f := range r.Findings {
		if f.Severity == Damage {
			return true
		}
	}
	return false
}

// VerifyOptions configures [Health.Verify]. The zero value works.
type VerifyOptions struct {
	// Embedder is the id of the embedder whose vectors are checked; 0 checks none.
	Embedder int64
	// MaxFindings limits the report; default 100.
	MaxFindings int
	// Progress is called with the items read and the total; it may be nil.
	Progress func(done, total int)
}
