package sqlstore

import (
	"context"
	"testing"
)

// OpenFile opens a store in a new file. The tests outside this package set it: package sqlite imports this
// one.
var OpenFile func(testing.TB, Options) *Store

// DeleteHidden deletes an item like a garbage collector that found it hidden before.
func (s *Store) DeleteHidden(ctx context.Context, id uint64) error {
	return s.write.do(ctx, Low, func(ctx context.Context, tx *Tx) error {
		_, err := deleteHidden(ctx, tx, int64(id), func(int) bool { return false }) //nolint:gosec // row ids fit
		return err
	})
}
