package weaviate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Limits of one attempt. The server ends its own work after 10 s.
const (
	dialTime   = time.Second
	searchTime = 3 * time.Second
	writeTime  = 8 * time.Second
	maxAnswer  = 64 << 20
	maxProblem = 16 << 10
	idleHosts  = 16 // connections kept open for each endpoint
)

// client sends requests to the endpoints of one cluster. All requests of this package may be repeated: they read, write objects with
// ids of their own, or delete by id.
type client struct {
	hosts []*url.URL
	key   string
	http  *http.Client
	pings *http.Client // with a connection for each ping: an old one may be dead although the server lives
	now   func() time.Time
	first atomic.Uint32  // the endpoint that answered last
	ahead []atomic.Int64 // by endpoint: the nanoseconds by which its clock is ahead of now at most
	slack time.Duration  // added to the limits of attempts by tests, which run on busy machines
	dogs  []*httpclient.Watchdog
	back  httpclient.Signal // of all endpoints
}

func newClient(hosts []*url.URL, key string, now func() time.Time, log *slog.Logger) *client {
	connecting := func(kept bool) *http.Client {
		return &http.Client{
			Transport: &http.Transport{
				DialContext:       httpclient.Dial(net.Dialer{Timeout: dialTime}),
				DisableKeepAlives: !kept, MaxIdleConnsPerHost: idleHosts, IdleConnTimeout: time.Minute,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	c := &client{hosts: hosts, key: key, now: now, ahead: make([]atomic.Int64, len(hosts))}
	c.http, c.pings = connecting(true), connecting(false)
	for at, host := range hosts {
		c.dogs = append(c.dogs, httpclient.NewWatchdog(host.Host, func(ctx context.Context) error { return c.ping(ctx, at) }, &c.back, log))
	}
	return c
}

// ping asks an endpoint whether it lives.
func (c *client) ping(ctx context.Context, at int) error {
	ctx, cancel := context.WithTimeout(ctx, httpclient.PingTime+c.slack)
	defer cancel()
	err := c.send(ctx, c.pings, http.MethodGet, at, "/.well-known/live", nil, nil)
	if _, ok := errors.AsType[*statusError](err); ok {
		return nil
	}
	return err
}

// statusError is the answer to a request that the server rejects.
type statusError struct {
	status  int
	problem string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.problem) }

// isStatus reports whether err is an answer with a status.
func isStatus(err error, status int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == status
}

// do sends a request with a JSON body to the endpoint that answered last, and to the next one if that fails. It decodes
// the answer into out unless that is nil. An error matches [ragctx.ErrUnavailable], and [index.ErrAway] if
// no endpoint has answered, or is the context's.
func (c *client) do(ctx context.Context, limit time.Duration, method, path string, body, out any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return fmt.Errorf("ask Weaviate: %w", err)
		}
	}
	first, kind := int(c.first.Load()), index.ErrAway
	var errs []error
	for i := range c.hosts {
		at := (first + i) % len(c.hosts)
		err := c.attempt(ctx, limit, method, at, path, sent, out)
		if ctx.Err() != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) { // the next request must not wait for it, too
				c.first.CompareAndSwap(uint32(first), uint32((at+1)%len(c.hosts))) //nolint:gosec // few
			}
			return ctx.Err()
		}
		if e, ok := errors.AsType[*statusError](err); err == nil || ok && e.status < http.StatusInternalServerError {
			c.first.Store(uint32(at)) //nolint:gosec // few
			if err != nil {
				err = fmt.Errorf("%w: weaviate: %w", ragctx.ErrUnavailable, err)
			}
			return err
		}
		if !isAway(err) {
			kind = ragctx.ErrUnavailable
		}
		errs = append(errs, fmt.Errorf("%s: %w", c.hosts[at].Host, err))
	}
	return fmt.Errorf("%w: weaviate: %w", kind, errors.Join(errs...))
}

// errNoAnswer is the error of a request that was not answered. Those of net/http have no type in common.
var errNoAnswer = errors.New("no answer")

