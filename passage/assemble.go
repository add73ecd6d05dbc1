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
	// again here. State is that of the index when it found the hits.
	Search index.Query
	Hits   []index.Hit
	State  uint64
	// Terms are what was searched for beside the words of the query.
	Terms []string
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

// Assembled is what [Assemble] makes of hits.
type Assembled struct {
	Items []ragctx.ContextItem
	// Distinct counts the items without the copies among them.
	Distinct int
	// More says that the hits hold further items.
	More bool
}

// Assemble returns the items for the request's hits, best first,
// Query.MaxResults different ones at most. Copies of an item's text come with
// it, so that whoever merges can say what was left out; they do not count, have no
// other forms, and there are at most as many of them. Hits that the store no longer
// shows are left out, and what is beyond 32 MiB of texts is not read.
func Assemble(ctx context.Context, src Source, r Request) (Assembled, error) {
	var a Assembled
	runs, err := join(ctx, src, r)
	if err != nil {
		return a, err
	}
	b := newBuilder(src, r, runs)
	seen := make(map[string]bool) // sections and texts that are shown
	copies := 0
	var made []run
	for _, run := range runs {
		it := b.base(run)
		if slices.Contains(r.Query.Exclude, it.ID) {
			continue
		}
		if a.Distinct == r.Query.MaxResults || b.spent() {
			a.More = true
			break
		}
		section := b.sectionName(run)
		if section != "" && seen[section] {
			continue // another passage of a section that is shown whole
		}
		if err := b.content(ctx, run, &it); err != nil {
			return a, err
		}
		text := strings.Join(strings.Fields(it.Content), " ")
		switch {
		case !seen[text]:
			a.Distinct++
			if err := b.forms(ctx, run, &it); err != nil {
				return a, err
			}
		case copies < r.Query.MaxResults:
			copies++
		default:
			continue
		}
		withoutPages(&it)
		seen[text], seen[section] = true, true
		a.Items, made = append(a.Items, it), append(made, run)
	}
	if r.Whole {
		err = b.surround(ctx, r, a.Items, made)
	}
	return a, err
}

// Found is a hit together with what the store has of it.
type Found struct {
	index.Hit

	Unit Unit
	Item *Item
}

// Resolve loads what was hit, in the order of the hits, and leaves out what the
// store no longer has, the query may not see, or has not the search's phrases.
func Resolve(ctx context.Context, src Source, r Request) ([]Found, error) {
	ids := make([]uint64, len(r.Hits))
	for i, h := range r.Hits {
		ids[i] = h.ID
	}
	units, items, err := src.Units(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("load hits: %w", err)
	}
	byID := make(map[uint64]Unit, len(units))
	for _, u := range units {
		byID[u.ID] = u
	}
	found := make([]Found, 0, len(r.Hits))
	newest := make(map[string]int) // version found of each key
	for _, h := range r.Hits {
		u, ok := byID[h.ID]
		it := items[u.Item]
		if ok && it != nil && visible(it, &r) && holds(r.Search.Phrases, &u, it) {
			found = append(found, Found{Hit: h, Unit: u, Item: it})
			newest[it.Key] = max(newest[it.Key], it.Version)
		}
	}
	// Beside a version that was replaced while the index searched, the new one may
	// have been found.
	return slices.DeleteFunc(found, func(f Found) bool { return f.Item.Version < newest[f.Item.Key] }), nil
}

// join resolves the hits and joins what touches. Runs come out best first.
func join(ctx context.Context, src Source, r Request) ([]run, error) {
	found, err := Resolve(ctx, src, r)
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
		runs = append(runs, run{item: f.Item, units: []Unit{f.Unit}, best: f.Hit})
	}
	if r.Whole {
		runs = gather(runs)
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		// Not by the unit's id, which tells the order of writing.
		return cmp.Or(cmp.Compare(b.best.Score, a.best.Score), cmp.Compare(a.item.Key, b.item.Key),
			cmp.Compare(a.best.Ordinal, b.best.Ordinal))
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
	// taken are the units that some item shows, or may grow by; runs counts the
	// passages of each text. They keep one answer from showing a text twice.
	taken map[place]bool
	runs  map[uint64]int
	// told are the items whose abstract an item shows already.
	told  map[uint64]bool
	texts texts
}

// place is a unit's place in its item.
type place struct {
	item    uint64
	ordinal int
}

func newBuilder(src Source, req Request, runs []run) *builder {
	b := &builder{
		src: src, query: req.Query, terms: slices.Concat(analysis.Query(wording(req)), req.Terms),
		taken: make(map[place]bool), runs: make(map[uint64]int), told: make(map[uint64]bool), texts: texts{whole: make(map[uint64]string)},
	}
	for _, r := range runs {
		b.runs[r.item.ID]++
		for _, u := range r.units {
			b.taken[place{u.Item, u.Ordinal}] = true
		}
	}
	return b
}

