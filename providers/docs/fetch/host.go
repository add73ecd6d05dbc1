package fetch

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"
)

// After maxFailures consecutive failures, requests to a host are paused for restFor.
const (
	maxFailures        = 5
	pauseAfterFailures = 5 * time.Minute
)

// host is the state of a host: its rate limit, failures and robots.txt.
type host struct {
	slots chan struct{}

	mu          sync.Mutex
	next        time.Time // earliest time of the next request
	delay       time.Duration
	failures    int // consecutive failures
	pausedUntil time.Time

	asking  sync.Mutex // held while robots.txt is downloaded
	robots  *robots    // nil if not downloaded yet
	expires time.Time  // expiry of robots
}

// host returns the state of the host of u.
func (c *Client) host(u *url.URL) *host {
	key := u.Scheme + "://" + u.Host
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hosts[key]
	if h == nil {
		h = &host{slots: make(chan struct{}, c.opts.Parallel), delay: c.opts.Every}
		c.hosts[key] = h
	}
	return h
}

// acquire waits until a request is allowed. The caller must call leave afterwards.
func (h *host) acquire(ctx context.Context, c *Client, u *url.URL) error {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		wait, err := h.reserve(c.opts.Now(), u)
		if err == nil && wait > 0 {
			err = c.opts.Sleep(ctx, wait)
		}
		if err != nil {
			<-h.slots
			return err
		}
		if wait <= 0 {
			return nil
		}
	}
}

// reserve reserves the next request, or returns the time to wait.
func (h *host) reserve(now time.Time, u *url.URL) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures >= maxFailures && now.Before(h.pausedUntil) {
		return 0, refuse(u, "was not requested: its server failed %d times in a row; try again later", h.failures)
	}
	if wait := h.next.Sub(now); wait > 0 {
		return wait, nil
	}
	h.next = now.Add(h.delay)
	return 0, nil
}

// release ends a request and records its result.
func (h *host) release(now time.Time, a attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case a.serverFailing:
		h.failures++
		h.pausedUntil = now.Add(pauseAfterFailures)
	case !errors.Is(a.err, context.Canceled) && !errors.Is(a.err, context.DeadlineExceeded):
		h.failures = 0
	}
	if a.after > 0 && a.after <= maxWait { // applies to all requests to the host
		h.next = later(h.next, now.Add(a.after))
	}
	<-h.slots
}

// setDelay sets the time between requests.
func (h *host) setDelay(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.delay = d
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
