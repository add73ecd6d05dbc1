package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// Sizes of what is under way in a job of documents.
const (
	pendingPage = 256 // items listed at once
	laneQueue   = 8   // items that wait for one lane
	settleBatch = 128 // outcomes stored at once
)

// documentRun is one run of a job of documents. Items go by several lanes, all of
// one document by the same, so that the last one wins.
type documentRun struct {
	engine  *Engine
	job     *runningJob
	ns      string
	n       int64
	settled chan outcome
}

// outcome is an item that was dealt with, and the state of its file.
type outcome struct {
	store.JobItem

	file store.FileState // its Stat is "" if there is nothing to note
}

// runDocuments does what is pending of a job. An error that is not about an item
// (a full disk, a store that is damaged or closed) ends the run; the rest stays
// pending and can be retried.
func (e *Engine) runDocuments(ctx context.Context, r *runningJob) error {
	j := r.snapshot().Job
	run := &documentRun{engine: e, job: r, ns: j.Namespace, n: j.N, settled: make(chan outcome, settleBatch)}
	if err := run.recount(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var settling sync.WaitGroup
	settling.Go(func() { run.settle(context.WithoutCancel(ctx), stop) })
	err := run.lanes(ctx)
	close(run.settled)
	settling.Wait()
	if err == nil {
		err = context.Cause(ctx) // the last outcomes could not be stored
	}
	if err == nil {
		return run.recount(ctx)
	}
	return err
}

// recount makes the progress that of the stored items.
func (d *documentRun) recount(ctx context.Context) error {
	t, err := d.engine.store.Tally(ctx, d.n)
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
	lanes := make([]chan store.JobItem, d.engine.opts.Lanes)
	for k := range lanes {
		lanes[k] = make(chan store.JobItem, laneQueue)
		g.Go(func() error {
			for i := range lanes[k] {
				if err := d.do(ctx, i); err != nil {
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

// feed hands the pending items to the lanes.
func (d *documentRun) feed(ctx context.Context, lanes []chan store.JobItem) error {
	seed := maphash.MakeSeed()
	for after := 0; ; {
		items, err := d.engine.store.JobItems(ctx, d.n, store.ItemFilter{After: after, Limit: pendingPage, State: store.ItemPending})
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

// do does one item. It returns an error that would meet every other item too.
func (d *documentRun) do(ctx context.Context, i store.JobItem) error {
	body, pending, err := d.engine.store.ItemBody(ctx, d.n, i.N)
	if err != nil {
		return err
	}
	if !pending { // somebody erased the document
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
		}
		if _, status := ragctx.CodeOf(err); status >= 500 {
			d.engine.opts.Logger.ErrorContext(ctx, "document of a job failed", "job", d.job.snapshot().ID, "item", i.N, "error", err)
		}
	}
	d.job.reached(i.Key)
	d.settled <- o
	return nil
}

// attempt stores or deletes the document of an item. A panic is an error: one
// document must not keep the others from being done.
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
			i.Status, err = store.Unchanged, nil // as asked for, perhaps by us before a restart
		}
		return err
	}
	var p spooledPut
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

// delete deletes a document, or only a version of it that the item's body names.
func (d *documentRun) delete(ctx context.Context, id string, body []byte) error {
	if len(body) == 0 {
		return d.engine.DeleteDocument(ctx, d.ns, id)
	}
	var only spooledDrop
	if err := json.Unmarshal(body, &only); err != nil {
		return fmt.Errorf("read the item: %w", err)
	}
	return d.engine.DropDocument(ctx, d.ns, store.FileState{ID: id, Root: only.Root, Version: only.Version})
}

// takeOver puts a document; if that is refused because the document has the root
// from, and only then, it is replaced all the same.
func (e *Engine) takeOver(ctx context.Context, namespace string, d docs.Document, root, from string) (store.Put, error) {
	put, err := e.jobs.put(ctx, namespace, d, root)
	if from == "" || !errors.Is(err, ragctx.ErrConflict) {
		return put, err
	}
	old, _, derr := e.Document(ctx, namespace, d.ExternalID, 0)
	if derr != nil || old.Root != from {
		return put, err
	}
	if err := e.DeleteDocument(ctx, namespace, d.ExternalID); err != nil && !isNotFound(err) {
		return store.Put{}, err
	}
	put, err = e.jobs.put(ctx, namespace, d, root)
	put.Status = store.Replaced
	return put, err
}

// settle stores outcomes as they come. When it cannot, it stops the run and
// drops the rest: those items are done again.
func (d *documentRun) settle(ctx context.Context, stop context.CancelCauseFunc) {
	broken := false
	for first := range d.settled {
		batch := append(make([]store.JobItem, 0, settleBatch), first.JobItem)
		states := first.state(nil)
		for more := true; more && len(batch) < settleBatch; {
			select {
			case i, ok := <-d.settled:
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
		if err := d.engine.jobs.writes.SettleItems(ctx, d.n, batch); err != nil {
			broken = true
			stop(err)
			continue
		}
		d.count(batch)
		d.note(ctx, states)
	}
}

// state appends what is to be noted of the item's file.
func (o outcome) state(to []store.FileState) []store.FileState {
	if o.file.Stat == "" {
		return to
	}
	return append(to, o.file)
}

// note notes the states of files. Without it they are read again, no more.
func (d *documentRun) note(ctx context.Context, states []store.FileState) {
	if len(states) == 0 {
		return
	}
	if err := d.engine.NoteFiles(ctx, d.ns, states); err != nil {
		d.engine.opts.Logger.WarnContext(ctx, "note the states of files", "job", d.job.snapshot().ID, "error", err)
	}
}

func (d *documentRun) count(batch []store.JobItem) {
	var t store.Tally
	for _, i := range batch {
		t.Add(i)
	}
	d.job.update(func(j *store.Job) {
		j.Chunks, j.Bytes, j.Written = j.Chunks+t.Chunks, j.Bytes+t.Bytes, j.Written+t.Written
		j.Counts = j.Counts.Plus(t.Counts)
	})
}
