package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// Job is a background job and its progress.
type Job struct {
	store.Job
	// ETASeconds is the remaining time at the pace so far; nil if unknown.
	ETASeconds *float64 `json:"eta_seconds" doc:"estimated remaining time at the pace so far; null while unknown"`
	// Current is the file, page or document that a running job has just processed.
	Current string `json:"current,omitempty" doc:"the file, page or document that a running job has just processed"`
}

// Done returns the completed fraction of a job, 0 to 1, and false if it is unknown.
func (j Job) Done() (float64, bool) {
	switch {
	case j.State == store.JobDone:
		return 1, true
	case j.TotalBytes > 0:
		return min(1, float64(j.Bytes)/float64(j.TotalBytes)), true
	case j.Items > 0:
		return min(1, float64(j.Counts.Sum())/float64(j.Items)), true
	default:
		return 0, false
	}
}

// Intervals and retention periods of jobs.
const (
	// KeepJobs is how long ended jobs stay readable.
	KeepJobs = 7 * 24 * time.Hour
	// KeepAnswers is how long a request can be repeated under its idempotency key.
	KeepAnswers = 24 * time.Hour

	heartbeatEvery = 2 * time.Second
	pruneEvery     = time.Hour
	retryDelay     = time.Second            // after a write failed on a full disk
	watchInterval  = 250 * time.Millisecond // minimum interval between updates of a watcher
)

// Get returns a job.
func (e Jobs) Get(ctx context.Context, id string) (Job, error) {
	j, err := e.jobs.get(ctx, id)
	if err == nil {
		err = canReadJob(ctx, j.Job)
	}
	if err != nil {
		return Job{}, err
	}
	return j, nil
}

// List returns a page of jobs, the newest first.
func (e Jobs) List(ctx context.Context, f store.JobFilter) ([]Job, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, err
	}
	g := access.From(ctx)
	if f.Namespace != "" {
		if err := g.RequireNamespace(f.Namespace); err != nil {
			return nil, err
		}
	}
	f.Among, f.Named = g.Namespaces, g.RequireUnbound() != nil
	list, err := e.store.Jobs(ctx, f)
	if err != nil {
		return nil, err
	}
	jobs := make([]Job, len(list))
	for i, j := range list {
		jobs[i] = Job{Job: j}
		if r := e.jobs.find(j.ID); r != nil {
			jobs[i] = r.snapshot()
		}
	}
	return jobs, nil
}

// Items returns a page of a job's items in order.
func (e Jobs) Items(ctx context.Context, id string, f store.ItemFilter) ([]store.JobItem, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, err
	}
	j, err := e.store.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := canReadJob(ctx, j); err != nil {
		return nil, err
	}
	return e.store.JobItems(ctx, j.N, f)
}

// Cancel ends a job early and returns it once it has ended. Processed items stay; pending ones
// are dropped. Cancelling a cancelled job is no error; a job that has ended otherwise is
// [ragctx.ErrConflict].
func (e Jobs) Cancel(ctx context.Context, id string) (Job, error) {
	if err := e.canModifyJob(ctx, id); err != nil {
		return Job{}, err
	}
	r, err := e.jobs.cancel(ctx, id)
	if err != nil {
		return Job{}, err
	}
	if r != nil {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return Job{}, ctx.Err()
		}
	}
	j, err := e.store.Job(ctx, id)
	if err != nil {
		return Job{}, err
	}
	if j.State.Ended() && j.State != store.JobCancelled {
		return Job{}, fmt.Errorf("job %q: %w: it has ended (%s); there is nothing to cancel", ragctx.Clip(id),
			ragctx.ErrConflict, j.State)
	}
	return Job{Job: j}, e.store.DeleteItems(context.WithoutCancel(ctx), j.N, store.ItemPending)
}

// Retry queues an ended job again: its failed and pending items, or all of it if it has no
// items. If nothing is left to do, the error is [ragctx.ErrConflict].
func (e Jobs) Retry(ctx context.Context, id string) (Job, error) {
	if err := e.canModifyJob(ctx, id); err != nil {
		return Job{}, err
	}
	j, err := e.store.RetryJob(ctx, id)
	if err != nil {
		return Job{}, err
	}
	e.jobs.wake(j.Kind)
	return Job{Job: j}, nil
}

