package engine_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// unpack unpacks an archive of a data directory.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOldDataDirectories opens the data directories that earlier versions wrote
// (see testdata/datadirs), finds everything in them, and goes on to write.
func TestOldDataDirectories(t *testing.T) {
	archives, err := filepath.Glob("../testdata/datadirs/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			dir := unpack(t, archive)
			now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
			open := func() *engine.Engine {
				e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Now: func() time.Time { return now }, ProviderTimeout: patience})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			e := open()
			oldContents(t, e)
			if _, err := e.CompleteTurn(t.Context(), ragctx.Turn{ID: "new", SessionID: "session-0", Prompt: "And the kingfisher?", Occurred: now}); err != nil {
				t.Error(err)
			}
			finds(t, e, "kingfisher", "", time.Time{}, "kingfisher")
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = open()
			defer e.Close()
			oldContents(t, e)
			c, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{})
			if err != nil || len(c.Store.Findings) != 0 || c.Store.Items != 16 || !c.Sound() {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// oldContents checks what every archive holds.
func oldContents(t *testing.T, e *engine.Engine) {
	t.Helper()
	day := func(d int) time.Time { return time.Date(2026, 1, d, 23, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		query, user string
		asOf        time.Time
		want        string // in the best answer; "" is not to be found
	}{
		{"flamingo", "", time.Time{}, "flamingo"},
		{"albatross", "", time.Time{}, ""},
		{"albatross", "", day(1), "albatross"},
		{"egret", "", day(2), "egret"},
		{"egret", "", day(3), ""},
		{"bittern", "", time.Time{}, ""},
		{"bittern", "", day(2), "bittern"},
		{"dunlins", "", time.Time{}, "dunlins"},
		{"cormorant", "", time.Time{}, ""}, // in the other namespace
		{"heron", "ada", time.Time{}, ""},
		{"heron", "ada", day(3), "heron"},
		{"ibis", "ada", time.Time{}, "ibis"},
		{"ibis", "bob", time.Time{}, ""},
		{"jacana", "", time.Time{}, ""},
		{"jacana", "", day(4), "jacana"},
		{"goosander number 0", "", time.Time{}, "goosander number 0"},
		{"goosander number 1", "ada", time.Time{}, "goosander number 1"},
	} {
		finds(t, e, c.query, c.user, c.asOf, c.want)
	}
	for version, want := range []string{"flamingo", "albatross", "egret", "flamingo"} {
		d, text, err := e.Documents().Get(t.Context(), "default", "guide", version)
		if err != nil || !strings.Contains(text, want) || len(d.Tags) != 1 || d.Tags[0] != "old" || fmt.Sprint(d.Metadata["n"]) != "1.5" {
			t.Errorf("version %d: %+v, %q, %v", version, d, text, err)
		}
	}
	for user, want := range map[string]int{"": 2, "ada": 5, "bob": 4} {
		list, _, err := e.Memories().List(t.Context(), "default", store.MemoryFilter{UserID: user, Exclude: []string{"new"}})
		if err != nil || len(list) != want {
			t.Errorf("user %q has %d memories, want %d, %v", user, len(list), want, err)
		}
	}
	if names, err := e.Admin().NamespaceNames(t.Context()); err != nil || fmt.Sprint(names) != "[default other]" {
		t.Errorf("namespaces %v, %v", names, err)
	}
}

// finds checks that the answer to a question has want in one of its items, or,
// if that is empty, the question's own word in none.
func finds(t *testing.T, e *engine.Engine, query, user string, asOf time.Time, want string) {
	t.Helper()
	q := ragctx.NewQuery(query)
	q.ContextTypes, q.UserID, q.AsOf = nil, user, asOf
	seen := false
	for _, it := range searched(t, e, q) {
		seen = seen || strings.Contains(it.Content, query)
	}
	if seen != (want != "") {
		t.Errorf("%q for user %q as of %v: found is %t, want %t", query, user, asOf, seen, want != "")
	}
}
