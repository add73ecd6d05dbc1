package passage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// builder fills in the texts of items.
type builder struct {
	src   Source
	query ragctx.ContextQuery
	terms []string
	// taken holds the chunks that an item shows or may grow by; runs counts the passages of each
	// text. They prevent an answer from showing a text twice.
	taken map[place]bool
	runs  map[uint64]int
	// abstracted holds the items with an abstract already shown.
	abstracted map[uint64]bool
	texts      texts
}

// place is the position of a chunk in its item.
type place struct {
	item    uint64
	ordinal int
}

func newBuilder(src Source, req Request, runs []run) *builder {
	b := &builder{
		src: src, query: req.Query, terms: slices.Concat(analysis.Query(wording(req)), req.Terms),
		taken: make(map[place]bool), runs: make(map[uint64]int), abstracted: make(map[uint64]bool),
		texts: texts{whole: make(map[uint64]string)},
	}
	for _, r := range runs {
		b.runs[r.item.ID]++
		for _, u := range r.chunks {
			b.taken[place{u.Item, u.Ordinal}] = true
		}
	}
	return b
}

// base returns the item of a run without its texts.
func (b *builder) base(r run) ragctx.ContextItem {
	it := ragctx.ContextItem{
		ID: r.item.Key, Type: r.item.Type, Source: r.item.Source,
		Depth:    b.query.Depth,
		Occurred: r.item.Occurred, Importance: r.item.Importance, Metadata: maps.Clone(r.item.Values),
	}.WithRelevance(r.best.Relevance)
	if it.Metadata == nil {
		it.Metadata = make(map[string]any)
	}
	if it.Type == ragctx.TypeResource {
		it.ID = ItemID(r.item.Key, r.item.Version, r.best.Ordinal)
		it.Metadata["document"] = r.item.Key
		it.Metadata["lines"] = lines(r.chunks[0], r.chunks[len(r.chunks)-1])
		headings := slices.DeleteFunc(slices.Clone(r.chunks[0].Heading), func(s string) bool { return s == "" })
		if len(headings) > 0 {
			it.Metadata["heading"] = strings.Join(headings, " > ")
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

// withoutPages replaces form feeds, which mark the ends of pages, by newlines: XML cannot contain
// them.
func withoutPages(it *ragctx.ContextItem) {
	texts := []*string{&it.Content, &it.Forms.Wider.Text}
	for i := range it.Forms.Shorter {
		texts = append(texts, &it.Forms.Shorter[i].Text)
	}
	for _, t := range texts {
		*t = strings.ReplaceAll(*t, "\f", "\n")
	}
}

// page returns the page of the best chunk, which the item's id cites, or 0.
func (r *run) page() int {
	for _, u := range r.chunks {
		if u.Ordinal == r.best.Ordinal {
			return u.Page
		}
	}
	return r.chunks[0].Page
}

// lines returns the line range from the first chunk to the last.
func lines(first, last Chunk) string { return fmt.Sprintf("%d-%d", first.Start.Line, last.End.Line) }
