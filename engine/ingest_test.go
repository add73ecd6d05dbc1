package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
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
	r, err := engine.Ingest(f.t.Context(), f.Documents(), o)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) ids() (out []string) {
	f.t.Helper()
	list, err := f.Documents().List(f.t.Context(), "", store.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, d := range list {
		out = append(out, d.ID)
	}
	return out
}

func TestIngestFollowsAFolder(t *testing.T) {
	f := open(t, spelling)
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
	second := filepath.Base(filepath.Dir(two)) + "/docs/a.md" // the parent's name tells it from the first
	f.ingest(engine.IngestOptions{Paths: []string{one}})
	for range 2 {
		r := f.ingest(engine.IngestOptions{Paths: []string{two}})
		if len(r.Skipped) != 0 || !slices.Equal(f.ids(), []string{second, "docs/a.md"}) {
			t.Errorf("%+v, %v", r, f.ids())
		}
	}
	if r := f.ingest(engine.IngestOptions{Paths: []string{one, two}}); r.Unchanged != 2 {
		t.Errorf("%+v", r)
	}
	f.ingest(engine.IngestOptions{Paths: []string{one}, Prefix: "same"})
	r := f.ingest(engine.IngestOptions{Paths: []string{two}, Prefix: "same"})
	if len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "--prefix") || r.Skipped[0].Field != "prefix" {
		t.Errorf("%+v", r)
	}
}

