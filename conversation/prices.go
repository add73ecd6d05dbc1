package conversation

import (
	"cmp"
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/tokens"
)

// mostPrices is how many prices are kept in each of two generations.
const mostPrices = 1 << 17

// prices remembers what messages cost, by a hash of what they say: to count is what takes
// the time of a long conversation, and what was said does not change. It holds no text.
// The zero value is ready, and safe for concurrent use.
type prices struct {
	mu         sync.Mutex
	new, older map[uint64]int
}

// seed is of this process, so that nobody can look for texts of equal hashes.
var seed = maphash.MakeSeed()

// scale counts messages by a tokenizer, and remembers the costs.
type scale struct {
	session.Scale

	known *prices
	name  string
}

// scale returns the scale of a tokenizer; "" is [DefaultTokenizer].
func (s *Service) scale(tokenizer string) (scale, error) {
	name := cmp.Or(tokenizer, DefaultTokenizer)
	counter, err := tokens.New(name)
	return scale{session.Scale{Counter: counter}, &s.prices, name}, err
}

// message returns what a message costs.
func (c scale) message(m ragctx.Message) int {
	key := c.hash(m)
	if n, ok := c.known.get(key); ok {
		return n
	}
	n := c.Message(m)
	c.known.put(key, n)
	return n
}

// tables are what the messages of a branch cost, by tokenizer. They grow with the branch.
type tables struct {
	mu sync.Mutex
	of map[string]*table
}

// table is what messages of a branch cost, by their contents in memory, which are those of
// everything that is made of the branch and leaves a message as it is.
type table struct {
	mu    sync.RWMutex
	of    map[*ragctx.Block]priced
	known int // messages of the branch
}

// priced is what tells messages apart that share a content in memory, and their cost.
type priced struct {
	blocks          int
	name, reasoning string
	cost            int
}

// costs returns a function that says what messages cost by a scale.
func (l *loaded) costs(c scale) func(ragctx.Message) int {
	l.tables.mu.Lock()
	if l.tables.of == nil {
		l.tables.of = make(map[string]*table)
	}
	t := l.tables.of[c.name]
	if t == nil {
		t = &table{of: make(map[*ragctx.Block]priced, len(l.entries))}
		l.tables.of[c.name] = t
	}
	l.tables.mu.Unlock()
	t.learn(l.entries, c)
	return func(m ragctx.Message) int {
		if n, ok := t.cost(m); ok {
			return n
		}
		return c.message(m)
	}
}

// learn notes what the messages of a branch cost that are not known.
func (t *table) learn(entries []session.Entry, c scale) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; t.known < len(entries); t.known++ {
		if m := entries[t.known].Message; len(m.Content) > 0 {
			t.of[&m.Content[0]] = priced{len(m.Content), m.Name, m.Reasoning, c.message(m)}
		}
	}
}

// cost returns what a message costs, if its content is one of the branch.
func (t *table) cost(m ragctx.Message) (n int, ok bool) {
	if len(m.Content) == 0 {
		return 0, false
	}
	t.mu.RLock()
	p, ok := t.of[&m.Content[0]]
	t.mu.RUnlock()
	return p.cost, ok && p.blocks == len(m.Content) && p.name == m.Name && p.reasoning == m.Reasoning
}

// each returns what each message costs.
func each(cost func(ragctx.Message) int, messages []ragctx.Message) []int {
	out := make([]int, len(messages))
	for i, m := range messages {
		out[i] = cost(m)
	}
	return out
}

// hash returns a hash of all that a message's cost depends on.
func (c scale) hash(m ragctx.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	text(&h, c.name)
	text(&h, m.Name)
	text(&h, m.Reasoning)
	content(&h, m.Content)
	return h.Sum64()
}

// text adds a text and where it ends.
func text(h *maphash.Hash, s string) {
	h.WriteString(s)
	h.WriteByte(0xff) // in no UTF-8
}

func content(h *maphash.Hash, c ragctx.Content) {
	text(h, strconv.Itoa(len(c)))
	for _, b := range c {
		for _, s := range [...]string{string(b.Type), b.Text, b.Name} {
			text(h, s)
		}
		for _, bytes := range [...][]byte{b.Input, b.Data} {
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

// keep notes a price; of what is not asked for any more the older half goes. The lock is
// held.
func (p *prices) keep(key uint64, n int) {
	if p.new == nil || len(p.new) >= mostPrices {
		p.new, p.older = make(map[uint64]int), p.new
	}
	p.new[key] = n
}