// isAway reports whether an endpoint has not answered, or a proxy in its place.
func isAway(err error) bool {
	return errors.Is(err, errNoAnswer) || httpclient.IsAway(err) || isStatus(err, http.StatusBadGateway) ||
		isStatus(err, http.StatusServiceUnavailable) || isStatus(err, http.StatusGatewayTimeout)
}

// attempt sends a request to one endpoint, unless that has stopped to answer.
func (c *client) attempt(ctx context.Context, limit time.Duration, method string, at int, path string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit+c.slack)
	defer cancel()
	return c.dogs[at].Do(ctx, func(ctx context.Context) error { return c.send(ctx, c.http, method, at, path, body, out) })
}

func (c *client) send(ctx context.Context, via *http.Client, method string, at int, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.hosts[at].JoinPath("v1").String()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := via.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer resp.Body.Close()
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		c.ahead[at].Store(int64(date.Add(time.Second).Sub(c.now()))) // it is cut to seconds
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return problemOf(resp)
	}
	rest := io.LimitReader(resp.Body, maxAnswer)
	if out != nil {
		if err := json.NewDecoder(rest).Decode(out); err != nil {
			return fmt.Errorf("the answer cannot be read: %w", err)
		}
	}
	_, err = io.Copy(io.Discard, rest) // the connection is used again only after the end of the answer
	return err
}

// latest returns a time that is not before the one of this process's clock, nor of the clocks of the endpoints.
func (c *client) latest() time.Time {
	var ahead time.Duration
	for i := range c.ahead {
		ahead = max(ahead, time.Duration(c.ahead[i].Load()))
	}
	return c.now().Add(ahead)
}

// problemOf returns the error in an answer with an error status.
func problemOf(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	var in struct {
		Error   problems `json:"error"`
		Message string   `json:"message"`
	}
	_ = json.Unmarshal(body, &in)
	return &statusError{resp.StatusCode, ragctx.Clip(cmp.Or(in.Error.first(), in.Message, http.StatusText(resp.StatusCode)))}
}

// problems are error messages of the server.
type problems []struct {
	Message string `json:"message"`
}

func (p problems) first() string {
	if len(p) == 0 {
		return ""
	}
	return p[0].Message
}

// answer is an answer to a GraphQL query.
type answer struct {
	Data   any      `json:"data"`
	Errors problems `json:"errors"`
}

func (a *answer) err() error {
	if len(a.Errors) == 0 {
		return nil
	}
	return fmt.Errorf("%w: weaviate: %s", ragctx.ErrUnavailable, ragctx.Clip(a.Errors.first()))
}

const graphQL = "/graphql"

// query sends a GraphQL query and decodes its data into out.
func (c *client) query(ctx context.Context, text string, out any) error {
	a := answer{Data: out}
	if err := c.do(ctx, searchTime, http.MethodPost, graphQL, map[string]string{"query": text}, &a); err != nil {
		return err
	}
	return a.err()
}

// queryAt sends a GraphQL query to one endpoint.
func (c *client) queryAt(ctx context.Context, at int, text string, out any) error {
	sent, err := json.Marshal(map[string]string{"query": text})
	if err != nil {
		return err
	}
	a := answer{Data: out}
	if err := c.attempt(ctx, searchTime, http.MethodPost, at, graphQL, sent, &a); err != nil {
		return fmt.Errorf("%w: weaviate: %s: %w", ragctx.ErrUnavailable, c.hosts[at].Host, err)
	}
	return a.err()
}

// quote returns a string of a GraphQL query.
func quote(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string
	return string(b)
}

// objectID is the id of a chunk's object, and chunkOf its reverse. The first half is constant, and another one for an object
// that is no chunk.
func objectID(chunk uint64) string {
	return fmt.Sprintf("00000000-0000-8000-%04x-%012x", chunk>>48, chunk&(1<<48-1))
}

func chunkOf(id string) (chunk uint64, err error) {
	digits, ok := strings.CutPrefix(id, "00000000-0000-8000-")
	high, low, two := strings.Cut(digits, "-")
	if !ok || !two || len(high) != 4 || len(low) != 12 {
		return 0, fmt.Errorf("%q is no id of a chunk", ragctx.Clip(id))
	}
	return strconv.ParseUint(high+low, 16, 64)
}
