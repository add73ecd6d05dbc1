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

// Limits bound the requests of each API key; 0 is no limit.
type Limits struct {
	// Rate is the sustained number of requests per second. Burst is how many may start at once
	// after a pause; 0 is twice the rate, at least one.
	Rate  float64
	Burst int
	// Concurrent limits the requests in progress, streams included.
	Concurrent int
}

// limiter counts the requests of each key. It holds one entry per key.
type limiter struct {
	Limits

	now func() time.Time

	mu    sync.Mutex
	usage map[string]*usage
}

// usage is a token bucket and a count of requests in progress.
type usage struct {
	tokens     float64
	at         time.Time // time of the last refill
	inProgress int
}

func newLimiter(l Limits) *limiter {
	if l.Burst == 0 {
		l.Burst = int(max(1, math.Ceil(2*l.Rate)))
	}
	return &limiter{Limits: l, now: time.Now, usage: make(map[string]*usage)}
}

// enter starts a request of a key and returns the func that ends it. If a limit is exceeded, it
// returns a retry delay and the name of the limit instead.
func (l *limiter) enter(key string) (leave func(), again time.Duration, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage[key]
	if u == nil {
		u = &usage{tokens: float64(l.Burst), at: l.now()}
		l.usage[key] = u
	}
	if l.Concurrent > 0 && u.inProgress >= l.Concurrent {
		return nil, time.Second, fmt.Sprintf("has reached its limit of %d concurrent requests", u.inProgress)
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
	u.inProgress++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		u.inProgress--
	}, 0, ""
}

// limit enforces the limits of each key. Local commands have none.
func (s *Server) limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		key := access.From(c.Request().Context()).Key
		if s.limits.Rate == 0 && s.limits.Concurrent == 0 || key == "" || key == engine.LocalKey ||
			isCounted(c.Request().Context()) {
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
