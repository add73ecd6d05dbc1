package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs/watch"
)

func checkPoll(v string) error {
	if d, err := time.ParseDuration(v); err != nil || d < 0 || d > 0 && d < time.Second {
		return fmt.Errorf("is %q; use a time such as 30s, at least 1s, or 0 for the notifications of the system", ragctx.Clip(v))
	}
	return nil
}

// watchOptions returns the options of watching.
func (s settings) watchOptions(log *slog.Logger) watch.Options {
	poll, _ := time.ParseDuration(s.k.String("poll")) // checked
	return watch.Options{Poll: poll, Logger: log}
}

// sync ingests changes, as [client.ingest] does. An engine in this process writes no job for them.
func (c *client) sync(ctx context.Context, o engine.IngestOptions) (engine.IngestReport, error) {
	if c.local != nil {
		return c.local.Documents().Sync(ctx, o)
	}
	o.Progress = func(engine.IngestProgress) {}
	return c.send(ctx, o, noProgress{})
}

// watchIngests watches the files of several ingests until ctx ends.
func watchIngests(ctx context.Context, w io.Writer, c *client, list []engine.IngestOptions, wo watch.Options, asJSON bool) error {
	g, ctx := errgroup.WithContext(ctx)
	out := &lineWriter{w: w}
	for _, o := range list {
		o.Progress, o.Reread = nil, false
		g.Go(func() error { return watchIngest(ctx, out, c, o, wo, asJSON) })
	}
	return g.Wait()
}

// lineWriter serialises the lines of several writers.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lineWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// watchIngest ingests changes of files until ctx ends, which is no error, and prints each in a
// line. Pages are not watched.
func watchIngest(ctx context.Context, w io.Writer, c *client, o engine.IngestOptions, wo watch.Options, asJSON bool) error {
	return engine.WatchPaths(ctx, o, wo, func(ctx context.Context, path string, o engine.IngestOptions) error {
		r, err := c.sync(ctx, o)
		if err != nil || !r.Changed() {
			return err
		}
		if asJSON {
			return json.NewEncoder(w).Encode(watchLine{path, r})
		}
		_, err = fmt.Fprintf(w, "%s %s: %s\n", time.Now().Format(time.TimeOnly), printable(path), reportText(r))
		return err
	})
}

// watchLine is a change as JSON.
type watchLine struct {
	Path string `json:"path"`
	engine.IngestReport
}

// watchInBackground ingests changes while the server runs, and logs them.
func watchInBackground(ctx context.Context, eng *engine.Engine, log *slog.Logger, o engine.IngestOptions, wo watch.Options) {
	log.InfoContext(ctx, "watching", "namespace", o.Namespace, "paths", o.Paths)
	err := eng.Documents().Watch(ctx, o, wo, func(path string, r engine.IngestReport, err error) {
		if err == nil && r.Changed() {
			log.InfoContext(ctx, "ingest of changes done", "namespace", o.Namespace, "path", path, "created", r.Created,
				"replaced", r.Replaced, "deleted", r.Deleted, "skipped", len(r.Skipped), "chunks", r.Chunks)
		}
	})
	if err != nil {
		log.ErrorContext(ctx, "watching ended", "error", err)
	}
}
