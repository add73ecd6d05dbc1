package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/procedures"
)

// ProcedureLesson is what a turn teaches of how something is done.
type ProcedureLesson struct {
	Key  ProcedureKey
	Body procedures.Body
	By   string // [procedures.ByTurn] or [procedures.ByModel]
	Seen procedures.ProcedureRun
	// Known says that there is such a procedure, which does the same: the turn is
	// evidence of it. Otherwise it is new.
	Known bool
}

// maxLearned is how many procedures that nobody has looked at yet an owner has at a
// time. A new one takes the place of the oldest of those that were done least often.
const maxLearned = 200

// LearnProcedure stores what a turn teaches, once. It is a conflict if a procedure that
// was known is not there any more, or one that was new is there by now.
func (s *Store) LearnProcedure(ctx context.Context, l ProcedureLesson) (op procedures.Op, err error) {
	err = s.write.doIn(ctx, l.Key.Namespace, Low, func(ctx context.Context, tx *sql.Tx) error {
		op = ""
		p := &procedure{Store: s, tx: tx, key: l.Key, now: s.now().UnixMicro()}
		if done, err := p.taught(ctx, l.Seen.Turn); err != nil || done {
			return err
		}
		err := p.find(ctx)
		if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
			return err
		}
		if (err == nil) != l.Known {
			return l.Key.conflict("it has come or gone in the meantime")
		}
		op = procedures.OpMerged
		if !l.Known {
			op = procedures.OpDrafted
			if err := p.learn(ctx, l); err != nil {
				return err
			}
		}
		if err := p.evidence(ctx, l); err != nil {
			return err
		}
		return p.note(ctx, op, p.canonical, l.By, l.Seen.Turn)
	})
	if err != nil {
		return "", failed("learn procedure", err)
	}
	return op, nil
}

// taught reports whether a turn is evidence of a procedure of the owner already, or is
// not there any more.
func (p *procedure) taught(ctx context.Context, turn string) (done bool, err error) {
	err = p.tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND key = ?2)
		OR EXISTS (SELECT 1 FROM procedure_sources s JOIN procedure_bodies b ON b.id = s.body JOIN procedures p ON p.id = b.procedure
			WHERE s.turn = ?2 AND p.namespace = ?1 AND p.user = ?3 AND p.agent = ?4)`,
		p.key.Namespace, turn, p.key.UserID, p.key.AgentID).Scan(&done)
	return done, err
}

// learn writes a new draft, and lets an old one go where there are too many.
func (p *procedure) learn(ctx context.Context, l ProcedureLesson) error {
	if err := p.create(ctx); err != nil {
		return err
	}
	if err := p.insertDraft(ctx, l.Body, l.By); err != nil {
		return err
	}
	_, err := p.tx.ExecContext(ctx, `DELETE FROM procedures WHERE id IN (
		SELECT p.id FROM procedures p JOIN procedure_bodies b ON b.procedure = p.id AND b.version = 0 AND b.by <> ?
		WHERE p.namespace = ? AND p.user = ? AND p.agent = ? AND p.versions = 0 AND p.id <> ?
		ORDER BY (SELECT count(*) FROM procedure_sources s WHERE s.body = b.id) DESC, p.updated DESC LIMIT -1 OFFSET ?)`,
		procedures.ByCaller, l.Key.Namespace, l.Key.UserID, l.Key.AgentID, p.id, maxLearned-1)
	return err
}

// evidence notes a turn at the draft, else at the canonical version, else at the
// newest.
func (p *procedure) evidence(ctx context.Context, l ProcedureLesson) error {
	_, err := p.tx.ExecContext(ctx, `INSERT INTO procedure_sources (body, turn, words, confidence, at)
		SELECT b.id, ?, ?, ?, ? FROM procedure_bodies b WHERE b.procedure = ?
		ORDER BY b.version = 0 DESC, b.version IS ? DESC, b.version DESC LIMIT 1 ON CONFLICT DO NOTHING`,
		l.Seen.Turn, !l.Known, l.Seen.Confidence, l.Seen.At.UnixMicro(), p.id, p.canonical)
	return err
}

// KnownProcedures returns the drafts of an owner's procedures, or where there is none
// the canonical or else the newest version, the newest procedures first, at most limit.
func (s *Store) KnownProcedures(ctx context.Context, ns int64, o procedures.Owner, limit int) ([]procedures.Known, error) {
	var out []procedures.Known
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT p.name, b.trigger, b.body FROM procedures p
			JOIN procedure_bodies b ON b.id = (SELECT o.id FROM procedure_bodies o WHERE o.procedure = p.id
				ORDER BY o.version = 0 DESC, o.version IS p.canonical DESC, o.version DESC LIMIT 1)
			WHERE p.namespace = ? AND p.user = ? AND p.agent = ? ORDER BY p.id DESC LIMIT ?`, ns, o.UserID, o.AgentID, limit)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var k procedures.Known
			var trigger, body string
			err := rows.Scan(&k.Name, &trigger, &body)
			k.Body = decode[procedures.Body](body)
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
