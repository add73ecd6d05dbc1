package engine_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/store"
)

// This file is the model: what the engine ought to hold, kept in plain maps and
// slices and searched by looking at everything. It imports of the engine only
// types.

// piece is a part of a text that is found alone: a section of a document, or a speaker's words in a
// turn.
type piece struct {
	text     string                       // as it is stored
	embedded string                       // text with its title and heading: a question that equals it exactly
	token    string                       // a word that is in no other text, but for copies
	topic    string                       // a word that many texts have
	vectors  map[embed.Identity][]float32 // see machine.vector
}

// version is one state of a document or memory. Only superseded ever changes.
type version struct {
	kind   store.Kind
	key    string
	number int
	pieces []piece

	doc ragctx.Document // what was sent, if a document
	mem ragctx.Memory   // what was sent, if a memory; of a turn, what it becomes

	recorded, superseded time.Time
}

func (v *version) expired(at time.Time) bool {
	return !v.mem.Expires.IsZero() && !at.Before(v.mem.Expires)
}

func (v *version) tags() []string {
	if v.kind == store.KindDocuments {
		return v.doc.Tags
	}
	return v.mem.Tags
}

func (v *version) occurred() time.Time {
	if v.kind == store.KindDocuments {
		return v.doc.Occurred
	}
	return v.mem.Occurred
}

func (v *version) source() string {
	if v.kind == store.KindDocuments {
		return v.doc.Source
	}
	return "memory"
}

// viewer is the identity, time and filters of a query.
type viewer struct {
	user, agent, session string
	now, asOf            time.Time
	filter               ragctx.Filter
}

func (w *viewer) String() string {
	out := fmt.Sprintf("user %q", w.user)
	if w.agent != "" || w.session != "" {
		out += fmt.Sprintf(" agent %q session %q", w.agent, w.session)
	}
	if !w.asOf.IsZero() {
		out += " as of " + w.asOf.Format(time.RFC3339Nano)
	}
	if !w.filter.IsZero() {
		out += fmt.Sprintf(" filter %v", w.filter)
	}
	return out
}

func (v *version) String() string {
	out := fmt.Sprintf("%v %s@%d of %q, %d pieces, recorded %s", v.kind, v.key, v.number, v.mem.UserID, len(v.pieces), v.recorded.Format(time.RFC3339Nano))
	if !v.superseded.IsZero() {
		out += ", superseded " + v.superseded.Format(time.RFC3339Nano)
	}
	if !v.mem.Expires.IsZero() {
		out += ", expires " + v.mem.Expires.Format(time.RFC3339Nano)
	}
	return out
}

// sees reports whether a version is visible to a viewer.
func (w *viewer) sees(v *version) bool {
	at := w.now
	if !w.asOf.IsZero() {
		at = w.asOf
		if v.recorded.After(at) || !v.superseded.IsZero() && !v.superseded.After(at) {
			return false
		}
	} else if !v.superseded.IsZero() {
		return false
	}
	if v.expired(at) || !w.matches(v) {
		return false
	}
	return v.kind == store.KindDocuments ||
		(v.mem.UserID == "" || v.mem.UserID == w.user) &&
			(w.agent == "" || v.mem.AgentID == w.agent) &&
			(w.session == "" || v.mem.SessionID == w.session)
}

func (w *viewer) matches(v *version) bool {
	for _, tag := range w.filter.Tags {
		if !slices.Contains(v.tags(), tag) {
			return false
		}
	}
	at := v.occurred()
	if after := w.filter.OccurredAfter; !after.IsZero() && (at.IsZero() || at.Before(after)) {
		return false
	}
	if before := w.filter.OccurredBefore; !before.IsZero() && (at.IsZero() || !at.Before(before)) {
		return false
	}
	return len(w.filter.Sources) == 0 || slices.ContainsFunc(w.filter.Sources, func(s string) bool {
		prefix, open := strings.CutSuffix(s, "*")
		return v.source() == s || open && strings.HasPrefix(v.source(), prefix)
	})
}

// key names an item within a namespace.
type key struct {
	kind store.Kind
	id   string
}

// modelSpace is a namespace.
type modelSpace struct {
	name  string
	keys  []key // in the order of their first writing
	items map[key][]*version
	turns map[string]ragctx.Turn
	told  []string // ids of turns in order
}

