// Package sqlite is the durable storage: one SQLite database with every document, version, memory,
// turn and vector. Indexes are caches that follow it through the sequence of changes (see
// [Store.Follow]).
//
// The tables are defined in schema/*.sql. One goroutine writes (see writer); any number read, each
// from one consistent snapshot. A write that has returned without error survives kill -9 and power
// loss: journal_mode is WAL and synchronous is FULL.
package sqlite

import (
	"cmp"
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
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

//go:embed schema/*.sql
var schema embed.FS

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

// Store is the database of one data directory. Its methods are safe for concurrent use. Only one
// Store may have a file open.
type Store struct {
	path  string
	read  *sql.DB
	bulk  *sql.DB // for long reads of data used once; caches nothing
	write *writer
	log   *checkpointer
	now   func() time.Time
	keep  int // versions of a document; negative is all

	staging staging
	// procedures counts possible changes of procedures; see [Store.ProceduresState].
	procedures atomic.Uint64

	state   *stateFile
	health  health
	reserve reserve

	gc   *garbageCollector
	gcMu sync.Mutex

	openings     openings
	namespaceIDs namespaceIDs
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
	s := &Store{path: path, now: o.Now, keep: cmp.Or(o.KeepVersions, store.DefaultKeepVersions)}
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
	s.write = startWriter(wdb, &s.openings, sums, s.state, s.log.committed)
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
	if err := s.openings.load(ctx, s.read); err != nil {
		return err
	}
	unfinished, err := s.openErasures(ctx)
	if err != nil {
		return err
	}
	s.gc = startGarbageCollector(s, unfinished)
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

// migrate applies the missing schema files, each in its own transaction. It rejects a database from
// a newer version.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	slices.Sort(files)
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
	for i := have; i < len(files); i++ {
		text, err := schema.ReadFile(files[i])
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		err = inTx(ctx, db, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return err
			}
			if i+1 == len(files) {
				if err := recomputeSums(ctx, tx); err != nil {
					return err
				}
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", i+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate %s: %w", files[i], wrap(err))
		}
	}
	// The migration of a large database may leave a large log.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("migrate: %w", wrap(err))
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

// view runs fn on one consistent snapshot.
func (s *Store) view(ctx context.Context, fn func(*sql.Tx) error) error {
	return viewIn(ctx, s.read, fn)
}

// viewIn is [Store.view] on a given pool.
func viewIn(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return wrap(err)
	}
	err = fn(tx)
	if rerr := tx.Rollback(); err == nil && rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
		err = rerr
	}
	return wrap(err)
}

// Close implements [store.Health].
func (s *Store) Close() error {
	var errs []error
	if s.gc != nil {
		s.gc.close()
	}
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

// failed adds the operation to err, unless err concerns the caller's request and describes itself.
func failed(what string, err error) error {
	if _, status := ragctx.CodeOf(err); status < 500 {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// micros returns the stored form of t.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// moment decodes a stored time.
func moment(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.UnixMicro(v.Int64).UTC()
}