// TestPrefixesOfOneIngest reads folders of one name in one ingest, by both ways of ingesting.
func TestPrefixesOfOneIngest(t *testing.T) {
	f := open(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/docs/x.md": "alpha", "b/docs/x.md": "beta", "c/b/docs/x.md": "gamma"})
	o := engine.IngestOptions{Paths: []string{filepath.Join(dir, "a/docs"), filepath.Join(dir, "b/docs"), filepath.Join(dir, "c/b/docs")}}
	want := []string{"b/docs/x.md", "c/b/docs/x.md", "docs/x.md"}
	var collected []string
	for ch, err := range engine.Collect(t.Context(), f.Documents().List, o) {
		if err != nil || ch.Skip != "" {
			t.Fatal(ch, err)
		}
		if ch.Document != nil {
			collected = append(collected, ch.Document.ExternalID)
		}
	}
	slices.Sort(collected)
	f.ingest(o)
	if !slices.Equal(collected, want) || !slices.Equal(f.ids(), want) {
		t.Errorf("collected %v, ingested %v", collected, f.ids())
	}
	sources, err := engine.Sources(t.Context(), f.Documents().List, o)
	if err != nil || !slices.Equal(sources, []string{"file:docs/*", "file:b/docs/*", "file:c/b/docs/*"}) {
		t.Errorf("sources %v, %v", sources, err)
	}
}

// TestIngestOfAPart ingests paths inside a folder that was ingested before, by both ways of ingesting.
func TestIngestOfAPart(t *testing.T) {
	f := open(t)
	app := filepath.Join(t.TempDir(), "app")
	write(t, app, map[string]string{
		"README.md": "alpha", "README.md.txt": "beta", "docs/a.md": "gamma", "docs/b.md": "delta",
		".gitignore": "private\n", "private/c.md": "epsilon",
	})
	whole, part := engine.IngestOptions{Paths: []string{app}}, engine.IngestOptions{Paths: []string{filepath.Join(app, "docs")}}
	readme := engine.IngestOptions{Paths: []string{filepath.Join(app, "README.md")}}
	all := []string{"app/README.md", "app/README.md.txt", "app/docs/a.md", "app/docs/b.md"}
	f.ingest(whole)
	write(t, app, map[string]string{"docs/a.md": "gamma two", "README.md": "alpha two"})
	if err := os.Remove(filepath.Join(app, "docs", "b.md")); err != nil {
		t.Fatal(err)
	}
	var changes []string
	for ch, err := range engine.Collect(t.Context(), f.Documents().List, part) {
		switch {
		case err != nil:
			t.Fatal(err)
		case ch.Document != nil:
			changes = append(changes, "put "+ch.Document.ExternalID+" of "+ch.Root)
		case ch.Delete != "":
			changes = append(changes, "delete "+ch.Delete+" of "+ch.Root)
		}
	}
	if want := []string{"put app/docs/a.md of " + app, "delete app/docs/b.md of " + app}; !slices.Equal(changes, want) {
		t.Errorf("collected %q, want %q", changes, want)
	}
	if r := f.ingest(part); r.Created != 0 || r.Replaced != 1 || r.Deleted != 1 {
		t.Errorf("a folder in it: %+v", r)
	}
	if r := f.ingest(readme); r.Created != 0 || r.Replaced != 1 {
		t.Errorf("a file in it: %+v", r)
	}
	if r := f.ingest(whole); r.Created+r.Replaced+r.Deleted != 0 || !slices.Equal(f.ids(), all[:3]) {
		t.Errorf("the whole again: %+v, %v", r, f.ids())
	}
	sources, err := engine.Sources(t.Context(), f.Documents().List, part)
	if err != nil || !slices.Equal(sources, []string{"file:app/docs/*"}) {
		t.Errorf("sources %v, %v", sources, err)
	}

	// Other options, and files that the whole leaves out, make a source of its own.
	part.Tags = []string{"internal"}
	f.ingest(part)
	f.ingest(engine.IngestOptions{Paths: []string{filepath.Join(app, "private")}})
	if r := f.ingest(whole); r.Deleted != 0 || !slices.Equal(f.ids(), append(all[:3:3], "docs/a.md", "private/c.md")) {
		t.Errorf("%+v, %v", r, f.ids())
	}
}

// TestIngestOfTheWhole ingests a folder after folders in it, by both ways of ingesting.
func TestIngestOfTheWhole(t *testing.T) {
	f := open(t)
	app := filepath.Join(t.TempDir(), "app")
	write(t, app, map[string]string{
		"README.md": "alpha", "docs/a.md": "beta", "docs/sub/b.md": "gamma", "notes/n.md": "delta", "spec/s.md": "epsilon",
	})
	in := func(name string) []string { return []string{filepath.Join(app, name)} }
	f.ingest(engine.IngestOptions{Paths: in("docs"), Now: later})
	f.ingest(engine.IngestOptions{Paths: in("notes"), Now: later, Tags: []string{"internal"}})
	f.ingest(engine.IngestOptions{Paths: in("spec"), Now: later, Prefix: "own"})
	if err := os.Remove(filepath.Join(app, "docs", "sub", "b.md")); err != nil { // nothing replaces its document
		t.Fatal(err)
	}
	whole := engine.IngestOptions{Paths: []string{app}, Now: later}
	var deleted []string
	for ch, err := range engine.Collect(t.Context(), f.Documents().List, whole) {
		if err != nil {
			t.Fatal(err)
		}
		if ch.Delete != "" {
			deleted = append(deleted, ch.Delete+" of "+ch.Root)
		}
	}
	if want := []string{"docs/a.md of " + in("docs")[0]}; !slices.Equal(deleted, want) {
		t.Errorf("collected deletions %q, want %q", deleted, want)
	}
	r := f.ingest(whole)
	want := []string{"app/README.md", "app/docs/a.md", "app/notes/n.md", "app/spec/s.md", "docs/sub/b.md", "notes/n.md", "own/s.md"}
	if r.Created != 4 || r.Deleted != 1 || !slices.Equal(f.ids(), want) {
		t.Errorf("%+v, %v", r, f.ids())
	}
	write(t, app, map[string]string{"docs/a.md": "beta two"})
	if r := f.ingest(whole); r.Replaced != 1 || r.Created+r.Deleted != 0 {
		t.Errorf("again: %+v", r)
	}
}

func TestIngestOfFilesOfOneName(t *testing.T) {
	f := open(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"x/README.md": "alpha", "y/README.md": "beta", "y/other.md": "gamma"})
	x, y := filepath.Join(dir, "x", "README.md"), filepath.Join(dir, "y", "README.md")
	r := f.ingest(engine.IngestOptions{Paths: []string{x, y}})
	if r.Created != 2 || !slices.Equal(f.ids(), []string{"README.md", "y/README.md"}) {
		t.Errorf("%+v, %v", r, f.ids())
	}
}

func TestConflictsHaveOneReason(t *testing.T) {
	f := open(t)
	one, two := filepath.Join(t.TempDir(), "docs"), filepath.Join(t.TempDir(), "docs")
	for _, dir := range []string{one, two} {
		write(t, dir, map[string]string{"a.md": "alpha " + dir, "b.md": "beta " + dir})
	}
	f.ingest(engine.IngestOptions{Paths: []string{one}, Prefix: "same"})
	r := f.ingest(engine.IngestOptions{Paths: []string{two}, Prefix: "same"})
	if len(r.Skipped) != 2 || r.Skipped[0].Reason != r.Skipped[1].Reason || !strings.Contains(r.Skipped[0].Reason, one) {
		t.Errorf("%+v", r)
	}
}

