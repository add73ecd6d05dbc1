package view

import (
	"cmp"
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/wire"
)

// costCacheSize is the number of entries in each of two generations of a costCache.
const costCacheSize = 1 << 17

// costCache caches the token costs of messages by a hash of their contents, because counting
// dominates the time for a long conversation. It stores no text. The zero value is ready and safe
// for concurrent use.
type costCache struct {
	mu         sync.Mutex
	new, older map[uint64]int
}

// seed is random per process, so that clients cannot construct hash collisions.
var seed = maphash.MakeSeed()

// scale measures messages with a tokenizer and caches the costs.
type scale struct {
	session.Scale

	cache *costCache
	name  string
}

// scale returns the scale of a tokenizer; "" selects [DefaultTokenizer].
func (s *Service) scale(tokenizer string) (scale, error) {
	name := cmp.Or(tokenizer, DefaultTokenizer)
	counter, err := tokens.New(name)
	return scale{session.Scale{Counter: counter}, &s.costs, name}, err
}

// message returns the cost of a message.
func (c scale) message(m ragctx.Message) int {
	key := c.hash(m)
	if n, ok := c.cache.get(key); ok {
		return n
	}
	n := c.Message(m)
	c.cache.put(key, n)
	return n
}

// each returns the cost of each message.
func (c scale) each(messages []ragctx.Message) []int {
	out := make([]int, len(messages))
	for i, m := range messages {
		out[i] = c.message(m)
	}
	return out
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
			p.lastCosts[i] = p.scale.message(messages[i])
		}
	}
}

// extend adds the costs of new messages of the branch.
func (t *costTable) extend(entries []session.Entry, c scale) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.entries); i < len(entries); i++ {
		m := &entries[i].Message
		p := costEntry{blocks: len(m.Content), name: m.Name, reasoning: m.Reasoning, cost: c.message(*m)}
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

// hash returns a hash of everything that determines the cost of a message.
func (c scale) hash(m ragctx.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	hashText(&h, c.name)
	hashText(&h, m.Name)
	hashText(&h, m.Reasoning)
	hashContent(&h, m.Content)
	for _, kept := range wire.VendorFields(m) {
		hashText(&h, string(kept))
	}
	return h.Sum64()
}

// hashText adds a text with a terminator.
func hashText(h *maphash.Hash, s string) {
	h.WriteString(s)
	h.WriteByte(0xff) // never occurs in UTF-8
}

func hashContent(h *maphash.Hash, c ragctx.Content) {
	hashText(h, strconv.Itoa(len(c)))
	for _, b := range c {
		for _, s := range [...]string{string(b.Type), b.Text, b.Name, b.ID, b.ToolUseID} {
			hashText(h, s)
		}
		for _, bytes := range [...][]byte{b.Input, b.Data, b.Part} {
			hashText(h, strconv.Itoa(len(bytes)))
			h.Write(bytes)
		}
		if len(b.Content) > 0 {
			hashContent(h, b.Content)
		}
	}
}

func (p *costCache) get(key uint64) (n int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, ok = p.new[key]; ok {
		return n, true
	}
	if n, ok = p.older[key]; ok {
		p.keep(key, n)
	}
	return n, ok
}

func (p *costCache) put(key uint64, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(key, n)
}

// keep stores a cost. When the new generation is full, the older one is discarded. The caller holds
// the lock.
func (p *costCache) keep(key uint64, n int) {
	if p.new == nil || len(p.new) >= costCacheSize {
		p.new, p.older = make(map[uint64]int), p.new
	}
	p.new[key] = n
}
