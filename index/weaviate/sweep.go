package weaviate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx/index"
)

var (
	_ index.Remote = (*keywordIndex)(nil)
	_ index.Remote = (*vectorIndex)(nil)
)

const (
	// sweepInterval is the rest between two comparisons of an index with the store.
	sweepInterval = 10 * time.Minute
	// sweepBatch is the number of ids that are read in one request. The server reads the whole objects.
	sweepBatch = 1000
)

// Stored implements [index.Remote]. A node that has a copy answers from it, so each endpoint is asked. It continues with the others if
// one does not answer.
func (t *tenant) Stored(ctx context.Context, visit func(chunks []uint64) error) error {
	if t.closed.Load() {
		return index.ErrClosed
	}
	if t.follows() {
		return nil
	}
	var errs []error
	for at := range t.hosts {
		errs = append(errs, t.storedAt(ctx, at, visit))
	}
	return errors.Join(errs...)
}

// storedAt passes the chunks that an endpoint has.
func (t *tenant) storedAt(ctx context.Context, at int, visit func(chunks []uint64) error) error {
	for after := ""; ; {
		text := fmt.Sprintf("{Get{%s(tenant:%q,limit:%d,after:%q){_additional{id}}}}", t.class, t.name, sweepBatch, after)
		var page struct {
			Get map[string][]struct {
				Additional hit `json:"_additional"`
			}
		}
		if err := t.queryAt(ctx, at, text, &page); err != nil {
			return err
		}
		rows := page.Get[t.class]
		chunks := make([]uint64, 0, len(rows))
		for _, row := range rows {
			if after = row.Additional.ID; after == stateID {
				continue
			}
			if id, err := chunkOf(after); err == nil {
				chunks = append(chunks, id)
			}
		}
		if err := visit(chunks); err != nil {
			return err
		}
		if len(rows) < sweepBatch {
			return nil
		}
	}
}

// Purge implements [index.Remote].
func (t *tenant) Purge(ctx context.Context, chunks []uint64) error {
	if t.closed.Load() {
		return index.ErrClosed
	}
	t.stale.Store(true)
	return t.remove(ctx, "ALL", chunks)
}
