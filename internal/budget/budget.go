// Package budget fits candidates into a token budget and reports the decision on each with its
// reason. It is pure: the caller provides the texts and their costs, and each text is requested at
// most once.
//
// A [Candidate] has one or more variants of its text, longest first. [Select] goes through the
// candidates by priority and, within a priority, by order. It takes the longest variant that fits,
// and tries shorter ones before it skips a candidate. It continues after a misfit, because a
// smaller candidate may still fit. While no candidate is included, a misfit is cut
// ([Candidate].Cut), so that a worse candidate never replaces the best one.
//
// # Required candidates
//
// They come first. With [Options].RequiredMayExceed they are always included, and the excess is
// reported. Otherwise they are shortened like all others, and finally cut if the candidate allows
// it ([Candidate].Cut).
//
// # Shares of a source
//
// The per-source limits only reserve room for other sources. They do not apply if all candidates
// come from one source, nor to the first candidate of a source. A second round offers the rest of
// the budget to the candidates that they held back.
package budget

// Priority is the importance of a candidate. Any unknown value, including the empty one, counts as
// [Medium].
type Priority string

// The priorities, most important first. A candidate is required if it has priority Required or its
// field Required is set.
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

// Candidate is an item to select.
type Candidate struct {
	ID      string
	Section string // a label that is copied to the decision
	Source  string // the key of the per-source limits

	Priority Priority
	Required bool
	// Preserve keeps a required candidate whole as long as cutting others meets the character
	// limit.
	Preserve bool
	// Order is the candidate's position in the result and, within a priority, in the selection.
	// Ties go by ID.
	Order int

	// Variants are the texts with which the candidate can be shown, longest first.
	Variants []Variant
	// Preferred is the index of the variant to start with. Longer variants are used only for budget
	// that is left at the end.
	Preferred int

	// Tokens returns the cost of a variant's text, never negative. If the cost exceeds limit, it
	// may return any number above limit, so that it can stop early. Nil means [Estimate].
	Tokens func(text string, limit int) int
	// Cut returns a shortened text that costs at most limit tokens, and its cost, or "" if that is
	// impossible. It is called if no variant fits: for required candidates, and for others while no
	// candidate is included. Nil means that the candidate cannot be cut.
	Cut func(limit int) (text string, tokens int)
}

// Variant is one text of a candidate.
type Variant struct {
	Name string // such as "full" or "compact"
	// Text renders the variant. It is called at most once. An empty text or a nil func means that
	// the variant does not exist.
	Text func() string
}

// Fixed returns a variant of known text.
func Fixed(name, text string) Variant {
	return Variant{Name: name, Text: func() string { return text }}
}

// Options holds the limits of a selection. Zero means no limit.
type Options struct {
	MaxTokens int
	MaxItems  int
	// MaxTokensPerSource and MaxItemsPerSource limit a source while another source has candidates.
	// Required candidates count but are not held back.
	MaxTokensPerSource int
	MaxItemsPerSource  int
	// MaxChars limits the length of the result in characters as counted by [Chars]. It is enforced
	// after the selection.
	MaxChars int
	// RequiredMayExceed includes every required candidate that has a text, regardless of the limits
	// on tokens and items.
	RequiredMayExceed bool
}

// Status is the outcome for a candidate.
type Status string

// The statuses.
const (
	Included Status = "included"
	Skipped  Status = "skipped"
)

// Reason is the reason why a candidate was skipped.
type Reason string

// The reasons.
const (
	ReasonEmpty     Reason = "empty"      // it has no text
	ReasonBudget    Reason = "budget"     // no variant fits the remaining tokens
	ReasonMaxItems  Reason = "max_items"  // the limit on items is reached
	ReasonSourceCap Reason = "source_cap" // its source used up its share, and the other sources left no room
	ReasonMaxChars  Reason = "max_chars"  // the guard on characters dropped it
)

// CutVariant is the variant name of a candidate that was shortened by [Candidate].Cut.
const CutVariant = "cut"

// Decision is the decision on one candidate.
type Decision struct {
	ID       string   `json:"id"`
	Section  string   `json:"section,omitempty"`
	Priority Priority `json:"priority"`
	Required bool     `json:"required"`
	Status   Status   `json:"status"`
	// Variant, Chars and Tokens describe the text used; zero if skipped.
	Variant string `json:"variant,omitempty"`
	Chars   int    `json:"chars"`
	Tokens  int    `json:"tokens"`
	Order   int    `json:"order"`
	Reason  Reason `json:"reason,omitempty"`
	// Truncated is true if the text was cut.
	Truncated bool `json:"truncated,omitempty"`

	// Text is the text used, "" if skipped.
	Text string `json:"-"`
	// Index is the index of the candidate in the input.
	Index int `json:"-"`
	// VariantIndex is the index of the variant used, -1 if skipped or cut.
	VariantIndex int `json:"-"`
}

// Budget reports the tokens of a selection.
type Budget struct {
	MaxTokens int `json:"max_tokens"` // 0 means unlimited
	// RemainingTokens is the number of unused tokens, nil if unlimited. The guard on characters
	// changes neither it nor OverBudgetTokens.
	RemainingTokens *int `json:"remaining_tokens"`
	// OverBudgetTokens is the number of tokens by which required candidates exceed the budget.
	OverBudgetTokens int `json:"over_budget_tokens"`
	// UsedTokens is the sum over the included candidates, after the guard.
	UsedTokens int `json:"used_tokens"`
}

// Guard reports the limit on characters.
type Guard struct {
	Applied     bool `json:"applied"`
	BeforeChars int  `json:"before_chars"`
	AfterChars  int  `json:"after_chars"`
}

// Selection is the result of [Select]: one decision per candidate, sorted by order and ID.
type Selection struct {
	Decisions []Decision `json:"decisions"`
	Budget    Budget     `json:"budget"`
	MaxChars  Guard      `json:"max_chars"`
}
