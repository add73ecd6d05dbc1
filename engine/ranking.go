package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// Ranking returns the ranking of a kind of item of a namespace, where it differs from the engine's
// options. A namespace that does not exist has the zero ranking.
func (e Indexes) Ranking(ctx context.Context, namespace string, k store.Kind) (index.Ranking, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return index.Ranking{}, nil
	}
	if err != nil {
		return index.Ranking{}, err
	}
	return e.rankings.get(ctx, e.store, store.Collection{Namespace: ns, Kind: k})
}

// SetRanking changes the ranking of a kind of item of a namespace, effective with the next query.
// The zero ranking restores the engine's options. It creates the namespace if necessary.
func (e Indexes) SetRanking(ctx context.Context, namespace string, k store.Kind, r index.Ranking) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if err := canModifyShared(ctx); err != nil {
		return err
	}
	ns, err := e.namespace(ctx, namespace, true)
	if err != nil {
		return err
	}
	return e.rankings.set(ctx, e.store, store.Collection{Namespace: ns, Kind: k}, r)
}

// rankings caches the rankings of collections, loaded from the store on first use.
type rankings struct {
	loading sync.Mutex // held during store access; locked before mu

	mu     sync.Mutex // guards of; every search locks it, so it is held only for a map access
	cached map[store.Collection]index.Ranking

	version atomic.Uint64 // number of calls of set
}

func (r *rankings) get(ctx context.Context, s store.Settings, id store.Collection) (index.Ranking, error) {
	if found, ok := r.lookup(id); ok {
		return found, nil
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	if found, ok := r.lookup(id); ok {
		return found, nil
	}
	var found index.Ranking
	value, err := s.Setting(ctx, rankingSetting(id))
	if err != nil {
		return found, err
	}
	if value != "" {
		if err := json.Unmarshal([]byte(value), &found); err != nil {
			return found, fmt.Errorf("ranking of %s %d: %w", id.Kind, id.Namespace, err)
		}
	}
	r.cache(id, found)
	return found, nil
}

func (r *rankings) lookup(id store.Collection) (found index.Ranking, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok = r.cached[id]
	return found, ok
}

func (r *rankings) set(ctx context.Context, s store.Settings, id store.Collection, to index.Ranking) error {
	value := "" // unset
	if to != (index.Ranking{}) {
		b, err := json.Marshal(to)
		if err != nil {
			return fmt.Errorf("ranking: %w", err)
		}
		value = string(b)
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	if err := s.SetSetting(ctx, rankingSetting(id), value); err != nil {
		return err
	}
	r.cache(id, to)
	r.version.Add(1)
	return nil
}

func (r *rankings) cache(id store.Collection, ranking index.Ranking) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cached == nil {
		r.cached = make(map[store.Collection]index.Ranking)
	}
	r.cached[id] = ranking
}

func rankingSetting(id store.Collection) string {
	return fmt.Sprintf("ranking/%d/%s", id.Namespace, id.Kind)
}
