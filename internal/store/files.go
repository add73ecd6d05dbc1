package store

import (
	"context"
	"database/sql"
)

// FileState is the state of a document's file when it was read.
type FileState struct {
	ID   string // of the document
	Root string // of the document
	// Version is the version made from the file. If another one is current, the file may have
	// changed since, and the state is ignored.
	Version int
	// Stat identifies the contents of the file and the way it was read; "" clears it.
	Stat string
}

// RecordFiles stores the states of the files that current documents were ingested from, for
// [Document.Stat]: an unchanged file need not be read again. It ignores documents that are missing
// or have another root or version. A new version starts without a state.
func (s *Store) RecordFiles(ctx context.Context, ns int64, files []FileState) error {
	err := s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) error {
		for _, f := range files {
			_, err := tx.ExecContext(ctx, `UPDATE items SET stat = ?
				WHERE namespace = ? AND kind = ? AND key = ? AND superseded IS NULL AND root = ? AND version = ? AND stat <> ?`,
				f.Stat, ns, Documents, f.ID, f.Root, f.Version, f.Stat)
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
