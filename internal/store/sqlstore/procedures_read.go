package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Procedure implements [store.ProcedureReader].
func (s *Store) Procedure(ctx context.Context, k store.ProcedureKey) (p ragctx.Procedure, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		p, err = loadProcedure(ctx, tx, k)
		return err
	})
	if err != nil {
		return ragctx.Procedure{}, failed("read procedure", err)
	}
	return p, nil
}

func loadProcedure(ctx context.Context, tx *Tx, k store.ProcedureKey) (ragctx.Procedure, error) {
	p := ragctx.Procedure{Name: k.Name, ProcedureOwner: k.ProcedureOwner, Versions: []ragctx.ProcedureVersion{}}
	var id int64
	var canonical, created, updated sql.NullInt64
	err := tx.QueryRowContext(ctx, `SELECT p.id, n.name, p.canonical, p.created, p.updated FROM procedures p
		JOIN namespaces n ON n.id = p.namespace
		WHERE p.namespace = ? AND p.name = ? AND p.user = ? AND p.agent = ?`, k.Namespace, k.Name, k.UserID, k.AgentID).
		Scan(&id, &p.Namespace, &canonical, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return p, procedureNotFound(k)
	}
	if err != nil {
		return p, err
	}
	p.Canonical, p.Created, p.Updated = int(canonical.Int64), moment(created), moment(updated)
	sources, err := sourcesOf(ctx, tx, id)
	if err != nil {
		return p, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT id, version, by, written, published, superseded, trigger, body FROM procedure_bodies
		WHERE procedure = ? ORDER BY version DESC`, id)
	if err != nil {
		return p, err
	}
	return p, Scan(rows, func() error {
		row, v, err := scanVersion(rows)
		v.Sources = sources[row]
		if v.Number == 0 {
			p.Draft = &v
			return err
		}
		v.Canonical = v.Number == p.Canonical
		p.Versions = append(p.Versions, v)
		return err
	})
}

// withLists returns b with empty lists in place of nil ones.
func withLists(b ragctx.ProcedureBody) ragctx.ProcedureBody {
	for _, list := range []*[]string{&b.Steps, &b.Tools, &b.Pitfalls, &b.Verification} {
		if *list == nil {
			*list = []string{}
		}
	}
	return b
}

func scanVersion(rows *sql.Rows) (row int64, v ragctx.ProcedureVersion, err error) {
	var written, published, superseded sql.NullInt64
	var trigger, body string
	err = rows.Scan(&row, &v.Number, &v.By, &written, &published, &superseded, &trigger, &body)
	v.ProcedureBody = withLists(decode[ragctx.ProcedureBody](body))
	v.Trigger = trigger
	v.Written, v.Published, v.Superseded = moment(written), moment(published), moment(superseded)
	switch {
	case v.Number == 0:
		v.State = ragctx.ProcedureDraft
	case superseded.Valid:
		v.State = ragctx.ProcedureSuperseded
	default:
		v.State = ragctx.ProcedurePublished
	}
	return row, v, err
}

// sourcesOf returns the turns of a procedure's versions, by row.
func sourcesOf(ctx context.Context, tx *Tx, id int64) (map[int64][]ragctx.ProcedureRun, error) {
	out := make(map[int64][]ragctx.ProcedureRun)
	rows, err := tx.QueryContext(ctx, `SELECT s.body, s.turn, s.words, s.confidence, s.at FROM procedure_sources s
		JOIN procedure_bodies b ON b.id = s.body WHERE b.procedure = ? ORDER BY s.words DESC, s.at, s.turn`, id)
	if err != nil {
		return nil, err
	}
	return out, Scan(rows, func() error {
		var row int64
		var at sql.NullInt64
		var e ragctx.ProcedureRun
		err := rows.Scan(&row, &e.Turn, &e.Words, &e.Confidence, &at)
		e.At = moment(at)
		out[row] = append(out[row], e)
		return err
	})
}

// ProcedureHistory implements [store.ProcedureReader].
func (s *Store) ProcedureHistory(ctx context.Context, k store.ProcedureKey) ([]ragctx.ProcedureChange, error) {
	out := []ragctx.ProcedureChange{}
	err := s.view(ctx, func(tx *Tx) error {
		p := &procedure{tx: tx, key: k}
		if err := p.find(ctx); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT at, op, coalesce(version, 0), coalesce(before, 0), by, turn FROM procedure_history
			WHERE procedure = ? ORDER BY id`, p.id)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var c ragctx.ProcedureChange
			var at sql.NullInt64
			err := rows.Scan(&at, &c.Op, &c.Version, &c.Before, &c.By, &c.Turn)
			c.At = moment(at)
			out = append(out, c)
			return err
		})
	})
	if err != nil {
		return nil, failed("read history", err)
	}
	return out, nil
}

