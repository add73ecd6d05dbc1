package indextest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

func keywordCursor(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.seq = 40
	l.put(1, "one") // 41
	if c := l.ix.Cursor(); c > 41 {
		t.Errorf("Cursor = %d after 41", c)
	}
	l.flush()
	if c := l.ix.Cursor(); c != 41 {
		t.Errorf("Cursor = %d after Flush, want 41", c)
	}
	l.apply(nil) // empty, but the cursor must advance
	l.apply(nil, 12345)
	l.flush()
	if c := l.ix.Cursor(); c != 43 {
		t.Errorf("Cursor = %d after empty batches and Flush, want 43", c)
	}
	l.flush()
	if c := l.ix.Cursor(); c != 43 {
		t.Errorf("Cursor = %d after Flush of nothing, want 43", c)
	}
}

// A caller that follows the cursor ends up with everything, whatever the index has persisted.
func keywordReopen(t *testing.T, open OpenKeyword, compare compareKeyword) {
	dir := t.TempDir()
	type change struct {
		put []index.TextChunk
		del []uint64
	}
	var log []change // change i has seq i+1
	for i := range uint64(30) {
		c := change{put: []index.TextChunk{{ID: i % 11, Text: fmt.Sprintf("common word%d", i)}}}
		if i%5 == 4 {
			c.del = []uint64{(i + 3) % 11}
		}
		log = append(log, c)
	}
	model := newKeywordModel()
	for stop := 5; stop <= len(log); stop += 5 {
		ix := open(t, dir)
		l := &keywordIndex{t: t, ix: ix}
		from := ix.Cursor()
		if from > uint64(stop-5) {
			t.Fatalf("Cursor = %d, but only %d were applied", from, stop-5)
		}
		for i, c := range log[from:stop] {
			l.seq = from + uint64(i)
			l.apply(c.put, c.del...)
			if i%4 == 3 {
				l.flush()
			}
		}
		for _, c := range log[stop-5 : stop] {
			model.apply(c.put, c.del)
		}
		compare(model, l, "common word3 word17 word22 word28")
		if err := ix.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
}

func keywordStats(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{{ID: 1, Text: "a b"}, {ID: 2, Text: "c"}, {ID: 3, Text: "d"}})
	l.apply([]index.TextChunk{{ID: 1, Text: "b"}}, 3)
	st := l.ix.Stats()
	if st.Chunks != 2 || st.Pending < 0 || st.Pending > 2 || st.Kind == "" || st.Bytes < 0 {
		t.Errorf("before Flush: %+v, want 2 chunks", st)
	}
	l.flush()
	if st = l.ix.Stats(); st.Chunks != 2 || st.Pending != 0 {
		t.Errorf("after Flush: %+v, want 2 chunks, none pending", st)
	}
	l.apply(nil, 1, 2)
	l.flush()
	if st = l.ix.Stats(); st.Chunks != 0 || st.Pending != 0 {
		t.Errorf("after deletes: %+v, want none", st)
	}
}

func keywordCancelled(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "kept")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.ix.Apply(ctx, 2, []index.TextChunk{{ID: 2, Text: "kept"}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply: %v, want context.Canceled", err)
	}
	if _, err := l.ix.Search(ctx, index.KeywordQuery{Text: "kept", K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v, want context.Canceled", err)
	}
	if err := l.ix.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush: %v, want context.Canceled", err)
	}
	l.both(func() { l.want("kept", 1) })
}

func keywordClosed(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "text")
	l.flush()
	if err := l.ix.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	ctx := t.Context()
	_, searchErr := l.ix.Search(ctx, index.KeywordQuery{Text: "text", K: 1})
	_, holdingErr := l.ix.Holding(ctx, []string{"text"})
	_, wordsErr := l.ix.Words(ctx, analysis.Pattern{Text: "text"}, 1)
	for name, err := range map[string]error{
		"Words":   wordsErr,
		"Apply":   l.ix.Apply(ctx, 2, []index.TextChunk{{ID: 2}}, nil),
		"Search":  searchErr,
		"Holding": holdingErr,
		"Flush":   l.ix.Flush(ctx),
		"Compact": l.ix.Compact(ctx),
		"Close":   l.ix.Close(),
	} {
		if !errors.Is(err, index.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
	if c, st := l.ix.Cursor(), l.ix.Stats(); c != 0 || st != (index.PartStats{}) {
		t.Errorf("after Close: Cursor %d, Stats %+v, want zero", c, st)
	}
}

// concurrently runs searches in the background until the returned function is called.
func (l *keywordIndex) concurrently(check func(res index.KeywordResult), q index.KeywordQuery) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				res, err := l.ix.Search(context.Background(), q)
				if err != nil {
					l.t.Errorf("Search: %v", err)
					return
				}
				check(res)
				_ = l.ix.Stats()
				_ = l.ix.Cursor()
			}
		})
	}
	return func() { close(done); wg.Wait() }
}

func keywordConcurrent(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	stop := l.concurrently(func(res index.KeywordResult) {
		for _, h := range res.Hits {
			if h.ID%2 == 0 || !(h.Score > 0 && h.Score <= res.Max) {
				t.Errorf("hit %+v, Max %v", h, res.Max)
			}
		}
	}, index.KeywordQuery{Text: "moving text", K: 20, Accept: func(id uint64) bool { return id%2 == 1 }})
	for i := range uint64(120) {
		l.apply([]index.TextChunk{{ID: i, Text: fmt.Sprint("moving text ", i)}, {ID: i / 2, Text: "moving"}}, i/3)
		if i%25 == 24 {
			l.flush()
		}
	}
	stop()
}

// A search sees a batch as a whole or not at all.
func keywordConcurrentViews(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	batch := func(from uint64, word string) (chunks []index.TextChunk) {
		for id := from; id < from+10; id++ {
			chunks = append(chunks, index.TextChunk{ID: id, Text: "shared " + word})
		}
		return chunks
	}
	l.apply(batch(0, "start"))
	stop := l.concurrently(func(res index.KeywordResult) {
		ids := make([]uint64, len(res.Hits))
		for i, h := range res.Hits {
			ids[i] = h.ID / 10
		}
		if len(ids) != 10 || slices.Min(ids) != slices.Max(ids) {
			t.Errorf("a search saw %d chunks, of batches %v", len(ids), ids)
		}
	}, index.KeywordQuery{Text: "shared", K: 100})
	for i := uint64(1); i <= 40; i++ {
		var gone []uint64
		for id := (i - 1) * 10; id < i*10; id++ {
			gone = append(gone, id)
		}
		l.apply(batch(i*10, fmt.Sprint("word", i)), gone...)
		if i%7 == 0 {
			l.flush()
		}
	}
	stop()
}
