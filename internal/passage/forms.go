package passage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// content sets the item's content at the requested depth.
func (b *builder) content(ctx context.Context, r run, it *ragctx.ContextItem) (err error) {
	if b.query.Depth != ragctx.DepthFull {
		if it.Content, _, err = b.text(ctx, r); err == nil && b.query.Depth == ragctx.DepthAbstract {
			best := b.sentence(r.item, it.Content)
			it.Content = b.abstract(r.item, best)
			it.Forms.Shorter = decreasing(it.Content, []ragctx.Form{
				{Depth: ragctx.DepthAbstract, Text: sentence.Clip(best, AbstractChars)},
				{Depth: ragctx.DepthAbstract, Text: sentence.Clip(best, SentenceChars)},
			})
		}
		return err
	}
	start, end, _ := b.section(r)
	if it.Content, err = b.read(ctx, r.item, start, end); err != nil {
		return err
	}
	if r.item.Type == ragctx.TypeResource {
		hit := r.chunks[0].Start // gives the section's first line without reading the text before it
		it.Metadata["lines"] = lineRange(it.Content, hit.Line-strings.Count(it.Content[:hit.Byte-start], "\n"))
	}
	it.Content = strings.TrimSpace(it.Content)
	return nil
}

// forms sets the item's other forms, with the wider one if it may grow.
func (b *builder) forms(ctx context.Context, r run, it *ragctx.ContextItem, grows bool) (err error) {
	switch b.query.Depth {
	case ragctx.DepthAbstract:
		return nil
	case ragctx.DepthFull:
		overview, parts, err := b.text(ctx, r)
		if err != nil {
			return err
		}
		if _, _, whole := b.section(r); grows && !whole && b.mayShowWhole(r.item) {
			whole, err := b.read(ctx, r.item, 0, r.item.Bytes)
			if err != nil {
				return err
			}
			it.Forms.Wider = ragctx.Form{Text: whole, Lines: lineRange(whole, 1)}
		}
		it.Forms.Shorter, err = b.shorter(ctx, r, it.Content, overview, parts)
		return err
	default:
		if it.Forms.Shorter, err = b.shorter(ctx, r, it.Content, it.Content, []part{{r, it.Content}}); err != nil {
			return err
		}
		if grows {
			it.Forms.Wider, err = b.wider(ctx, r, it.Content)
		}
		return err
	}
}

// shorter returns the forms to which an item can be shortened, longest first: its passage, which has some parts, the
// best chunk, the abstract, the best sentence, and the beginning of that sentence.
func (b *builder) shorter(ctx context.Context, r run, content, passage string, parts []part) ([]ragctx.Form, error) {
	nearest := r.nearest()
	hit, err := b.runText(ctx, nearest)
	if err != nil {
		return nil, err
	}
	from, text := parts, passage // with the best sentence
	if len(parts) > 1 && b.query.Depth == ragctx.DepthFull {
		top := slices.IndexFunc(parts, func(p part) bool { return p.run.has(r.best) })
		from, text = parts[top:top+1], parts[top].text
	}
	best := b.sentence(r.item, text)
	forms := []ragctx.Form{
		{Depth: ragctx.DepthOverview, Text: passage},
		{Depth: ragctx.DepthOverview, Text: hit},
		{Depth: ragctx.DepthAbstract, Text: b.abstract(r.item, best)},
		{Depth: ragctx.DepthAbstract, Text: sentence.Clip(best, AbstractChars)},
		{Depth: ragctx.DepthAbstract, Text: sentence.Clip(best, SentenceChars)},
	}
	if r.item.Type == ragctx.TypeResource {
		for i := range forms {
			forms[i].Lines = linesOf(from)
		}
		forms[0].Lines, forms[1].Lines = linesOf(parts), linesOf([]part{{nearest, hit}})
	}
	return decreasing(content, forms), nil
}

// part is a run in a passage, with its text.
type part struct {
	run  run
	text string
}

// linesOf returns the lines from the first part to the last one.
func linesOf(parts []part) string {
	last := parts[len(parts)-1].run.chunks
	return lines(parts[0].run.chunks[0], last[len(last)-1])
}

