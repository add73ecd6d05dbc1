// Package rerank scores with a reranking service how well texts answer a query. Such a service
// reads query and text together, usually with a cross-encoder. It is more accurate than keyword or
// vector scores, but costs a call.
//
// Services have one of three API shapes, all with JSON and a bearer token:
//
//	cohere  POST /v2/rerank  {model, query, documents, top_n}                    {results: [{index, relevance_score}]}
//	jina    POST /v1/rerank  {model, query, documents, top_n, return_documents}  {results: [{index, relevance_score}]}
//	tei     POST /rerank     {query, texts, truncate, raw_scores}                [{index, score}]
//
// The hosted services of Cohere and Jina have the first two. vLLM and llama.cpp serve models with
// Jina's shape. The third belongs to Hugging Face's Text Embeddings Inference.
//
// Texts go only to the service: redirects are not followed. Responses are untrusted: they are read
// up to a limit and must have exactly one score on the expected scale for each text.
package rerank

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

const (
	maxParallel    = 4                 // requests in flight per call
	maxAnswerBytes = 4 << 20           // some services return the texts, too
	breakAfter     = 2*maxParallel + 2 // consecutive failures; all requests of a call may fail together
)

// Client calls one service. It is safe for concurrent use.
type Client struct {
	shape   Shape
	scale   Scale
	model   string
	host    string // names the service in errors
	timeout time.Duration
	retries int
	backoff time.Duration

	maxDocuments, maxBytes, batch int

	http    *httpclient.Client
	breaker *httpclient.Breaker
}

// New returns a client. It does not call the service. Invalid options are [ragctx.ErrInvalid].
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	u, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("reranker: %w", err)
	}
	breaker := httpclient.NewBreaker(httpclient.BreakerOptions{After: breakAfter})
	return &Client{
		shape: o.Shape, scale: o.Scores, model: o.Model, host: u.Host, timeout: o.Timeout,
		retries: o.Retries, backoff: o.Backoff,
		maxDocuments: o.MaxDocuments, maxBytes: o.MaxBytes, batch: o.BatchSize,
		http: httpclient.New(httpclient.Options{URL: u, Key: o.APIKey, Parallel: maxParallel, Breaker: breaker}), breaker: breaker,
	}, nil
}

// Breaker returns the state of the circuit breaker and, if it is open, until when. While it is
// open, queries lose no time on the failing service.
func (c *Client) Breaker() (httpclient.State, time.Time) { return c.breaker.State() }

// Close closes idle connections.
func (c *Client) Close() { c.http.Close() }

// String returns the shape and the host of the service, without the key.
func (c *Client) String() string { return fmt.Sprintf("%s at %s", c.shape, c.host) }

// Rerank returns for each text how well it answers the query, from 0 to 1, in the order of the
// texts. Long texts are truncated. A blank text scores 0 and is not sent. Rerank returns either all
// scores or an error, at the latest when ctx ends or the client's timeout expires.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	switch {
	case strings.TrimSpace(query) == "":
		return nil, ragctx.Invalid("query", "is empty; send the question")
	case len(texts) > c.maxDocuments:
		return nil, ragctx.TooLarge("documents", "are %d; the limit is %d: rerank fewer, or raise MaxDocuments", len(texts), c.maxDocuments)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	query = truncate(query, c.maxBytes)
	sent, places := c.nonBlank(texts)
	found := make([]float64, len(sent))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(maxParallel)
	for from := 0; from < len(sent); from += c.batch {
		to := min(from+c.batch, len(sent))
		g.Go(func() error { return c.score(gctx, query, sent[from:to], found[from:to]) })
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return nil, fmt.Errorf("rerank by %s: %w", c, err)
	}
	scores := make([]float64, len(texts))
	for i, place := range places {
		scores[place] = found[i]
	}
	return scores, nil
}

// nonBlank returns the truncated texts that are not blank, with their indexes in the list. Services
// reject requests with an empty text.
func (c *Client) nonBlank(texts []string) (sent []string, places []int) {
	for i, t := range texts {
		if t = truncate(t, c.maxBytes); strings.TrimSpace(t) != "" {
			sent, places = append(sent, t), append(places, i)
		}
	}
	return sent, places
}

// score requests the scores of one batch and writes them to into.
func (c *Client) score(ctx context.Context, query string, texts []string, into []float64) error {
	body, err := c.shape.request(c.model, c.scale, query, texts)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	answer, err := c.http.Post(ctx, httpclient.Request{Body: body, MaxAnswer: maxAnswerBytes, Retries: c.retries, Backoff: c.backoff})
	if err != nil {
		return err
	}
	scores, err := readScores(c.shape, c.scale, answer.Body, len(texts))
	if err != nil {
		return err
	}
	copy(into, scores)
	return nil
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
