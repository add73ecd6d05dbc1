// Package sqlite keeps the store in a file: one SQLite database with every document, version, memory,
// turn and vector. The statements are in package sqlstore; this package has what only a file needs.
//
// The tables are defined in schema/*.sql, and a new file gets them from newest.sql. One goroutine writes
// (see writer); any number read, each from one consistent snapshot. A write that has returned without error
// survives kill -9 and power loss: journal_mode is WAL and synchronous is FULL.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

//go:embed schema/*.sql
var schema embed.FS

// newest creates the schema that all files of schema make one after the other, in half of their time.
// TestNewest compares both.
//
//go:embed newest.sql
var newest string

// Options configures a [Store]. The zero value works.
type Options struct {
	// Now is the clock; nil is the system clock.
	Now func() time.Time
	// KeepVersions is the number of versions kept per document, the current one included; 0 is
	// [store.DefaultKeepVersions], negative keeps all.
	KeepVersions int
	// Reserve is the number of bytes reserved for deletes on a full disk; 0 reserves none.
	Reserve int64
	// AcceptLoss opens a database despite missing acknowledged writes (see [store.LostError]) and
	// continues with the rest.
	AcceptLoss bool
	// Failed is called on the first failure that needs an operator; see [Store.Failures]. It must
	// not block.
	Failed func(*ragctx.RepairError)
}

var (
	_ store.Store       = (*Store)(nil)
	_ sqlstore.Database = (*Store)(nil)
)

// dialect is the dialect of SQLite.
var dialect = sqlstore.Dialect{
	Insert: func(ctx context.Context, run sqlstore.Execer, _, query string, args ...any) (int64, error) {
		res, err := run.ExecContext(ctx, query, args...)
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	},
	NewestChange: `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'`,
	Erased:       "\x00",
}

// Store is the database of one data directory. Its methods are safe for concurrent use. Only one
// Store may have a file open.
type Store struct {
	*sqlstore.Store

	path  string
	read  *sql.DB
	bulk  *sql.DB // for long reads of data used once; caches nothing
	write *writer
	log   *checkpointer
	now   func() time.Time

	state   *stateFile
	health  health
	reserve reserve
}

// Open opens or creates the database file at path and migrates its schema.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := tidy(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if o.AcceptLoss {
		if err := os.RemoveAll(filepath.Join(filepath.Dir(path), store.IndexName)); err != nil { // indexes may contain lost writes
			return nil, fmt.Errorf("open store: %w", err)
		}
	} else if err := checkNotLost(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := createFile(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, now: o.Now}
	s.Store = sqlstore.New(s, &dialect, sqlstore.Options{Now: o.Now, KeepVersions: o.KeepVersions})
	s.health.failed = o.Failed
	s.reserve.path, s.reserve.size = path+reserveSuffix, o.Reserve
	if err := s.open(ctx, path, o.AcceptLoss); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, accept bool) error {
	if err := checkLog(path); err != nil && !accept {
		return fmt.Errorf("open store: %w", err)
	}
	sums := new(rowSums)
	wdb, err := connectAs(path, 1, func(k *cachingConnector) { k.sums, k.onError = sums, s.health.detectDamage },
		"_pragma=wal_autocheckpoint(0)", "_pragma=secure_delete(1)", fmt.Sprintf("_pragma=journal_size_limit(%d)", logRetained))
	if err != nil {
		return err
	}
	if err := migrate(ctx, wdb); err != nil {
		return errors.Join(err, wdb.Close())
	}
	if s.state, err = openState(ctx, wdb, path, accept); err != nil {
		return errors.Join(err, wdb.Close())
	}
	cdb, err := connect(path, 1, "_pragma=wal_autocheckpoint(0)")
	if err != nil {
		return errors.Join(err, wdb.Close())
	}
	file, err := os.Open(path)
	if err != nil {
		return errors.Join(err, cdb.Close(), wdb.Close())
	}
	s.log = newCheckpointer(cdb, file)
	s.log.full = s.reserve.full.Load
	s.write = startWriter(wdb, s.Store, sums, s.state, s.log.committed)
	s.write.stopped, s.write.checkSpace, s.write.diskFull = s.health.stop, s.checkSpace, s.diskFull
	s.log.start(s.write)
	if s.read, err = connectAs(path, max(4, 2*runtime.GOMAXPROCS(0)),
		func(k *cachingConnector) { k.onError = s.health.detectDamage }, "_pragma=query_only(1)"); err != nil {
		return err
	}
	if s.bulk, err = connectAs(path, 2, func(k *cachingConnector) { k.onError = s.health.detectDamage },
		"_pragma=query_only(1)", "_pragma=mmap_size(0)", "_pragma=cache_size(-4096)"); err != nil {
		return err
	}
	s.bulk.SetMaxIdleConns(0)
	if err := s.Start(ctx); err != nil {
		return err
	}
	if s.reserve.size > 0 && s.reserve.allocate() != nil {
		s.diskFull()
	}
	return nil
}

// connect returns a pool of n connections.
func connect(path string, n int, params ...string) (*sql.DB, error) {
	return connectAs(path, n, func(*cachingConnector) {}, params...)
}

