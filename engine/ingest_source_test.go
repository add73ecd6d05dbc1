package engine_test

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// wiki is a root that is no place of the machine: texts by their names. A text
// that is "?" is there, but not given.
type wiki map[string]string

func (wiki) Name() string   { return "wiki://one" }
func (wiki) Prefix() string { return "wiki/" }

func (w wiki) Entries(context.Context) iter.Seq2[engine.Entry, error] {
	return func(yield func(engine.Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if w[name] == "?" {
				continue
			}
			e := engine.Entry{ID: "wiki/" + name, Path: name, Read: func(context.Context) iter.Seq2[ragctx.Document, error] {
				return func(yield func(ragctx.Document, error) bool) {
					yield(ragctx.Document{ExternalID: "wiki/" + name, Text: w[name]}, nil)
				}
			}}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (w wiki) Gone(id string) bool {
	_, there := w[strings.TrimPrefix(id, "wiki/")]
	return !there
}

func TestIngestOfAnotherRoot(t *testing.T) {
	f := open(t)
	pages := wiki{"a": "alpha", "b": "beta", "c": "gamma"}
	o := engine.IngestOptions{Paths: []string{"wiki"}, Open: func(string, engine.IngestOptions) (engine.Source, error) { return pages, nil }}
	if r := f.ingest(o); r.Created != 3 {
		t.Errorf("first: %+v", r)
	}
	pages["a"], pages["b"] = "alpha two", "?"
	delete(pages, "c")
	if r := f.ingest(o); r.Replaced != 1 || r.Deleted != 1 || r.Unchanged != 0 {
		t.Errorf("after changes: %+v", r)
	}
	if got := f.ids(); !slices.Equal(got, []string{"wiki/a", "wiki/b"}) {
		t.Errorf("ids %v", got)
	}
}

// listed extracts a file ".md" that lists its texts: lines of a path, a colon and
// the text, which is an error if it begins with "!".
func listed(_ context.Context, f extract.File, o extract.Options) iter.Seq2[extract.Text, error] {
	return func(yield func(extract.Text, error) bool) {
		for line := range strings.Lines(string(f.Data)) {
			name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			if name != "" && o.Take != nil && !o.Take(name) {
				continue
			}
			t, err := extract.Text{Path: name, Text: text, Metadata: map[string]any{"author": "Ann", "lang": "en"}}, error(nil)
			if why, bad := strings.CutPrefix(text, "!"); bad {
				t, err = extract.Text{}, &extract.Error{Path: name, Reason: why}
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

func TestIngestOfFilesInFiles(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"all.md": ":alpha\na/b.md:beta\nc.md:!is damaged\nd.md:delta\n"})
	r := f.ingest(engine.IngestOptions{
		Paths: []string{dir}, Extract: listed, Tags: []string{"x"}, Metadata: map[string]any{"author": "Bob"},
	})
	if r.Created != 3 || len(r.Skipped) != 1 || r.Skipped[0].Path != filepath.Join(dir, "all.md", "c.md") {
		t.Errorf("%+v", r)
	}
	if got := f.ids(); !slices.Equal(got, []string{"docs/all.md", "docs/all.md/a/b.md", "docs/all.md/d.md"}) {
		t.Errorf("ids %v", got)
	}
	d, text, err := f.Documents().Get(t.Context(), "", "docs/all.md/a/b.md", 0)
	if err != nil || text != "beta" || d.Source != "file:docs/all.md/a/b.md" || d.Metadata["author"] != "Bob" || d.Metadata["lang"] != "en" {
		t.Errorf("%+v, %q, %v", d, text, err)
	}
}

// TestFolderJobExtracts: a job uses the engine's extractor and passes the metadata on.
func TestFolderJobExtracts(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.Extract = listed })
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"all.md": "a.md:alpha\nb.md:beta\n"})
	j, err := f.Documents().Ingest(t.Context(), engine.IngestOptions{Paths: []string{dir}, Metadata: map[string]any{"author": "Bob"}})
	if err != nil {
		t.Fatal(err)
	}
	if j = f.await(j.ID); j.Counts.Created != 2 || j.Items != 2 {
		t.Errorf("%+v", j)
	}
	d, _, err := f.Documents().Get(t.Context(), "", "docs/all.md/a.md", 0)
	if err != nil || d.Metadata["author"] != "Bob" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestArchivesLeftOut: an archive that is not read this time keeps its documents,
// one that is gone does not.
func TestArchivesLeftOut(t *testing.T) {
	name := "all.zip"
	if !extract.Holds(name) {
		t.Skip("no archives are read")
	}
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"a.md": ":alpha\n", name: "a/b.md:beta\nc.md:gamma\n"})
	o := engine.IngestOptions{Paths: []string{dir}, Extract: listed}
	f.ingest(o)
	all := []string{"docs/a.md", "docs/all.zip/a/b.md", "docs/all.zip/c.md"}
	for what, left := range map[string]docs.WalkOptions{"include": {Include: []string{"*.md"}}, "exclude": {Exclude: []string{name}}, "size": {MaxFileBytes: 10}} {
		o.Walk = left
		if r := f.ingest(o); r.Deleted != 0 || !slices.Equal(f.ids(), all) {
			t.Errorf("%s: %+v, %v", what, r, f.ids())
		}
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	if r := f.ingest(o); r.Deleted != 2 || !slices.Equal(f.ids(), all[:1]) {
		t.Errorf("gone: %+v, %v", r, f.ids())
	}
}
