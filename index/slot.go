package index

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// State says how a leg is doing.
type State string

// The states of a leg.
const (
	// Ready: everything that the store has can be found.
	Ready State = "ready"
	// Behind: the leg is being fed what it lacks, and finds the rest meanwhile.
	Behind State = "behind"
	// Failed: the leg was set aside and cannot be opened; that is tried again.
	Failed State = "failed"
)

// leg is what both kinds of legs have in common.
type leg interface {
	comparable
	durableLeg
	Cursor() uint64
	Stats() LegStats
	Close() error
}

// slot holds a leg, or the place of one that failed.
type slot[L leg] struct {
	open func() (L, error)
	// give hands a leg what is of interest to it. It has everything up to the change at, and
	// up to seq with that.
	give func(ctx context.Context, l L, at, seq uint64, b *Batch) error

	leg   atomic.Pointer[L]
	level atomic.Bool   // it has everything that the catalog has
	ill   atomic.Bool   // a search failed in a way that reopening may heal
	at    atomic.Uint64 // it has everything up to this change; set under Hybrid.write

	// These are guarded by Hybrid.write.
	failures int       // in a row
	retry    time.Time // not before
	closed   bool      // for good
}

// current returns the leg, and false if there is none.
func (s *slot[L]) current() (l L, ok bool) {
	if p := s.leg.Load(); p != nil {
		return *p, true
	}
	return l, false
}

// serving returns the leg, and whether it has everything that the catalog has, so
// that a search that begins now is complete. After the search level would not say
// so: the leg may have been given the rest meanwhile. What is opened in the place
// of a leg is not level, so the order of the two matters.
func (s *slot[L]) serving() (l L, whole, ok bool) {
	l, ok = s.current()
	return l, ok && s.level.Load(), ok
}

// ensure opens the leg if there is none. Where that fails the slot stays empty
// until the next try. The caller holds Hybrid.write.
func (s *slot[L]) ensure(now time.Time) error {
	if s.closed {
		return ErrClosed
	}
	if _, ok := s.current(); ok {
		return nil
	}
	l, err := s.open()
	if err != nil {
		s.failures++
		s.retry = now.Add(min(time.Second<<min(s.failures-1, 6), time.Minute))
		return err
	}
	s.at.Store(l.Cursor())
	s.ill.Store(false)
	s.leg.Store(&l)
	return nil
}

// due is how long it is until the leg may be opened again, 0 for now.
func (s *slot[L]) due(now time.Time) time.Duration { return max(0, s.retry.Sub(now)) }

// stop closes the leg, which will be opened again and fed what it lost. Searches
// that use it end, with an error at worst.
func (s *slot[L]) stop(now time.Time) error {
	s.level.Store(false)
	s.failures++
	s.retry = now.Add(min(time.Second<<min(s.failures-1, 6), time.Minute))
	p := s.leg.Swap(nil)
	if p == nil {
		return nil
	}
	return (*p).Close()
}

// take gives the leg a batch that follows the change before. A leg that is
// behind finds it at once, but its cursor must not pass what it has not got.
func (s *slot[L]) take(ctx context.Context, b *Batch) error {
	l, ok := s.current()
	if !ok || b.Seq <= s.at.Load() {
		return nil
	}
	seq := b.Seq
	if !s.level.Load() {
		seq = s.at.Load()
	}
	if err := s.give(ctx, l, s.at.Load(), seq, b); err != nil {
		return err
	}
	s.at.Store(seq)
	return nil
}

// suspect notes a failed search, unless the leg is not to blame.
func (s *slot[L]) suspect(err error) bool {
	if errors.Is(err, ErrClosed) || errors.Is(err, ragctx.ErrInvalid) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	s.ill.Store(true)
	return true
}

// state describes the slot.
func (s *slot[L]) state() State {
	switch _, ok := s.current(); {
	case !ok:
		return Failed
	case !s.level.Load():
		return Behind
	}
	return Ready
}

// stats describes the leg.
func (s *slot[L]) stats() LegStats {
	var st LegStats
	if l, ok := s.current(); ok {
		st = l.Stats()
	}
	st.State, st.At = s.state(), s.at.Load()
	return st
}

// close closes the leg for good. The caller holds Hybrid.write.
func (s *slot[L]) close() error {
	s.closed = true
	if p := s.leg.Swap(nil); p != nil {
		return (*p).Close()
	}
	return nil
}

// giveTexts hands a batch to a lexical leg, and the texts with it: those of a long document
// are not kept once the leg has no use of them.
func giveTexts(ctx context.Context, l Lexical, _, seq uint64, b *Batch) error {
	units := make([]TextUnit, 0, len(b.Add))
	for i := range b.Add {
		e := &b.Add[i]
		units = append(units, TextUnit{ID: e.ID, Parent: e.Parent.ID, Title: e.Title, Text: e.Text, Extra: dated(e.Parent)})
		e.Title, e.Text = "", ""
	}
	return l.Apply(ctx, seq, units, b.removedUnits())
}

// vectorsAtOnce is how many units get their vectors at a time where a batch leaves them out.
const vectorsAtOnce = 2000

// giveVectors hands a batch to a dense leg.
func giveVectors(ctx context.Context, d Dense, at, seq uint64, b *Batch) error {
	var units []VectorUnit
	for _, list := range [][]Entry{b.Add, b.Revised} {
		if b.Vectors == nil {
			units = withVectors(list, units)
			continue
		}
		for some := range slices.Chunk(list, vectorsAtOnce) {
			some = slices.Clone(some) // the batch stays without
			if err := b.Vectors(ctx, some); err != nil {
				return err
			}
			if err := d.Apply(ctx, at, withVectors(some, nil), nil); err != nil {
				return err
			}
		}
	}
	return d.Apply(ctx, seq, units, b.removedUnits())
}

// withVectors appends what a dense leg indexes of entries.
func withVectors(list []Entry, to []VectorUnit) []VectorUnit {
	for i := range list {
		if e := &list[i]; e.Vector != nil {
			to = append(to, VectorUnit{ID: e.ID, Vector: e.Vector})
		}
	}
	return to
}
