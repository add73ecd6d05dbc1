package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs/watch"
)

// keepSyncs is how many jobs of the same watched folder can be looked at.
const keepSyncs = 10

// Watch keeps documents in step with folders and files until ctx ends, and then
// returns nil. Each change is ingested as a job, as [Engine.SyncFolders] does it,
// and then told, if tell is not nil, one call at a time. w.Walk is that of o.
// Paths that are not of this machine are not watched.
func (e *Engine) Watch(ctx context.Context, o IngestOptions, w watch.Options, tell func(path string, r IngestReport, err error)) error {
	if w.Logger == nil {
		w.Logger = e.opts.Logger
	}
	return WatchPaths(ctx, o, w, func(ctx context.Context, path string, o IngestOptions) error {
		r, err := e.SyncFolders(ctx, o)
		if tell != nil && ctx.Err() == nil {
			tell(path, r, err)
		}
		return err
	})
}

// WatchPaths calls sync for each of the paths of o at the beginning and whenever
// something in it has changed, one call at a time, until ctx ends, and then returns
// nil. What sync is given ingests that path alone. What fails is tried again. w.Walk is
// that of o. Paths that are not of this machine are not watched.
func WatchPaths(ctx context.Context, o IngestOptions, w watch.Options, sync func(ctx context.Context, path string, o IngestOptions) error) error {
	w.Walk = o.Walk
	paths := slices.DeleteFunc(slices.Clone(o.Paths), remotePath)
	return watch.Paths(ctx, paths, w, func(ctx context.Context, c watch.Change) error {
		o := o
		o.Paths, o.KeepEmpty = []string{c.Path}, !c.Empty
		return sync(ctx, c.Path, o)
	})
}

// SyncFolders does what [Ingest] does, as a job, and waits for its end. Of jobs
// that changed nothing, and of all but the last few that did, no trace is left.
// When ctx ends, the job goes on.
func (e *Engine) SyncFolders(ctx context.Context, o IngestOptions) (IngestReport, error) {
	none := IngestReport{Skipped: []Skipped{}}
	req, err := o.request()
	if err != nil {
		return none, err
	}
	// A job for the same has looked at some of the files already.
	if same, err := e.sameFolders(ctx, req); err != nil {
		return none, err
	} else if same.ID != "" {
		if _, err := e.AwaitJob(ctx, same.ID); err != nil {
			return none, err
		}
	}
	j, err := e.submitJob(ctx, JobFolder, req.Namespace, req)
	if err == nil {
		j, err = e.AwaitJob(ctx, j.ID)
	}
	if err != nil {
		return none, err
	}
	r, err := e.folderReport(ctx, j)
	if err != nil {
		return r, err
	}
	if j.State != store.JobDone {
		return r, fmt.Errorf("job %s: %s: %s", j.ID, j.State, j.Error)
	}
	return r, e.dropSyncs(ctx, req, j, r)
}

// folderReport returns what a job of folders did.
func (e *Engine) folderReport(ctx context.Context, j Job) (IngestReport, error) {
	r := j.IngestReport()
	err := EachItem(ctx, e, j.ID, store.ItemSkipped, func(i store.JobItem) {
		r.Skipped = append(r.Skipped, Skipped{Path: i.Key, Reason: i.Error})
	})
	return r, err
}

// dropSyncs removes the job if it changed nothing, else those of the same request
// but the last ones.
func (e *Engine) dropSyncs(ctx context.Context, req folderRequest, j Job, r IngestReport) error {
	if !r.Changed() {
		return e.store.DropJob(ctx, j.N)
	}
	done, err := e.likeFolders(ctx, req, store.JobDone)
	if err != nil {
		return err
	}
	for _, old := range done[min(len(done), keepSyncs):] {
		if err := e.store.DropJob(ctx, old.N); err != nil {
			return err
		}
	}
	return nil
}
