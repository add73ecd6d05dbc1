package keyword

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// meta is the metadata that the store keeps with the chunks.
type meta struct {
	version string
	origin  string
	cursor  uint64
	// chunks and length describe the live chunks and are verified on open. unknownChunks marks a
	// state between the batches of one flush.
	chunks, length uint64
}

const unknownChunks = ^uint64(0)

// batch is one atomic change of the store.
type batch struct {
	chunks  []*pendingChunk
	deletes []uint64
	meta    meta
}

// store keeps chunks durably. Only one goroutine may use it at a time.
type store interface {
	merger

	// write applies a batch atomically. The batch is durable when write returns nil.
	write(b batch) error
	// snapshot returns the state after the last write. It stays readable after further writes and
	// after close, until it is released.
	snapshot() (*snapshot, error)
	// cleanupError returns an errNotRemoved if old files could not be removed; they may stay until
	// the store is reopened.
	cleanupError() error
	close() error
}

// merger merges the files of a store.
type merger interface {
	// tainted returns the files that may hold data of deleted chunks. prepareMerge returns a
	// function after which the store uses none of the given files, or nil if it uses none already.
	// remaining returns the files that still exist. Call awaitMerges first, so that tainted sees
	// the output of merges that have already begun.
	awaitMerges(ctx context.Context) error
	tainted() (files []string, err error)
	prepareMerge(files []string) (merge func(context.Context) error, err error)
	remaining(files []string) ([]string, error)
	// prepareTidy returns a function that merges small parts, or nil if there are few.
	prepareTidy() (merge func(context.Context) error, err error)
	// mergeSmall merges the parts of at most the given number of live chunks into one.
	mergeSmall(ctx context.Context, chunks int) error
}

// frozenState is the state that one flush writes.
type frozenState struct {
	parts   []part
	touched map[uint64]bool
	seq     uint64
	base    uint64 // the cursor before the flush
	chunks  uint64
	length  uint64
}

// Flush implements [index.KeywordIndex]. After an error everything stays searchable and pending; call
// Flush again.
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
		err = ix.finishEmpty(st)
	} else {
		err = ix.write(ctx, st)
	}
	if err != nil {
		ix.thaw(st)
		return fmt.Errorf("keyword: flush: %w", err)
	}
	return nil
}

// freeze marks the pending changes as being written. New changes are collected separately.
func (ix *Index) freeze() (frozenState, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return frozenState{}, index.ErrClosed
	}
	v := ix.view.Load()
	st := frozenState{
		parts: v.memory(), touched: ix.touched, seq: ix.applied, base: ix.cursor.Load(),
		chunks: uint64(v.live), length: v.length,
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
	ix.retryAt = len(ix.touched) + ix.opts.FlushChunks
}

// finishEmpty ends a flush that had nothing to write. It also releases segments that the store has
// merged since.
func (ix *Index) finishEmpty(st frozenState) error {
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

// write stores the frozen state and publishes a view that reads it from the store.
func (ix *Index) write(ctx context.Context, st frozenState) error {
	return ix.writeWith(ctx, st, func(s store) (*snapshot, error) { return writeAll(ctx, s, st, ix.opts.Origin()) })
}

// writeWith is [Index.write] with a custom change of the store.
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
		// Scorch retries a failed write without pause and may be stuck. The next flush reopens it.
		ix.drop()
	}
	return err
}

// writeAll stores the frozen state in batches. The last batch carries the cursor.
func writeAll(ctx context.Context, s store, st frozenState, origin string) (*snapshot, error) {
	b := batch{meta: meta{version: version, origin: origin, cursor: st.base, chunks: unknownChunks}}
	for id, live := range st.touched {
		if !live {
			b.deletes = append(b.deletes, id)
		}
	}
	for _, p := range st.parts {
		chunks := liveChunks(p)
		if len(b.chunks) > 0 && len(b.chunks)+len(chunks) > segmentChunks {
			if err := s.write(b); err != nil {
				return nil, err
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b.chunks, b.deletes = nil, nil
		}
		b.chunks = append(b.chunks, chunks...)
	}
	b.meta = meta{version: version, origin: origin, cursor: st.seq, chunks: st.chunks, length: st.length}
	if err := s.write(b); err != nil {
		return nil, err
	}
	return s.snapshot()
}

// adopt publishes the view in which the frozen parts are stored. Changes made since the freeze stay
// in memory and hide the chunks that they replaced.
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
	ix.scheduleTidy()
	ix.loadWords()
	return nil
}
