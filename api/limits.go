package api

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
)

// Limits are what each API key may ask of the server; 0 is no limit.
type Limits struct {
	// Rate is how many requests a second may begin in the long run, Burst how many at
	// once after a pause; 0 is twice the rate, at least one.
	Rate  float64
	Burst int
	// Concurrent is how many requests may be under way, streams included.
	Concurrent int
}

// limiter counts the requests of each key. There are as many as there are keys.
type limiter struct {
	Limits

	now func() time.Time

	mu    sync.Mutex
	usage map[string]*usage
}

// usage is a token bucket and a count.
type usage struct {
	tokens   float64
	at       time.Time // when tokens were counted
	underWay int
}

func newLimiter(l Limits) *limiter {
	if l.Burst == 0 {
		l.Burst = int(max(1, math.Ceil(2*l.Rate)))
	}
	return &limiter{Limits: l, now: time.Now, usage: make(map[string]*usage)}
}

// enter lets a request of a key begin, which leave ends; or it returns what is exceeded,
// and after how long it may be worth to try again.
func (l *limiter) enter(key string) (leave func(), again time.Duration, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage[key]
	if u == nil {
		u = &usage{tokens: float64(l.Burst), at: l.now()}
		l.usage[key] = u
	}
	if l.Concurrent > 0 && u.underWay >= l.Concurrent {
		return nil, time.Second, fmt.Sprintf("has reached its limit of %d concurrent requests", u.underWay)
	}
	if l.Rate > 0 {
		now := l.now()
		u.tokens = min(float64(l.Burst), u.tokens+l.Rate*now.Sub(u.at).Seconds())
		u.at = now
		if u.tokens < 1 {
			wait := time.Duration((1 - u.tokens) / l.Rate * float64(time.Second))
			return nil, wait, fmt.Sprintf("has reached its limit of %g requests a second", l.Rate)
		}
		u.tokens--
	}
	u.underWay++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		u.underWay--
	}, 0, ""
}

// limit holds each key to its limits. Commands of this machine have none.
func (s *Server) limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		key := access.From(c.Request().Context()).Key
		if s.limits.Rate == 0 && s.limits.Concurrent == 0 || key == "" || key == engine.LocalKey {
			return next(c)
		}
		leave, again, what := s.limits.enter(key)
		if leave == nil {
			return busy(http.StatusTooManyRequests, again, "the API key "+what)
		}
		defer leave()
		return next(c)
	}
}
