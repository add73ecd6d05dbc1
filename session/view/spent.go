package view

import (
	"slices"

	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// undoable is how many of a session's newest records can be undone one by one: more than
// anybody goes back, and so few that a stage which persists after each turn of a long
// conversation stays within what a session's records may take.
const undoable = 16

// spent returns the ids of those records that go when one more is stored, as nobody would
// miss them. The newest stay to be undone, then those that the view of the branch is made
// with, then those that are about other branches, as long as there is room.
func (l *loaded) spent(one record) (ids []string) {
	all := append(slices.Clip(l.records.all), one)
	room := room{session.MaxRecords, session.MaxRecordBytes}
	old := all
	for n := len(all); n > 0; n-- {
		r := all[n-1]
		if taken := len(all) - n; taken == undoable || taken > 0 && room.bytes-r.bytes < session.MaxRecordBytes/2 {
			break
		}
		room.take(r)
		old = all[:n-1]
	}
	counts, elsewhere := l.standing(old)
	stays := make(map[string]bool)
	for _, wanted := range [][]bool{counts, elsewhere} {
		for i, r := range slices.Backward(old) {
			if wanted[i] && room.take(r) {
				stays[r.id] = true
			}
		}
	}
	for _, r := range old {
		if stays[r.id] || r.hides(stays) {
			stays[r.id] = true
		} else {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// hides reports whether a record has taken the place of one that stays, which would be
// shown again without it.
func (r record) hides(stays map[string]bool) bool {
	return r.compaction != nil && slices.ContainsFunc(r.compaction.Supersedes, func(id string) bool { return stays[id] })
}

// room is how much more there may be of records.
type room struct{ number, bytes int }

// take reports whether a record has room, and takes it.
func (m *room) take(r record) bool {
	if m.number < 1 || m.bytes < r.bytes {
		return false
	}
	m.number, m.bytes = m.number-1, m.bytes-r.bytes
	return true
}

// standing reports of each of a session's oldest records whether the view of the branch is
// made with it, where there are no newer ones, and whether it is about something else:
// another branch, other sections, or what cannot be read.
func (l *loaded) standing(old []record) (counts, elsewhere []bool) {
	of := recordsOf(old)
	newest, at := l.newestStage(of.stages)
	store := l.store
	if newest >= 0 {
		store = l.since(of.stages[newest], at)
	}
	messages := store.Select(session.InferenceOrder()...).Messages()
	on := idsOf(messages)
	for _, e := range l.entries[:at+1] { // which are in the hands of the stage
		on[e.Message.ID] = true
	}
	compactions := compact.Effective(messages, of.compactions)
	counts, elsewhere = make([]bool, len(old)), make([]bool, len(old))
	stages := 0
	for i, r := range old {
		switch {
		case r.compaction != nil:
			counts[i], compactions = compactions[0], compactions[1:]
			elsewhere[i] = !about(*r.compaction, on)
		case r.stage != nil:
			counts[i], elsewhere[i] = stages == newest, !l.has(r.stage.Through)
			stages++
		case r.buffer != nil: // which nothing is shown with
		default:
			elsewhere[i] = true
		}
	}
	return counts, elsewhere
}

// about reports whether a record is about these messages alone.
func about(r compact.Record, on map[string]bool) bool {
	return (r.From == "" || on[r.From]) && (r.To == "" || on[r.To]) &&
		!slices.ContainsFunc(r.Pruned, func(p compact.Pruned) bool { return !on[p.MessageID] })
}
