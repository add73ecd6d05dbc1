package passage

import (
	"context"
	"fmt"
)

// Bounds of what one answer reads of texts.
const (
	maxRead   = 32 << 20 // bytes, after which no further item is begun
	readCost  = 4 << 10  // that any read counts as, however short
	manyRuns  = 4        // passages of a text from which on it is read once, whole,
	wholeText = 1 << 20  // if it has at most so many bytes
)

// texts are what one answer has read: whoever writes the texts decides how much there is
// to read for a question, unless it is bounded.
type texts struct {
	bytes int
	whole map[uint64]string // by item
}

// spent reports whether the answer has read as much as it may.
func (b *builder) spent() bool { return b.texts.bytes >= maxRead }

// read returns bytes start..end of an item's text.
func (b *builder) read(ctx context.Context, it *Item, start, end int) (string, error) {
	if b.runs[it.ID] < manyRuns || it.Bytes > wholeText {
		return b.load(ctx, it, start, end)
	}
	text, ok := b.texts.whole[it.ID]
	if !ok {
		var err error
		if text, err = b.load(ctx, it, 0, it.Bytes); err != nil {
			return "", err
		}
		b.texts.whole[it.ID] = text
	}
	end = min(end, len(text))
	return text[min(start, end):end], nil
}

func (b *builder) load(ctx context.Context, it *Item, start, end int) (string, error) {
	b.texts.bytes += max(readCost, end-start)
	text, err := b.src.Text(ctx, it.ID, start, end)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", it.Key, err)
	}
	return text, nil
}
