package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// maxInFlight bounds the bytes of files in memory at a time. A larger file is read alone.
const maxInFlight = 64 << 20

// stateBatch is how many file states are recorded per call.
const stateBatch = 256

// skipEmpty is the skip reason of a folder without files.
const skipEmpty = "has no files; its documents are kept, because the drive may be unmounted ('ragctx ingest --allow-empty' deletes them)"

// ingester is the state of one Ingest.
type ingester struct {
	sink Sink
	opts IngestOptions

	mu     sync.Mutex
	report IngestReport
	states []store.FileState // not recorded yet
}

// ingestSource ingests one source.
func (in *ingester) ingestSource(ctx context.Context, opener sourceOpener, source Source) error {
	existing, err := listExisting(ctx, in.sink.List, in.opts.Namespace, source.Prefix(), source.Name())
	if err != nil {
		return err
	}
	seen, complete, err := in.entries(ctx, source, existing)
	if l, ok := source.(leftOutCounter); ok {
		in.report.LeftOut.Add(l.LeftOut())
	}
	if nerr := in.recordStates(context.WithoutCancel(ctx), 1); err == nil {
		err = nerr
	}
	if err != nil || !complete {
		return err
	}
	if in.opts.KeepEmpty && len(seen) == 0 && len(existing) > 0 {
		in.skip(source.Name(), skipEmpty)
		return nil
	}
	for _, d := range existing {
		if cameFrom(seen, d.id) || !source.Gone(d.id) {
			continue
		}
		if err := in.remove(ctx, d); err != nil {
			return err
		}
	}
	if len(existing) > 0 {
		return nil
	}
	return in.takeOver(ctx, opener, source)
}

// takeOver deletes the documents that the new documents of a source replace.
func (in *ingester) takeOver(ctx context.Context, opener sourceOpener, source Source) error {
	stored, err := listExisting(ctx, in.sink.List, in.opts.Namespace, source.Prefix(), source.Name())
	if err != nil {
		return err
	}
	replaced, err := opener.inner(ctx, source, stored.ids())
	for _, d := range replaced {
		if err := in.remove(ctx, d); err != nil {
			return err
		}
	}
	return err
}

// entries reads and stores the entries of a source, several at a time. It returns their ids, and
// whether the remaining documents may be considered gone.
func (in *ingester) entries(
	ctx context.Context, source Source, existing existingDocuments,
) (seen map[string]bool, complete bool, err error) {
	workers := in.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	memory := semaphore.NewWeighted(maxInFlight)
	seen, complete = make(map[string]bool), true
	for e, err := range source.Entries(gctx) {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			in.skip(skip.Path, skip.Reason)
			complete = false
			continue
		}
		if err != nil {
			return nil, false, cmp.Or(g.Wait(), err)
		}
		seen[e.ID] = !e.Single
		own := existing.fromEntry(source.Name(), e)
		if own.current(e.State) && !in.opts.Reread {
			in.unchanged(e.Path, len(own))
			continue
		}
		size := min(e.Bytes, maxInFlight)
		if err := memory.Acquire(gctx, size); err != nil {
			return nil, false, cmp.Or(g.Wait(), err)
		}
		g.Go(func() error {
			defer memory.Release(size)
			return in.entry(gctx, source, e, own)
		})
	}
	// If every entry was skipped, the source counts as unseen.
	return seen, complete || len(seen) > 0, g.Wait()
}

// entry reads and stores one entry.
func (in *ingester) entry(ctx context.Context, source Source, e Entry, own existingDocuments) error {
	same, err := e.ask(ctx, own, in.opts.Reread)
	if skip, ok := errors.AsType[*docs.Skip](err); ok {
		return in.unreadable(ctx, skip, own)
	}
	if err != nil {
		return err
	}
	if same {
		in.unchanged(e.Path, len(own))
		return nil
	}
	for p, err := range readEntry(ctx, e, own) {
		switch {
		case err != nil:
		case p.skip != nil:
			in.skip(p.skip.Path, p.skip.Reason)
		case p.gone != nil:
			err = in.remove(ctx, *p.gone)
		default:
			err = in.document(ctx, source.Name(), e, *p.doc, p.stat)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unreadable handles an entry that could not be read. Its documents are deleted only if the entry is
// gone.
func (in *ingester) unreadable(ctx context.Context, skip *docs.Skip, own existingDocuments) error {
	in.skip(skip.Path, skip.Reason)
	if !skip.Gone {
		return nil
	}
	for _, d := range own {
		if err := in.remove(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// document stores one document. Only an error that would affect every further document ends the
// ingest.
func (in *ingester) document(ctx context.Context, root string, e Entry, d ragctx.Document, stat string) error {
	put, err := in.sink.Put(ctx, in.opts.Namespace, d, root)
	if errors.Is(err, ragctx.ErrConflict) {
		put, err = in.putMoved(ctx, d, root, err)
	}
	path := e.Path + strings.TrimPrefix(d.ExternalID, e.ID)
	if err != nil {
		if _, status := ragctx.CodeOf(err); status >= 500 || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		skipped := Skipped{Path: path, Reason: err.Error()}
		if errors.Is(err, ragctx.ErrConflict) {
			skipped.Field = prefixField
		}
		in.skipped(skipped)
		return nil
	}
	in.done(path, put, len(d.Text))
	if stat == "" {
		return nil
	}
	in.mu.Lock()
	in.states = append(in.states, store.FileState{ID: d.ExternalID, Root: root, Version: put.Version, Stat: stat})
	in.mu.Unlock()
	return in.recordStates(ctx, stateBatch)
}

// recordStates records the pending file states if there are at least atLeast.
func (in *ingester) recordStates(ctx context.Context, atLeast int) error {
	in.mu.Lock()
	states := in.states
	if len(states) < atLeast {
		in.mu.Unlock()
		return nil
	}
	in.states = nil
	in.mu.Unlock()
	return in.sink.RecordFileStates(ctx, in.opts.Namespace, states)
}

// remove deletes the document of a file that is gone, unless it was stored again since this ingest
// began.
func (in *ingester) remove(ctx context.Context, d existingDocument) error {
	err := in.sink.DeleteIfVersion(ctx, in.opts.Namespace, d.file())
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete removed documents: %w", err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.report.Deleted++
	return nil
}

func (in *ingester) done(path string, put store.Put, size int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch put.Status { //nolint:exhaustive // a put deletes nothing
	case store.Created:
		in.report.Created++
	case store.Replaced:
		in.report.Replaced++
	case store.Unchanged:
		in.report.Unchanged++
	}
	if put.Status != store.Unchanged {
		in.report.Chunks += put.Chunks
		in.report.Bytes += int64(size)
	}
	in.progress(path)
}

// unchanged counts the documents of an entry that need not be read.
func (in *ingester) unchanged(path string, n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.report.Unchanged += n
	in.progress(path)
}

func (in *ingester) skip(path, reason string) { in.skipped(Skipped{Path: path, Reason: reason}) }

func (in *ingester) skipped(s Skipped) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.report.Skipped = append(in.report.Skipped, s)
	in.progress(s.Path)
}

// progress calls Progress. The caller holds the lock, so calls come one at a time.
func (in *ingester) progress(path string) {
	if in.opts.Progress != nil {
		in.opts.Progress(IngestProgress{Path: path, Report: in.report, Skipped: len(in.report.Skipped)})
	}
}
