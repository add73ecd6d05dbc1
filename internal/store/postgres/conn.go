package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// connector opens connections that translate the statements of package sqlstore.
type connector struct{ driver.Connector }

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, ok := opened.(innerConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a connection of the driver is a %T", opened), opened.Close())
	}
	return conn{inner}, nil
}

// innerConn is the interface of the driver's connections.
type innerConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
}

// conn is a connection. Arguments are converted by database/sql, as for SQLite.
type conn struct{ innerConn }

// ExecContext implements [driver.ExecerContext].
func (c conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s := translate(query)
	return c.innerConn.ExecContext(ctx, s.text, s.arrange(args))
}

// QueryContext implements [driver.QueryerContext].
func (c conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s := translate(query)
	return c.innerConn.QueryContext(ctx, s.text, s.arrange(args))
}

// PrepareContext implements [driver.ConnPrepareContext]. The driver caches compiled statements by text, so
// nothing is compiled here.
func (c conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return prepared{c, query}, nil
}

// Prepare implements [driver.Conn].
func (c conn) Prepare(query string) (driver.Stmt, error) { return prepared{c, query}, nil }

// prepared is a statement.
type prepared struct {
	conn  conn
	query string
}

// Close implements [driver.Stmt].
func (prepared) Close() error { return nil }

// NumInput implements [driver.Stmt]: the server counts.
func (prepared) NumInput() int { return -1 }

// Exec implements [driver.Stmt].
func (p prepared) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query implements [driver.Stmt].
func (p prepared) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext implements [driver.StmtExecContext].
func (p prepared) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return p.conn.ExecContext(ctx, p.query, args)
}

// QueryContext implements [driver.StmtQueryContext].
func (p prepared) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return p.conn.QueryContext(ctx, p.query, args)
}
