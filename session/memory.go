package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// Memory is a [Storage] in memory. The zero value is empty; it is safe for concurrent use.
type Memory struct {
	opts     Options
	mu       sync.RWMutex
	sessions map[Key]*memorySession
	created  int64 // number of sessions created so far
}

// memorySession is a stored session with an index of its messages.
type memorySession struct {
	Archive

	at      map[string]int
	size    Size
	version Version
	request string // the request that created it
	updated time.Time
}

var _ Storage = (*Memory)(nil)

// NewMemory returns an empty storage.
func NewMemory(o Options) *Memory { return &Memory{opts: o} }

// Create implements [Storage].
func (s *Memory) Create(ctx context.Context, k Key) error {
	return s.write(ctx, k, func(old *memorySession) error {
		if old != nil {
			return old.checkRequest(ctx, k)
		}
		return s.put(ctx, k, Archive{CreatedAt: s.opts.WithDefaults().Now().UTC()})
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
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = sess.Store()
		return nil
	})
	return out, err
}

// Save implements [Storage].
func (s *Memory) Save(ctx context.Context, k Key, store Store) (Result, error) {
	return s.save(ctx, k, nil, store)
}

// Replace implements [Storage].
func (s *Memory) Replace(ctx context.Context, k Key, at Version, store Store) (Result, error) {
	return s.save(ctx, k, &at, store)
}

// save stores a session. If at is not nil, it only replaces a session at that version.
func (s *Memory) save(ctx context.Context, k Key, at *Version, store Store) (Result, error) {
	o := s.opts.WithDefaults()
	return o.RunSave(k, func(started time.Time) (after Archive, added int, err error) {
		err = s.write(ctx, k, func(old *memorySession) error {
			before := Archive{CreatedAt: started}
			if err := old.checkCondition(ctx, k); err != nil {
				return err
			}
			switch {
			case old == nil && at != nil:
				return k.NotFoundError()
			case old != nil && at != nil && old.version != *at:
				return k.ChangedError()
			case old != nil:
				before = old.Archive
			}
			if after, added, err = before.Replaced(ctx, store, o); err != nil {
				return err
			}
			return s.put(ctx, k, after)
		})
		return after, added, err
	})
}

// Delete implements [Storage].
func (s *Memory) Delete(ctx context.Context, k Key) error {
	return s.change(ctx, k, func(*memorySession) error {
		delete(s.sessions, k)
		return nil
	})
}

// Version implements [Storage].
func (s *Memory) Version(ctx context.Context, k Key) (out Version, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = sess.version
		return nil
	})
	return out, err
}

// Info implements [Storage].
func (s *Memory) Info(ctx context.Context, k Key) (out Info, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = sess.info()
		out.ID, out.Version, out.UpdatedAt = k.ID, sess.version, sess.updated
		return nil
	})
	return out, err
}

// info returns the description of an archived session.
func (a Archive) info() Info {
	out := Info{
		CreatedAt: a.CreatedAt, Leaf: a.Leaf, Sections: []SectionInfo{}, Parameters: maps.Clone(a.Parameters),
		Labels: len(a.Labels), Compactions: len(a.Compactions),
	}
	size, _ := Size{}.Add(a.Entries) // checked on writing
	out.Messages, out.Bytes = size.Messages, size.Bytes
	count, parents := make(map[string]int), make(map[string]bool)
	for _, e := range a.Entries {
		count[e.Section]++
		parents[e.Message.ParentID] = true
	}
	for _, name := range a.Sections {
		out.Sections = append(out.Sections, SectionInfo{name, count[name]})
	}
	for _, e := range a.Entries {
		if !parents[e.Message.ID] {
			out.Branches++
		}
	}
	return out
}

// Annotate implements [Storage].
func (s *Memory) Annotate(ctx context.Context, k Key, parameters map[string]any) error {
	return s.change(ctx, k, func(sess *memorySession) error {
		all, err := MergeParameters(sess.Parameters, parameters)
		if err == nil {
			sess.Parameters = all
		}
		return err
	})
}

