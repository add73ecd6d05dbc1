package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
)

// Archive holds the complete contents of a session.
type Archive struct {
	ID        string
	CreatedAt time.Time
	// Leaf is the id of the message that the next message follows, or "".
	Leaf string
	// Sections are the names of all sections in order, including empty ones.
	Sections    []string
	Parameters  map[string]any
	Entries     []Entry
	Labels      map[string]string
	Compactions []Compaction
}

// Store returns all messages in their sections.
func (a Archive) Store() Store {
	return storeOf(a.Sections, a.Entries).WithParameters(a.Parameters)
}

// Path returns the entries from the root to the message with the id, or to the leaf if id is "". If
// parents are missing or form a cycle, the path begins after the break.
func (a Archive) Path(id string) ([]Entry, error) {
	at := a.index()
	if id == "" {
		id = a.Leaf
	} else if _, ok := at[id]; !ok {
		return nil, MessageNotFound(id)
	}
	return a.path(id, at), nil
}

func (a Archive) path(id string, at map[string]int) []Entry {
	var out []Entry
	seen := make(map[string]bool)
	for i, ok := at[id]; ok && !seen[id]; i, ok = at[id] {
		seen[id] = true
		out = append(out, a.Entries[i])
		id = a.Entries[i].Message.ParentID
	}
	slices.Reverse(out)
	return out
}

// Fork returns an archive with the path to a message, its labels, and the compactions of ranges on
// it.
func (a Archive) Fork(ctx context.Context, id string) (Archive, error) {
	path, err := a.Path(id)
	if err != nil {
		return Archive{}, err
	}
	out := Archive{Parameters: a.Parameters, Entries: path}
	if len(path) > 0 {
		out.Leaf = path[len(path)-1].Message.ID
	}
	out.Sections = StoreOf(path).Names()
	return out, out.carryOver(ctx, a)
}

// carryOver copies the labels of messages that still exist, and the compactions of ranges that have
// not changed.
func (a *Archive) carryOver(ctx context.Context, before Archive) error {
	now := a.index()
	has := func(id string) bool {
		_, ok := now[id]
		return ok || id == ""
	}
	a.Labels = maps.Clone(before.Labels)
	maps.DeleteFunc(a.Labels, func(id, _ string) bool { return !has(id) })
	if len(before.Compactions) == 0 {
		return nil
	}
	ranges, err := a.compareRanges(ctx, before)
	a.Compactions = slices.DeleteFunc(slices.Clone(before.Compactions), func(c Compaction) bool {
		return err != nil || !has(c.From) || !has(c.To) || !ranges.intact(c)
	})
	return err
}

// clone returns a copy that shares no slice or map.
func (a Archive) clone() Archive {
	a.Sections, a.Entries, a.Compactions = slices.Clone(a.Sections), slices.Clone(a.Entries), slices.Clone(a.Compactions)
	a.Parameters, a.Labels = maps.Clone(a.Parameters), maps.Clone(a.Labels)
	return a
}

// index maps message ids to their indexes in the entries.
func (a Archive) index() map[string]int {
	at := make(map[string]int, len(a.Entries))
	for i, e := range a.Entries {
		at[e.Message.ID] = i
	}
	return at
}

// Replaced returns the archive with its messages replaced by a store, by the rules of
// [Save], and the number of new messages. It needs only the ids of the old messages, unless
// there are compactions.
func (a Archive) Replaced(ctx context.Context, s Store, o Options) (out Archive, added int, err error) {
	out = Archive{CreatedAt: a.CreatedAt, Sections: s.Names(), Parameters: s.Parameters(), Leaf: a.Leaf}
	before, taken := a.index(), make(map[string]bool, s.Len())
	linked := false
	for _, one := range s.sections {
		if err := CheckName("sections", one.name); err != nil {
			return Archive{}, 0, err
		}
		for i, m := range one.log.messages {
			if err := o.complete(&m, fmt.Sprintf("sections[%q].messages[%d]", ragctx.Clip(one.name), i),
				func(id string) bool { return taken[id] }); err != nil {
				return Archive{}, 0, err
			}
			if err := ctx.Err(); err != nil {
				return Archive{}, 0, err
			}
			if _, old := before[m.ID]; !old {
				added++
			}
			taken[m.ID], linked = true, linked || m.ParentID != ""
			out.Entries = append(out.Entries, Entry{one.name, m})
		}
	}
	for i := 1; i < len(out.Entries) && !linked; i++ {
		out.Entries[i].Message.ParentID = out.Entries[i-1].Message.ID
	}
	if n := len(out.Entries); !taken[out.Leaf] {
		out.Leaf = ""
		if n > 0 {
			out.Leaf = out.Entries[n-1].Message.ID
		}
	}
	return out, added, out.carryOver(ctx, a)
}

// Validate reports whether an archive can be imported: names and ids are valid, and the leaf,
// labels and compactions refer to existing messages.
func (a Archive) Validate() error {
	o := Options{}.WithDefaults()
	for i, name := range a.Sections {
		if err := CheckName(fmt.Sprintf("sections[%d]", i), name); err != nil {
			return err
		}
	}
	taken := make(map[string]bool, len(a.Entries))
	for i, e := range a.Entries {
		field := fmt.Sprintf("entries[%d]", i)
		if err := CheckName(field+".section", e.Section); err != nil {
			return err
		}
		if e.Message.ID == "" {
			return ragctx.Invalid(field+".id", "is empty; give each message an id")
		}
		if err := o.complete(&e.Message, field, func(id string) bool { return taken[id] }); err != nil {
			return err
		}
		taken[e.Message.ID] = true
	}
	for _, id := range slices.Concat([]string{a.Leaf}, slices.Sorted(maps.Keys(a.Labels))) {
		if id != "" && !taken[id] {
			return MessageNotFound(id)
		}
	}
	for _, c := range a.Compactions {
		if c.From != "" && !taken[c.From] || c.To != "" && !taken[c.To] {
			return MessageNotFound(c.From + "…" + c.To)
		}
	}
	return nil
}

// MessageNotFound returns the error for a message id that the session does not have.
func MessageNotFound(id string) error {
	problem := fmt.Sprintf("the session has no message with the id %q; list its path or its sections", ragctx.Clip(id))
	return &ragctx.FieldError{Field: "message_id", Problem: problem, Kind: ragctx.ErrNotFound}
}
