package ragctx

import (
	"math"
	"strconv"
	"time"
)

// ContextItem is one item of context for a model.
type ContextItem struct {
	// ID is stable and can be cited: external-id@version#ordinal for a passage of a document, the
	// memory's id for a memory.
	ID   string      `json:"id"`
	Type ContextType `json:"context_type"`
	// Content is the text at the requested depth.
	Content string `json:"content"`
	// TokenCount is the number of tokens of Content; 0 means unknown.
	TokenCount int `json:"token_count"`
	// Relevance says how well the item answers the query, from 0 to 1. It is comparable across
	// providers. Answers contain it [Rounded], and are sorted by the rounded value.
	Relevance float64 `json:"relevance"`
	// Source is the origin of the content, such as "file:docs/a.md" or "memory".
	Source   string         `json:"source,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`

	// Provider is the name of the provider that returned the item. Depth is the depth of Content,
	// which is shorter than requested when the budget is tight.
	Provider string       `json:"provider,omitempty"`
	Depth    ContextDepth `json:"depth,omitempty"`
	// Occurred is the time of the event that the item describes, if known.
	Occurred time.Time `json:"occurred,omitzero"`
	// Since lists, in a sentence or a few, newer facts that supersede parts of the item. It is
	// shown before the content.
	Since string `json:"since,omitempty"`
	// Required puts the item before all others. Only the operator's configuration sets it; a
	// provider's value is ignored.
	Required bool `json:"-"`
	// Signals are the scores that make up the relevance; set on request.
	Signals map[string]float64 `json:"signals,omitempty"`

	// Highlights locate the words of the query in Content; set on request, for items within the
	// first 8 MiB of an answer's content.
	Highlights *Highlights `json:"highlights,omitempty"`

	// Importance is a memory's weight, 0 to 1. It does not determine the rank alone.
	Importance float64 `json:"importance,omitempty"`

	// Forms are longer and shorter renderings, for the budget to choose from.
	Forms Forms `json:"-"`
	// Cut says that Content was truncated, so that its line numbers do not apply.
	Cut bool `json:"-"`
}

// Forms are an item's renderings at other lengths. All of them keep the item's id.
type Forms struct {
	// Around lists, longest first, Wider or the content together with neighboring items of the same
	// kind. They are tried before Wider, under the same condition.
	Around []Form
	// Wider is the content with more of its surroundings. It is used if tokens are left after every
	// hit is placed. Its Text is empty if there is nothing to add.
	Wider Form
	// Shorter lists shorter renderings, longest first. They are used when Content does not fit.
	Shorter []Form
}

// Form is one rendering of an item.
type Form struct {
	Depth ContextDepth
	Text  string
	// Lines is the line range of the text in its source, as "first-last". It replaces the metadata
	// "lines" when the form is shown. Empty keeps the metadata.
	Lines string
	// Includes lists the ids of the other items that the text includes. They become the metadata
	// "beside" when the form is shown.
	Includes []string
}

// Clamp01 returns x limited to 0..1; NaN becomes 0.
func Clamp01(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return math.Min(x, 1)
}

// Rounded returns x with six significant digits. Answers show computed numbers this way, because
// processors differ in the last bits of logarithms and fused multiplications.
func Rounded(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64) // cannot fail: FormatFloat wrote it
	return short
}

// WithRelevance returns the item with its relevance set to r, clamped to 0..1 and
// [Rounded].
func (it ContextItem) WithRelevance(r float64) ContextItem {
	it.Relevance = Rounded(Clamp01(r))
	return it
}

// ContextResult is one provider's answer. Its items are sorted by relevance, best first.
type ContextResult struct {
	Items []ContextItem `json:"items"`
	// TotalTokens is the sum of the items' token counts. If it is 0, the caller computes it.
	TotalTokens int    `json:"total_tokens"`
	Provider    string `json:"provider"`
	// Truncated says that more items matched.
	Truncated bool `json:"truncated"`
	// Degraded names the signals that did not run, such as "vector".
	Degraded []string `json:"degraded,omitempty"`
	// Note explains an empty result to people.
	Note string `json:"note,omitempty"`
	// Time is the time expression found in the query; set on request.
	Time *TimeReading `json:"time,omitempty"`
	// Corrections list the words of the query that no text in scope contains, with the words
	// searched for instead.
	Corrections []Correction `json:"corrections,omitempty"`
	// Terms are the terms searched for in addition to the words of the query, as package analysis
	// produces them. [Highlights] mark them too.
	Terms []string `json:"-"`
}

// Correction is a word of the query that was replaced by one that occurs in the texts.
type Correction struct {
	Word string `json:"word"`
	As   string `json:"as"` // in lower case
	// Provider is the provider that made the correction, if several were queried.
	Provider string `json:"provider,omitempty"`
}

// TimeReading is the time expression of a query and its effect.
type TimeReading struct {
	// Words are the words of the query that name the time.
	Words string `json:"words"`
	// From (inclusive) and To (exclusive) bound the time. A zero bound is open.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Sessions are the ids of the named sessions. An empty, non-nil list means that none of them is
	// recorded.
	Sessions []string `json:"sessions,omitzero"`
	Use      TimeUse  `json:"use"`
}

// TimeUse is the effect of a time expression in a query.
type TimeUse string

// The effects.
const (
	TimeFilter TimeUse = "filter" // the query asks for nothing else: only items within the time match
	TimeBoost  TimeUse = "boost"  // items within the time rank higher
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

// Counter counts tokens as one model family does. Count is deterministic, never negative, zero for
// the empty string, and safe for concurrent use.
type Counter interface {
	// Name is the name by which a query selects the counter, such as "o200k_base".
	Name() string
	Count(text string) int
}

// Renderer writes items as one string. Render is deterministic, returns "" for no items, and is
// safe for concurrent use. Items are untrusted: the result is well-formed for any content.
type Renderer interface {
	// Name is the name by which a query selects the renderer, such as "xml".
	Name() string
	Render(items []ContextItem) string
}
