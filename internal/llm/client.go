package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ragctx/ragctx/internal/httpclient"
)

// defaultMaxTokens is the token limit of answers whose request has none.
const defaultMaxTokens = 2048

// maxParallel is the number of requests in flight. Each of them can fail once for the same reason,
// so it is less than the number of failures that open the circuit breaker.
const maxParallel = 2

// maxAnswerBytes is the limit of a response. Some servers include the model's reasoning.
const maxAnswerBytes = 4 << 20

// Client calls one service. It is safe for concurrent use.
type Client struct {
	opts    Options
	host    string // names the service in errors
	http    *httpclient.Client
	breaker *httpclient.Breaker
	meter   *meter
	slots   chan struct{} // limits the requests in flight

	mu      sync.Mutex
	dialect dialect
}

var _ Generator = (*Client)(nil)

// New returns a client. It does not call the service. Invalid options are [ragctx.ErrInvalid].
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	u, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("language model: %w", err)
	}
	c := &Client{opts: o, host: u.Host, meter: newMeter(&o), slots: make(chan struct{}, maxParallel)}
	c.breaker = httpclient.NewBreaker(httpclient.BreakerOptions{Now: o.Now})
	c.http = httpclient.New(httpclient.Options{
		URL: u, Key: o.APIKey, Parallel: maxParallel, Breaker: c.breaker, Now: o.Now, Sleep: o.Sleep,
	})
	c.opts.APIKey, c.opts.URL = "", "" // only the transport has them, so that they are never printed
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.Close() }

// String returns the model and the host of the service, without the key.
func (c *Client) String() string { return fmt.Sprintf("%s at %s", c.opts.Model, c.host) }

// Breaker returns the state of the circuit breaker and, if it is open, until when.
func (c *Client) Breaker() (httpclient.State, time.Time) { return c.breaker.State() }

// Today returns the tokens used today, including those of [Options].UsedToday.
func (c *Client) Today() DayUsage { return c.meter.usedToday() }

// Generate implements [Generator].
func (c *Client) Generate(ctx context.Context, r Request) (Response, error) {
	r.MaxTokens = cmp.Or(r.MaxTokens, defaultMaxTokens)
	err := r.validate()
	if err != nil {
		return Response{}, fmt.Errorf("ask %s: %w", c, err)
	}
	reserved := int64(r.promptTokens() + r.MaxTokens)
	if err := c.meter.reserve(reserved); err != nil {
		return Response{}, fmt.Errorf("ask %s: %w", c, err)
	}
	out, err := c.limited(ctx, r)
	c.meter.settle(reserved, out.Usage)
	if err != nil {
		err = fmt.Errorf("ask %s: %w", c, err)
	}
	return out, err
}

// limited sends a request as soon as fewer than [maxParallel] are in flight.
func (c *Client) limited(ctx context.Context, r Request) (Response, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
		return c.adapted(ctx, r)
	case <-ctx.Done():
		return Response{}, ctx.Err()
	}
}

// adapted sends a request in the dialect of the service. The dialect is derived from the errors of
// rejected requests, and remembered after a request succeeds.
func (c *Client) adapted(ctx context.Context, r Request) (Response, error) {
	c.mu.Lock()
	d := c.dialect
	c.mu.Unlock()
	for {
		out, err := c.ask(ctx, r, d)
		next, other := d.adapt(&r, err)
		if !other {
			if err == nil || errors.Is(err, ErrTruncated) {
				c.remember(d)
			}
			return out, err
		}
		d = next
	}
}

func (c *Client) remember(d dialect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialect = c.dialect.union(d)
}

// ask sends one request, with retries.
func (c *Client) ask(ctx context.Context, r Request, d dialect) (Response, error) {
	body, err := json.Marshal(d.body(cmp.Or(r.Model, c.opts.Model), &r))
	if err != nil {
		return Response{}, fmt.Errorf("encode request: %w", err)
	}
	start := c.opts.Now()
	answer, err := c.http.Post(ctx, httpclient.Request{
		Body: body, MaxAnswer: maxAnswerBytes, Timeout: c.opts.Timeout, Total: 2 * c.opts.Timeout,
		Retries: c.opts.Retries, ServerErrorRetries: 1, Backoff: c.opts.Backoff, MaxWait: c.opts.Timeout,
	})
	if err != nil {
		out := Response{}
		if answer.Attempts > 0 && (ctx.Err() != nil || c.opts.Now().Sub(start) >= c.opts.Timeout) {
			// The service was working for an unknown time, so the prompt is counted.
			out.Usage = Usage{PromptTokens: r.promptTokens(), Estimated: true}
		}
		return out, err
	}
	out, err := readAnswer(answer.Body)
	if out.Usage == (Usage{}) {
		out.Usage = Usage{PromptTokens: r.promptTokens(), CompletionTokens: estimate(out.Text), Estimated: true}
	}
	if errors.Is(err, errReported) {
		if said := c.http.ErrorMessage(answer.Body); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
	}
	return out, err
}
