package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// maxStatements limits the compiled statements cached per connection. There are about two hundred
// texts, of which few are in constant use.
const maxStatements = 64

// cachingConnector opens connections that cache compiled statements. Otherwise database/sql compiles every
// unprepared statement on each use, which takes as long as running it.
type cachingConnector struct {
	driver.Connector

	open   atomic.Int64  // number of open connections
	closed chan struct{} // signals a closed connection

	sums    *rowSums    // of the only connection of a writing pool; nil for other pools
	onError func(error) // called with every error of SQLite; may be nil
}

// report reports an error.
func (k *cachingConnector) report(err error) {
	if err != nil && k.onError != nil {
		k.onError(err)
	}
}

// newConnector returns a connector to a database named by [dsn].
func newConnector(name string) (*cachingConnector, error) {
	c, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &cachingConnector{Connector: c, closed: make(chan struct{}, 1)}, nil
}

// Connect implements [driver.Connector].
func (k *cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, ok := c.(innerConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("open store: a connection of the driver is a %T", c), c.Close())
	}
	if k.sums != nil {
		hooks, ok := c.(sqlite.HookRegisterer)
		if !ok {
			return nil, errors.Join(fmt.Errorf("open store: a connection of the driver is a %T", c), c.Close())
		}
		hooks.RegisterPreUpdateHook(k.sums.note)
	}
	k.open.Add(1)
	return &cachingConn{innerConn: inner, connector: k, cached: make(map[string]*cachedStatement)}, nil
}

// closeTimeout limits the wait for connections in use.
const closeTimeout = 5 * time.Second

// Close implements [io.Closer]. database/sql calls it last when a pool is closed, and closes idle
// connections only: another goroutine returns the connection of a cancelled transaction a moment
// later. Until then SQLite's files still exist, and the last connection removes them by name, even
// if they belong to a new database by then.
func (k *cachingConnector) Close() error {
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	for k.open.Load() > 0 {
		select {
		case <-k.closed:
		case <-patience.C:
			return nil // a long read closes its connection when it ends
		}
	}
	return nil
}

// innerConn is the interface of the driver's connections.
type innerConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// cachingConn is a connection with its statement cache. Like every connection, it is used by one
// goroutine at a time.
type cachingConn struct {
	innerConn

	connector *cachingConnector
	cached    map[string]*cachedStatement // by text
	clock     uint64
}

// cachedStatement is a cached statement. It is busy while its rows are read; a nested use of the same
// text is compiled separately.
type cachedStatement struct {
	innerStatement

	text string
	busy bool
	used uint64 // by the connection's clock
}

type innerStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ExecContext implements [driver.ExecerContext].
func (c *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	undo := c.undo()
	st, err := c.compiled(ctx, query)
	var res driver.Result
	switch {
	case err != nil:
	case st == nil:
		res, err = c.innerConn.ExecContext(ctx, query, args)
	default:
		if res, err = st.ExecContext(ctx, args); err != nil {
			c.drop(st)
		}
	}
	if err != nil {
		undo()
		c.connector.report(err)
	}
	return res, err
}

// undo returns a function that discards the checksums recorded by a failed statement, as SQLite
// discards its changes.
func (c *cachingConn) undo() func() {
	if c.connector.sums == nil {
		return func() {}
	}
	mark := c.connector.sums.mark()
	return func() { c.connector.sums.undo(mark) }
}

// QueryContext implements [driver.QueryerContext].
func (c *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	undo := c.undo()
	st, err := c.compiled(ctx, query)
	var rows driver.Rows
	switch {
	case err != nil:
	case st == nil:
		rows, err = c.innerConn.QueryContext(ctx, query, args)
	default:
		if rows, err = st.QueryContext(ctx, args); err != nil {
			c.drop(st)
		}
	}
	if err != nil {
		undo()
		c.connector.report(err)
		return nil, err
	}
	if st != nil {
		st.busy = true
	}
	return &cachedRows{rows, c, st}, nil
}

// cachedRows release their statement, which is nil if it is not cached.
type cachedRows struct {
	driver.Rows

	conn *cachingConn
	of   *cachedStatement
}

// Next implements [driver.Rows].
func (r *cachedRows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	if err != nil && !errors.Is(err, io.EOF) {
		r.conn.connector.report(err)
	}
	return err
}

// Close implements [driver.Rows].
func (r *cachedRows) Close() error {
	err := r.Rows.Close()
	if r.of == nil {
		return err
	}
	r.of.busy = false
	if err != nil {
		r.conn.drop(r.of)
	}
	return err
}

// BeginTx implements [driver.ConnBeginTx]. A writing transaction takes the lock at once: one that
// reads first would fail if another has written in between.
func (c *cachingConn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	begin := "BEGIN IMMEDIATE"
	if o.ReadOnly {
		begin = "BEGIN"
	}
	t := cachingTx{c}
	if err := t.run(begin); err != nil {
		return nil, err
	}
	return t, nil
}

// cachingTx is a transaction. Its own statements ignore contexts: a statement that ran but is reported
// as failed would leave the connection in a state unknown to database/sql.
type cachingTx struct{ conn *cachingConn }

func (t cachingTx) run(statement string) error {
	_, err := t.conn.ExecContext(context.Background(), statement, nil)
	return err
}

// Commit implements [driver.Tx].
func (t cachingTx) Commit() error {
	err := t.run("COMMIT")
	if err != nil {
		_ = t.Rollback() // frees the connection; fails if SQLite has rolled back already
	}
	return err
}

// Rollback implements [driver.Tx].
func (t cachingTx) Rollback() error { return t.run("ROLLBACK") }

// compiled returns the cached statement of a text, nil for texts that are not cached.
func (c *cachingConn) compiled(ctx context.Context, query string) (*cachedStatement, error) {
	st := c.cached[query]
	switch {
	case st == nil && !cacheable(query), st != nil && st.busy:
		return nil, nil
	case st == nil:
		c.evict()
		compiled, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		inner, ok := compiled.(innerStatement)
		if !ok {
			return nil, errors.Join(fmt.Errorf("a statement of the driver is a %T", compiled), compiled.Close())
		}
		st = &cachedStatement{innerStatement: inner, text: query}
		c.cached[query] = st
	}
	c.clock++
	st.used = c.clock
	return st, nil
}

// evict evicts the least recently used statement.
func (c *cachingConn) evict() {
	if len(c.cached) < maxStatements {
		return
	}
	var oldest *cachedStatement
	for _, st := range c.cached {
		if !st.busy && (oldest == nil || st.used < oldest.used) {
			oldest = st
		}
	}
	if oldest != nil {
		c.drop(oldest)
	}
}

// drop closes a statement that is not busy. A failed statement is compiled again, whatever state
// the driver left it in.
func (c *cachingConn) drop(st *cachedStatement) {
	delete(c.cached, st.text)
	_ = st.Close() // only frees memory
}

// cacheable reports whether a text is a single reusable statement rather than a schema change, a
// setting or a script.
func cacheable(query string) bool {
	verbs := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SAVEPOINT", "RELEASE", "BEGIN", "COMMIT", "ROLLBACK"}
	for verb := range strings.FieldsSeq(query) {
		return slices.Contains(verbs, verb) && !strings.Contains(query, ";")
	}
	return false
}

// Close implements [driver.Conn].
func (c *cachingConn) Close() error {
	for _, st := range c.cached {
		_ = st.Close() // closing the connection frees the rest
	}
	err := c.innerConn.Close()
	c.connector.open.Add(-1)
	select {
	case c.connector.closed <- struct{}{}:
	default:
	}
	return err
}
