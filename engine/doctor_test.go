package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ragctx/ragctx/engine"
)

// TestDoctor audits an index with a file in the place of its directory, and repairs it.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir})
	putMany(t, e, 0, 20)
	c, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{})
	if err != nil || !c.Sound() || len(c.Indexes) != 2 || c.Store.Items != 20 {
		t.Fatalf("%+v, %v", c, err)
	}
	e.Close()
	place := filepath.Join(dir, "index", "1-documents")
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	e = openWith(t, engine.Options{Dir: dir})
	defer e.Close()
	if c, err = e.Admin().Doctor(t.Context(), engine.DoctorOptions{}); err != nil || c.Sound() {
		t.Fatalf("an index that cannot be is in order: %+v, %v", c, err)
	}
	if c, err = e.Admin().Doctor(t.Context(), engine.DoctorOptions{Repair: true}); err != nil || c.Repaired != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err = e.Admin().Doctor(t.Context(), engine.DoctorOptions{}); err != nil || !c.Sound() {
		t.Fatalf("not in order after the repair: %+v, %v", c, err)
	}
	nearest(t, e, 7)
}
