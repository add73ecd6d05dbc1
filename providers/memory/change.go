package memory

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/lru"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// leastChange is the least confidence of a finding that is stored because it changes a known fact.
const leastChange = 0.15

// ChangeFinder finds the memories that the facts of a turn make obsolete. It is safe for concurrent use.
type ChangeFinder struct {
	mu         sync.Mutex
	known      *lru.Cache[string, *prepared] // by content
	generation uint64                        // rises with each erasure
}

// prepared is a content prepared for comparisons. Its statements are read when another content shares a key with it.
type prepared struct {
	keys       []string
	statements func() *facts.Statements
}

func prepare(content string, instruction bool, speaker string) *prepared {
	return &prepared{facts.Keys(content, instruction), sync.OnceValue(func() *facts.Statements {
		return facts.ReadStatements(content, instruction, speaker)
	})}
}

// Bounds of the contents that a [ChangeFinder] keeps prepared.
const (
	maxPrepared      = 4096
	maxPreparedBytes = 16 << 20
	preparedRatio    = 16 // bytes of a prepared content per byte of its text, roughly
)

// NewChangeFinder returns a finder.
func NewChangeFinder() *ChangeFinder {
	return &ChangeFinder{known: lru.New[string, *prepared](maxPrepared, maxPreparedBytes)}
}

// Forget removes all contents, after an erasure.
func (c *ChangeFinder) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Clear()
	c.generation++
}

// prepared returns the prepared content of a memory. It caches it unless something was erased since the generation.
func (c *ChangeFinder) prepared(m *ragctx.Memory, speakers []string, generation uint64) *prepared {
	instruction := m.About != nil && addressed(m.About.Kind)
	key := m.Content
	if instruction {
		key = "!" + key
	}
	speaker := facts.SpeakerOf(m.Content, speakers)
	key = speaker + "\n" + key
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.known.Get(key)
	if !ok {
		s = prepare(m.Content, instruction, speaker)
		if generation == c.generation {
			c.known.Put(key, s, preparedRatio*len(key))
		}
	}
	return s
}

// Apply adds to each finding the ids of the memories that it makes obsolete. list returns the current memories of
// the turn's user; it is called only if a finding may change one. A finding that was rejected for its confidence is
// stored if it changes a known fact, except in a conversation between people, which has far more of such sentences than
// of changes. Apply returns the remaining parts of memories that are obsolete in part.
func (c *ChangeFinder) Apply(t ragctx.Turn, found []Finding, list func() ([]ragctx.Memory, error)) (rest []ragctx.Memory, err error) {
	newer := make(map[int]*prepared) // of the findings that may change a memory
	speakers, people := facts.Speakers(t.Messages), facts.AmongPeople(t.Messages)
	for i := range found {
		f := &found[i]
		if f.Verdict == Quarantine || f.Content == "" ||
			f.Verdict == Reject && (people || f.By != ragctx.ByTurn || f.Unclaimed || f.Confidence < leastChange) {
			continue
		}
		s := prepare(f.Content, addressed(f.Kind), facts.SpeakerOf(f.Content, speakers))
		if f.Now {
			s.statements().HoldsNow()
		}
		if f.Verdict != Reject || s.statements().Changes() {
			newer[i] = s
		}
	}
	if len(newer) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	generation := c.generation
	c.mu.Unlock()
	known, err := list()
	if err != nil {
		return nil, err
	}
	known = slices.DeleteFunc(slices.Clone(known), func(k ragctx.Memory) bool { return !before(k, t) })
	older := make([]*prepared, len(known))
	for j := range known {
		older[j] = c.prepared(&known[j], speakers, generation)
	}
	common := facts.Common(func(yield func([]string) bool) {
		for _, p := range older {
			if !yield(p.keys) {
				return
			}
		}
	})
	left := map[int]ragctx.Memory{} // of known memories
	for i := range found {
		f := &found[i]
		if newer[i] == nil {
			continue
		}
		for j, k := range known {
			same := f.Verdict == Store && sameAttribute(f.Fact, k.About)
			if k.Content == "" || slices.Contains(f.Supersedes, k.ID) || !same && !facts.Comparable(newer[i].keys, older[j].keys, common) {
				continue
			}
			why, text, ok := facts.Supersedes(newer[i].statements(), older[j].statements(), common)
			if !ok && same {
				why = "another value"
				text, ok = facts.SupersedesValue(newer[i].statements(), older[j].statements(), k.About.Value)
			}
			if !ok || text != "" && len(k.Sources) == 0 {
				continue
			}
			f.Supersedes = append(f.Supersedes, k.ID)
			f.Profile = f.Profile || k.Profile && why == facts.NewerWish // "Nerdctl is the one now"
			if f.Verdict == Reject {
				f.Verdict, f.Why = Store, ""
				f.Confidence, f.Reason = facts.Gate, "changes a known fact: "+why
			}
			delete(left, j)
			if text != "" {
				k.Content = text
				left[j] = remainder(t, k)
			}
			if known[j].Content = text; text != "" {
				older[j] = prepare(text, k.About != nil && addressed(k.About.Kind), facts.SpeakerOf(text, speakers))
			}
		}
	}
	for _, j := range slices.Sorted(maps.Keys(left)) {
		rest = append(rest, left[j])
	}
	return rest, nil
}

// remainder returns the memory for what is left of another one.
func remainder(t ragctx.Turn, m ragctx.Memory) ragctx.Memory {
	m.ID, m.Version = findingID(t, m.Content), 0
	if m.About != nil {
		about := *m.About
		if !strings.Contains(m.Content, about.Value) {
			about.Subject, about.Attribute, about.Value, about.Exclusive = "", "", "", false
		}
		m.About = &about
	}
	return m
}

// sameAttribute reports whether a fact has another value of an exclusive attribute of a record.
func sameAttribute(f facts.Fact, old *ragctx.FactRecord) bool {
	key := analysis.StatementKey
	return old != nil && f.Exclusive && f.Attribute != "" && key(f.Subject) == key(old.Subject) && key(f.Attribute) == key(old.Attribute) &&
		key(f.Value) != key(old.Value)
}

// addressed reports whether facts of a kind address the assistant.
func addressed(k ragctx.FactKind) bool { return k == ragctx.FactInstruction }

// before reports whether a memory is older than a turn, and not of it.
func before(m ragctx.Memory, t ragctx.Turn) bool {
	for _, p := range m.Sources {
		if p.Turn == t.ID || p.At.After(t.Occurred) {
			return false
		}
	}
	return len(m.Sources) > 0 || !m.Recorded.After(t.Occurred)
}
