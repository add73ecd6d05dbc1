package passage

import (
	"context"
	"fmt"
)

// Limits of the texts that one answer reads.
const (
	maxRead   = 16 << 20 // bytes after which no further item is started, for contents and for other forms each
	readCost  = 4 << 10  // minimum cost of a read in bytes
	manyRuns  = 4        // passages of a text from which it is read once as a whole,
	wholeText = 1 << 20  // if it is no longer than this in bytes
)

// texts tracks the texts that one answer has read. Without a limit, the authors of the texts would
// control how much is read for a query.
type texts struct {
	bytes int
	whole map[uint64]string // by item id
}

// spent reports whether the read limit is reached.
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
