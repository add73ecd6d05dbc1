package engine_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// shelved is a folder of files and the engine that it is ingested into.
type shelved struct {
	*fixture

	t   *testing.T
	dir string
}

func shelve(t *testing.T, files map[string]string) *shelved {
	s := &shelved{fixture: open(t), t: t, dir: filepath.Join(t.TempDir(), "docs")}
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

func (s *shelved) write(name, text string) {
	s.t.Helper()
	at := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// ingest ingests the folder into sink, nil for the engine.
func (s *shelved) ingest(sink engine.Sink, change func(*engine.IngestOptions)) engine.IngestReport {
	s.t.Helper()
	o := engine.IngestOptions{Paths: []string{s.dir}, Now: time.Now}
	if change != nil {
		change(&o)
	}
	if sink == nil {
		sink = s.Documents()
	}
	r, err := engine.Ingest(s.t.Context(), sink, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// text returns the text of a document, "" if it does not exist.
func (s *shelved) text(id string) string {
	s.t.Helper()
	_, text, err := s.Documents().Get(s.t.Context(), "default", id, 0)
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		s.t.Fatal(err)
	}
	return text
}

// racing does something once, after a document was put.
type racing struct {
	engine.Documents

	once func()
}

func (r *racing) Put(ctx context.Context, ns string, d ragctx.Document, root string) (store.Put, error) {
	p, err := r.Documents.Put(ctx, ns, d, root)
	if once := r.once; once != nil {
		r.once = nil
		once()
	}
	return p, err
}

// TestIngestLeavesWhatOthersPut: a file is gone, and during the ingest another caller stores a
// document with the same id.
func TestIngestLeavesWhatOthersPut(t *testing.T) {
	s := shelve(t, map[string]string{"a.md": "alpha", "b.md": "beta"})
	s.ingest(nil, nil)
	if err := os.Remove(filepath.Join(s.dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	s.write("b.md", "beta two")
	r := s.ingest(&racing{Documents: s.Documents(), once: func() {
		if _, err := s.Documents().Put(t.Context(), "default", ragctx.Document{ExternalID: "docs/a.md", Text: "mine"}, ""); err != nil {
			t.Error(err)
		}
	}}, nil)
	if r.Deleted != 0 || s.text("docs/a.md") != "mine" {
		t.Errorf("%+v; the document says %q", r, s.text("docs/a.md"))
	}
}

// TestBulkDeletesOnlyThatVersion: a document to be deleted by a job may have been replaced before the
// job runs.
func TestBulkDeletesOnlyThatVersion(t *testing.T) {
	s := shelve(t, map[string]string{"a.md": "alpha"})
	s.ingest(nil, nil)
	for _, tc := range []struct {
		version int
		want    string
	}{{7, "alpha"}, {1, ""}} {
		sp, err := s.Jobs().QueueDocuments(t.Context(), engine.DocumentQueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sp.Drop(t.Context(), 1, store.FileState{ID: "docs/a.md", Root: s.dir, Version: tc.version}); err != nil {
			t.Fatal(err)
		}
		j, err := sp.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if j, err = s.Jobs().Await(t.Context(), j.ID); err != nil || j.State != store.JobDone {
			t.Fatalf("%+v, %v", j, err)
		}
		if got := s.text("docs/a.md"); got != tc.want || (j.Counts.Deleted == 1) != (tc.want == "") {
			t.Errorf("version %d: %+v; the document says %q", tc.version, j.Counts, got)
		}
	}
}

// TestExcludedContainersKeepTheirDocuments: archives too that are only known by their documents, and
// paths inside that git would ignore.
func TestExcludedContainersKeepTheirDocuments(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := errors.Join(w.WriteHeader(&tar.Header{Name: "logs/a.md", Size: 5, Mode: 0o600, Typeflag: tar.TypeReg}), second(w.Write([]byte("alpha"))), w.Close(), z.Close())
	if err != nil {
		t.Fatal(err)
	}
	s := shelve(t, map[string]string{"backup.txt": b.String(), "b.md": "beta", ".gitignore": "logs/\n"})
	if s.ingest(nil, nil); s.text("docs/backup.txt/logs/a.md") != "alpha" {
		t.Fatal("the archive was not read")
	}
	if r := s.ingest(nil, func(o *engine.IngestOptions) { o.Walk.Exclude = []string{"backup*"} }); r.Deleted != 0 {
		t.Errorf("excluded: %+v", r)
	}
	s.write(".gitignore", "backup.txt\n")
	if r := s.ingest(nil, nil); r.Deleted != 1 {
		t.Errorf("ignored by git: %+v", r)
	}
}

func second(_ int, err error) error { return err }

func TestEmptiedFile(t *testing.T) {
	s := shelve(t, map[string]string{"a.md": "alpha", "b.md": "beta"})
	s.ingest(nil, nil)
	s.write("a.md", "")
	if r := s.ingest(nil, nil); r.Deleted != 1 || len(r.Skipped) != 1 || s.text("docs/a.md") != "" {
		t.Errorf("%+v; the document says %q", r, s.text("docs/a.md"))
	}
}

// TestAnotherFileOfTheSameTime is moved into the place of one of the same size.
func TestAnotherFileOfTheSameTime(t *testing.T) {
	s := shelve(t, map[string]string{"a.md": "alpha", "new": "gamma"})
	old := time.Now().Add(-time.Hour)
	at := func(name string) string { return filepath.Join(s.dir, name) }
	if err := errors.Join(os.Chtimes(at("a.md"), old, old), os.Chtimes(at("new"), old, old)); err != nil {
		t.Fatal(err)
	}
	s.ingest(nil, nil)
	if err := os.Rename(at("new"), at("a.md")); err != nil {
		t.Fatal(err)
	}
	if s.ingest(nil, nil); s.text("docs/a.md") != "gamma" {
		t.Errorf("the document says %q", s.text("docs/a.md"))
	}
}

// TestEmptiedFolder: without saying so, an empty folder costs no documents.
func TestEmptiedFolder(t *testing.T) {
	s := shelve(t, map[string]string{"a.md": "alpha"})
	s.ingest(nil, nil)
	if err := os.Remove(filepath.Join(s.dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	if r := s.ingest(nil, func(o *engine.IngestOptions) { o.KeepEmpty = true }); r.Deleted != 0 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
	if r := s.ingest(nil, nil); r.Deleted != 1 {
		t.Errorf("%+v", r)
	}
}

// TestPagesInAnswers: the end of a page is the end of a line, and a citation has a page.
func TestPagesInAnswers(t *testing.T) {
	f := open(t)
	text := "The first page is about quinces.\n\fThe second page is about medlars, and says a little more."
	if _, err := f.Documents().Put(t.Context(), "default", ragctx.Document{ExternalID: "fruit.txt", Text: text}, ""); err != nil {
		t.Fatal(err)
	}
	a, err := f.Context(t.Context(), ragctx.NewQuery("medlars"))
	if err != nil || len(a.Items) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if c := a.Items[0].Content; strings.ContainsAny(c+a.XML, "\f\ufffd") || !strings.Contains(c, "quinces.\n\nThe second") {
		t.Errorf("%q", c)
	}
	if page := a.Items[0].Metadata["page"]; page != 1 {
		t.Errorf("page %v", page)
	}
}
