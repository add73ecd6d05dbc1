package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// JobFolder is the kind of job that ingests files and folders of this machine.
const JobFolder = "folder"

// folderRequest is the stored form of [IngestOptions] of such a job.
type folderRequest struct {
	Namespace string            `json:"namespace"`
	Paths     []string          `json:"paths"` // absolute
	Prefix    string            `json:"prefix,omitempty"`
	Walk      docs.WalkOptions  `json:"walk,omitzero"`
	Tags      []string          `json:"tags,omitempty"`
	Metadata  map[string]any    `json:"metadata,omitempty"`
	Chunk     ragctx.ChunkSizes `json:"chunk,omitzero"`
	Reread    bool              `json:"reread,omitempty"`
	KeepEmpty bool              `json:"keep_empty,omitempty"`
}

// options returns the ingest options of the request.
func (r folderRequest) options() IngestOptions {
	return IngestOptions{
		Namespace: r.Namespace, Paths: r.Paths, Prefix: r.Prefix, Walk: r.Walk, Tags: r.Tags, Metadata: r.Metadata,
		Chunk: r.Chunk, Reread: r.Reread, KeepEmpty: r.KeepEmpty,
	}
}

// request returns the options in their stored form.
func (o IngestOptions) request() (folderRequest, error) {
	req := folderRequest{
		Namespace: namespaceName(o.Namespace), Prefix: o.Prefix, Walk: o.Walk, Tags: o.Tags, Metadata: o.Metadata,
		Chunk: o.Chunk, Reread: o.Reread, KeepEmpty: o.KeepEmpty,
	}
	if err := ragctx.ValidName("namespace", req.Namespace); err != nil {
		return req, err
	}
	for _, p := range o.Paths {
		if !remotePath(p) {
			abs, err := filepath.Abs(p)
			if err != nil {
				return req, fmt.Errorf("ingest %s: %w", p, err)
			}
			p = abs
		}
		req.Paths = append(req.Paths, p)
	}
	return req, nil
}

// remotePath reports whether a path is a URL.
func remotePath(path string) bool { return strings.Contains(path, "://") }

// Ingest submits a job that does what [Ingest] does and continues after a restart. Functions
// among the options are ignored in favour of the engine's. If an equal job has not ended, it is
// returned instead. It is for the operator of the machine: its caller can have any file read.
func (e Documents) Ingest(ctx context.Context, o IngestOptions) (Job, error) {
	req, err := o.request()
	if err != nil {
		return Job{}, err
	}
	same, err := e.activeFolderJob(ctx, req)
	if err != nil || same.ID != "" {
		return same, err
	}
	return e.submitJob(ctx, JobFolder, req.Namespace, req)
}

// activeFolderJob returns an equal job that has not ended.
func (e *core) activeFolderJob(ctx context.Context, req folderRequest) (Job, error) {
	for _, state := range []store.JobState{store.JobRunning, store.JobQueued} {
		list, err := e.equalFolderJobs(ctx, req, state)
		if err != nil {
			return Job{}, err
		}
		for _, j := range list {
			if !j.State.Ended() {
				return j, nil
			}
		}
	}
	return Job{}, nil
}

