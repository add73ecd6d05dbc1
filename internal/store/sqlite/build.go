package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// Build creates a database file at path, with the rows that fill writes. References are not checked, so
// the order of tables is free.
func Build(ctx context.Context, path string, fill func(*sql.Tx) error) (err error) {
	if err := createFile(path); err != nil {
		return err
	}
	db, err := connect(path, 1, "_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wrap(db.Close())) }()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `PRAGMA foreign_keys = 0`); err != nil {
		return wrap(err)
	}
	err = inTx(ctx, db, func(tx *sql.Tx) error {
		if err := fill(tx); err != nil {
			return err
		}
		return recomputeSums(ctx, tx)
	})
	return wrap(err)
}

// ReadFile runs fn on a database file that no store has open, after migrating its schema.
func ReadFile(ctx context.Context, path string, fn func(*sql.Tx) error) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	return errors.Join(s.View(ctx, func(tx *sqlstore.Tx) error { return fn(tx.Tx) }), s.Close())
}

// UnpackFile writes the database of a snapshot to a file, and checks it.
func UnpackFile(ctx context.Context, file, path string, o store.RestoreOptions) (info store.SnapshotInfo, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return info, fmt.Errorf("restore: %w", store.DiskError(err))
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	info, err = store.UnpackSnapshot(ctx, file, f, o.Progress)
	if err = errors.Join(err, f.Close()); err != nil {
		return info, err
	}
	if err := verifyDatabase(ctx, path, info); err != nil {
		return info, fmt.Errorf("restore: %s: %w", file, err)
	}
	return info, nil
}

// Table is a table of the store with its columns.
type Table struct {
	Name    string
	Columns []string
	// Reals are the columns of floating-point numbers.
	Reals map[string]bool
}

// Tables returns the tables of a database in an order in which each refers to earlier ones alone, without
// those that only a file has.
func Tables(ctx context.Context, tx *sql.Tx) ([]Table, error) {
	const query = `SELECT s.name, c.name, c.type FROM sqlite_schema s, pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name <> 'sums' ORDER BY s.rowid, c.cid`
	rows, err := tx.QueryContext(ctx, query) //nolint:rowserrcheck // Scan checks it
	if err != nil {
		return nil, err
	}
	var all []Table
	err = sqlstore.Scan(rows, func() error {
		var table, column, kind string
		if err := rows.Scan(&table, &column, &kind); err != nil {
			return err
		}
		if len(all) == 0 || all[len(all)-1].Name != table {
			all = append(all, Table{Name: table, Reals: make(map[string]bool)})
		}
		t := &all[len(all)-1]
		t.Columns = append(t.Columns, column)
		t.Reals[column] = kind == "REAL"
		return nil
	})
	return all, err
}
