package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// Answer is what a model should see, and how it came about. Everything but the
// providers' times is a function of the query and of what the providers returned.
type Answer struct {
	// Items are in rank order, those of the stable block before the others, unless the query asked for diversity. Each has the content that is shown, that content's
	// depth, and its exact token count.
	Items []ragctx.ContextItem `json:"items"`
	// XML is the rendered answer when the format is xml; Text is it for every
	// other format. "" is an answer without items, and one in blocks.
	XML  string `json:"xml"`
	Text string `json:"text,omitempty"`
	// Blocks are the stable and the volatile part, where the query asks for blocks.
	Blocks []PromptBlock `json:"blocks,omitempty" doc:"where asked for: the stable and the volatile block, in this order, in place of xml and text"`
	// Instruction tells a model what the marker in XML or Text means, where the query
	// asks for marked text. It belongs into the system prompt and is not counted.
	Instruction string `json:"instruction,omitempty" doc:"what a system prompt should say of the marker in a spotlighted answer; not part of total_tokens"`
	// TotalTokens is the exact count of the rendered answer, tags included; of one in
	// blocks the sum of theirs.
	TotalTokens int    `json:"total_tokens"`
	Tokenizer   string `json:"tokenizer"`
	Format      string `json:"format"`
	// Truncated says that there was more than is shown: a limit or a duplicate
	// kept an item out or shortened it, or a provider said so.
	Truncated bool             `json:"truncated"`
	Providers []ProviderReport `json:"providers"`
	Dropped   []Dropped        `json:"dropped"`
	Shortened []Shortened      `json:"shortened"`
	// Degraded names what did not contribute as it should: a provider that
	// failed, provider:signal for a signal that did not run, and rerank for a
	// reranker that failed.
	Degraded []string `json:"degraded"`
	// Note says why nothing answers the query, per provider, and what the default of
	// min_relevance kept out.
	Note string `json:"note,omitempty"`
	// Unquoted lists what the query has between quotation marks if no document and no
	// memory in scope has all of it in one place: it was searched for as words.
	Unquoted []string `json:"unquoted,omitempty"`
	// Corrections lists words of the query that nothing a provider has in scope has, and
	// that it read as others.
	Corrections []ragctx.Correction `json:"corrections,omitempty"`
	// Terms is what providers searched for beside the words of the query; see
	// [ragctx.ContextResult].
	Terms []string `json:"-"`
}

// Rendered returns the rendered answer in whatever format it has; blocks are joined by a
// blank line.
func (a Answer) Rendered() string {
	out := a.XML + a.Text
	for _, b := range a.Blocks {
		out = Prompt(out, b.Text)
	}
	return out
}

// Clone returns a copy whose lists and items are the caller's to change.
func (a Answer) Clone() Answer {
	a.Items, a.Blocks, a.Providers = slices.Clone(a.Items), slices.Clone(a.Blocks), slices.Clone(a.Providers)
	a.Dropped, a.Shortened = slices.Clone(a.Dropped), slices.Clone(a.Shortened)
	a.Degraded, a.Unquoted = slices.Clone(a.Degraded), slices.Clone(a.Unquoted)
	a.Corrections, a.Terms = slices.Clone(a.Corrections), slices.Clone(a.Terms)
	for i := range a.Items {
		it := &a.Items[i]
		it.Metadata, it.Signals = maps.Clone(it.Metadata), maps.Clone(it.Signals)
		if it.Highlights != nil {
			it.Highlights = &ragctx.Highlights{Matches: slices.Clone(it.Highlights.Matches), Fragment: it.Highlights.Fragment}
		}
	}
	return a
}

// total is what is told of an answer.
func (a Answer) total() (t ragctx.ContextResolved) {
	t.TotalItems = len(a.Items)
	for _, it := range a.Items {
		t.TotalTokens += it.TokenCount
	}
	return t
}

