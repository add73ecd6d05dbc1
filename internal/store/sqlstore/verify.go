package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// AddFinding adds a finding to a report, or counts it if the report is full.
func AddFinding(o store.VerifyOptions, r *store.VerifyReport, f store.Finding) {
	if len(r.Findings) >= o.MaxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}

// Verify implements [store.Health].
func (s *Store) Verify(ctx context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
	if o.MaxFindings <= 0 {
		o.MaxFindings = 100
	}
	r := store.VerifyReport{Findings: []store.Finding{}}
	for _, check := range []func(context.Context, store.VerifyOptions, *store.VerifyReport) error{
		s.db.Inspect, s.verifyItems, s.verifyVectors, s.verifyLedgers, s.verifySessions, s.verifyLeftovers,
	} {
		if err := check(ctx, o, &r); err != nil {
			if ctx.Err() != nil || errors.Is(err, ragctx.ErrClosed) {
				return r, fmt.Errorf("verify: %w", err)
			}
			// Anything unreadable, including a value of the wrong column type.
			AddFinding(o, &r, store.Finding{Severity: store.Damage, Check: "file", Detail: err.Error()})
		}
	}
	return r, nil
}

// verifyItems reads items in pages: a long read would keep the log from restarting.
func (s *Store) verifyItems(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	const page = 100
	total := 0
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM items WHERE seq > 0`).Scan(&total)
	})
	if err != nil {
		return err
	}
	for last := int64(0); ; {
		n := 0
		err := s.view(ctx, func(tx *Tx) error {
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
	kind    store.Kind
	key     string
	version int
	bytes   int
}

// String identifies the item.
func (it verifiedItem) String() string {
	if it.kind == store.KindMemories {
		return fmt.Sprintf("memory %q version %d", it.key, it.version)
	}
	return fmt.Sprintf("document %q version %d", it.key, it.version)
}

func verifiable(ctx context.Context, tx *Tx, after int64, limit int) (items []verifiedItem, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, kind, key, version, bytes FROM items
		WHERE id > ? AND seq > 0 ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return nil, err
	}
	return items, Scan(rows, func() error {
		var it verifiedItem
		err := rows.Scan(&it.id, &it.kind, &it.key, &it.version, &it.bytes)
		items = append(items, it)
		return err
	})
}

// verify checks that an item has its complete text and that its chunks match it.
func (it verifiedItem) verify(ctx context.Context, tx *Tx, o store.VerifyOptions, r *store.VerifyReport) error {
	damage := func(check, format string, args ...any) {
		AddFinding(o, r, store.Finding{Severity: store.Damage, Check: check, Item: it.String(), Detail: fmt.Sprintf(format, args...)})
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
