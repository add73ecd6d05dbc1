package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Faults lets a test fail or delay what jobs write. Each func may be nil.
type Faults struct {
	Put    func(id string) error // before a document is stored
	Add    func() error
	Settle func() error
	Save   func(store.Job) error
}

// Inject puts faults between the jobs and the store. It is for an engine whose
// jobs have not been started.
func (e *core) Inject(f Faults) {
	put := e.Documents().Put
	e.jobs.put = func(ctx context.Context, namespace string, d ragctx.Document, root string) (store.Put, error) {
		if f.Put != nil {
			if err := f.Put(d.ExternalID); err != nil {
				return store.Put{}, err
			}
		}
		return put(ctx, namespace, d, root)
	}
	e.jobs.writes = faulty{e.store, f}
}

type faulty struct {
	jobWrites

	f Faults
}

func (w faulty) AddItems(ctx context.Context, job int64, items []store.JobItem) error {
	if w.f.Add != nil {
		if err := w.f.Add(); err != nil {
			return err
		}
	}
	return w.jobWrites.AddItems(ctx, job, items)
}

func (w faulty) SaveOutcomes(ctx context.Context, job int64, items []store.JobItem) error {
	if w.f.Settle != nil {
		if err := w.f.Settle(); err != nil {
			return err
		}
	}
	return w.jobWrites.SaveOutcomes(ctx, job, items)
}

func (w faulty) SaveJob(ctx context.Context, j store.Job) error {
	if w.f.Save != nil {
		if err := w.f.Save(j); err != nil {
			return err
		}
	}
	return w.jobWrites.SaveJob(ctx, j)
}

// RegisterJob is registerJob, for an engine whose jobs have not been started.
func (e *core) RegisterJob(kind string, run func(ctx context.Context, stage func(string), result func(any) error) error) {
	e.registerJob(kind, func(ctx context.Context, r *runningJob) error { return run(ctx, r.stage, r.result) })
}

// SubmitJob is submitJob.
func (e *core) SubmitJob(ctx context.Context, kind string, request any) (Job, error) {
	return e.submitJob(ctx, kind, "", request)
}

// Prune removes what is too old.
func (e *core) Prune(ctx context.Context) error { return e.jobs.prune(ctx) }

// Cancelled reports whether a job runs and has been told to stop.
func (e *core) Cancelled(id string) bool {
	r := e.jobs.find(id)
	return r != nil && r.isCancelled()
}

// Spools returns the number of jobs that have not been accepted.
func (e *core) Spools(ctx context.Context) (int, error) {
	_, spooling, err := e.store.ExpiredJobs(ctx, e.jobs.now())
	return len(spooling), err
}
