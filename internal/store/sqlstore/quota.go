package sqlstore

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// usage is the usage and the quotas of a namespace before a write.
type usage struct {
	ns     int64
	before store.Namespace
}

// usageOf reads the usage of a namespace in one look-up; triggers maintain the counts.
func usageOf(ctx context.Context, tx *Tx, ns int64) (usage, error) {
	n, err := scanNamespace(tx.QueryRowContext(ctx, `SELECT `+namespaceColumns+` FROM namespaces WHERE id = ?`, ns))
	return usage{ns, n}, err
}

// check returns an error if the write pushes the namespace over a quota. Excess from before the
// write is allowed as long as it does not grow.
func (r usage) check(ctx context.Context, tx *Tx) error {
	q := r.before.Quotas
	if q == (store.Quotas{}) {
		return nil
	}
	after, err := usageOf(ctx, tx, r.ns)
	if err != nil {
		return err
	}
	was, is := r.before, after.before
	for _, d := range []struct {
		was, is, most int64
		what          string
	}{
		{int64(was.Documents), int64(is.Documents), int64(q.Documents), "documents"},
		{int64(was.Memories), int64(is.Memories), int64(q.Memories), "memories"},
		{was.TextBytes, is.TextBytes, q.TextBytes, "bytes of text"},
	} {
		if d.most > 0 && d.is > d.most && d.is > d.was {
			return fmt.Errorf("%w: namespace %q may hold %d %s, holds %d and would hold %d; delete some, or have an admin raise the quota",
				ragctx.ErrQuota, ragctx.Clip(was.Name), d.most, d.what, d.was, d.is)
		}
	}
	return nil
}
