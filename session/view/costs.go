package view

import (
	"cmp"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
)

// scale measures messages with a tokenizer.
type scale struct {
	session.Scale

	name string
}

// scale returns the scale of a tokenizer; "" selects [DefaultTokenizer].
func (s *Service) scale(tokenizer string) (scale, error) {
	name := cmp.Or(tokenizer, DefaultTokenizer)
	counter, err := tokens.New(name)
	return scale{session.Scale{Counter: counter}, name}, err
}

// costTables has the costs of a branch's messages by tokenizer. They grow with the branch.
type costTables struct {
	mu          sync.Mutex
	byTokenizer map[string]*costTable
}

// costTable has the costs of a branch's messages in order. Messages are identified by the memory of
// their contents, which all unchanged messages in views of the branch share.
type costTable struct {
	mu      sync.RWMutex
	entries []costEntry
	byBlock map[*ragctx.Block]int // index of the message by the address of its first block
}

// costEntry identifies a message by its content in memory, and has its cost.
type costEntry struct {
	first           *ragctx.Block
	blocks          int
	name, reasoning string
	cost            int
}

func (p *costEntry) matches(m *ragctx.Message) bool {
	return p.blocks == len(m.Content) && (p.blocks == 0 || p.first == &m.Content[0]) && p.name == m.Name && p.reasoning == m.Reasoning
}

// branchCosts returns the costs of messages derived from a branch, and their indexes on it. It
// remembers its last answer and serves a single call of the service.
type branchCosts struct {
	scale      scale
	table      *costTable
	last       []ragctx.Message
	lastCosts  []int // costs for last
	lastPlaces []int // indexes for last
}

// branchCosts returns the costs of the branch by a scale.
func (l *branch) branchCosts(c scale) *branchCosts {
	l.costs.mu.Lock()
	if l.costs.byTokenizer == nil {
		l.costs.byTokenizer = make(map[string]*costTable)
	}
	t := l.costs.byTokenizer[c.name]
	if t == nil {
		t = &costTable{entries: make([]costEntry, 0, len(l.entries)), byBlock: make(map[*ragctx.Block]int, len(l.entries))}
		l.costs.byTokenizer[c.name] = t
	}
	l.costs.mu.Unlock()
	t.extend(l.entries, c)
	return &branchCosts{scale: c, table: t}
}

// costs returns the cost of each message. The result is shared.
func (p *branchCosts) costs(messages []ragctx.Message) []int {
	p.lookUp(messages)
	return p.lastCosts
}

// places returns the index of each message on the branch, or -1 for a new or changed message. The
// result is shared.
func (p *branchCosts) places(messages []ragctx.Message) []int {
	p.lookUp(messages)
	return p.lastPlaces
}

func (p *branchCosts) lookUp(messages []ragctx.Message) {
	if p.lastPlaces != nil && len(messages) == len(p.last) && (len(p.last) == 0 || &messages[0] == &p.last[0]) {
		return
	}
	p.last = messages
	p.lastCosts, p.lastPlaces = p.table.find(messages)
	for i, at := range p.lastPlaces {
		if at < 0 {
			p.lastCosts[i] = p.scale.Message(messages[i])
		}
	}
}

// extend adds the costs of new messages of the branch.
func (t *costTable) extend(entries []session.Entry, c scale) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.entries); i < len(entries); i++ {
		m := &entries[i].Message
		p := costEntry{blocks: len(m.Content), name: m.Name, reasoning: m.Reasoning, cost: c.Message(*m)}
		if p.blocks > 0 {
			p.first = &m.Content[0]
			t.byBlock[p.first] = i
		}
		t.entries = append(t.entries, p)
	}
}

// find returns the index of each message on the branch, or -1, and the costs of those on the
// branch.
func (t *costTable) find(messages []ragctx.Message) (costs, places []int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	costs, places = make([]int, len(messages)), make([]int, len(messages))
	next := 0 // most messages are in the order of the branch
	for i := range messages {
		at, ok := t.place(&messages[i], next)
		if !ok {
			places[i] = -1
			continue
		}
		costs[i], places[i], next = t.entries[at].cost, at, at+1
	}
	return costs, places
}

// cost returns the cost of the message at an index.
func (t *costTable) cost(at int) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.entries[at].cost
}

// place returns the index of a message, searching near an index first. The caller holds the lock.
func (t *costTable) place(m *ragctx.Message, near int) (at int, ok bool) {
	const steps = 4 // skips over dropped messages
	for at := near; at < min(near+steps, len(t.entries)); at++ {
		if t.entries[at].matches(m) {
			return at, true
		}
	}
	if len(m.Content) == 0 {
		return 0, false
	}
	at, ok = t.byBlock[&m.Content[0]]
	return at, ok && t.entries[at].matches(m)
}
