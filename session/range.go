package session

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/ragctx/ragctx"
)

// ranges tells which ranges of an archive's messages are as they were before. Each message
// is compared once, however many ranges it is in.
type ranges struct {
	at    map[string]int // the places of messages, by id
	spots []spot         // by those places
}

// spot is what is known of a message and of the way from it back to the beginning. Messages
// on it are known by their depths; that of the first one is 1.
type spot struct {
	depth        int
	parent, jump int  // the message before it, and one further back; the first one's are itself
	section      int  // the first one from which on all are in the same section
	broken       int  // the nearest one that is not as it was; 0 is what was before the first one, -1 none
	changed      bool // whether this one is not as it was
}

// since returns the ranges of an archive that was another one before.
func (a Archive) since(ctx context.Context, before Archive) (ranges, error) {
	r := ranges{a.index(), make([]spot, len(a.Entries))}
	then := before.index()
	var way []int
	for i := range a.Entries {
		if err := ctx.Err(); err != nil {
			return ranges{}, err
		}
		way = way[:0]
		for at, more := i, true; more && r.spots[at].depth == 0; at, more = r.at[a.Entries[at].Message.ParentID] {
			r.spots[at].depth = -1 // on the way, on which one that comes again closes a circle
			way = append(way, at)
		}
		for _, at := range slices.Backward(way) {
			e := a.Entries[at]
			was, there := then[e.Message.ID]
			changed := !there || !sameEntry(e, before.Entries[was])
			r.spots[at] = r.spot(at, a, changed)
			if one := &r.spots[at]; !changed && !r.follows(e, before.Entries[was], then) {
				one.broken = max(one.broken, one.depth-1)
			}
		}
	}
	return r, nil
}

// spot returns what is known of a message, of which the one before it is known. A circle
// begins with the one at which it was entered, and is never as it was.
func (r *ranges) spot(i int, a Archive, changed bool) spot {
	one := spot{depth: 1, parent: i, jump: i, section: 1, broken: -1, changed: changed}
	p, ok := r.at[a.Entries[i].Message.ParentID]
	switch {
	case ok && r.spots[p].depth > 0:
		last := &r.spots[p]
		one.depth, one.parent, one.jump, one.broken = last.depth+1, p, p, last.broken
		if over := &r.spots[last.jump]; last.depth-over.depth == over.depth-r.spots[over.jump].depth {
			one.jump = over.jump // so that the way to any depth has few steps
		}
		if one.section = one.depth; a.Entries[p].Section == a.Entries[i].Section {
			one.section = last.section
		}
	case ok:
		changed = true
	}
	if changed {
		one.broken = one.depth
	}
	return one
}

// follows reports whether a message comes after what it came after before.
func (r *ranges) follows(now, before Entry, then map[string]int) bool {
	_, is := r.at[now.Message.ParentID]
	_, was := then[before.Message.ParentID]
	return is == was && now.Message.ParentID == before.Message.ParentID
}

// intact reports whether a compaction is about what it was about before: the way from its
// last message back to its first one, or to the beginning if it names none, has the same
// messages in the same sections, saying the same. A range of more than one section is
// looked at from the beginning, as sections are shown in an order of their own. The outputs
// that it prunes, which may be outside the range, must be as they were, too.
func (r *ranges) intact(c Compaction) bool {
	if !r.prunes(c) {
		return false
	}
	to, ok := r.at[c.To]
	if !ok {
		return true // it is about no messages
	}
	end := &r.spots[to]
	if from, ok := r.at[c.From]; ok {
		if first := r.spots[from].depth; first >= end.section && r.back(to, first) == from {
			return end.broken < first
		}
	}
	return end.broken < 0
}

// prunes reports whether the messages are as they were whose outputs a compaction names as
// pruned; a record that says nothing of that names none.
func (r *ranges) prunes(c Compaction) bool {
	var record struct {
		Pruned []struct {
			MessageID string `json:"message_id"`
		} `json:"pruned"`
	}
	if len(c.Record) == 0 || json.Unmarshal(c.Record, &record) != nil {
		return true
	}
	for _, one := range record.Pruned {
		if i, there := r.at[one.MessageID]; !there || r.spots[i].changed {
			return false
		}
	}
	return true
}

// back returns the message of a depth on the way from one to the beginning, or that one if
// it is not as deep.
func (r *ranges) back(i, depth int) int {
	for r.spots[i].depth > depth {
		if jump := r.spots[i].jump; r.spots[jump].depth >= depth {
			i = jump
		} else {
			i = r.spots[i].parent
		}
	}
	return i
}

// sameEntry reports whether two messages of one id are in the same section and say the same.
func sameEntry(a, b Entry) bool {
	if a.Section != b.Section {
		return false
	}
	x, y := a.Message, b.Message
	return x.Role == y.Role && x.Name == y.Name && (reflect.DeepEqual(x.Content, y.Content) || sameText(x, y))
}

// sameText reports whether two messages are written alike, as JSON may be spaced.
func sameText(x, y ragctx.Message) bool {
	a, err := json.Marshal(x.Content)
	if err != nil {
		return false
	}
	b, err := json.Marshal(y.Content)
	return err == nil && bytes.Equal(a, b)
}
