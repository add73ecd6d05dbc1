package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// verifyBuckets is the number of totals compared in one read.
const verifyBuckets = 8

// Inspect implements [sqlstore.Database].
func (s *Store) Inspect(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	return errors.Join(s.verifyFile(ctx, o, r), s.verifyRows(ctx, o, r))
}

// verifyFile runs SQLite's own checks.
func (s *Store) verifyFile(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	return s.View(ctx, func(tx *sqlstore.Tx) error {
		rows, err := tx.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, o.MaxFindings)) //nolint:rowserrcheck // Scan checks it
		if err != nil {
			return err
		}
		err = sqlstore.Scan(rows, func() error {
			var detail string
			err := rows.Scan(&detail)
			if err == nil && detail != "ok" {
				sqlstore.AddFinding(o, r, store.Finding{Severity: store.Damage, Check: "file", Detail: detail})
			}
			return err
		})
		if err != nil {
			return err
		}
		const references = `SELECT "table", coalesce(rowid, 0), parent FROM pragma_foreign_key_check`
		rows, err = tx.QueryContext(ctx, references) //nolint:rowserrcheck // Scan checks it
		if err != nil {
			return err
		}
		return sqlstore.Scan(rows, func() error {
			var table, parent string
			var row int64
			err := rows.Scan(&table, &row, &parent)
			sqlstore.AddFinding(o, r, store.Finding{Severity: store.Damage, Check: "references", Detail: fmt.Sprintf("row "+
				"%d of %s refers to nothing in %s", row, table, parent)})
			return err
		})
	})
}

// verifyRows compares the checksums of all rows with the totals.
func (s *Store) verifyRows(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	var tables []summedTable
	err := s.View(ctx, func(tx *sqlstore.Tx) (err error) {
		tables, err = summedTables(ctx, tx.Tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := s.verifyTable(ctx, t, o, r); err != nil {
			if ctx.Err() != nil {
				return err
			}
			sqlstore.AddFinding(o, r, store.Finding{Severity: store.Damage, Check: "rows", Detail: fmt.Sprintf("table %s "+
				"cannot be read: %v", t.name, err)})
		}
	}
	return nil
}

// verifyTable reads a table some buckets at a time: a long read would keep the log from restarting.
// A table without a numeric first column is read at once.
func (s *Store) verifyTable(ctx context.Context, t summedTable, o store.VerifyOptions, r *store.VerifyReport) error {
	for at := int64(math.MinInt64 >> bucketBits); ; {
		first, last := at, int64(math.MaxInt64>>bucketBits)
		if t.first != "" {
			next, ok, err := s.nextBucket(ctx, t, at)
			if err != nil || !ok {
				return err
			}
			first, last = next, min(next+verifyBuckets-1, last)
		}
		if err := s.verifyRange(ctx, t, first, last, o, r); err != nil {
			return err
		}
		if t.first == "" || last == math.MaxInt64>>bucketBits {
			return nil
		}
		at = last + 1
	}
}

// nextBucket returns the first bucket from at on with rows or a total.
func (s *Store) nextBucket(ctx context.Context, t summedTable, at int64) (int64, bool, error) {
	var next sql.NullInt64
	err := s.View(ctx, func(tx *sqlstore.Tx) error {
		return tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT min(b) FROM (SELECT min(bucket) b FROM sums WHERE tab = ?1 AND bucket >= ?2
			UNION ALL SELECT min("%s") >> ?4 FROM "%s" WHERE "%[1]s" >= ?3)`, t.first, t.name), t.name, at,
			at<<bucketBits, bucketBits).Scan(&next)
	})
	return next.Int64, next.Valid, err
}

// verifyRange compares the totals of some buckets.
func (s *Store) verifyRange(ctx context.Context, t summedTable, first, last int64, o store.VerifyOptions, r *store.VerifyReport) error {
	// The sum over the rows minus the stored total.
	off := make(map[bucketKey]int64)
	err := s.View(ctx, func(tx *sqlstore.Tx) error {
		query, args := t.query, []any(nil)
		if t.first != "" {
			query += fmt.Sprintf(` WHERE "%s" BETWEEN ? AND ?`, t.first)
			args = []any{first << bucketBits, last<<bucketBits | (1<<bucketBits - 1)}
		}
		if err := new(rowSums).total(ctx, tx.Tx, t.name, query, off, args...); err != nil {
			return err
		}
		const totals = `SELECT bucket, sum FROM sums WHERE tab = ? AND bucket BETWEEN ? AND ?`
		rows, err := tx.QueryContext(ctx, totals, t.name, first, last) //nolint:rowserrcheck // Scan checks it
		if err != nil {
			return err
		}
		return sqlstore.Scan(rows, func() error {
			var no, sum int64
			err := rows.Scan(&no, &sum)
			off[bucketKey{t.name, no}] -= sum
			return err
		})
	})
	if err != nil {
		return err
	}
	for k, by := range off {
		if by == 0 {
			continue
		}
		what := "table " + t.name
		if t.first != "" {
			what = fmt.Sprintf("rows of table %s with %s from %d to %d", t.name, t.first, k.no<<bucketBits,
				k.no<<bucketBits|(1<<bucketBits-1))
		}
		sqlstore.AddFinding(o, r, store.Finding{
			Severity: store.Damage, Check: "rows",
			Detail: what + ": they have changed since ragctx wrote them",
		})
	}
	return nil
}
