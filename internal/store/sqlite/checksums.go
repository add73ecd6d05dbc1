package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// Each row of each table has a checksum. The table sums has the total of every 1<<bucketBits values
// of a table's first column, updated in the same transaction as the rows: SQLite calls a hook with
// every row before and after a change, whether by statement, trigger or cascade. A changed byte in
// the file changes a total, and [Store.Verify] finds it.
const bucketBits = 10

// schemaTable is the name in sums for the definitions of all tables.
const schemaTable = "sqlite_schema"

// bucketKey identifies a total.
type bucketKey struct {
	tab string
	no  int64
}

// rowSums collects the checksum changes of a connection's statements.
type rowSums struct {
	changes []sumChange
	row     []any
	buf     []byte
}

type sumChange struct {
	bucketKey
	by int64
}

// note is SQLite's hook. [rowSums.undo] discards its records if the statement fails.
func (r *rowSums) note(d sqlite.SQLitePreUpdateData) {
	if d.DatabaseName != "main" || d.TableName == "sums" {
		return
	}
	if n := d.Count(); len(r.row) != n {
		r.row = make([]any, n)
	}
	tab := strings.Clone(d.TableName)
	if d.Op != sqlite3.SQLITE_INSERT {
		r.add(tab, d.Old(r.row...), -1)
	}
	if d.Op != sqlite3.SQLITE_DELETE {
		r.add(tab, d.New(r.row...), 1)
	}
}

// add records the row just read. A row that cannot be read gets no checksum, which Verify finds.
func (r *rowSums) add(tab string, err error, sign int64) {
	if err == nil {
		r.changes = append(r.changes, sumChange{bucketKey{tab, bucketOf(r.row)}, sign * r.sum(tab, r.row)})
	}
}

// mark returns a position for [rowSums.undo].
func (r *rowSums) mark() int { return len(r.changes) }

func (r *rowSums) undo(mark int) { r.changes = r.changes[:mark] }

// bucketOf returns the bucket of a row, by its first column if that is a number.
func bucketOf(row []any) int64 {
	if n, ok := row[0].(int64); ok {
		return n >> bucketBits
	}
	return 0
}

// sum returns the checksum of a row. Damage of up to 32 bits in a value always changes it.
func (r *rowSums) sum(tab string, row []any) int64 {
	b := r.buf[:0]
	b = append(b, tab...)
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, 0)
		case int64:
			b = binary.LittleEndian.AppendUint64(append(b, 1), uint64(v)) //nolint:gosec // its bits
		case float64:
			if i := int64(v); float64(i) == v { // SQLite may store it as an integer and pass it so to the hook
				b = binary.LittleEndian.AppendUint64(append(b, 1), uint64(i)) //nolint:gosec // its bits
			} else {
				b = binary.LittleEndian.AppendUint64(append(b, 2), math.Float64bits(v))
			}
		case string:
			v, _, _ = strings.Cut(v, "\x00") // the hook gets text up to there only
			b = append(binary.LittleEndian.AppendUint64(append(b, 3), uint64(len(v))), v...)
		case []byte:
			b = append(binary.LittleEndian.AppendUint64(append(b, 4), uint64(len(v))), v...)
		default:
			b = fmt.Appendf(append(b, 5), "%T %v", v, v)
		}
	}
	r.buf = b
	if cap(r.buf) > 1<<20 {
		r.buf = nil // long texts are rare
	}
	return 1<<32 | int64(atomicfile.Checksum(b))
}

// addSums adds to totals; its argument is JSON of [tab, bucket, by].
const addSums = `INSERT INTO sums (tab, bucket, sum) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
	ON CONFLICT (bucket, tab) DO UPDATE SET sum = sum + excluded.sum`

// flush writes the recorded changes and the count of transactions within their transaction. It
// reports whether there were any.
func (r *rowSums) flush(ctx context.Context, tx *sql.Tx) (bool, error) {
	if len(r.changes) == 0 {
		return false, nil
	}
	totals := make(map[bucketKey]int64, 16)
	for _, c := range r.changes {
		totals[c.bucketKey] += c.by
	}
	r.changes = r.changes[:0]
	totals[bucketKey{}] = 1
	_, err := tx.ExecContext(ctx, addSums, sumsJSON(totals))
	return true, err
}

func sumsJSON(totals map[bucketKey]int64) string {
	rows := make([][3]any, 0, len(totals))
	for k, by := range totals {
		rows = append(rows, [3]any{k.tab, k.no, by})
	}
	slices.SortFunc(rows, func(a, b [3]any) int {
		return cmp.Or(cmp.Compare(a[1].(int64), b[1].(int64)), cmp.Compare(a[0].(string), b[0].(string)))
	})
	text, _ := json.Marshal(rows) // strings and numbers: cannot fail
	return string(text)
}

// recomputeSums recomputes all totals after a schema migration, which changes rows without calling the
// hook.
func recomputeSums(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM sums WHERE tab <> ''`); err != nil {
		return err
	}
	tables, err := summedTables(ctx, tx)
	if err != nil {
		return err
	}
	var r rowSums
	for _, t := range tables {
		totals := make(map[bucketKey]int64)
		if err := r.total(ctx, tx, t.name, t.query, totals); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, addSums, sumsJSON(totals)); err != nil {
			return err
		}
	}
	return nil
}

// summedTable is a table whose rows have checksums.
type summedTable struct {
	name  string
	first string // its first column if numeric
	query string // of all rows
}

// summedTables returns the tables whose rows have checksums: all except SQLite's own.
func summedTables(ctx context.Context, tx *sql.Tx) ([]summedTable, error) {
	tables := []summedTable{{name: schemaTable, query: `SELECT type, name, tbl_name, sql FROM sqlite_schema`}}
	const query = `SELECT s.name, iif(c.type = 'INTEGER', c.name, '') FROM sqlite_schema s, pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name <> 'sums' AND c.cid = 0 ORDER BY s.name`
	rows, err := tx.QueryContext(ctx, query) //nolint:rowserrcheck // Scan checks it
	if err != nil {
		return nil, err
	}
	return tables, sqlstore.Scan(rows, func() error {
		var t summedTable
		err := rows.Scan(&t.name, &t.first)
		t.query = `SELECT * FROM "` + t.name + `"`
		tables = append(tables, t)
		return err
	})
}

// total sums the checksums of the rows of a query.
func (r *rowSums) total(ctx context.Context, tx *sql.Tx, tab, query string, totals map[bucketKey]int64, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...) //nolint:rowserrcheck // Scan checks it
	if err != nil {
		return err
	}
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	return sqlstore.Scan(rows, func() error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		totals[bucketKey{tab, bucketOf(row)}] += r.sum(tab, row)
		return nil
	})
}
