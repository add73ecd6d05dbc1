package index

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// State is the state of a keyword or vector index.
type State string

// The states of an index.
const (
	// Ready: all contents of the store can be found.
	Ready State = "ready"
	// Behind: the index is being fed missing changes; the others can be found.
	Behind State = "behind"
	// Failed: the index was set aside and cannot be opened; opening is retried.
	Failed State = "failed"
)

// part has the common methods of keyword and vector indexes.
type part interface {
	fileIndex
	Cursor() uint64
	Stats() PartStats
	Close() error
}

// slot holds an index, or is empty while it has failed.
type slot[L part] struct {
	// open may take until the context ends.
	open func(context.Context) (L, error)
	// feed applies a batch to an index. The index has all changes up to at before, and up to seq
	// afterwards.
	feed func(ctx context.Context, l L, at, seq uint64, b *Batch) error

	feeding sync.Mutex // held while the index is opened, or fed outside a batch; locked before Hybrid.write

	part      atomic.Pointer[L]
	complete  atomic.Bool   // it has everything that the catalog has
	suspected atomic.Bool   // a search failed in a way that reopening may fix
	outdated  atomic.Bool   // it is to be reopened without a failure
	paused    atomic.Bool   // its server did not take a batch: batches do not wait for it until it takes one in the background
	at        atomic.Uint64 // it has everything up to this change; set under Hybrid.write
	failures  atomic.Int64  // consecutive; set under Hybrid.write

	// Whether it was logged that it cannot be opened since it was last open, and that it cannot be fed. Only maintenance uses these.
	logged, loggedUnfed bool

	// Guarded by Hybrid.write.
	retry  time.Time // not before this time
	closed bool      // permanently
}

// current returns the index, or false if the slot is empty.
func (s *slot[L]) current() (l L, ok bool) {
	if p := s.part.Load(); p != nil {
		return *p, true
	}
	return l, false
}

// serving returns the index, and whether it has everything that the catalog has, so that a search
// that begins now is complete. complete must be read before the search: afterwards the index may
// have been fed the rest. A reopened index starts incomplete, so the order of the two loads
// matters.
func (s *slot[L]) serving() (l L, complete, ok bool) {
	l, ok = s.current()
	return l, ok && s.complete.Load(), ok
}

// ensure opens the index if the slot is empty and a try is due. If that fails, the slot stays empty until the next try. Batches
// do not wait for it.
func ensure[L part](h *Hybrid, s *slot[L]) error {
	s.feeding.Lock()
	defer s.feeding.Unlock()
	h.write.Lock()
	defer h.write.Unlock()
	now := h.opts.Now()
	if s.closed {
		return ErrClosed
	}
	if _, ok := s.current(); ok || s.retryIn(now) > 0 {
		return nil
	}
	newest := h.applied.Load() // an index that has later changes was fed by a store that has lost them
	h.write.Unlock()
	l, err := s.open(h.shadows.life)
	h.write.Lock()
	if err != nil {
		s.failed(now)
		return err
	}
	if s.closed {
		return errors.Join(ErrClosed, l.Close())
	}
	s.at.Store(min(l.Cursor(), newest))
	s.suspected.Store(false)
	s.part.Store(&l)
	return nil
}

// failed sets when the index may be reopened after a failure: later after each one. The caller holds Hybrid.write.
func (s *slot[L]) failed(now time.Time) {
	n := s.failures.Add(1)
	s.retry = now.Add(min(time.Second<<min(n-1, 6), time.Minute))
}

// retryNow makes a failed index be reopened at once. The caller holds Hybrid.write.
func (s *slot[L]) retryNow() {
	s.retry = time.Time{}
	s.failures.Store(min(s.failures.Load(), 1)) // another failure begins a new series
}

// retryIn returns the time until the index may be reopened, 0 for now.
func (s *slot[L]) retryIn(now time.Time) time.Duration { return max(0, s.retry.Sub(now)) }