// base returns the item of a run without its texts.
func (b *builder) base(r run) ragctx.ContextItem {
	it := ragctx.ContextItem{
		ID: r.item.Key, Type: r.item.Type, Source: r.item.Source,
		Relevance: ragctx.Clamp01(r.best.Relevance), Depth: b.query.Depth,
		Occurred: r.item.Occurred, Importance: r.item.Importance, Metadata: maps.Clone(r.item.Values),
	}
	if it.Metadata == nil {
		it.Metadata = make(map[string]any)
	}
	if it.Type == ragctx.TypeResource {
		it.ID = ItemID(r.item.Key, r.item.Version, r.best.Ordinal)
		it.Metadata["document"] = r.item.Key
		it.Metadata["lines"] = lines(r.units[0], r.units[len(r.units)-1])
		if h := strings.Join(slices.DeleteFunc(slices.Clone(r.units[0].Heading), func(s string) bool { return s == "" }), " > "); h != "" {
			it.Metadata["heading"] = h
		}
		if page := r.page(); page > 0 {
			it.Metadata["page"] = page
		}
	}
	if r.item.Title != "" {
		it.Metadata["title"] = r.item.Title
	}
	if b.query.Explain {
		it.Signals = map[string]float64{
			"keyword": r.best.Signals.Keyword, "vector": r.best.Signals.Vector, "score": r.best.Score,
		}
		maps.Copy(it.Signals, r.best.Signals.Parts.Named())
	}
	return it
}

// withoutPages makes the ends of pages, which are form feeds, ends of lines: XML has
// no sign for them.
func withoutPages(it *ragctx.ContextItem) {
	texts := []*string{&it.Content, &it.Forms.Wider.Text}
	for i := range it.Forms.Shorter {
		texts = append(texts, &it.Forms.Shorter[i].Text)
	}
	for _, t := range texts {
		*t = strings.ReplaceAll(*t, "\f", "\n")
	}
}

// page is that of the unit that was hit, which the item's id cites; 0 for none.
func (r *run) page() int {
	for _, u := range r.units {
		if u.Ordinal == r.best.Ordinal {
			return u.Page
		}
	}
	return r.units[0].Page
}

// lines returns the lines from the first unit to the last.
func lines(first, last Unit) string { return fmt.Sprintf("%d-%d", first.Start.Line, last.End.Line) }

// content sets the item's content at the depth asked for.
func (b *builder) content(ctx context.Context, r run, it *ragctx.ContextItem) (err error) {
	if b.query.Depth != ragctx.DepthFull {
		if it.Content, err = b.text(ctx, r); err == nil && b.query.Depth == ragctx.DepthAbstract {
			it.Content = b.abstract(r.item, it.Content)
		}
		return err
	}
	start, end, _ := b.section(r)
	if it.Content, err = b.read(ctx, r.item, start, end); err != nil {
		return err
	}
	if r.item.Type == ragctx.TypeResource {
		hit := r.units[0].Start // its line tells that of the section, without reading what precedes
		it.Metadata["lines"] = lineRange(it.Content, hit.Line-strings.Count(it.Content[:hit.Byte-start], "\n"))
	}
	it.Content = strings.TrimSpace(it.Content)
	return nil
}

// forms sets the item's other forms, beside its content.
func (b *builder) forms(ctx context.Context, r run, it *ragctx.ContextItem) (err error) {
	switch b.query.Depth {
	case ragctx.DepthAbstract:
		return nil
	case ragctx.DepthFull:
		overview, err := b.text(ctx, r)
		if err != nil {
			return err
		}
		if _, _, whole := b.section(r); !whole && b.mayShowWhole(r.item) {
			whole, err := b.read(ctx, r.item, 0, r.item.Bytes)
			if err != nil {
				return err
			}
			it.Forms.Wider = ragctx.Form{Text: whole, Lines: lineRange(whole, 1)}
		}
		hit := lines(r.units[0], r.units[len(r.units)-1])
		it.Forms.Shorter = shorter(it.Content, ragctx.Form{Depth: ragctx.DepthOverview, Text: overview, Lines: hit},
			ragctx.Form{Depth: ragctx.DepthAbstract, Text: b.abstract(r.item, overview), Lines: hit})
		return nil
	default:
		it.Forms.Shorter = shorter(it.Content, ragctx.Form{Depth: ragctx.DepthAbstract, Text: b.abstract(r.item, it.Content)})
		it.Forms.Wider, err = b.wider(ctx, r, it.Content)
		return err
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
		return b.read(ctx, r.item, 0, r.item.Bytes)
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
	if s, ok := joined(r.units); ok {
		return s, nil
	}
	return b.read(ctx, r.item, r.units[0].Start.Byte, r.units[len(r.units)-1].End.Byte)
}

// joined returns the text of units that follow each other, and false if their texts
// are not all of what lies between their ends.
func joined(units []Unit) (string, bool) {
	if len(units) == 1 {
		return units[0].Text, true
	}
	var b strings.Builder
	at := units[0].Start.Byte
	for _, u := range units {
		if u.Start.Byte != at || u.Start.Byte+len(u.Text) != u.End.Byte {
			return "", false
		}
		b.WriteString(u.Text)
		at = u.End.Byte
	}
	return b.String(), true
}

// wider returns the passage with its neighbours, as far as an overview holds
// them and no other passage has them; its text is empty when there is nothing to
// add.
func (b *builder) wider(ctx context.Context, r run, overview string) (ragctx.Form, error) {
	if len(r.more) > 0 || len(overview) >= r.item.Bytes {
		return ragctx.Form{}, nil
	}
	first, last := r.units[0], r.units[len(r.units)-1]
	around, err := b.src.Span(ctx, r.item.ID, first.Ordinal-neighbours, last.Ordinal+neighbours)
	if err != nil {
		return ragctx.Form{}, fmt.Errorf("read around %s: %w", r.item.Key, err)
	}
	from, to := b.grow(around, first, last)
	if from.ID == first.ID && to.ID == last.ID {
		return ragctx.Form{}, nil
	}
	text, err := b.read(ctx, r.item, from.Start.Byte, to.End.Byte)
	if err != nil {
		return ragctx.Form{}, err
	}
	f := ragctx.Form{Text: text}
	if r.item.Type == ragctx.TypeResource {
		f.Lines = lines(from, to)
	}
	return f, nil
}

// lineRange returns the lines of a text whose first line has a number.
func lineRange(text string, first int) string {
	lead := strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))], "\n")
	body := strings.Count(strings.TrimSpace(text), "\n")
	return fmt.Sprintf("%d-%d", first+lead, first+lead+body)
}