// connectAs returns a pool of n connections; set configures their connector.
func connectAs(path string, n int, set func(*cachingConnector), params ...string) (*sql.DB, error) {
	c, err := newConnector(dsn(path, params...))
	if err != nil {
		return nil, err
	}
	set(c)
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// createFile creates a missing file, accessible to its owner only; SQLite gives its other files the
// same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn includes the pragmas, so that every connection of the pool gets them.
func dsn(path string, more ...string) string {
	params := append([]string{
		"_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)",
		"_pragma=busy_timeout(5000)", "_pragma=temp_store(MEMORY)",
		"_pragma=cache_size(-16384)", "_pragma=mmap_size(268435456)",
	}, more...)
	return dsnPlain(path, params...)
}

// dsnPlain includes only the given parameters.
func dsnPlain(path string, params ...string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: strings.Join(params, "&")}
	return u.String()
}

// migrate applies the missing schema files in one transaction, so a crash leaves the old schema whole. An
// empty database gets the newest schema at once. It rejects a database from a newer version.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := schemaFiles()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return fmt.Errorf("open store: %w", wrap(err))
	}
	if have > len(files) {
		return fmt.Errorf("%w: the data directory was written by a newer version of ragctx (schema %d, "+
			"this program knows %d); use that version", ragctx.ErrConflict, have, len(files))
	}
	if have == len(files) {
		return nil
	}
	err = inTx(ctx, db, func(tx *sql.Tx) error {
		if have == 0 {
			if _, err := tx.ExecContext(ctx, newest); err != nil {
				return fmt.Errorf("newest.sql: %w", err)
			}
		} else if err := applyFiles(ctx, tx, files[have:]); err != nil {
			return err
		}
		if err := recomputeSums(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(files)))
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate: %w", wrap(err))
	}
	// The migration of a large database may leave a large log.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("migrate: %w", wrap(err))
	}
	return nil
}

// schemaFiles returns the names of the schema files, oldest first; their number is the version of the schema.
func schemaFiles() ([]string, error) {
	files, err := fs.Glob(schema, "schema/*.sql")
	slices.Sort(files)
	return files, err
}

func applyFiles(ctx context.Context, tx *sql.Tx, files []string) error {
	for _, file := range files {
		text, err := schema.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func inTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// View implements [sqlstore.Database].
func (s *Store) View(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	return view(ctx, s.read, fn)
}

// Bulk implements [sqlstore.Database].
func (s *Store) Bulk(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	return view(ctx, s.bulk, fn)
}

// Write implements [sqlstore.Database].
func (s *Store) Write(ctx context.Context, w sqlstore.Write, fn func(context.Context, *sqlstore.Tx) error) error {
	return s.write.do(&job{Write: w, ctx: ctx, run: fn, done: make(chan struct{})})
}

// Urgent implements [sqlstore.Database].
func (s *Store) Urgent() bool { return s.write.urgent() }

// Scrub implements [sqlstore.Database].
func (s *Store) Scrub(ctx context.Context) error {
	if err := s.clearUnused(ctx); err != nil {
		return fmt.Errorf("clear unused pages: %w", wrap(err))
	}
	if err := s.log.empty(ctx); err != nil {
		return fmt.Errorf("empty the log: %w", wrap(err))
	}
	return nil
}

// view runs fn on one consistent snapshot.
func view(ctx context.Context, db *sql.DB, fn func(*sqlstore.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return wrap(err)
	}
	err = fn(&sqlstore.Tx{Tx: tx, Dialect: &dialect})
	if rerr := tx.Rollback(); err == nil && rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
		err = rerr
	}
	return wrap(err)
}

// Close implements [store.Health].
func (s *Store) Close() error {
	var errs []error
	s.Stop()
	if s.write != nil {
		errs = append(errs, s.log.close(), s.write.close())
	}
	for _, db := range []*sql.DB{s.read, s.bulk} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.log != nil {
		if err := s.log.file.Close(); !errors.Is(err, os.ErrClosed) { // closing twice is harmless
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, s.state.close())...)
}

// wrap adds sentinels to the errors of SQLite, for the API.
func wrap(err error) error {
	if err != nil && err.Error() == "sql: database is closed" { // database/sql exports no such error
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	if noSpace(err) {
		return fmt.Errorf("%w: the disk of the data directory is full; free space; reads continue: %v", ragctx.ErrNoSpace, err)
	}
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_TRIGGER { // only the triggers that protect erased namespaces raise it
		return fmt.Errorf("%w: the namespace was erased concurrently; repeat the request to create a new one of "+
			"that name", ragctx.ErrConflict)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: another program has the database locked: %v", ragctx.ErrUnavailable, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &ragctx.RepairError{Kind: ragctx.RepairDatabase, Problem: damagedProblem, Cause: err}
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: the data directory cannot be read or written: %v", ragctx.ErrUnavailable, err)
	}
	return err
}

// isSyncFailure reports whether err is a failed fsync.
func isSyncFailure(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_IOERR_FSYNC || e.Code() == sqlite3.SQLITE_IOERR_DIR_FSYNC)
}
