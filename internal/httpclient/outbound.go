// Package httpclient is the way out. [Dial] makes all connections of this module, none but
// to this machine after [GoOffline]; a [Client] posts JSON to services that the operator names, such as one
// that reranks or embeds. What all of them need is here: limits for what is read,
// repetitions with growing pauses, a circuit breaker, and care for what is secret.
//
// A request goes to the one URL and nowhere else: redirects are not followed. The
// key is in no error and in nothing that is printed, and does not travel by plain
// http but to hosts nearby.
package httpclient

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"
)

// maxHeaderBytes bounds the header of an answer.
const maxHeaderBytes = 64 << 10

// Options says where a [Client] posts to. URL is required; see [Endpoint].
type Options struct {
	URL *url.URL
	// Key is sent as a bearer token; empty is none.
	Key string
	// Parallel is how many connections are kept open when they are idle.
	Parallel int
	// Breaker is asked before each attempt and told what came of it; nil is none.
	Breaker *Breaker

	Now   func() time.Time                           // the clock; nil is the system's
	Sleep func(context.Context, time.Duration) error // waits or fails as the context does; nil is the system's
}

// Client posts to one URL. It is safe for concurrent use.
type Client struct {
	url     string
	breaker *Breaker
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	http    *http.Client
	// authorize adds the key to a request. Neither the client nor an error holds
	// the key where it could be printed.
	authorize func(http.Header)
	// scrub removes what would tell the key from what the service says.
	scrub func(string) string
}

// New returns a client.
func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	key := o.Key
	proxy := Proxy
	if o.URL.Scheme != "https" {
		proxy = nil // it would read texts and key
	}
	return &Client{
		url: o.URL.String(), breaker: o.Breaker, now: o.Now, sleep: o.Sleep,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: proxy, DialContext: Dial(net.Dialer{}), ForceAttemptHTTP2: true, MaxIdleConnsPerHost: o.Parallel,
				IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeaderBytes,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		authorize: func(h http.Header) {
			if key != "" {
				h.Set("Authorization", "Bearer "+key)
			}
		},
		scrub: func(s string) string { return scrub(s, key) },
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

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
