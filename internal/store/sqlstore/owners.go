package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// The id of a memory, shared by its turn, belongs to one user from its first version until
// everything under it is erased. Deleting the memory does not free the id: a user could otherwise
// take it and keep the first owner from reading, undoing and erasing the memory.

// ownedByOther reports whether anything of a memory or turn, current or earlier, belongs to another
// user, or with orNobody is shared. History records the owners of quarantined memories.
func ownedByOther(ctx context.Context, tx *Tx, ns int64, id, user string, orNobody bool) (yes bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT
		   EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?2 AND key = ?3 AND seq > 0 AND user <> ?4 AND (?5 OR user <> ''))
		OR EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND key = ?3 AND user <> ?4 AND (?5 OR user <> ''))
		OR EXISTS (SELECT 1 FROM quarantine WHERE namespace = ?1 AND key = ?3 AND user <> ?4 AND (?5 OR user <> ''))
		OR EXISTS (SELECT 1 FROM history WHERE namespace = ?1 AND key = ?3 AND user <> ?4 AND user <> '')`,
		ns, store.KindMemories, id, user, orNobody).Scan(&yes)
	return yes, err
}

// checkOwner checks that a memory belongs to a user or is shared.
func checkOwner(ctx context.Context, tx *Tx, ns int64, id, user string) error {
	others, err := ownedByOther(ctx, tx, ns, id, user, false)
	if err == nil && others {
		err = fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return err
}

// checkIDFree checks that a user may create a memory under an unused id.
func checkIDFree(ctx context.Context, tx *Tx, ns int64, id, user string) error {
	others, err := ownedByOther(ctx, tx, ns, id, user, true)
	if err == nil && others {
		err = idTaken(id)
	}
	return err
}

// idTaken does not reveal the owner, nor whether the item still exists.
func idTaken(id string) error {
	return fmt.Errorf("memory %q: %w: the id is taken; choose another one", ragctx.Clip(id), ragctx.ErrConflict)
}

// CountOwners implements [store.Owners].
func (s *Store) CountOwners(ctx context.Context, ns int64, f store.MemoryFilter) (all []store.OwnerCount, err error) {
	where, args := memoriesWhere(f, ns)
	err = s.view(ctx, func(tx *Tx) error {
		for _, kind := range [...]string{"agent", "session", "user"} {
			rows, err := tx.QueryContext(ctx, `SELECT i.`+kind+`, count(*), min(i.occurred), max(i.occurred) FROM items i WHERE `+where+
				` AND i.`+kind+` <> '' GROUP BY 1 ORDER BY 1 LIMIT ?`, append(slices.Clone(args), f.Limit)...) //nolint:gosec // constants
			if err != nil {
				return err
			}
			err = Scan(rows, func() error {
				o := store.OwnerCount{Kind: kind}
				var first, last sql.NullInt64
				err := rows.Scan(&o.Name, &o.Memories, &first, &last)
				o.First, o.Last = moment(first), moment(last)
				all = append(all, o)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all, failedIf("count the owners of memories", err)
}

// WasEverShared implements [store.Owners].
func (s *Store) WasEverShared(ctx context.Context, ns int64, id, user string) (shared bool, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		if err := checkOwner(ctx, tx, ns, id, user); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?2 AND key = ?3
			AND seq > 0 AND user = '')
			OR EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND key = ?3 AND user = '')
			OR EXISTS (SELECT 1 FROM quarantine WHERE namespace = ?1 AND key = ?3 AND user = '')`, ns, store.KindMemories, id).Scan(&shared)
	})
	return shared, failedIf("find the owner of a memory", err)
}

// IsShared implements [store.Owners].
func (s *Store) IsShared(ctx context.Context, ns int64, id string) (shared bool, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?2 AND key = ?3
			AND superseded IS NULL AND user = '')
			OR EXISTS (SELECT 1 FROM quarantine WHERE namespace = ?1 AND key = ?3 AND user = '')`, ns, store.KindMemories, id).Scan(&shared)
	})
	return shared, failedIf("find the owner of a memory", err)
}
