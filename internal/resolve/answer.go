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

// Answer is the context for a model, with a report on how it came about. Except for the providers'
// times, it is a function of the query and of the providers' results.
type Answer struct {
	// Items are in rank order, unless the query asks for diversity or names what was shown before. Items of the stable
	// block come first, or last in an answer without blocks. Each has the content that is shown, its depth, and its exact token count.
	Items []ragctx.ContextItem `json:"items"`
	// XML is the rendered answer in format xml, Text in any other format. Both are empty for an
	// answer without items or in blocks.
	XML  string `json:"xml"`
	Text string `json:"text,omitempty"`
	// Blocks are the stable and the volatile block, if the query asks for blocks.
	Blocks []PromptBlock `json:"blocks,omitempty"`
	// Instruction explains the marker in XML or Text to a model, if the query asks for spotlighted
	// text. It belongs in the system prompt and is not counted.
	Instruction string `json:"instruction,omitempty" doc:"explains the spotlight marker, for the system prompt; not part of total_tokens"`
	// TotalTokens is the exact count of the rendered answer, tags included; for blocks, the sum of
	// their counts.
	TotalTokens int    `json:"total_tokens"`
	Tokenizer   string `json:"tokenizer"`
	Format      string `json:"format"`
	// Truncated is true if there was more than is shown: a limit or a duplicate dropped or
	// shortened an item, or a provider reported more.
	Truncated bool             `json:"truncated"`
	Providers []ProviderReport `json:"providers"`
	Dropped   []Dropped        `json:"dropped"`
	Shortened []Shortened      `json:"shortened"`
	// Degraded lists failures: the name of a failed provider, provider:signal for a signal that did
	// not run, and rerank for a failed reranker.
	Degraded []string `json:"degraded"`
	// Note explains, per provider, why the answer is empty. It also reports items dropped by the
	// default of min_relevance.
	Note string `json:"note,omitempty"`
	// Unquoted lists quoted phrases of the query that no document or memory in scope contains.
	// Their words were searched for instead.
	Unquoted []string `json:"unquoted,omitempty"`
	// Corrections lists unknown words of the query and the words that a provider searched for
	// instead.
	Corrections []ragctx.Correction `json:"corrections,omitempty"`
	// Terms lists the terms that providers searched for in addition to the words of the query; see
	// [ragctx.ContextResult].
	Terms []string `json:"-"`
}

// Rendered returns the rendered answer in any format; blocks are joined by a blank line.
func (a Answer) Rendered() string {
	out := a.XML + a.Text
	for _, b := range a.Blocks {
		out = Prompt(out, b.Text)
	}
	return out
}

// Clone returns a copy. The caller may modify its lists and items.
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

// totals returns the data of the resolved event.
func (a Answer) totals() (t ragctx.ContextResolved) {
	t.TotalItems = len(a.Items)
	for _, it := range a.Items {
		t.TotalTokens += it.TokenCount
	}
	return t
}

// ProviderReport describes the contribution of one provider.
type ProviderReport struct {
	Name     string `json:"name"`
	Returned int    `json:"items_returned"`
	Used     int    `json:"items_used"`
	// Tokens is the sum over the shown contents of its items.
	Tokens    int      `json:"tokens"`
	TookMS    float64  `json:"took_ms"`
	Truncated bool     `json:"truncated,omitempty"`
	Error     string   `json:"error,omitempty"`
	Degraded  []string `json:"degraded,omitempty"`
	Note      string   `json:"note,omitempty"`
	// Time is the provider's reading of the time expression in the query; only in explained
	// answers.
	Time *ragctx.TimeReading `json:"time,omitempty"`
}

// Reason is the reason why an item was dropped or shortened.
type Reason string

