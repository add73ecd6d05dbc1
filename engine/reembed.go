package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// JobReembed is the kind of job that changes the embedder of a data directory.
const JobReembed = "reembed"

// reembedRequest is the request of such a job.
type reembedRequest struct {
	Embedder embed.Identity `json:"embedder"`
}

// Reembed submits a job that changes the data directory to another embedder: it embeds all texts
// again while the existing vectors serve queries, and then switches the indexes at once. Texts
// written in the meantime are embedded by both. The job continues after a restart. Until the switch,
// cancelling it leaves everything as it was.
func (e Indexes) Reembed(ctx context.Context, with embed.Embedder) (Job, error) {
	if err := requireAdmin(ctx); err != nil {
		return Job{}, err
	}
	to := with.Identity()
	if e.findEmbedder(to) == nil {
		return Job{}, ragctx.Invalid("embedder",
			"%s cannot be reopened after a restart; provide it in Options.Embedders", to)
	}
	if e.Indexes().Embedder() == to {
		return Job{}, fmt.Errorf("%w: the data directory already uses the embedder %s", ragctx.ErrConflict, to)
	}
	e.changingSpace.Lock()
	defer e.changingSpace.Unlock()
	if j, ok, err := e.reembedding(ctx); err != nil || ok {
		if err == nil {
			err = fmt.Errorf("%w: job %s is changing the embedder; wait for it, or cancel it", ragctx.ErrConflict, j.ID)
		}
		return j, err
	}
	return e.submitJob(ctx, JobReembed, "", reembedRequest{to})
}

// reembedding returns the queued or running job that changes the embedder, if any.
func (e *core) reembedding(ctx context.Context) (Job, bool, error) {
	for _, state := range []store.JobState{store.JobQueued, store.JobRunning} {
		found, err := e.store.Jobs(ctx, store.JobFilter{Kind: JobReembed, State: state, Limit: 1})
		if err != nil || len(found) > 0 {
			var j Job
			if err == nil {
				j.Job = found[0]
			}
			return j, err == nil, err
		}
	}
	return Job{}, false, nil
}

// Reembedding returns the job that changes the embedder and its target; false without one.
func (e Indexes) Reembedding(ctx context.Context) (Job, embed.Identity, bool, error) {
	j, ok, err := e.reembedding(ctx)
	if err != nil || !ok {
		return j, embed.Identity{}, false, err
	}
	var req reembedRequest
	err = decodeRequest(j, &req)
	return j, req.Embedder, err == nil, err
}

// resumeReembed restores the next embedding space of a change in progress, so that new writes are
// embedded in it, and submits a change if the options ask for one.
func (e *core) resumeReembed(ctx context.Context) error {
	_, to, ok, err := e.Indexes().Reembedding(ctx)
	if err != nil {
		return err
	}
	if ok {
		return e.setNextSpace(ctx, to)
	}
	want := e.opts.Embedder
	if !e.opts.Reembed || want == nil || want.Identity() == e.Indexes().Embedder() {
		return nil
	}
	_, err = e.submitJob(ctx, JobReembed, "", reembedRequest{want.Identity()})
	return err
}

// setNextSpace sets the next embedding space. It stays unset if the embedder is unavailable, which the job
// reports, or is already current: then the job was interrupted after the switch and only has to
// clean up.
func (e *core) setNextSpace(ctx context.Context, to embed.Identity) error {
	if to == e.Indexes().Embedder() {
		return nil
	}
	with := e.findEmbedder(to)
	if with == nil {
		return nil
	}
	id, err := e.store.Embedder(ctx, to)
	if err != nil {
		return err
	}
	e.spaces.Next.Store(retrieve.NewSpace(id, to, with, &e.embedderCalls))
	return nil
}

