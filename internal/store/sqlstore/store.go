// Package sqlstore implements the contracts of package store in SQL: it has every statement that reads and
// writes rows. A [Database] runs the transactions. Packages sqlite and postgres have one each, with
// the schema and with what only a file or a server needs.
//
// Statements are SQLite's. Package postgres translates their text on its connections; a [Dialect] has what differs
// otherwise.
package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Database runs transactions. Its methods are safe for concurrent use, and their errors have the
// sentinels of package ragctx.
type Database interface {
	// View runs fn on one consistent snapshot.
	View(ctx context.Context, fn func(*Tx) error) error
	// Bulk is View for long reads of data that is used once.
	Bulk(ctx context.Context, fn func(*Tx) error) error
	// Write runs fn in a transaction that is alone in the database until its commit, and returns once it is durable. It runs
	// fn at most once, and not at all if ctx ends first. RowsAffected counts the rows that a statement matches.
	Write(ctx context.Context, w Write, fn func(context.Context, *Tx) error) error
	// Urgent reports whether a write of high priority waits. A long write of low priority asks it and
	// stops early.
	Urgent() bool
	// Freeing runs an operation that frees space. It may run fn twice.
	Freeing(fn func() error) error
	// Scrub removes the bytes of deleted rows from the files of the database.
	Scrub(ctx context.Context) error
	// Inspect checks the files of the database and adds its findings to a report.
	Inspect(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error
}

// Priority orders waiting writes.
type Priority int

// The priorities: a turn, with a waiting caller, goes before ingestion.
const (
	High Priority = iota
	Low
	Priorities
)

// Frees marks writes that free space, which are allowed on a full disk.
const Frees Priority = 1 << 4

// MaxBatch bounds the duration of a write, and so the wait of the next one.
const MaxBatch = 5 * time.Millisecond

// Write describes a write.
type Write struct {
	Priority Priority
	// Namespace is the namespace whose answers may change; or [AllNamespaces], [NoNamespaces].
	Namespace int64
	// Order names writes that run one after another; "" is none. A database with one writer runs all so.
	Order string
	// Then is called once the write is durable; of writes of one Order, in their order. It must not block. It may be nil.
	Then func()
}

// Tx is a transaction.
type Tx struct {
	*sql.Tx

	Dialect *Dialect
	// Changed means that the transaction appends to the sequence of changes.
	Changed bool

	written int64 // rows that statements have written
}

// ExecContext runs a statement without rows and counts the rows that it writes.
func (t *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	res, err := t.Tx.ExecContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	n, err := res.RowsAffected()
	t.written += n
	return res, err
}

// Dialect has what differs between databases.
type Dialect struct {
	// Insert runs an INSERT statement and returns the column id of the new row.
	Insert func(ctx context.Context, run Execer, id, query string, args ...any) (int64, error)
	// NewestChange is the statement that returns the highest number ever assigned to a change.
	NewestChange string
	// Erased begins the names of erased namespaces. No caller can ask for such a name.
	Erased string
}

// Execer runs statements.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Options configures a [Store].
type Options struct {
	Now func() time.Time
	// KeepVersions is the number of versions kept per document, the current one included; 0 is
	// [store.DefaultKeepVersions], negative keeps all.
	KeepVersions int
}

// Store has the contracts of package store, except those of files and snapshots.
type Store struct {
	db      Database
	dialect *Dialect
	write   writes
	now     func() time.Time
	keep    int // versions of a document; negative is all

	staging staging
	// procedures counts possible changes of procedures; see [Store.ProceduresState].
	procedures atomic.Uint64
	commits    commits

	gc   *garbageCollector
	gcMu sync.Mutex

	openings     openings
	namespaceIDs namespaceIDs
}

// New returns a store of a database, which calls [Store.Committed] and [Store.Publish]. The caller starts it.
func New(db Database, d *Dialect, o Options) *Store {
	s := &Store{db: db, dialect: d, write: writes{db}, now: o.Now, keep: cmp.Or(o.KeepVersions, store.DefaultKeepVersions)}
	s.gc = newGarbageCollector(s)
	return s
}

// Start reads the state of the database and starts the garbage collector.
func (s *Store) Start(ctx context.Context) error {
	if err := s.openings.load(ctx, s.db); err != nil {
		return err
	}
	return s.Lead(ctx)
}

// StartFollowing reads the state of a database that another process changes. [Store.Lead] ends that.
func (s *Store) StartFollowing(ctx context.Context) error {
	s.openings.follows.Store(true)
	return s.openings.load(ctx, s.db)
}

// Lead starts the garbage collector. Afterwards no other process changes the database.
func (s *Store) Lead(ctx context.Context) error {
	if s.openings.follows.Load() { // the last changes of the other process
		if err := s.view(ctx, func(tx *Tx) error { return s.openings.read(ctx, tx) }); err != nil {
			return err
		}
		s.openings.follows.Store(false)
	}
	unfinished, err := s.openErasures(ctx)
	if err != nil {
		return err
	}
	s.gc.start(unfinished)
	return nil
}

// Stop stops the garbage collector. It may be called more than once.
func (s *Store) Stop() {
	s.gc.close()
}

// writes are the writes of a store.
type writes struct{ db Database }

// do runs fn in a transaction and returns once it is durable.
func (w writes) do(ctx context.Context, p Priority, fn func(context.Context, *Tx) error) error {
	return w.db.Write(ctx, Write{Priority: p}, fn)
}

// doIn is do for a write that changes answers in one namespace only, or in none ([NoNamespaces]).
func (w writes) doIn(ctx context.Context, ns int64, p Priority, fn func(context.Context, *Tx) error) error {
	return w.db.Write(ctx, Write{Priority: p, Namespace: ns}, fn)
}

// view runs fn on one consistent snapshot.
func (s *Store) view(ctx context.Context, fn func(*Tx) error) error { return s.db.View(ctx, fn) }

// writeFreeing is doIn for writes that free space. The function fn may run twice.
func (s *Store) writeFreeing(ctx context.Context, ns int64, p Priority, fn func(context.Context, *Tx) error) error {
	return s.db.Freeing(func() error { return s.write.doIn(ctx, ns, p|Frees, fn) })
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

// orNull returns the stored form of the id of a row; 0 is none.
func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// noLimit is the LIMIT of statements without one.
const noLimit = 1 << 62

// moment decodes a stored time.
func moment(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.UnixMicro(v.Int64).UTC()
}
