package keyword

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
)

func opener(opts Options, onDisk bool) func(*testing.T, string) index.KeywordIndex {
	return func(t *testing.T, dir string) index.KeywordIndex {
		t.Helper()
		if !onDisk {
			dir = ""
		}
		ix, err := Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		if r := ix.Recovered(); r != "" {
			t.Errorf("recovered: %s", r)
		}
		return ix
	}
}

func TestContract(t *testing.T) {
	t.Run("Memory", func(t *testing.T) { indextest.TestKeyword(t, opener(Options{}, false)) })
	t.Run("Disk", func(t *testing.T) { indextest.TestKeyword(t, opener(Options{}, true)) })
	t.Run("TinyFlushes", func(t *testing.T) { indextest.TestKeyword(t, opener(Options{FlushChunks: 4}, true)) })
	t.Run("Tidied", func(t *testing.T) {
		indextest.TestKeyword(t, opener(Options{FlushChunks: 4, tidyDelay: time.Millisecond}, true))
	})
	t.Run("TinyFlushesInMemory", func(t *testing.T) { indextest.TestKeyword(t, opener(Options{FlushChunks: 4}, false)) })
	t.Run("LongTexts", func(t *testing.T) {
		indextest.TestKeywordLong(t, 3, opener(Options{FlushChunks: 4, LongText: 3}, false))
	})
}

func TestItemsAreNotSplit(t *testing.T) {
	var chunks []index.TextChunk
	for i := range uint64(2500) {
		chunks = append(chunks, index.TextChunk{ID: i, Item: i / 700, Text: fmt.Sprint("word w", i%7)})
	}
	whole, parts := mustOpen(t, "", Options{}), mustOpen(t, t.TempDir(), Options{})
	for _, ix := range []*Index{whole, parts} {
		if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if d := cmp.Diff(search(t, whole, "word w3"), search(t, parts, "word w3")); d != "" {
			t.Error(d)
		}
		flush(t, parts)
	}
}

// Grams that a large part of a large collection has are ignored.
func TestCommonGrams(t *testing.T) {
	for _, n := range []uint64{commonChunks, commonChunks + 1} {
		ix := mustOpen(t, "", Options{})
		chunks := []index.TextChunk{{ID: n, Item: n, Text: "harbours"}}
		for id := range n - 1 {
			chunks = append(chunks, index.TextChunk{ID: id, Item: id, Text: "harbour"})
		}
		if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
			t.Fatal(err)
		}
		res := search(t, ix, "harbourmaster")
		if common := n > commonChunks; (len(res.Hits) == 0) != common {
			t.Errorf("of %d chunks with its grams, a word finds %d", n, len(res.Hits))
		}
		for _, h := range res.Hits {
			if h.Score > res.Max {
				t.Errorf("score %v above %v", h.Score, res.Max)
			}
		}
	}
}
