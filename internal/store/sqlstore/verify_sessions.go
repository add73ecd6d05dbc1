package sqlstore

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx/internal/store"
)

// verifySessions reads the messages of sessions in pages.
func (s *Store) verifySessions(ctx context.Context, o store.VerifyOptions, r *store.VerifyReport) error {
	const page = 500
	last, n := int64(0), page
	for n == page {
		err := s.view(ctx, func(tx *Tx) error {
			found, err := (&conversation{tx: tx}).rows(ctx, messagesAfter, last, page)
			for _, m := range found {
				if _, err := m.entry(); err != nil {
					AddFinding(o, r, store.Finding{
						Severity: store.Damage, Check: "session", Item: fmt.Sprintf("message %d", m.seq),
						Detail: "it cannot be read, and is left out of its session",
					})
				}
				last = m.seq
			}
			n = len(found)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
