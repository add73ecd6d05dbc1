package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// Memory is a [Storage] in memory. The zero value is empty; it may be used concurrently.
type Memory struct {
	opts     Options
	mu       sync.RWMutex
	sessions map[Key]*kept
}

// kept is a session with where its messages are.
type kept struct {
	Archive

	at map[string]int
}

var _ Storage = (*Memory)(nil)

// NewMemory returns an empty storage.
func NewMemory(o Options) *Memory { return &Memory{opts: o} }

// Create implements [Storage].
func (s *Memory) Create(ctx context.Context, k Key) error {
	return s.write(ctx, k, func(old *kept) error {
		if old != nil {
			return k.Taken()
		}
		s.put(k, Archive{CreatedAt: s.opts.Or().Now().UTC()})
		return nil
	})
}

// Has implements [Storage].
func (s *Memory) Has(ctx context.Context, k Key) (bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sessions[k] != nil, cmp.Or(ctx.Err(), k.Validate())
}

// Load implements [Storage].
func (s *Memory) Load(ctx context.Context, k Key) (out Store, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		out = one.Store()
		return nil
	})
	return out, err
}

// Save implements [Storage].
func (s *Memory) Save(ctx context.Context, k Key, store Store) (Result, error) {
	o := s.opts.Or()
	return o.Saved(k, func(started time.Time) (after Archive, added int, err error) {
		err = s.write(ctx, k, func(old *kept) error {
			before := Archive{CreatedAt: started}
			if old != nil {
				before = old.Archive
			}
			if after, added, err = before.Replaced(store, o); err == nil {
				s.put(k, after)
			}
			return err
		})
		return after, added, err
	})
}

// Delete implements [Storage].
func (s *Memory) Delete(ctx context.Context, k Key) error {
	return s.change(ctx, k, func(*kept) error {
		delete(s.sessions, k)
		return nil
	})
}

// Append implements [Storage].
func (s *Memory) Append(ctx context.Context, k Key, section string, messages ...ragctx.Message) (out []ragctx.Message, err error) {
	err = s.change(ctx, k, func(one *kept) error {
		if err := CheckName("section", section); err != nil {
			return err
		}
		if out, err = s.opts.Or().Adopt(messages, one.Leaf, one.has); err != nil || len(out) == 0 {
			return err
		}
		for _, m := range out {
			one.at[m.ID] = len(one.Entries)
			one.Entries = append(one.Entries, Entry{section, m})
		}
		if !slices.Contains(one.Sections, section) {
			one.Sections = append(one.Sections, section)
		}
		one.Leaf = out[len(out)-1].ID
		return nil
	})
	return out, err
}

// Get implements [Storage].
func (s *Memory) Get(ctx context.Context, k Key, id string) (out Entry, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		i, ok := one.at[id]
		if !ok {
			return NoMessage(id)
		}
		out = one.Entries[i]
		return nil
	})
	return out, err
}

// Section implements [Storage].
func (s *Memory) Section(ctx context.Context, k Key, name string, limit int) (out []ragctx.Message, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		for _, e := range slices.Backward(one.Entries) {
			if e.Section == name {
				out = append(out, e.Message)
			}
			if limit > 0 && len(out) == limit {
				break
			}
		}
		slices.Reverse(out)
		return nil
	})
	return out, err
}

// Leaf implements [Storage].
func (s *Memory) Leaf(ctx context.Context, k Key) (out string, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		out = one.Archive.Leaf
		return nil
	})
	return out, err
}

// Navigate implements [Storage].
func (s *Memory) Navigate(ctx context.Context, k Key, id string) error {
	return s.change(ctx, k, func(one *kept) error {
		if id != "" && !one.has(id) {
			return NoMessage(id)
		}
		one.Archive.Leaf = id
		return nil
	})
}

// Path implements [Storage].
func (s *Memory) Path(ctx context.Context, k Key, id string) (out []Entry, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		if id != "" && !one.has(id) {
			return NoMessage(id)
		}
		out = one.path(cmp.Or(id, one.Archive.Leaf), one.at)
		return nil
	})
	return out, err
}

