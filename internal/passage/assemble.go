package passage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// Request describes the hits of a search and the items to make of them.
type Request struct {
	Query ragctx.ContextQuery
	// Search is the query that found the hits; its scope and times are checked again here. State is
	// the state of the index at that time.
	Search index.Query
	Hits   []index.Hit
	State  uint64
	// Terms are the terms that were searched for in addition to the words of the query.
	Terms []string
	// Whole makes one item per text (for memories) instead of one per passage.
	Whole bool
}

// run is a sequence of adjacent chunks of one item.
type run struct {
	item   *Item
	chunks []Chunk
	hits   []index.Hit // of the chunks, in their order
	best   index.Hit   // the hit with the highest score
	more   []run       // further runs of the same item (Whole only), or of the same section
}

// Assembled is the result of [Assemble].
type Assembled struct {
	// Items have their contents. [Assembled.Complete] adds their other forms.
	Items []ragctx.ContextItem
	// Distinct is the number of items without duplicates.
	Distinct int
	// More is true if the hits hold further items. Spent is true if they were left out because enough texts were read.
	More, Spent bool

	runs map[string]run // by the item's id
	// sections are shown at depth full, by text.
	sections map[*Item][]section
	whole    []shown // items of conversations that are shown whole
	request  Request
	builder  *builder
}

// Assemble returns the items for the request's hits, best first, at most Query.MaxResults distinct
// ones. Duplicates of an item's text follow it, so that the caller can report them as dropped. They
// do not count, and are limited to Query.MaxResults as well. Hits that are no longer visible in the
// store are left out. After reading 16 MiB of texts, Assemble stops.
func Assemble(ctx context.Context, src Source, r Request) (Assembled, error) {
	a := Assembled{runs: make(map[string]run), sections: make(map[*Item][]section), request: r}
	runs, err := join(ctx, src, r)
	if err != nil {
		return a, err
	}
	b := newBuilder(src, r, runs)
	a.builder = b
	seen := make(map[string]bool) // texts already shown
	copies := 0
	for _, run := range runs {
		it := b.base(run)
		if slices.Contains(r.Query.Exclude, it.ID) {
			continue
		}
		whole := r.Query.Depth == ragctx.DepthFull
		if whole && a.join(run) {
			continue
		}
		if a.Spent = b.spent(); a.Spent || a.Distinct == r.Query.MaxResults {
			a.More = true
			if whole && !a.Spent {
				continue // a later run may belong to one of the items
			}
			break
		}
		if err := b.content(ctx, run, &it); erased(err) {
			continue
		} else if err != nil {
			return a, err
		}
		text := folded(it.Content)
		switch {
		case !seen[text]:
			a.Distinct++
		case copies < r.Query.MaxResults:
			copies++
		default:
			continue
		}
		seen[text] = true
		if whole {
			start, end, _ := b.section(run)
			a.sections[run.item] = append(a.sections[run.item], section{start, end, it.ID})
		}
		a.Items, a.runs[it.ID] = append(a.Items, it), run
	}
	return a, nil
}

// section is a range of a text that an item shows as a whole.
type section struct {
	start, end int
	id         string // of the item
}

// join adds a run to the item that shows its section as a whole, and reports whether there is one. If that item is
// shortened to a passage, the passage has both.
func (a *Assembled) join(r run) bool {
	of := a.sections[r.item]
	if len(of) == 0 {
		return false
	}
	start, end, _ := a.builder.section(r)
	i := slices.IndexFunc(of, func(s section) bool { return s.start <= start && end <= s.end })
	if i < 0 {
		return false
	}
	shown := a.runs[of[i].id]
	shown.more = append(shown.more, r)
	a.runs[of[i].id] = shown
	return true
}

