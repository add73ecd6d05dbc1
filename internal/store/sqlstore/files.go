package sqlstore

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// RecordFiles implements [store.Documents].
func (s *Store) RecordFiles(ctx context.Context, ns int64, files []store.FileState) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		for _, f := range files {
			_, err := tx.ExecContext(ctx, `UPDATE items SET stat = ?
				WHERE namespace = ? AND kind = ? AND key = ? AND superseded IS NULL AND root = ? AND version = ? AND stat <> ?`,
				f.Stat, ns, store.KindDocuments, f.ID, f.Root, f.Version, f.Stat)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return failed("record the states of files", err)
	}
	return nil
}
