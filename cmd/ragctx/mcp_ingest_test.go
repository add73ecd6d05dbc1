package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TestAllowedPathBecomesALink: an agent that may write below an allowed path makes links
// of what it names there after that was checked. Nothing from outside is stored, neither
// by this process nor by a server that it sends documents to.
func TestAllowedPathBecomesALink(t *testing.T) {
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	dir := t.TempDir()
	write(t, dir, map[string]string{"allowed/sub/a.md": "inside", "outside/a.md": "outside", "outside/secret.md": "outside"})
	allowed, err := realPath(filepath.Join(dir, "allowed"))
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept")
	f := allowedFiles{roots: []string{allowed}}
	for _, named := range []string{"sub", "sub/a.md", "."} {
		for _, swapped := range []string{"sub", "sub/a.md"} {
			o, err := f.options("", []string{filepath.Join(allowed, filepath.FromSlash(named))})
			if err != nil {
				t.Fatal(err)
			}
			at, to := filepath.Join(allowed, filepath.FromSlash(swapped)), filepath.Join(dir, "outside")
			if swapped != "sub" {
				to = filepath.Join(to, "a.md")
			}
			if err := errors.Join(os.Rename(at, kept), os.Symlink(to, at)); err != nil {
				t.Skip(err)
			}
			_, _ = engine.Ingest(t.Context(), eng.Documents(), o) // it may be refused
			for c, err := range engine.Collect(t.Context(), eng.Documents().List, o) {
				if err == nil && c.Document != nil {
					t.Errorf("%s, while %s is a link: %q would be sent", named, swapped, c.Document.Text)
				}
			}
			if err := errors.Join(os.Remove(at), os.Rename(kept, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := eng.Documents().List(t.Context(), "", store.ListOptions{Limit: 100})
	if err != nil || len(found) > 0 {
		t.Errorf("%v is stored, %v", found, err)
	}
}

// TestMissingPaths checks that a path of an agent that does not exist is reported as missing only below an
// allowed folder.
func TestMissingPaths(t *testing.T) {
	dir, err := realPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"allowed/a.md": "inside", "outside/a.md": "outside"})
	allowed := filepath.Join(dir, "allowed")
	if err := errors.Join(os.Symlink(filepath.Join(dir, "outside"), filepath.Join(allowed, "link")),
		os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(allowed, "broken"))); err != nil {
		t.Skip(err)
	}
	f := allowedFiles{roots: []string{allowed}}
	for path, want := range map[string]string{
		"allowed/b.md": "does not exist in", "allowed/x/y/b.md": "does not exist in",
		"outside/a.md": "is not below", "outside/b.md": "is not below", "allowed/link/a.md": "is not below",
		"allowed/link/b.md": "is not below", "allowed/broken": "is not below", "nowhere/x": "is not below",
	} {
		if _, err := f.check([]string{filepath.Join(dir, filepath.FromSlash(path))}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
