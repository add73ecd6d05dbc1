package retrieve

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// Rankings caches the rankings of collections, loaded from the store on first use.
type Rankings struct {
	store   store.Settings
	loading sync.Mutex // held during store access; locked before mu

	mu     sync.Mutex // guards cached; every search locks it, so it is held only for a map access
	cached map[store.Collection]index.Ranking

	version atomic.Uint64 // number of calls of Set
}

// Get returns the ranking of a collection; the zero ranking stands for the options of the engine.
func (r *Rankings) Get(ctx context.Context, id store.Collection) (index.Ranking, error) {
	if found, ok := r.lookup(id); ok {
		return found, nil
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	if found, ok := r.lookup(id); ok {
		return found, nil
	}
	var found index.Ranking
	value, err := r.store.Setting(ctx, rankingSetting(id))
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

func (r *Rankings) lookup(id store.Collection) (found index.Ranking, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok = r.cached[id]
	return found, ok
}

// Set stores the ranking of a collection.
func (r *Rankings) Set(ctx context.Context, id store.Collection, to index.Ranking) error {
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
	if err := r.store.SetSetting(ctx, rankingSetting(id), value); err != nil {
		return err
	}
	r.cache(id, to)
	r.version.Add(1)
	return nil
}

func (r *Rankings) cache(id store.Collection, ranking index.Ranking) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cached == nil {
		r.cached = make(map[store.Collection]index.Ranking)
	}
	r.cached[id] = ranking
}

// Forget drops the cached rankings, which another process may have changed.
func (r *Rankings) Forget() {
	r.loading.Lock() // what is being read may be old
	defer r.loading.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cached = nil
	r.version.Add(1)
}

// Version changes with every call of Set and Forget.
func (r *Rankings) Version() uint64 { return r.version.Load() }

func rankingSetting(id store.Collection) string {
	return fmt.Sprintf("ranking/%d/%s", id.Namespace, id.Kind)
}
