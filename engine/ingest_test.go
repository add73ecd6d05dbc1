package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/store"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) ingest(o engine.IngestOptions) engine.IngestReport {
	f.t.Helper()
	r, err := engine.Ingest(f.t.Context(), f.Engine, o)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) ids() (out []string) {
	f.t.Helper()
	list, err := f.ListDocuments(f.t.Context(), "", store.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, d := range list {
		out = append(out, d.ID)
	}
	return out
}

func TestIngestFollowsAFolder(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "guide")
	write(t, dir, map[string]string{
		"a.md": "# A\n\nalpha", "sub/b.md": "# B\n\nbeta", "c.txt": "gamma",
		"bad.md": "\x00\x01binary", ".gitignore": "ignored.md\n", "ignored.md": "no",
	})
	o := engine.IngestOptions{Paths: []string{dir}}
	r := f.ingest(o)
	if r.Created != 3 || r.Chunks != 3 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "binary") {
		t.Errorf("first: %+v", r)
	}
	if got := f.ids(); !slices.Equal(got, []string{"guide/a.md", "guide/c.txt", "guide/sub/b.md"}) {
		t.Errorf("ids %v", got)
	}
	if r := f.ingest(o); r.Unchanged != 3 || r.Created+r.Replaced+r.Deleted+r.Chunks != 0 {
		t.Errorf("again: %+v", r)
	}
	write(t, dir, map[string]string{"a.md": "# A\n\nalpha two", "d.md": "delta"})
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if r := f.ingest(o); r.Unchanged != 1 || r.Replaced != 1 || r.Created != 1 || r.Deleted != 1 {
		t.Errorf("after changes: %+v", r)
	}
	if got := f.ids(); !slices.Equal(got, []string{"guide/a.md", "guide/c.txt", "guide/d.md"}) {
		t.Errorf("ids %v", got)
	}
	if got := f.found(query("beta")); len(got) != 0 {
		t.Errorf("a vanished file is found: %v", got)
	}
}

func TestIngestKeepsWhatItCannotRead(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "guide")
	write(t, dir, map[string]string{"a.md": "alpha", "b.md": "beta"})
	f.ingest(engine.IngestOptions{Paths: []string{dir}})
	write(t, dir, map[string]string{"a.md": "\x00"})
	r := f.ingest(engine.IngestOptions{Paths: []string{dir}})
	if r.Deleted != 0 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
	if got := f.ids(); len(got) != 2 {
		t.Errorf("ids %v", got)
	}
}

func TestIngestOfASingleFile(t *testing.T) {
	f := open(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "alpha", "b.md": "beta"})
	r := f.ingest(engine.IngestOptions{Paths: []string{filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md")}, Tags: []string{"x"}})
	if r.Created != 2 || !slices.Equal(f.ids(), []string{"a.md", "b.md"}) {
		t.Errorf("%+v, %v", r, f.ids())
	}
}

func TestTwoFoldersOfOneName(t *testing.T) {
	f := open(t)
	one, two := filepath.Join(t.TempDir(), "docs"), filepath.Join(t.TempDir(), "docs")
	write(t, one, map[string]string{"a.md": "alpha"})
	write(t, two, map[string]string{"a.md": "beta"})
	f.ingest(engine.IngestOptions{Paths: []string{one}})
	r := f.ingest(engine.IngestOptions{Paths: []string{two}})
	if len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "--prefix") {
		t.Errorf("%+v", r)
	}
	r = f.ingest(engine.IngestOptions{Paths: []string{two}, Prefix: "other"})
	if r.Created != 1 || !slices.Equal(f.ids(), []string{"docs/a.md", "other/a.md"}) {
		t.Errorf("%+v, %v", r, f.ids())
	}
}

func TestIngestOfNothing(t *testing.T) {
	f := open(t)
	_, err := engine.Ingest(t.Context(), f.Engine, engine.IngestOptions{Paths: []string{filepath.Join(t.TempDir(), "missing")}})
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
}