// equalFolderJobs returns the equal jobs in a state, newest first.
func (e *core) equalFolderJobs(ctx context.Context, req folderRequest, state store.JobState) ([]Job, error) {
	want, err := encodeBody(req)
	if err != nil {
		return nil, err
	}
	list, err := e.Jobs().List(ctx, store.JobFilter{
		Limit: MaxPage, Kind: JobFolder, State: state,
		Namespace: req.Namespace,
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(j Job) bool {
		var have folderRequest
		if err := decodeRequest(j, &have); err != nil {
			return true
		}
		b, err := encodeBody(have)
		return err != nil || !slices.Equal(b, want)
	}), nil
}

// folderResult is the result of a folder job besides its counts.
type folderResult struct {
	LeftOut docs.LeftOut `json:"left_out,omitzero"`
}

// IngestReport returns the job's counts as a report. Skipped files are not included: they are items
// of the job.
func (j Job) IngestReport() IngestReport {
	return IngestReport{
		Created: j.Counts.Created, Replaced: j.Counts.Replaced, Unchanged: j.Counts.Unchanged, Deleted: j.Counts.Deleted,
		Chunks: j.Chunks, Bytes: j.Written, Skipped: []Skipped{}, LeftOut: j.folderResult().LeftOut,
	}
}

// folderResult returns the result of a folder job besides its counts.
func (j Job) folderResult() folderResult {
	var r folderResult
	if j.Kind == JobFolder && len(j.Result) > 0 {
		_ = json.Unmarshal(j.Result, &r) // written by another version; only the counts matter
	}
	return r
}

// runFolder runs a folder ingest from its beginning. Documents that an earlier run of the job
// stored are unchanged now, and keep their earlier counts.
func (e *core) runFolder(ctx context.Context, r *runningJob) error {
	var req folderRequest
	if err := r.request(&req); err != nil {
		return err
	}
	j := r.snapshot().Job
	if err := e.store.DeleteItems(ctx, j.N, ""); err != nil {
		return err
	}
	run := &folderRun{engine: e, job: r, n: j.N, before: j}
	run.before.Counts.Skipped, run.before.Counts.Unchanged = 0, 0
	r.update(func(j *store.Job) { j.Items = 0 })
	o := req.options()
	o.Open, o.Extract, o.Now = e.opts.OpenSource, e.opts.Extract, e.opts.Now
	o.Progress = run.progress
	var counting sync.WaitGroup
	defer counting.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	counting.Go(func() {
		if n, err := CountEntries(ctx, o); err == nil {
			r.update(func(j *store.Job) { j.Items = max(j.Items, n) })
		}
	})
	r.stage("store")
	report, err := Ingest(ctx, folderSink{e.Documents()}, o)
	run.take(report)
	err = errors.Join(err, r.result(folderResult{LeftOut: report.LeftOut}))
	return errors.Join(err, run.flush(context.WithoutCancel(ctx), report.Skipped))
}

// folderSink is the engine with the put function that tests can replace.
type folderSink struct{ Documents }

// Put implements [Sink].
func (s folderSink) Put(
	ctx context.Context, namespace string, d ragctx.Document, root string,
) (store.Put, error) {
	return s.jobs.put(ctx, namespace, d, root)
}

// folderRun is one run of a folder ingest.
type folderRun struct {
	engine  *core
	job     *runningJob
	n       int64
	before  store.Job // counts of earlier runs
	flushed int       // number of skipped files already stored
}

// progress updates the job from the ingest's report. Calls come one at a time.
func (f *folderRun) progress(p IngestProgress) {
	f.job.setAt(p.Path)
	f.take(p.Report)
	if len(p.Report.Skipped)-f.flushed >= queueBatchItems {
		// The end of the run flushes again and returns the error.
		_ = f.flush(context.WithoutCancel(f.job.ctx), p.Report.Skipped)
	}
}

// take sets the job's progress from the report.
func (f *folderRun) take(p IngestReport) {
	f.job.update(func(j *store.Job) {
		earlier := f.before.Counts
		j.Counts = store.JobCounts{
			Created: earlier.Created + p.Created, Replaced: earlier.Replaced + p.Replaced,
			Unchanged: max(0, p.Unchanged-earlier.Created-earlier.Replaced),
			Deleted:   earlier.Deleted + p.Deleted, Skipped: len(p.Skipped),
		}
		j.Chunks, j.Written = f.before.Chunks+p.Chunks, f.before.Written+p.Bytes
		j.Bytes = j.Written
		// The count was of files, and some files have several documents.
		j.Items = max(j.Items, j.Counts.Sum()-j.Counts.Deleted)
	})
}

// flush stores the new skipped files as items.
func (f *folderRun) flush(ctx context.Context, skipped []Skipped) error {
	for f.flushed < len(skipped) {
		var items []store.JobItem
		for _, s := range skipped[f.flushed:min(len(skipped), f.flushed+queueBatchItems)] {
			items = append(items, store.JobItem{
				N: f.flushed + len(items) + 1, Key: s.Path, Op: store.OpPut, State: store.ItemSkipped, Field: s.Field, Error: s.Reason,
			})
		}
		if err := f.engine.jobs.writes.AddItems(ctx, f.n, items); err != nil {
			return err
		}
		f.flushed += len(items)
	}
	return nil
}

// CountEntries returns how many entries an ingest will report. Its errors would also end the
// ingest.
func CountEntries(ctx context.Context, o IngestOptions) (int, error) {
	n := 0
	for _, p := range o.Paths {
		root, err := o.open(p)
		if err != nil {
			return n, err
		}
		for _, err := range root.Entries(ctx) {
			if _, skip := errors.AsType[*docs.Skip](err); err != nil && !skip {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
