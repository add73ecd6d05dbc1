package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// inspect opens a database that may be damaged. It returns the documents that read wrong and the reported
// damage: an error of opening or findings.
func inspect(t *testing.T, path string, want map[string]string) (wrong []string, told error) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			told = errors.Join(told, err)
		}
	}()
	r, err := s.Verify(t.Context(), store.VerifyOptions{Embedder: 1})
	if err != nil {
		return nil, err
	}
	if r.Damaged() {
		told = fmt.Errorf("%+v", r.Findings)
	}
	ns, err := s.Namespace(t.Context(), "default", false)
	if err != nil {
		return nil, errors.Join(told, err)
	}
	for id, text := range want {
		_, got, err := s.Document(t.Context(), ns, id, 0)
		if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
			told = errors.Join(told, err)
		} else if got != text {
			wrong = append(wrong, id)
		}
	}
	return wrong, told
}

// TestFlippedBytes damages a byte of the database file or of its log. Nothing
// panics, and no document reads wrong without a report.
func TestFlippedBytes(t *testing.T) {
	f := fresh(t)
	want := make(map[string]string)
	for i := range 12 {
		id := fmt.Sprint("d", i)
		_, text, err := f.long(t, t.Context(), id, uint64(i), 5+i)
		if err != nil {
			t.Fatal(err)
		}
		want[id] = text
	}
	logged, closed := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "x.db")
	freeze(t, f, logged)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	duplicate(t, f.path, closed)
	for _, target := range []string{closed, logged + "-wal"} {
		whole, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		noticed := 0
		rng := rand.New(rand.NewPCG(1, 1))
		for range 40 {
			at := rng.IntN(len(whole))
			path := filepath.Join(t.TempDir(), "x.db")
			base, suffix := strings.CutSuffix(target, "-wal")
			name := path
			if suffix {
				duplicate(t, base, path)
				name += "-wal"
			}
			b := append([]byte(nil), whole...)
			b[at] ^= 1 << rng.IntN(8)
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			wrong, told := inspect(t, path, want)
			if told != nil {
				noticed++
			}
			// Damage to the last transaction of a log looks like a crash.
			if len(wrong) > 0 && told == nil && !(suffix && len(wrong) == 1) {
				t.Errorf("byte %d of %s: %v read wrong and nobody was told", at, filepath.Base(name), wrong)
			}
		}
		t.Logf("%s: %d of 40 noticed", filepath.Base(target), noticed)
	}
}

// duplicate copies a file.
func duplicate(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCutLogs opens a database whose log ends anywhere, as a crash may leave it:
// that is no damage.
func TestCutLogs(t *testing.T) {
	f := fresh(t)
	for i := range 4 {
		f.doc(t, fmt.Sprint(i), strings.Repeat("text ", 200), "")
	}
	logged := filepath.Join(t.TempDir(), "x.db")
	freeze(t, f, logged)
	whole, err := os.ReadFile(logged + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += len(whole)/20 + 1 {
		for name, tail := range map[string][]byte{"cut off": nil, "zeros": make([]byte, len(whole)-at)} {
			path := filepath.Join(t.TempDir(), "x.db")
			duplicate(t, logged, path)
			if err := os.WriteFile(path+"-wal", append(append([]byte(nil), whole[:at]...), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(context.WithoutCancel(t.Context()), path, sqlite.Options{})
			if err != nil {
				t.Errorf("%s at %d of %d: %v", name, at, len(whole), err)
				continue
			}
			if r, err := s.Verify(t.Context(), store.VerifyOptions{}); err != nil || r.Damaged() {
				t.Errorf("%s at %d of %d: %+v, %v", name, at, len(whole), r, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
