package httpclient

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// ErrOpen is the error of a request that was not sent because the breaker is open. It matches
// [ragctx.ErrUnavailable].
var ErrOpen = fmt.Errorf("%w: the service failed several times in a row; requests to it are paused", ragctx.ErrUnavailable)

// State is the state of a [Breaker].
type State string

// The states.
const (
	Closed   State = "closed"    // requests are sent
	Open     State = "open"      // requests fail at once
	HalfOpen State = "half-open" // one request probes whether the service works again
)

// BreakerOptions configures a [Breaker]. The zero value works.
type BreakerOptions struct {
	// After is the number of consecutive failures that open the breaker; 0 is 5.
	After int
	// CoolDown is the time that the breaker stays open. It doubles with each failed probe, up to
	// MaxCoolDown. If the service asks for a longer pause, that is used, up to MaxCoolDown. The
	// zero values are 5 s and 2 min.
	CoolDown, MaxCoolDown time.Duration
	// OnChange is called for each change of state, in order; it may be nil. It must not block.
	OnChange func(from, to State)

	Now func() time.Time // the clock; nil is the system's
}

// Breaker is a circuit breaker. While a service is down, callers fail at once instead of waiting
// for a timeout, and the service can recover. It is safe for concurrent use.
type Breaker struct {
	opts BreakerOptions

	mu        sync.Mutex
	state     State
	failures  int // consecutive failures
	coolDown  time.Duration
	openUntil time.Time // the end of the open state
	// generation counts state changes. Results of requests sent before the last change are ignored.
	generation uint64
	// probing says that a probe is under way.
	probing bool
}

// NewBreaker returns a closed breaker.
func NewBreaker(o BreakerOptions) *Breaker {
	o.After = cmp.Or(o.After, 5)
	o.CoolDown = cmp.Or(o.CoolDown, 5*time.Second)
	o.MaxCoolDown = max(cmp.Or(o.MaxCoolDown, 2*time.Minute), o.CoolDown)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Breaker{opts: o, state: Closed, coolDown: o.CoolDown}
}

// State returns the state and, if it is open, the end of the open state.
func (b *Breaker) State() (State, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != Open {
		return b.state, time.Time{}
	}
	return Open, b.openUntil
}

// outcome is the result of a request with respect to the service's health.
type outcome int

const (
	unknown outcome = iota
	succeeded
	failed
)

// admit admits a request or returns [ErrOpen]. Every admitted request must call record with the
// returned generation.
func (b *Breaker) admit() (generation uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Open && !b.opts.Now().Before(b.openUntil) {
		b.setState(HalfOpen)
	}
	switch {
	case b.state == Open, b.state == HalfOpen && b.probing:
		return 0, ErrOpen
	case b.state == HalfOpen:
		b.probing = true
	}
	return b.generation, nil
}

// record records the outcome of a request. after is the pause that the service asked for.
func (b *Breaker) record(generation uint64, o outcome, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if generation != b.generation {
		return
	}
	b.probing = false
	switch o {
	case unknown:
	case succeeded:
		b.failures = 0
		if b.state == HalfOpen {
			b.coolDown = b.opts.CoolDown
			b.setState(Closed)
		}
	case failed:
		if b.failures++; b.state == HalfOpen || b.failures >= b.opts.After {
			b.open(after)
		}
	}
}

func (b *Breaker) open(after time.Duration) {
	if b.state == HalfOpen {
		b.coolDown = min(2*b.coolDown, b.opts.MaxCoolDown)
	}
	b.openUntil = b.opts.Now().Add(min(max(b.coolDown, after), b.opts.MaxCoolDown))
	b.failures = 0
	b.setState(Open)
}

func (b *Breaker) setState(to State) {
	from := b.state
	b.state, b.probing = to, false
	b.generation++
	if b.opts.OnChange != nil {
		b.opts.OnChange(from, to)
	}
}
