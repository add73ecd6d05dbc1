package retrieve

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// emptyFeed is the feed of a store without contents.
type emptyFeed struct{}

func (emptyFeed) All(context.Context, func(index.Batch) error) error { return nil }

func (emptyFeed) Follow(context.Context, uint64, index.Want) (index.Batch, error) {
	return index.Batch{}, nil
}

// TestEachOpenIsNoUse looks at an index, which must not keep it from being idle.
func TestEachOpenIsNoUse(t *testing.T) {
	c := NewCollections(func(ctx context.Context, _ store.Collection) (index.Engine, error) {
		return index.Open(ctx, index.Options{
			Feed: emptyFeed{}, OpenWait: time.Millisecond,
			Keyword: func(context.Context) (index.KeywordIndex, error) { return nil, index.ErrClosed },
			Vector:  func(context.Context, index.Space) (index.VectorIndex, error) { return nil, index.ErrClosed },
		})
	}, func(context.Context, store.Collection) (uint64, error) { return 0, nil }, slog.New(slog.DiscardHandler))
	defer c.Close()
	id := store.Collection{Namespace: 1, Kind: store.KindDocuments}
	_, release, err := c.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	release()
	col := c.all[id]
	before, looked := col.used, 0
	c.EachOpen(func(store.Collection, index.Index) { looked++ })
	if looked != 1 || col.used != before || col.users != 0 {
		t.Errorf("saw %d; used then %v, now %v, by %d", looked, before, col.used, col.users)
	}
	c.retire(c.idle(before.Add(2 * idleAfter))...)
	if len(c.all) != 0 {
		t.Errorf("%d are open after they were not used", len(c.all))
	}
}