// Append implements [Storage].
func (s *Memory) Append(ctx context.Context, k Key, section string, messages ...ragctx.Message) (out []ragctx.Message, err error) {
	err = s.change(ctx, k, func(sess *memorySession) error {
		if err := CheckName("section", section); err != nil {
			return err
		}
		if out, err = s.opts.WithDefaults().Prepare(messages, sess.Leaf, sess.has); err != nil || len(out) == 0 {
			return err
		}
		entries := EntriesOf(section, out)
		size, err := sess.size.Add(entries)
		if err != nil {
			return err
		}
		if !slices.Contains(sess.Sections, section) {
			if err := CheckSections(len(sess.Sections) + 1); err != nil {
				return err
			}
			sess.Sections = append(sess.Sections, section)
		}
		for _, e := range entries {
			sess.at[e.Message.ID] = len(sess.Entries)
			sess.Entries = append(sess.Entries, e)
		}
		sess.size = size
		sess.Leaf = out[len(out)-1].ID
		return nil
	})
	return out, err
}

// Get implements [Storage].
func (s *Memory) Get(ctx context.Context, k Key, id string) (out Entry, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		i, ok := sess.at[id]
		if !ok {
			return MessageNotFound(id)
		}
		out = sess.Entries[i]
		return nil
	})
	return out, err
}

// Section implements [Storage].
func (s *Memory) Section(ctx context.Context, k Key, name string, limit int) (out []ragctx.Message, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		for _, e := range slices.Backward(sess.Entries) {
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
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = sess.Archive.Leaf
		return nil
	})
	return out, err
}

// Navigate implements [Storage].
func (s *Memory) Navigate(ctx context.Context, k Key, id string) error {
	return s.change(ctx, k, func(sess *memorySession) error {
		if id != "" && !sess.has(id) {
			return MessageNotFound(id)
		}
		sess.Archive.Leaf = id
		return nil
	})
}

// Path implements [Storage].
func (s *Memory) Path(ctx context.Context, k Key, id string) (out []Entry, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		if id != "" && !sess.has(id) {
			return MessageNotFound(id)
		}
		out = sess.path(cmp.Or(id, sess.Archive.Leaf), sess.at)
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
	return s.write(ctx, k, func(sess *memorySession) error {
		there := s.sessions[target]
		if there != nil && there.checkRequest(ctx, target) == nil {
			return nil
		}
		if err := sess.checkCondition(ctx, k); err != nil {
			return err
		}
		if sess == nil {
			return k.NotFoundError()
		}
		if there != nil {
			return target.ExistsError()
		}
		fork, err := sess.Fork(ctx, id)
		if err != nil {
			return err
		}
		fork.CreatedAt = s.opts.WithDefaults().Now().UTC()
		return s.put(ctx, target, fork)
	})
}

// Label implements [Storage].
func (s *Memory) Label(ctx context.Context, k Key, id, label string) error {
	return s.change(ctx, k, func(sess *memorySession) error {
		if !sess.has(id) {
			return MessageNotFound(id)
		}
		if err := CheckName("label", label); err != nil {
			return err
		}
		if sess.Archive.Labels == nil {
			sess.Archive.Labels = make(map[string]string)
		}
		if sess.Archive.Labels[id] = label; label == "" {
			delete(sess.Archive.Labels, id)
		}
		return nil
	})
}

// Labels implements [Storage].
func (s *Memory) Labels(ctx context.Context, k Key) (out map[string]string, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = maps.Clone(sess.Archive.Labels)
		return nil
	})
	return out, err
}

// AddCompaction implements [Storage].
func (s *Memory) AddCompaction(ctx context.Context, k Key, c Compaction, superseded ...string) (Compaction, error) {
	err := s.change(ctx, k, func(sess *memorySession) (err error) {
		left := slices.DeleteFunc(slices.Clone(sess.Archive.Compactions),
			func(c Compaction) bool { return slices.Contains(superseded, c.ID) })
		have, taken := compactionSize(left)
		if c, err = s.opts.WithDefaults().PrepareCompaction(c, have, taken, sess.has); err == nil {
			left = append(left, c)
			sess.Archive.Compactions = left
		}
		return err
	})
	return c, err
}

