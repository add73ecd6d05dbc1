package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// maxUnreviewed limits the unreviewed procedures of an owner. A new one replaces the oldest of those
// with the fewest runs.
const maxUnreviewed = 200

// StoreProcedure implements [store.ProcedureWriter].
func (s *Store) StoreProcedure(ctx context.Context, l store.ExtractedProcedure) (op ragctx.ChangeOp, err error) {
	err = s.write.doIn(ctx, l.Key.Namespace, Low, func(ctx context.Context, tx *Tx) error {
		op = ""
		p := &procedure{Store: s, tx: tx, key: l.Key, now: s.now().UnixMicro()}
		if done, err := p.hasTurn(ctx, l.Run.Turn); err != nil || done {
			return err
		}
		err := p.find(ctx)
		if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
			return err
		}
		if (err == nil) != l.Existing {
			return procedureConflict(l.Key, "it was created or deleted concurrently")
		}
		op = ragctx.OpMerged
		if !l.Existing {
			op = ragctx.OpDrafted
			if err := p.addDraft(ctx, l); err != nil {
				return err
			}
		}
		if err := p.addSource(ctx, l); err != nil {
			return err
		}
		return p.record(ctx, op, p.canonical, l.By, l.Run.Turn)
	})
	if err != nil {
		return "", failed("store procedure", err)
	}
	return op, nil
}

// hasTurn reports whether a turn is already recorded for a procedure of the owner, or no longer
// exists.
func (p *procedure) hasTurn(ctx context.Context, turn string) (done bool, err error) {
	err = p.tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND key = ?2)
		OR EXISTS (SELECT 1 FROM procedure_sources s JOIN procedure_bodies b ON b.id = s.body JOIN procedures p ON p.id = b.procedure
			WHERE s.turn = ?2 AND p.namespace = ?1 AND p.user = ?3 AND p.agent = ?4)`,
		p.key.Namespace, turn, p.key.UserID, p.key.AgentID).Scan(&done)
	return done, err
}

// addDraft inserts a new draft and deletes an old one if the owner has too many.
func (p *procedure) addDraft(ctx context.Context, l store.ExtractedProcedure) error {
	if err := p.create(ctx); err != nil {
		return err
	}
	if err := p.insertDraft(ctx, l.Body, l.By); err != nil {
		return err
	}
	_, err := p.tx.ExecContext(ctx, `DELETE FROM procedures WHERE id IN (
		SELECT p.id FROM procedures p JOIN procedure_bodies b ON b.procedure = p.id AND b.version = 0 AND b.by <> ?
		WHERE p.namespace = ? AND p.user = ? AND p.agent = ? AND p.versions = 0 AND p.id <> ?
		ORDER BY (SELECT count(*) FROM procedure_sources s WHERE s.body = b.id) DESC, p.updated DESC LIMIT ? OFFSET ?)`,
		ragctx.ByCaller, l.Key.Namespace, l.Key.UserID, l.Key.AgentID, p.id, noLimit, maxUnreviewed-1)
	return err
}

// addSource adds the turn as a source of the draft, otherwise of the canonical version, otherwise of
// the newest.
func (p *procedure) addSource(ctx context.Context, l store.ExtractedProcedure) error {
	words := 1
	if l.Existing {
		words = 0
	}
	_, err := p.tx.ExecContext(ctx, `INSERT INTO procedure_sources (body, turn, words, confidence, at)
		SELECT b.id, ?, ?, ?, ? FROM procedure_bodies b WHERE b.procedure = ?
		ORDER BY b.version = 0 DESC, b.version IS NOT DISTINCT FROM ? DESC, b.version DESC LIMIT 1 ON CONFLICT DO NOTHING`,
		l.Run.Turn, words, l.Run.Confidence, l.Run.At.UnixMicro(), p.id, p.canonical)
	return err
}

// LatestProcedures implements [store.ProcedureReader].
func (s *Store) LatestProcedures(ctx context.Context, ns int64, o ragctx.ProcedureOwner, limit int) ([]ragctx.NamedProcedure, error) {
	var out []ragctx.NamedProcedure
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT p.name, b.trigger, b.body FROM procedures p
			JOIN procedure_bodies b ON b.id = (SELECT o.id FROM procedure_bodies o WHERE o.procedure = p.id
				ORDER BY o.version = 0 DESC, o.version IS NOT DISTINCT FROM p.canonical DESC, o.version DESC LIMIT 1)
			WHERE p.namespace = ? AND p.user = ? AND p.agent = ? ORDER BY p.id DESC LIMIT ?`, ns, o.UserID, o.AgentID, limit)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var k ragctx.NamedProcedure
			var trigger, body string
			err := rows.Scan(&k.Name, &trigger, &body)
			k.ProcedureBody = decode[ragctx.ProcedureBody](body)
			k.Trigger = trigger
			out = append(out, k)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read procedures: %w", err)
	}
	return out, nil
}
