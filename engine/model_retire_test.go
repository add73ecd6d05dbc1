package engine_test

import (
	"slices"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// relic is a piece of erased content.
type relic struct {
	space           string
	kind            store.Kind
	user            string
	recorded        time.Time
	token, embedded string
}

// How many relics of a space are remembered, and of all spaces.
const (
	relicsOfOne = 10
	relicsOfAll = 100
)

// retireSpaces empties the oldest spaces while there are too many, and the very
// first one at once: short rows are to see it as well.
func (m *machine) retireSpaces() {
	limit := keptSpaces
	if len(m.world.relics) == 0 {
		limit = activeSpaces
	}
	for len(m.world.spaces) > limit {
		m.retire(m.world.spaces[0])
		m.world.spaces = slices.Delete(m.world.spaces, 0, 1)
	}
}

// retire compares a whole space for the last time, and then has everything in it erased: by user and
// by session, one after the other, and the rest item by item, all concurrently. Its namespace stays,
// empty.
func (m *machine) retire(s *modelSpace) {
	m.counts["retire"]++
	m.compareAll([]*modelSpace{s})
	groups := []erasure{s.user("ada"), s.user("bob"), s.user("eve")}
	for _, session := range modelSessions[1:] {
		groups = append(groups, s.session(session, "", true))
	}
	m.rand.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	var gone []*version
	erase := func(all ...erasure) {
		went := m.eraseAll(s, all...)
		m.wantErased(s, went)
		gone = append(gone, went...)
	}
	for _, e := range groups {
		erase(e)
	}
	var rest []erasure
	for _, k := range s.keys {
		if k.kind == store.KindDocuments {
			rest = append(rest, s.document(k.id))
		} else {
			rest = append(rest, s.memory(k.id, "", true))
		}
	}
	erase(rest...)
	m.leave(s, gone)
}

// leave remembers some of the content of a space that should be empty now.
func (m *machine) leave(s *modelSpace, gone []*version) {
	m.Helper()
	if len(s.keys) > 0 || len(s.turns) > 0 {
		m.Fatalf("%s holds items %v and %d turns after all was erased", s.name, s.keys, len(s.turns))
	}
	m.compareAll([]*modelSpace{s})
	var relics []relic
	for range min(relicsOfOne, len(gone)) {
		v := pick(m, gone)
		p := pick(m, v.pieces)
		relics = append(relics, relic{s.name, v.kind, v.mem.UserID, v.recorded, p.token, p.embedded})
	}
	m.wantEmptied(relics)
	m.world.relics = append(m.world.relics, relics...)
	m.world.relics = m.world.relics[max(0, len(m.world.relics)-relicsOfAll):]
}

// wantEmptied searches for content of emptied spaces: there, elsewhere, and in the bytes of all files.
func (m *machine) wantEmptied(relics []relic) {
	m.Helper()
	var words []string
	for _, r := range relics {
		m.wantNowhere(newSpace(r.space), &r)
		m.wantNowhere(pick(m, m.world.spaces), &r)
		words = append(words, r.token)
	}
	m.wantNoBytes(words...)
}
