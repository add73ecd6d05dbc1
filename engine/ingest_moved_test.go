package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// sourceFolder is a folder of lists, see [complete], and what a namespace has of it.
type sourceFolder struct {
	dir   string
	clock int                          // of the files
	files map[string]map[string]string // file, path inside, text
	cut   map[string]bool              // files whose end cannot be read
	want  map[string]string
}

var innerPaths = []string{"", "a.md", "b.md", "sub/a.md", "x.log"}

// change changes the folder at random.
func (s *sourceFolder) change(t *rapid.T) {
	name := rapid.SampledFrom([]string{"p.md", "q.md", "r/p.md"}).Draw(t, "file")
	at := filepath.Join(s.dir, filepath.FromSlash(name))
	if rapid.IntRange(0, 5).Draw(t, "remove") == 0 {
		delete(s.files, name)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		return
	}
	if s.files[name] == nil {
		s.files[name] = make(map[string]string)
	}
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		p := rapid.SampledFrom(innerPaths).Draw(t, "inside")
		if text := rapid.SampledFrom([]string{"", "one", "two", "!is damaged"}).Draw(t, "text"); text != "" {
			s.files[name][p] = text
		} else {
			delete(s.files[name], p)
		}
	}
	s.cut[name] = rapid.IntRange(0, 4).Draw(t, "cut") == 0
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(s.files[name])) {
		fmt.Fprintf(&b, "%s:%s\n", p, s.files[name][p])
	}
	if s.cut[name] {
		b.WriteString(":!is cut off\n")
	}
	s.clock++
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(b.String()), 0o644),
		os.Chtimes(at, time.Time{}, time.Unix(int64(s.clock), 0))); err != nil {
		t.Fatal(err)
	}
}

// expect sets want to the expected result of an ingest. noLogs excludes the logs inside files, so
// their documents stay.
func (s *sourceFolder) expect(noLogs bool) {
	for id := range s.want {
		rel := strings.TrimPrefix(id, "docs/")
		name, p, _ := strings.Cut(rel, ".md")
		name, p = name+".md", strings.TrimPrefix(p, "/")
		_, there := s.files[name][p]
		left := strings.HasSuffix(p, ".log") && noLogs
		// A damage of the file itself says nothing of the rest of it.
		damaged := strings.HasPrefix(s.files[name][""], "!")
		if s.files[name] == nil || !there && !s.cut[name] && !damaged && !left {
			delete(s.want, id)
		}
	}
	for name, texts := range s.files {
		for p, text := range texts {
			if !strings.HasPrefix(text, "!") && !(noLogs && strings.HasSuffix(p, ".log")) {
				s.want[strings.TrimSuffix("docs/"+name+"/"+p, "/")] = text
			}
		}
	}
}

// kept is a [engine.Sink] in memory: documents by their ids.
type kept map[string]*keptDocument

type keptDocument struct {
	store.Document

	text string
}

func (k kept) Put(_ context.Context, _ string, d ragctx.Document, root string) (store.Put, error) {
	old := k[d.ExternalID]
	switch {
	case old == nil:
		old = &keptDocument{}
		old.ID = d.ExternalID
		k[d.ExternalID] = old
	case old.text == d.Text:
		return store.Put{Status: store.Unchanged, Version: old.Version}, nil
	}
	old.text, old.Root, old.Stat = d.Text, root, ""
	old.Version++
	return store.Put{Status: store.Replaced, Version: old.Version}, nil
}

func (k kept) DeleteIfVersion(_ context.Context, _ string, f store.FileState) error {
	if d := k[f.ID]; d == nil || d.Version != f.Version || d.Root != f.Root {
		return ragctx.ErrNotFound
	}
	delete(k, f.ID)
	return nil
}

func (k kept) List(_ context.Context, _ string, o store.ListOptions) ([]store.Document, error) {
	var list []store.Document
	for _, id := range slices.Sorted(maps.Keys(k)) {
		if id > o.After && strings.HasPrefix(id, o.Prefix) && len(list) < o.Limit {
			list = append(list, k[id].Document)
		}
	}
	return list, nil
}

func (k kept) RecordFileStates(_ context.Context, _ string, files []store.FileState) error {
	for _, f := range files {
		if d := k[f.ID]; d != nil && d.Version == f.Version {
			d.Stat = f.Stat
		}
	}
	return nil
}

// follow applies collected changes as a job does.
func (k kept) follow(ctx context.Context, o engine.IngestOptions) error {
	for ch, err := range engine.Collect(ctx, k.List, o) {
		switch {
		case err != nil:
			return err
		case ch.Delete != "":
			_ = k.DeleteIfVersion(ctx, "", store.FileState{ID: ch.Delete, Root: ch.Root, Version: ch.Version})
		case ch.Document != nil:
			put, _ := k.Put(ctx, "", *ch.Document, ch.Root)
			_ = k.RecordFileStates(ctx, "", []store.FileState{{ID: ch.Document.ExternalID, Version: put.Version, Stat: ch.Stat}})
		}
	}
	return nil
}

// TestMembersVanish: documents from inside a file are deleted with it, and only with it, whatever
// happens to the files and however they are ingested.
func TestMembersVanish(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		defer os.RemoveAll(dir)
		s := &sourceFolder{
			dir:   filepath.Join(dir, "docs"),
			files: make(map[string]map[string]string), cut: make(map[string]bool), want: make(map[string]string),
		}
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		sink := make(kept)
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				s.change(rt)
			}
			noLogs := rapid.Bool().Draw(rt, "no logs")
			o := engine.IngestOptions{Paths: []string{s.dir}, Now: later, Extract: listed, Workers: 1}
			if !noLogs {
				o.Walk.Include = []string{"*.md", "*.log"}
			}
			ingest := sink.follow
			if rapid.Bool().Draw(rt, "here") {
				ingest = func(ctx context.Context, o engine.IngestOptions) error {
					_, err := engine.Ingest(ctx, sink, o)
					return err
				}
			}
			if err := ingest(t.Context(), o); err != nil {
				rt.Fatal(err)
			}
			s.expect(noLogs)
			got := make(map[string]string)
			for id, d := range sink {
				got[id] = d.text
			}
			if diff := cmp.Diff(s.want, got); diff != "" {
				rt.Fatalf("documents differ (-want +got):\n%s", diff)
			}
		}
	})
}