// suspend closes the index after a failure. It will be reopened after a while.
func (s *slot[L]) suspend(now time.Time) error {
	s.failed(now)
	return s.vacate()
}

// vacate closes the index, which will be reopened and fed the changes it lost. Running searches
// end, possibly with an error. The caller holds Hybrid.write.
func (s *slot[L]) vacate() error {
	s.complete.Store(false)
	p := s.part.Swap(nil)
	if p == nil {
		return nil
	}
	return (*p).Close()
}

// apply applies a batch that directly follows the last change. An incomplete index finds its chunks
// at once, unless it is paused, but its cursor must not pass changes that it lacks.
func (s *slot[L]) apply(ctx context.Context, b *Batch) error {
	l, ok := s.current()
	if !ok || s.paused.Load() || b.Seq <= s.at.Load() {
		return nil
	}
	seq := b.Seq
	if !s.complete.Load() {
		seq = s.at.Load()
	}
	if err := s.feed(ctx, l, s.at.Load(), seq, b); err != nil {
		return err
	}
	s.at.Store(seq)
	return nil
}

// suspect records a failed search, unless the error is not the index's fault.
func (s *slot[L]) suspect(err error) bool {
	if errors.Is(err, ErrClosed) || errors.Is(err, ragctx.ErrInvalid) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	s.suspected.Store(true)
	return true
}

// state returns the state of the index. One that was not opened yet is behind.
func (s *slot[L]) state() State {
	switch _, ok := s.current(); {
	case !ok && s.failures.Load() > 0:
		return Failed
	case !ok || !s.complete.Load():
		return Behind
	}
	return Ready
}

// stats returns the statistics of the index.
func (s *slot[L]) stats() PartStats {
	var st PartStats
	if l, ok := s.current(); ok {
		st = l.Stats()
	}
	st.State, st.At = s.state(), s.at.Load()
	return st
}

// close closes the index permanently. The caller holds Hybrid.write.
func (s *slot[L]) close() error {
	s.closed = true
	if p := s.part.Swap(nil); p != nil {
		return (*p).Close()
	}
	return nil
}

// feedTexts applies a batch to a keyword index. It drops the texts from the batch, as those of a
// long document should not stay in memory.
func feedTexts(ctx context.Context, l KeywordIndex, _, seq uint64, b *Batch) error {
	chunks := make([]TextChunk, 0, len(b.Add))
	for i := range b.Add {
		e := &b.Add[i]
		chunks = append(chunks, TextChunk{ID: e.ID, Item: e.Item.ID, Title: e.Title, Text: e.Text, Extra: dated(e.Item)})
		e.Title, e.Text = "", ""
	}
	return l.Apply(ctx, seq, chunks, b.removedChunks())
}

// vectorBatch is how many chunks get their vectors at a time if a batch leaves them out.
const vectorBatch = 2000

// feedVectors applies a batch to a vector index.
func feedVectors(ctx context.Context, d VectorIndex, at, seq uint64, b *Batch) error {
	var chunks []VectorChunk
	for _, list := range [][]Chunk{b.Add, b.Revised} {
		if b.Vectors == nil {
			chunks = withVectors(list, chunks)
			continue
		}
		for some := range slices.Chunk(list, vectorBatch) {
			some = slices.Clone(some) // the batch itself stays without vectors
			if err := b.Vectors(ctx, some); err != nil {
				return err
			}
			if err := d.Apply(ctx, at, withVectors(some, nil), nil); err != nil {
				return err
			}
		}
	}
	return d.Apply(ctx, seq, chunks, b.removedChunks())
}

// withVectors appends the chunks of a list that have a vector.
func withVectors(list []Chunk, to []VectorChunk) []VectorChunk {
	for i := range list {
		if e := &list[i]; e.Vector != nil {
			to = append(to, VectorChunk{ID: e.ID, Vector: e.Vector})
		}
	}
	return to
}
