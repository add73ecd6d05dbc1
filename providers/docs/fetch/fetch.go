package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Limits unless [Options] say otherwise.
const (
	DefaultMaxBytes = 32 << 20
	DefaultTimeout  = time.Minute
	DefaultEvery    = 500 * time.Millisecond
	DefaultParallel = 2
	DefaultMaxURLs  = 50_000
)

// What no option changes.
const (
	maxRedirects   = 5
	maxRetries     = 3
	maxHeaderBytes = 64 << 10
	maxWait        = time.Minute // between attempts; a server that asks for more is given up
	firstPause     = time.Second // before the first repetition, twice that before the next
	dialTimeout    = 15 * time.Second
)

// Options configures a [Client]. Only Hosts is required: without one nothing may
// be asked.
type Options struct {
	Hosts Hosts
	// UserAgent is sent with each request; "" is "ragctx".
	UserAgent string
	MaxBytes  int64         // of one page, unpacked; default 32 MiB
	Timeout   time.Duration // of one request with its answer; default 1 minute
	// Every is the least time between two requests to a host; default 0.5 s,
	// negative is none. The Crawl-delay of robots.txt lengthens it up to 10 s.
	Every time.Duration
	// Parallel is how many requests to a host are under way at a time; default 2.
	Parallel int
	MaxURLs  int // that a sitemap with those below it lists; default 50,000
	// IgnoreRobots asks also for what robots.txt forbids.
	IgnoreRobots bool

	Now   func() time.Time                           // the clock; nil is the system's
	Sleep func(context.Context, time.Duration) error // waits or fails as the context does; nil is the system's
}

func (o Options) withDefaults() Options {
	o.UserAgent = cmp.Or(o.UserAgent, agent)
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), DefaultMaxBytes)
	o.Timeout = cmp.Or(max(o.Timeout, 0), DefaultTimeout)
	o.Every = max(cmp.Or(o.Every, DefaultEvery), 0)
	o.Parallel = cmp.Or(max(o.Parallel, 0), DefaultParallel)
	o.MaxURLs = cmp.Or(max(o.MaxURLs, 0), DefaultMaxURLs)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

// Client asks web servers. It is safe for concurrent use and remembers what it
// learnt about hosts: their robots.txt, and whether they fail.
type Client struct {
	opts    Options
	http    *http.Client
	proxies sync.Map // addresses of proxies that the environment names

	mu    sync.Mutex
	hosts map[string]*host // by scheme, name and port
}

// New returns a client.
func New(o Options) *Client {
	c := &Client{opts: o.withDefaults(), hosts: make(map[string]*host)}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy: c.proxy, DialContext: c.dialer(nil), ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: c.opts.Parallel, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: dialTimeout, MaxResponseHeaderBytes: maxHeaderBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Page is what a URL led to.
type Page struct {
	URL  string // as it was asked for, in its canonical form
	At   string // where the redirects led; URL if there were none
	MIME string // that the server declared, with its parameters; "" is unknown
	Data []byte
	// State tells the server the next time which version is known, in at most 350
	// bytes; "" if it has given no way to.
	State string
	// Unchanged says that the page is as it was in the given state; Data is empty.
	Unchanged bool
}

// Error says why a URL gave nothing. It concerns that one only.
type Error struct {
	URL    string
	Reason string // what is wrong, and what helps; the URL is not part of it
	// Gone says that the server knows of nothing there: status 404 or 410. Whatever
	// else went wrong says nothing about the page.
	Gone bool
	// Incomplete says that it was to list pages, of which some are not known now.
	Incomplete bool

	absent bool // the server answered with a status from 400 to 499
}

// Error implements error.
func (e *Error) Error() string { return e.URL + ": " + e.Reason }

func refuse(u *url.URL, format string, args ...any) *Error {
	return &Error{URL: u.String(), Reason: fmt.Sprintf(format, args...)}
}

// Get returns the page at a URL. state is that of the page the last time, or "".
// An error that is an [*Error] concerns that page only; any other is the end of
// ctx.
func (c *Client) Get(ctx context.Context, raw, state string) (Page, error) {
	return c.get(ctx, raw, state, c.allowed, c.opts.MaxBytes)
}

// get is Get for what permit lets through, up to limit bytes.
func (c *Client) get(ctx context.Context, raw, state string, permit func(context.Context, *url.URL) error, limit int64) (Page, error) {
	u, err := parse(raw)
	if err != nil {
		return Page{}, err
	}
	p := Page{URL: u.String()}
	for range maxRedirects + 1 {
		if err := permit(ctx, u); err != nil {
			return Page{}, c.about(ctx, p.URL, u, err)
		}
		a, err := c.ask(ctx, u, state, limit)
		if err != nil {
			return Page{}, c.about(ctx, p.URL, u, err)
		}
		if a.next == nil {
			p.At, p.MIME, p.Data, p.State = u.String(), a.mime, a.body, a.state
			if p.Unchanged = a.status == http.StatusNotModified; p.Unchanged {
				p.State = state // servers may send less than they would with the page
			}
			return p, nil
		}
		u = a.next
	}
	return Page{}, &Error{URL: p.URL, Reason: fmt.Sprintf("redirects more than %d times", maxRedirects)}
}

// about makes an error of what a page led to one of that page.
func (c *Client) about(ctx context.Context, page string, at *url.URL, err error) error {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok && ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return &Error{URL: page, Reason: ragctx.Clip(err.Error())}
	case page != at.String():
		e.Reason = "redirects to " + ragctx.Clip(at.String()) + ", which " + e.Reason
	}
	e.URL = page
	return e
}

// allowed checks whether a page may be asked for.
func (c *Client) allowed(ctx context.Context, u *url.URL) error {
	if err := c.known(ctx, u); err != nil || c.opts.IgnoreRobots {
		return err
	}
	return c.heed(ctx, u)
}

// known checks whether a host may be asked.
func (c *Client) known(_ context.Context, u *url.URL) error {
	if !c.opts.Hosts.allows(u) {
		return refuse(u, "is on the host %s, which is not allowed; name it in allow_hosts", strings.ToLower(u.Host))
	}
	if httpclient.Permit(u.Hostname()) != nil {
		return refuse(u, "is not on this machine, and ragctx is offline; leave offline out to fetch it")
	}
	return nil
}

// sleep fails when ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
