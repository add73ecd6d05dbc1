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

func lexicalCursor(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.seq = 40
	l.put(1, "one") // 41
	if c := l.leg.Cursor(); c > 41 {
		t.Errorf("Cursor = %d after 41", c)
	}
	l.flush()
	if c := l.leg.Cursor(); c != 41 {
		t.Errorf("Cursor = %d after Flush, want 41", c)
	}
	l.apply(nil) // nothing for this leg, but the cursor must pass
	l.apply(nil, 12345)
	l.flush()
	if c := l.leg.Cursor(); c != 43 {
		t.Errorf("Cursor = %d after empty batches and Flush, want 43", c)
	}
	l.flush()
	if c := l.leg.Cursor(); c != 43 {
		t.Errorf("Cursor = %d after Flush of nothing, want 43", c)
	}
}

// A caller that follows the cursor ends up with everything, whatever the leg kept.
func lexicalReopen(t *testing.T, open OpenLexical) {
	dir := t.TempDir()
	type change struct {
		put []index.TextUnit
		del []uint64
	}
	var log []change // change i has seq i+1
	for i := range uint64(30) {
		c := change{put: []index.TextUnit{{ID: i % 11, Text: fmt.Sprintf("common word%d", i)}}}
		if i%5 == 4 {
			c.del = []uint64{(i + 3) % 11}
		}
		log = append(log, c)
	}
	model := newLexicalModel()
	for stop := 5; stop <= len(log); stop += 5 {
		leg := open(t, dir)
		l := &lex{t: t, leg: leg}
		from := leg.Cursor()
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
		model.compare(l, "common word3 word17 word22 word28")
		if err := leg.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
}

func lexicalStats(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.apply([]index.TextUnit{{ID: 1, Text: "a b"}, {ID: 2, Text: "c"}, {ID: 3, Text: "d"}})
	l.apply([]index.TextUnit{{ID: 1, Text: "b"}}, 3)
	st := l.leg.Stats()
	if st.Units != 2 || st.Pending < 0 || st.Pending > 2 || st.Kind == "" || st.Bytes < 0 {
		t.Errorf("before Flush: %+v, want 2 units", st)
	}
	l.flush()
	if st = l.leg.Stats(); st.Units != 2 || st.Pending != 0 {
		t.Errorf("after Flush: %+v, want 2 units, none pending", st)
	}
	l.apply(nil, 1, 2)
	l.flush()
	if st = l.leg.Stats(); st.Units != 0 || st.Pending != 0 {
		t.Errorf("after deletes: %+v, want none", st)
	}
}

func lexicalCancelled(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.put(1, "kept")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.leg.Apply(ctx, 2, []index.TextUnit{{ID: 2, Text: "kept"}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply: %v, want context.Canceled", err)
	}
	if _, err := l.leg.Search(ctx, index.LexicalQuery{Text: "kept", K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v, want context.Canceled", err)
	}
	if err := l.leg.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush: %v, want context.Canceled", err)
	}
	l.both(func() { l.want("kept", 1) })
}

func lexicalClosed(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.put(1, "text")
	l.flush()
	if err := l.leg.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	ctx := t.Context()
	_, searchErr := l.leg.Search(ctx, index.LexicalQuery{Text: "text", K: 1})
	_, holdingErr := l.leg.Holding(ctx, []string{"text"})
	_, wordsErr := l.leg.Words(ctx, analysis.Pattern{Text: "text"}, 1)
	for name, err := range map[string]error{
		"Words":   wordsErr,
		"Apply":   l.leg.Apply(ctx, 2, []index.TextUnit{{ID: 2}}, nil),
		"Search":  searchErr,
		"Holding": holdingErr,
		"Flush":   l.leg.Flush(ctx),
		"Compact": l.leg.Compact(ctx),
		"Close":   l.leg.Close(),
	} {
		if !errors.Is(err, index.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
	if c, st := l.leg.Cursor(), l.leg.Stats(); c != 0 || st != (index.LegStats{}) {
		t.Errorf("after Close: Cursor %d, Stats %+v, want zero", c, st)
	}
}

// beside runs searches in the background until the returned function is called.
func (l *lex) beside(check func(res index.LexicalResult), q index.LexicalQuery) (stop func()) {
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
				res, err := l.leg.Search(context.Background(), q)
				if err != nil {
					l.t.Errorf("Search: %v", err)
					return
				}
				check(res)
				_ = l.leg.Stats()
				_ = l.leg.Cursor()
			}
		})
	}
	return func() { close(done); wg.Wait() }
}

func lexicalConcurrent(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	stop := l.beside(func(res index.LexicalResult) {
		for _, h := range res.Hits {
			if h.ID%2 == 0 || !(h.Score > 0 && h.Score <= res.Max) {
				t.Errorf("hit %+v, Max %v", h, res.Max)
			}
		}
	}, index.LexicalQuery{Text: "moving text", K: 20, Accept: func(id uint64) bool { return id%2 == 1 }})
	for i := range uint64(120) {
		l.apply([]index.TextUnit{{ID: i, Text: fmt.Sprint("moving text ", i)}, {ID: i / 2, Text: "moving"}}, i/3)
		if i%25 == 24 {
			l.flush()
		}
	}
	stop()
}

// A search sees a batch as a whole or not at all.
func lexicalConcurrentViews(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	batch := func(from uint64, word string) (units []index.TextUnit) {
		for id := from; id < from+10; id++ {
			units = append(units, index.TextUnit{ID: id, Text: "shared " + word})
		}
		return units
	}
	l.apply(batch(0, "start"))
	stop := l.beside(func(res index.LexicalResult) {
		ids := make([]uint64, len(res.Hits))
		for i, h := range res.Hits {
			ids[i] = h.ID / 10
		}
		if len(ids) != 10 || slices.Min(ids) != slices.Max(ids) {
			t.Errorf("a search saw %d units, of batches %v", len(ids), ids)
		}
	}, index.LexicalQuery{Text: "shared", K: 100})
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
