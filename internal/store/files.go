package store

import (
	"context"
	"database/sql"
)

// FileState says in what state the file of a document was read.
type FileState struct {
	ID   string // of the document
	Root string // of the document
	// Version is the one that the file was read into. If another is current, the
	// file may have been something else by then, and the state is left out.
	Version int
	// Stat is whatever tells that the file, and how it was read, are the same as
	// before; "" forgets it.
	Stat string
}

// NoteFiles keeps the states of the files that current documents were ingested from,
// so that [Document.Stat] tells that they need not be read again. A document that is
// not there, or is of another root or version, is left out. A new version starts without a state.
func (s *Store) NoteFiles(ctx context.Context, ns int64, files []FileState) error {
	err := s.write.doIn(ctx, nowhere, Low, func(ctx context.Context, tx *sql.Tx) error {
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
		return failed("note the states of files", err)
	}
	return nil
}
