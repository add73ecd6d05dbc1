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
	Stable   = "stable"   // what belongs into every prompt of the scope
	Volatile = "volatile" // what answers this query
)

// PromptBlock is a part of an answer that has a place of its own in a prompt. Equal items give
// equal bytes, so that the prompt before them can come from a cache.
type PromptBlock struct {
	Name string `json:"name" doc:"stable, which does not depend on the question, or volatile"`
	// Items are the ids of its items, in order.
	Items []string `json:"item_ids" nullable:"false" doc:"of its items, in order"`
	Text  string   `json:"text" doc:"rendered; empty without items"`
	// Tokens is the exact count of Text, Hash its SHA-256 in hexadecimal.
	Tokens int    `json:"tokens" doc:"the exact count of the text"`
	Hash   string `json:"sha256" doc:"of the text, in hexadecimal: equal hashes are equal bytes"`
	// Instruction tells a model what the marker in Text means; only marked text has one.
	// It belongs into the system prompt and is not part of Tokens.
	Instruction string `json:"instruction,omitempty" doc:"what a system prompt should say of the marker in a spotlighted text; not part of tokens"`
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

// Standing is an item that belongs into every prompt of a scope, whatever is asked.
type Standing struct {
	Item ragctx.ContextItem
	// Place orders the items of the block, smallest first. Who gets into it is decided in
	// the order in which they come.
	Place int
}

// standing returns the stable block of q's answer. Nothing of it depends on the question.
// That it cannot be read costs the answer that block alone.
func (r *Resolver) standing(ctx context.Context, q ragctx.ContextQuery, fit fitting) (placement, error) {
	budget := q.StableBudget()
	if r.opts.Standing == nil || budget == 0 {
		return placement{}, nil
	}
	found, err := r.opts.Standing(ctx, q)
	if err != nil || len(found) == 0 {
		return placement{}, err
	}
	list, places := candidates(q, found)
	f := fit.within(ragctx.Caps{MaxTokens: budget})
	if q.Spotlight {
		f.spotlight(list)
	}
	p := f.fit(list)
	for {
		shown := p
		shown.items = slices.Clone(p.items)
		slices.SortStableFunc(shown.items, func(a, b ragctx.ContextItem) int { return cmp.Compare(places[a.ID], places[b.ID]) })
		if f.weigh(&shown); shown.tokens <= budget {
			return shown, nil
		}
		p.items = p.items[:len(p.items)-1] // in another order the whole can be a little longer
	}
}

// candidates returns the standing items, each text once, and the place of each by its id.
func candidates(q ragctx.ContextQuery, found []Standing) (list []*candidate, places map[string]int) {
	places = make(map[string]int, len(found))
	texts := make(map[string]bool, len(found))
	for i, s := range found {
		it := Legible(s.Item)
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

// besides returns the query that is asked when a stable block has its place already, and
// the caps of what is found.
func besides(q ragctx.ContextQuery, stable placement) (ragctx.ContextQuery, ragctx.Caps) {
	caps := q.Caps()
	if !q.Blocks {
		return q, caps
	}
	left := q.MaxTokens - stable.tokens
	q.MaxTokens = max(left, 1)
	caps = q.Caps()
	caps.MaxTokens = left
	q.Exclude = slices.Clip(q.Exclude)
	for _, it := range stable.items {
		q.Exclude = append(q.Exclude, it.ID)
	}
	return q, caps
}

// without takes from the candidates those whose content is in a stable block.
func (p placement) without(list []*candidate) (kept, again []*candidate) {
	shown := make(map[string]bool, len(p.items))
	for _, it := range p.items {
		shown[string(normalise(nil, it.Content))] = true
	}
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

// show puts what was placed into the answer: with blocks each into its own, with nothing
// beside them.
func (a *Answer) show(q ragctx.ContextQuery, stable, p placement) {
	if len(stable.items)+len(p.items) > 0 {
		a.Items = slices.Concat(stable.items, p.items)
	}
	a.TotalTokens = stable.tokens + p.tokens
	switch {
	case q.Blocks:
		a.Blocks = []PromptBlock{newBlock(Stable, stable), newBlock(Volatile, p)}
		return
	case a.Format == xmlfmt.XML:
		a.XML = p.rendered
	default:
		a.Text = p.rendered
	}
	if p.rendered != "" {
		a.Instruction = p.instruction
	}
}
