package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// sessionsQuery returns the SQL of a page and its arguments.
func sessionsQuery(f store.SessionFilter, ns int64) (string, []any) {
	c := conditions{sql: `namespace = ?`, args: []any{ns}}
	if !f.AnyUser {
		c.and(`user = ?`, f.User)
	}
	if f.Before != 0 {
		c.and(`id < ?`, f.Before)
	}
	return `SELECT id, name, user, created, updated, version, salt, leaf, messages, bytes, parameters FROM sessions
		WHERE erased = 0 AND ` + c.sql + ` ORDER BY id DESC LIMIT ?`, append(c.args, f.Limit)
}

// List implements [store.Sessions].
func (s *Sessions) List(ctx context.Context, namespace string, f store.SessionFilter) (list []store.ListedSession,
	next int64, err error,
) {
	ns, err := s.store.Namespace(ctx, namespace, false)
	if errors.Is(err, ragctx.ErrNotFound) {
		return nil, 0, nil
	}
	if err == nil {
		limit := f.Limit
		f.Limit++
		err = s.store.view(ctx, func(tx *Tx) error {
			query, args := sessionsQuery(f, ns)
			rows, err := tx.QueryContext(ctx, query, args...)
			if err != nil {
				return err
			}
			return Scan(rows, func() error {
				one, err := scanListed(rows)
				list = append(list, one)
				return err
			})
		})
		if err == nil && len(list) > limit {
			list = list[:limit]
			next = list[limit-1].Version.Session
		}
	}
	return list, next, failedIf("list sessions", err)
}

func scanListed(rows *sql.Rows) (out store.ListedSession, err error) {
	var created, parameters string
	var updated int64
	err = rows.Scan(&out.Version.Session, &out.ID, &out.User, &created, &updated, &out.Version.Changes, &out.Version.Salt,
		&out.Leaf, &out.Messages, &out.Bytes, &parameters)
	out.CreatedAt, out.UpdatedAt, out.Parameters = parseTime(created), time.Unix(0, updated).UTC(), decodeValues(parameters)
	return out, err
}
