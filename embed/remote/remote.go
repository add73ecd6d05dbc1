// Package remote embeds with a service. A service runs a model that is too large for this process.
// In return each text costs a call, may leave the machine, and the service may be down.
//
// Services have one of three API shapes, all with JSON and a bearer token:
//
//	openai  POST /v1/embeddings  {model, input, encoding_format, dimensions}  {data: [{index, embedding}], usage}
//	ollama  POST /api/embed      {model, input, truncate, dimensions}         {embeddings, prompt_eval_count}
//	tei     POST /embed          {inputs, truncate, normalize, dimensions}    [[...], ...]
//
// OpenAI, Azure, vLLM, llama.cpp, LM Studio and many others have the first. The third belongs to
// Hugging Face's Text Embeddings Inference.
//
// A service that is down costs no time: after several consecutive failures a circuit breaker pauses
// requests (package httpclient), and calls fail at once with [ragctx.ErrUnavailable]. A text that
// the service rejects does not affect others: its batch is halved until the text is isolated.
//
// Responses are untrusted: they are read up to a limit, must have one vector with the right number
// of finite components for each text, and are normalized.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Client calls one service. It is safe for concurrent use.
type Client struct {
	*service

	identity embed.Identity
}

// service is shared by clients with different dimensions.
type service struct {
	opts    Options
	host    string // names the service in errors
	http    *httpclient.Client
	breaker *httpclient.Breaker
	meter   *meter
	// fastSlots and bulk limit the requests in flight. Queries and short calls have slots of their own,
	// so that they do not wait for an ingest.
	fastSlots, bulkSlots chan struct{}
}

var (
	_ embed.Unsized    = (*Client)(nil)
	_ embed.Metered    = (*Client)(nil)
	_ embed.Calibrated = (*Client)(nil)
)

// New returns a client. It does not call the service. Invalid options are [ragctx.ErrInvalid].
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	u, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("embedder: %w", err)
	}
	s := &service{
		opts: o, host: u.Host, meter: new(meter),
		fastSlots: make(chan struct{}, o.Parallel), bulkSlots: make(chan struct{}, o.Parallel),
	}
	// Each of the parallel requests can fail once for the same reason.
	o.Breaker.After = cmp.Or(o.Breaker.After, max(5, o.Parallel+1))
	o.Breaker.Now, o.Breaker.OnChange = o.Now, s.logState
	s.breaker = httpclient.NewBreaker(o.Breaker)
	s.http = httpclient.New(httpclient.Options{
		URL: u, Key: o.APIKey, Parallel: 2 * o.Parallel, Breaker: s.breaker, Now: o.Now, Sleep: o.Sleep,
	})
	s.opts.APIKey, s.opts.URL = "", "" // only the HTTP client has them, so that they are never printed
	return &Client{s, embed.Identity{
		Name: string(o.Shape) + "/" + o.Model, Revision: o.Revision, Dimensions: o.Dimensions, Pooling: "service", Normalized: true,
		QueryPrefix: o.QueryPrefix, DocumentPrefix: o.DocumentPrefix, MaxBytes: o.MaxBytes,
	}}, nil
}

// Close closes idle connections and logs the usage.
func (c *Client) Close() {
	c.http.Close()
	if u := c.Usage(); u.Used() {
		c.opts.Logger.Info("embedding service usage", "service", u.Service,
			"requests", u.Queries.Requests+u.Documents.Requests, "retries", u.Queries.Retries+u.Documents.Retries,
			"failures", u.Queries.Failures+u.Documents.Failures, "texts", u.Queries.Texts+u.Documents.Texts,
			"tokens", u.Queries.Tokens+u.Documents.Tokens, "cost", u.Cost)
	}
}

// logState logs state changes of the breaker.
func (s *service) logState(from, to httpclient.State) {
	switch {
	case to == httpclient.Closed:
		s.opts.Logger.Info("embedding service is available again", "service", s.String())
	case from == httpclient.Closed:
		s.opts.Logger.Warn("embedding service fails; requests to it are paused and queries use keywords only",
			"service", s.String())
	}
}

// String returns the shape and the host of the service, without the key.
func (s *service) String() string { return fmt.Sprintf("%s at %s", s.opts.Shape, s.host) }

// Identity implements [embed.Embedder]. Its dimensions are 0 until known; see [Client.Sized].
func (c *Client) Identity() embed.Identity { return c.identity }

// VectorWeight implements [embed.Calibrated]. It assumes that the model is at least as good as the
// built-in table.
func (c *Client) VectorWeight() float64 { return 0.3 }

// NoiseFloor implements [embed.Calibrated]; 0 is unknown.
func (c *Client) NoiseFloor() float64 { return c.opts.Floor }

// Usage implements [embed.Metered].
func (c *Client) Usage() embed.Usage {
	u := c.meter.usage(c.opts.Price)
	state, until := c.breaker.State()
	u.Service, u.State = c.String(), string(state)
	if state == httpclient.Open {
		u.AsksAgain = &until
	}
	return u
}

// Sized implements [embed.Unsized].
func (c *Client) Sized(ctx context.Context, like ...embed.Identity) (embed.Embedder, error) {
	if c.identity.Dimensions > 0 {
		return c, nil
	}
	with := c.identity
	for _, id := range like {
		if with.Dimensions = id.Dimensions; with == id && id.Dimensions > 0 {
			return &Client{c.service, with}, nil
		}
	}
	v, err := c.ask(ctx, c.documentCall(c.fastSlots, nil), []string{c.documentText(probeText)})
	if err == nil && v[0] == nil {
		err = errors.New("the service has no vector for a plain text")
	}
	if err != nil {
		return nil, fmt.Errorf("determine the dimensions of %s at %s (or configure them): %w", c.identity.Name, c, err)
	}
	with.Dimensions = len(v[0])
	return &Client{c.service, with}, nil
}

// probeText is a text that every service accepts.
const probeText = "A plain sentence."

// EmbedQuery implements [embed.Embedder]. It returns within [Options.QueryTimeout]. While the
// service is down it returns [ragctx.ErrUnavailable] at once.
func (c *Client) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	limited, cancel := c.withHalfTime(ctx)
	defer cancel()
	v, err := c.ask(limited, c.queryCall(), []string{c.opts.QueryPrefix + truncate(text, c.opts.MaxBytes)})
	switch {
	case err == nil:
		return v[0], nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("embed query by %s: %w", c, ctx.Err())
	case limited.Err() != nil, errors.Is(err, context.DeadlineExceeded): // the caller is still waiting
		return nil, fmt.Errorf("embed query by %s: %w: no response in time", c, ragctx.ErrUnavailable)
	}
	return nil, fmt.Errorf("embed query by %s: %w", c, err)
}

// withHalfTime limits ctx to half of the remaining time.
func (c *Client) withHalfTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
}

// documentText returns the text that is sent for a document.
func (c *Client) documentText(text string) string {
	return c.opts.DocumentPrefix + truncate(text, c.opts.MaxBytes)
}

// truncate returns at most the first limit bytes of s, without splitting a character.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
