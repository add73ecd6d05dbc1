package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ragctx/ragctx"
)

// The id of a memory, shared by its turn, belongs to one user from its first version until
// everything under it is erased. Deleting the memory does not free the id: a user could otherwise
// take it and keep the first owner from reading, undoing and erasing the memory.

// elsewhose reports whether anything of a memory or turn, current or earlier, belongs to another
// user, or with orNobody is shared. History records the owners of quarantined memories.
func elsewhose(ctx context.Context, tx *sql.Tx, ns int64, id, user string, orNobody bool) (yes bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT
		   EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?2 AND key = ?3 AND seq > 0 AND user <> ?4 AND (?5 OR user <> ''))
		OR EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND key = ?3 AND user <> ?4 AND (?5 OR user <> ''))
		OR EXISTS (SELECT 1 FROM quarantine WHERE namespace = ?1 AND key = ?3 AND user <> ?4 AND (?5 OR user <> ''))
		OR EXISTS (SELECT 1 FROM history WHERE namespace = ?1 AND key = ?3 AND user <> ?4 AND user <> '')`,
		ns, Memories, id, user, orNobody).Scan(&yes)
	return yes, err
}

// mayErase checks that a memory belongs to a user or is shared.
func mayErase(ctx context.Context, tx *sql.Tx, ns int64, id, user string) error {
	others, err := elsewhose(ctx, tx, ns, id, user, false)
	if err == nil && others {
		err = fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return err
}

// mayTake checks that a user may create a memory under an unused id.
func mayTake(ctx context.Context, tx *sql.Tx, ns int64, id, user string) error {
	others, err := elsewhose(ctx, tx, ns, id, user, true)
	if err == nil && others {
		err = taken(id)
	}
	return err
}

// taken does not reveal the owner, nor whether the item still exists.
func taken(id string) error {
	return fmt.Errorf("memory %q: %w: the id is taken; choose another one", ragctx.Clip(id), ragctx.ErrConflict)
}

// Nobodys reports whether anything of a memory or turn, current or earlier, is shared. If anything
// of it belongs to another user, the error is [ragctx.ErrNotFound].
func (s *Store) Nobodys(ctx context.Context, ns int64, id, user string) (nobodys bool, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		if err := mayErase(ctx, tx, ns, id, user); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?2 AND key = ?3 AND seq > 0 AND user = '')
			OR EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND key = ?3 AND user = '')
			OR EXISTS (SELECT 1 FROM quarantine WHERE namespace = ?1 AND key = ?3 AND user = '')`, ns, Memories, id).Scan(&nobodys)
	})
	return nobodys, failedIf("look whose memory it is", err)
}

// NobodysNow reports whether a current or quarantined memory is shared, regardless of earlier
// owners of its id.
func (s *Store) NobodysNow(ctx context.Context, ns int64, id string) (nobodys bool, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?2 AND key = ?3 AND superseded IS NULL AND user = '')
			OR EXISTS (SELECT 1 FROM quarantine WHERE namespace = ?1 AND key = ?3 AND user = '')`, ns, Memories, id).Scan(&nobodys)
	})
	return nobodys, failedIf("look whose memory it is", err)
}