func TestIngestOfAMovedFolder(t *testing.T) {
	f := open(t, spelling)
	one, two := filepath.Join(t.TempDir(), "docs"), filepath.Join(t.TempDir(), "docs")
	write(t, one, map[string]string{"a.md": "alpha", "a.md.txt": "beta"})
	f.ingest(engine.IngestOptions{Paths: []string{one}})
	if err := os.Rename(one, two); err != nil {
		t.Fatal(err)
	}
	if r := f.ingest(engine.IngestOptions{Paths: []string{two}}); r.Replaced != 2 || len(r.Skipped) != 0 {
		t.Errorf("%+v", r)
	}
	if r := f.ingest(engine.IngestOptions{Paths: []string{two}}); r.Unchanged != 2 || len(f.found(query("alpha"))) != 1 {
		t.Errorf("again: %+v", r)
	}
}

// TestOtherRootsKeepTheirIDs: a root that is no place of this machine is not gone.
func TestOtherRootsKeepTheirIDs(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"a.md": "alpha"})
	if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "docs/a.md", Text: "beta"}, "wiki"); err != nil {
		t.Fatal(err)
	}
	if r := f.ingest(engine.IngestOptions{Paths: []string{dir}, Prefix: "docs"}); len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestIngestDeletesOnlyWhatIsGone: files that are there keep their documents.
func TestIngestDeletesOnlyWhatIsGone(t *testing.T) {
	f := open(t)
	target := filepath.Join(t.TempDir(), "target")
	dir := filepath.Join(t.TempDir(), "guide")
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, dir); err != nil {
		t.Skip("no symbolic links here")
	}
	write(t, dir, map[string]string{"a.md": "alpha", "b.go": "// beta", "sub/c.md": "gamma", "d.md": "delta", "e.md": "epsilon"})
	f.ingest(engine.IngestOptions{Paths: []string{dir}})
	write(t, dir, map[string]string{"a.md": strings.Repeat("alpha ", 100)})
	for name, o := range map[string]docs.WalkOptions{
		"include": {Include: []string{"*.go"}},
		"exclude": {Exclude: []string{"*.md"}},
		"size":    {MaxFileBytes: 50},
		"none":    {Include: []string{"*.none"}},
	} {
		if r := f.ingest(engine.IngestOptions{Paths: []string{dir}, Walk: o}); r.Deleted != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	f.ingest(engine.IngestOptions{Paths: []string{dir}, Prefix: "other", Walk: docs.WalkOptions{Include: []string{"*.go"}}})
	if err := os.Remove(filepath.Join(dir, "d.md")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{".gitignore": "/sub/\n", "d.md/x.png": ""})
	if r := f.ingest(engine.IngestOptions{Paths: []string{dir}, Walk: docs.WalkOptions{Include: []string{"*.go"}}}); r.Deleted != 2 {
		t.Errorf("ignored, and no longer a file: %+v", r)
	}
	if got := f.ids(); !slices.Equal(got, []string{"guide/a.md", "guide/b.go", "guide/e.md", "other/b.go"}) {
		t.Errorf("ids %v", got)
	}
}

func TestIngestOfAnUnreadableFolder(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "guide")
	write(t, dir, map[string]string{"a.md": "alpha", "b.md": "beta"})
	f.ingest(engine.IngestOptions{Paths: []string{dir}})
	if err := os.Chmod(dir, 0o311); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) }) //nolint:gosec // as it was
	if _, err := os.ReadDir(dir); err == nil {
		t.Skip("this user may read everything")
	}
	_, err := engine.Ingest(t.Context(), f.Documents(), engine.IngestOptions{Paths: []string{dir}})
	if !errors.Is(err, ragctx.ErrInvalid) || len(f.ids()) != 2 {
		t.Errorf("%v, %v", err, f.ids())
	}
}

// TestSkippedAndNothingSeen: a folder in which every file was skipped loses no documents.
func TestSkippedAndNothingSeen(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "guide")
	write(t, dir, map[string]string{"a.md": "alpha"})
	f.ingest(engine.IngestOptions{Paths: []string{dir}})
	if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"big.md": "much too big"})
	o := engine.IngestOptions{Paths: []string{dir}, Walk: docs.WalkOptions{MaxFileBytes: 5}}
	if r := f.ingest(o); r.Deleted != 0 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestIngestOfNothing(t *testing.T) {
	f := open(t)
	_, err := engine.Ingest(t.Context(), f.Documents(), engine.IngestOptions{Paths: []string{filepath.Join(t.TempDir(), "missing")}})
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
}