// The reasons.
const (
	ReasonBudget       Reason = "budget"        // no form of it fits the rest of max_tokens
	ReasonMaxResults   Reason = "max_results"   // better items used up max_results
	ReasonSourceCap    Reason = "source_cap"    // its source used up its share, and the other sources left no room
	ReasonDuplicate    Reason = "duplicate"     // a better item has the same content, or the same source and id
	ReasonMinRelevance Reason = "min_relevance" // it is below the query's min_relevance
	ReasonExcluded     Reason = "excluded"      // the query excludes its id
	ReasonType         Reason = "type"          // the query does not ask for its type
	ReasonEmpty        Reason = "empty"         // it has no content
	ReasonNoID         Reason = "no_id"         // it has no id to cite
	ReasonFarBehind    Reason = "far_behind"    // shortened: its relevance is far below the best, so only a sentence is shown
)

// Dropped is an item that is not shown.
type Dropped struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	Reason   Reason `json:"reason" enum:"budget,max_results,source_cap,duplicate,min_relevance,excluded,type,empty,no_id"`
	// Tokens is the size of its content, estimated if it was not counted.
	Tokens int `json:"tokens"`
}

// Shortened is an item that is shown with less than its content.
type Shortened struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	Reason   Reason `json:"reason" doc:"budget, or far_behind: its relevance is less than half of the best one's"`
	// Depth is the depth of the form shown. Cut is true if the text ends early.
	Depth ragctx.ContextDepth `json:"depth"`
	Cut   bool                `json:"cut,omitempty"`
	// Tokens is the number of tokens saved, estimated if the content was not counted.
	Tokens int `json:"tokens_saved"`
}

// answer assembles the results of the providers. It returns an error only if ctx ends.
func (r *Resolver) answer(
	ctx context.Context, q ragctx.ContextQuery, entries []*entry, outcomes []reply, stable placement, f *fitter,
) (Answer, error) {
	shownBefore := stable
	if !q.Blocks {
		shownBefore = placement{} // the results may contain pinned items
	}
	a, list, err := r.ranked(ctx, q, entries, outcomes, shownBefore)
	if err != nil {
		return Answer{}, err
	}
	a.Tokenizer, a.Format = f.counter.Name(), f.renderer.Name()
	applyRelevanceLimits(list, f.relevanceLimits)
	if q.Spotlight && q.Blocks {
		f.spotlight(list)
	} else if q.Spotlight {
		f.spotlight(slices.Concat(list, stable.pinned))
	}
	ranked := list
	list, p, shown := f.fitWithHysteresis(q, ranked)
	if !q.Blocks && len(ranked) > 0 && !p.has(ranked[0].item) && f.caps.MaxTokens < q.MaxTokens {
		f.caps.MaxTokens, f.caps.MaxResults = q.MaxTokens, 1 // the best result precedes all pinned items
		list, p, shown = f.fitWithHysteresis(q, ranked)
	}
	if q.Blocks {
		a.renderBlocks(stable, shown)
	} else {
		shown = f.besideResults(shown, stable, q.MaxTokens)
		a.render(shown)
	}
	a.reportDrops(f, list, p)
	if len(p.items) == 0 {
		a.Note = a.whyEmpty(q, f, list)
	}
	a.reportPinned(stable, p)
	if stable.unreadable {
		a.Degraded = append(a.Degraded, Stable)
	}
	if f.relevanceLimits {
		a.noteMinRelevance(q)
	}
	return a, nil
}

// ranked merges the results of the providers into one list in the order in which it is shown. The
// answer reports on the providers and on dropped items; it has no items yet. ranked returns an
// error only if ctx ends.
func (r *Resolver) ranked(
	ctx context.Context, q ragctx.ContextQuery, entries []*entry, outcomes []reply, stable placement,
) (Answer, []*candidate, error) {
	a := Answer{
		Items: []ragctx.ContextItem{}, Providers: make([]ProviderReport, len(entries)),
		Dropped: []Dropped{}, Shortened: []Shortened{}, Degraded: []string{}, // [] in JSON, not null
	}
	var list []*candidate
	asked := r.providerQuery(q)
	for i, e := range entries {
		kept, dropped := admit(asked, e, i, outcomes[i].result.Items)
		list = append(list, kept...)
		a.Dropped = append(a.Dropped, dropped...)
		a.reportProvider(i, e.name, outcomes[i])
	}
	list, again := stable.withoutShown(list)
	list, duplicates := merge(list)
	duplicates = append(again, duplicates...)
	for _, c := range duplicates {
		a.drop(c, ReasonDuplicate, c.size)
	}
	ordered, err := r.order(ctx, q, list)
	if err != nil {
		return Answer{}, nil, err
	}
	a.Degraded = append(a.Degraded, ordered.degraded...)
	for _, c := range ordered.below {
		a.Dropped = append(a.Dropped, Dropped{
			ID: c.item.ID, Provider: c.item.Provider, Reason: ReasonMinRelevance, Tokens: c.size,
		})
	}
	return a, ordered.list, nil
}

