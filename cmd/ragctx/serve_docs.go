package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/store"
)

// docSource is what serve ingests into one namespace.
type docSource struct {
	namespace string
	paths     []string
}

// sources returns what is to be ingested, by namespace: what args name, else what
// the settings do. An argument is a path, or a path, "=" and a namespace.
func (s settings) sources(args []string) ([]docSource, error) {
	if len(args) == 0 {
		args = filepath.SplitList(s.k.String("serve_docs"))
	}
	var out []docSource
	for _, arg := range args {
		path, ns := arg, s.Namespace
		if _, err := os.Stat(arg); err != nil { // the whole may be a path that has an =
			if i := strings.LastIndexByte(arg, '='); i >= 0 {
				path, ns = arg[:i], arg[i+1:]
			}
		}
		if err := exist([]string{path}); err != nil {
			return nil, err
		}
		if err := checkNamespace(ns); err != nil {
			return nil, asUsage(err)
		}
		i := slices.IndexFunc(out, func(d docSource) bool { return d.namespace == ns })
		if i < 0 {
			i = len(out)
			out = append(out, docSource{namespace: ns})
		}
		out[i].paths = append(out[i].paths, path)
	}
	return out, nil
}

// ingestBehind ingests while the server answers, and says in the log how it goes.
// The job stays when the server ends before it.
func ingestBehind(ctx context.Context, eng *engine.Engine, log *slog.Logger, src docSource) {
	start := time.Now()
	last := start
	log.InfoContext(ctx, "ingest started", "namespace", src.namespace, "paths", src.paths)
	l := local{eng}
	j, err := l.IngestFolders(ctx, engine.IngestOptions{Namespace: src.namespace, Paths: src.paths})
	if err == nil {
		j, err = l.WatchJob(ctx, j.ID, func(j engine.Job) {
			if now := time.Now(); now.Sub(last) >= lineEvery {
				last = now
				log.InfoContext(ctx, "ingest goes on", "job", j.ID, "files", j.Counts.Sum(), "of", j.Items, "chunks", j.Chunks)
			}
		})
	}
	if err == nil && j.State.Ended() {
		var skipped []engine.Skipped
		err = eachItem(ctx, l, j.ID, store.ItemSkipped, func(i store.JobItem) { skipped = append(skipped, skippedItem(i, nil)) })
		for _, why := range byReason(skipped) {
			log.WarnContext(ctx, "files skipped", "reason", why.text, "files", len(why.paths), "first", why.paths[0])
		}
	}
	c := j.Counts
	counts := []any{
		"job", j.ID, "created", c.Created, "replaced", c.Replaced, "unchanged", c.Unchanged, "deleted", c.Deleted,
		"skipped", c.Skipped, "chunks", j.Chunks, "seconds", time.Since(start).Seconds(),
	}
	switch {
	case ctx.Err() != nil:
		log.WarnContext(ctx, "ingest interrupted; the next start goes on with it", counts...)
	case err != nil:
		log.ErrorContext(ctx, "ingest failed", append(counts, "error", err)...)
	case j.State == store.JobDone:
		log.InfoContext(ctx, "ingest done", counts...)
	default:
		log.ErrorContext(ctx, "ingest "+string(j.State), append(counts, "error", j.Error)...) //nolint:sloglint // one of two states
	}
}
