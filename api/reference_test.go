package api

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/api/reference"
)

// TestReference fails when docs/api and the routes differ. Run with -update after a change
// that is meant.
func TestReference(t *testing.T) {
	pages, err := reference.Pages(OpenAPI("test"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "docs", "api")
	if *update {
		rewrite(t, dir, pages)
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if pages[filepath.Base(path)] == nil {
			t.Errorf("%s has no route any more; run go test ./api -run TestReference -update", path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(pages[name])); diff != "" {
			t.Errorf("docs/api/%s is of other routes; run go test ./api -run TestReference -update (-want +got):\n%s", name, diff)
		}
	}
}

func rewrite(t *testing.T, dir string, pages map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
