package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// The kinds of planned changes.
const (
	wouldCreate  = "create"
	wouldReplace = "replace"
	wouldKeep    = "unchanged"
	wouldDelete  = "delete"
	wouldSkip    = "skip"
)

// planned is one planned change of an ingest.
type planned struct {
	Action    string `json:"action"`
	ID        string `json:"id,omitempty"`
	Path      string `json:"path"`
	Bytes     int    `json:"bytes,omitempty"`
	Chunks    int    `json:"chunks,omitempty"`
	Documents int    `json:"documents,omitempty"` // documents of a file that need not be read
	Reason    string `json:"reason,omitempty"`
}

// storedDocuments is the stored data that a dry run compares with.
type storedDocuments interface {
	ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error)
	Document(ctx context.Context, namespace, id string, version int) (api.Document, error)
}

// noDocuments are the documents of a data directory that does not exist.
type noDocuments struct{}

// ListDocuments implements storedDocuments.
func (noDocuments) ListDocuments(context.Context, string, store.ListOptions) ([]store.Document, error) {
	return nil, nil
}

// Document implements storedDocuments.
func (noDocuments) Document(context.Context, string, string, int) (api.Document, error) {
	return api.Document{}, ragctx.ErrNotFound
}

// lookInto opens what the settings name, and creates nothing.
func (s settings) lookInto(ctx context.Context, stderr io.Writer) (storedDocuments, func(*error), error) {
	_, err := os.Stat(filepath.Join(s.Data, store.DatabaseName))
	if errors.Is(err, os.ErrNotExist) && s.Server == "" && s.k.String("store") == "" {
		return noDocuments{}, func(*error) {}, nil
	}
	c, err := s.open(ctx, stderr)
	if err != nil {
		return nil, nil, err
	}
	return c, func(err *error) { finish(c, err) }, nil
}

// dryRun plans ingests.
type dryRun struct {
	lib    storedDocuments
	tell   func(planned)
	seen   map[string]bool // ids of this run
	report engine.IngestReport
}

// ingest plans the ingest that the options describe.
func (r *dryRun) ingest(ctx context.Context, o engine.IngestOptions) error {
	for ch, err := range engine.Collect(ctx, r.lib.ListDocuments, o) {
		switch {
		case err != nil:
			return err
		case ch.LeftOut != nil:
			r.report.LeftOut.Add(*ch.LeftOut)
		case ch.Skip != "":
			r.skip(ch.Path, ch.Skip)
		case ch.Unchanged > 0:
			r.report.Unchanged += ch.Unchanged
			r.tell(planned{Action: wouldKeep, Path: ch.Path, Documents: ch.Unchanged})
		case ch.Delete != "":
			r.report.Deleted++
			r.tell(planned{Action: wouldDelete, ID: ch.Delete, Path: ch.Path})
		default:
			if err := r.document(ctx, o.Namespace, ch); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *dryRun) skip(path, why string) {
	r.report.Skipped = append(r.report.Skipped, engine.Skipped{Path: path, Reason: why})
	r.tell(planned{Action: wouldSkip, Path: path, Reason: why})
}

// document plans the change of one document.
func (r *dryRun) document(ctx context.Context, namespace string, ch engine.Change) error {
	p, err := docs.Prepare(*ch.Document, docs.Options{})
	if err != nil {
		r.skip(ch.Path, err.Error())
		return nil
	}
	plan := planned{Action: wouldCreate, ID: p.ExternalID, Path: ch.Path, Bytes: len(p.Text), Chunks: len(p.Chunks)}
	old, err := r.lib.Document(ctx, namespace, p.ExternalID, 0)
	switch {
	case errors.Is(err, ragctx.ErrNotFound) && !r.seen[p.ExternalID]:
		r.report.Created++
	case err != nil && !errors.Is(err, ragctx.ErrNotFound):
		return err
	case err == nil && ch.MovedFrom == "" && same(old, p):
		plan.Action = wouldKeep
		r.report.Unchanged++
	default:
		plan.Action = wouldReplace
		r.report.Replaced++
	}
	r.seen[p.ExternalID] = true
	if plan.Action != wouldKeep {
		r.report.Chunks += plan.Chunks
		r.report.Bytes += int64(plan.Bytes)
	}
	r.tell(plan)
	return nil
}

// same reports whether a stored document equals a prepared one.
func same(old api.Document, p passage.PreparedDocument) bool {
	return old.Text != nil && *old.Text == p.Text && old.Title == p.Title && old.Source == p.Source && old.MIME == p.MIME &&
		old.Document.Chunks == len(p.Chunks) && slices.Equal(old.Tags, p.Tags) && old.Occurred.Equal(p.Occurred) &&
		maps.EqualFunc(old.Metadata, p.Metadata, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
}

// runDry prints the planned changes, and changes nothing.
func (f ingestFlags) runDry(ctx context.Context, s settings, list []engine.IngestOptions, stdout, stderr io.Writer) (err error) {
	lib, done, err := s.lookInto(ctx, stderr)
	if err != nil {
		return err
	}
	defer done(&err)
	plans := []planned{}
	r := &dryRun{lib: lib, seen: make(map[string]bool), tell: func(p planned) {
		if f.json {
			plans = append(plans, p)
		} else if p.Action != wouldKeep && p.Action != wouldSkip || p.Action == wouldKeep && f.verbose {
			fmt.Fprintln(stdout, p)
		}
	}}
	r.report.Skipped = []engine.Skipped{}
	for _, o := range list {
		if err := r.ingest(ctx, o); err != nil {
			return outcome(ctx, r.report, err, list)
		}
	}
	if f.json {
		err = writeJSON(stdout, struct {
			engine.IngestReport

			DryRun  bool      `json:"dry_run"`
			Changes []planned `json:"changes"`
		}{r.report, true, plans})
	} else {
		writePlan(stdout, r.report, f.verbose)
	}
	return cmp.Or(err, outcome(ctx, r.report, nil, list))
}

// String returns the change in one line.
func (p planned) String() string {
	switch p.Action {
	case wouldDelete:
		return "delete     " + printable(p.ID)
	case wouldKeep:
		return "unchanged  " + printable(cmp.Or(p.ID, p.Path))
	default:
		return fmt.Sprintf("%-9s  %s (%s, %s)", p.Action, printable(p.ID), size(int64(p.Bytes)), amount(p.Chunks, "chunk"))
	}
}

func writePlan(w io.Writer, r engine.IngestReport, all bool) {
	fmt.Fprintf(w, "would be: %d created, %d replaced, %d unchanged, %d deleted\n", r.Created, r.Replaced, r.Unchanged, r.Deleted)
	if r.Chunks > 0 {
		fmt.Fprintf(w, "%s from %s\n", amount(r.Chunks, "chunk"), size(r.Bytes))
	}
	writeSkipped(w, r.Skipped, all)
	writeLeftOut(w, r.LeftOut)
	fmt.Fprintln(w, "nothing was written (--dry-run)")
}
