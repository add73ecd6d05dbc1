package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx/store"
	"github.com/ragctx/ragctx/watch"
)

// keepSyncs is how many jobs of the same watched folder can be looked at.
const keepSyncs = 10

// Watch keeps documents in step with folders and files until ctx ends, and then
// returns nil. Each change is ingested as a job, as [Engine.SyncFolders] does it,
// and then told, if tell is not nil, one call at a time. w.Walk is that of o.
// Paths that are not of this machine are not watched.
func (e *Engine) Watch(ctx context.Context, o IngestOptions, w watch.Options, tell func(path string, r IngestReport, err error)) error {
	w.Walk = o.Walk
	if w.Logger == nil {
		w.Logger = e.opts.Logger
	}
	paths := slices.DeleteFunc(slices.Clone(o.Paths), remotePath)
	return watch.Paths(ctx, paths, w, func(ctx context.Context, c watch.Change) error {
		o := o
		o.Paths, o.KeepEmpty = []string{c.Path}, !c.Empty
		r, err := e.SyncFolders(ctx, o)
		if tell != nil && ctx.Err() == nil {
			tell(c.Path, r, err)
		}
		return err
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
	r := IngestReport{
		Created: j.Counts.Created, Replaced: j.Counts.Replaced, Unchanged: j.Counts.Unchanged, Deleted: j.Counts.Deleted,
		Chunks: j.Chunks, Bytes: j.Written, Skipped: []Skipped{}, LeftOut: j.FolderResult().LeftOut,
	}
	f := store.ItemFilter{Limit: MaxPage, State: store.ItemSkipped}
	for {
		page, err := e.JobItems(ctx, j.ID, f)
		if err != nil {
			return r, err
		}
		for _, i := range page {
			f.After = i.N
			r.Skipped = append(r.Skipped, Skipped{Path: i.Key, Reason: i.Error})
		}
		if len(page) < f.Limit {
			return r, nil
		}
	}
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
