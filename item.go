package ragctx

import (
	"math"
	"strconv"
	"time"
)

// ContextItem is one thing a model may be shown.
type ContextItem struct {
	// ID is stable and citable: external-id@version#ordinal for a passage of a
	// document, the memory's id for a memory.
	ID   string      `json:"id"`
	Type ContextType `json:"context_type"`
	// Content is the text at the depth asked for.
	Content string `json:"content"`
	// TokenCount is the tokens of Content; 0 means unknown.
	TokenCount int `json:"token_count"`
	// Relevance is how well the item answers the query, 0 to 1, comparable
	// across providers. Answers have it [Rounded], and order by that.
	Relevance float64 `json:"relevance"`
	// Source says where the content comes from, such as "file:docs/a.md" or "memory".
	Source   string         `json:"source,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`

	// Provider is the name of the provider that returned the item; Depth is the
	// form that Content has, which can be shorter than asked for when the budget
	// was tight.
	Provider string       `json:"provider,omitempty"`
	Depth    ContextDepth `json:"depth,omitempty"`
	// Occurred is when the thing happened, as far as it is known.
	Occurred time.Time `json:"occurred,omitzero"`
	// Since says what has taken the place of something that the item says, in a
	// sentence or a few; it is shown before the content.
	Since string `json:"since,omitempty"`
	// Required asks for the item before all others. Only the operator's own
	// configuration sets it; a provider's claim is ignored.
	Required bool `json:"-"`
	// Signals explains the relevance, score by score; filled on request.
	Signals map[string]float64 `json:"signals,omitempty"`

	// Highlights say where Content has the words of the query; filled on request, for
	// items within the first 8 MiB of an answer's contents.
	Highlights *Highlights `json:"highlights,omitempty"`

	// Importance is a memory's weight, 0 to 1; it does not rank by itself.
	Importance float64 `json:"importance,omitempty"`

	// Forms are other renderings of the item that a budget may call for.
	Forms Forms `json:"-"`
	// Cut says that Content ends early; then its lines do not hold.
	Cut bool `json:"-"`
}

// Forms are the other lengths an item can be shown at. All carry the item's id.
type Forms struct {
	// Around lists Wider, or the content, among what stands around the item in other
	// items of its kind, longest first; used as Wider is, before it.
	Around []Form
	// Wider is the content with more of its surroundings, used when budget is
	// left after every hit has its place; its Text is empty when there is nothing
	// to add.
	Wider Form
	// Shorter lists step-downs, longest first, used when Content does not fit.
	Shorter []Form
}

// Form is one text of an item at a depth.
type Form struct {
	Depth ContextDepth
	Text  string
	// Lines says which lines of the source the text is, "first-last"; it replaces
	// the metadata "lines" when the form is shown. Empty if that stays as it is.
	Lines string
	// Beside has the ids of the other items that the text shows; they are the
	// metadata "beside" when the form is shown.
	Beside []string
}

// Clamp01 returns x limited to 0..1; NaN becomes 0.
func Clamp01(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return math.Min(x, 1)
}

// Rounded returns x to six digits, as answers show computed numbers: processors may
// differ in the last bits of a logarithm, or of a multiplication that they fuse with
// an addition.
func Rounded(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64) // what it formatted itself: cannot fail
	return short
}

// WithRelevance returns the item with its relevance set to r, clamped to 0..1 and
// [Rounded].
func (it ContextItem) WithRelevance(r float64) ContextItem {
	it.Relevance = Rounded(Clamp01(r))
	return it
}

// ContextResult is one provider's answer, items sorted by relevance, best first.
type ContextResult struct {
	Items []ContextItem `json:"items"`
	// TotalTokens is the sum of the items' token counts; 0 lets the caller derive it.
	TotalTokens int    `json:"total_tokens"`
	Provider    string `json:"provider"`
	// Truncated says that the provider had more.
	Truncated bool `json:"truncated"`
	// Degraded names signals that did not run, such as "vector".
	Degraded []string `json:"degraded,omitempty"`
	// Note says why a result is empty, for people.
	Note string `json:"note,omitempty"`
	// Time is what the question was taken to say about time; filled on request, where
	// it says something.
	Time *TimeReading `json:"time,omitempty"`
	// Corrections are words of the question that nothing in scope has, and that were read
	// as others.
	Corrections []Correction `json:"corrections,omitempty"`
	// Terms is what was searched for beside the words of the question, as package analysis
	// makes terms: [Highlights] have them as well.
	Terms []string `json:"-"`
}

// Correction is a word of a question that no text has, and that was read as one that
// texts have.
type Correction struct {
	Word string `json:"word"`
	As   string `json:"as"` // in lower case
	// Provider names who read it so, where several are asked.
	Provider string `json:"provider,omitempty"`
}

// TimeReading is what a question says about time, and what came of it.
type TimeReading struct {
	// Words are those of the question that name the time.
	Words string `json:"words"`
	// From and To bound it, To excluded; a time that is left out is open on that side.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Sessions are the ids of the sessions that are named; an empty list is of
	// sessions that are not recorded.
	Sessions []string `json:"sessions,omitzero"`
	Use      TimeUse  `json:"use"`
}

// TimeUse says what a time in a question did.
type TimeUse string

// The uses.
const (
	TimeFilter TimeUse = "filter" // nothing else was asked, and nothing else is found
	TimeBoost  TimeUse = "boost"  // what lies within ranks higher
)

// Add appends an item and adds its tokens, saturating at the largest int.
func (r *ContextResult) Add(it ContextItem) {
	r.Items = append(r.Items, it)
	if r.TotalTokens > math.MaxInt-max(it.TokenCount, 0) {
		r.TotalTokens = math.MaxInt
		return
	}
	r.TotalTokens += max(it.TokenCount, 0)
}

// IsEmpty reports whether the result has no items.
func (r ContextResult) IsEmpty() bool { return len(r.Items) == 0 }

// Counter counts tokens the way one model family does. Count is deterministic,
// never negative, zero for the empty string, and safe for concurrent use.
type Counter interface {
	// Name is the name a query selects the counter by, such as "o200k_base".
	Name() string
	Count(text string) int
}

// Renderer writes items as one string. Render is deterministic, gives "" for no
// items, and is safe for concurrent use. Items are hostile: whatever they hold,
// the result is well-formed.
type Renderer interface {
	// Name is the name a query selects the renderer by, such as "xml".
	Name() string
	Render(items []ContextItem) string
}
