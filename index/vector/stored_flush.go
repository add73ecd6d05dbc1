package vector

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// exists reports whether a file exists.
func exists(fsys atomicfile.FS, dir, name string) (bool, error) {
	_, err := fsys.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// acquireToken puts a token into a channel of capacity one. It returns an error if ctx ends or the
// index is closed or unusable.
func (s *stored) acquireToken(ctx context.Context, token chan struct{}) error {
	select {
	case token <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return index.ErrClosed
	}
	if err := s.usable(ctx); err != nil {
		<-token
		return err
	}
	return nil
}

// Flush implements [index.VectorIndex]. After an error, everything stays searchable and pending, and a
// later Flush may succeed.
func (s *stored) Flush(ctx context.Context) error {
	if err := s.acquireToken(ctx, s.writer); err != nil {
		return err
	}
	err := s.flush(ctx)
	<-s.writer
	if err != nil {
		return s.failed("flush", err)
	}
	s.mergeInBackground()
	return nil
}

// frozenState is the state that one flush writes.
type frozenState struct {
	segs    []liveSegment
	rows    *snapshot
	seq     uint64
	changed int
}

// flush writes the pending changes. The caller holds the writer's token.
func (s *stored) flush(ctx context.Context) error {
	st, ok := s.freeze()
	if !ok {
		return nil
	}
	err := s.write(ctx, st)
	if err != nil {
		s.thaw(st)
		return fmt.Errorf("vector: flush: %w", err)
	}
	return nil
}

// freeze moves the pending rows to the state that a flush writes; new changes go to a new arena. It
// returns false if nothing is pending.
func (s *stored) freeze() (frozenState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.changed == 0 && s.applied == s.cursor.Load() {
		return frozenState{}, false
	}
	st := frozenState{segs: s.view.Load().segs, rows: s.activeState, seq: s.applied, changed: s.changed}
	s.frozen, s.frozenState = s.active, s.activeState
	s.active, s.activeState = newArena(s.opts.Dimensions), new(snapshot)
	s.changed = 0
	return st, true
}

// thaw undoes freeze after a failed flush.
func (s *stored) thaw(st frozenState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen.absorb(s.active)
	s.changed += st.changed
	s.retryAt = s.changed + s.opts.FlushChanges
	s.active, s.activeState = s.frozen, s.frozen.commit()
	s.frozen, s.frozenState = nil, nil
	if !s.closed {
		s.publish(newStoredView(s.view.Load().segs, s.activeState))
	}
}

// absorb adds the rows of another arena, which shares no ids with a, in a transaction that the
// caller commits.
func (a *arena) absorb(other *arena) {
	a.begin()
	for _, b := range other.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			a.add(b.ids[row], b.row(row, a.stride))
		}
	}
}

// write stores the frozen state and publishes the view that reads it from the file.
func (s *stored) write(ctx context.Context, st frozenState) error {
	name := s.nextName()
	refs, source := st.rows.sortedRows(s.active.stride)
	fresh, err := s.store(ctx, name, refs, source)
	if err != nil {
		s.removeLater(name) // it may exist nevertheless
		return err
	}
	// The segments of a view are those of the manifest, with the current dead rows: together they
	// are the state as of st.seq.
	next := slices.Clone(st.segs)
	if fresh != nil {
		next = append(next, liveSegment{segment: fresh, live: len(fresh.ids)})
	}
	if err := s.commit(next, st.seq); err != nil {
		s.discardSegment(fresh)
		return err
	}
	s.publishFlush(fresh, refs)
	s.removeStale()
	return nil
}

// nextName returns the name of a new segment.
func (s *stored) nextName() string {
	s.number++
	return segmentName(s.number)
}

// commit writes a manifest, which makes a state durable.
func (s *stored) commit(segs []liveSegment, cursor uint64) error {
	m := &manifest{
		Format: manifestFormat, Identity: s.opts.Identity, Dimensions: s.opts.Dimensions,
		Origin: s.opts.Origin(), Cursor: cursor, Segments: make([]manifestEntry, len(segs)),
	}
	for i, h := range segs {
		m.Segments[i] = entryOf(h)
	}
	if err := atomicfile.MakeDir(s.opts.FS, s.opts.Dir, 0o700); err != nil {
		return err
	}
	if err := writeManifest(s.opts.FS, s.opts.Dir, m); err != nil {
		return err
	}
	s.listed = segs
	s.cursor.Store(cursor)
	return nil
}

// publishFlush publishes the view that reads the frozen rows from their segment, or nil if there
// were no rows. Rows removed since are dead there.
func (s *stored) publishFlush(fresh *segment, rows []rowRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	frozen := s.frozen
	s.frozen, s.frozenState, s.retryAt = nil, nil, 0
	if s.closed {
		return
	}
	segs := slices.Clone(s.view.Load().segs)
	if fresh != nil {
		segs = append(segs, fresh.withDead(rows, frozen))
	}
	s.publish(newStoredView(segs, s.activeState))
}

// withDead returns the segment with those rows dead that an arena has lost since it was written.
func (s *segment) withDead(rows []rowRef, a *arena) liveSegment {
	h := liveSegment{segment: s, live: len(a.slots)}
	if len(a.slots) == len(rows) {
		return h
	}
	h.dead = h.dead.clone(len(rows))
	for row, ref := range rows {
		if _, ok := a.slots[ref.id]; !ok {
			h.dead.set(row)
		}
	}
	return h
}

// discardSegment releases a segment that is in no manifest and schedules its file for removal.
// fresh may be nil.
func (s *stored) discardSegment(fresh *segment) {
	if fresh != nil {
		s.removeLater(fresh.name)
		fresh.release()
	}
}

// removeLater schedules files for removal that the next manifest does not list. They stay until
// that manifest is durable: after a write error it is unknown which manifest a crash would leave.
func (s *stored) removeLater(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = append(s.stale, names...)
}

// removeStale removes the scheduled files after a change of the manifest. Failed removals are
// retried after the next change.
func (s *stored) removeStale() {
	s.mu.Lock()
	names := s.stale
	s.stale = nil
	s.mu.Unlock()
	s.removeLater(slices.DeleteFunc(names, func(name string) bool {
		err := s.opts.FS.Remove(filepath.Join(s.opts.Dir, name))
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})...)
}
