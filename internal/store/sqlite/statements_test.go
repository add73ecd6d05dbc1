package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// keptDB returns a database of one connection that keeps its statements, with a table t.
func keptDB(t *testing.T) *sql.DB {
	t.Helper()
	db, err := connect(filepath.Join(t.TempDir(), "kept.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	execute(t, db, `CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT NOT NULL DEFAULT '')`)
	return db
}

// TestCloseWaitsForConnections closes pools of which one connection is in use.
func TestCloseWaitsForConnections(t *testing.T) {
	for name, forever := range map[string]bool{"given back": false, "kept for long": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kept.db")
			synctest.Test(t, func(t *testing.T) {
				db, err := connect(path, 2)
				if err != nil {
					t.Fatal(err)
				}
				conn, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				closed := make(chan error, 1)
				go func() { closed <- db.Close() }()
				synctest.Wait()
				if len(closed) > 0 {
					t.Error("closed beside a connection in use")
				}
				if forever {
					time.Sleep(closeTimeout)
					synctest.Wait()
					if len(closed) == 0 {
						t.Error("waits for ever")
					}
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
				if err := <-closed; err != nil || db.Stats().OpenConnections > 0 {
					t.Errorf("%v, %d connections are open", err, db.Stats().OpenConnections)
				}
			})
		})
	}
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func execute(t *testing.T, db execer, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// kept returns the texts that the connection has compiled.
func kept(t *testing.T, db *sql.DB) map[string]*cachedStatement {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var all map[string]*cachedStatement
	err = conn.Raw(func(c any) error { all = c.(*cachingConn).cached; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const allOfT = `SELECT n FROM t WHERE n > ? ORDER BY n`

// numbers returns the values of t above a number.
func numbers(t *testing.T, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, above int,
) (out []int) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), allOfT, above) //nolint:sqlclosecheck,rowserrcheck // Scan does
	if err != nil {
		t.Fatal(err)
	}
	err = sqlstore.Scan(rows, func() error {
		var n int
		err := rows.Scan(&n)
		out = append(out, n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStatementsAreCached(t *testing.T) {
	db := keptDB(t)
	const insert = `INSERT INTO t (n) VALUES (?)`
	execute(t, db, insert, 1)
	first := kept(t, db)[insert]
	for n := 2; n < 5; n++ {
		execute(t, db, insert, n)
	}
	if now := kept(t, db)[insert]; first == nil || now != first {
		t.Error("an insert was compiled again")
	}
	for above := range 5 {
		if got := numbers(t, db, above); len(got) != 4-above {
			t.Errorf("above %d: %v", above, got)
		}
	}
	execute(t, db, `DELETE FROM t WHERE n = 4; DELETE FROM t WHERE n = 3`)
	for text := range kept(t, db) {
		if strings.Contains(text, ";") || strings.HasPrefix(text, "CREATE") || strings.HasPrefix(text, "PRAGMA") {
			t.Errorf("kept: %s", text)
		}
	}
	if got := numbers(t, db, 0); len(got) != 2 {
		t.Error(got)
	}
}

// TestStatementWithinItself reads rows of a text while rows of it are read.
func TestStatementWithinItself(t *testing.T) {
	db := keptDB(t)
	execute(t, db, `INSERT INTO t (n) VALUES (1), (2), (3)`)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(t.Context(), allOfT, 0) //nolint:sqlclosecheck,rowserrcheck // Scan does
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int
	err = sqlstore.Scan(rows, func() error {
		var n int
		err := rows.Scan(&n)
		got = append(got, append([]int{n}, numbers(t, tx, n)...))
		return err
	})
	if d := cmp.Diff([][]int{{1, 2, 3}, {2, 3}, {3}}, got); err != nil || d != "" {
		t.Error(err, d)
	}
}

// TestStatementsAndSchema changes a table under a statement, in another connection.
func TestStatementsAndSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.db")
	var dbs [2]*sql.DB
	for i := range dbs {
		db, err := connect(path, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		dbs[i] = db
	}
	execute(t, dbs[0], `CREATE TABLE t (n INTEGER)`)
	execute(t, dbs[0], `INSERT INTO t VALUES (1)`)
	columns := func() int {
		t.Helper()
		rows, err := dbs[0].QueryContext(t.Context(), `SELECT * FROM t`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		names, err := rows.Columns()
		if err != nil || !rows.Next() || rows.Err() != nil {
			t.Fatal(err, rows.Err())
		}
		return len(names)
	}
	for want := 1; want < 4; want++ {
		if got := columns(); got != want {
			t.Errorf("%d columns, want %d", got, want)
		}
		execute(t, dbs[1], fmt.Sprintf(`ALTER TABLE t ADD COLUMN c%d TEXT`, want))
	}
	execute(t, dbs[1], `DROP TABLE t`)
	if _, err := dbs[0].ExecContext(t.Context(), `SELECT * FROM t`); err == nil {
		t.Error("rows of a table that is gone")
	}
	execute(t, dbs[1], `CREATE TABLE t (n INTEGER)`)
	execute(t, dbs[1], `INSERT INTO t VALUES (2)`)
	if got := columns(); got != 1 {
		t.Errorf("%d columns of the new table", got)
	}
}

// TestFailedStatement has statements that fail serve the next time, and transactions that
// fail leave their connection free.
func TestFailedStatement(t *testing.T) {
	db := keptDB(t)
	execute(t, db, `CREATE TABLE child (n INTEGER REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)`)
	const insert = `INSERT INTO t (n) VALUES (?)`
	execute(t, db, insert, 1)
	for range 3 {
		if _, err := db.ExecContext(t.Context(), insert, 1); err == nil {
			t.Fatal("the same key twice")
		}
	}
	execute(t, db, insert, 2)

	ended, end := context.WithCancel(t.Context())
	end()
	endless := `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ?) SELECT count(*) FROM c`
	for _, limit := range []int{10, 1 << 40} {
		ctx, cancel := context.WithCancel(t.Context())
		if limit > 10 {
			cancel()
			ctx = ended
		}
		var n int
		err := db.QueryRowContext(ctx, endless, limit).Scan(&n)
		cancel()
		if limit == 10 && (err != nil || n != 10) || limit > 10 && !errors.Is(err, context.Canceled) {
			t.Errorf("limit %d: %d, %v", limit, n, err)
		}
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, tx, `INSERT INTO child (n) VALUES (77)`)
	if err := tx.Commit(); err == nil {
		t.Fatal("a row without its parent was committed")
	}
	for _, keep := range []bool{false, true} {
		if tx, err = db.BeginTx(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		execute(t, tx, insert, 3)
		if got := numbers(t, tx, 0); len(got) != 3 {
			t.Errorf("within: %v", got)
		}
		end := tx.Rollback
		if keep {
			end = tx.Commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	if got := numbers(t, db, 0); len(got) != 3 {
		t.Error(got)
	}
	var children int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM child`).Scan(&children); err != nil || children != 0 {
		t.Error(children, err)
	}
}

// TestStatementInterrupted ends a query in its middle by its context.
func TestStatementInterrupted(t *testing.T) {
	db := keptDB(t)
	execute(t, db, `INSERT INTO t (n) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 2000) SELECT n FROM c`)
	const triples = `SELECT a.n FROM t a, t b, t c WHERE a.n + b.n + c.n > ?`
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := db.QueryContext(ctx, triples, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	cancel()
	for rows.Next() {
		continue
	}
	if !errors.Is(rows.Err(), context.Canceled) {
		t.Error(rows.Err())
	}
	if err := rows.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), triples, 1000).Scan(&n); err != nil || n == 0 {
		t.Error(n, err)
	}
}

// TestCachedLikePlain does the same, at random, with a connection that keeps its statements
// and with one that does not.
func TestCachedLikePlain(t *testing.T) {
	dir := t.TempDir()
	texts := []string{
		`INSERT INTO t (n, s) VALUES (?1, ?2)`, `INSERT INTO t (n, s) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET s = ?2 RETURNING n, s`,
		`UPDATE t SET s = s || ?2 WHERE n >= ?1`, `DELETE FROM t WHERE n = ?1 RETURNING n, s`,
		`SELECT n, s FROM t WHERE n >= ?1 AND s <> ?2 ORDER BY n LIMIT 4`,
		`SAVEPOINT inner`, `RELEASE inner`, `ROLLBACK TO inner`,
	}
	for i := range 2 * maxStatements { // more than are kept
		texts = append(texts, fmt.Sprintf(`SELECT n, %d FROM t WHERE n = ?1 AND s <> ?2`, i))
	}
	ours, err := connect(filepath.Join(dir, "kept.db"), 1, "_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close() }()
	plain, err := sql.Open("sqlite", dsn(filepath.Join(dir, "plain.db"), "_pragma=synchronous(OFF)"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	plain.SetMaxOpenConns(1)
	both := [2]*sql.DB{ours, plain}
	for _, db := range both {
		execute(t, db, `CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT NOT NULL)`)
	}
	rapid.Check(t, func(rt *rapid.T) {
		var txs [2]*sql.Tx
		for _, db := range both {
			execute(t, db, `DELETE FROM t`)
		}
		ask := func(i int, text string, n int, s string) (out []string) {
			query := both[i].QueryContext
			if txs[i] != nil {
				query = txs[i].QueryContext
			}
			args := []any{n, s}
			if strings.HasSuffix(text, "inner") {
				args = nil
			}
			rows, err := query(t.Context(), text, args...) //nolint:sqlclosecheck,rowserrcheck // Scan does
			if err == nil {
				err = sqlstore.Scan(rows, func() error {
					var a, b string
					err := rows.Scan(&a, &b)
					out = append(out, a+" "+b)
					return err
				})
			}
			if err != nil {
				out = append(out, err.Error())
			}
			return out
		}
		end := func(i int, commit bool) (err error) {
			if commit {
				err = txs[i].Commit()
			} else {
				err = txs[i].Rollback()
			}
			txs[i] = nil
			return err
		}
		for range rapid.IntRange(1, 60).Draw(rt, "operations") {
			switch op := rapid.IntRange(0, 9).Draw(rt, "operation"); {
			case op == 0 && txs[0] == nil:
				for i, db := range both {
					if txs[i], err = db.BeginTx(t.Context(), nil); err != nil {
						rt.Fatal(err)
					}
				}
			case op <= 1 && txs[0] != nil:
				commit := rapid.Bool().Draw(rt, "commit")
				if a, b := end(0, commit), end(1, commit); (a == nil) != (b == nil) {
					rt.Fatalf("ends: %v, and %v of the plain one", a, b)
				}
			default:
				text := rapid.SampledFrom(texts).Draw(rt, "text")
				if txs[0] == nil && strings.HasSuffix(text, "inner") {
					continue
				}
				n, s := rapid.IntRange(0, 6).Draw(rt, "n"), rapid.SampledFrom([]string{"", "a", "é"}).Draw(rt, "s")
				if d := cmp.Diff(ask(1, text, n, s), ask(0, text, n, s)); d != "" {
					rt.Fatalf("%s with %d and %q (- plain, + kept):\n%s", text, n, s, d)
				}
			}
		}
		for i := range both {
			if txs[i] != nil {
				_ = end(i, false)
			}
		}
		if len(kept(t, ours)) > maxStatements {
			rt.Fatalf("%d statements are kept", len(kept(t, ours)))
		}
	})
}
