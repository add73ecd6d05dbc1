package session

import (
	"cmp"
	"context"
	"crypto/rand"
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
func (s *Memory) Create(ctx context.Context, k Key, a Archive, request string) (out Version, err error) {
	if err := a.Validate(); err != nil {
		return out, err
	}
	err = s.write(ctx, k, func(old *memorySession) error {
		out, err = s.create(k, a, request, old)
		return err
	})
	return out, err
}

// create stores a new session, unless old was created by the same request.
func (s *Memory) create(k Key, a Archive, request string, old *memorySession) (Version, error) {
	switch {
	case old != nil && request != "" && old.request == request:
		return old.version, nil
	case old != nil:
		return Version{}, k.ExistsError()
	}
	size, err := a.CheckSize()
	if err != nil {
		return Version{}, err
	}
	if a = a.clone(); a.CreatedAt.IsZero() {
		a.CreatedAt = s.opts.WithDefaults().Now().UTC()
	}
	if s.sessions == nil {
		s.sessions = make(map[Key]*memorySession)
	}
	s.created++
	sess := &memorySession{version: Version{Session: s.created, Salt: rand.Text()}, request: request}
	sess.set(a, size)
	s.sessions[k] = sess
	return s.changed(sess), nil
}

// set sets the contents of a session.
func (sess *memorySession) set(a Archive, size Size) {
	sess.Archive, sess.at, sess.size = a, a.index(), size
}

// Fork implements [Storage].
func (s *Memory) Fork(ctx context.Context, k Key, f Fork, when Condition) (out Version, err error) {
	target := Key{k.Namespace, k.User, f.ID}
	if err := target.Validate(); err != nil {
		return out, err
	}
	err = s.write(ctx, k, func(sess *memorySession) (err error) {
		there := s.sessions[target]
		if there != nil && f.Request != "" && there.request == f.Request {
			out = there.version
			return nil
		}
		if err := sess.check(k, when); err != nil {
			return err
		}
		if there != nil {
			return target.ExistsError()
		}
		fork, err := sess.Archive.Fork(ctx, f.Leaf)
		if err == nil {
			out, err = s.create(target, fork, f.Request, nil)
		}
		return err
	})
	return out, err
}

// Replace implements [Storage].
func (s *Memory) Replace(ctx context.Context, k Key, at Version, a Archive) (Version, error) {
	if err := a.Validate(); err != nil {
		return Version{}, err
	}
	return s.change(ctx, k, Condition{}, func(sess *memorySession) error {
		if sess.version != at {
			return k.ChangedError()
		}
		size, err := a.CheckSize()
		if err == nil {
			a = a.clone()
			a.CreatedAt = sess.CreatedAt
			sess.set(a, size)
		}
		return err
	})
}

// Delete implements [Storage].
func (s *Memory) Delete(ctx context.Context, k Key, when Condition) error {
	_, err := s.change(ctx, k, when, func(*memorySession) error {
		delete(s.sessions, k)
		return nil
	})
	return err
}

// Read implements [Storage].
func (s *Memory) Read(ctx context.Context, k Key, q Query) (out Archive, at Version, err error) {
	err = s.read(ctx, k, func(sess *memorySession) (err error) {
		out, err = sess.selected(q)
		at = sess.version
		return err
	})
	return out, at, err
}

// selected returns the parts of a session that a query selects.
func (sess *memorySession) selected(q Query) (Archive, error) {
	out := Archive{CreatedAt: sess.CreatedAt, Leaf: sess.Leaf, Parameters: maps.Clone(sess.Parameters)}
	if q.Labels {
		out.Labels = maps.Clone(sess.Labels)
	}
	if q.Compactions {
		out.Compactions = slices.Clone(sess.Compactions)
	}
	switch q.Messages {
	case AllMessages:
		out.Sections, out.Entries = slices.Clone(sess.Sections), slices.Clone(sess.Entries)
	case BranchMessages:
		if q.ID != "" && !sess.has(q.ID) {
			return Archive{}, MessageNotFound(q.ID)
		}
		out.Entries = sess.path(cmp.Or(q.ID, sess.Leaf), sess.at)
	case OneMessage:
		i, ok := sess.at[q.ID]
		if !ok {
			return Archive{}, MessageNotFound(q.ID)
		}
		out.Entries = []Entry{sess.Entries[i]}
	case NewestMessages:
		for _, e := range slices.Backward(sess.Entries) {
			if e.Section == q.Section {
				out.Entries = append(out.Entries, e)
			}
			if q.Limit > 0 && len(out.Entries) == q.Limit {
				break
			}
		}
		slices.Reverse(out.Entries)
	}
	return out, nil
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

// Update implements [Storage].
func (s *Memory) Update(ctx context.Context, k Key, u Update, when Condition) (Version, error) {
	return s.change(ctx, k, when, func(sess *memorySession) error {
		a, err := sess.updatedBy(u)
		if err == nil {
			sess.Archive = a
		}
		return err
	})
}

// updatedBy returns the contents of a session after an update.
func (sess *memorySession) updatedBy(u Update) (Archive, error) {
	a := sess.Archive
	var err error
	if a.Parameters, err = MergeParameters(a.Parameters, u.Parameters); err != nil {
		return a, err
	}
	if u.Leaf != nil {
		if a.Leaf = *u.Leaf; a.Leaf != "" && !sess.has(a.Leaf) {
			return a, MessageNotFound(a.Leaf)
		}
	}
	a.Labels = maps.Clone(a.Labels)
	for id, label := range u.Labels {
		if !sess.has(id) {
			return a, MessageNotFound(id)
		}
		if err := CheckName("label", label); err != nil {
			return a, err
		}
		if a.Labels == nil {
			a.Labels = make(map[string]string)
		}
		if a.Labels[id] = label; label == "" {
			delete(a.Labels, id)
		}
	}
	a.Compactions = slices.DeleteFunc(slices.Clone(a.Compactions),
		func(c Compaction) bool { return slices.Contains(u.RemoveCompactions, c.ID) })
	if c := u.AddCompaction; c != nil {
		have, taken := compactionSize(a.Compactions)
		if err := CheckCompaction(*c, have, taken, sess.has); err != nil {
			return a, err
		}
		a.Compactions = append(a.Compactions, *c)
	}
	return a, nil
}

// Append implements [Storage].
func (s *Memory) Append(
	ctx context.Context, k Key, section string, messages []ragctx.Message, when Condition,
) (out []ragctx.Message, at Version, err error) {
	at, err = s.change(ctx, k, when, func(sess *memorySession) error {
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
	if err != nil {
		return nil, at, err
	}
	return out, at, nil
}

func (sess *memorySession) has(id string) bool {
	_, ok := sess.at[id]
	return ok
}

// check checks that a session, which is nil if it does not exist, exists and meets a condition.
func (sess *memorySession) check(k Key, when Condition) error {
	if sess == nil {
		return cmp.Or(when.Check(k, nil), k.NotFoundError())
	}
	return when.Check(k, &sess.version)
}

// changed advances the version after a change.
func (s *Memory) changed(sess *memorySession) Version {
	sess.version, sess.updated = sess.version.Next(), s.opts.WithDefaults().Now().UTC()
	return sess.version
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

// change calls f with a session that meets a condition, under the write lock. It returns the new
// version.
func (s *Memory) change(
	ctx context.Context, k Key, when Condition, f func(*memorySession) error,
) (out Version, err error) {
	err = s.write(ctx, k, func(sess *memorySession) error {
		if err := sess.check(k, when); err != nil {
			return err
		}
		if err := f(sess); err != nil {
			return err
		}
		out = s.changed(sess)
		return nil
	})
	return out, err
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