// Compactions implements [Storage].
func (s *Memory) Compactions(ctx context.Context, k Key) (out []Compaction, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = slices.Clone(sess.Archive.Compactions)
		return nil
	})
	return out, err
}

// UndoCompaction implements [Storage].
func (s *Memory) UndoCompaction(ctx context.Context, k Key) (out Compaction, err error) {
	err = s.change(ctx, k, func(sess *memorySession) error {
		n := len(sess.Archive.Compactions)
		if n == 0 {
			return fmt.Errorf("undo a compaction: the session has no compactions: %w", ragctx.ErrNotFound)
		}
		out, sess.Archive.Compactions = sess.Archive.Compactions[n-1], slices.Clip(sess.Archive.Compactions[:n-1])
		return nil
	})
	return out, err
}

// Export implements [Storage].
func (s *Memory) Export(ctx context.Context, k Key) (out Archive, err error) {
	err = s.read(ctx, k, func(sess *memorySession) error {
		out = sess.Archive.clone()
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
	return s.write(ctx, k, func(old *memorySession) error {
		if old != nil {
			return old.checkRequest(ctx, k)
		}
		if a = a.clone(); a.CreatedAt.IsZero() {
			a.CreatedAt = s.opts.WithDefaults().Now().UTC()
		}
		return s.put(ctx, k, a)
	})
}

func (sess *memorySession) has(id string) bool {
	_, ok := sess.at[id]
	return ok
}

func (s *Memory) put(ctx context.Context, k Key, a Archive) error {
	size, err := a.CheckSize()
	if err != nil {
		return err
	}
	if s.sessions == nil {
		s.sessions = make(map[Key]*memorySession)
	}
	sess := s.sessions[k]
	if sess == nil {
		s.created++
		sess = &memorySession{version: Version{Session: s.created, Salt: rand.Text()}, request: RequestIDOf(ctx)}
		s.sessions[k] = sess
	}
	sess.Archive, sess.at, sess.size = a, a.index(), size
	s.changed(ctx, sess)
	return nil
}

// checkRequest returns nil if the session was created by the request of ctx, and otherwise an error
// that it exists.
func (sess *memorySession) checkRequest(ctx context.Context, k Key) error {
	if request := RequestIDOf(ctx); request != "" && request == sess.request {
		sess.version.Report(ctx)
		return nil
	}
	return k.ExistsError()
}

// checkCondition checks the condition of ctx; a nil session does not exist.
func (sess *memorySession) checkCondition(ctx context.Context, k Key) error {
	if sess == nil {
		return ConditionOf(ctx).Check(k, nil)
	}
	return ConditionOf(ctx).Check(k, &sess.version)
}

// changed advances the version after a change.
func (s *Memory) changed(ctx context.Context, sess *memorySession) {
	sess.version, sess.updated = sess.version.Next(), s.opts.WithDefaults().Now().UTC()
	sess.version.Report(ctx)
}

// read calls f with a session under the read lock.
func (s *Memory) read(ctx context.Context, k Key, f func(*memorySession) error) error {
	if err := cmp.Or(ctx.Err(), k.Validate()); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	sess := s.sessions[k]
	if sess == nil {
		return k.NotFoundError()
	}
	return f(sess)
}

// change calls f with a session under the write lock.
func (s *Memory) change(ctx context.Context, k Key, f func(*memorySession) error) error {
	return s.write(ctx, k, func(sess *memorySession) error {
		if err := sess.checkCondition(ctx, k); err != nil {
			return err
		}
		if sess == nil {
			return k.NotFoundError()
		}
		err := f(sess)
		if err == nil {
			s.changed(ctx, sess)
		}
		return err
	})
}

// write calls f with a session, or nil, under the write lock.
func (s *Memory) write(ctx context.Context, k Key, f func(*memorySession) error) error {
	if err := cmp.Or(ctx.Err(), k.Validate()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.sessions[k])
}