func newSpace(name string) *modelSpace {
	return &modelSpace{name: name, items: make(map[key][]*version), turns: make(map[string]ragctx.Turn)}
}

// current returns the version that is not superseded, or nil. An expired version is still current, but
// not found.
func (s *modelSpace) current(k key) *version {
	if all := s.items[k]; len(all) > 0 && all[len(all)-1].superseded.IsZero() {
		return all[len(all)-1]
	}
	return nil
}

// put makes v the current version at a time.
func (s *modelSpace) put(v *version, at time.Time) {
	k := key{v.kind, v.key}
	all := s.items[k]
	if all == nil {
		s.keys = append(s.keys, k)
	}
	s.end(k, at)
	v.number, v.recorded = s.next(k), at
	s.items[k] = append(all, v)
	if n := len(all) + 1 - keptVersions; n > 0 && v.kind == store.KindDocuments {
		s.items[k] = s.items[k][n:]
	}
}

// next returns the number of the next version: earlier ones may have been erased.
func (s *modelSpace) next(k key) int {
	if all := s.items[k]; len(all) > 0 {
		return all[len(all)-1].number + 1
	}
	return 1
}

// end supersedes the current version.
func (s *modelSpace) end(k key, at time.Time) {
	if v := s.current(k); v != nil {
		v.superseded = at
	}
}

// maxWorking is how many working memories a user, agent and session have.
const maxWorking = 2

// trim ends the working memories that exceed the limit with a new one, and returns them.
func (s *modelSpace) trim(v *version, at time.Time) []*version {
	if v.mem.Type != ragctx.MemoryWorking {
		return nil
	}
	tier := slices.DeleteFunc(s.versions(store.KindMemories), func(o *version) bool {
		return o.mem.Type != ragctx.MemoryWorking || !o.superseded.IsZero() || o.expired(at) ||
			o.mem.UserID != v.mem.UserID || o.mem.AgentID != v.mem.AgentID || o.mem.SessionID != v.mem.SessionID
	})
	slices.SortFunc(tier, func(a, b *version) int {
		return cmp.Or(cmp.Compare(b.score(at), a.score(at)), b.recorded.Compare(a.recorded))
	})
	tier = tier[min(len(tier), maxWorking):]
	for _, o := range tier {
		o.superseded = at
	}
	return tier
}

// versions returns all versions of a kind in the order of their items.
func (s *modelSpace) versions(kind store.Kind) (out []*version) {
	for _, k := range s.keys {
		if k.kind == kind {
			out = append(out, s.items[k]...)
		}
	}
	return out
}

// seen returns the items that a viewer sees.
func (s *modelSpace) seen(kind store.Kind, w *viewer) []*version {
	return slices.DeleteFunc(s.versions(kind), func(v *version) bool { return !w.sees(v) })
}

// count returns the number of current items of a kind, expired ones included.
func (s *modelSpace) count(kind store.Kind) (n int) {
	for _, k := range s.keys {
		if k.kind == kind && s.current(k) != nil {
			n++
		}
	}
	return n
}

func (s *modelSpace) find(kind store.Kind, id string, number int) *version {
	for _, v := range s.items[key{kind, id}] {
		if v.number == number {
			return v
		}
	}
	return nil
}

// world is the whole model.
type world struct {
	spaces []*modelSpace // in the order of their creation, without those that were emptied
	made   int           // spaces, with those
	relics []relic       // of those that were emptied, the newest last
}

// clone returns a copy that later changes do not touch.
func (w *world) clone() *world {
	c := &world{made: w.made, relics: slices.Clone(w.relics)}
	for _, s := range w.spaces {
		d := newSpace(s.name)
		d.keys, d.told, d.turns = slices.Clone(s.keys), slices.Clone(s.told), maps.Clone(s.turns)
		for k, all := range s.items {
			for _, v := range all {
				copied := *v
				d.items[k] = append(d.items[k], &copied)
			}
		}
		c.spaces = append(c.spaces, d)
	}
	return c
}

// cosine is the similarity of two vectors, by the definition.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// score is a memory's importance and recency, by the definition.
func (v *version) score(now time.Time) float64 {
	age := max(now.Sub(v.mem.Occurred), 0)
	return .7*v.mem.Importance + .3*math.Exp(-age.Hours()/(30*24))
}
