package view

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// branch is an immutable snapshot of a session's branch at a version.
type branch struct {
	version session.Version
	entries []session.Entry // from the root to the leaf
	store   session.Store   // of the entries
	records records
	layer   stage.Layer
	bytes   int
	costs   *costTables // cost tables
}

// leaf returns the id of the last message, or "".
func (l *branch) leaf() string {
	if n := len(l.entries); n > 0 {
		return l.entries[n-1].Message.ID
	}
	return ""
}

// path returns the ids of the messages.
func (l *branch) path() []string {
	out := make([]string, len(l.entries))
	for i, e := range l.entries {
		out[i] = e.Message.ID
	}
	return out
}

// has reports whether a message is on the branch.
func (l *branch) has(id string) bool { return l.place(id) >= 0 }

// place returns the index of a message, or -1. It searches backward, because most lookups are for
// new messages.
func (l *branch) place(id string) int {
	for i, e := range slices.Backward(l.entries) {
		if e.Message.ID == id {
			return i
		}
	}
	return -1
}

// appended returns the branch with messages appended to a section.
func (l *branch) appended(v session.Version, section string, messages []ragctx.Message) *branch {
	out := *l
	out.version, out.store = v, l.store.Append(section, messages...)
	for _, m := range messages {
		out.entries = append(out.entries, session.Entry{Section: section, Message: m})
		out.bytes += messageBytes(m)
	}
	return &out
}

// recorded returns the branch with a record added and the superseded ones removed.
func (l *branch) recorded(v session.Version, one record, superseded []string) *branch {
	left := slices.DeleteFunc(slices.Clone(l.records.all), func(r record) bool { return slices.Contains(superseded, r.id) })
	return l.withRecords(v, append(left, one))
}

// undone returns the branch without its newest record, or nil if that has another id.
func (l *branch) undone(v session.Version, id string) *branch {
	last := len(l.records.all) - 1
	if last < 0 || l.records.all[last].id != id {
		return nil
	}
	return l.withRecords(v, l.records.all[:last:last])
}

// withRecords returns the branch with other records.
func (l *branch) withRecords(v session.Version, all []record) *branch {
	out := *l
	out.version, out.records = v, newRecords(all)
	out.bytes += out.records.bytes() - l.records.bytes()
	return &out
}

// effectiveUsage returns the reported usage of a model's last call, or 0 if no answer follows the
// newest record. Such a report is for the longer view before the record, and would cause another
// compaction.
func (l *branch) effectiveUsage(reported int) int {
	at := l.place(l.records.through())
	if at < 0 { // there is no record, or it belongs to another branch
		return reported
	}
	for _, e := range l.entries[at+1:] {
		if e.Message.Role == ragctx.RoleAssistant {
			return reported
		}
	}
	return 0
}

// load returns a branch of a session to its leaf or to a message. It uses the cache if the version
// in the storage is unchanged.
func (s *Service) load(ctx context.Context, k session.Key, leaf string) (*branch, error) {
	generation := s.cache.currentGeneration()
	if leaf == "" {
		_, at, err := s.opts.Storage.Read(ctx, k, session.Query{})
		if err != nil {
			return nil, err
		}
		if l := s.cache.get(k, at); l != nil {
			return l, nil
		}
	}
	q := session.Query{Messages: session.BranchMessages, ID: leaf, Compactions: true}
	a, at, err := s.opts.Storage.Read(ctx, k, q)
	if err != nil {
		return nil, err
	}
	l := newBranch(a, at)
	if leaf == "" {
		s.cache.put(generation, k, l)
	}
	return l, nil
}

// loadIf returns the branch to the leaf of a session that meets a condition.
func (s *Service) loadIf(ctx context.Context, k session.Key, when session.Condition) (*branch, error) {
	l, err := s.load(ctx, k, "")
	if errors.Is(err, ragctx.ErrNotFound) {
		return nil, cmp.Or(when.Check(k, nil), err)
	}
	if err != nil {
		return nil, err
	}
	return l, when.Check(k, &l.version)
}

// newBranch returns the branch that was read at a version.
func newBranch(a session.Archive, at session.Version) *branch {
	l := &branch{
		version: at, entries: a.Entries, store: session.StoreOf(a.Entries), layer: layerOf(a.Parameters),
		costs: new(costTables),
	}
	all := make([]record, len(a.Compactions))
	for i, c := range a.Compactions {
		all[i] = parseRecord(c)
	}
	l.records = newRecords(all)
	l.bytes = l.records.bytes()
	for _, e := range l.entries {
		l.bytes += messageBytes(e.Message)
	}
	return l
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
