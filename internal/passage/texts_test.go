package passage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// counted counts the bytes read from a shelf.
type counted struct {
	*shelf

	spans, reads, bytes int
}

func (c *counted) Span(ctx context.Context, item uint64, from, to int) ([]passage.Chunk, error) {
	c.spans++
	return c.shelf.Span(ctx, item, from, to)
}

func (c *counted) Text(ctx context.Context, item uint64, start, end int) (string, error) {
	c.reads++
	c.bytes += end - start
	return c.shelf.Text(ctx, item, start, end)
}

// put adds a text with a hit in its first chunk.
func (c *counted) put(it passage.Item, text string) {
	it.Bytes = len(text)
	if c.texts == nil {
		c.texts, c.items = make(map[uint64]string), make(map[uint64]*passage.Item)
	}
	c.texts[it.ID], c.items[it.ID] = text, &it
	c.chunks = append(c.chunks, passage.Chunk{ID: it.ID, Item: it.ID, Text: text[:100], End: chunk.Pos{Byte: 100, Rune: 100}})
}

func (c *counted) assemble(t *testing.T, q ragctx.ContextQuery, hits []index.Hit) passage.Assembled {
	t.Helper()
	a, err := passage.Assemble(t.Context(), c, passage.Request{Query: q.WithDefaults(), Search: index.Query{Now: now}, Hits: hits})
	if err == nil {
		err = a.Complete(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// numbered returns about n bytes without equal lines.
func numbered(word string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s %d\n", word, i)
	}
	return b.String()
}

// TestReadingIsBounded: if all passages of all texts match, each text is read about once.
func TestReadingIsBounded(t *testing.T) {
	const size = 60_000
	for name, text := range map[string]string{
		"one word over and over": strings.Repeat("storm ", size/6),
		"all passages differ":    numbered("storm", size),
	} {
		for _, depth := range []ragctx.ContextDepth{ragctx.DepthAbstract, ragctx.DepthOverview, ragctx.DepthFull} {
			t.Run(fmt.Sprintf("%s, %s", name, depth), func(t *testing.T) {
				c := counted{shelf: new(shelf)}
				var hits []index.Hit
				for d := range uint64(3) {
					for i, id := range c.add(doc(d+1, fmt.Sprint(d)), text) {
						if i%40 < 39 { // not all of it touches
							hits = append(hits, hit(id, .5))
						}
					}
				}
				q := ragctx.NewQuery("storm")
				q.Depth = depth
				a := c.assemble(t, q, hits)
				if len(a.Items) == 0 {
					t.Fatal("no items")
				}
				if c.bytes > 3*(size+20_000) || c.reads > 3+2*q.MaxResults || c.spans > q.MaxResults {
					t.Errorf("%d bytes in %d reads, %d spans", c.bytes, c.reads, c.spans)
				}
			})
		}
	}
}

// TestReadingEnds: assembly stops when one answer would read too many whole texts, and reports More.
func TestReadingEnds(t *testing.T) {
	c := counted{shelf: new(shelf)}
	var hits []index.Hit
	for d := range uint64(12) {
		text := fmt.Sprint(d) + strings.Repeat(" storm and rain", 300_000)
		it := doc(d+1, fmt.Sprint(d))
		c.put(it, text)
		hits = append(hits, hit(d+1, .5))
	}
	q := ragctx.NewQuery("storm")
	q.Depth, q.MaxResults = ragctx.DepthFull, 12
	a := c.assemble(t, q, hits)
	if !a.More || !a.Spent || len(a.Items) == 0 || c.bytes > 40<<20 {
		t.Errorf("%d items, more: %v, spent: %v, %d bytes", len(a.Items), a.More, a.Spent, c.bytes)
	}
}
