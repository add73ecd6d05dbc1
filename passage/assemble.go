package passage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/prose"
)

// Request says what to make of a search's hits.
type Request struct {
	Query ragctx.ContextQuery
	// Search is the query that found the hits; its scope and times are checked
	// again here.
	Search index.Query
	Hits   []index.Hit
	// Whole makes one item per text (a memory is a turn, whole), instead of one
	// per passage.
	Whole bool
}

// run is a row of touching units of one item.
type run struct {
	item  *Item
	units []Unit
	best  index.Hit // of the units, the one with the highest score
	more  []run     // further runs of the same item, in order (Whole only)
}

// Assemble returns the items for the request's hits, best first, at most
// Query.MaxResults of them. Hits that the store no longer shows are left out.
func Assemble(ctx context.Context, src Source, r Request) ([]ragctx.ContextItem, error) {
	runs, err := join(ctx, src, r)
	if err != nil {
		return nil, err
	}
	b := builder{src: src, query: r.Query, terms: analysis.Query(r.Query.Query)}
	var items []ragctx.ContextItem
	sections := make(map[string]bool)
	for _, run := range runs {
		if len(items) == r.Query.MaxResults {
			break
		}
		it := b.base(run)
		if slices.Contains(r.Query.Exclude, it.ID) {
			continue
		}
		section, err := b.fill(ctx, run, &it)
		if err != nil {
			return nil, err
		}
		if section != "" && sections[section] {
			continue // two passages of one section are one item at full depth
		}
		sections[section] = true
		items = append(items, it)
	}
	return items, nil
}

// join loads the hits' units, drops what must not be shown and joins what
// touches. Runs come out best first.
func join(ctx context.Context, src Source, r Request) ([]run, error) {
	hits := make(map[uint64]index.Hit, len(r.Hits))
	ids := make([]uint64, 0, len(r.Hits))
	for _, h := range r.Hits {
		hits[h.ID] = h
		ids = append(ids, h.ID)
	}
	units, items, err := src.Units(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("load hits: %w", err)
	}
	slices.SortFunc(units, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	var runs []run
	for _, u := range units {
		it := items[u.Item]
		if it == nil || !visible(it, &r.Search, r.Query.Namespace) {
			continue
		}
		h := hits[u.ID]
		if last := len(runs) - 1; last >= 0 && runs[last].touches(u) {
			runs[last].add(u, h)
			continue
		}
		runs = append(runs, run{item: it, units: []Unit{u}, best: h})
	}
	if r.Whole {
		runs = gather(runs)
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(b.best.Score, a.best.Score), cmp.Compare(a.best.ID, b.best.ID))
	})
	return runs, nil
}

// touches reports whether u follows the run and fits into one overview with it.
func (r *run) touches(u Unit) bool {
	last := r.units[len(r.units)-1]
	return last.Item == u.Item && last.Ordinal+1 == u.Ordinal &&
		u.End.Rune-r.units[0].Start.Rune <= OverviewChars
}

func (r *run) add(u Unit, h index.Hit) {
	r.units = append(r.units, u)
	if h.Score > r.best.Score {
		r.best = h
	}
}

// gather puts the runs of one item, which stand together, under the first.
func gather(runs []run) []run {
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

// builder fills in the texts of items.
type builder struct {
	src   Source
	query ragctx.ContextQuery
	terms []string
}

// base returns the item of a run without its texts.
func (b *builder) base(r run) ragctx.ContextItem {
	it := ragctx.ContextItem{
		ID: r.item.Key, Type: r.item.Type, Source: r.item.Source,
		Relevance: ragctx.Clamp01(r.best.Score), Depth: b.query.Depth,
		Occurred: r.item.Occurred, Importance: r.item.Importance, Metadata: maps.Clone(r.item.Values),
	}
	if it.Metadata == nil {
		it.Metadata = make(map[string]any)
	}
	if it.Type == ragctx.TypeResource {
		it.ID = ItemID(r.item.Key, r.item.Version, r.best.Ordinal)
		it.Metadata["document"] = r.item.Key
		it.Metadata["lines"] = fmt.Sprintf("%d-%d", r.units[0].Start.Line, r.units[len(r.units)-1].End.Line)
		if h := r.units[0].Heading; len(h) > 0 {
			it.Metadata["heading"] = strings.Join(h, " > ")
		}
	}
	if r.item.Title != "" {
		it.Metadata["title"] = r.item.Title
	}
	if b.query.Explain {
		it.Signals = map[string]float64{
			"keyword": r.best.Signals.Keyword, "vector": r.best.Signals.Vector, "relevance": r.best.Score,
		}
	}
	return it
}

// fill sets the item's content at the depth asked for, and its other forms. It
// returns the name of the section that a full item shows, or "".
func (b *builder) fill(ctx context.Context, r run, it *ragctx.ContextItem) (section string, err error) {
	overview, err := b.text(ctx, r)
	if err != nil {
		return "", err
	}
	abstract := b.abstract(r.item, overview)
	switch b.query.Depth {
	case ragctx.DepthAbstract:
		it.Content = abstract
		return "", nil
	case ragctx.DepthFull:
		start, end, whole := b.section(r)
		if it.Content, err = b.src.Text(ctx, r.item.ID, start, end); err != nil {
			return "", fmt.Errorf("read %s: %w", it.ID, err)
		}
		it.Content = strings.TrimSpace(it.Content)
		if !whole && b.mayShowWhole(r.item) {
			if it.Forms.Wider, err = b.src.Text(ctx, r.item.ID, 0, r.item.Bytes); err != nil {
				return "", fmt.Errorf("read %s: %w", it.ID, err)
			}
		}
		it.Forms.Shorter = shorter(it.Content, ragctx.Form{Depth: ragctx.DepthOverview, Text: overview},
			ragctx.Form{Depth: ragctx.DepthAbstract, Text: abstract})
		return strconv.FormatUint(r.item.ID, 10) + ":" + strconv.Itoa(start), nil
	default:
		it.Content = overview
		it.Forms.Shorter = shorter(overview, ragctx.Form{Depth: ragctx.DepthAbstract, Text: abstract})
		it.Forms.Wider, err = b.wider(ctx, r, overview)
		return "", err
	}
}

// shorter keeps the forms that are in fact shorter than the text before them.
func shorter(content string, forms ...ragctx.Form) []ragctx.Form {
	var out []ragctx.Form
	n := len(content)
	for _, f := range forms {
		if f.Text != "" && len(f.Text) < n {
			out = append(out, f)
			n = len(f.Text)
		}
	}
	return out
}

// text returns the passage itself, at most [OverviewChars] characters.
func (b *builder) text(ctx context.Context, r run) (string, error) {
	if len(r.more) > 0 && r.item.Bytes <= OverviewChars {
		return b.src.Text(ctx, r.item.ID, 0, r.item.Bytes)
	}
	var parts []string
	room := OverviewChars
	for _, run := range append([]run{r}, r.more...) {
		s, err := b.runText(ctx, run)
		if err != nil {
			return "", err
		}
		if room -= len([]rune(s)) + len([]rune(Gap)); room < 0 && len(parts) > 0 {
			break
		}
		parts = append(parts, s)
	}
	return prose.Clip(strings.Join(parts, Gap), OverviewChars), nil
}

func (b *builder) runText(ctx context.Context, r run) (string, error) {
	if len(r.units) == 1 {
		return r.units[0].Text, nil
	}
	s, err := b.src.Text(ctx, r.item.ID, r.units[0].Start.Byte, r.units[len(r.units)-1].End.Byte)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", r.item.Key, err)
	}
	return s, nil
}

