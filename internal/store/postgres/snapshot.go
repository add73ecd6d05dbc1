package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// A snapshot has the form of a database file of package sqlite, which has the same tables. So the
// snapshots of either can be restored into either.

// inTempFolder calls fn with the path of a database file in a new folder of a directory.
func inTempFolder(dir string, fn func(path string) error) (err error) {
	temp, err := os.MkdirTemp(dir, store.SnapshotTempPrefix+"*")
	if err != nil {
		return fmt.Errorf("snapshot: %w", store.DiskError(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	return fn(filepath.Join(temp, store.DatabaseName))
}

// WriteSnapshot implements [store.Snapshots].
func (s *Store) WriteSnapshot(ctx context.Context, w io.Writer, o store.SnapshotOptions) (info store.SnapshotInfo, err error) {
	err = inTempFolder(s.dir, func(path string) error {
		err := s.View(ctx, func(tx *sqlstore.Tx) error {
			return sqlite.Build(ctx, path, func(to *sql.Tx) error { return export(ctx, tx.Tx, to) })
		})
		if err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		file, err := sqlite.Open(ctx, path, sqlite.Options{Now: s.now})
		if err != nil {
			return err
		}
		info, err = file.WriteSnapshot(ctx, w, o)
		return errors.Join(err, file.Close())
	})
	return info, err
}

// export copies all rows into a database file.
func export(ctx context.Context, from, to *sql.Tx) error {
	tables, err := sqlite.Tables(ctx, to)
	if err != nil {
		return err
	}
	for _, t := range append(tables[1:], tables[0]) { // namespaces last, so that triggers count nothing
		if _, err := to.ExecContext(ctx, `DELETE FROM "`+t.Name+`"`); err != nil { //nolint:gosec // a name of our schema
			return err
		}
		if err := exportTable(ctx, from, to, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return exportNumbers(ctx, from, to)
}

func exportTable(ctx context.Context, from, to *sql.Tx, t sqlite.Table) error {
	columns := quoted(t.Columns)
	query := `INSERT INTO "` + t.Name + `" (` + columns + `) VALUES (?` + strings.Repeat(", ?", len(t.Columns)-1) + `)`
	ins, err := to.PrepareContext(ctx, query) //nolint:sqlclosecheck // it is closed below
	if err != nil {
		return err
	}
	defer ins.Close()
	rows, err := from.QueryContext(ctx, `SELECT `+columns+` FROM "`+t.Name+`"`) //nolint:gosec,rowserrcheck,sqlclosecheck // Scan does
	if err != nil {
		return err
	}
	row, into := rowOf(t)
	return sqlstore.Scan(rows, func() error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		rename(t.Name, t.Columns, row, dialect.Erased, "\x00")
		_, err := ins.ExecContext(ctx, row...)
		return err
	})
}

// exportNumbers copies the highest number that each table has ever given to a row.
func exportNumbers(ctx context.Context, from, to *sql.Tx) error {
	const numbered = `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`
	names, err := sqlstore.Column[string](ctx, &sqlstore.Tx{Tx: to}, numbered)
	if err != nil {
		return err
	}
	for _, table := range names {
		var last sql.NullInt64
		err := from.QueryRowContext(ctx, `SELECT pg_sequence_last_value(pg_get_serial_sequence(table_name, column_name)::regclass)
			FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? AND is_identity = 'YES'`,
			table).Scan(&last)
		if err != nil {
			return err
		}
		if _, err := to.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = ?`, table); err != nil {
			return err
		}
		if _, err := to.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`, table, last.Int64); err != nil {
			return err
		}
	}
	return nil
}

// Restore fills the database o.Store with the contents of a snapshot. A database that has contents is
// rejected unless o.Force is set; its contents are then replaced in one step. The directory is for
// temporary files.
func Restore(ctx context.Context, file, dir string, o store.RestoreOptions) (info store.SnapshotInfo, err error) {
	s, err := Open(ctx, o.Store, Options{Dir: dir})
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Stop() // nothing else writes
	err = inTempFolder(dir, func(path string) error {
		var used bool
		if err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM namespaces)`).Scan(&used); err != nil {
			return wrap(err)
		}
		if used && !o.Force {
			return fmt.Errorf("restore: %w: the database is not empty; use another one", ragctx.ErrConflict)
		}
		if info, err = sqlite.UnpackFile(ctx, file, path, o); err != nil {
			return err
		}
		return sqlite.ReadFile(ctx, path, func(from *sql.Tx) error { return s.fill(ctx, from) })
	})
	return info, err
}

// fill replaces all rows by those of a database file.
func (s *Store) fill(ctx context.Context, from *sql.Tx) error {
	tables, err := sqlite.Tables(ctx, from)
	if err != nil {
		return err
	}
	c, err := s.db.Conn(ctx)
	if err != nil {
		return wrap(err)
	}
	defer c.Close()
	err = c.Raw(func(raw any) error {
		inner, err := pgxConn(raw)
		if err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, inner, func(tx pgx.Tx) error {
			for _, t := range tables { // triggers count nothing: namespaces come with their counts
				_, err := tx.Exec(ctx, `TRUNCATE `+t.Name+` CASCADE; ALTER TABLE `+t.Name+` DISABLE TRIGGER USER`)
				if err != nil {
					return err
				}
			}
			for _, t := range tables {
				if err := fillTable(ctx, from, tx, t); err != nil {
					return fmt.Errorf("table %s: %w", t.Name, err)
				}
			}
			for _, t := range tables {
				if _, err := tx.Exec(ctx, `ALTER TABLE `+t.Name+` ENABLE TRIGGER USER`); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, translate(newHistory).text, uuid.NewString(), s.now().UnixMicro()); err != nil {
				return err
			}
			return fillNumbers(ctx, from, tx)
		})
	})
	return wrap(err)
}

// fillTable copies the rows of a table.
func fillTable(ctx context.Context, from *sql.Tx, to pgx.Tx, t sqlite.Table) error {
	query := `SELECT ` + quoted(t.Columns) + ` FROM "` + t.Name + `"`
	rows, err := from.QueryContext(ctx, query) //nolint:sqlclosecheck // it is closed below
	if err != nil {
		return err
	}
	defer rows.Close()
	row, into := rowOf(t)
	_, err = to.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromFunc(func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		rename(t.Name, t.Columns, row, "\x00", dialect.Erased)
		for i, name := range t.Columns {
			switch v := row[i].(type) {
			case int64:
				if t.Reals[name] {
					row[i] = float64(v)
				}
			case []byte:
				if v == nil { // SQLite's empty value, which is not NULL
					row[i] = []byte{}
				}
			}
		}
		return row, nil
	}))
	return err
}

// fillNumbers makes each table go on after the highest number that it has ever given to a row.
func fillNumbers(ctx context.Context, from *sql.Tx, to pgx.Tx) error {
	rows, err := to.Query(ctx, `SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND is_identity = 'YES'`)
	if err != nil {
		return err
	}
	identities, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column string }])
	if err != nil {
		return err
	}
	for _, n := range identities {
		var last int64
		err := from.QueryRowContext(ctx, `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)`, n.Table).Scan(&last)
		if err != nil {
			return err
		}
		_, err = to.Exec(ctx, fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%[1]s', '%[2]s'), greatest(max(%[2]s), $1, 1),
			greatest(max(%[2]s), $1) > 0) FROM %[1]s`, n.Table, n.Column), last)
		if err != nil {
			return err
		}
	}
	return nil
}

// rename changes the beginning of the names of erased namespaces in a row: each database has its own.
func rename(table string, columns []string, row []any, from, to string) {
	for i, column := range columns {
		if table == "namespaces" && column == "name" || table == "jobs" && column == "namespace" {
			if rest, ok := strings.CutPrefix(row[i].(string), from); ok { //nolint:forcetypeassert // both are texts
				row[i] = to + rest
			}
		}
	}
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// rowOf returns the values of a row and where to scan them.
func rowOf(t sqlite.Table) (row, into []any) {
	row, into = make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range row {
		into[i] = &row[i]
	}
	return row, into
}

// newHistory replaces the tokens of all openings by a new one. An index that follows an earlier state of the database,
// on any node, is then built again.
const newHistory = `WITH gone AS (DELETE FROM opens) INSERT INTO opens (token, opened) VALUES (?, ?)`
