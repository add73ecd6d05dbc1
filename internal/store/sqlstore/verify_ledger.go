package sqlstore

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx/internal/store"
)

// verifyLedgers reads the messages of ledgers in pages: their JSON must be valid and their
// timestamps must increase.
func (s *Store) verifyLedgers(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	const page = 1000
	newest := make(map[int64]int64) // timestamps by ledger
	last := int64(0)
	for n := page; n == page; {
		n = 0
		err := s.view(ctx, func(tx *Tx) error {
			rows, err := tx.QueryContext(ctx, `SELECT seq, ledger, at, length(id), coalesce(json_valid(data), true),
				coalesce(json_valid(metadata), true)
				FROM ledger_messages WHERE seq > ? ORDER BY seq LIMIT ?`, last, page)
			if err != nil {
				return err
			}
			return Scan(rows, func() error {
				var ledger, at int64
				var id int
				var data, metadata bool
				if err := rows.Scan(&last, &ledger, &at, &id, &data, &metadata); err != nil {
					return err
				}
				n++
				for _, c := range []struct {
					bad  bool
					what string
				}{
					{at <= newest[ledger], "its timestamp is not after the previous message's"},
					{id != 16, "its id is damaged"},
					{!data, "its data is damaged, and read as null"},
					{!metadata, "its metadata is damaged, and read as null"},
				} {
					if c.bad {
						AddFinding(o, r, store.Finding{
							Severity: store.Damage, Check: "ledger",
							Item: fmt.Sprintf("message %d", last), Detail: c.what,
						})
					}
				}
				newest[ledger] = at
				return nil
			})
		})
		if err != nil {
			return err
		}
		r.Messages += n
	}
	return nil
}
