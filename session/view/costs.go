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
const mostPrices = 1 << 17

// costCache caches the token costs of messages by a hash of their contents, because counting
// dominates the time for a long conversation. It stores no text. The zero value is ready and safe
// for concurrent use.
type prices struct {
	mu         sync.Mutex
	new, older map[uint64]int
}

// seed is random per process, so that clients cannot construct hash collisions.
var seed = maphash.MakeSeed()

// scale measures messages with a tokenizer and caches the costs.
type scale struct {
	session.Scale

	known *prices
	name  string
}

// scale returns the scale of a tokenizer; "" selects [DefaultTokenizer].
func (s *Service) scale(tokenizer string) (scale, error) {
	name := cmp.Or(tokenizer, DefaultTokenizer)
	counter, err := tokens.New(name)
	return scale{session.Scale{Counter: counter}, &s.prices, name}, err
}

// message returns the cost of a message.
func (c scale) message(m ragctx.Message) int {
	key := c.hash(m)
	if n, ok := c.known.get(key); ok {
		return n
	}
	n := c.Message(m)
	c.known.put(key, n)
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
type tables struct {
	mu sync.Mutex
	of map[string]*table
}

// costTable has the costs of a branch's messages in order. Messages are identified by the memory of
// their contents, which all unchanged messages in views of the branch share.
type table struct {
	mu     sync.RWMutex
	priced []priced
	at     map[*ragctx.Block]int // index of the message by the address of its first block
}

// costEntry identifies a message by its content in memory, and has its cost.
type priced struct {
	first           *ragctx.Block
	blocks          int
	name, reasoning string
	cost            int
}

func (p *priced) is(m *ragctx.Message) bool {
	return p.blocks == len(m.Content) && (p.blocks == 0 || p.first == &m.Content[0]) && p.name == m.Name && p.reasoning == m.Reasoning
}

// branchCosts returns the costs of messages derived from a branch, and their indexes on it. It
// remembers its last answer and serves a single call of the service.
type pricing struct {
	scale scale
	table *table
	last  []ragctx.Message
	known []int // costs for last
	where []int // indexes for last
}

// branchCosts returns the costs of the branch by a scale.
func (l *loaded) pricing(c scale) *pricing {
	l.tables.mu.Lock()
	if l.tables.of == nil {
		l.tables.of = make(map[string]*table)
	}
	t := l.tables.of[c.name]
	if t == nil {
		t = &table{priced: make([]priced, 0, len(l.entries)), at: make(map[*ragctx.Block]int, len(l.entries))}
		l.tables.of[c.name] = t
	}
	l.tables.mu.Unlock()
	t.learn(l.entries, c)
	return &pricing{scale: c, table: t}
}

// costs returns the cost of each message. The result is shared.
func (p *pricing) costs(messages []ragctx.Message) []int {
	p.look(messages)
	return p.known
}

// places returns the index of each message on the branch, or -1 for a new or changed message. The
// result is shared.
func (p *pricing) places(messages []ragctx.Message) []int {
	p.look(messages)
	return p.where
}

func (p *pricing) look(messages []ragctx.Message) {
	if p.where != nil && len(messages) == len(p.last) && (len(p.last) == 0 || &messages[0] == &p.last[0]) {
		return
	}
	p.last = messages
	p.known, p.where = p.table.find(messages)
	for i, at := range p.where {
		if at < 0 {
			p.known[i] = p.scale.message(messages[i])
		}
	}
}

// extend adds the costs of new messages of the branch.
func (t *table) learn(entries []session.Entry, c scale) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.priced); i < len(entries); i++ {
		m := &entries[i].Message
		p := priced{blocks: len(m.Content), name: m.Name, reasoning: m.Reasoning, cost: c.message(*m)}
		if p.blocks > 0 {
			p.first = &m.Content[0]
			t.at[p.first] = i
		}
		t.priced = append(t.priced, p)
	}
}

// find returns the index of each message on the branch, or -1, and the costs of those on the
// branch.
func (t *table) find(messages []ragctx.Message) (costs, places []int) {
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
		costs[i], places[i], next = t.priced[at].cost, at, at+1
	}
	return costs, places
}

// cost returns the cost of the message at an index.
func (t *table) cost(at int) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.priced[at].cost
}

// place returns the index of a message, searching near an index first. The caller holds the lock.
func (t *table) place(m *ragctx.Message, near int) (at int, ok bool) {
	const steps = 4 // skips over dropped messages
	for at := near; at < min(near+steps, len(t.priced)); at++ {
		if t.priced[at].is(m) {
			return at, true
		}
	}
	if len(m.Content) == 0 {
		return 0, false
	}
	at, ok = t.at[&m.Content[0]]
	return at, ok && t.priced[at].is(m)
}

// hash returns a hash of everything that determines the cost of a message.
func (c scale) hash(m ragctx.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	text(&h, c.name)
	text(&h, m.Name)
	text(&h, m.Reasoning)
	content(&h, m.Content)
	for _, kept := range wire.VendorFields(m) {
		text(&h, string(kept))
	}
	return h.Sum64()
}

// hashText adds a text with a terminator.
func text(h *maphash.Hash, s string) {
	h.WriteString(s)
	h.WriteByte(0xff) // never occurs in UTF-8
}

func content(h *maphash.Hash, c ragctx.Content) {
	text(h, strconv.Itoa(len(c)))
	for _, b := range c {
		for _, s := range [...]string{string(b.Type), b.Text, b.Name, b.ID, b.ToolUseID} {
			text(h, s)
		}
		for _, bytes := range [...][]byte{b.Input, b.Data, b.Part} {
			text(h, strconv.Itoa(len(bytes)))
			h.Write(bytes)
		}
		if len(b.Content) > 0 {
			content(h, b.Content)
		}
	}
}

func (p *prices) get(key uint64) (n int, ok bool) {
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

func (p *prices) put(key uint64, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(key, n)
}

// keep stores a cost. When the new generation is full, the older one is discarded. The caller holds
// the lock.
func (p *prices) keep(key uint64, n int) {
	if p.new == nil || len(p.new) >= mostPrices {
		p.new, p.older = make(map[uint64]int), p.new
	}
	p.new[key] = n
}
