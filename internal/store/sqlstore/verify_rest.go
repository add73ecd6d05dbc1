package sqlstore

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx/internal/store"
)

// verifyVectors looks for chunks without a vector and for vectors of the wrong length.
func (s *Store) verifyVectors(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	if o.Embedder == 0 {
		return nil
	}
	var missing, odd int
	err := s.view(ctx, func(tx *Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM units u JOIN items i ON i.id = u.item
			WHERE i.seq > 0 AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = ? AND hash = u.hash)`,
			o.Embedder).Scan(&missing); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM vectors v WHERE v.embedder = ? AND length(v.vector) > 0
			AND length(v.vector) <> 4 * (SELECT json_extract(identity, '$.dimensions') FROM embedders
			WHERE id = v.embedder)`, o.Embedder).Scan(&odd)
	})
	if err != nil {
		return err
	}
	if missing > 0 {
		AddFinding(o, r, store.Finding{
			Severity: store.Warning, Check: "vectors",
			Detail: fmt.Sprintf("%d chunks have no vector; the keyword index still finds them", missing),
		})
	}
	if odd > 0 {
		AddFinding(o, r, store.Finding{Severity: store.Damage, Check: "vectors", Detail: fmt.Sprintf("%d vectors "+
			"do not have the length of their embedder", odd)})
	}
	return nil
}

// verifyLeftovers reports items and erasures that are not removed yet.
func (s *Store) verifyLeftovers(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	hidden, err := s.hidden(ctx)
	if err != nil {
		return err
	}
	if len(hidden) > 0 {
		AddFinding(o, r, store.Finding{Severity: store.Note, Check: "staged", Detail: fmt.Sprintf("%d interrupted "+
			"or erased items are being removed", len(hidden))})
	}
	pending, err := s.PendingErasures(ctx)
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		AddFinding(o, r, store.Finding{
			Severity: store.Note, Check: "erased",
			Detail: fmt.Sprintf("erased texts are not yet cleared from files; incomplete erasures: %d", len(pending)),
		})
	}
	return nil
}
