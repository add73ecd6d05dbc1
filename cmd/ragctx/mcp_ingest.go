package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// allowedFiles are the files and pages that agents may have ingested.
type allowedFiles struct {
	roots []string // absolute, without symbolic links
	sites func() (*engine.WebSources, error)
	hosts bool // whether any host is allowed
}

// allowed returns the files and pages that the flags and settings allow.
func (s *settings) allowed(paths []string) (allowedFiles, error) {
	f := allowedFiles{sites: s.sites, hosts: len(splitHosts(s.k.String("allow_hosts"))) > 0}
	if err := exist(paths); err != nil {
		return f, asUsage(fmt.Errorf("--allow-path: %w", err))
	}
	for _, p := range paths {
		resolved, err := realPath(p)
		if err != nil {
			return f, asUsage(fmt.Errorf("--allow-path: %w", err))
		}
		f.roots = append(f.roots, resolved)
	}
	return f, nil
}

func (f allowedFiles) any() bool { return len(f.roots) > 0 || f.hosts }

// options returns the ingest of paths, or an error if one is not allowed. The walk stays below the
// roots even if a path becomes a link after the check.
func (f allowedFiles) options(namespace string, paths []string) (engine.IngestOptions, error) {
	paths, err := f.check(paths)
	o := engine.IngestOptions{Namespace: namespace, Paths: paths, KeepEmpty: true, Progress: func(engine.IngestProgress) {}}
	o.Walk.Within = f.roots
	return o, err
}

// check returns the resolved paths, or an error if one is not allowed. URLs and their redirects are
// checked when they are fetched.
func (f allowedFiles) check(paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, p := range paths {
		field := fmt.Sprintf("paths[%d]", i)
		if strings.Contains(p, "://") {
			if !f.hosts {
				return nil, ragctx.Invalid(field, "is a URL, and no hosts are allowed; the operator names them "+
					"with the setting allow_hosts")
			}
			out[i] = p
			continue
		}
		resolved, err := realPath(p)
		if err != nil && f.holdsMissing(p) {
			return nil, ragctx.Invalid(field, "%q does not exist in %s", ragctx.Clip(p), f.named())
		}
		// A path outside the roots has the same error whether it exists or not.
		if err != nil || !f.holds(resolved) {
			return nil, ragctx.Invalid(field, "%q is not below a path that is allowed; use %s", ragctx.Clip(p), f.named())
		}
		out[i] = resolved
	}
	return out, nil
}

func (f allowedFiles) holds(path string) bool {
	for _, root := range f.roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// holdsMissing reports whether nothing is at a path below a root. A broken link is something.
func (f allowedFiles) holdsMissing(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if _, err := os.Lstat(abs); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for at := filepath.Dir(abs); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			resolved, err := realPath(at)
			return err == nil && f.holds(resolved)
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

func (f allowedFiles) named() string {
	if len(f.roots) == 0 {
		return "URLs of the hosts that the operator allows"
	}
	return strings.Join(f.roots, ", ")
}

func realPath(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// ingest begins a job that ingests allowed files and pages.
func (a *agentAPI) ingest(ctx context.Context, namespace string, paths []string) (engine.Job, error) {
	o, err := a.files.options(namespace, paths)
	if err != nil {
		return engine.Job{}, err
	}
	c, err := a.connect(ctx, nil)
	if err != nil {
		return engine.Job{}, err
	}
	if c.local != nil {
		return c.local.Documents().Ingest(ctx, o)
	}
	return a.upload(ctx, c, o)
}

// upload reads the files here and sends them to a server, which may be on another machine.
func (a *agentAPI) upload(ctx context.Context, to *client, o engine.IngestOptions) (engine.Job, error) {
	sites, err := a.files.sites()
	if err != nil {
		return engine.Job{}, err
	}
	defer sites.Close()
	read, closeReaders, err := readers()
	if err != nil {
		return engine.Job{}, err
	}
	defer func() { _ = closeReaders() }()
	o.Open, o.Extract = sites.Open, read
	up := &upload{opts: o, list: to.ListDocuments, report: engine.IngestReport{Skipped: []engine.Skipped{}}}
	j, err := to.PutDocuments(ctx, o.Namespace, up.lines(ctx))
	switch {
	case up.err != nil:
		return j, up.err
	case err != nil && len(up.paths) == 0 && up.report.Unchanged > 0:
		counts := store.JobCounts{Unchanged: up.report.Unchanged, Skipped: len(up.report.Skipped)}
		return engine.Job{Job: store.Job{Counts: counts}}, nil
	case err != nil && len(up.paths) == 0:
		return j, ragctx.Invalid("paths", "have no file that can be read, of %d; name others", len(up.report.Skipped))
	}
	return j, err
}