// ProviderReport says what one provider contributed.
type ProviderReport struct {
	Name     string `json:"name"`
	Returned int    `json:"items_returned"`
	Used     int    `json:"items_used"`
	// Tokens is the sum over the contents of its items that are shown.
	Tokens    int      `json:"tokens"`
	TookMS    float64  `json:"took_ms"`
	Truncated bool     `json:"truncated,omitempty"`
	Error     string   `json:"error,omitempty"`
	Degraded  []string `json:"degraded,omitempty"`
	Note      string   `json:"note,omitempty"`
	// Time is what it took the question to say about time; only explained answers
	// have it.
	Time *ragctx.TimeReading `json:"time,omitempty"`
}

// Reason says why an item is not shown, or with less than its content.
type Reason string

// The reasons.
const (
	ReasonBudget       Reason = "budget"        // no form of it fits what was left of max_tokens
	ReasonMaxResults   Reason = "max_results"   // better items used up max_results
	ReasonSourceCap    Reason = "source_cap"    // its source had its share, and the others left no room
	ReasonDuplicate    Reason = "duplicate"     // a better item has the same content, or is the same of its provider
	ReasonMinRelevance Reason = "min_relevance" // it is below the query's min_relevance
	ReasonExcluded     Reason = "excluded"      // the query excludes its id
	ReasonType         Reason = "type"          // the query does not want its type
	ReasonEmpty        Reason = "empty"         // it has no content
	ReasonNoID         Reason = "no_id"         // it cannot be cited
	ReasonFarBehind    Reason = "far_behind"    // its relevance is far behind the best: it shows a sentence
)

// Dropped is an item that is not shown.
type Dropped struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	Reason   Reason `json:"reason"`
	// Tokens is the size of its content, estimated where it was not counted.
	Tokens int `json:"tokens"`
}

// Shortened is an item that is shown with less than its content.
type Shortened struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	Reason   Reason `json:"reason" doc:"budget, or far_behind: its relevance is less than half of the best one's"`
	// Depth is the form that is shown, Cut whether it ends early.
	Depth ragctx.ContextDepth `json:"depth"`
	Cut   bool                `json:"cut,omitempty"`
	// Tokens is how many tokens of content were saved, estimated where the
	// content was not counted.
	Tokens int `json:"tokens_saved"`
}

// answer puts the outcomes together. The error is that of ctx.
func (r *Resolver) answer(ctx context.Context, q ragctx.ContextQuery, entries []*entry, outcomes []reply, stable placement, f *fitter) (Answer, error) {
	a := Answer{
		Items: []ragctx.ContextItem{}, Providers: make([]ProviderReport, len(entries)),
		Dropped: []Dropped{}, Shortened: []Shortened{}, Degraded: []string{}, // [] in JSON, not null
		Tokenizer: f.counter.Name(), Format: f.renderer.Name(),
	}
	var list []*candidate
	asked := r.Wider(q)
	for i, e := range entries {
		kept, dropped := admit(asked, e, i, outcomes[i].result.Items)
		list = append(list, kept...)
		a.Dropped = append(a.Dropped, dropped...)
		a.report(i, e.name, outcomes[i])
	}
	list, again := stable.without(list)
	list, duplicates := merge(list)
	duplicates = append(again, duplicates...)
	for _, c := range duplicates {
		a.drop(c, ReasonDuplicate, c.size)
	}
	ordered, err := r.order(ctx, q, list)
	if err != nil {
		return Answer{}, err
	}
	a.Degraded = append(a.Degraded, ordered.degraded...)
	for _, c := range ordered.below {
		a.Dropped = append(a.Dropped, Dropped{ID: c.item.ID, Provider: c.item.Provider, Reason: ReasonMinRelevance, Tokens: c.size})
	}
	list = ordered.list
	byRelevance(list, f.judged)
	if q.Spotlight {
		f.spotlight(list)
	}
	list, p, shown := f.fitHeld(q, list)
	a.account(f, list, p)
	a.show(q, stable, shown)
	if stable.failed {
		a.Degraded = append(a.Degraded, Stable)
	}
	if len(p.items) == 0 {
		a.Note = a.whyEmpty(q, f, list)
	}
	if f.judged {
		a.noteJudged(q)
	}
	return a, nil
}

// noteJudged says what the default of min_relevance kept out.
func (a *Answer) noteJudged(q ragctx.ContextQuery) {
	n := 0
	for _, d := range a.Dropped {
		if d.Reason == ReasonMinRelevance {
			n++
		}
	}
	if n == 0 {
		return
	}
	if a.Note != "" {
		a.Note += "; "
	}
	a.Note += fmt.Sprintf("items below a relevance of %v were left out: %d; min_relevance 0 shows them", q.LeastRelevance(), n)
}