// decreasing keeps the forms that are shorter than the one before.
func decreasing(content string, forms []ragctx.Form) []ragctx.Form {
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

// text returns the passage, at most [OverviewChars] characters, and its parts. Of runs that are too long together, it has
// the best ones.
func (b *builder) text(ctx context.Context, r run) (passage string, parts []part, err error) {
	if len(r.more) > 0 && r.item.Bytes <= OverviewChars && b.query.Depth != ragctx.DepthFull {
		passage, err = b.read(ctx, r.item, 0, r.item.Bytes)
		return passage, []part{{r, passage}}, err
	}
	runs := append([]run{r}, r.more...)
	byOrdinal := func(x, y run) int { return cmp.Compare(x.chunks[0].Ordinal, y.chunks[0].Ordinal) }
	behind := func(o run) int { // the first run of a text has the best hit of all
		if o.has(r.best) {
			return 0
		}
		return 1
	}
	slices.SortFunc(runs, func(x, y run) int {
		return cmp.Or(cmp.Compare(behind(x), behind(y)), cmp.Compare(y.best.Score, x.best.Score), byOrdinal(x, y))
	})
	room := OverviewChars
	for _, o := range runs {
		s, err := b.runText(ctx, o)
		if err != nil {
			return "", nil, err
		}
		if room -= len([]rune(s)) + len([]rune(Gap)); room < 0 && len(parts) > 0 {
			break
		}
		parts = append(parts, part{o, s})
	}
	slices.SortFunc(parts, func(x, y part) int { return byOrdinal(x.run, y.run) })
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.text
	}
	return sentence.Clip(strings.Join(texts, Gap), OverviewChars), parts, nil
}

func (b *builder) runText(ctx context.Context, r run) (string, error) {
	start := r.chunks[0].Start.Byte
	if s, ok := joinedText(r.chunks); ok {
		return b.markResumed(ctx, r.item, start, s)
	}
	s, err := b.read(ctx, r.item, start, r.chunks[len(r.chunks)-1].End.Byte)
	if err != nil {
		return "", err
	}
	return b.markResumed(ctx, r.item, start, s)
}

// resumption marks a text from the middle of a message that looks as if it began with a speaker.
const resumption = "… "

// markResumed returns the text of a memory from offset start, marked if necessary. In a transcript,
// the first line of each message begins with the speaker. A text from the middle of a message that
// looks the same is marked.
func (b *builder) markResumed(ctx context.Context, it *Item, start int, text string) (string, error) {
	if it.Type != ragctx.TypeMemory || start == 0 || !namesSpeaker(text) {
		return text, nil
	}
	before, err := b.read(ctx, it, start-1, start)
	if err != nil || before == "\n" {
		return text, err
	}
	return resumption + text, nil
}

// maxSpeaker is the maximum length of a line's beginning that can be a speaker, in bytes.
const maxSpeaker = 100

// namesSpeaker reports whether a text begins like a message in a transcript, like a date line or like a tag.
func namesSpeaker(text string) bool {
	line, _, _ := strings.Cut(text[:min(len(text), maxSpeaker)], "\n")
	line, _ = redact.Visible(line)
	return strings.IndexByte(line, ':') > 0 || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "<")
}

// sentence returns the sentence of a passage that answers best, in the form in which it is shown
// alone.
func (b *builder) sentence(it *Item, passage string) string {
	best := cmp.Or(sentence.Best(passage, b.terms), passage)
	atLineStart := strings.HasPrefix(passage, best) || strings.Contains(passage, "\n"+best)
	if it.Type != ragctx.TypeMemory || !namesSpeaker(best) || atLineStart {
		return best
	}
	return resumption + best
}

// joinedText returns the text of consecutive chunks. The part between two of them is known if it has as many bytes as line
// ends. Otherwise joinedText returns false.
func joinedText(chunks []Chunk) (string, bool) {
	if len(chunks) == 1 {
		return chunks[0].Text, true
	}
	var b strings.Builder
	last := chunks[0].Start
	for _, u := range chunks {
		gap := u.Start.Byte - last.Byte
		if gap != u.Start.Line-last.Line || gap < 0 || u.Start.Byte+len(u.Text) != u.End.Byte {
			return "", false
		}
		for range gap {
			b.WriteByte('\n')
		}
		b.WriteString(u.Text)
		last = u.End
	}
	return b.String(), true
}