// folded returns a text without its white space, by which duplicates are recognized.
func folded(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 1)
	for word := range strings.FieldsSeq(text) {
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

// FirstDistinct returns the items up to the n-th distinct text. Duplicates do not count.
func FirstDistinct(items []ragctx.ContextItem, n int) []ragctx.ContextItem {
	texts := make(map[string]bool)
	for i, it := range items {
		if text := folded(it.Content); !texts[text] {
			if len(texts) == n {
				return items[:i]
			}
			texts[text] = true
		}
	}
	return items
}

// Complete adds the other forms of the items, except for those of duplicates. The caller may have sorted the items and
// removed some. After reading 16 MiB of texts, the rest of the items get no other forms. Without a budget none gets any,
// except at depth full, where a form has the passage that was found.
func (a *Assembled) Complete(ctx context.Context) error {
	kept := a.Items[:0]
	seen := make(map[string]bool)
	a.builder.texts.bytes = 0
	growing := a.growing()
	q := a.request.Query
	fitted := q.MaxTokens > 0 || q.Depth == ragctx.DepthFull
	for i, it := range a.Items {
		text := folded(it.Content)
		if fitted && !seen[text] && !a.builder.spent() {
			if err := a.builder.forms(ctx, a.runs[it.ID], &it, i < growing); erased(err) {
				a.Distinct--
				continue
			} else if err != nil {
				return err
			}
		}
		seen[text] = true
		withoutPages(&it)
		kept = append(kept, it)
	}
	a.Items = kept
	if fitted {
		a.findWhole()
	}
	return nil
}

// GrowShare is the share of the best relevance from which on an item is shown with more of its surroundings. It was tuned
// on testdata/mixed; see docs/retrieval.md.
const GrowShare = 0.75

// growing returns the number of items up to the last one that may grow. If there is a minimum relevance, relevance is
// final, and reading the surroundings of the rest would be in vain.
func (a *Assembled) growing() (n int) {
	if a.request.Whole || a.request.Query.MinRelevance == nil {
		return len(a.Items)
	}
	best := 0.0
	for _, it := range a.Items {
		best = max(best, it.Relevance)
	}
	for i, it := range a.Items {
		if it.Relevance >= GrowShare*best {
			n = i + 1
		}
	}
	return n
}

// erased reports whether a text was erased after its hit was loaded. Such a hit is skipped.
func erased(err error) bool { return errors.Is(err, ragctx.ErrNotFound) }

// Found is a hit with its chunk and item from the store.
type Found struct {
	index.Hit

	Unit Chunk
	Item *Item
}

// Load returns the chunks and items of the hits, in their order. It leaves out hits that the store
// no longer has, that the query may not see, or that lack the search's phrases.
func Load(ctx context.Context, src Source, r Request) ([]Found, error) {
	ids := make([]uint64, len(r.Hits))
	for i, h := range r.Hits {
		ids[i] = h.ID
	}
	chunks, items, err := src.Chunks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("load hits: %w", err)
	}
	byID := make(map[uint64]Chunk, len(chunks))
	for _, u := range chunks {
		byID[u.ID] = u
	}
	found := make([]Found, 0, len(r.Hits))
	newest := make(map[string]int) // newest version found by key
	for _, h := range r.Hits {
		u, ok := byID[h.ID]
		it := items[u.Item]
		if ok && it != nil && visible(it, &r) && holds(r.Search.Phrases, &u, it) {
			found = append(found, Found{Hit: h, Unit: u, Item: it})
			newest[it.Key] = max(newest[it.Key], it.Version)
		}
	}
	// If a document was replaced during the search, both versions may have been found.
	return slices.DeleteFunc(found, func(f Found) bool { return f.Item.Version < newest[f.Item.Key] }), nil
}

// join resolves the hits and joins adjacent chunks into runs, best first.
func join(ctx context.Context, src Source, r Request) ([]run, error) {
	found, err := Load(ctx, src, r)
	if err != nil {
		return nil, err
	}
	var runs []run
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Item.ID, b.Item.ID), cmp.Compare(a.Unit.Ordinal, b.Unit.Ordinal))
	})
	for _, f := range found {
		if last := len(runs) - 1; last >= 0 && runs[last].touches(f.Unit) {
			runs[last].add(f.Unit, f.Hit)
			continue
		}
		runs = append(runs, run{item: f.Item, chunks: []Chunk{f.Unit}, hits: []index.Hit{f.Hit}, best: f.Hit})
	}
	if r.Whole {
		runs = groupByItem(runs)
	} else {
		for i := range runs {
			runs[i].trimWeak()
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		// Not by the chunk's id, which depends on the order of writing.
		return cmp.Or(cmp.Compare(b.best.Score, a.best.Score), cmp.Compare(a.item.Key, b.item.Key),
			cmp.Compare(a.best.Ordinal, b.best.Ordinal))
	})
	return runs, nil
}

// touches reports whether u follows the run and fits into one overview with it.
func (r *run) touches(u Chunk) bool {
	last := r.chunks[len(r.chunks)-1]
	return last.Item == u.Item && last.Ordinal+1 == u.Ordinal &&
		u.End.Rune-r.chunks[0].Start.Rune <= OverviewChars
}

func (r *run) add(u Chunk, h index.Hit) {
	r.chunks, r.hits = append(r.chunks, u), append(r.hits, h)
	if h.Score > r.best.Score {
		r.best = h
	}
}

// strongShare is the fraction of a run's best score that a chunk at its end needs to stay. In a
// small text nearly every chunk is found, most of them because of their neighbours.
const strongShare = 0.7

// trimWeak removes weak chunks from both ends of the run. The run grows by them first if there is
// room.
func (r *run) trimWeak() {
	weak := func(h index.Hit) bool { return h.Score < strongShare*r.best.Score }
	first, last := 0, len(r.hits)-1
	for weak(r.hits[first]) {
		first++
	}
	for weak(r.hits[last]) {
		last--
	}
	r.chunks, r.hits = r.chunks[first:last+1], r.hits[first:last+1]
}

// has reports whether a hit is of one of the run's chunks.
func (r *run) has(h index.Hit) bool {
	return slices.ContainsFunc(r.hits, func(o index.Hit) bool { return o.ID == h.ID })
}

// nearest returns the best chunk as a run.
func (r *run) nearest() run {
	for _, part := range append([]run{*r}, r.more...) {
		for i, h := range part.hits {
			if h.ID == r.best.ID {
				return run{item: r.item, chunks: part.chunks[i : i+1], hits: part.hits[i : i+1], best: h}
			}
		}
	}
	return *r
}

// groupByItem moves all runs of an item, which are consecutive, under its first run.
func groupByItem(runs []run) []run {
	var out []run
	for _, r := range runs {
		last := len(out) - 1
		if last < 0 || out[last].item != r.item {
			out = append(out, r)
			continue
		}
		out[last].more = append(out[last].more, r)
		if r.best.Score > out[last].best.Score {
			out[last].best = r.best
		}
	}
	return out
}
