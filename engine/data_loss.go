package engine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx/index/vector"
	"github.com/ragctx/ragctx/internal/store"
)

// checkLost rejects a database that is older than one of its indexes. The database's state file
// detects most losses, but may have been lost with it.
func (e *core) checkLost(ctx context.Context) error {
	newest, err := e.store.NewestChange(ctx)
	if err != nil {
		return err
	}
	root := os.DirFS(filepath.Join(e.opts.Dir, store.IndexName))
	dirs, err := fs.Glob(root, "*/"+vectorPrefix+"*")
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if has := vector.Cursor(filepath.Join(e.opts.Dir, store.IndexName, filepath.FromSlash(dir))); has > newest {
			return &store.LostError{What: fmt.Sprintf("the database has %d changes, but its index %s has applied %d",
				newest, dir, has)}
		}
	}
	return nil
}
