package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// Freeze runs fn while nothing writes to the files.
func (s *Store) Freeze(_ context.Context, fn func() error) (err error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.write.pauseWrites(func() { err = fn() })
	return err
}

// Slowly writes a setting in a transaction too long for another job to join.
func (s *Store) Slowly(ctx context.Context, key string) error {
	return s.Write(ctx, sqlstore.Write{}, func(ctx context.Context, tx *sqlstore.Tx) error {
		time.Sleep(sqlstore.MaxBatch + time.Millisecond)
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value) VALUES (?, 'x')`, key)
		return err
	})
}

// GiveFirst assigns the first version of a memory to another user. Earlier versions of the program
// allowed users to take the id of another user's deleted memory.
func (s *Store) GiveFirst(ctx context.Context, ns int64, id, to string) error {
	return s.Write(ctx, sqlstore.Write{}, func(ctx context.Context, tx *sqlstore.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE items SET user = ? WHERE namespace = ? AND kind = ? AND key = ? AND version = 1`,
			to, ns, store.KindMemories, id)
		return err
	})
}

// Waiting returns how many urgent writes wait.
func (s *Store) Waiting() int { return len(s.write.queue[sqlstore.High]) }

// CutLog truncates the log as after idle time.
func (s *Store) CutLog() {
	s.log.mu.Lock()
	s.log.limits.copy = 1
	s.log.mu.Unlock()
	s.log.truncate()
}

// Execute runs statements in one write, which commits even if the last of them fails.
func (s *Store) Execute(ctx context.Context, statements []string) error {
	return s.Write(ctx, sqlstore.Write{}, func(ctx context.Context, tx *sqlstore.Tx) error {
		for i, text := range statements {
			if _, err := tx.ExecContext(ctx, text); err != nil && i < len(statements)-1 {
				return err
			}
		}
		return nil
	})
}

// ExecuteAndFail runs a statement in a write that fails.
func (s *Store) ExecuteAndFail(ctx context.Context, statement string) error {
	return s.Write(ctx, sqlstore.Write{}, func(ctx context.Context, tx *sqlstore.Tx) error {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
		return errors.New("it fails")
	})
}

// PutMemory stores a memory over any version.
func (s *Store) PutMemory(ctx context.Context, ns int64, m ragctx.Memory, c store.Content, tier store.Tier) (ragctx.Memory, store.Status, uint64, error) {
	return s.ReplaceMemory(ctx, ns, m, c, tier, 0)
}

// Snapshot writes a snapshot file.
func (s *Store) Snapshot(ctx context.Context, path string, o store.SnapshotOptions) (store.SnapshotInfo, error) {
	return store.SaveSnapshot(ctx, s, path, o)
}

// MigrateInSteps creates a database by applying one schema file after the other.
func MigrateInSteps(ctx context.Context, path string) (err error) {
	files, err := schemaFiles()
	if err != nil {
		return err
	}
	db, err := connect(path, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for i := range files {
		err := inTx(ctx, db, func(tx *sql.Tx) error {
			if err := applyFiles(ctx, tx, files[i:i+1]); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", i+1))
			return err
		})
		if err != nil {
			return err
		}
	}
	return inTx(ctx, db, func(tx *sql.Tx) error { return recomputeSums(ctx, tx) })
}
