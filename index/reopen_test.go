package index_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/logtest"
)

// TestReopen opens an index again, which is no failure: it is at once behind, not failed, and nothing warns of it.
func TestReopen(t *testing.T) {
	for name, deferred := range map[string]bool{"at once": false, "deferred": true} {
		t.Run(name, func(t *testing.T) {
			var log logtest.Buffer
			var opened atomic.Int32
			words := newWords()
			h := newHarness(t, index.Options{
				Space: index.Space{Name: "s"}, Deferred: deferred, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Keyword: func(context.Context) (index.KeywordIndex, error) { opened.Add(1); return words, nil },
			})
			defer h.Close()
			apply(t, h, one(1, "apple", 1, 0))
			settle(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"})
			began := time.Now()
			h.hybrid.Reopen()
			for opened.Load() < 2 || h.health(t).Keyword.State != index.Ready || h.health(t).Vector.State != index.Ready {
				if v := h.health(t); v.Keyword.State == index.Failed || v.Vector.State == index.Failed {
					t.Fatalf("after %v the keyword index is %s, the vector index %s", time.Since(began), v.Keyword.State, v.Vector.State)
				}
				time.Sleep(time.Millisecond)
			}
			if log.String() != "" {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}

// TestReopenWhileFed opens an index again that a compaction is feeding. It is fed from the beginning.
func TestReopenWhileFed(t *testing.T) {
	first, kept := stoppedWords{newWords(), newStop()}, newWords()
	near := stoppedArrows{newArrows(), newStop()}
	var opened atomic.Int32
	h := newHarness(t, index.Options{
		Space: index.Space{Name: "s"}, Deferred: true,
		Keyword: func(context.Context) (index.KeywordIndex, error) {
			if opened.Add(1) == 1 {
				return first, nil
			}
			return kept, nil
		},
		Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return near, nil },
	})
	defer h.Close()
	apply(t, h, one(1, "apple", 1, 0))
	<-first.begun
	first.release <- struct{}{}
	<-near.begun // so the compaction feeds the words
	apply(t, h, one(2, "apple pie", 1, 0))
	compacted := make(chan error)
	go func() { compacted <- h.Compact(t.Context()) }()
	<-first.begun
	h.hybrid.Reopen()
	close(near.release)
	<-first.closed
	close(first.release)
	<-compacted // with an error if it noticed that
	r := settle(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"})
	if len(r.Hits) != 2 || h.health(t).Keyword.Chunks != 2 {
		t.Errorf("found %v, with %d chunks of words", ids(r), h.health(t).Keyword.Chunks)
	}
}

// stop has an index report that it is given a batch, and wait until it may take it.
type stop struct{ begun, release, closed chan struct{} }

func newStop() stop { return stop{make(chan struct{}, 9), make(chan struct{}), make(chan struct{})} }

func (s stop) wait() {
	s.begun <- struct{}{}
	<-s.release
}

type (
	stoppedWords struct {
		*words
		stop
	}
	stoppedArrows struct {
		*arrows
		stop
	}
)

func (s stoppedWords) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	s.wait()
	return s.words.Apply(ctx, seq, upserts, deletes)
}

func (s stoppedArrows) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
	s.wait()
	return s.arrows.Apply(ctx, seq, upserts, deletes)
}

func (s stoppedWords) Close() error {
	close(s.closed)
	return nil
}

// TestIndexThatIsAway has an index that cannot be opened four times. That is logged once.
func TestIndexThatIsAway(t *testing.T) {
	var log logtest.Buffer
	var opened, asked atomic.Int64
	h := newHarness(t, index.Options{
		Space: index.Space{Name: "s"}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Now: func() time.Time { return t0.Add(time.Duration(asked.Add(1)) * time.Hour) }, // no retry waits
		Keyword: func(context.Context) (index.KeywordIndex, error) {
			if opened.Add(1) < 5 {
				return nil, ragctx.ErrUnavailable
			}
			return newWords(), nil
		},
	})
	defer h.Close()
	settle(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"})
	if n := strings.Count(log.String(), "cannot be opened"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// TestPausedIndex has the server of an index hold each batch for a while, and take none. The first change waits for that, and later
// ones do not, also while they are tried again. They are found when the server takes them.
func TestPausedIndex(t *testing.T) {
	stuck := &stuckWords{words: newWords()}
	h := newHarness(t, index.Options{
		Space: index.Space{Name: "s"}, Keyword: func(context.Context) (index.KeywordIndex, error) { return stuck, nil },
	})
	defer h.Close()
	stuck.stuck.Store(true)
	apply(t, h, one(1, "apple", 1, 0))
	n := uint64(1)
	for end := time.Now().Add(time.Minute); stuck.held.Load() < 2; time.Sleep(held / 20) { // then it was opened again
		n++
		began := time.Now()
		apply(t, h, one(n, "apple", 1, 0))
		if took := time.Since(began); took > held/2 || began.After(end) {
			t.Fatalf("change %d took %v", n, took)
		}
	}
	stuck.stuck.Store(false)
	q := index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s", K: int(n)}
	if r := settle(t, h, q); len(r.Hits) != int(n) || h.health(t).Keyword.Chunks != int(n) {
		t.Errorf("%d of %d found", len(r.Hits), n)
	}
}

// held is how long [stuckWords] hold a batch.
const held = time.Second

// stuckWords hold each batch, and take none while they are stuck.
type stuckWords struct {
	*words

	stuck atomic.Bool
	held  atomic.Int32
}

func (s *stuckWords) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	if s.stuck.Load() {
		time.Sleep(held)
		s.held.Add(1)
		return ragctx.ErrUnavailable
	}
	return s.words.Apply(ctx, seq, upserts, deletes)
}

// TestCloseWhileOpening closes an index while its words are being opened, at first and again. It does not wait for them.
func TestCloseWhileOpening(t *testing.T) {
	for _, again := range []bool{false, true} {
		var opened atomic.Int32
		begun := make(chan struct{})
		o := index.Options{
			Feed: &history{}, Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return newArrows(), nil },
			Keyword: func(ctx context.Context) (index.KeywordIndex, error) {
				if opened.Add(1) == 1 && again {
					return newWords(), nil
				}
				close(begun)
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}
		ctx, end := context.WithCancel(t.Context())
		if !again {
			go func() { <-begun; end() }()
		}
		h, err := index.Open(ctx, o)
		end() // it lasts until it is closed
		if again != (err == nil) || !again && !errors.Is(err, context.Canceled) {
			t.Fatalf("again %v: %v", again, err)
		}
		if again {
			h.Reopen()
			<-begun
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestServerIsBack has an index fail again and again, so that it is not opened for a while. When its server answers again it is opened
// at once.
func TestServerIsBack(t *testing.T) {
	var opened, asked atomic.Int64
	back := make(chan struct{})
	h := newHarness(t, index.Options{
		Space: index.Space{Name: "s"},
		Now: func() time.Time { // no retry waits until the sixth
			if opened.Load() < 5 {
				asked.Add(1)
			}
			return t0.Add(time.Duration(asked.Load()) * time.Hour)
		},
		Back: func() <-chan struct{} {
			if opened.Load() > 5 {
				return nil
			}
			return back
		},
		Keyword: func(context.Context) (index.KeywordIndex, error) {
			if opened.Add(1) < 6 {
				return nil, ragctx.ErrUnavailable
			}
			return newWords(), nil
		},
	})
	defer h.Close()
	for opened.Load() < 5 {
		search(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"})
		time.Sleep(time.Millisecond)
	}
	close(back)
	settle(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"})
	if n := opened.Load(); n != 6 {
		t.Errorf("opened %d times", n)
	}
}

// TestStoreThatIsAway has a store fail twice when an index is fed. That is logged once.
func TestStoreThatIsAway(t *testing.T) {
	var log logtest.Buffer
	f := &awayFeed{}
	h := newHarness(t, index.Options{
		Feed: f, Space: index.Space{Name: "s"}, Deferred: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	defer h.Close()
	f.add(one(1, "apple", 1, 0))
	if err := h.CatchUp(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	settle(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"})
	if n := strings.Count(log.String(), "cannot be read"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// awayFeed fails twice to give texts.
type awayFeed struct {
	history

	failed atomic.Int32
}

func (f *awayFeed) Follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	if want.Texts && f.failed.Add(1) <= 2 {
		return index.Batch{}, errors.New("it cannot be read")
	}
	return f.history.Follow(ctx, after, want)
}
