package engine

import (
	"context"
	"fmt"

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
	if err == nil && has > newest {
		return &store.LostError{What: fmt.Sprintf("the database has %d changes, but its index %s has applied %d", newest, name, has)}
	}
	return err
}
