package vector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector/hnsw"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// saveDue reports whether enough has changed to write the graph. A quiet index with nothing to link
// needs fewer changes.
func (n *native) saveDue(a *accelerator) bool {
	if n.opts.Dir == "" || !a.complete.Load() || time.Now().UnixNano() < n.saveAfter.Load() {
		return false
	}
	least := max(n.opts.minSaveChanges, n.chunkCount()/saveShare)
	if n.quiet.Load() && !a.linkable() {
		least = max(n.opts.minSaveChanges/closeShare, n.chunkCount()/quietShare)
	}
	return n.unsavedChanges(a) >= max(1, least)
}

// noteChange records a change: the index is no longer quiet, until quietAfter has passed.
func (n *native) noteChange() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet.Store(false)
	switch {
	case n.closed || n.opts.Dir == "":
	case n.quietTimer != nil:
		n.quietTimer.Reset(n.opts.quietAfter)
	default:
		n.quietTimer = time.AfterFunc(n.opts.quietAfter, n.setQuiet)
	}
}

// setQuiet marks the index as quiet.
func (n *native) setQuiet() {
	n.mu.Lock()
	n.quiet.Store(true)
	n.scheduleSave()
	n.mu.Unlock()
	n.wake()
}

// delaySaves suspends writing the graph for a while.
func (n *native) delaySaves(wait time.Duration) {
	n.saveAfter.Store(time.Now().Add(wait).UnixNano())
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.quiet.Load() { // else setQuiet calls scheduleSave
		n.scheduleSave()
	}
}

// scheduleSave wakes a quiet index once its graph may be written, as no later change may do so. The
// caller holds mu.
func (n *native) scheduleSave() {
	if wait := time.Until(time.Unix(0, n.saveAfter.Load())); wait > 0 && !n.closed {
		n.quietTimer.Reset(wait)
	}
}

// unsavedChanges returns how many vectors differ between the index and the graph file, counting all
// rows of segments that the file does not list.
func (n *native) unsavedChanges(a *accelerator) int {
	v, err := n.rows.current()
	if err != nil {
		return 0
	}
	defer v.release()
	s := a.saved.Load()
	unknown := 0
	for _, h := range v.segs {
		if !s.contains(h) {
			unknown += h.live
		}
	}
	linked := v.chunks - a.Waiting()
	return max(unknown, linked-s.linked, int(a.Deleted()-s.deleted)) //nolint:gosec // counts of this process
}

// save writes a checkpoint. A failure to write only costs time after the next open, so it is
// logged. An error is returned only if the graph itself is damaged.
func (n *native) save(ctx context.Context, a *accelerator) error {
	select {
	case n.saving <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-n.saving }()
	err := n.writeGraph(ctx, a)
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, hnsw.ErrDamaged):
		return err
	}
	n.delaySaves(saveRetry)
	n.opts.Logger.Warn("vector graph was not written; that is retried later", "dir", n.opts.Dir, "error", err)
	return nil
}

// writeGraph writes the files of the graph. The caller holds the token of saving.
func (n *native) writeGraph(ctx context.Context, a *accelerator) error {
	if needsTidy(a) {
		if err := n.tidy(ctx, a); err != nil {
			return err
		}
	}
	begun, err := n.rows.current()
	if err != nil {
		return nil // the index is closed or damaged
	}
	defer begun.release()
	next := &savedState{linked: begun.chunks - a.Waiting(), deleted: a.Deleted()}
	next.Format, next.File = checkpointFormat, graphName(n.number+1)
	next.Name = fmt.Sprintf("%08x %s", atomicfile.Checksum(begun.fingerprint(next.File)), n.opts.Identity)
	n.number++
	path := filepath.Join(n.opts.Dir, next.File)
	err = atomicfile.WriteFile(n.opts.FS, path, func(w io.Writer) error {
		return guard(func() error { return a.Write(&ctxWriter{ctx, w}, next.Name) })
	})
	if err == nil {
		err = n.writeCheckpoint(begun, next)
	}
	if err != nil {
		_ = n.opts.FS.Remove(path)
		return err
	}
	a.saved.Store(next)
	n.setFile(next.File)
	// The next erasure removes the file; the pause keeps a stream of erasures from writing it each
	// time.
	n.delaySaves(n.opts.savePause)
	_, err = n.sweep()
	return err
}

