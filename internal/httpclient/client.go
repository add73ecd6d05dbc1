// Package httpclient makes all outgoing connections of this module. [Dial] enforces [GoOffline]. A
// [Client] posts JSON to a service that the operator configured, such as a reranker or an embedder.
// It provides limits on responses, retries with exponential backoff, a circuit breaker, and
// protection of the key.
//
// A request goes only to the configured URL: redirects are not followed. The key never appears in
// errors or printed values, and is not sent over plain http except to private hosts.
package httpclient

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"
)

// maxHeaderBytes is the limit of a response's header.
const maxHeaderBytes = 64 << 10

// Options configures a [Client]. URL is required; see [ParseEndpoint].
type Options struct {
	URL *url.URL
	// Key is sent as a bearer token unless it is empty.
	Key string
	// Public refuses addresses that are not public, and uses no proxy, which would resolve the name itself.
	Public bool
	// Parallel is the number of idle connections that are kept open.
	Parallel int
	// Breaker is consulted before each attempt and receives its outcome; nil disables it.
	Breaker *Breaker

	Now   func() time.Time                           // the clock; nil is the system's
	Sleep func(context.Context, time.Duration) error // waits, or returns the context's error; nil is the system's
}

// Client posts to one URL. It is safe for concurrent use.
type Client struct {
	url     string
	breaker *Breaker
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	http    *http.Client
	// authorize adds the key to a request. It is a closure so that printing the client does not
	// print the key.
	authorize func(http.Header)
	// redact returns "" for a text of the service that contains part of the key.
	redact func(string) string
}

// New returns a client.
func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	key := o.Key
	proxy := Proxy
	if o.URL.Scheme != "https" {
		proxy = nil // a proxy could read texts and key
	}
	var dialer net.Dialer
	if o.Public {
		proxy, dialer.ControlContext = nil, onlyPublic
	}
	return &Client{
		url: o.URL.String(), breaker: o.Breaker, now: o.Now, sleep: o.Sleep,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: proxy, DialContext: Dial(dialer), ForceAttemptHTTP2: true, MaxIdleConnsPerHost: o.Parallel,
				IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeaderBytes,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		authorize: func(h http.Header) {
			if key != "" {
				h.Set("Authorization", "Bearer "+key)
			}
		},
		redact: func(s string) string { return redact(s, key) },
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Sleep waits for d, or returns the error of ctx if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
