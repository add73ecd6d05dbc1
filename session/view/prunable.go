package view

import (
	"slices"

	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// undoDepth is the number of newest records that can be undone one by one. It is small enough that
// a stage that persists after each turn stays within the limits of a session's records.
const undoDepth = 16

// prunable returns the ids of the records to remove when one more is stored. It keeps the newest
// for undo, then those that affect the view of the branch, then records of other branches, as long as
// there is room.
func (l *branch) prunable(one record) (ids []string) {
	all := append(slices.Clip(l.records.all), one)
	room := recordBudget{session.MaxRecords, session.MaxRecordBytes}
	old := all
	for n := len(all); n > 0; n-- {
		r := all[n-1]
		if taken := len(all) - n; taken == undoDepth || taken > 0 && room.bytes-r.bytes < session.MaxRecordBytes/2 {
			break
		}
		room.reserve(r)
		old = all[:n-1]
	}
	counts, elsewhere := l.inUse(old)
	stays := make(map[string]bool)
	for _, wanted := range [][]bool{counts, elsewhere} {
		for i, r := range slices.Backward(old) {
			if wanted[i] && room.reserve(r) {
				stays[r.id] = true
			}
		}
	}
	for _, r := range old {
		if stays[r.id] || r.supersedesAny(stays) {
			stays[r.id] = true
		} else {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// supersedesAny reports whether a record supersedes one that stays, which would be shown again
// without it.
func (r record) supersedesAny(stays map[string]bool) bool {
	return r.compaction != nil && slices.ContainsFunc(r.compaction.Supersedes, func(id string) bool { return stays[id] })
}

// recordBudget is the remaining room for records.
type recordBudget struct{ number, bytes int }

// reserve reports whether a record fits, and takes its room.
func (m *recordBudget) reserve(r record) bool {
	if m.number < 1 || m.bytes < r.bytes {
		return false
	}
	m.number, m.bytes = m.number-1, m.bytes-r.bytes
	return true
}

// inUse reports for each of a session's oldest records whether it would affect the view of the
// of without newer ones, and whether it concerns something else: another branch, other
// sections, or unreadable content.
func (l *branch) inUse(old []record) (counts, elsewhere []bool) {
	of := newRecords(old)
	newest, at := l.newestStage(of.stages)
	store := l.store
	if newest >= 0 {
		store = l.stagedStore(of.stages[newest], at)
	}
	messages := store.Select(session.InferenceOrder()...).Messages()
	on := idsOf(messages)
	for _, e := range l.entries[:at+1] { // messages that the stage has replaced
		on[e.Message.ID] = true
	}
	compactions := compact.Effective(messages, of.compactions)
	counts, elsewhere = make([]bool, len(old)), make([]bool, len(old))
	stages := 0
	for i, r := range old {
		switch {
		case r.compaction != nil:
			counts[i], compactions = compactions[0], compactions[1:]
			elsewhere[i] = !concerns(*r.compaction, on)
		case r.stage != nil:
			counts[i], elsewhere[i] = stages == newest, !l.has(r.stage.Through)
			stages++
		case r.buffer != nil: // does not affect views
		default:
			elsewhere[i] = true
		}
	}
	return counts, elsewhere
}

// concerns reports whether a record refers only to these messages.
func concerns(r compact.Record, on map[string]bool) bool {
	return (r.From == "" || on[r.From]) && (r.To == "" || on[r.To]) &&
		!slices.ContainsFunc(r.Pruned, func(p compact.Pruned) bool { return !on[p.MessageID] })
}
