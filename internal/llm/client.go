package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ragctx/ragctx/internal/httpclient"
)

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
	c := &Client{opts: o, host: u.Host, meter: newMeter(&o), slots: make(chan struct{}, o.Parallel)}
	// Each of the parallel requests can fail once for the same reason.
	o.Breaker.After = cmp.Or(o.Breaker.After, max(5, o.Parallel+1))
	o.Breaker.Now, o.Breaker.OnChange = o.Now, c.logState
	c.breaker = httpclient.NewBreaker(o.Breaker)
	c.http = httpclient.New(httpclient.Options{
		URL: u, Key: o.APIKey, Parallel: o.Parallel, Breaker: c.breaker, Now: o.Now, Sleep: o.Sleep,
	})
	c.opts.APIKey, c.opts.URL = "", "" // only the transport has them, so that they are never printed
	return c, nil
}

// Close closes idle connections and logs the totals.
func (c *Client) Close() {
	c.http.Close()
	if t := c.Totals(); t.Requests > 0 {
		c.opts.Logger.Info("language model usage", "service", t.Service, "requests", t.Requests, "retries", t.Retries,
			"failures", t.Failures, "prompt_tokens", t.PromptTokens, "completion_tokens", t.CompletionTokens, "cost", t.Cost)
	}
}

// logState logs state changes of the breaker.
func (c *Client) logState(from, to httpclient.State) {
	switch {
	case to == httpclient.Closed:
		c.opts.Logger.Info("language model is available again", "service", c.String())
	case from == httpclient.Closed:
		c.opts.Logger.Warn("language model fails; requests to it are paused and ragctx continues without it", "service", c.String())
	}
}

// String returns the model and the host of the service, without the key.
func (c *Client) String() string { return fmt.Sprintf("%s at %s", c.opts.Model, c.host) }

// Totals returns the usage since the client was made.
func (c *Client) Totals() Totals {
	t := c.meter.snapshot(c.opts.PromptPrice, c.opts.CompletionPrice)
	state, until := c.breaker.State()
	t.Service, t.State = c.String(), string(state)
	if state == httpclient.Open {
		t.AsksAgain = &until
	}
	return t
}

// Generate implements [Generator].
func (c *Client) Generate(ctx context.Context, r Request) (Response, error) {
	r.MaxTokens = cmp.Or(r.MaxTokens, c.opts.MaxTokens)
	err := r.validate()
	if err != nil {
		return Response{}, fmt.Errorf("ask %s: %w", c, err)
	}
	reserved := int64(r.promptTokens() + r.MaxTokens)
	if err := c.meter.reserve(reserved); err != nil {
		return Response{}, fmt.Errorf("ask %s: %w", c, err)
	}
	out, result, err := c.limited(ctx, r)
	c.meter.settle(reserved, result, out.Usage)
	if err != nil {
		err = fmt.Errorf("ask %s: %w", c, err)
	}
	return out, err
}

// limited sends a request as soon as fewer than [Options].Parallel are in flight.
func (c *Client) limited(ctx context.Context, r Request) (Response, result, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
		return c.adapted(ctx, r)
	case <-ctx.Done():
		return Response{}, abandoned, ctx.Err()
	}
}

// adapted sends a request in the dialect of the service. The dialect is derived from the errors of
// rejected requests, and remembered after a request succeeds.
func (c *Client) adapted(ctx context.Context, r Request) (Response, result, error) {
	c.mu.Lock()
	d := c.dialect
	c.mu.Unlock()
	for {
		out, result, err := c.ask(ctx, r, d)
		next, other := d.adapt(&r, err)
		if !other {
			if result == answered {
				c.remember(d)
			}
			return out, result, err
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
func (c *Client) ask(ctx context.Context, r Request, d dialect) (Response, result, error) {
	body, err := json.Marshal(d.body(cmp.Or(r.Model, c.opts.Model), &r))
	if err != nil {
		return Response{}, failed, fmt.Errorf("encode request: %w", err)
	}
	start := c.opts.Now()
	answer, err := c.http.Post(ctx, httpclient.Request{
		Body: body, MaxAnswer: maxAnswerBytes, Timeout: c.opts.Timeout, Total: 2 * c.opts.Timeout,
		Retries: c.opts.Retries, ServerErrorRetries: 1, Backoff: c.opts.Backoff, MaxWait: c.opts.Timeout,
	})
	c.meter.countAttempts(answer.Attempts)
	if err != nil {
		out := Response{}
		if answer.Attempts > 0 && (ctx.Err() != nil || c.opts.Now().Sub(start) >= c.opts.Timeout) {
			// The service was working for an unknown time, so the prompt is counted.
			out.Usage = Usage{PromptTokens: r.promptTokens(), Estimated: true}
		}
		return out, outcome(ctx, answer, err), err
	}
	out, err := readAnswer(answer.Body)
	if out.Usage == (Usage{}) {
		out.Usage = Usage{PromptTokens: r.promptTokens(), CompletionTokens: estimate(out.Text), Estimated: true}
	}
	switch {
	case errors.Is(err, errReported):
		if said := c.http.ErrorMessage(answer.Body); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return out, failed, err
	case err != nil && !errors.Is(err, ErrTruncated):
		return out, failed, err
	}
	return out, answered, err
}

// outcome returns the result of a call that got no response.
func outcome(ctx context.Context, a httpclient.Answer, err error) result {
	switch {
	case errors.Is(err, httpclient.ErrOpen) && a.Attempts == 0:
		return notAsked
	case ctx.Err() != nil:
		return abandoned
	}
	return failed
}
