package watch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for an expected event before it fails.
const patience = 2 * time.Minute

// mirror follows paths: their contents when they were last reported.
type mirror struct {
	t *testing.T

	mu    sync.Mutex
	calls int
	empty int // calls that reported Empty
	held  map[string]map[string]string
	fail  int // calls that fail first
}

// follow watches until the test ends.
func follow(t *testing.T, o watch.Options, paths ...string) *mirror {
	t.Helper()
	m := &mirror{t: t, held: make(map[string]map[string]string)}
	m.start(o, paths...)
	return m
}

func (m *mirror) start(o watch.Options, paths ...string) {
	o.Quiet, o.Burst = 5*time.Millisecond, 50*time.Millisecond
	if o.Retry == 0 {
		o.Retry = 20 * time.Millisecond
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := watch.Paths(ctx, paths, o, m.changed); err != nil {
			m.t.Error(err)
		}
	})
	m.t.Cleanup(func() { stop(); running.Wait() })
}

func (m *mirror) changed(_ context.Context, c watch.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if c.Empty {
		m.empty++
	}
	if m.fail > 0 {
		m.fail--
		return errors.New("not now")
	}
	m.held[c.Path] = holds(c.Path)
	return nil
}

// holds returns the files that a walk of a path takes, and their texts.
func holds(path string) map[string]string {
	files := make(map[string]string)
	for f, err := range docs.Walk(context.Background(), []string{path}, docs.WalkOptions{}) {
		if err != nil {
			return nil // already gone; another call follows
		}
		b, err := os.ReadFile(f.Path)
		if err != nil {
			return nil
		}
		files[f.ExternalID] = string(b)
	}
	return files
}

// until waits for something that has to happen.
func (m *mirror) until(what string, ok func() bool) {
	m.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		m.mu.Lock()
		done := ok()
		m.mu.Unlock()
		if done {
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.t.Fatalf("%s: %d calls, held %v", what, m.calls, m.held)
}

// matches waits until the last report equals the current contents.
func (m *mirror) matches(what, path string) {
	m.t.Helper()
	want := holds(path)
	m.until(what, func() bool { return maps.Equal(m.held[path], want) })
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFollowsAFolder(t *testing.T) {
	for name, o := range map[string]watch.Options{"told": {}, "polling": {Poll: 5 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "docs")
			put(t, filepath.Join(dir, "a.md"), "alpha")
			m := follow(t, o, dir)
			m.matches("at the beginning", dir)
			steps := []struct {
				what string
				do   func() error
			}{
				{"a new file", func() error { return os.WriteFile(filepath.Join(dir, "b.md"), []byte("beta"), 0o600) }},
				{"a changed file", func() error { return os.WriteFile(filepath.Join(dir, "a.md"), []byte("alpha two"), 0o600) }},
				{"a new folder in a folder", func() error { put(t, filepath.Join(dir, "x", "y", "c.md"), "gamma"); return nil }},
				{"a file in it", func() error { return os.WriteFile(filepath.Join(dir, "x", "y", "d.md"), []byte("delta"), 0o600) }},
				{"an atomic save", func() error {
					put(t, filepath.Join(dir, "a.md.tmp"), "alpha three")
					return os.Rename(filepath.Join(dir, "a.md.tmp"), filepath.Join(dir, "a.md"))
				}},
				{"a renamed folder", func() error { return os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "z")) }},
				{"a file in the renamed folder", func() error {
					return os.WriteFile(filepath.Join(dir, "z", "y",
						"e.md"), []byte("eps"), 0o600)
				}},
				{"another folder of the old name", func() error { put(t, filepath.Join(dir, "x", "y", "f.md"), "zeta"); return nil }},
				{"a file in that", func() error { return os.WriteFile(filepath.Join(dir, "x", "y", "f.md"), []byte("zeta two"), 0o600) }},
				{"and in the renamed one", func() error {
					return os.WriteFile(filepath.Join(dir, "z", "y", "e.md"),
						[]byte("epsilon"), 0o600)
				}},
				{"git ignores a folder", func() error { return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("/z/\n"), 0o600) }},
				{"and no longer", func() error { return os.Remove(filepath.Join(dir, ".gitignore")) }},
				{"a folder is gone", func() error { return os.RemoveAll(filepath.Join(dir, "z")) }},
				{"all is gone", func() error {
					return errors.Join(os.RemoveAll(filepath.Join(dir, "x")), os.Remove(filepath.Join(dir, "a.md")),
						os.Remove(filepath.Join(dir, "b.md")))
				}},
			}
			for _, s := range steps {
				must(t, s.do())
				m.matches(s.what, dir)
			}
			m.until("it is said to be empty", func() bool { return m.empty > 0 })
		})
	}
}

