package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// TestOldVersionsGo replaces a document more often than versions are kept.
func TestOldVersionsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	f := openWith(t, path, sqlite.Options{KeepVersions: 3})
	var removed int
	for i := 1; i <= 6; i++ {
		before := f.follow(t, f.documents(), 0).Seq
		f.doc(t, "a", fmt.Sprintf("text number %d of it", i), "")
		f.doc(t, "b", "never replaced", "")
		removed += len(f.follow(t, f.documents(), before).Removed)
	}
	if removed != 3 {
		t.Errorf("the indexes were told to forget %d units; want 3", removed)
	}
	for version, want := range map[int]bool{1: false, 3: false, 4: true, 5: true, 6: true} {
		_, text, err := f.Document(t.Context(), f.ns, "a", version)
		if kept := err == nil && text == fmt.Sprintf("text number %d of it",
			version); kept != want || err != nil && !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("version %d: %q, %v", version, text, err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var items, texts, units int
		err := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM texts), (SELECT count(*) FROM units)`).
			Scan(&items, &texts, &units)
		if err == nil && items == 4 && texts+units == 2*4 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d items, %d texts, %d units are left, %v; want 4", items, texts, units, err)
		}
	}
}

// TestFewerVersions keeps fewer than before: the rest goes with the next writes.
func TestFewerVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	f := openWith(t, path, sqlite.Options{KeepVersions: -1})
	for i := range 12 {
		f.doc(t, "a", fmt.Sprint("text ", i), "")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = openWith(t, path, sqlite.Options{KeepVersions: 3})
	for i := range 9 {
		f.doc(t, "a", fmt.Sprint("more ", i), "")
	}
	for version := 1; version <= 21; version++ {
		_, _, err := f.Document(t.Context(), f.ns, "a", version)
		if kept := err == nil; kept != (version > 18) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}
