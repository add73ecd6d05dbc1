// Package budget fits candidates into a budget of tokens and says what it did
// with each of them and why. It is pure: what a candidate's text is and what it
// costs is asked of the caller, each text at most once.
//
// A [Candidate] has one or more variants of its text, longest first. [Select]
// goes through the candidates by priority and, within a priority, by order. It
// takes the longest variant that fits, steps down to shorter ones before it
// gives a candidate up, and goes on after a misfit, because a later and smaller
// candidate may still fit. While nothing has a place a misfit is cut
// ([Candidate].Cut), so that a worse candidate never takes the place of the best.
//
// # Required candidates
//
// They come first. With [Options].RequiredMayExceed they are always included,
// and what exceeds the budget is reported; otherwise they step down like all
// others and are at last cut, where the candidate knows how ([Candidate].Cut).
//
// # Shares of a source
//
// The per-source limits only reserve room for the other sources: they do not
// bind when all candidates come from one source, nor hold back a source's first
// candidate, and a second round offers what is left of the budget to those that
// they held back.
package budget

// Priority is the importance of a candidate. Any unknown word, the empty one
// included, counts as [Medium].
type Priority string

// The priorities, most important first. A candidate is required if its priority
// says so or its Required field is set; either implies the other.
const (
	Required Priority = "required"
	High     Priority = "high"
	Medium   Priority = "medium"
	Low      Priority = "low"
)

func (p Priority) rank() int {
	switch p {
	case Required:
		return 0
	case High:
		return 1
	case Low:
		return 3
	default:
		return 2
	}
}

// Candidate is something that may get a place.
type Candidate struct {
	ID      string
	Section string // a label that is passed on to the decision
	Source  string // what the per-source limits count by

	Priority Priority
	Required bool
	// Preserve keeps a required candidate whole for as long as the character
	// limit can be met by cutting others.
	Preserve bool
	// Order is the candidate's place in the result and, within a priority, its
	// turn in the selection. Ties go by ID.
	Order int

	// Variants are the texts the candidate can be shown as, longest first.
	Variants []Variant
	// Preferred is the index of the variant to begin with. The longer ones before
	// it are used only for budget that is left when every candidate had its turn.
	Preferred int

	// Tokens returns what a variant's text costs, never negative. Above limit it
	// may return any number above limit instead, so it can stop early. Nil stands
	// for [Estimate].
	Tokens func(text string, limit int) int
	// Cut returns a text for a candidate none of whose variants fits, and what it costs,
	// at most limit tokens; or "" if there is none. It is asked for required candidates,
	// and for others while no candidate has a place. Nil means that the candidate
	// cannot be cut.
	Cut func(limit int) (text string, tokens int)
}

// Variant is one way to show a candidate.
type Variant struct {
	Name string // such as "full" or "compact"
	// Text renders the variant. It is called at most once; an empty text or a nil
	// func means that there is no such variant.
	Text func() string
}

// Fixed returns a variant of known text.
func Fixed(name, text string) Variant {
	return Variant{Name: name, Text: func() string { return text }}
}

// Options are the limits of a selection. Zero means no limit.
type Options struct {
	MaxTokens int
	MaxItems  int
	// MaxTokensPerSource and MaxItemsPerSource limit a source while another
	// source has candidates. Required candidates count, but are not held back.
	MaxTokensPerSource int
	MaxItemsPerSource  int
	// MaxChars limits the length of the result in characters as [Chars] counts
	// them. It is a guard that acts after the selection.
	MaxChars int
	// RequiredMayExceed includes every required candidate that has a text,
	// whatever the token and item limits say.
	RequiredMayExceed bool
}

// Status says whether a candidate got a place.
type Status string

// The statuses.
const (
	Included Status = "included"
	Skipped  Status = "skipped"
)

// Reason says why a candidate was skipped.
type Reason string

// The reasons.
const (
	ReasonEmpty     Reason = "empty"      // it has no text
	ReasonBudget    Reason = "budget"     // no variant fits the tokens that were left
	ReasonMaxItems  Reason = "max_items"  // the items were used up
	ReasonSourceCap Reason = "source_cap" // its source had its share, and no room was left after the others
	ReasonMaxChars  Reason = "max_chars"  // the guard dropped it
)

// CutVariant is the variant name of a candidate that [Candidate].Cut shortened.
const CutVariant = "cut"

// Decision is what was decided about one candidate.
type Decision struct {
	ID       string   `json:"id"`
	Section  string   `json:"section,omitempty"`
	Priority Priority `json:"priority"`
	Required bool     `json:"required"`
	Status   Status   `json:"status"`
	// Variant, Chars and Tokens describe the text used; zero when skipped.
	Variant string `json:"variant,omitempty"`
	Chars   int    `json:"chars"`
	Tokens  int    `json:"tokens"`
	Order   int    `json:"order"`
	Reason  Reason `json:"reason,omitempty"`
	// Truncated says that the text was cut inside.
	Truncated bool `json:"truncated,omitempty"`

	// Text is the text used, "" when skipped.
	Text string `json:"-"`
	// Index is the position of the candidate in the input.
	Index int `json:"-"`
	// VariantIndex is the position of the variant used, -1 for none or a cut.
	VariantIndex int `json:"-"`
}

// Budget accounts for the tokens of a selection.
type Budget struct {
	MaxTokens int `json:"max_tokens"` // 0 means unlimited
	// RemainingTokens is what the selection left, nil when unlimited. Neither it
	// nor OverBudgetTokens is changed by the guard on characters.
	RemainingTokens *int `json:"remaining_tokens"`
	// OverBudgetTokens is how far required candidates went beyond the budget.
	OverBudgetTokens int `json:"over_budget_tokens"`
	// UsedTokens is the sum over the included candidates, after the guard.
	UsedTokens int `json:"used_tokens"`
}

// Guard accounts for the limit on characters.
type Guard struct {
	Applied     bool `json:"applied"`
	BeforeChars int  `json:"before_chars"`
	AfterChars  int  `json:"after_chars"`
}

// Selection is the outcome of [Select]: one decision per candidate, sorted by
// order and ID.
type Selection struct {
	Decisions []Decision `json:"decisions"`
	Budget    Budget     `json:"budget"`
	MaxChars  Guard      `json:"max_chars"`
}
