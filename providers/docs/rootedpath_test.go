package docs_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/providers/docs"
)

var raceRounds = flag.Int("race.rounds", 300, "how often a tree is read while its folders become links")

const outside = "from outside"

// swapped is a tree with entries that can be replaced by links to files outside.
type swapped struct{ inside, outside, kept string }

func newSwapped(t *testing.T) swapped {
	t.Helper()
	files := map[string]string{"sub/deep/a.md": "inside", "sub/b.md": "inside", "c.md": "inside"}
	s := swapped{inside: tree(t, files), kept: filepath.Join(t.TempDir(), "kept")}
	for name := range files {
		files[name] = outside
	}
	files["sub/deep/secret.md"] = outside
	s.outside = tree(t, files)
	if err := os.Symlink(s.outside, filepath.Join(s.inside, "probe")); err != nil {
		t.Skip("no symbolic links here")
	}
	return s
}

// swap replaces a path by a link to a file outside.
func (s swapped) swap(rel string) error {
	at := filepath.Join(s.inside, filepath.FromSlash(rel))
	return errors.Join(os.Rename(at, s.kept), os.Symlink(filepath.Join(s.outside, filepath.FromSlash(rel)), at))
}

// restore takes it back.
func (s swapped) restore(rel string) error {
	at := filepath.Join(s.inside, filepath.FromSlash(rel))
	return errors.Join(os.Remove(at), os.Rename(s.kept, at))
}

// texts reads the files of a walk, and calls between before each file is read. A skipped file has
// no text.
func (s swapped) texts(t *testing.T, root string, o docs.WalkOptions, between func()) (found []string) {
	t.Helper()
	for f, err := range docs.Walk(t.Context(), []string{root}, o) {
		if err != nil {
			continue
		}
		between()
		for d, err := range f.Read(t.Context(), nil) {
			if err == nil {
				found = append(found, d.Text)
			}
		}
	}
	return found
}

// TestSwaps: at each moment of a walk a folder or a file is replaced by a link to a file outside,
// which is never read.
func TestSwaps(t *testing.T) {
	for _, rel := range []string{"sub", "sub/deep", "sub/deep/a.md", "c.md"} {
		for moment := range 8 {
			s := newSwapped(t)
			at, done := 0, false
			step := func() {
				if at == moment {
					done = s.swap(rel) == nil
				}
				at++
			}
			o := docs.WalkOptions{OnDirectory: func(string) { step() }}
			for _, text := range s.texts(t, s.inside, o, step) {
				if strings.Contains(text, outside) {
					t.Errorf("%s became a link at moment %d: %q is read", rel, moment, text)
				}
			}
			if moment < 3 && !done {
				t.Errorf("%s never became a link", rel)
			}
		}
	}
}

// TestSwappedRoot: a root that has to be below a folder, and becomes a link after it was
// checked, is not read; one that is not below it neither.
func TestSwappedRoot(t *testing.T) {
	s := newSwapped(t)
	o := docs.WalkOptions{Within: []string{s.inside}}
	root := filepath.Join(s.inside, "sub", "deep")
	if got := s.texts(t, root, o, func() {}); len(got) != 1 || got[0] != "inside" {
		t.Fatalf("before: %q", got)
	}
	for _, rel := range []string{"sub", "sub/deep", "sub/deep/a.md"} {
		if err := s.swap(rel); err != nil {
			t.Fatal(err)
		}
		for _, root := range []string{root, filepath.Join(root, "a.md"), filepath.Join(s.inside, "sub")} {
			for _, text := range s.texts(t, root, o, func() {}) {
				if strings.Contains(text, outside) {
					t.Errorf("%s is a link: %q is read at %s", rel, text, root)
				}
			}
		}
		if err := s.restore(rel); err != nil {
			t.Fatal(err)
		}
	}
	above := filepath.Join(s.inside, "..", filepath.Base(s.outside))
	for _, root := range []string{s.outside, above, s.inside + "x", filepath.Join(s.inside, "probe")} {
		if got := s.texts(t, root, o, func() {}); len(got) > 0 {
			t.Errorf("%s is read: %q", root, got)
		}
	}
}

// TestRace reads a tree again and again while its folders become links and folders again.
func TestRace(t *testing.T) {
	for _, rel := range []string{"sub", "sub/deep", "sub/deep/a.md"} {
		s := newSwapped(t)
		stop, stopped := make(chan struct{}), make(chan error)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if err := errors.Join(s.swap(rel), s.restore(rel)); err != nil {
					stopped <- err
					return
				}
			}
		}()
		for range *raceRounds {
			for _, root := range []string{s.inside, filepath.Join(s.inside, "sub", "deep")} {
				for _, text := range s.texts(t, root, docs.WalkOptions{Within: []string{s.inside}}, func() {}) {
					if strings.Contains(text, outside) {
						t.Fatalf("%s: %q is read", rel, text)
					}
				}
			}
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
	}
}
