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

// messages returns what each message costs.
func (c scale) messages(list []ragctx.Message) []int {
	out := make([]int, len(list))
	for i, m := range list {
		out[i] = c.message(m)
	}
	return out
}

// once returns a function that says what messages cost and looks at each content in memory
// once; it is for one run, and for one goroutine.
func (c scale) once() func(ragctx.Message) int {
	known := make(map[*ragctx.Block]priced)
	return func(m ragctx.Message) int {
		if len(m.Content) == 0 {
			return c.message(m)
		}
		key := &m.Content[0]
		if p, ok := known[key]; ok && p.blocks == len(m.Content) && p.name == m.Name && p.reasoning == m.Reasoning {
			return p.cost
		}
		n := c.message(m)
		known[key] = priced{len(m.Content), m.Name, m.Reasoning, n}
		return n
	}
}

// priced is what tells messages apart that share a content in memory, and their cost.
type priced struct {
	blocks          int
	name, reasoning string
	cost            int
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
