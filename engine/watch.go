package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs/watch"
)

// keptSyncJobs is how many jobs of the same watched folder are kept.
const keptSyncJobs = 10

// Watch keeps documents in sync with folders and files until ctx ends, and then returns nil. Each
// change is ingested as a job by [Documents.Sync] and reported to tell, if it is not nil, one
// call at a time. It uses o.Walk for w.Walk. Remote paths are not watched.
func (e Documents) Watch(
	ctx context.Context, o IngestOptions, w watch.Options, report func(path string, r IngestReport, err error),
) error {
	if w.Logger == nil {
		w.Logger = e.opts.Logger
	}
	return WatchPaths(ctx, o, w, func(ctx context.Context, path string, o IngestOptions) error {
		r, err := e.Documents().Sync(ctx, o)
		if report != nil && ctx.Err() == nil {
			report(path, r, err)
		}
		return err
	})
}

// WatchPaths calls sync for each path of o at the beginning and after each change in it, one call
// at a time, until ctx ends, and then returns nil. The options passed to sync ingest that path
// alone. Failed calls are retried. It uses o.Walk for w.Walk. Remote paths are not watched.
func WatchPaths(
	ctx context.Context, o IngestOptions, w watch.Options,
	sync func(ctx context.Context, path string, o IngestOptions) error,
) error {
	w.Walk = o.Walk
	paths := slices.DeleteFunc(slices.Clone(o.Paths), remotePath)
	return watch.Paths(ctx, paths, w, func(ctx context.Context, c watch.Change) error {
		o := o
		o.Paths, o.KeepEmpty = []string{c.Path}, !c.Empty
		return sync(ctx, c.Path, o)
	})
}

// Sync runs [Ingest] as a job and waits for its end. It removes jobs without changes, and
// all but the last few others. When ctx ends, the job continues.
func (e Documents) Sync(ctx context.Context, o IngestOptions) (IngestReport, error) {
	none := IngestReport{Skipped: []Skipped{}}
	req, err := o.request()
	if err != nil {
		return none, err
	}
	// A running equal job may have read some files before they changed.
	if same, err := e.activeFolderJob(ctx, req); err != nil {
		return none, err
	} else if same.ID != "" {
		if _, err := e.Jobs().Await(ctx, same.ID); err != nil {
			return none, err
		}
	}
	j, err := e.submitJob(ctx, JobFolder, req.Namespace, req)
	if err == nil {
		j, err = e.Jobs().Await(ctx, j.ID)
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

// folderReport returns the report of a folder job.
func (e *core) folderReport(ctx context.Context, j Job) (IngestReport, error) {
	r := j.IngestReport()
	err := EachItem(ctx, e.Jobs().Items, j.ID, store.ItemSkipped, func(i store.JobItem) {
		r.Skipped = append(r.Skipped, Skipped{Path: i.Key, Reason: i.Error, Field: i.Field})
	})
	return r, err
}

// dropSyncs removes the job if it changed nothing, else all but the last equal jobs.
func (e *core) dropSyncs(ctx context.Context, req folderRequest, j Job, r IngestReport) error {
	if !r.Changed() {
		return e.store.DeleteJob(ctx, j.N)
	}
	done, err := e.equalFolderJobs(ctx, req, store.JobDone)
	if err != nil {
		return err
	}
	for _, old := range done[min(len(done), keptSyncJobs):] {
		if err := e.store.DeleteJob(ctx, old.N); err != nil {
			return err
		}
	}
	return nil
}
