package resolve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/xmlfmt"
)

// The names of the blocks.
const (
	Stable   = "stable"   // items that belong in every prompt of the scope
	Volatile = "volatile" // items that answer this query
)

// PromptBlock is a part of an answer with a place of its own in a prompt. Equal items give equal
// bytes, so that a prompt cache can reuse the prefix.
type PromptBlock struct {
	Name string `json:"name" doc:"stable, which does not depend on the question, or volatile"`
	// Items lists the ids of its items, in order.
	Items []string `json:"item_ids" nullable:"false" doc:"of its items, in order"`
	Text  string   `json:"text" doc:"rendered; empty without items"`
	// Tokens is the exact count of Text. Hash is its SHA-256 in hexadecimal.
	Tokens int    `json:"tokens" doc:"the exact count of the text"`
	Hash   string `json:"sha256" doc:"of the text, in hexadecimal: equal hashes are equal bytes"`
	// Instruction explains the marker in Text to a model; only for spotlighted text. It belongs in
	// the system prompt and is not part of Tokens.
	Instruction string `json:"instruction,omitempty" doc:"explains the spotlight marker, for the system prompt; not part of tokens"`
}

func newBlock(name string, p placement) PromptBlock {
	b := PromptBlock{Name: name, Items: make([]string, len(p.items)), Text: p.rendered, Tokens: p.tokens}
	for i, it := range p.items {
		b.Items[i] = it.ID
	}
	if p.rendered != "" {
		b.Instruction = p.instruction
	}
	sum := sha256.Sum256([]byte(p.rendered))
	b.Hash = hex.EncodeToString(sum[:])
	return b
}

// Pinned is an item that belongs in every prompt of a scope, whatever the query.
type Pinned struct {
	Item ragctx.ContextItem
	// Place orders the items within the block, smallest first. The order in which the items are
	// returned decides which of them get into the block.
	Place int
}

// pinnedBlock returns the pinned items that fit into their share of an answer. They do not depend on
// the question. If reading them fails, only they are missing.
func (r *Resolver) pinnedBlock(ctx context.Context, q ragctx.ContextQuery, fit fitting) (placement, error) {
	budget := q.StableBudget()
	if r.opts.Pinned == nil || budget == 0 {
		return placement{}, nil
	}
	found, err := r.opts.Pinned(ctx, q)
	if err != nil || len(found) == 0 {
		return placement{}, err
	}
	list, places := pinnedCandidates(q, found)
	f := fit.within(ragctx.Caps{MaxTokens: budget})
	if q.Spotlight {
		f.spotlight(list)
	}
	p := f.fit(list)
	for {
		shown := p
		shown.items = slices.Clone(p.items)
		slices.SortStableFunc(shown.items, func(a, b ragctx.ContextItem) int {
			return cmp.Compare(places[a.ID], places[b.ID])
		})
		if f.measureWhole(&shown); shown.tokens <= budget {
			shown.pinned = list
			return shown, nil
		}
		p.items = p.items[:len(p.items)-1] // rendered in this order, the block can be slightly longer
	}
}

// has reports whether an item is shown.
func (p placement) has(it ragctx.ContextItem) bool { return slices.ContainsFunc(p.items, sameItem(it)) }

// sameItem returns a function that reports whether an item is it, whatever its form.
func sameItem(it ragctx.ContextItem) func(ragctx.ContextItem) bool {
	return func(o ragctx.ContextItem) bool { return o.ID == it.ID && o.Provider == it.Provider }
}

// reportPinned counts the pinned items that are not among the results as items of their providers, and
// reports those that the answer has no room for.
func (a *Answer) reportPinned(stable, results placement) {
	for _, c := range stable.pinned {
		if results.has(c.item) {
			continue
		}
		same := func(d Dropped) bool { return d.ID == c.item.ID && d.Provider == c.item.Provider }
		dropped := slices.ContainsFunc(a.Dropped, same)
		i := slices.IndexFunc(a.Items, sameItem(c.item))
		switch {
		case i >= 0:
			a.Dropped = slices.DeleteFunc(a.Dropped, same)
		case !dropped:
			a.drop(c, ReasonBudget, c.size)
		}
		if p := slices.IndexFunc(a.Providers, func(r ProviderReport) bool { return r.Name == c.item.Provider }); p >= 0 {
			if !dropped {
				a.Providers[p].Returned++
			}
			if i >= 0 {
				a.Providers[p].Used++
				a.Providers[p].Tokens += a.Items[i].TokenCount
			}
		}
	}
}