// TestRandomChanges: after any changes, however fast, the last report equals the current contents.
func TestRandomChanges(t *testing.T) {
	for name, o := range map[string]watch.Options{"told": {}, "polling": {Poll: 5 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "docs")
			put(t, filepath.Join(dir, "keep.md"), "keep")
			m := follow(t, o, dir)
			rnd := rand.New(rand.NewPCG(1, 2))
			at := func() string {
				return filepath.Join(dir, []string{".", "a", "b", "a/b", "a/c"}[rnd.IntN(5)])
			}
			for round := range 15 {
				for range 1 + rnd.IntN(20) {
					file := filepath.Join(at(), fmt.Sprint(rnd.IntN(4), ".md"))
					switch rnd.IntN(6) {
					case 0:
						_ = os.Remove(file)
					case 1:
						if d := at(); d != dir {
							_ = os.RemoveAll(d)
						}
					case 2:
						if d := at(); d != dir {
							_ = os.Rename(d, at())
						}
					case 3:
						_ = os.Rename(file, filepath.Join(at(), fmt.Sprint(rnd.IntN(4), ".md")))
					default:
						_ = os.MkdirAll(filepath.Dir(file), 0o755)
						_ = os.WriteFile(file, fmt.Append(nil, "text ", rnd.IntN(100)), 0o600)
					}
				}
				m.matches(fmt.Sprint("round ", round), dir)
			}
		})
	}
}

func TestFollowsAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.odd")
	put(t, file, "alpha")
	m := follow(t, watch.Options{}, file)
	m.matches("at the beginning", file)
	put(t, file, "alpha two")
	m.matches("a change", file)
	put(t, filepath.Join(dir, "tmp"), "alpha three")
	must(t, os.Rename(filepath.Join(dir, "tmp"), file))
	m.matches("an atomic save", file)
	must(t, os.Remove(file))
	put(t, file, "alpha four")
	m.matches("another one of that name", file)
}

func TestSeveralPaths(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	put(t, filepath.Join(a, "x.md"), "alpha")
	put(t, filepath.Join(b, "x.md"), "beta")
	m := follow(t, watch.Options{}, a, b)
	m.matches("one", a)
	m.matches("the other", b)
	put(t, filepath.Join(b, "y.md"), "gamma")
	m.matches("a change of the other", b)
}

// TestRootsThatComeAndGo: neither a missing root nor an empty one that is another
// directory is reported; what comes back is looked at.
func TestRootsThatComeAndGo(t *testing.T) {
	for name, o := range map[string]watch.Options{"told": {Recheck: 20 * time.Millisecond}, "polling": {Poll: 5 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir, drive := filepath.Join(base, "docs"), filepath.Join(base, "drive")
			looks := make(chan struct{}, 1000)
			o.Now = func() time.Time { // is asked with every look
				select {
				case looks <- struct{}{}:
				default:
				}
				return time.Now().Add(time.Hour)
			}
			m := follow(t, o, dir)
			put(t, filepath.Join(dir, "a.md"), "alpha")
			m.matches("it appears", dir)
			must(t, os.Rename(dir, drive))
			must(t, os.Mkdir(dir, 0o755))
			put(t, filepath.Join(drive, "b.md"), "beta")
			for range 10 {
				<-looks
			}
			m.until("the directory below a drive is not taken for it", func() bool { return m.empty == 0 })
			must(t, os.Remove(dir))
			must(t, os.Rename(drive, dir))
			m.matches("it is back, with a new file", dir)
			must(t, errors.Join(os.Remove(filepath.Join(dir, "a.md")), os.Remove(filepath.Join(dir, "b.md"))))
			m.matches("it was emptied", dir)
			m.until("it is said to be empty", func() bool { return m.empty > 0 })
		})
	}
}

func TestEmptyAtTheBeginning(t *testing.T) {
	dir := t.TempDir()
	m := follow(t, watch.Options{}, dir)
	put(t, filepath.Join(dir, "a.md"), "alpha")
	m.matches("the first file", dir)
	if m.empty != 0 {
		t.Errorf("%d calls for an empty folder", m.empty)
	}
}

func TestFailuresAreTriedAgain(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.md"), "alpha")
	m := &mirror{t: t, held: make(map[string]map[string]string), fail: 3}
	m.start(watch.Options{}, dir)
	m.matches("the fourth time", dir)
}

// TestNothingIsNothing: a file that is not a document causes no call.
func TestNothingIsNothing(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.md"), "alpha")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, "a.md"), old, old))
	m := follow(t, watch.Options{}, dir)
	m.matches("at the beginning", dir)
	for _, name := range []string{
		"a.md~", ".#a.md", "#a.md#", ".a.md.swp", "4913", "a.md___jb_tmp___", "~$a.docx",
		"x.tmp", ".hidden", "picture.png", ".git/HEAD", "dist/x.md",
	} {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), "x")
	}
	must(t, os.Chmod(filepath.Join(dir, "a.md"), 0o400))
	next := filepath.Join(t.TempDir(), "b.md")
	put(t, next, "beta")
	must(t, os.Rename(next, filepath.Join(dir, "b.md")))
	m.matches("a document", dir)
	if m.calls != 2 {
		t.Errorf("%d calls", m.calls)
	}
}

func TestBadPatterns(t *testing.T) {
	err := watch.Paths(t.Context(), []string{t.TempDir()}, watch.Options{Walk: docs.WalkOptions{Include: []string{"["}}},
		func(context.Context, watch.Change) error { return nil })
	if !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