// Fork implements [Storage].
func (s *Memory) Fork(ctx context.Context, k Key, id, to string) error {
	target := Key{k.Namespace, k.User, to}
	if err := target.Validate(); err != nil {
		return err
	}
	return s.change(ctx, k, func(one *kept) error {
		if s.sessions[target] != nil {
			return target.Taken()
		}
		fork, err := one.Fork(id)
		if err != nil {
			return err
		}
		fork.CreatedAt = s.opts.Or().Now().UTC()
		s.put(target, fork)
		return nil
	})
}

// Label implements [Storage].
func (s *Memory) Label(ctx context.Context, k Key, id, label string) error {
	return s.change(ctx, k, func(one *kept) error {
		if !one.has(id) {
			return NoMessage(id)
		}
		if err := CheckName("label", label); err != nil {
			return err
		}
		if one.Archive.Labels == nil {
			one.Archive.Labels = make(map[string]string)
		}
		if one.Archive.Labels[id] = label; label == "" {
			delete(one.Archive.Labels, id)
		}
		return nil
	})
}

// Labels implements [Storage].
func (s *Memory) Labels(ctx context.Context, k Key) (out map[string]string, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		out = maps.Clone(one.Archive.Labels)
		return nil
	})
	return out, err
}

// AddCompaction implements [Storage].
func (s *Memory) AddCompaction(ctx context.Context, k Key, c Compaction) (Compaction, error) {
	err := s.change(ctx, k, func(one *kept) (err error) {
		if c, err = s.opts.Or().Record(c, one.Archive.Compactions, one.has); err == nil {
			one.Archive.Compactions = append(one.Archive.Compactions, c)
		}
		return err
	})
	return c, err
}

// Compactions implements [Storage].
func (s *Memory) Compactions(ctx context.Context, k Key) (out []Compaction, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		out = slices.Clone(one.Archive.Compactions)
		return nil
	})
	return out, err
}

// UndoCompaction implements [Storage].
func (s *Memory) UndoCompaction(ctx context.Context, k Key) (out Compaction, err error) {
	err = s.change(ctx, k, func(one *kept) error {
		n := len(one.Archive.Compactions)
		if n == 0 {
			return fmt.Errorf("undo a compaction: the session has none: %w", ragctx.ErrNotFound)
		}
		out, one.Archive.Compactions = one.Archive.Compactions[n-1], slices.Clip(one.Archive.Compactions[:n-1])
		return nil
	})
	return out, err
}

// Export implements [Storage].
func (s *Memory) Export(ctx context.Context, k Key) (out Archive, err error) {
	err = s.read(ctx, k, func(one *kept) error {
		out = one.Archive.clone()
		out.ID = k.ID
		return nil
	})
	return out, err
}

// Import implements [Storage].
func (s *Memory) Import(ctx context.Context, k Key, a Archive) error {
	if err := a.Validate(); err != nil {
		return err
	}
	return s.write(ctx, k, func(old *kept) error {
		if old != nil {
			return k.Taken()
		}
		if a = a.clone(); a.CreatedAt.IsZero() {
			a.CreatedAt = s.opts.Or().Now().UTC()
		}
		s.put(k, a)
		return nil
	})
}

func (one *kept) has(id string) bool {
	_, ok := one.at[id]
	return ok
}

func (s *Memory) put(k Key, a Archive) {
	if s.sessions == nil {
		s.sessions = make(map[Key]*kept)
	}
	s.sessions[k] = &kept{a, a.index()}
}

// read calls f with a session while nobody changes it.
func (s *Memory) read(ctx context.Context, k Key, f func(*kept) error) error {
	if err := cmp.Or(ctx.Err(), k.Validate()); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	one := s.sessions[k]
	if one == nil {
		return k.Missing()
	}
	return f(one)
}

// change calls f with a session while nobody else sees it.
func (s *Memory) change(ctx context.Context, k Key, f func(*kept) error) error {
	return s.write(ctx, k, func(one *kept) error {
		if one == nil {
			return k.Missing()
		}
		return f(one)
	})
}

// write calls f with a session, or nil, while nobody else sees it.
func (s *Memory) write(ctx context.Context, k Key, f func(*kept) error) error {
	if err := cmp.Or(ctx.Err(), k.Validate()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.sessions[k])
}