// Watch yields the job now and after each change, at most four times a second, until it has
// ended. If ctx ends, the engine closes ([ragctx.ErrClosed]) or the job cannot be read, the error
// is the last value.
func (e Jobs) Watch(ctx context.Context, id string) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		_, err := e.Jobs().Get(ctx, id)
		if err == nil {
			err = e.jobs.watch(ctx, id, yield)
		}
		if err != nil {
			yield(Job{}, err)
		}
	}
}

// Await waits until the job has ended and returns it.
func (e Jobs) Await(ctx context.Context, id string) (Job, error) {
	var last Job
	for j, err := range e.Jobs().Watch(ctx, id) {
		if err != nil {
			return last, err
		}
		last = j
	}
	return last, nil
}

// openJobs registers the kinds of jobs.
func (e *core) openJobs() {
	e.jobs = newJobs(e)
	e.registerJob(store.JobDocuments, e.runDocuments)
	e.registerJob(JobFolder, e.runFolder)
	e.registerJob(JobReembed, e.runReembed)
	e.registerJob(JobDoctor, e.runDoctor)
}

// Start starts queued jobs, first those interrupted when the directory was last closed, and
// delivers pending turns to observers. [Open] calls it unless PauseJobs is set.
//
// A process that follows another one does so when it leads.
func (e Jobs) Start() {
	e.started.Store(true)
	if e.node.follows() {
		return
	}
	e.deliverPending(context.Background())
	e.jobs.start()
}

// deliverPending queues the pending turns. On an error they are delivered after the next start.
func (e *core) deliverPending(ctx context.Context) {
	if err := e.turns.resume(ctx); err != nil {
		e.opts.Logger.Warn("reading pending turns failed; they are delivered at the next start", "error", err)
	}
}

// registerJob sets the function that runs a kind of job. Jobs of one kind run one after the other
// in the order of acceptance. It is called before the engine is open. run is called again for a job
// interrupted by the end of the process, and must return soon after its context ends.
func (e *core) registerJob(kind string, run func(context.Context, *runningJob) error) {
	e.jobs.kinds[kind] = &jobKind{name: kind, run: run, wake: make(chan struct{}, 1)}
}

// submitJob queues a job. request is stored as JSON for [runningJob.request].
func (e *core) submitJob(ctx context.Context, kind, namespace string, request any) (Job, error) {
	b, err := json.Marshal(request)
	if err != nil {
		return Job{}, fmt.Errorf("submit job: %w", err)
	}
	j := store.Job{ID: e.opts.NewID(), Kind: kind, Namespace: namespace, State: store.JobQueued, Request: b}
	if err := e.store.CreateJob(ctx, &j); err != nil {
		return Job{}, err
	}
	e.jobs.wake(kind)
	return Job{Job: j}, nil
}

// publicError returns the error text for the owner of a job; the log has the full error.
func publicError(err error) string {
	switch _, status := ragctx.CodeOf(err); {
	case errors.Is(err, ragctx.ErrNoSpace):
		return "the disk of the data directory is full; free some space, then retry the job"
	case status < 500:
		return err.Error()
	case errors.Is(err, ragctx.ErrUnavailable):
		return "the server could not continue; see its log for the cause, then retry the job"
	default:
		return "internal error; the server's log has the cause under the job's id"
	}
}

// EachItem calls fn with every item of a job in a state, in order. list returns
// a page of them, as [Jobs.Items] does.
func EachItem(ctx context.Context, list func(ctx context.Context, id string, f store.ItemFilter) ([]store.JobItem, error),
	id string, state store.ItemState, fn func(store.JobItem),
) error {
	f := store.ItemFilter{State: state, Limit: MaxPage}
	for {
		page, err := list(ctx, id, f)
		if err != nil {
			return err
		}
		for _, i := range page {
			f.After = i.N
			fn(i)
		}
		if len(page) < f.Limit {
			return nil
		}
	}
}
