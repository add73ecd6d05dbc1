package store

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

// maxStatements is how many compiled statements a connection keeps; there are about two
// hundred texts, of which few are in use all the time.
const maxStatements = 64

// keeping opens connections that compile a statement once. database/sql compiles what is
// not prepared each time that it is used, which takes as long as to carry it out.
type keeping struct {
	driver.Connector

	open   atomic.Int64  // connections
	closed chan struct{} // one was closed

	sums   *rowSums    // of the only connection of a pool that writes; nil for others
	failed func(error) // is told of every error of SQLite; nil for nobody
}

// fails tells of an error.
func (k *keeping) fails(err error) {
	if err != nil && k.failed != nil {
		k.failed(err)
	}
}

// newConnector opens connections to a database as [dsn] names it.
func newConnector(name string) (*keeping, error) {
	c, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &keeping{Connector: c, closed: make(chan struct{}, 1)}, nil
}

// Connect implements [driver.Connector].
func (k *keeping) Connect(ctx context.Context) (driver.Conn, error) {
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
	return &keepingConn{innerConn: inner, of: k, kept: make(map[string]*keptStatement)}, nil
}

// closePatience is how long a connection in use is waited for.
const closePatience = 5 * time.Second

// Close implements [io.Closer]; database/sql calls it last when a pool is closed, which
// closes those connections only that are not in use. One whose transaction was called off
// is given back by another goroutine, a moment later. Until then SQLite's files are beside
// the database, and its last connection removes them by name, whosever they are by then.
func (k *keeping) Close() error {
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	for k.open.Load() > 0 {
		select {
		case <-k.closed:
		case <-patience.C:
			return nil // somebody reads for long, whose connection is closed after that
		}
	}
	return nil
}

// innerConn is what the driver's connections can do.
type innerConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// keepingConn is a connection with its compiled statements. As all connections, it is
// used by one goroutine at a time.
type keepingConn struct {
	innerConn

	of    *keeping
	kept  map[string]*keptStatement // by text
	clock uint64
}

// keptStatement is compiled. It is busy as long as its rows are read: the same text
// within is compiled anew.
type keptStatement struct {
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
func (c *keepingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	undo := c.undo()
	st, err := c.compiled(ctx, query)
	var res driver.Result
	switch {
	case err != nil:
	case st == nil:
		res, err = c.innerConn.ExecContext(ctx, query, args)
	default:
		if res, err = st.ExecContext(ctx, args); err != nil {
			c.forget(st)
		}
	}
	if err != nil {
		undo()
		c.of.fails(err)
	}
	return res, err
}

// undo returns what takes back the notes of a statement that fails, as SQLite does with
// its changes.
func (c *keepingConn) undo() func() {
	if c.of.sums == nil {
		return func() {}
	}
	mark := c.of.sums.mark()
	return func() { c.of.sums.undo(mark) }
}

// QueryContext implements [driver.QueryerContext].
func (c *keepingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	undo := c.undo()
	st, err := c.compiled(ctx, query)
	var rows driver.Rows
	switch {
	case err != nil:
	case st == nil:
		rows, err = c.innerConn.QueryContext(ctx, query, args)
	default:
		if rows, err = st.QueryContext(ctx, args); err != nil {
			c.forget(st)
		}
	}
	if err != nil {
		undo()
		c.of.fails(err)
		return nil, err
	}
	if st != nil {
		st.busy = true
	}
	return &keptRows{rows, c, st}, nil
}

// keptRows end the use of their statement, which is nil for one that is not kept.
type keptRows struct {
	driver.Rows

	conn *keepingConn
	of   *keptStatement
}

// Next implements [driver.Rows].
func (r *keptRows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	if err != nil && !errors.Is(err, io.EOF) {
		r.conn.of.fails(err)
	}
	return err
}

// Close implements [driver.Rows].
func (r *keptRows) Close() error {
	err := r.Rows.Close()
	if r.of == nil {
		return err
	}
	r.of.busy = false
	if err != nil {
		r.conn.forget(r.of)
	}
	return err
}

// BeginTx implements [driver.ConnBeginTx]. Who may write takes the lock at once: one that
// had read before would fail where another has written meanwhile.
func (c *keepingConn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	begin := "BEGIN IMMEDIATE"
	if o.ReadOnly {
		begin = "BEGIN"
	}
	t := keptTx{c}
	if err := t.run(begin); err != nil {
		return nil, err
	}
	return t, nil
}

// keptTx is a transaction. Its own statements do not end with a context: one that is
// carried out and reported as failed would leave its connection in another state than
// database/sql takes it to be in.
type keptTx struct{ conn *keepingConn }

func (t keptTx) run(statement string) error {
	_, err := t.conn.ExecContext(context.Background(), statement, nil)
	return err
}

// Commit implements [driver.Tx].
func (t keptTx) Commit() error {
	err := t.run("COMMIT")
	if err != nil {
		_ = t.Rollback() // the connection is to be free; it fails where SQLite has done it already
	}
	return err
}

// Rollback implements [driver.Tx].
func (t keptTx) Rollback() error { return t.run("ROLLBACK") }

// compiled returns a text's statement, and nil for what is not kept.
func (c *keepingConn) compiled(ctx context.Context, query string) (*keptStatement, error) {
	st := c.kept[query]
	switch {
	case st == nil && !keepable(query), st != nil && st.busy:
		return nil, nil
	case st == nil:
		c.makeRoom()
		compiled, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		inner, ok := compiled.(innerStatement)
		if !ok {
			return nil, errors.Join(fmt.Errorf("a statement of the driver is a %T", compiled), compiled.Close())
		}
		st = &keptStatement{innerStatement: inner, text: query}
		c.kept[query] = st
	}
	c.clock++
	st.used = c.clock
	return st, nil
}

// makeRoom forgets the statement that was not used for longest.
func (c *keepingConn) makeRoom() {
	if len(c.kept) < maxStatements {
		return
	}
	var oldest *keptStatement
	for _, st := range c.kept {
		if !st.busy && (oldest == nil || st.used < oldest.used) {
			oldest = st
		}
	}
	if oldest != nil {
		c.forget(oldest)
	}
}

// forget ends a statement that is not busy: one that failed is compiled anew, whatever
// the driver left in it.
func (c *keepingConn) forget(st *keptStatement) {
	delete(c.kept, st.text)
	_ = st.Close() // it only frees memory
}

// keepable reports whether a text is one statement that is used again and again, and not
// a change of the schema, a setting or a script.
func keepable(query string) bool {
	verbs := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SAVEPOINT", "RELEASE", "BEGIN", "COMMIT", "ROLLBACK"}
	for verb := range strings.FieldsSeq(query) {
		return slices.Contains(verbs, verb) && !strings.Contains(query, ";")
	}
	return false
}

// Close implements [driver.Conn].
func (c *keepingConn) Close() error {
	for _, st := range c.kept {
		_ = st.Close() // the connection's end frees what is left
	}
	err := c.innerConn.Close()
	c.of.open.Add(-1)
	select {
	case c.of.closed <- struct{}{}:
	default:
	}
	return err
}
