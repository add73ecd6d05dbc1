// Package remote embeds by a service. Such a service runs a model that is too
// large for this process, at the price of a call, of the texts leaving the machine
// if it is elsewhere, and of being down at times.
//
// Services speak one of three shapes, all with JSON and a bearer token:
//
//	openai  POST /v1/embeddings  {model, input, encoding_format, dimensions}  {data: [{index, embedding}], usage}
//	ollama  POST /api/embed      {model, input, truncate, dimensions}         {embeddings, prompt_eval_count}
//	tei     POST /embed          {inputs, truncate, normalize, dimensions}    [[...], ...]
//
// The first is that of OpenAI, Azure, vLLM, llama.cpp, LM Studio and many more, the
// third that of Hugging Face's Text Embeddings Inference.
//
// A service that is down costs vectors and no time: after some failures in a row
// it is left alone for a while (package outbound), and calls fail at once with
// [ragctx.ErrUnavailable]. A text that the service refuses takes no other with it:
// its batch is cut in halves until it stands alone.
//
// What comes back is not trusted: an answer is read up to a limit, must have one
// vector of the right number of finite components for each text, and is brought to
// length 1 here.
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

// Client asks one service. It is safe for concurrent use.
type Client struct {
	*service

	identity embed.Identity
}

// service is what clients of all dimensions share.
type service struct {
	opts    Options
	host    string // names the service in errors
	http    *httpclient.Client
	breaker *httpclient.Breaker
	meter   *meter
	// The lanes bound the requests under way: questions and short calls, for which
	// someone waits, are not behind an ingest.
	fast, bulk chan struct{}
}

var (
	_ embed.Unsized    = (*Client)(nil)
	_ embed.Metered    = (*Client)(nil)
	_ embed.Calibrated = (*Client)(nil)
)

// New returns a client. Options that cannot work are [ragctx.ErrInvalid]; the
// service is not asked.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	u, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("embedder: %w", err)
	}
	s := &service{
		opts: o, host: u.Host, meter: new(meter),
		fast: make(chan struct{}, o.Parallel), bulk: make(chan struct{}, o.Parallel),
	}
	// Requests that are under way together can fail for one reason each.
	o.Breaker.After = cmp.Or(o.Breaker.After, max(5, o.Parallel+1))
	o.Breaker.Now, o.Breaker.OnChange = o.Now, s.changed
	s.breaker = httpclient.NewBreaker(o.Breaker)
	s.http = httpclient.New(httpclient.Options{
		URL: u, Key: o.APIKey, Parallel: 2 * o.Parallel, Breaker: s.breaker, Now: o.Now, Sleep: o.Sleep,
	})
	s.opts.APIKey, s.opts.URL = "", "" // the client's alone; neither is ever printed
	return &Client{s, embed.Identity{
		Name: string(o.Shape) + "/" + o.Model, Revision: o.Revision, Dimensions: o.Dimensions, Pooling: "service", Normalized: true,
		QueryPrefix: o.QueryPrefix, DocumentPrefix: o.DocumentPrefix, MaxBytes: o.MaxBytes,
	}}, nil
}

// Close closes idle connections and logs what was asked for.
func (c *Client) Close() {
	c.http.Close()
	if u := c.Usage(); u.Asked() {
		c.opts.Logger.Info("embedding service was asked", "service", u.Service,
			"requests", u.Queries.Requests+u.Documents.Requests, "retries", u.Queries.Retries+u.Documents.Retries,
			"failures", u.Queries.Failures+u.Documents.Failures, "texts", u.Queries.Texts+u.Documents.Texts,
			"tokens", u.Queries.Tokens+u.Documents.Tokens, "cost", u.Cost)
	}
}

// changed is told of the breaker's changes.
func (s *service) changed(from, to httpclient.State) {
	switch {
	case to == httpclient.Closed:
		s.opts.Logger.Info("embedding service answers again", "service", s.String())
	case from == httpclient.Closed:
		s.opts.Logger.Warn("embedding service fails and is left alone for a while; questions are answered by words only", "service", s.String())
	}
}

// String says which service is asked, without the key.
func (s *service) String() string { return fmt.Sprintf("%s at %s", s.opts.Shape, s.host) }

// Identity implements [embed.Embedder]. Its dimensions are 0 until they are known;
// see [Client.Sized].
func (c *Client) Identity() embed.Identity { return c.identity }

// VectorWeight implements [embed.Calibrated]. A model worth a service is no worse
// than the built-in table.
func (c *Client) VectorWeight() float64 { return 0.3 }

// NoiseFloor implements [embed.Calibrated]; 0 is not known.
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
	v, err := c.ask(ctx, c.documentCall(c.fast, nil), []string{c.documentText(probe)})
	if err == nil && v[0] == nil {
		err = errors.New("the service has no vector for a plain text")
	}
	if err != nil {
		return nil, fmt.Errorf("find out how many dimensions %s has at %s, which is needed once, unless it is configured: %w", c.identity.Name, c, err)
	}
	with.Dimensions = len(v[0])
	return &Client{c.service, with}, nil
}

// probe is a text that every service embeds.
const probe = "A plain sentence."

// EmbedQuery implements [embed.Embedder]. It is back within [Options.QueryTimeout],
// and at once while the service is down, with [ragctx.ErrUnavailable].
func (c *Client) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	limited, cancel := c.hurried(ctx)
	defer cancel()
	v, err := c.ask(limited, c.queryCall(), []string{c.opts.QueryPrefix + cut(text, c.opts.MaxBytes)})
	switch {
	case err == nil:
		return v[0], nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("embed question by %s: %w", c, ctx.Err())
	case limited.Err() != nil, errors.Is(err, context.DeadlineExceeded): // the caller is still there
		return nil, fmt.Errorf("embed question by %s: %w: no answer in time", c, ragctx.ErrUnavailable)
	}
	return nil, fmt.Errorf("embed question by %s: %w", c, err)
}

// hurried leaves half of a caller's time to the caller.
func (c *Client) hurried(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
}

// documentText is what is sent of a document's text.
func (c *Client) documentText(text string) string {
	return c.opts.DocumentPrefix + cut(text, c.opts.MaxBytes)
}

// cut returns the first limit bytes of s, less what would be half a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
