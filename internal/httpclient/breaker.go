package httpclient

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// ErrOpen is the error of a request that was not sent, because the service failed
// several times in a row just now. It matches [ragctx.ErrUnavailable].
var ErrOpen = fmt.Errorf("%w: the service failed just now and is not asked for a while", ragctx.ErrUnavailable)

// State is that of a [Breaker].
type State string

// The states.
const (
	Closed   State = "closed"    // requests go through
	Open     State = "open"      // requests fail at once
	HalfOpen State = "half-open" // one request finds out whether the service is back
)

// BreakerOptions configures a [Breaker]. The zero value works.
type BreakerOptions struct {
	// After is how many failures in a row open it; 0 is 5.
	After int
	// CoolDown is how long it stays open, twice as long after each failure to come
	// back, at most MaxCoolDown, and longer up to that where the service asks for
	// it; 0 is 5 s, and 2 min for the most.
	CoolDown, MaxCoolDown time.Duration
	// Changed is told of every change of state, in the order of the changes; it must
	// not block. It may be nil.
	Changed func(from, to State)

	Now func() time.Time // the clock; nil is the system's
}

// Breaker keeps requests from a service that is down: a question is answered
// without it at once, instead of after a deadline, and the service can recover.
// It is safe for concurrent use.
type Breaker struct {
	opts BreakerOptions

	mu     sync.Mutex
	state  State
	failed int // in a row
	cool   time.Duration
	until  time.Time // when it is half open, if it is open
	// era counts changes of state: what was sent before one says nothing after it.
	era uint64
	// probing says that a request is under way that finds out.
	probing bool
}

// NewBreaker returns a breaker that is closed.
func NewBreaker(o BreakerOptions) *Breaker {
	o.After = cmp.Or(o.After, 5)
	o.CoolDown = cmp.Or(o.CoolDown, 5*time.Second)
	o.MaxCoolDown = max(cmp.Or(o.MaxCoolDown, 2*time.Minute), o.CoolDown)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Breaker{opts: o, state: Closed, cool: o.CoolDown}
}

// State returns the state, and until when it is open if it is.
func (b *Breaker) State() (State, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != Open {
		return b.state, time.Time{}
	}
	return Open, b.until
}

// outcome is what a request tells about the service.
type outcome int

const (
	unknown outcome = iota
	works
	fails
)

// enter lets a request through, or fails with [ErrOpen]. Every request that was
// let through must leave with the number it got.
func (b *Breaker) enter() (era uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Open && !b.opts.Now().Before(b.until) {
		b.turn(HalfOpen)
	}
	switch {
	case b.state == Open, b.state == HalfOpen && b.probing:
		return 0, ErrOpen
	case b.state == HalfOpen:
		b.probing = true
	}
	return b.era, nil
}

// leave says what came of a request; after is how long the service asks to be left
// alone.
func (b *Breaker) leave(era uint64, o outcome, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if era != b.era {
		return
	}
	b.probing = false
	switch o {
	case unknown:
	case works:
		b.failed = 0
		if b.state == HalfOpen {
			b.cool = b.opts.CoolDown
			b.turn(Closed)
		}
	case fails:
		if b.failed++; b.state == HalfOpen || b.failed >= b.opts.After {
			b.open(after)
		}
	}
}

func (b *Breaker) open(after time.Duration) {
	if b.state == HalfOpen {
		b.cool = min(2*b.cool, b.opts.MaxCoolDown)
	}
	b.until = b.opts.Now().Add(min(max(b.cool, after), b.opts.MaxCoolDown))
	b.failed = 0
	b.turn(Open)
}

func (b *Breaker) turn(to State) {
	from := b.state
	b.state, b.probing = to, false
	b.era++
	if b.opts.Changed != nil {
		b.opts.Changed(from, to)
	}
}
