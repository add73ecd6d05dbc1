package view

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// branch is an immutable snapshot of a session's branch at a version.
type loaded struct {
	version session.Version
	entries []session.Entry // from the root to the leaf
	store   session.Store   // of the entries
	records records
	layer   stage.Layer
	bytes   int
	tables  *tables // cost tables
}

// leaf returns the id of the last message, or "".
func (l *loaded) leaf() string {
	if n := len(l.entries); n > 0 {
		return l.entries[n-1].Message.ID
	}
	return ""
}

// path returns the ids of the messages.
func (l *loaded) path() []string {
	out := make([]string, len(l.entries))
	for i, e := range l.entries {
		out[i] = e.Message.ID
	}
	return out
}

// has reports whether a message is on the branch.
func (l *loaded) has(id string) bool { return l.place(id) >= 0 }

// place returns the index of a message, or -1. It searches backward, because most lookups are for
// new messages.
func (l *loaded) place(id string) int {
	for i, e := range slices.Backward(l.entries) {
		if e.Message.ID == id {
			return i
		}
	}
	return -1
}

// appended returns the branch with messages appended to a section.
func (l *loaded) appended(v session.Version, section string, messages []ragctx.Message) *loaded {
	out := *l
	out.version, out.store = v, l.store.Append(section, messages...)
	for _, m := range messages {
		out.entries = append(out.entries, session.Entry{Section: section, Message: m})
		out.bytes += messageBytes(m)
	}
	return &out
}

// recorded returns the branch with a record added and the superseded ones removed.
func (l *loaded) recorded(v session.Version, one record, spent []string) *loaded {
	left := slices.DeleteFunc(slices.Clone(l.records.all), func(r record) bool { return slices.Contains(spent, r.id) })
	return l.withRecords(v, append(left, one))
}

// undone returns the branch without its newest record, or nil if that has another id.
func (l *loaded) undone(v session.Version, id string) *loaded {
	last := len(l.records.all) - 1
	if last < 0 || l.records.all[last].id != id {
		return nil
	}
	return l.withRecords(v, l.records.all[:last:last])
}

// withRecords returns the branch with other records.
func (l *loaded) withRecords(v session.Version, all []record) *loaded {
	out := *l
	out.version, out.records = v, recordsOf(all)
	out.bytes += out.records.bytes() - l.records.bytes()
	return &out
}

// effectiveUsage returns the reported usage of a model's last call, or 0 if no answer follows the
// newest record. Such a report is for the longer view before the record, and would cause another
// compaction.
func (l *loaded) used(told int) int {
	at := l.place(l.records.through())
	if at < 0 { // there is no record, or it belongs to another branch
		return told
	}
	for _, e := range l.entries[at+1:] {
		if e.Message.Role == ragctx.RoleAssistant {
			return told
		}
	}
	return 0
}

// attempts is the number of reads of a session that is changed concurrently.
const attempts = 3

// load returns a branch of a session to its leaf or to a message. It uses the cache if the version
// in the storage is unchanged.
func (s *Service) load(ctx context.Context, k session.Key, leaf string) (*loaded, error) {
	began := s.kept.begin()
	v, err := s.opts.Storage.Version(ctx, k)
	if err != nil {
		return nil, err
	}
	if leaf == "" {
		if l := s.kept.get(k, v); l != nil {
			return l, nil
		}
	}
	for try := 1; ; try++ {
		l, err := s.read(ctx, k, leaf)
		if err != nil {
			return nil, err
		}
		l.version = v
		now, err := s.opts.Storage.Version(ctx, k)
		if err != nil {
			return nil, err
		}
		if now == v && leaf == "" {
			s.kept.put(began, k, l)
		}
		if now == v || try == attempts {
			return l, nil
		}
		v = now
	}
}

// read reads a branch from the storage. The caller compares the versions before and after.
func (s *Service) read(ctx context.Context, k session.Key, leaf string) (*loaded, error) {
	info, err := s.opts.Storage.Info(ctx, k)
	if err != nil {
		return nil, err
	}
	l := &loaded{layer: layerOf(info.Parameters), tables: new(tables)}
	if l.entries, err = s.opts.Storage.Path(ctx, k, leaf); err != nil {
		return nil, err
	}
	stored, err := s.opts.Storage.Compactions(ctx, k)
	if err != nil {
		return nil, err
	}
	l.store = session.StoreOf(l.entries)
	all := make([]record, len(stored))
	for i, c := range stored {
		all[i] = recordOf(c)
	}
	l.records = recordsOf(all)
	l.bytes += l.records.bytes()
	for _, e := range l.entries {
		l.bytes += messageBytes(e.Message)
	}
	return l, nil
}

// messageBytes returns the approximate memory of a message, including its two headers in a branch.
func messageBytes(m ragctx.Message) int {
	const headers, block, entry = 320, 200, 64
	n := headers + len(m.ID) + len(m.ParentID) + len(m.Name) + len(m.Reasoning) + entry*len(m.Metadata)
	for _, b := range m.Content {
		n += block + blockBytes(b)
	}
	return n
}

func blockBytes(b ragctx.Block) int {
	n := len(b.Text) + len(b.Data) + len(b.Input) + len(b.ID) + len(b.Name) + len(b.ToolUseID)
	for _, inner := range b.Content {
		n += blockBytes(inner)
	}
	return n
}
