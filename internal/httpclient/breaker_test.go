package httpclient

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
)

// plainBreaker is the obvious model of a breaker: requests under way by the
// number they were let in with.
type plainBreaker struct {
	state    State
	failed   int
	cool     time.Duration
	until    time.Time
	underWay []int // requests that may still say something
	next     int
}

// TestBreakerModel takes a breaker and the model through the same random requests,
// which end in any order, and pauses.
func TestBreakerModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, 0)
		var changes []State
		o := BreakerOptions{
			After: rapid.IntRange(1, 4).Draw(t, "after"), CoolDown: 5 * time.Second, MaxCoolDown: 30 * time.Second,
			Now: func() time.Time { return now }, OnChange: func(_, to State) { changes = append(changes, to) },
		}
		b, m := NewBreaker(o), plainBreaker{state: Closed, cool: o.CoolDown}
		tickets := make(map[int]uint64) // of all requests under way, also those that do not count
		turn := func(to State) { m.state, m.underWay, m.failed = to, nil, 0 }
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 12).Draw(t, "seconds")) * time.Second)
			},
			"enter": func(t *rapid.T) {
				ticket, err := b.admit()
				if m.state == Open && !now.Before(m.until) {
					turn(HalfOpen)
				}
				refused := m.state == Open || m.state == HalfOpen && len(m.underWay) > 0
				if refused != errors.Is(err, ErrOpen) || refused && !errors.Is(err, ragctx.ErrUnavailable) {
					t.Fatalf("%s with %v under way: %v", m.state, m.underWay, err)
				}
				if !refused {
					tickets[m.next] = ticket
					m.underWay = append(m.underWay, m.next)
					m.next++
				}
			},
			"leave": func(t *rapid.T) {
				if len(tickets) == 0 {
					t.Skip("nothing is under way")
				}
				var all []int
				for n := range tickets {
					all = append(all, n)
				}
				slices.Sort(all)
				n := rapid.SampledFrom(all).Draw(t, "request")
				what := outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))
				after := time.Duration(rapid.SampledFrom([]int{0, 0, 20, 3600}).Draw(t, "after")) * time.Second
				b.record(tickets[n], what, after)
				delete(tickets, n)
				i := slices.Index(m.underWay, n)
				if i < 0 {
					return // from before a change
				}
				m.underWay = slices.Delete(m.underWay, i, i+1)
				switch {
				case what == succeeded && m.state == HalfOpen:
					m.cool = o.CoolDown
					turn(Closed)
				case what == succeeded:
					m.failed = 0
				case what == failed:
					m.failed++
					if m.state == HalfOpen {
						m.cool = min(30*time.Second, 2*m.cool)
					}
					if m.state == HalfOpen || m.failed >= o.After {
						m.until = now.Add(min(30*time.Second, max(m.cool, after)))
						turn(Open)
					}
				}
			},
			"": func(t *rapid.T) {
				state, until := b.State()
				if state != m.state || state == Open && !until.Equal(m.until) {
					t.Fatalf("it is %s until %v, want %s until %v", state, until, m.state, m.until)
				}
				if n := len(changes); n > 0 && changes[n-1] != state {
					t.Fatalf("told of %v, is %s", changes, state)
				}
			},
		})
	})
}
