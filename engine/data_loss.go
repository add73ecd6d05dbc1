package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx/internal/store"
)

// checkLost rejects a database that is older than one of its indexes. The database's state file
// detects most losses, but may have been lost with it.
func (e *core) checkLost(ctx context.Context) error {
	newest, err := e.store.NewestChange(ctx)
	if err != nil {
		return err
	}
	has, name, err := e.opts.Indexes.Newest(ctx)
	if err == nil && has > newest && e.node.isLed() {
		// The process that leads has judged the database. An index of this one follows an earlier state of it.
		e.opts.Logger.WarnContext(ctx, "the indexes of this node are newer than the database; they are built again", "index", name)
		return os.RemoveAll(filepath.Join(e.opts.Dir, store.IndexName))
	}
	if err == nil && has > newest {
		return &store.LostError{What: fmt.Sprintf("the database has %d changes, but its index %s has applied %d", newest, name, has)}
	}
	return err
}
