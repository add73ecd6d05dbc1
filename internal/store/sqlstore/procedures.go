package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

func procedureNotFound(k store.ProcedureKey) error {
	return fmt.Errorf("procedure %q: %w", ragctx.Clip(k.Name), ragctx.ErrNotFound)
}

func procedureConflict(k store.ProcedureKey, format string, args ...any) error {
	return fmt.Errorf("procedure %q: %w: %s", ragctx.Clip(k.Name), ragctx.ErrConflict, fmt.Sprintf(format, args...))
}

// procedure is a procedure being changed within a transaction.
type procedure struct {
	*Store

	tx  *Tx
	key store.ProcedureKey
	now int64

	id        int64
	versions  int
	canonical sql.NullInt64
	draft     sql.NullInt64 // row of the draft
}

// changeProcedure runs fn on a procedure in a transaction and returns the result. With create a
// missing procedure is created.
func (s *Store) changeProcedure(
	ctx context.Context, k store.ProcedureKey, create bool, what string, fn func(context.Context, *procedure) error,
) (ragctx.Procedure, error) {
	var out ragctx.Procedure
	err := s.write.doIn(ctx, k.Namespace, High, func(ctx context.Context, tx *Tx) error {
		p := &procedure{Store: s, tx: tx, key: k, now: s.now().UnixMicro()}
		err := p.find(ctx)
		if errors.Is(err, ragctx.ErrNotFound) && create {
			err = p.create(ctx)
		}
		if err != nil {
			return err
		}
		if err := fn(ctx, p); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE procedures SET updated = ? WHERE id = ?`, p.now, p.id); err != nil {
			return err
		}
		out, err = loadProcedure(ctx, tx, k)
		return err
	})
	s.procedures.Add(1)
	if err != nil {
		return ragctx.Procedure{}, failed(what, err)
	}
	return out, nil
}

func (p *procedure) find(ctx context.Context) error {
	err := p.tx.QueryRowContext(ctx, `SELECT p.id, p.versions, p.canonical, b.id FROM procedures p
		LEFT JOIN procedure_bodies b ON b.procedure = p.id AND b.version = 0
		WHERE p.namespace = ? AND p.name = ? AND p.user = ? AND p.agent = ?`,
		p.key.Namespace, p.key.Name, p.key.UserID, p.key.AgentID).Scan(&p.id, &p.versions, &p.canonical, &p.draft)
	if errors.Is(err, sql.ErrNoRows) {
		return procedureNotFound(p.key)
	}
	return err
}

func (p *procedure) create(ctx context.Context) error {
	return p.tx.QueryRowContext(ctx, `INSERT INTO procedures (namespace, name, user, agent, created, updated)
		VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
		p.key.Namespace, p.key.Name, p.key.UserID, p.key.AgentID, p.now, p.now).Scan(&p.id)
}

// record records an event; the procedure's canonical version is the one afterwards.
func (p *procedure) record(ctx context.Context, op ragctx.ChangeOp, before sql.NullInt64, by, turn string) error {
	_, err := p.tx.ExecContext(ctx, `INSERT INTO procedure_history (procedure, at, op, version, before, by, turn)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		p.id, p.now, op, p.canonical, before, by, turn)
	return err
}

// setCanonical sets or clears the canonical version.
func (p *procedure) setCanonical(ctx context.Context, version sql.NullInt64, op ragctx.ChangeOp) error {
	before := p.canonical
	p.canonical = version
	if _, err := p.tx.ExecContext(ctx, `UPDATE procedures SET canonical = ?, versions = ? WHERE id = ?`, version, p.versions,
		p.id); err != nil {
		return err
	}
	return p.record(ctx, op, before, ragctx.ByCaller, "")
}

// insertDraft stores a draft and replaces the previous one.
func (p *procedure) insertDraft(ctx context.Context, b ragctx.ProcedureBody, by string) error {
	trigger := b.Trigger
	b.Trigger = ""
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if _, err := p.tx.ExecContext(ctx, `UPDATE procedure_bodies SET version = -1 WHERE id = ?`, p.draft); err != nil {
		return err
	}
	var row int64
	err = p.tx.QueryRowContext(ctx, `INSERT INTO procedure_bodies (procedure, version, by, written, trigger, body)
		VALUES (?, 0, ?, ?, ?, ?) RETURNING id`,
		p.id, by, p.now, trigger, string(body)).Scan(&row)
	if err != nil {
		return err
	}
	return p.inheritSources(ctx, row)
}

// inheritSources copies the turns of the previous draft, otherwise of the canonical version, to a new
// draft: erasing a turn also erases the drafts derived from it. The previous draft is deleted.
func (p *procedure) inheritSources(ctx context.Context, row int64) error {
	if _, err := p.tx.ExecContext(ctx, `INSERT INTO procedure_sources (body, turn, words, confidence, at)
		SELECT ?1, s.turn, s.words, s.confidence, s.at
		FROM procedure_sources s JOIN procedure_bodies b ON b.id = s.body WHERE b.procedure = ?2 AND b.version = coalesce(
			(SELECT version FROM procedure_bodies WHERE procedure = ?2 AND version = -1), (SELECT canonical FROM procedures
			WHERE id = ?2))`, row, p.id); err != nil {
		return err
	}
	if _, err := p.tx.ExecContext(ctx, `DELETE FROM procedure_bodies WHERE procedure = ? AND version = -1`, p.id); err != nil {
		return err
	}
	p.draft = sql.NullInt64{Int64: row, Valid: true}
	return nil
}

// PutProcedureDraft implements [store.ProcedureWriter].
func (s *Store) PutProcedureDraft(ctx context.Context, k store.ProcedureKey, b ragctx.ProcedureBody) (ragctx.Procedure, error) {
	return s.changeProcedure(ctx, k, true, "store draft", func(ctx context.Context, p *procedure) error {
		if err := p.insertDraft(ctx, b, ragctx.ByCaller); err != nil {
			return err
		}
		return p.record(ctx, ragctx.OpDrafted, p.canonical, ragctx.ByCaller, "")
	})
}

// DeleteProcedureDraft implements [store.ProcedureWriter].
func (s *Store) DeleteProcedureDraft(ctx context.Context, k store.ProcedureKey) error {
	err := s.writeFreeing(ctx, k.Namespace, High, func(ctx context.Context, tx *Tx) error {
		p := &procedure{Store: s, tx: tx, key: k, now: s.now().UnixMicro()}
		if err := p.find(ctx); err != nil {
			return err
		}
		if !p.draft.Valid {
			return fmt.Errorf("draft of procedure %q: %w", k.Name, ragctx.ErrNotFound)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM procedure_bodies WHERE id = ?`, p.draft); err != nil {
			return err
		}
		if err := p.record(ctx, ragctx.OpDiscarded, p.canonical, ragctx.ByCaller, ""); err != nil {
			return err
		}
		_, err := dropEmpty(ctx, tx, p.id)
		return err
	})
	return failedIf("delete draft", err)
}

