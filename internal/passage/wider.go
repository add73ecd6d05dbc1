package passage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// wider returns the passage with its neighbours, as far as an overview has room and no other
// passage shows them. Its text is empty if there is nothing to add.
func (b *builder) wider(ctx context.Context, r run, overview string) (ragctx.Form, error) {
	if len(r.more) > 0 || len(overview) >= r.item.Bytes {
		return ragctx.Form{}, nil
	}
	first, last := r.chunks[0], r.chunks[len(r.chunks)-1]
	around, err := b.src.Span(ctx, r.item.ID, first.Ordinal-neighbours, last.Ordinal+neighbours)
	if err != nil {
		return ragctx.Form{}, fmt.Errorf("read around %s: %w", r.item.Key, err)
	}
	from, to := b.grow(around, first, last)
	if from.ID == first.ID && to.ID == last.ID {
		return ragctx.Form{}, nil
	}
	around = slices.DeleteFunc(around, func(u Chunk) bool { return u.Ordinal < from.Ordinal || u.Ordinal > to.Ordinal })
	text, err := b.runText(ctx, run{item: r.item, chunks: around})
	if err != nil {
		return ragctx.Form{}, err
	}
	f := ragctx.Form{Text: text}
	if r.item.Type == ragctx.TypeResource {
		f.Lines = lines(from, to)
	}
	return f, nil
}

// lineRange returns the line range of a text that starts at line first.
func lineRange(text string, first int) string {
	lead := strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))], "\n")
	body := strings.Count(strings.TrimSpace(text), "\n")
	return fmt.Sprintf("%d-%d", first+lead, first+lead+body)
}

// neighbours is the number of chunks by which a passage grows on each side. A few chunks of 400
// characters make an overview.
const neighbours = 3

// grow adds chunks of the same section around first..last, following ones before preceding ones. It
// stops when the overview is full or the next chunk on both sides is taken.
func (b *builder) grow(around []Chunk, first, last Chunk) (from, to Chunk) {
	from, to = first, last
	step := func(ordinal int) (Chunk, bool) {
		i := slices.IndexFunc(around, func(u Chunk) bool { return u.Ordinal == ordinal })
		if i < 0 || b.taken[place{first.Item, ordinal}] {
			return Chunk{}, false
		}
		u := around[i]
		if !slices.Equal(u.Heading, first.Heading) && !slices.Equal(u.Heading, last.Heading) {
			return Chunk{}, false
		}
		if max(to.End.Rune, u.End.Rune)-min(from.Start.Rune, u.Start.Rune) > OverviewChars {
			return Chunk{}, false
		}
		b.taken[place{first.Item, ordinal}] = true
		return u, true
	}
	for after, before := true, true; after || before; {
		if after {
			var u Chunk
			if u, after = step(to.Ordinal + 1); after {
				to = u
			}
		}
		if before {
			var u Chunk
			if u, before = step(from.Ordinal - 1); before {
				from = u
			}
		}
	}
	return from, to
}

// section returns the byte range of the innermost section around the run, and whether that is the
// whole text.
func (b *builder) section(r run) (start, end int, whole bool) {
	from, to := r.chunks[0].Start.Byte, r.chunks[len(r.chunks)-1].End.Byte
	start, end = 0, r.item.Bytes
	for _, s := range r.item.outline() {
		if s.Start <= from && s.End >= to && s.End-s.Start < end-start {
			start, end = s.Start, s.End
		}
	}
	return start, end, end-start == r.item.Bytes
}

// mayShowWhole reports whether the item's whole text may fit the budget and repeats no other
// passage. It assumes at least one token per twelve bytes.
func (b *builder) mayShowWhole(it *Item) bool {
	return it.Bytes/12 <= b.query.MaxTokens && b.runs[it.ID] == 1
}

// abstract returns the summary of the item followed by the best sentence of its passage, at most
// [AbstractChars] characters. The summary is shown once per text; further passages show only their
// sentence.
func (b *builder) abstract(it *Item, best string) string {
	if it.Abstract == "" || b.abstracted[it.ID] || strings.Contains(best, it.Abstract) {
		return sentence.Clip(best, AbstractChars)
	}
	b.abstracted[it.ID] = true
	if strings.Contains(it.Abstract, best) {
		return sentence.Clip(it.Abstract, AbstractChars)
	}
	room := AbstractChars - len([]rune(best)) - 1
	if room < 80 {
		return sentence.Clip(best, AbstractChars)
	}
	return sentence.Clip(it.Abstract, room) + "\n" + best
}
