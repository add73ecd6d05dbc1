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

// exists reports whether a file is there.
func exists(fsys atomicfile.FS, dir, name string) (bool, error) {
	_, err := fsys.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// take puts a token into a channel of one.
func (s *Stored) take(ctx context.Context, token chan struct{}) error {
	select {
	case token <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.life.Done():
		return index.ErrClosed
	}
	if err := s.usable(ctx); err != nil {
		<-token
		return err
	}
	return nil
}

// Flush implements [index.Dense]. After an error everything stays searchable and
// pending, and another Flush may succeed.
func (s *Stored) Flush(ctx context.Context) error {
	if err := s.take(ctx, s.writer); err != nil {
		return err
	}
	err := s.flush(ctx)
	<-s.writer
	if err != nil {
		return s.failed("flush", err)
	}
	s.mergeBeside()
	return nil
}

// frozenState is what one flush writes.
type frozenState struct {
	segs    []held
	rows    *snapshot
	seq     uint64
	changed int
}

// flush writes what is pending. The caller holds the writer's token.
func (s *Stored) flush(ctx context.Context) error {
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

// freeze marks what is pending as being written; new changes go beside it. It
// reports false if nothing is.
func (s *Stored) freeze() (frozenState, bool) {
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

// thaw undoes freeze after a failure.
func (s *Stored) thaw(st frozenState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen.absorb(s.active)
	s.changed += st.changed
	s.retryAt = s.changed + s.opts.FlushUnits
	s.active, s.activeState = s.frozen, s.frozen.commit()
	s.frozen, s.frozenState = nil, nil
	if !s.closed {
		s.publish(newStoredView(s.view.Load().segs, s.activeState))
	}
}

// absorb adds the rows of another arena, which has none of a's ids, in a
// transaction that the caller commits.
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

// write stores the frozen state and publishes the view that reads it there.
func (s *Stored) write(ctx context.Context, st frozenState) error {
	name := s.nextName()
	refs, source := st.rows.sortedRows(s.active.stride)
	fresh, err := s.store(ctx, name, refs, source)
	if err != nil {
		s.removeLater(name) // it may be there all the same
		return err
	}
	// A view's segments are those of the manifest, with the dead rows of the
	// moment: together they are the state as of st.seq.
	next := slices.Clone(st.segs)
	if fresh != nil {
		next = append(next, held{segment: fresh, live: len(fresh.ids)})
	}
	if err := s.commit(next, st.seq); err != nil {
		s.drop(fresh)
		return err
	}
	s.adoptFlush(fresh, refs)
	s.removeStale()
	return nil
}

// nextName returns the name of a new segment.
func (s *Stored) nextName() string {
	s.number++
	return segmentName(s.number)
}

// commit makes a state durable.
func (s *Stored) commit(segs []held, cursor uint64) error {
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
	s.kept = segs
	s.cursor.Store(cursor)
	return nil
}

// adoptFlush publishes the view in which the frozen rows are read from their
// segment, nil if there were none. Rows that went since are dead there.
func (s *Stored) adoptFlush(fresh *segment, rows []rowRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	frozen := s.frozen
	s.frozen, s.frozenState, s.retryAt = nil, nil, 0
	if s.closed {
		return
	}
	segs := slices.Clone(s.view.Load().segs)
	if fresh != nil {
		segs = append(segs, fresh.as(rows, frozen))
	}
	s.publish(newStoredView(segs, s.activeState))
}

// as returns the segment with those of its rows dead that an arena has lost
// since it was written.
func (s *segment) as(rows []rowRef, a *arena) held {
	h := held{segment: s, live: len(a.slots)}
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

// drop lets go of a segment that is in no manifest, nil for none.
func (s *Stored) drop(fresh *segment) {
	if fresh != nil {
		s.removeLater(fresh.name)
		fresh.release()
	}
}

// removeLater notes files that the next manifest does not list. Until that is
// durable they stay: after an error it is not known which manifest a crash would
// bring back.
func (s *Stored) removeLater(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = append(s.stale, names...)
}

// removeStale removes what removeLater noted, after a change of the manifest.
// What cannot be removed is tried again after the next.
func (s *Stored) removeStale() {
	s.mu.Lock()
	names := s.stale
	s.stale = nil
	s.mu.Unlock()
	s.removeLater(slices.DeleteFunc(names, func(name string) bool {
		err := s.opts.FS.Remove(filepath.Join(s.opts.Dir, name))
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})...)
}
