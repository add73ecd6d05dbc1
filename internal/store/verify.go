package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
)

// Severity is the severity of a [Finding].
type Severity string

// The severities. Damage requires a restored copy. A warning resolves itself or costs quality, not
// data. A note is for information.
const (
	Damage  Severity = "damage"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is a result of [Store.Verify].
type Finding struct {
	Severity Severity `json:"severity"`
	// Check names the check: file, rows, references, text, units, vectors, staged, erased, ledger,
	// session.
	Check  string `json:"check"`
	Detail string `json:"detail"`
	// Item identifies the item concerned, as in document "a" version 2.
	Item string `json:"item,omitempty"`
}

// VerifyReport is the report of [Store.Verify].
type VerifyReport struct {
	Items    int       `json:"items"`
	Chunks   int       `json:"units"`
	Messages int       `json:"messages" doc:"of ledgers"`
	Findings []Finding `json:"findings"`
	// More counts the findings left out.
	More int `json:"more,omitempty"`
}

// Damaged reports whether any finding is damage.
func (r *VerifyReport) Damaged() bool {
	for _, f := range r.Findings {
		if f.Severity == Damage {
			return true
		}
	}
	return false
}

// addFinding adds a finding to a report, or counts it if the report is full.
func addFinding(o VerifyOptions, r *VerifyReport, f Finding) {
	if len(r.Findings) >= o.MaxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}

// VerifyOptions configures [Store.Verify]. The zero value works.
type VerifyOptions struct {
	// Embedder is the id of the embedder whose vectors are checked; 0 checks none.
	Embedder int64
	// MaxFindings limits the report; default 100.
	MaxFindings int
	// Progress is called with the items read and the total; it may be nil.
	Progress func(done, total int)
}

// Verify reads the whole database and reports faults. It runs concurrently with other work and
// changes nothing. It fails only if ctx or the store ends: unreadable data is a finding.
func (s *Store) Verify(ctx context.Context, o VerifyOptions) (VerifyReport, error) {
	if o.MaxFindings <= 0 {
		o.MaxFindings = 100
	}
	r := VerifyReport{Findings: []Finding{}}
	for _, check := range []func(context.Context, VerifyOptions, *VerifyReport) error{
		s.verifyFile, s.verifyRows, s.verifyItems, s.verifyVectors, s.verifyLedgers, s.verifySessions, s.verifyLeftovers,
	} {
		if err := check(ctx, o, &r); err != nil {
			if ctx.Err() != nil || errors.Is(err, ragctx.ErrClosed) {
				return r, fmt.Errorf("verify: %w", err)
			}
			// Anything unreadable, including a value of the wrong column type.
			addFinding(o, &r, Finding{Severity: Damage, Check: "file", Detail: err.Error()})
		}
	}
	return r, nil
}

// verifyFile runs SQLite's own checks.
func (s *Store) verifyFile(ctx context.Context, o VerifyOptions, r *VerifyReport) error {
	return s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, o.MaxFindings))
		if err != nil {
			return err
		}
		err = scan(rows, func() error {
			var detail string
			err := rows.Scan(&detail)
			if err == nil && detail != "ok" {
				addFinding(o, r, Finding{Severity: Damage, Check: "file", Detail: detail})
			}
			return err
		})
		if err != nil {
			return err
		}
		rows, err = tx.QueryContext(ctx, `SELECT "table", coalesce(rowid, 0), parent FROM pragma_foreign_key_check`)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var table, parent string
			var row int64
			err := rows.Scan(&table, &row, &parent)
			addFinding(o, r, Finding{Severity: Damage, Check: "references", Detail: fmt.Sprintf("row %d of %s refers to nothing in %s", row, table, parent)})
			return err
		})
	})
}

// verifyItems reads items in pages: a long read would keep the log from restarting.
func (s *Store) verifyItems(ctx context.Context, o VerifyOptions, r *VerifyReport) error {
	const page = 100
	total := 0
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM items WHERE seq > 0`).Scan(&total)
	})
	if err != nil {
		return err
	}
	for last := int64(0); ; {
		n := 0
		err := s.view(ctx, func(tx *sql.Tx) error {
			items, err := verifiable(ctx, tx, last, page)
			if err != nil {
				return err
			}
			for _, it := range items {
				if err := it.verify(ctx, tx, o, r); err != nil {
					return err
				}
				last = it.id
			}
			n = len(items)
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
		r.Items += n
		if o.Progress != nil {
			o.Progress(r.Items, max(total, r.Items))
		}
	}
}

// verifiedItem describes an item before its text is read.
type verifiedItem struct {
	id      int64
	kind    Kind
	key     string
	version int
	bytes   int
}

// String identifies the item.
func (it verifiedItem) String() string {
	if it.kind == Memories {
		return fmt.Sprintf("memory %q version %d", it.key, it.version)
	}
	return fmt.Sprintf("document %q version %d", it.key, it.version)
}

func verifiable(ctx context.Context, tx *sql.Tx, after int64, limit int) (items []verifiedItem, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, kind, key, version, bytes FROM items
		WHERE id > ? AND seq > 0 ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return nil, err
	}
	return items, scan(rows, func() error {
		var it verifiedItem
		err := rows.Scan(&it.id, &it.kind, &it.key, &it.version, &it.bytes)
		items = append(items, it)
		return err
	})
}

// verify checks that an item has its complete text and that its chunks match it.
func (it verifiedItem) verify(ctx context.Context, tx *sql.Tx, o VerifyOptions, r *VerifyReport) error {
	damage := func(check, format string, args ...any) {
		addFinding(o, r, Finding{Severity: Damage, Check: check, Item: it.String(), Detail: fmt.Sprintf(format, args...)})
	}
	text, err := readText(ctx, tx, it.id, 0, it.bytes+1)
	var gap *gapError
	switch {
	case errors.Is(err, sql.ErrNoRows):
		damage("text", "its text is missing")
		return nil
	case errors.As(err, &gap):
		damage("text", "%v", err)
		return nil
	case err != nil:
		return err
	case len(text) != it.bytes:
		damage("text", "its text has %d bytes of %d", len(text), it.bytes)
		return nil
	}
	units, err := loadChunks(ctx, tx, `units u WHERE u.item = ? ORDER BY u.ordinal`, it.id)
	if err != nil {
		return err
	}
	at := 0
	for i, u := range units {
		switch {
		case u.Ordinal != i:
			damage("units", "chunk %d is missing", i)
			return nil
		case u.Start.Byte < at || u.End.Byte < u.Start.Byte || u.End.Byte > len(text):
			damage("units", "chunk %d claims bytes %d to %d", i, u.Start.Byte, u.End.Byte)
			return nil
		case text[u.Start.Byte:u.End.Byte] != u.Text:
			damage("units", "chunk %d differs from the text at its position", i)
		}
		at = u.End.Byte
	}
	r.Chunks += len(units)
	return nil
}