// noteMinRelevance reports the items dropped by min_relevance.
func (a *Answer) noteMinRelevance(q ragctx.ContextQuery) {
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
	items, were, them := "items", "were", "them"
	if n == 1 {
		items, were, them = "item", "was", "it"
	}
	a.Note += fmt.Sprintf("%d %s with a relevance below %v %s left out (min_relevance 0 shows %s)",
		n, items, q.LeastRelevance(), were, them)
}

func (a *Answer) reportProvider(i int, name string, o reply) {
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

// drop reports an item dropped by a limit or a duplicate.
func (a *Answer) drop(c *candidate, r Reason, tokens int) {
	a.Truncated = true
	a.Dropped = append(a.Dropped, Dropped{ID: c.item.ID, Provider: c.item.Provider, Reason: r, Tokens: tokens})
}

// reportDrops reports dropped and shortened items, and fills in the providers' shares.
func (a *Answer) reportDrops(f *fitter, list []*candidate, p placement) {
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
				ID: it.ID, Provider: it.Provider, Reason: ReasonBudget, Depth: it.Depth, Cut: d.Truncated,
				Tokens: max(content-it.TokenCount, 0),
			}
			if c.sentenceOnly && !d.Truncated {
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

// whyEmpty explains an empty answer, provider by provider.
func (a *Answer) whyEmpty(q ragctx.ContextQuery, f *fitter, list []*candidate) string {
	if len(a.Providers) == 0 {
		return "no context providers are registered"
	}
	if len(list) > 0 {
		return fmt.Sprintf("max_tokens %d is too small: the tags of the best item alone take %d tokens",
			q.MaxTokens, f.counter.Count(f.render(list[0].shownCut(""))))
	}
	var parts []string
	found := 0
	for _, p := range a.Providers {
		parts = append(parts, p.Name+": "+a.whyNoItems(p))
		found += p.Returned
	}
	if limits := searchLimits(q); found == 0 && len(limits) > 0 {
		parts = append(parts, "the search was limited by "+strings.Join(limits, ", "))
	}
	return strings.Join(parts, "; ")
}

// searchLimits names the fields of a query that exclude items before they are compared with its text.
func searchLimits(q ragctx.ContextQuery) []string {
	var out []string
	for _, l := range []struct {
		set   bool
		field string
	}{
		{len(q.Filter.Tags) > 0, "filter.tags"},
		{len(q.Filter.Metadata) > 0, "filter.metadata"},
		{len(q.Filter.Sources) > 0, "filter.sources"},
		{!q.Filter.OccurredAfter.IsZero(), "filter.occurred_after"},
		{!q.Filter.OccurredBefore.IsZero(), "filter.occurred_before"},
		{q.Filter.SessionID != "", "filter.session_id"},
		{!q.AsOf.IsZero(), "as_of, which compares the time of storing"},
		{q.AgentID != "", "agent_id"},
	} {
		if l.set {
			out = append(out, l.field)
		}
	}
	return out
}

// reasonWords are the words for reasons that are not words of a sentence.
var reasonWords = map[Reason]string{
	ReasonMinRelevance: "below min_relevance", ReasonType: "of another type", ReasonNoID: "without an id",
}

func (a *Answer) whyNoItems(p ProviderReport) string {
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
			why = append(why, fmt.Sprintf("%d %s", counts[r], cmp.Or(reasonWords[r], string(r))))
		}
	}
	return fmt.Sprintf("%d found, none kept (%s)", p.Returned, strings.Join(why, ", "))
}
