package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TestLostDatabase removes parts of a data directory. Opening it fails with a remedy unless the loss
// is accepted; then the remaining items are found, and the lost ones are not.
func TestLostDatabase(t *testing.T) {
	f := open(t)
	f.put("first", "The ZqfirstXw is here.")
	f.reopen() // into the database file
	older, err := os.ReadFile(filepath.Join(f.opts.Dir, store.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	f.putMany("m", "harbour") // enough for an index to have files
	f.reopen()
	f.put("last", "The ZqlastXw is here.") // in the log alone
	killed := t.TempDir()
	f.copyTo(killed) // as kill -9 leaves it, with a log
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	db, wal := store.DatabaseName, store.DatabaseName+"-wal"
	remove := func(names ...string) func(string) error {
		return func(dir string) (err error) {
			for _, n := range names {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, n)))
			}
			return err
		}
	}
	overwrite := func(name string, b []byte) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), b, 0o600) }
	}
	cut := func(tenths int64) func(string) error {
		return func(dir string) error {
			st, err := os.Stat(filepath.Join(dir, wal))
			if err != nil {
				return err
			}
			return os.Truncate(filepath.Join(dir, wal), st.Size()*tenths/10)
		}
	}
	other := open(t)
	other.put("other", "Another database.")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	otherFile, err := os.ReadFile(filepath.Join(other.opts.Dir, db))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(dir string) error
		killed bool
		says   string
	}{
		{"missing", remove(db), false, "is missing"},
		{"missing with its state", remove(db, db+"-state"), false, "is missing"},
		{"empty", overwrite(db, nil), false, "is empty"},
		{"older", overwrite(db, older), false, "an older copy"},
		{"older than the indexes", func(dir string) error { return errors.Join(remove(db+"-state")(dir), overwrite(db, older)(dir)) }, false, "its index"},
		{"another one", overwrite(db, otherFile), false, "is not the one that was here"},
		{"the log is lost", remove(wal, db+"-shm"), true, "cut off or lost"},
		{"the log is empty", cut(0), true, "cut off or lost"},
		{"a tenth of the log", cut(1), true, "cut off or lost"},
		{"half of the log", cut(5), true, "cut off or lost"},
		{"most of the log", cut(9), true, "cut off or lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := f.opts.Dir
			if c.killed {
				from = killed
			}
			dir := t.TempDir()
			if err := errors.Join(os.CopyFS(dir, os.DirFS(from)), c.change(dir)); err != nil {
				t.Fatal(err)
			}
			o := f.opts
			o.Dir = dir
			for range 2 { // asking changes nothing
				e, err := engine.Open(t.Context(), o)
				if lost, ok := errors.AsType[*store.LostError](err); !ok || !strings.Contains(lost.Error(), c.says) || !strings.Contains(lost.Error(), "--accept-loss") {
					if err == nil {
						err = e.Close()
					}
					t.Fatalf("opened: %v", err)
				}
			}
			o.AcceptLoss = true
			g := &fixture{t: t, clock: f.clock, opts: o}
			g.reopen()
			g.put("new", "The ZqnewXw is here.")
			if ids := g.found(query("ZqnewXw")); !slices.Contains(ids, "new@1#0") {
				t.Errorf("what is new is not found: %v", ids)
			}
			if ids := g.found(query("ZqlastXw")); slices.Contains(ids, "last@1#0") {
				t.Errorf("what is lost is found: %v", ids)
			}
			if found, err := g.Admin().Doctor(t.Context(), engine.DoctorOptions{Searching: -1}); err != nil || !found.Sound() {
				t.Errorf("%+v, %v", found, err)
			}
			g.opts.AcceptLoss = false
			g.reopen() // from now on it is what is there
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	// As a crash of the machine may leave it: the state file behind, or torn. Nothing is lost.
	for what, b := range map[string][]byte{"torn": []byte("ragctx 1 0123"), "empty": nil, "zeros": make([]byte, 71)} {
		dir := t.TempDir()
		if err := errors.Join(os.CopyFS(dir, os.DirFS(killed)), overwrite(db+"-state", b)(dir)); err != nil {
			t.Fatal(err)
		}
		o := f.opts
		o.Dir = dir
		e, err := engine.Open(t.Context(), o)
		if err != nil {
			t.Errorf("a state file that is %s: %v", what, err)
			continue
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// copyTo copies the files as they are at one moment.
func (f *fixture) copyTo(dir string) {
	f.t.Helper()
	state := func() string {
		var out strings.Builder
		names, err := filepath.Glob(filepath.Join(f.opts.Dir, "*"))
		if err != nil {
			f.t.Fatal(err)
		}
		for _, n := range names {
			if st, err := os.Stat(n); err == nil {
				fmt.Fprintln(&out, n, st.Size(), st.ModTime().UnixNano())
			}
		}
		return out.String()
	}
	for {
		before := state()
		if err := os.RemoveAll(dir); err != nil {
			f.t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(f.opts.Dir)); err == nil && state() == before {
			return
		}
	}
}
