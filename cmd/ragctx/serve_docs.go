package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/fetch"
)

// sources returns the ingests that args name, or else the settings. An argument is a path or URL,
// optionally followed by "=" and a namespace. Paths of one namespace become one ingest.
func (s settings) sources(args []string, log *slog.Logger) ([]engine.IngestOptions, error) {
	if len(args) == 0 {
		return s.servedDocs(log)
	}
	var out []engine.IngestOptions
	for _, arg := range args {
		path, ns := s.splitNamespace(arg)
		if err := exist([]string{path}); err != nil {
			return nil, err
		}
		if err := checkNamespace(ns); err != nil {
			return nil, asUsage(err)
		}
		i := slices.IndexFunc(out, func(o engine.IngestOptions) bool { return o.Namespace == ns })
		if i < 0 {
			i = len(out)
			out = append(out, engine.IngestOptions{Namespace: ns})
		}
		out[i].Paths = append(out[i].Paths, path)
	}
	return out, nil
}

// splitNamespace splits PATH=NAMESPACE. An existing path may contain "=", and so may the query of a
// URL.
func (s settings) splitNamespace(arg string) (path, namespace string) {
	if _, err := os.Stat(arg); err == nil {
		return arg, s.Namespace
	}
	i := strings.LastIndexByte(arg, '=')
	if i < 0 || fetch.IsURL(arg) && strings.Contains(arg[:i], "?") {
		return arg, s.Namespace
	}
	return arg[:i], arg[i+1:]
}

// servedDocs returns the ingests of the setting serve_docs: a list of paths as in PATH, or a JSON
// list of paths, URLs and sources.
func (s settings) servedDocs(log *slog.Logger) ([]engine.IngestOptions, error) {
	value := strings.TrimSpace(s.k.String("serve_docs"))
	if !strings.HasPrefix(value, "[") && !strings.HasPrefix(value, "{") {
		if args := filepath.SplitList(value); len(args) > 0 {
			return s.sources(args, log)
		}
		return nil, nil
	}
	list := []json.RawMessage{json.RawMessage(value)}
	if value[0] == '[' {
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			return nil, badUsage("%s: is not a JSON list: %v", s.where("serve_docs"), err)
		}
	}
	var args []string
	var out []engine.IngestOptions
	for _, raw := range list {
		var path string
		if json.Unmarshal(raw, &path) == nil {
			args = append(args, path)
			continue
		}
		o, err := s.servedSource(raw, log)
		if err != nil {
			return nil, asUsage(fmt.Errorf("%s: %w", s.where("serve_docs"), err))
		}
		out = append(out, o...)
	}
	if len(args) == 0 {
		return out, nil
	}
	paths, err := s.sources(args, log)
	return append(paths, out...), err
}

// servedSource returns the ingests of a source, without those that are not to run automatically.
func (s settings) servedSource(raw json.RawMessage, log *slog.Logger) ([]engine.IngestOptions, error) {
	list, err := docs.ParseSources(raw)
	if err != nil {
		return nil, err
	}
	var out []engine.IngestOptions
	for _, c := range list {
		for _, note := range slices.Concat(c.Notes, c.Warnings()) {
			log.Warn("source", "path", c.Path, "note", note)
		}
		o := ofSource(s, c)
		if err := exist(o.Paths); err != nil {
			return nil, err
		}
		if err := checkNamespace(o.Namespace); err != nil {
			return nil, err
		}
		if c.AutoIndex {
			out = append(out, o)
		}
	}
	return out, nil
}

// ingestInBackground ingests while the server runs, and logs the progress. If the server ends first, the
// job stays.
func ingestInBackground(ctx context.Context, eng *engine.Engine, log *slog.Logger, src engine.IngestOptions) {
	start := time.Now()
	last := start
	log.InfoContext(ctx, "ingest started", "namespace", src.Namespace, "paths", src.Paths)
	c := api.NewInside(eng, api.Options{})
	src.KeepEmpty = true
	j, err := eng.Documents().Ingest(ctx, src)
	if err == nil {
		j, err = c.WatchJob(ctx, j.ID, func(j engine.Job) {
			if now := time.Now(); now.Sub(last) >= lineEvery {
				last = now
				log.InfoContext(ctx, "ingest continues", "job", j.ID, "files", j.Counts.Sum(), "of", j.Items, "chunks", j.Chunks)
			}
		})
	}
	if err == nil && j.State.Ended() {
		var skipped []engine.Skipped
		err = engine.EachItem(ctx, c.JobItems, j.ID, store.ItemSkipped,
			func(i store.JobItem) { skipped = append(skipped, skippedItem(i, nil)) })
		for _, why := range byReason(skipped) {
			log.WarnContext(ctx, "files skipped", "reason", why.text, "files", len(why.paths), "first", why.paths[0])
		}
	}
	n := j.Counts
	counts := []any{
		"job", j.ID, "created", n.Created, "replaced", n.Replaced, "unchanged", n.Unchanged, "deleted", n.Deleted,
		"skipped", n.Skipped, "chunks", j.Chunks, "seconds", time.Since(start).Seconds(),
	}
	switch {
	case ctx.Err() != nil:
		log.WarnContext(ctx, "ingest interrupted; the next start continues it", counts...)
	case err != nil:
		log.ErrorContext(ctx, "ingest failed", append(counts, "error", err)...)
	case j.State == store.JobDone:
		log.InfoContext(ctx, "ingest done", counts...)
	default:
		log.ErrorContext(ctx, "ingest "+string(j.State), append(counts, "error", j.Error)...) //nolint:sloglint // one of two states
	}
}
