package fetch

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"
)

// When a host fails this often in a row, it is left alone for a while.
const (
	maxFailures = 5
	restFor     = 5 * time.Minute
)

// host is what is known of a host, and the turns of those who ask it.
type host struct {
	slots chan struct{}

	mu     sync.Mutex
	next   time.Time // when it may be asked again
	delay  time.Duration
	failed int // in a row
	until  time.Time

	asking  sync.Mutex // for robots.txt
	robots  *robots    // nil is not known yet
	expires time.Time  // robots
}

// host returns what is known of the host of u.
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

// enter waits for a turn. Who has one calls leave.
func (h *host) enter(ctx context.Context, c *Client, u *url.URL) error {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		wait, err := h.turn(c.opts.Now(), u)
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

// turn takes the next turn, or says how long it is until then.
func (h *host) turn(now time.Time, u *url.URL) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed >= maxFailures && now.Before(h.until) {
		return 0, refuse(u, "was not asked for: its server failed %d times in a row; try again later", h.failed)
	}
	if wait := h.next.Sub(now); wait > 0 {
		return wait, nil
	}
	h.next = now.Add(h.delay)
	return 0, nil
}

// leave gives the turn free and takes note of what came of it.
func (h *host) leave(now time.Time, a attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case a.fails:
		h.failed++
		h.until = now.Add(restFor)
	case !errors.Is(a.err, context.Canceled) && !errors.Is(a.err, context.DeadlineExceeded):
		h.failed = 0
	}
	if a.after > 0 && a.after <= maxWait { // it concerns everyone who asks
		h.next = later(h.next, now.Add(a.after))
	}
	<-h.slots
}

// slow sets the time between requests.
func (h *host) slow(d time.Duration) {
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
