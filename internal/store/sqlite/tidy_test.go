package sqlite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/internal/store"
)

// filesOf returns the files of a database whose setting "which" has a value, as
// they are while it is open: the value is in the log alone.
func filesOf(t *testing.T, value string) map[string][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), store.DatabaseName)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetSetting(t.Context(), "which", value); err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	err = s.Freeze(t.Context(), func() (err error) {
		for _, suffix := range []string{"", "-wal"} {
			if files[suffix], err = os.ReadFile(path + suffix); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wholeFile returns the file of a database that was closed in order.
func wholeFile(t *testing.T, value string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), store.DatabaseName)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetSetting(t.Context(), "which", value); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptedRestore ends a restore between any two of its steps. The next
// opening has the old database with its log, or the new one, and leaves nothing
// else; another restore goes through.
func TestInterruptedRestore(t *testing.T) {
	old, fresh := filesOf(t, "old"), wholeFile(t, "new")
	all := len(replaceSteps("", ""))
	renamed := 0 // the number of steps after which the new one is in place
	for done := range all + 1 {
		dir := t.TempDir()
		name := filepath.Join(dir, store.DatabaseName)
		for suffix, b := range old {
			put(t, name+suffix, b)
		}
		put(t, filepath.Join(dir, store.SnapshotTempPrefix+"1", "copy.db"), []byte("erased long ago"))
		for _, suffix := range []string{"1", "1-shm", "2"} {
			put(t, name+restoring+suffix, fresh)
		}
		if err := inOrder(replaceSteps(name, name+restoring+"1")[:done]...); err != nil {
			t.Fatal(err)
		}
		want := "old"
		if b, err := os.ReadFile(name); err != nil || slices.Equal(b, fresh) {
			want = "new"
			renamed++
		}
		check := func(when string) {
			t.Helper()
			s, err := Open(t.Context(), name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Setting(t.Context(), "which"); err != nil || got != want {
				t.Errorf("%s after %d steps: %q, %v; want %q", when, done, got, err, want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 { // the database and its state
				t.Errorf("%s after %d steps: left are %v, %v", when, done, left, err)
			}
		}
		check("opened")
		put(t, name+restoring+"3", fresh)
		if err := inOrder(replaceSteps(name, name+restoring+"3")...); err != nil {
			t.Error(err)
		}
		want = "new"
		check("restored again")
	}
	if renamed == 0 || renamed > all {
		t.Errorf("the new one was in place in %d cases of %d", renamed, all+1)
	}
}

// TestRestoreAfterAnInterruptedOne does not open the database between the two.
func TestRestoreAfterAnInterruptedOne(t *testing.T) {
	old, fresh := filesOf(t, "old"), wholeFile(t, "new")
	all := len(replaceSteps("", ""))
	for first := range all {
		for second := range min(7, all) { // as far as the log is moved
			dir := t.TempDir()
			name := filepath.Join(dir, store.DatabaseName)
			for suffix, b := range old {
				put(t, name+suffix, b)
			}
			for _, done := range []int{first, second} {
				put(t, name+restoring+"1", fresh)
				if err := inOrder(replaceSteps(name, name+restoring+"1")[:done]...); err != nil {
					t.Fatal(err)
				}
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := tidy(name); err != nil {
				t.Fatal(err)
			}
			_, lost := os.Stat(name + "-wal")
			if replaced := slices.Equal(b, fresh); replaced != (lost != nil) {
				t.Errorf("after %d and %d steps: replaced: %v, the log: %v", first, second, replaced, lost)
			}
		}
	}
}
