package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// cancelWithin bounds how long an interrupted command waits for its job's end.
const cancelWithin = 10 * time.Second

// ingest does what [engine.Ingest] does, as a job whose progress p shows. An engine in this process reads
// the files itself, so that the next command can go on with a job that was killed. A server cannot read
// this machine's files: it is sent the documents.
func (c *client) ingest(ctx context.Context, o engine.IngestOptions, p progress) (engine.IngestReport, error) {
	if c.local == nil {
		return c.send(ctx, o, p)
	}
	c.startJobs()
	j, err := c.local.Documents().Ingest(ctx, o)
	if err != nil {
		return engine.IngestReport{Skipped: []engine.Skipped{}}, err
	}
	return followIngest(ctx, c, j, nil, p)
}

// send sends the documents that an ingest finds.
func (c *client) send(ctx context.Context, o engine.IngestOptions, p progress) (engine.IngestReport, error) {
	up := &upload{opts: o, list: c.ListDocuments, report: engine.IngestReport{Skipped: []engine.Skipped{}}}
	j, err := c.PutDocuments(ctx, o.Namespace, up.lines(ctx))
	switch {
	case up.err != nil:
		return up.report, up.err
	case len(up.paths) == 0 && errors.Is(err, ragctx.ErrInvalid): // nothing to send
		return up.report, nil
	case err != nil:
		return up.report, err
	}
	report, err := followIngest(ctx, c, j, up.paths, p)
	report.Skipped = append(up.report.Skipped, report.Skipped...)
	report.Unchanged += up.report.Unchanged
	report.LeftOut = up.report.LeftOut
	return report, err
}

// upload sends the documents of an ingest, and collects the files that are not sent.
type upload struct {
	opts   engine.IngestOptions
	list   engine.ListDocuments
	report engine.IngestReport // the files that were not sent
	paths  []string            // the file of each line
	err    error               // of collecting the files
}

func (u *upload) lines(ctx context.Context) iter.Seq2[api.BulkLine, error] {
	return func(yield func(api.BulkLine, error) bool) {
		for ch, err := range engine.Collect(ctx, u.list, u.opts) {
			switch {
			case err != nil:
				u.err = err
				yield(api.BulkLine{}, err)
				return
			case ch.Skip != "":
				u.report.Skipped = append(u.report.Skipped, engine.Skipped{Path: ch.Path, Reason: ch.Skip, Field: ch.SkipField})
				continue
			case ch.LeftOut != nil:
				u.report.LeftOut.Add(*ch.LeftOut)
				continue
			case ch.Unchanged > 0:
				u.report.Unchanged += ch.Unchanged
				u.opts.Progress(engine.IngestProgress{
					Stage: "sending", Path: ch.Path,
					Report: engine.IngestReport{Unchanged: u.report.Unchanged + len(u.paths)},
				})
				continue
			}
			u.paths = append(u.paths, ch.Path)
			if !yield(bulkLine(ch), nil) {
				return
			}
			u.opts.Progress(engine.IngestProgress{
				Stage: "sending", Path: ch.Path,
				Report: engine.IngestReport{Unchanged: u.report.Unchanged + len(u.paths)},
			})
		}
	}
}

func bulkLine(ch engine.Change) api.BulkLine {
	if ch.Delete != "" {
		return api.BulkLine{Delete: ch.Delete, Root: ch.Root, Version: ch.Version}
	}
	d := ch.Document
	return api.BulkLine{
		ID: d.ExternalID, Text: d.Text, Title: d.Title, Source: d.Source, MIME: d.MIME, Tags: d.Tags,
		Metadata: d.Metadata, Occurred: d.Occurred, Root: ch.Root, MovedFrom: ch.MovedFrom, Stat: ch.Stat,
		Chunk: api.SizesOf(d.Chunk),
	}
}

// followIngest shows a job until it has ended, and returns its report. If ctx ends, it cancels the
// job. paths are the files of the job's items; nil if the items have them.
func followIngest(ctx context.Context, c *client, j engine.Job, paths []string, p progress) (engine.IngestReport, error) {
	ended, err := c.WatchJob(ctx, j.ID, func(j engine.Job) {
		p.expect(j.Items)
		p.update(jobProgress(j))
	})
	if ctx.Err() != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
		defer cancel()
		if ended, err = c.CancelJob(late, j.ID); errors.Is(err, ragctx.ErrConflict) { // the job ended at the same moment
			ended, err = c.Job(late, j.ID)
		}
		if err != nil {
			return j.IngestReport(), fmt.Errorf("cancel job %s: %w", j.ID, err)
		}
		return ended.IngestReport(), ctx.Err()
	}
	if err != nil {
		return j.IngestReport(), err
	}
	r := ended.IngestReport()
	for _, state := range []store.ItemState{store.ItemSkipped, store.ItemFailed} {
		if err := engine.EachItem(ctx, c.JobItems, j.ID, state,
			func(i store.JobItem) { r.Skipped = append(r.Skipped, skippedItem(i, paths)) }); err != nil {
			return r, err
		}
	}
	return r, jobError(ended)
}

// skippedItem returns an item of a job that was skipped or failed.
func skippedItem(i store.JobItem, paths []string) engine.Skipped {
	s := engine.Skipped{Path: i.Key, Reason: i.Error, Field: i.Field}
	if i.N <= len(paths) {
		s.Path = paths[i.N-1]
	}
	if i.Field != "" {
		s.Reason = i.Field + ": " + i.Error
	}
	return s
}

// jobError returns the error of a job that failed or was cancelled.
func jobError(j engine.Job) error {
	switch j.State {
	case store.JobFailed:
		return fmt.Errorf("%s ('ragctx jobs retry %s' does the rest)", j.Error, j.ID)
	case store.JobCancelled:
		return fmt.Errorf("job %s was cancelled; finished items stay", j.ID)
	default:
		return nil
	}
}