// wider returns the passage with its neighbours, as far as an overview holds
// them, or "" when there is nothing to add.
func (b *builder) wider(ctx context.Context, r run, overview string) (string, error) {
	if len(r.more) > 0 || len(overview) >= r.item.Bytes {
		return "", nil
	}
	first, last := r.units[0], r.units[len(r.units)-1]
	around, err := b.src.Span(ctx, r.item.ID, first.Ordinal-neighbours, last.Ordinal+neighbours)
	if err != nil {
		return "", fmt.Errorf("read around %s: %w", r.item.Key, err)
	}
	from, to := first, last
	for d := 1; d <= neighbours; d++ { // the nearest first, what follows before what precedes
		for _, o := range [...]int{last.Ordinal + d, first.Ordinal - d} {
			i := slices.IndexFunc(around, func(u Unit) bool { return u.Ordinal == o })
			if i < 0 {
				continue
			}
			u := around[i]
			if max(to.End.Rune, u.End.Rune)-min(from.Start.Rune, u.Start.Rune) > OverviewChars {
				continue
			}
			switch u.Ordinal {
			case to.Ordinal + 1:
				to = u
			case from.Ordinal - 1:
				from = u
			}
		}
	}
	if from.ID == first.ID && to.ID == last.ID {
		return "", nil
	}
	return b.src.Text(ctx, r.item.ID, from.Start.Byte, to.End.Byte)
}

// neighbours is how far a passage grows on each side: four chunks of 400
// characters make an overview.
const neighbours = 3

// section returns the byte range of the innermost section around the run, and
// whether that is the whole text.
func (b *builder) section(r run) (start, end int, whole bool) {
	from, to := r.units[0].Start.Byte, r.units[len(r.units)-1].End.Byte
	start, end = 0, r.item.Bytes
	for _, s := range r.item.Outline {
		if s.Start <= from && s.End >= to && s.End-s.Start < end-start {
			start, end = s.Start, s.End
		}
	}
	return start, end, end-start == r.item.Bytes
}

// mayShowWhole reports whether the item's whole text could fit the budget at
// all: no text has fewer than one token per twelve bytes for long.
func (b *builder) mayShowWhole(it *Item) bool {
	return it.Bytes/12 <= b.query.MaxTokens
}

// abstract returns the item's gist followed by the sentence of the passage that
// answers best, at most [AbstractChars] characters.
func (b *builder) abstract(it *Item, passage string) string {
	best := prose.Best(passage, b.terms)
	if it.Abstract == "" || strings.Contains(best, it.Abstract) {
		return prose.Clip(cmp.Or(best, passage), AbstractChars)
	}
	if strings.Contains(it.Abstract, best) {
		return prose.Clip(it.Abstract, AbstractChars)
	}
	room := AbstractChars - len([]rune(best)) - 1
	if room < 80 {
		return prose.Clip(best, AbstractChars)
	}
	return prose.Clip(it.Abstract, room) + "\n" + best
}

// ItemID returns the citation of a passage of a document.
func ItemID(key string, version, ordinal int) string {
	return fmt.Sprintf("%s@%d#%d", key, version, ordinal)
}

// ParseItemID splits a citation from the right: the key may hold @ and # itself.
func ParseItemID(id string) (key string, version, ordinal int, ok bool) {
	rest, num, found := cutLast(id, "#")
	if !found {
		return "", 0, 0, false
	}
	key, ver, found := cutLast(rest, "@")
	if !found || key == "" {
		return "", 0, 0, false
	}
	ordinal, err1 := strconv.Atoi(num)
	version, err2 := strconv.Atoi(ver)
	return key, version, ordinal, err1 == nil && err2 == nil && ordinal >= 0 && version > 0
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
