package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// maxStatusNamespaces bounds the namespaces listed in a status.
const maxStatusNamespaces = 100

// Status is the health of a data directory, as far as it is known without a scan.
type Status struct {
	Opened        time.Time      `json:"opened" doc:"when the data directory was opened"`
	UptimeSeconds int64          `json:"uptime_seconds"`
	Directory     DirectorySizes `json:"directory"`
	// Leads reports whether this process writes to the database. Leader is the URL of the one that does, if it is
	// another one.
	Leads  bool   `json:"leads" doc:"whether this process writes; false for the other nodes of a PostgreSQL database"`
	Leader string `json:"leader,omitempty" doc:"URL of the node that writes, if it is another one"`
	// Namespaces are the largest namespaces that the caller reaches; Total counts all that it
	// reaches.
	Total      Stats             `json:"total" doc:"of all namespaces"`
	Namespaces []NamespaceStatus `json:"namespaces" nullable:"false" doc:"the largest hundred"`
	Jobs       JobTally          `json:"jobs"`
	Embedder   EmbedderInfo      `json:"embedder"`
	// Degraded lists current problems, one sentence each.
	Degraded []string `json:"degraded" nullable:"false" doc:"current problems; empty if healthy"`
	// RecentErrors are the newest warnings and errors of the log; empty for callers bound to
	// namespaces.
	RecentErrors []Trouble `json:"troubles" nullable:"false"`
}

// DirectorySizes has the sizes of the parts of a data directory, in bytes.
type DirectorySizes struct {
	Database int64 `json:"database_bytes" doc:"of the database and its log"`
	Indexes  int64 `json:"index_bytes" doc:"of files that can be rebuilt"`
	Other    int64 `json:"other_bytes"`
}

// NamespaceStatus counts the contents of a namespace.
type NamespaceStatus struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	Memories  int    `json:"memories"`
}

// Status returns the health of the data directory. It needs the role admin.
func (e Admin) Status(ctx context.Context) (Status, error) {
	grant := access.From(ctx)
	st := Status{
		Opened: e.opened.UTC(), UptimeSeconds: int64(e.opts.Now().Sub(e.opened).Seconds()),
		Leads:    e.Node().Leads(),
		Embedder: e.Indexes().EmbedderInfo(), Namespaces: []NamespaceStatus{}, Degraded: []string{}, RecentErrors: []Trouble{},
	}
	err := grant.RequireRole(access.Admin)
	if err == nil {
		_ = e.Admin().Ready(ctx) // a failure it detects is among the problems
		st.Directory, err = e.sizes(ctx)
	}
	if err == nil && !st.Leads {
		if l, unknown := e.Node().Leader(); unknown == nil { // otherwise another one takes over
			st.Leader = l.URL
		}
	}
	if err == nil {
		st.Jobs, err = e.Metrics().Jobs(ctx)
		err = ignoreDamage(err)
	}
	if err == nil {
		err = ignoreDamage(e.countAll(ctx, grant, &st))
	}
	if err != nil {
		return st, err
	}
	if st.Degraded, err = e.warnings(ctx); err != nil {
		return st, err
	}
	if len(grant.Namespaces) == 0 {
		st.RecentErrors = append(st.RecentErrors, e.recentErrors.newest()...)
	}
	return st, nil
}

// ignoreDamage returns err, or nil for damage of the database, which a status reports as a
// problem.
func ignoreDamage(err error) error {
	if _, ok := errors.AsType[*ragctx.RepairError](err); ok {
		return nil
	}
	return err
}

// countAll counts the contents of the namespaces.
func (e *core) countAll(ctx context.Context, grant access.Grant, st *Status) error {
	all, err := e.store.ListNamespaces(ctx, store.NamespaceFilter{Limit: -1, Among: grant.Namespaces})
	if err != nil {
		return err
	}
	for _, n := range all {
		st.Total.Documents += n.Documents
		st.Total.Memories += n.Memories
		st.Namespaces = append(st.Namespaces, NamespaceStatus{Name: n.Name, Documents: n.Documents, Memories: n.Memories})
	}
	slices.SortStableFunc(st.Namespaces,
		func(a, b NamespaceStatus) int { return b.Documents + b.Memories - a.Documents - a.Memories })
	st.Namespaces = st.Namespaces[:min(len(st.Namespaces), maxStatusNamespaces)]
	return nil
}

// sizes adds up the files of the data directory, and what the indexes keep.
func (e *core) sizes(ctx context.Context) (s DirectorySizes, err error) {
	if s.Indexes, err = e.opts.Indexes.Size(ctx); err != nil {
		return s, fmt.Errorf("measure the indexes: %w", err)
	}
	err = filepath.WalkDir(e.opts.Dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed during the walk
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == filepath.Join(e.opts.Dir, store.IndexName) { // measured above
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if name, _ := filepath.Rel(e.opts.Dir, path); strings.HasPrefix(name, store.DatabaseName) {
			s.Database += info.Size()
		} else {
			s.Other += info.Size()
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("scan the data directory: %w", err)
	}
	return s, nil
}

// Logger returns the engine's logger. Its warnings and errors appear in the [Status].
func (e *Engine) Logger() *slog.Logger { return e.opts.Logger }

// OwnerOf returns the process that has a data directory open, according to its lock file. The file
// may be left over from a killed process.
func OwnerOf(dir string) Owner { return readOwner(dir) }
