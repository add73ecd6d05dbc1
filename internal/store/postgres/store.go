// Package postgres keeps the store in a PostgreSQL database. The statements are in package sqlstore; this
// package has what only a server needs: the schema, the translation of statements, a pool, and
// the ownership of the database.
//
// Writes run one after another, each in its transaction. A write first locks the row of the owner, so that
// it sees all earlier ones, and changes are committed in the order of their numbers.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/pgclient"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

//go:embed schema/*.sql
var schema embed.FS

// Options configures a [Store]. The zero value works.
type Options struct {
	// Now is the clock; nil is the system clock.
	Now func() time.Time
	// KeepVersions is the number of versions kept per document; see [sqlstore.Options].
	KeepVersions int
	// Dir is the folder for temporary files; "" is the system's.
	Dir string
	// Follow opens the database also while another process uses it. The store then reads it until
	// [Store.Lead] succeeds.
	Follow bool
	// AcceptLoss has all existing indexes built again: they may have lost writes.
	AcceptLoss bool
	// Failed is called on the first failure that needs an operator. It must not block.
	Failed func(*ragctx.RepairError)
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Shared      = (*Store)(nil)
	_ sqlstore.Database = (*Store)(nil)
)

// Store is the store in a database. Its methods are safe for concurrent use.
type Store struct {
	*sqlstore.Store

	db     *sql.DB
	dir    string // for temporary files
	now    func() time.Time
	urgent atomic.Int64
	// slow admits writes of low priority, so that they leave connections to others.
	slow  chan struct{}
	owner *ownership
	// leading is set once the garbage collector has started. Only Lead and Open use it.
	leading bool
	orders  orders
	closed  atomic.Bool
	once    sync.Once
}

// Connections of the pool, and those that writes of low priority may use.
const (
	maxConnections = 16
	maxSlow        = 4
)

// migrationPatience is how long a process that follows waits for the leader to migrate the database.
const migrationPatience = 30 * time.Second

// lockTimeout limits how long a statement waits for the lock of another write.
const lockTimeout = 30 * time.Second

// Open opens the database at a URL such as postgres://user@host/name and migrates its schema.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	config, err := pgclient.Config("store", url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["lock_timeout"] = fmt.Sprint(lockTimeout.Milliseconds())
	// A commit that is cancelled while it waits for a replica succeeds without the replica.
	config.RuntimeParams["statement_timeout"] = "0"
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{dir: o.Dir, now: o.Now, slow: make(chan struct{}, maxSlow)}
	s.db = sql.OpenDB(connector{stdlib.GetConnector(*config)})
	s.db.SetMaxOpenConns(maxConnections)
	s.db.SetMaxIdleConns(maxConnections)
	s.Store = sqlstore.New(s, &dialect, sqlstore.Options{Now: o.Now, KeepVersions: o.KeepVersions})
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) (err error) {
	if s.owner, err = s.own(ctx, o); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if !s.Leads() {
		return s.StartFollowing(ctx)
	}
	if o.AcceptLoss {
		if _, err := s.db.ExecContext(ctx, newHistory, uuid.NewString(), s.now().UnixMicro()); err != nil {
			return wrap(err)
		}
	}
	s.leading = true
	return s.Start(ctx)
}

// migrate applies the missing schema files, each in its own transaction. It rejects a database from a
// newer version. A process that follows waits for the leader to apply them.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return err
	}
	slices.Sort(files)
	have, err := s.schemaVersion(ctx)
	for until := time.Now().Add(migrationPatience); !s.Leads(); have, err = s.schemaVersion(ctx) {
		if err == nil && have >= len(files) || time.Now().After(until) {
			break // else a leader that starts at the same time migrates
		}
		if err := httpclient.Sleep(ctx, ownerInterval/10); err != nil {
			return err
		}
		if _, err := s.owner.lead(ctx); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if have > len(files) {
		return fmt.Errorf("%w: the database was written by a newer version of ragctx (schema %d, this program knows %d); use that version",
			ragctx.ErrConflict, have, len(files))
	}
	if have < len(files) && !s.Leads() {
		return fmt.Errorf("%w: the ragctx that writes to the database is of an older version; stop it first", ragctx.ErrConflict)
	}
	for i := have; i < len(files); i++ {
		text, err := schema.ReadFile(files[i])
		if err != nil {
			return err
		}
		if err := s.apply(ctx, i+1, string(text)); err != nil {
			return fmt.Errorf("migrate %s: %w", files[i], wrap(err))
		}
	}
	return nil
}

