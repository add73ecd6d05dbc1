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

// The default limits of [Options].
const (
	DefaultMaxBytes = 32 << 20
	DefaultTimeout  = time.Minute
	DefaultEvery    = 500 * time.Millisecond
	DefaultParallel = 2
	DefaultMaxURLs  = 50_000
)

// Limits that no option changes.
const (
	maxRedirects   = 5
	maxRetries     = 3
	maxHeaderBytes = 64 << 10
	maxWait        = time.Minute // between attempts; if a server asks for more, the request fails
	firstPause     = time.Second // before the first retry; doubles with each retry
	dialTimeout    = 15 * time.Second
)

// Options configures a [Client]. Only Hosts is required; without hosts every request is refused.
type Options struct {
	Hosts Hosts
	// UserAgent is sent with each request; "" is "ragctx".
	UserAgent string
	MaxBytes  int64         // limit of a decompressed page; default 32 MiB
	Timeout   time.Duration // for one request with its response; default 1 minute
	// Every is the minimum time between two requests to a host; default 0.5 s, negative means none.
	// A Crawl-delay in robots.txt extends it up to 10 s.
	Every time.Duration
	// Parallel is the number of parallel requests to a host; default 2.
	Parallel int
	MaxURLs  int // limit of the pages in a sitemap with its nested sitemaps; default 50,000
	// IgnoreRobots requests pages even if robots.txt forbids them.
	IgnoreRobots bool

	Now   func() time.Time                           // the clock; nil is the system's
	Sleep func(context.Context, time.Duration) error // waits, or returns the context's error; nil is the system's
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
		o.Sleep = httpclient.Sleep
	}
	return o
}

// Client downloads from web servers. It caches the state of hosts: their robots.txt, and whether
// they fail. It is safe for concurrent use.
type Client struct {
	opts    Options
	http    *http.Client
	proxies sync.Map // addresses of the environment's proxies

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

// Page is the result of downloading a URL.
type Page struct {
	URL  string // the requested URL in canonical form
	At   string // the URL after redirects
	MIME string // the declared type with its parameters; "" if unknown
	Data []byte
	// State has the validators for the next conditional request, at most 350 bytes; "" if the
	// server sent none.
	State string
	// Unchanged says that the page has not changed since the given state; Data is empty.
	Unchanged bool
}

// Error is the error for one URL. Other URLs are not affected.
type Error struct {
	URL    string
	Reason string // the fault and the remedy, without the URL
	// Gone says that the page does not exist: status 404 or 410. Other errors say nothing about the
	// page.
	Gone bool
	// Incomplete says that a sitemap could not be read completely, so that pages are missing.
	Incomplete bool

	absent bool // the status was 400 to 499
}

// Error implements error.
func (e *Error) Error() string { return e.URL + ": " + e.Reason }

func refuse(u *url.URL, format string, args ...any) *Error {
	return &Error{URL: u.String(), Reason: fmt.Sprintf(format, args...)}
}

// Get downloads the page at a URL. state is the State of the previous download, or "". An [*Error]
// concerns only this page; any other error is the end of ctx.
func (c *Client) Get(ctx context.Context, raw, state string) (Page, error) {
	return c.get(ctx, raw, state, c.checkPage, c.opts.MaxBytes)
}

// get downloads a page of at most limit bytes. permit checks the URL and each redirect.
func (c *Client) get(ctx context.Context, raw, state string, permit func(context.Context, *url.URL) error, limit int64) (Page, error) {
	u, err := parse(raw)
	if err != nil {
		return Page{}, err
	}
	p := Page{URL: u.String()}
	for range maxRedirects + 1 {
		if err := permit(ctx, u); err != nil {
			return Page{}, c.attribute(ctx, p.URL, u, err)
		}
		a, err := c.ask(ctx, u, state, limit)
		if err != nil {
			return Page{}, c.attribute(ctx, p.URL, u, err)
		}
		if a.next == nil {
			p.At, p.MIME, p.Data, p.State = u.String(), a.mime, a.body, a.state
			if p.Unchanged = a.status == http.StatusNotModified; p.Unchanged {
				p.State = state // a 304 may have fewer headers than the page
			}
			return p, nil
		}
		u = a.next
	}
	return Page{}, &Error{URL: p.URL, Reason: fmt.Sprintf("redirects more than %d times", maxRedirects)}
}

// attribute attributes an error at a redirect target to the requested page.
func (c *Client) attribute(ctx context.Context, page string, at *url.URL, err error) error {
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

// checkPage checks whether a page may be requested.
func (c *Client) checkPage(ctx context.Context, u *url.URL) error {
	if err := c.checkHost(ctx, u); err != nil || c.opts.IgnoreRobots {
		return err
	}
	return c.checkRobots(ctx, u)
}

// checkHost checks whether a host may be contacted.
func (c *Client) checkHost(_ context.Context, u *url.URL) error {
	if !c.opts.Hosts.allows(u) {
		return refuse(u, "is on the host %s, which is not allowed; add it to allow_hosts", strings.ToLower(u.Host))
	}
	if httpclient.Permit(u.Hostname()) != nil {
		return refuse(u, "is not on this machine, and ragctx is offline; leave offline out to fetch it")
	}
	return nil
}