// besideResults returns a placement of the results and, after them, the pinned items that they do not
// contain. The last ones are left out if both together exceed maxTokens.
func (f *fitter) besideResults(results, stable placement, maxTokens int) placement {
	var missing []ragctx.ContextItem
	known := results.texts()
	for _, it := range stable.items {
		if !results.has(it) && !known[string(normalise(nil, it.Content))] {
			missing = append(missing, it)
		}
	}
	for ; len(missing) > 0; missing = missing[:len(missing)-1] {
		whole := results
		whole.items = slices.Concat(results.items, missing)
		if f.measureWhole(&whole); whole.tokens <= maxTokens {
			return whole
		}
	}
	return results
}

// pinnedCandidates returns the pinned items without duplicate texts, and the place of each by id.
func pinnedCandidates(q ragctx.ContextQuery, found []Pinned) (list []*candidate, places map[string]int) {
	places = make(map[string]int, len(found))
	texts := make(map[string]bool, len(found))
	for i, s := range found {
		it := legible(s.Item)
		text := string(normalise(nil, it.Content))
		if _, twice := places[it.ID]; twice || texts[text] {
			continue
		}
		it.Depth, it.Metadata = depthOr(it.Depth, q.Depth), encodable(it.Metadata)
		list = append(list, newCandidate(&entry{}, 0, i, it))
		places[it.ID], texts[text] = s.Place, true
	}
	return list, places
}

// besidePinned returns the query and the caps for the results, given the pinned items. The results
// yield the whole share if it is too small for the pinned items. Otherwise a larger cap, which fits
// one more of them, could leave less for the results than a smaller one.
func besidePinned(q ragctx.ContextQuery, stable placement) (ragctx.ContextQuery, ragctx.Caps) {
	left := q.MaxTokens - stable.tokens
	if len(stable.items) < len(stable.pinned) {
		left = q.MaxTokens - q.StableBudget()
	}
	if !q.Blocks {
		caps := q.Caps()
		caps.MaxTokens = left
		return q, caps
	}
	q.MaxTokens = max(left, 1)
	caps := q.Caps()
	caps.MaxTokens = left
	q.Exclude = slices.Clip(q.Exclude)
	for _, it := range stable.items {
		q.Exclude = append(q.Exclude, it.ID)
	}
	return q, caps
}

// texts returns the normalized contents of the shown items.
func (p placement) texts() map[string]bool {
	out := make(map[string]bool, len(p.items))
	for _, it := range p.items {
		out[string(normalise(nil, it.Content))] = true
	}
	return out
}

// withoutShown splits the candidates by whether the stable block shows their content.
func (p placement) withoutShown(list []*candidate) (kept, again []*candidate) {
	shown := p.texts()
	if len(shown) == 0 {
		return list, nil
	}
	for _, c := range list {
		if shown[string(normalise(nil, c.item.Content))] {
			again = append(again, c)
		} else {
			kept = append(kept, c)
		}
	}
	return kept, again
}

// renderBlocks puts the items into the answer, each block separately.
func (a *Answer) renderBlocks(stable, p placement) {
	a.Items = append(a.Items, stable.items...)
	a.Items = append(a.Items, p.items...)
	a.TotalTokens = stable.tokens + p.tokens
	a.Blocks = []PromptBlock{newBlock(Stable, stable), newBlock(Volatile, p)}
}

// render puts the items into the answer as one text.
func (a *Answer) render(p placement) {
	a.Items = append(a.Items, p.items...)
	a.TotalTokens = p.tokens
	if a.Format == xmlfmt.XML {
		a.XML = p.rendered
	} else {
		a.Text = p.rendered
	}
	if p.rendered != "" {
		a.Instruction = p.instruction
	}
}
