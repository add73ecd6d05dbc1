package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Batch sizes of a document job.
const (
	pendingPage  = 256 // items listed per read
	laneQueue    = 8   // items queued per lane
	outcomeBatch = 128 // outcomes stored per write
)

// documentRun is one run of a document job. Items are distributed to several lanes; items of one
// document go to the same lane, so the last one wins.
type documentRun struct {
	engine   *core
	job      *runningJob
	ns       string
	n        int64
	outcomes chan outcome
}

// outcome is a processed item and the state of its file.
type outcome struct {
	store.JobItem

	file store.FileState // Stat is "" if there is no state to record
}

// runDocuments processes the pending items of a job. An error that is not about an item (a full
// disk, a damaged or closed store) ends the run; the remaining items stay pending and can be
// retried.
func (e *core) runDocuments(ctx context.Context, r *runningJob) error {
	j := r.snapshot().Job
	run := &documentRun{engine: e, job: r, ns: j.Namespace, n: j.N, outcomes: make(chan outcome, outcomeBatch)}
	if err := run.recount(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var storing sync.WaitGroup
	storing.Go(func() { run.storeOutcomes(context.WithoutCancel(ctx), stop) })
	err := run.lanes(ctx)
	close(run.outcomes)
	storing.Wait()
	if err == nil {
		err = context.Cause(ctx) // set if the last outcomes could not be stored
	}
	if err == nil {
		return run.recount(ctx)
	}
	return err
}

// recount sets the job's progress from its stored items.
func (d *documentRun) recount(ctx context.Context) error {
	t, err := d.engine.store.JobTotals(ctx, d.n)
	if err != nil {
		return err
	}
	d.job.update(func(j *store.Job) {
		j.Stage, j.Items, j.Counts, j.Chunks = "store", t.Items, t.Counts, t.Chunks
		j.Bytes, j.TotalBytes, j.Written = t.Bytes, t.TotalBytes, t.Written
	})
	return nil
}

func (d *documentRun) lanes(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	lanes := make([]chan store.JobItem, max(1, runtime.GOMAXPROCS(0)/2)) // the rest is for turns and queries
	for k := range lanes {
		lanes[k] = make(chan store.JobItem, laneQueue)
		g.Go(func() error {
			for i := range lanes[k] {
				if err := d.process(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer func() {
			for _, l := range lanes {
				close(l)
			}
		}()
		return d.feed(ctx, lanes)
	})
	if err := g.Wait(); err != nil {
		if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && cause != nil {
			return cause
		}
		return err
	}
	return nil
}

// feed distributes the pending items to the lanes.
func (d *documentRun) feed(ctx context.Context, lanes []chan store.JobItem) error {
	seed := maphash.MakeSeed()
	for after := 0; ; {
		items, err := d.engine.store.JobItems(ctx, d.n,
			store.ItemFilter{After: after, Limit: pendingPage, State: store.ItemPending})
		if err != nil || len(items) == 0 {
			return err
		}
		for _, i := range items {
			after = i.N
			select {
			case lanes[maphash.String(seed, i.Key)%uint64(len(lanes))] <- i:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// process processes one item. It returns only errors that would affect every other item too.
func (d *documentRun) process(ctx context.Context, i store.JobItem) error {
	body, pending, err := d.engine.store.ItemBody(ctx, d.n, i.N)
	if err != nil {
		return err
	}
	if !pending { // the document was erased
		return nil
	}
	i.State = store.ItemDone
	o := outcome{JobItem: i}
	err = d.attempt(ctx, &o, body)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ragctx.ErrNoSpace), errors.Is(err, ragctx.ErrUnavailable), errors.Is(err, ragctx.ErrClosed):
		return fmt.Errorf("document %q: %w", ragctx.Clip(i.Key), err)
	default:
		o.State, o.Status, o.Error = store.ItemFailed, "", publicError(err)
		if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
			o.Field, o.Error = f.Field, f.Problem
		} else if errors.Is(err, ragctx.ErrConflict) {
			o.Field = prefixField
		}
		if _, status := ragctx.CodeOf(err); status >= 500 {
			d.engine.opts.Logger.ErrorContext(ctx, "document of a job failed", "job", d.job.snapshot().ID, "item",
				i.N, "error", err)
		}
	}
	d.job.setAt(i.Key)
	d.outcomes <- o
	return nil
}

// attempt stores or deletes the document of an item. A panic becomes an error, so that one document
// does not stop the others.
func (d *documentRun) attempt(ctx context.Context, i *outcome, body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panicked: %v\n%s", p, debug.Stack())
		}
	}()
	if i.Op == store.OpDelete {
		err := d.delete(ctx, i.Key, body)
		i.Status = store.Deleted
		if isNotFound(err) {
			i.Status, err = store.Unchanged, nil // already deleted, perhaps by this job before a restart
		}
		return err
	}
	var p putBody
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&p); err != nil {
		return fmt.Errorf("read the item: %w", err)
	}
	put, err := d.engine.takeOver(ctx, d.ns, p.document(i.Key), p.Root, p.MovedFrom)
	i.Status, i.Chunks = put.Status, put.Chunks
	if err == nil {
		i.file = store.FileState{ID: i.Key, Root: p.Root, Version: put.Version, Stat: p.Stat}
	}
	return err
}

// delete deletes a document, or only the version that the item's body names.
func (d *documentRun) delete(ctx context.Context, id string, body []byte) error {
	if len(body) == 0 {
		return d.engine.Documents().Delete(ctx, d.ns, id)
	}
	var only deleteBody
	if err := json.Unmarshal(body, &only); err != nil {
		return fmt.Errorf("read the item: %w", err)
	}
	return d.engine.Documents().DeleteIfVersion(ctx, d.ns, store.FileState{ID: id, Root: only.Root, Version: only.Version})
}

// takeOver puts a document. If that conflicts because the document belongs to the source from, it
// replaces that document.
func (e *core) takeOver(
	ctx context.Context, namespace string, d ragctx.Document, root, from string,
) (store.Put, error) {
	put, err := e.jobs.put(ctx, namespace, d, root)
	if from == "" || !errors.Is(err, ragctx.ErrConflict) {
		return put, err
	}
	old, _, derr := e.Documents().Get(ctx, namespace, d.ExternalID, 0)
	if derr != nil || old.Root != from {
		return put, err
	}
	if err := e.Documents().Delete(ctx, namespace, d.ExternalID); err != nil && !isNotFound(err) {
		return store.Put{}, err
	}
	put, err = e.jobs.put(ctx, namespace, d, root)
	put.Status = store.Replaced
	return put, err
}

// storeOutcomes stores outcomes in batches. If a write fails, it stops the run and drops the rest: those
// items are processed again.
func (d *documentRun) storeOutcomes(ctx context.Context, stop context.CancelCauseFunc) {
	broken := false
	for first := range d.outcomes {
		batch := append(make([]store.JobItem, 0, outcomeBatch), first.JobItem)
		states := first.state(nil)
		for more := true; more && len(batch) < outcomeBatch; {
			select {
			case i, ok := <-d.outcomes:
				if more = ok; ok {
					batch, states = append(batch, i.JobItem), i.state(states)
				}
			default:
				more = false
			}
		}
		if broken {
			continue
		}
		if err := d.engine.jobs.writes.SaveOutcomes(ctx, d.n, batch); err != nil {
			broken = true
			stop(err)
			continue
		}
		d.count(batch)
		d.recordStates(ctx, states)
	}
}

// state appends the item's file state, if there is one to record.
func (o outcome) state(to []store.FileState) []store.FileState {
	if o.file.Stat == "" {
		return to
	}
	return append(to, o.file)
}

// recordStates records file states. On failure the files are only read again.
func (d *documentRun) recordStates(ctx context.Context, states []store.FileState) {
	if len(states) == 0 {
		return
	}
	if err := d.engine.Documents().RecordFileStates(ctx, d.ns, states); err != nil {
		d.engine.opts.Logger.WarnContext(ctx, "recording file states failed", "job", d.job.snapshot().ID, "error", err)
	}
}

func (d *documentRun) count(batch []store.JobItem) {
	var t store.JobTotals
	for _, i := range batch {
		t.Add(i)
	}
	d.job.update(func(j *store.Job) {
		j.Chunks, j.Bytes, j.Written = j.Chunks+t.Chunks, j.Bytes+t.Bytes, j.Written+t.Written
		j.Counts = j.Counts.Plus(t.Counts)
	})
}
