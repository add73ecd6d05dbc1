package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// pendingTurnsSQL lists the turns with pending deliveries, oldest first.
const pendingTurnsSQL = `SELECT u.turn, t.namespace, t.user, t.session FROM untold u JOIN turns t ON t.id = u.turn ORDER BY u.turn`

// PendingTurns implements [store.Turns].
func (s *Store) PendingTurns(ctx context.Context) (rows []int64, origins []store.TurnOrigin, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		found, err := tx.QueryContext(ctx, pendingTurnsSQL)
		if err != nil {
			return err
		}
		return Scan(found, func() error {
			var row int64
			var from store.TurnOrigin
			err := found.Scan(&row, &from.Namespace, &from.User, &from.Session)
			rows, origins = append(rows, row), append(origins, from)
			return err
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("find pending turns: %w", err)
	}
	return rows, origins, nil
}

// PendingTurn implements [store.Turns].
func (s *Store) PendingTurn(ctx context.Context, row int64) (u store.PendingTurn, ok bool, err error) {
	u.Row = row
	err = s.view(ctx, func(tx *Tx) error {
		var body, delivered string
		var recorded int64
		err := tx.QueryRowContext(ctx, `SELECT t.body, t.recorded, u.told, u.only, u.attempts, u.asked FROM untold u
			JOIN turns t ON t.id = u.turn WHERE u.turn = ?`, row).
			Scan(&body, &recorded, &delivered, &u.Only, &u.Attempts, &u.Requests)
		if err != nil {
			return err
		}
		u.Turn, u.Delivered = decode[ragctx.Turn](body), decode[[]string](delivered)
		if u.Turn.Occurred.IsZero() {
			u.Turn.Occurred = time.UnixMicro(recorded).UTC()
		}
		return nil
	})
	if errors.Is(err, sql.ErrNoRows) {
		return u, false, nil
	}
	if err != nil {
		return u, false, fmt.Errorf("read turn: %w", err)
	}
	return u, true, nil
}

// MarkDelivered implements [store.Turns].
func (s *Store) MarkDelivered(ctx context.Context, u store.PendingTurn, provider string) error {
	if slices.Contains(u.Delivered, provider) {
		return nil
	}
	return s.updateDelivery(ctx, `UPDATE untold SET told = json_insert(told, '$[#]', ?) WHERE turn = ?`, provider, u.Row)
}

// CountFailure implements [store.Turns].
func (s *Store) CountFailure(ctx context.Context, row int64) error {
	return s.updateDelivery(ctx, `UPDATE untold SET attempts = attempts + 1 WHERE turn = ?`, row)
}

// UncountFailure implements [store.Turns].
func (s *Store) UncountFailure(ctx context.Context, row int64) error {
	return s.updateDelivery(ctx, `UPDATE untold SET attempts = attempts - 1 WHERE turn = ? AND attempts > 0`, row)
}

// FinishTurns implements [store.Turns].
func (s *Store) FinishTurns(ctx context.Context, turns []store.PendingTurn) (pending bool, err error) {
	err = s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		pending = false
		for _, u := range turns {
			if _, err := tx.ExecContext(ctx, `DELETE FROM untold WHERE turn = ? AND asked = ?`, u.Row, u.Requests); err != nil {
				return err
			}
			var left bool
			if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM untold WHERE turn = ?)`, u.Row).Scan(&left); err != nil {
				return err
			}
			pending = pending || left
		}
		return nil
	})
	return pending, failedIf("record the delivery of a turn", err)
}

func (s *Store) updateDelivery(ctx context.Context, query string, args ...any) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
	return failedIf("record the delivery of a turn", err)
}
