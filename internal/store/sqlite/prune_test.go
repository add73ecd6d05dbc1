package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// TestOldVersionsGo checks that the rows of old versions are deleted.
func TestOldVersionsGo(t *testing.T) {
	f := openWith(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{KeepVersions: 3})
	for i := 1; i <= 6; i++ {
		f.doc(t, "a", fmt.Sprintf("text number %d of it", i), "")
	}
	f.doc(t, "b", "never replaced", "")
	for table, want := range map[string]int{"items": 4, "texts": 4, "units": 4} {
		eventually(t, "the removal of old "+table, func() bool {
			return count(t, f.path, `SELECT count(*) FROM `+table) == want
		})
	}
}
