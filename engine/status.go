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

// maxStatusNamespaces is how many namespaces a status names.
const maxStatusNamespaces = 100

// Status is how a data directory is doing, as far as that is known without looking
// through it.
type Status struct {
	Opened        time.Time      `json:"opened" doc:"when the data directory was opened"`
	UptimeSeconds int64          `json:"uptime_seconds"`
	Directory     DirectorySizes `json:"directory"`
	// Namespaces are the largest ones that the caller reaches, Total counts all of these.
	Total      Stats             `json:"total" doc:"of all namespaces"`
	Namespaces []NamespaceStatus `json:"namespaces" nullable:"false" doc:"the largest hundred"`
	Jobs       JobTally          `json:"jobs"`
	Embedder   EmbedderInfo      `json:"embedder"`
	// Degraded says what does not work as it should now, one sentence each.
	Degraded []string `json:"degraded" nullable:"false" doc:"what does not work as it should now; empty is well"`
	// Troubles are the newest warnings and errors of the log; a caller that is bound to
	// namespaces sees none.
	Troubles []Trouble `json:"troubles" nullable:"false" doc:"the newest warnings and errors of the log, newest first, equal ones once; they may be over"`
}

// DirectorySizes says what takes how many bytes in the data directory.
type DirectorySizes struct {
	Database int64 `json:"database_bytes" doc:"of the database and its log"`
	Indexes  int64 `json:"index_bytes" doc:"of files that can be made again"`
	Other    int64 `json:"other_bytes"`
}

// NamespaceStatus counts what a namespace holds now.
type NamespaceStatus struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	Memories  int    `json:"memories"`
}

// Status tells how the data directory is doing. It needs the role admin.
func (e *Engine) Status(ctx context.Context) (Status, error) {
	grant := access.From(ctx)
	st := Status{
		Opened: e.opened.UTC(), UptimeSeconds: int64(e.opts.Now().Sub(e.opened).Seconds()),
		Embedder: e.EmbedderInfo(), Namespaces: []NamespaceStatus{}, Degraded: []string{}, Troubles: []Trouble{},
	}
	err := grant.RequireRole(access.Admin)
	if err == nil {
		_ = e.Ready(ctx) // what it notices is among what does not work
		st.Directory, err = e.sizes()
	}
	if err == nil {
		st.Jobs, err = e.JobTally(ctx)
		err = besidesDamage(err)
	}
	if err == nil {
		err = besidesDamage(e.countAll(ctx, grant, &st))
	}
	if err != nil {
		return st, err
	}
	if st.Degraded, err = e.ailments(ctx); err != nil {
		return st, err
	}
	if len(grant.Namespaces) == 0 {
		st.Troubles = append(st.Troubles, e.troubles.newest()...)
	}
	return st, nil
}

// besidesDamage returns an error unless it is damage of the database, which a status tells of.
func besidesDamage(err error) error {
	if _, ok := errors.AsType[*ragctx.RepairError](err); ok {
		return nil
	}
	return err
}

// countAll counts what the namespaces hold.
func (e *Engine) countAll(ctx context.Context, grant access.Grant, st *Status) error {
	all, err := e.store.CountAll(ctx)
	if err != nil {
		return err
	}
	for _, n := range all {
		if !grant.Includes(n.Name) {
			continue
		}
		st.Total.Documents += n.Documents
		st.Total.Memories += n.Memories
		st.Namespaces = append(st.Namespaces, NamespaceStatus(n))
	}
	slices.SortStableFunc(st.Namespaces, func(a, b NamespaceStatus) int { return b.Documents + b.Memories - a.Documents - a.Memories })
	st.Namespaces = st.Namespaces[:min(len(st.Namespaces), maxStatusNamespaces)]
	return nil
}

// sizes adds up the files of the data directory.
func (e *Engine) sizes() (s DirectorySizes, err error) {
	err = filepath.WalkDir(e.opts.Dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went while others were looked at
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		switch name, _ := filepath.Rel(e.opts.Dir, path); {
		case strings.HasPrefix(name, store.DatabaseName):
			s.Database += info.Size()
		case strings.HasPrefix(name, store.IndexName+string(filepath.Separator)):
			s.Indexes += info.Size()
		default:
			s.Other += info.Size()
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("look through the data directory: %w", err)
	}
	return s, nil
}

// Logger returns the log, whose warnings and errors are part of the [Status].
func (e *Engine) Logger() *slog.Logger { return e.opts.Logger }

// OwnerOf says who has a data directory open, without touching it: what the lock file
// says, which outlives a process that was killed.
func OwnerOf(dir string) Owner { return readOwner(dir) }