func (a *Answer) report(i int, name string, o reply) {
	a.Providers[i] = ProviderReport{
		Name: name, Returned: len(o.result.Items), Truncated: o.result.Truncated,
		TookMS: float64(o.took.Microseconds()) / 1000, Error: publicText(o.err),
		Degraded: slices.Sorted(slices.Values(o.result.Degraded)), Note: o.result.Note, Time: o.result.Time,
	}
	a.Truncated = a.Truncated || o.result.Truncated
	for _, c := range o.result.Corrections {
		c.Provider = name
		a.Corrections = append(a.Corrections, c)
	}
	a.Terms = append(a.Terms, o.result.Terms...)
	if o.err != nil {
		a.Degraded = append(a.Degraded, name)
	}
	for _, signal := range slices.Compact(a.Providers[i].Degraded) {
		a.Degraded = append(a.Degraded, name+":"+signal)
	}
}

// drop lists an item that a limit or a duplicate kept out.
func (a *Answer) drop(c *candidate, r Reason, tokens int) {
	a.Truncated = true
	a.Dropped = append(a.Dropped, Dropped{ID: c.item.ID, Provider: c.item.Provider, Reason: r, Tokens: tokens})
}

// account lists what was dropped and shortened and fills in the providers'
// shares.
func (a *Answer) account(f *fitter, list []*candidate, p placement) {
	used := 0
	for _, d := range p.decisions {
		c := list[d.Index]
		content := f.size(c, c.preferred)
		if d.Status == budget.Skipped {
			a.drop(c, dropReason(d.Reason), content)
			continue
		}
		it := p.items[used]
		used++
		a.Providers[c.provider].Used++
		a.Providers[c.provider].Tokens += it.TokenCount
		if d.Truncated || d.VariantIndex > c.preferred {
			s := Shortened{
				ID: it.ID, Provider: it.Provider, Reason: ReasonBudget, Depth: it.Depth, Cut: d.Truncated, Tokens: max(content-it.TokenCount, 0),
			}
			if c.brief && !d.Truncated {
				s.Reason = ReasonFarBehind
			}
			a.Truncated = a.Truncated || s.Reason == ReasonBudget
			a.Shortened = append(a.Shortened, s)
		}
	}
}

func dropReason(r budget.Reason) Reason {
	switch r {
	case budget.ReasonMaxItems:
		return ReasonMaxResults
	case budget.ReasonSourceCap:
		return ReasonSourceCap
	default:
		return ReasonBudget
	}
}

// whyEmpty explains an answer without items, provider by provider.
func (a *Answer) whyEmpty(q ragctx.ContextQuery, f *fitter, list []*candidate) string {
	if len(a.Providers) == 0 {
		return "no context providers are registered"
	}
	if len(list) > 0 {
		return fmt.Sprintf("max_tokens %d is too small: the tags of the best item alone take %d tokens",
			q.MaxTokens, f.counter.Count(f.render(list[0].shownCut(""))))
	}
	var parts []string
	for _, p := range a.Providers {
		parts = append(parts, p.Name+": "+a.whyNothingFrom(p))
	}
	return strings.Join(parts, "; ")
}

func (a *Answer) whyNothingFrom(p ProviderReport) string {
	if p.Error != "" {
		return p.Error
	}
	if p.Returned == 0 {
		return cmp.Or(p.Note, "found nothing")
	}
	counts := make(map[Reason]int)
	for _, d := range a.Dropped {
		if d.Provider == p.Name {
			counts[d.Reason]++
		}
	}
	var why []string
	for _, r := range [...]Reason{ReasonMinRelevance, ReasonExcluded, ReasonType, ReasonEmpty, ReasonNoID, ReasonDuplicate} {
		if counts[r] > 0 {
			why = append(why, fmt.Sprintf("%d %s", counts[r], r))
		}
	}
	return fmt.Sprintf("none of %d items was kept (%s)", p.Returned, strings.Join(why, ", "))
}