// needsTidy reports whether a graph must be tidied before it is written.
func needsTidy(a *accelerator) bool {
	st := a.Stats()
	return (st.Dead-st.Retained)*tidyShare > st.Live
}

// writeCheckpoint makes a graph file the one in use. begun is the state of the index when the file
// was begun.
func (n *native) writeCheckpoint(begun *storedView, next *savedState) error {
	now, err := n.rows.current()
	if err != nil {
		return err
	}
	defer now.release()
	for _, h := range now.segs {
		if slices.ContainsFunc(begun.segs, func(b liveSegment) bool { return b.segment == h.segment }) {
			next.Segments = append(next.Segments, checkpointSegment{File: h.name, Sum: h.sum, Live: h.live})
		}
	}
	payload, err := json.Marshal(next.checkpoint)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(n.opts.FS, filepath.Join(n.opts.Dir, checkpointFile), func(w io.Writer) error {
		_, err := w.Write(atomicfile.AppendFrame(nil, payload))
		return err
	})
}

// fingerprint returns bytes that identify the contents of v and a file name.
func (v *storedView) fingerprint(name string) []byte {
	b := []byte(name)
	for _, h := range v.segs {
		b = fmt.Appendf(b, " %s %08x %d", h.name, h.sum, h.live)
	}
	return b
}

// saveOnClose writes a checkpoint before the index closes, if that saves more time than it takes.
func (n *native) saveOnClose() {
	a := n.acquire()
	if a == nil || n.opts.Dir == "" {
		return
	}
	defer a.release()
	if needsTidy(a) {
		return // tidying takes longer than relinking what the file lacks
	}
	if !a.complete.Load() || n.rows.usable(context.Background()) != nil ||
		n.unsavedChanges(a) < max(n.opts.minSaveChanges, n.chunkCount()/saveShare)/closeShare || a.Stats().Bytes > maxCloseBytes {
		return
	}
	_ = n.save(context.Background(), a)
}

// Compact implements [index.VectorIndex]. It compacts the rows and removes the graph's file if chunks
// were deleted since it was written. The file is written again in the background.
func (n *native) Compact(ctx context.Context) error {
	select { // first, as it would sweep away a file that is being written
	case n.saving <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ctx.Done():
		return index.ErrClosed
	}
	err := n.rows.Compact(ctx)
	if err == nil {
		err = n.dropStaleFile()
	}
	<-n.saving
	n.wake()
	return err
}

// dropStaleFile removes the graph file if it has deleted chunks. The caller holds the token of
// saving.
func (n *native) dropStaleFile() error {
	if a := n.acquire(); a != nil {
		defer a.release()
		if a.complete.Load() && a.saved.Load().deleted == a.Deleted() {
			return nil
		}
		a.saved.Store(new(savedState))
	}
	if n.file == "" {
		return nil
	}
	n.noteChange() // so that it is written once quiet, if not before
	return n.discard()
}

// discard removes the files of the graph. The caller holds the token of saving.
func (n *native) discard() error {
	if err := n.removeCheckpoint(); err != nil {
		return fmt.Errorf("vector: remove graph: %w", err)
	}
	if _, err := n.sweep(); err != nil {
		return fmt.Errorf("vector: remove graph: %w", err)
	}
	return nil
}

// ctxWriter fails writes once a context has ended.
type ctxWriter struct {
	ctx context.Context //nolint:containedctx // lives as long as one write
	w   io.Writer
}

func (p *ctxWriter) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}
