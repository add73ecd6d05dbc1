package session

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/ragctx/ragctx"
)

// rangeIndex determines which ranges of an archive's messages are unchanged. Each message is
// compared once, however many ranges contain it.
type rangeIndex struct {
	at    map[string]int // indexes of messages by id
	nodes []node         // by those indexes
}

// node describes a message and its path to the root. Messages on the path are identified by depth;
// the root has depth 1.
type node struct {
	depth        int
	parent, jump int  // the parent, and an ancestor further up; for the root, itself
	section      int  // depth of the first message of the run in the same section
	lastChanged  int  // depth of the nearest changed message; 0 is before the root, -1 is none
	changed      bool // whether this message has changed
}

// compareRanges compares an archive with an earlier one.
func (a Archive) compareRanges(ctx context.Context, before Archive) (rangeIndex, error) {
	r := rangeIndex{a.index(), make([]node, len(a.Entries))}
	then := before.index()
	var path []int
	for i := range a.Entries {
		if err := ctx.Err(); err != nil {
			return rangeIndex{}, err
		}
		path = path[:0]
		for at, more := i, true; more && r.nodes[at].depth == 0; at, more = r.at[a.Entries[at].Message.ParentID] {
			r.nodes[at].depth = -1 // on the current path; meeting it again closes a cycle
			path = append(path, at)
		}
		for _, at := range slices.Backward(path) {
			e := a.Entries[at]
			was, there := then[e.Message.ID]
			changed := !there || !sameEntry(e, before.Entries[was])
			r.nodes[at] = r.node(at, a, changed)
			if one := &r.nodes[at]; !changed && !r.sameParent(e, before.Entries[was], then) {
				one.lastChanged = max(one.lastChanged, one.depth-1)
			}
		}
	}
	return r, nil
}

// node describes a message after its parent has been described. A cycle begins with the message at
// which it was entered, and counts as changed.
func (r *rangeIndex) node(i int, a Archive, changed bool) node {
	one := node{depth: 1, parent: i, jump: i, section: 1, lastChanged: -1, changed: changed}
	p, ok := r.at[a.Entries[i].Message.ParentID]
	switch {
	case ok && r.nodes[p].depth > 0:
		last := &r.nodes[p]
		one.depth, one.parent, one.jump, one.lastChanged = last.depth+1, p, p, last.lastChanged
		if over := &r.nodes[last.jump]; last.depth-over.depth == over.depth-r.nodes[over.jump].depth {
			one.jump = over.jump // gives O(log n) steps to any depth
		}
		if one.section = one.depth; a.Entries[p].Section == a.Entries[i].Section {
			one.section = last.section
		}
	case ok:
		changed = true
	}
	if changed {
		one.lastChanged = one.depth
	}
	return one
}

// sameParent reports whether a message follows the same message as before.
func (r *rangeIndex) sameParent(now, before Entry, then map[string]int) bool {
	_, is := r.at[now.Message.ParentID]
	_, was := then[before.Message.ParentID]
	return is == was && now.Message.ParentID == before.Message.ParentID
}

// intact reports whether the range of a compaction is unchanged: the path from its last message
// back to its first one, or to the root if it names no first message, has the same messages with
// the same content in the same sections. A range that spans sections is compared from the root,
// because sections are shown in an order of their own. The tool outputs that it prunes, which may
// be outside the range, must be unchanged as well.
func (r *rangeIndex) intact(c Compaction) bool {
	if !r.prunedUnchanged(c) {
		return false
	}
	to, ok := r.at[c.To]
	if !ok {
		return true // it covers no messages
	}
	end := &r.nodes[to]
	if from, ok := r.at[c.From]; ok {
		if first := r.nodes[from].depth; first >= end.section && r.ancestor(to, first) == from {
			return end.lastChanged < first
		}
	}
	return end.lastChanged < 0
}

// prunedUnchanged reports whether the messages with outputs that a compaction prunes are unchanged.
func (r *rangeIndex) prunedUnchanged(c Compaction) bool {
	var record struct {
		Pruned []struct {
			MessageID string `json:"message_id"`
		} `json:"pruned"`
	}
	if len(c.Record) == 0 || json.Unmarshal(c.Record, &record) != nil {
		return true
	}
	for _, one := range record.Pruned {
		if i, there := r.at[one.MessageID]; !there || r.nodes[i].changed {
			return false
		}
	}
	return true
}

// ancestor returns the ancestor of a message at a depth, or the message itself if it is not deeper.
func (r *rangeIndex) ancestor(i, depth int) int {
	for r.nodes[i].depth > depth {
		if jump := r.nodes[i].jump; r.nodes[jump].depth >= depth {
			i = jump
		} else {
			i = r.nodes[i].parent
		}
	}
	return i
}

// sameEntry reports whether two messages with the same id have the same section and content.
func sameEntry(a, b Entry) bool {
	if a.Section != b.Section {
		return false
	}
	x, y := a.Message, b.Message
	return x.Role == y.Role && x.Name == y.Name && (reflect.DeepEqual(x.Content, y.Content) || sameText(x, y))
}

// sameText reports whether two contents have the same JSON; raw JSON may differ in spacing.
func sameText(x, y ragctx.Message) bool {
	a, err := json.Marshal(x.Content)
	if err != nil {
		return false
	}
	b, err := json.Marshal(y.Content)
	return err == nil && bytes.Equal(a, b)
}