// runReembed runs the job.
func (e *core) runReembed(ctx context.Context, r *runningJob) error {
	var req reembedRequest
	if err := r.request(&req); err != nil {
		return err
	}
	if e.Indexes().Embedder() == req.Embedder { // interrupted after the switch
		return e.dropOldVectors(ctx, r)
	}
	if err := e.setNextSpace(ctx, req.Embedder); err != nil {
		return err
	}
	next := e.spaces.Next.Load()
	if next == nil {
		return e.waitForEmbedder(ctx, r, req.Embedder)
	}
	err := e.changeSpace(ctx, r, next)
	changed := e.Indexes().Embedder() == req.Embedder
	switch {
	case err != nil && e.jobs.life.Err() != nil && !(r.isCancelled() && !changed):
		return err // continued later
	case changed: // too late to cancel; only the cleanup is left
		return errors.Join(err, e.dropOldVectors(e.jobs.life, r))
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(err, e.abandon(ctx), e.dropOldVectors(ctx, r))
}

// waitForEmbedder keeps a change to an embedder that this process does not have waiting: existing
// vectors may have cost money, and the next process may have the embedder. It returns when the
// engine closes or the job is cancelled.
func (e *core) waitForEmbedder(ctx context.Context, r *runningJob, to embed.Identity) error {
	e.opts.Logger.WarnContext(ctx, "changing the embedder waits for the settings of the new one", "embedder",
		to.String())
	r.stage("waits for the data directory to be opened with the settings of " + to.String())
	<-ctx.Done()
	if !r.isCancelled() {
		return ctx.Err() // continued later
	}
	return errors.Join(ctx.Err(), e.dropOldVectors(context.WithoutCancel(ctx), r))
}

// abandon undoes an incomplete change.
func (e *core) abandon(ctx context.Context) error {
	e.spaces.Next.Store(nil)
	return e.collections.Each(ctx, func(_ store.Collection, idx index.Index) error { return idx.Abandon(ctx) })
}

// changeSpace embeds everything in the next embedding space and switches to it.
func (e *core) changeSpace(ctx context.Context, r *runningJob, next *retrieve.Space) error {
	newest, err := e.store.LastChunk(ctx)
	if err != nil {
		return err
	}
	n, err := e.store.CountChunks(ctx)
	if err != nil {
		return err
	}
	if next.Interim != nil { // all texts get their vectors after the switch
		newest, n = 0, 0
	}
	r.update(func(j *store.Job) {
		j.Stage, j.Items, j.Counts = "embed", n, store.JobCounts{}
	})
	progress := func(chunks int) {
		r.update(func(j *store.Job) { j.Counts.Replaced = min(j.Items, j.Counts.Replaced+chunks) })
	}
	if !next.Recomputed() && next.Interim == nil {
		if err := e.fillSpace(ctx, next, progress); err != nil {
			return err
		}
	}
	r.stage("index")
	if err := e.prepareIndexes(ctx, next); err != nil {
		return err
	}
	r.stage("switch")
	// Texts written in the meantime and embedded only by the old embedder are recorded as missing in the
	// same write, so that a crash cannot lose that.
	if err := e.store.ChangeEmbedder(ctx, next.Name(), newest+1); err != nil {
		return err
	}
	// From here on the change cannot be undone, so nothing may interrupt it.
	ctx = context.WithoutCancel(ctx)
	old := e.spaces.Current.Swap(next)
	e.spaces.Next.Store(old) // serves indexes that have not switched yet
	for {
		if err = e.switchIndexes(ctx, next); err == nil {
			break
		}
		e.opts.Logger.WarnContext(ctx, "switching an index to the new embedder failed; retrying", "error", err)
		select {
		case <-e.jobs.life.Done(): // at the next opening all indexes use the new space
			return err
		case <-time.After(switchRetryDelay):
		}
	}
	e.spaces.Next.Store(nil)
	e.backfill.wake()
	return nil
}

// An unavailable embedder is called again after outageMinDelay, with exponential backoff up to
// outageMaxDelay.
const (
	outageMinDelay = 200 * time.Millisecond
	outageMaxDelay = time.Minute
)

// fillSpace fills an embedding space from the beginning. It waits while the embedder is
// unavailable: a failure would discard the vectors made so far, which may have cost money, and the
// job can be cancelled at any time.
func (e *core) fillSpace(ctx context.Context, next *retrieve.Space, progress func(units int)) error {
	after, wait := uint64(0), outageMinDelay
	for {
		last, err := e.embedMissing(ctx, next, after, false, progress)
		if !errors.Is(err, errEmbedding) || !errors.Is(err, ragctx.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if last > after {
			after, wait = last, outageMinDelay
		}
		e.opts.Logger.WarnContext(ctx, "the new embedder is unavailable; retrying", "again_in", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = min(2*wait, outageMaxDelay)
	}
}

// prepareIndexes fills a vector index of the next embedding space in every open index.
func (e *core) prepareIndexes(ctx context.Context, next *retrieve.Space) error {
	return e.collections.Each(ctx, func(_ store.Collection, idx index.Index) error {
		if idx.Space() == next.Name() {
			return nil
		}
		if err := idx.Prepare(ctx, indexSpace(next)); err != nil {
			return err
		}
		for {
			if ready, err := idx.Prepared(ctx); ready || err != nil {
				return err
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

// switchRetryDelay is the delay before a failed switch is retried.
const switchRetryDelay = 200 * time.Millisecond

// switchIndexes switches every open index to the next embedding space. Indexes opened later use it from
// the start.
func (e *core) switchIndexes(ctx context.Context, next *retrieve.Space) error {
	var errs []error
	err := e.collections.Each(ctx, func(_ store.Collection, idx index.Index) error {
		if idx.Space() == next.Name() {
			return nil
		}
		err := idx.Prepare(ctx, indexSpace(next))
		if err == nil {
			err = idx.Switch(ctx)
		}
		errs = append(errs, err) // continue with the others
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// deleteBatch is how many vectors are deleted in one write.
const deleteBatch = 500

// dropOldVectors deletes the vectors and files of other embedding spaces.
func (e *core) dropOldVectors(ctx context.Context, r *runningJob) error {
	r.stage("clean")
	current := e.spaces.Current.Load()
	var keep int64
	if s := storedSpace(current); s != nil {
		keep = s.ID
	}
	for {
		more, err := e.store.DeleteOldVectors(ctx, keep, deleteBatch)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if err := e.opts.Indexes.KeepSpace(ctx, current.Name()); err != nil {
		return fmt.Errorf("remove old vectors: %w", err)
	}
	return nil
}