// neighbours is how far a passage grows on each side: a few chunks of 400
// characters make an overview.
const neighbours = 3

// grow takes units of the same section around first..last, what follows before
// what precedes, until an overview is full or the next unit on both sides is
// taken.
func (b *builder) grow(around []Unit, first, last Unit) (from, to Unit) {
	from, to = first, last
	step := func(ordinal int) (Unit, bool) {
		i := slices.IndexFunc(around, func(u Unit) bool { return u.Ordinal == ordinal })
		if i < 0 || b.taken[place{first.Item, ordinal}] {
			return Unit{}, false
		}
		u := around[i]
		if !slices.Equal(u.Heading, first.Heading) && !slices.Equal(u.Heading, last.Heading) {
			return Unit{}, false
		}
		if max(to.End.Rune, u.End.Rune)-min(from.Start.Rune, u.Start.Rune) > OverviewChars {
			return Unit{}, false
		}
		b.taken[place{first.Item, ordinal}] = true
		return u, true
	}
	for after, before := true, true; after || before; {
		if after {
			var u Unit
			if u, after = step(to.Ordinal + 1); after {
				to = u
			}
		}
		if before {
			var u Unit
			if u, before = step(from.Ordinal - 1); before {
				from = u
			}
		}
	}
	return from, to
}

// sectionName names the section that an item shows whole; "" where it shows none.
func (b *builder) sectionName(r run) string {
	if b.query.Depth != ragctx.DepthFull {
		return ""
	}
	start, _, _ := b.section(r)
	return strconv.FormatUint(r.item.ID, 10) + ":" + strconv.Itoa(start)
}

// section returns the byte range of the innermost section around the run, and
// whether that is the whole text.
func (b *builder) section(r run) (start, end int, whole bool) {
	from, to := r.units[0].Start.Byte, r.units[len(r.units)-1].End.Byte
	start, end = 0, r.item.Bytes
	for _, s := range r.item.outline() {
		if s.Start <= from && s.End >= to && s.End-s.Start < end-start {
			start, end = s.Start, s.End
		}
	}
	return start, end, end-start == r.item.Bytes
}

// mayShowWhole reports whether the item's whole text could fit the budget at
// all (no text has fewer than one token per twelve bytes for long) and would
// not repeat another passage.
func (b *builder) mayShowWhole(it *Item) bool {
	return it.Bytes/12 <= b.query.MaxTokens && b.runs[it.ID] == 1
}

// abstract returns the item's gist followed by the sentence of the passage that
// answers best, at most [AbstractChars] characters. The gist is told once per
// text; its further passages give their sentence only.
func (b *builder) abstract(it *Item, passage string) string {
	best := cmp.Or(prose.Best(passage, b.terms), passage)
	if it.Abstract == "" || b.told[it.ID] || strings.Contains(best, it.Abstract) {
		return prose.Clip(best, AbstractChars)
	}
	b.told[it.ID] = true
	if strings.Contains(it.Abstract, best) {
		return prose.Clip(it.Abstract, AbstractChars)
	}
	room := AbstractChars - len([]rune(best)) - 1
	if room < 80 {
		return prose.Clip(best, AbstractChars)
	}
	return prose.Clip(it.Abstract, room) + "\n" + best
}