// dropEmpty deletes a procedure without versions and draft, and returns its name.
func dropEmpty(ctx context.Context, tx *Tx, id int64) (names []string, err error) {
	return Column[string](ctx, tx, `DELETE FROM procedures WHERE id = ?1 AND NOT EXISTS (SELECT 1
		FROM procedure_bodies WHERE procedure = ?1)
		RETURNING name`, id)
}

// PublishProcedure implements [store.ProcedureWriter].
func (s *Store) PublishProcedure(ctx context.Context, k store.ProcedureKey) (ragctx.Procedure, error) {
	return s.changeProcedure(ctx, k, false, "publish", func(ctx context.Context, p *procedure) error {
		if !p.draft.Valid {
			return procedureConflict(k, "there is no draft to publish; write one first")
		}
		if p.versions >= store.MaxProcedureVersions {
			return procedureConflict(k, "it has had %d versions, which is the limit; start over under another name", p.versions)
		}
		p.versions++
		if _, err := p.tx.ExecContext(ctx, `UPDATE procedure_bodies SET version = ?, published = ? WHERE id = ?`, p.versions,
			p.now, p.draft); err != nil {
			return err
		}
		return p.setCanonical(ctx, sql.NullInt64{Int64: int64(p.versions), Valid: true}, ragctx.OpPublished)
	})
}

// UnpublishProcedure implements [store.ProcedureWriter].
func (s *Store) UnpublishProcedure(ctx context.Context, k store.ProcedureKey) (ragctx.Procedure, error) {
	return s.changeProcedure(ctx, k, false, "unpublish", func(ctx context.Context, p *procedure) error {
		if !p.canonical.Valid {
			return procedureConflict(k, "it is not published")
		}
		return p.setCanonical(ctx, sql.NullInt64{}, ragctx.OpUnpublished)
	})
}

// RollbackProcedure implements [store.ProcedureWriter].
func (s *Store) RollbackProcedure(ctx context.Context, k store.ProcedureKey, version int) (ragctx.Procedure, error) {
	return s.changeProcedure(ctx, k, false, "roll back", func(ctx context.Context, p *procedure) error {
		var superseded bool
		err := p.tx.QueryRowContext(ctx, `SELECT superseded IS NOT NULL FROM procedure_bodies WHERE procedure = ?
			AND version = ? AND version > 0`, p.id, version).
			Scan(&superseded)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("procedure %q, version %d: %w", ragctx.Clip(k.Name), version, ragctx.ErrNotFound)
		case err != nil:
			return err
		case superseded:
			return procedureConflict(k, "version %d was superseded by a rollback; make a draft of it and publish that", version)
		case p.canonical.Valid && p.canonical.Int64 == int64(version):
			return procedureConflict(k, "version %d is the canonical one already", version)
		}
		if _, err := p.tx.ExecContext(ctx, `UPDATE procedure_bodies SET superseded = ? WHERE procedure = ? AND version > ?
			AND superseded IS NULL`,
			p.now, p.id, version); err != nil {
			return err
		}
		return p.setCanonical(ctx, sql.NullInt64{Int64: int64(version), Valid: true}, ragctx.OpRolledBack)
	})
}
