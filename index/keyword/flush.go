package keyword

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// meta is what the store keeps beside the units.
type meta struct {
	version string
	origin  string
	cursor  uint64
	// units and length describe the live units and are compared on open;
	// unknownUnits stands for a state between the batches of one flush.
	units, length uint64
}

const unknownUnits = ^uint64(0)

// batch is one atomic change of the store.
type batch struct {
	units   []storedUnit
	deletes []uint64
	meta    meta
}

// store keeps units durably. One goroutine uses it at a time.
type store interface {
	// write applies a batch; it is durable, as a whole, when write returns nil.
	write(b batch) error
	// snapshot returns the state after the last write. It stays readable after
	// further writes and after close, until it is released.
	snapshot() (*snapshot, error)
	// tainted returns the files that may hold something of deleted units,
	// prepareMerge what makes the store use none of them, nil if it does not, and
	// left those that are still there. What merges wrote that began before awaitMerges
	// was called is known to tainted after it.
	awaitMerges(ctx context.Context) error
	tainted() (files []string, err error)
	prepareMerge(files []string) (merge func(context.Context) error, err error)
	left(files []string) ([]string, error)
	// prepareTidy returns what merges small parts, nil if there are few.
	prepareTidy() (merge func(context.Context) error, err error)
	// gather makes one part of those with up to so many live units.
	gather(ctx context.Context, units int) error
	// uncleaned is an errUncleaned once old files could not be removed: they may stay
	// until the store is opened again.
	uncleaned() error
	close() error
}

// frozenState is what one flush writes.
type frozenState struct {
	parts   []part
	touched map[uint64]bool
	seq     uint64
	base    uint64 // the cursor until then
	units   uint64
	length  uint64
}

// Flush implements [index.Lexical]. After an error everything stays searchable
// and pending, and another Flush may succeed.
func (ix *Index) Flush(ctx context.Context) error {
	select {
	case ix.writer <- struct{}{}:
		defer func() { <-ix.writer }()
	case <-ctx.Done():
		return ctx.Err()
	case <-ix.life.Done():
		return index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	st, err := ix.freeze()
	if err != nil {
		return err
	}
	if ix.dir == "" || len(st.touched) == 0 && st.seq == st.base {
		err = ix.settled(st)
	} else {
		err = ix.write(ctx, st)
	}
	if err != nil {
		ix.thaw(st)
		return fmt.Errorf("keyword: flush: %w", err)
	}
	return nil
}

// freeze marks what is pending as being written. New changes go beside it.
func (ix *Index) freeze() (frozenState, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return frozenState{}, index.ErrClosed
	}
	v := ix.view.Load()
	st := frozenState{
		parts: v.memory(), touched: ix.touched, seq: ix.applied, base: ix.cursor.Load(),
		units: uint64(v.live), length: v.length,
	}
	ix.touched = make(map[uint64]bool)
	ix.frozen = len(st.parts)
	return st, nil
}

// thaw undoes freeze after a failure.
func (ix *Index) thaw(st frozenState) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	maps.Copy(st.touched, ix.touched)
	ix.touched = st.touched
	ix.frozen = 0
	ix.retryAt = len(ix.touched) + ix.opts.FlushUnits
}

// settled ends a flush that had nothing to write. It is also the moment to let
// go of segments that the store has merged since.
func (ix *Index) settled(st frozenState) error {
	if ix.store != nil {
		if snap, err := ix.store.snapshot(); err == nil {
			return ix.adopt(snap, st)
		}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.frozen = 0
	ix.cursor.Store(st.seq)
	return nil
}

// write stores the frozen state and publishes the view that reads it there.
func (ix *Index) write(ctx context.Context, st frozenState) error {
	return ix.writeWith(ctx, st, func(s store) (*snapshot, error) { return writeAll(ctx, s, st, ix.opts.Origin()) })
}

// writeWith is [Index.write] with what changes the store.
func (ix *Index) writeWith(ctx context.Context, st frozenState, change func(store) (*snapshot, error)) error {
	if ix.store == nil {
		s, err := ix.openStore(ix.dir)
		if err != nil {
			return err
		}
		ix.store = s
	}
	snap, err := change(ix.store)
	if err == nil {
		return ix.adopt(snap, st)
	}
	if ctx.Err() == nil {
		// Scorch retries a failed write without pause and may be stuck; the next
		// flush opens it again.
		ix.drop()
	}
	return err
}

// writeAll stores the frozen state in batches, the cursor with the last of them.
func writeAll(ctx context.Context, s store, st frozenState, origin string) (*snapshot, error) {
	b := batch{meta: meta{version: version, origin: origin, cursor: st.base, units: unknownUnits}}
	for id, live := range st.touched {
		if !live {
			b.deletes = append(b.deletes, id)
		}
	}
	for _, p := range st.parts {
		units := liveUnits(p)
		if len(b.units) > 0 && len(b.units)+len(units) > segmentUnits {
			if err := s.write(b); err != nil {
				return nil, err
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b.units, b.deletes = nil, nil
		}
		b.units = append(b.units, units...)
	}
	b.meta = meta{version: version, origin: origin, cursor: st.seq, units: st.units, length: st.length}
	if err := s.write(b); err != nil {
		return nil, err
	}
	return s.snapshot()
}

// adopt publishes the view in which the frozen parts are stored. What changed
// since they were frozen stays in memory and hides what it replaced.
func (ix *Index) adopt(snap *snapshot, st frozenState) error {
	defer snap.release()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return index.ErrClosed
	}
	var parts []part
	err := guard(func() (err error) {
		parts, err = withoutAll(snap.parts, slices.Collect(maps.Keys(ix.touched)))
		return err
	})
	if err != nil {
		return err
	}
	parts = append(parts, ix.view.Load().memory()[len(st.parts):]...)
	ix.publish(newView(snap, parts))
	ix.cursor.Store(st.seq)
	ix.frozen, ix.retryAt = 0, 0
	ix.rest()
	ix.derive()
	return nil
}