// ListProcedures implements [store.ProcedureReader].
func (s *Store) ListProcedures(ctx context.Context, ns int64, f store.ProcedureFilter) ([]ragctx.ProcedureEntry, error) {
	c := conditions{sql: `p.namespace = ?`, args: []any{ns}}
	if !f.AnyUser {
		c.and(`p.user IN ('', ?)`, f.UserID)
	}
	if f.AgentID != "" {
		c.and(`p.agent IN ('', ?)`, f.AgentID)
	}
	switch f.State {
	case ragctx.ProcedureDraft:
		c.and(`d.id IS NOT NULL`)
	case ragctx.ProcedurePublished:
		c.and(`p.canonical IS NOT NULL`)
	default:
	}
	if f.After.Name != "" {
		c.and(`(p.name, p.user, p.agent) > (?, ?, ?)`, f.After.Name, f.After.UserID, f.After.AgentID)
	}
	limit := f.Limit
	if limit == 0 {
		limit = noLimit
	}
	out := []ragctx.ProcedureEntry{}
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT p.name, p.user, p.agent, coalesce(v.trigger, d.trigger, l.trigger, ''), d.id IS NOT NULL,
				coalesce(p.canonical, 0), p.versions, p.updated,
				(SELECT count(DISTINCT s.turn) FROM procedure_bodies b JOIN procedure_sources s ON s.body = b.id WHERE b.procedure = p.id)
			FROM procedures p
			LEFT JOIN procedure_bodies d ON d.procedure = p.id AND d.version = 0
			LEFT JOIN procedure_bodies v ON v.procedure = p.id AND v.version = p.canonical
			LEFT JOIN procedure_bodies l ON l.procedure = p.id AND l.version = p.versions
			WHERE `+c.sql+` ORDER BY p.name, p.user, p.agent LIMIT ?`, append(c.args, limit)...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var l ragctx.ProcedureEntry
			var updated sql.NullInt64
			err := rows.Scan(&l.Name, &l.UserID, &l.AgentID, &l.Trigger, &l.Draft, &l.Canonical, &l.Versions, &updated, &l.Turns)
			l.Updated = moment(updated)
			out = append(out, l)
			return err
		})
	})
	if err != nil {
		return nil, failed("list procedures", err)
	}
	return out, nil
}

// Skills implements [store.ProcedureReader].
func (s *Store) Skills(ctx context.Context, ns int64, asOf time.Time) ([]store.PublishedTrigger, error) {
	canonical, args := `p.canonical`, []any{}
	if !asOf.IsZero() {
		canonical = `(SELECT h.version FROM procedure_history h WHERE h.procedure = p.id AND h.at <= ? ORDER BY h.id DESC LIMIT 1)`
		args = append(args, asOf.UnixMicro())
	}
	var out []store.PublishedTrigger
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT p.name, p.user, p.agent, b.version, b.trigger, b.published FROM procedures p
			JOIN procedure_bodies b ON b.procedure = p.id AND b.version = `+canonical+` AND b.version > 0
			WHERE p.namespace = ? ORDER BY p.name, p.user, p.agent`, append(args, ns)...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var p store.PublishedTrigger
			var published sql.NullInt64
			err := rows.Scan(&p.Name, &p.UserID, &p.AgentID, &p.Version, &p.Trigger, &published)
			p.Published = moment(published)
			out = append(out, p)
			return err
		})
	})
	if err != nil {
		return nil, failed("read skills", err)
	}
	return slices.Clip(out), nil
}

// ProceduresState implements [store.ProcedureReader].
func (s *Store) ProceduresState() uint64 { return s.procedures.Load() }

// ProcedureVersion implements [store.ProcedureReader].
func (s *Store) ProcedureVersion(ctx context.Context, k store.ProcedureKey, number int) (ragctx.ProcedureVersion, error) {
	p, err := s.Procedure(ctx, k)
	if err != nil {
		return ragctx.ProcedureVersion{}, err
	}
	v, ok := p.Version(number)
	if !ok {
		return v, procedureNotFound(k)
	}
	return v, nil
}
