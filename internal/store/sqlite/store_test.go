package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/storetest"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStore runs the conformance suite.
func TestStore(t *testing.T) {
	storetest.Test(t, func(t testing.TB, dir string, o storetest.Options) store.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(dir, "a b?#%.db"), sqlite.Options{Now: o.Now, KeepVersions: o.KeepVersions})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is an open database with a namespace and an embedder.
type fixture struct {
	*sqlite.Store

	path     string
	ns       int64
	embedder int64
	tampered bool // something else than the store has changed rows
}

func open(t *testing.T, path string) *fixture {
	t.Helper()
	return openWith(t, path, sqlite.Options{})
}

func openWith(t *testing.T, path string, o sqlite.Options) *fixture {
	t.Helper()
	o.Now = storetest.Clock()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Store: s, path: path}
	t.Cleanup(func() {
		r, err := s.Verify(context.Background(), store.VerifyOptions{})
		for _, found := range r.Findings {
			if found.Check == "rows" && err == nil && !f.tampered {
				t.Errorf("at the end of the test: %+v", found)
			}
		}
		s.Close()
	})
	if f.ns, err = s.Namespace(t.Context(), "default", true); err != nil {
		t.Fatal(err)
	}
	if f.embedder, err = s.Embedder(t.Context(), embed.Identity{Name: "test", Dimensions: 2}); err != nil {
		t.Fatal(err)
	}
	return f
}

func fresh(t *testing.T) *fixture {
	return open(t, filepath.Join(t.TempDir(), "a b?#%.db"))
}

func (f *fixture) doc(t *testing.T, id, text, root string) store.Put {
	t.Helper()
	p := storetest.Prepare(t, id, text)
	put, err := f.PutDocument(t.Context(), f.ns, p, root, f.content(p.Text, p.Chunks))
	if err != nil {
		t.Fatal(err)
	}
	return put
}

func (f *fixture) content(text string, chunks []chunk.Chunk) store.Content {
	return storetest.Content(f.embedder, text, chunks)
}

func (f *fixture) documents() store.Collection {
	return store.Collection{Namespace: f.ns, Kind: store.KindDocuments}
}

func (f *fixture) follow(t *testing.T, c store.Collection, seq uint64) index.Batch {
	t.Helper()
	return storetest.FollowAll(t, f, c, seq, f.embedder)
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a file that is no database: %v", err)
	}
}

// TestFileModes checks that only the owner can read the files.
func TestFileModes(t *testing.T) {
	f := fresh(t)
	f.doc(t, "d", "one", "")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(f.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("the database%s has mode %v", suffix, info.Mode().Perm())
		}
	}
}
