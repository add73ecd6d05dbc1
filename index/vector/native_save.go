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

// unsaved reports whether so much has changed that the graph is to be written: less
// where nothing changes any more, and nothing is to be linked.
func (n *Native) unsaved(a *accelerator) bool {
	if n.opts.Dir == "" || !a.whole.Load() || time.Now().UnixNano() < n.saveAfter.Load() {
		return false
	}
	least := max(n.opts.saveUnits, n.units()/saveShare)
	if n.quiet.Load() && !a.linkable() {
		least = max(n.opts.saveUnits/lastShare, n.units()/quietShare)
	}
	return n.changed(a) >= max(1, least)
}

// disturb notes a change: the leg is quiet when none has followed for a while.
func (n *Native) disturb() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet.Store(false)
	switch {
	case n.closed || n.opts.Dir == "":
	case n.resting != nil:
		n.resting.Reset(n.opts.restful)
	default:
		n.resting = time.AfterFunc(n.opts.restful, n.rest)
	}
}

// rest notes that the leg is quiet.
func (n *Native) rest() {
	n.mu.Lock()
	n.quiet.Store(true)
	n.lookAgain()
	n.mu.Unlock()
	n.wake()
}

// pause has no graph written for a while.
func (n *Native) pause(wait time.Duration) {
	n.saveAfter.Store(time.Now().Add(wait).UnixNano())
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.quiet.Load() { // else rest sees to it
		n.lookAgain()
	}
}

// lookAgain has a quiet leg wake when its graph may be written, if it may not be now:
// no change may follow that does. The caller holds mu.
func (n *Native) lookAgain() {
	if wait := time.Until(time.Unix(0, n.saveAfter.Load())); wait > 0 && !n.closed {
		n.resting.Reset(wait)
	}
}

// changed is how many vectors the file of a graph has in another state, or not as
// rows of segments that it knows.
func (n *Native) changed(a *accelerator) int {
	v, err := n.rows.current()
	if err != nil {
		return 0
	}
	defer v.release()
	s := a.saved.Load()
	unknown := 0
	for _, h := range v.segs {
		if !s.knows(h) {
			unknown += h.live
		}
	}
	linked := v.units - a.Waiting()
	return max(unknown, linked-s.linked, int(a.Deleted()-s.deleted)) //nolint:gosec // counts of this process
}

// save writes a checkpoint. That it cannot be written costs time after the next
// open, no more: only what the error says of the graph is returned.
func (n *Native) save(ctx context.Context, a *accelerator) error {
	select {
	case n.saving <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-n.saving }()
	err := n.store(ctx, a)
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, hnsw.ErrDamaged):
		return err
	}
	n.pause(saveRetry)
	n.opts.Logger.Warn("vector graph is not written", "dir", n.opts.Dir, "error", err)
	return nil
}

// store writes the files of the graph. The caller holds the token of saving.
func (n *Native) store(ctx context.Context, a *accelerator) error {
	if untidy(a) {
		if err := n.tidy(ctx, a); err != nil {
			return err
		}
	}
	begun, err := n.rows.current()
	if err != nil {
		return nil // the leg is closed or damaged
	}
	defer begun.release()
	next := &saved{linked: begun.units - a.Waiting(), deleted: a.Deleted()}
	next.Format, next.File = checkpointFormat, graphName(n.number+1)
	next.Name = fmt.Sprintf("%08x %s", atomicfile.Checksum(begun.contents(next.File)), n.opts.Identity)
	n.number++
	path := filepath.Join(n.opts.Dir, next.File)
	err = atomicfile.WriteFile(n.opts.FS, path, func(w io.Writer) error {
		return guard(func() error { return a.Write(&patientWriter{ctx, w}, next.Name) })
	})
	if err == nil {
		err = n.note(begun, next)
	}
	if err != nil {
		_ = n.opts.FS.Remove(path)
		return err
	}
	a.saved.Store(next)
	n.setFile(next.File)
	// The next erasure removes it: a stream of them does not have it written each time.
	n.pause(n.opts.saveRest)
	_, err = n.sweep()
	return err
}

// untidy reports whether a graph is to be tidied before it is written.
func untidy(a *accelerator) bool {
	st := a.Stats()
	return (st.Dead-st.Retained)*tidyShare > st.Live
}

// note makes a file that was begun when the leg was in a state the one in use.
func (n *Native) note(begun *storedView, next *saved) error {
	now, err := n.rows.current()
	if err != nil {
		return err
	}
	defer now.release()
	for _, h := range now.segs {
		if slices.ContainsFunc(begun.segs, func(b held) bool { return b.segment == h.segment }) {
			next.Segments = append(next.Segments, knownSegment{File: h.name, Sum: h.sum, Live: h.live})
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

// contents returns bytes that say what v is made of, and a name.
func (v *storedView) contents(name string) []byte {
	b := []byte(name)
	for _, h := range v.segs {
		b = fmt.Appendf(b, " %s %08x %d", h.name, h.sum, h.live)
	}
	return b
}

// saveLast writes a checkpoint before the leg closes, if that saves more time than
// it takes.
func (n *Native) saveLast() {
	a := n.acquire()
	if a == nil || n.opts.Dir == "" {
		return
	}
	defer a.release()
	if untidy(a) {
		return // tidying takes longer than linking again what is not in the file
	}
	if !a.whole.Load() || n.rows.usable(context.Background()) != nil ||
		n.changed(a) < max(n.opts.saveUnits, n.units()/saveShare)/lastShare || a.Stats().Bytes > lastBytes {
		return
	}
	_ = n.save(context.Background(), a)
}

// Compact implements [index.Dense]: it does what [Stored.Compact] does, and removes
// the graph's file if units went since it was written. It is written again in the
// background.
func (n *Native) Compact(ctx context.Context) error {
	select { // first, or it would sweep up a file that is being written
	case n.saving <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-n.life.Done():
		return index.ErrClosed
	}
	err := n.rows.Compact(ctx)
	if err == nil {
		err = n.clear()
	}
	<-n.saving
	n.wake()
	return err
}

// clear removes what is left of deleted units in files. The caller holds the token
// of saving.
func (n *Native) clear() error {
	if a := n.acquire(); a != nil {
		defer a.release()
		if a.whole.Load() && a.saved.Load().deleted == a.Deleted() {
			return nil
		}
		a.saved.Store(new(saved))
	}
	if n.file == "" {
		return nil
	}
	n.disturb() // to be written then, if not before
	return n.discard()
}

// discard removes the files of the graph. The caller holds the token of saving.
func (n *Native) discard() error {
	if err := n.forget(); err != nil {
		return fmt.Errorf("vector: remove graph: %w", err)
	}
	if _, err := n.sweep(); err != nil {
		return fmt.Errorf("vector: remove graph: %w", err)
	}
	return nil
}

// patientWriter writes until a context ends.
type patientWriter struct {
	ctx context.Context //nolint:containedctx // lives as long as one write
	w   io.Writer
}

func (p *patientWriter) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}