// schemaVersion returns the number of schema files that were applied.
func (s *Store) schemaVersion(ctx context.Context) (have int, err error) {
	if s.Leads() {
		const create = `CREATE TABLE IF NOT EXISTS ragctx_schema (version BIGINT PRIMARY KEY, applied TIMESTAMPTZ NOT NULL)`
		if err := s.migrateAlone(ctx, func(*pgconn.PgConn) (string, error) { return create, nil }); err != nil {
			return 0, wrap(err)
		}
	}
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM ragctx_schema`).Scan(&have)
	return have, wrap(err)
}

// apply runs the statements of a schema file, unless another process has done so meanwhile.
func (s *Store) apply(ctx context.Context, version int, text string) error {
	return s.migrateAlone(ctx, func(c *pgconn.PgConn) (string, error) {
		applied, err := c.Exec(ctx, fmt.Sprintf("SELECT 1 FROM ragctx_schema WHERE version = %d", version)).ReadAll()
		if err != nil || len(applied) > 0 && len(applied[0].Rows) > 0 {
			return "", err
		}
		return fmt.Sprintf("%s\nINSERT INTO ragctx_schema (version, applied) VALUES (%d, now())", text, version), nil
	})
}

// migrationKey is the lock of schema changes. The server may still work for a killed process.
const migrationKey = ownerKey + 1

// migrateAlone runs statements in a transaction. Only one such transaction runs at a time.
func (s *Store) migrateAlone(ctx context.Context, statements func(*pgconn.PgConn) (string, error)) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(raw any) error {
		conn, err := pgxConn(raw)
		if err != nil {
			return err
		}
		at := conn.PgConn()
		_, err = at.Exec(ctx, fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d)", int64(migrationKey))).ReadAll()
		var text string
		if err == nil {
			text, err = statements(at)
		}
		if err == nil {
			_, err = at.Exec(ctx, text+";\nCOMMIT").ReadAll()
		}
		if err != nil {
			_, rollback := at.Exec(ctx, "ROLLBACK").ReadAll()
			err = errors.Join(err, rollback)
		}
		return err
	})
}

// View implements [sqlstore.Database].
func (s *Store) View(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if s.closed.Load() {
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return wrap(err)
	}
	err = fn(&sqlstore.Tx{Tx: tx, Dialect: &dialect})
	if end := tx.Rollback(); err == nil && !errors.Is(end, sql.ErrTxDone) {
		err = end
	}
	return wrap(err)
}

// Bulk implements [sqlstore.Database].
func (s *Store) Bulk(ctx context.Context, fn func(*sqlstore.Tx) error) error { return s.View(ctx, fn) }

// Write implements [sqlstore.Database]. It never runs fn again: whoever does may write twice.
func (s *Store) Write(ctx context.Context, w sqlstore.Write, fn func(context.Context, *sqlstore.Tx) error) error {
	if s.closed.Load() {
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	if w.Priority&^sqlstore.Frees == sqlstore.High {
		s.urgent.Add(1)
		defer s.urgent.Add(-1)
	} else {
		select {
		case s.slow <- struct{}{}:
			defer func() { <-s.slow }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if w.Order != "" {
		before := s.orders.of(w.Order)
		before.Lock()
		defer before.Unlock()
	}
	if err := errors.Join(ctx.Err(), s.owner.allow(w.Namespace)); err != nil {
		return err
	}
	err := s.transact(context.WithoutCancel(ctx), w.Namespace, fn)
	s.Committed(w.Namespace) // also if the state in the database is unknown
	if err == nil && w.Then != nil {
		w.Then()
	}
	return wrap(err)
}

// transact runs fn in a transaction.
func (s *Store) transact(ctx context.Context, ns int64, fn func(context.Context, *sqlstore.Tx) error) (err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // a statement sees the writes that it waited for
	if err != nil {
		return err
	}
	t := sqlstore.Tx{Tx: tx, Dialect: &dialect}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store: write panicked: %v", p)
		}
		if err != nil {
			if end := tx.Rollback(); !errors.Is(end, sql.ErrTxDone) {
				err = errors.Join(err, end)
			}
		}
	}()
	if err := s.owner.lock(ctx, tx, ns); err != nil {
		return err
	}
	if err := fn(ctx, &t); err != nil {
		return err
	}
	if t.Changed {
		if s.owner.number() == 0 {
			return errors.New("a process that follows has changed what answers depend on")
		}
		s.Publish()
	}
	if err := tx.Commit(); err != nil {
		return commitError(err)
	}
	return nil
}

// Urgent implements [sqlstore.Database].
func (s *Store) Urgent() bool { return s.urgent.Load() > 0 }

// Freeing implements [sqlstore.Database]. The server's disk is not ours to reserve.
func (s *Store) Freeing(fn func() error) error { return fn() }

// BeginFreeing implements [store.Space].
func (s *Store) BeginFreeing() (end func()) { return func() {} }

// ReleaseReserve implements [store.Space].
func (s *Store) ReleaseReserve() {}

// Scrub implements [sqlstore.Database]. Vacuum frees the space of deleted rows for others to overwrite; when
// the bytes are gone from the server's files, its logs and its copies is up to the server.
func (s *Store) Scrub(ctx context.Context) error {
	var tables string
	const list = `SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables
		WHERE schemaname = current_schema() AND tableowner = current_user`
	if err := s.db.QueryRowContext(ctx, list).Scan(&tables); err != nil {
		return wrap(err)
	}
	_, err := s.db.ExecContext(ctx, `VACUUM `+tables)
	return wrap(err)
}

// Inspect implements [sqlstore.Database]. The server checks its own pages.
func (s *Store) Inspect(context.Context, store.VerifyOptions, *store.VerifyReport) error { return nil }

// Failures implements [store.Health].
func (s *Store) Failures() []*ragctx.RepairError { return s.owner.failures() }

// Ready implements [store.Health].
func (s *Store) Ready(ctx context.Context) error {
	if f := s.Failures(); len(f) > 0 {
		return f[0]
	}
	_, err := s.ListNamespaces(ctx, store.NamespaceFilter{Limit: 1})
	return err
}

// Close implements [store.Health].
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		s.Stop()
		s.closed.Store(true)
		err = errors.Join(s.owner.release(), s.db.Close())
	})
	return err
}

// wrap adds sentinels to the errors of the server, for the API.
func wrap(err error) error {
	if err != nil && err.Error() == "sql: database is closed" { // database/sql exports no such error
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || isLost(err) {
			return fmt.Errorf("%w: the database does not answer: %v", ragctx.ErrUnavailable, err)
		}
		return err
	}
	switch class := e.Code[:2]; {
	case e.Code == "RC001":
		return fmt.Errorf("%w: the namespace was erased concurrently; repeat the request to create a new one of "+
			"that name", ragctx.ErrConflict)
	case class == "53" || class == "57" || class == "58" || class == "08" || e.Code == "25P03":
		return fmt.Errorf("%w: the database cannot serve: %v", ragctx.ErrUnavailable, err)
	case class == "40" || e.Code == "55P03":
		return fmt.Errorf("%w: another write was in the way; try again: %v", ragctx.ErrUnavailable, err)
	case class == "XX":
		return &ragctx.RepairError{Kind: ragctx.RepairDatabase, Problem: "the database reports damage; restore a copy", Cause: err}
	case e.Code == "22021" || e.Code == "22P05":
		return ragctx.Invalid("text", "has bytes that PostgreSQL cannot store: %s; send UTF-8 without NUL characters", e.Message)
	}
	return err
}

// isLost reports whether a connection was lost.
func isLost(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.Timeout(err) ||
		err != nil && strings.Contains(err.Error(), "conn closed")
}

// commitError describes a failed commit. If the server did not refuse it, the write may be stored.
func commitError(err error) error {
	if _, refused := errors.AsType[*pgconn.PgError](err); refused || errors.Is(err, pgx.ErrTxCommitRollback) {
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("%w: the connection was lost while the write was committed: it may be stored; read before you repeat it: %v",
		ragctx.ErrUnavailable, err)
}
