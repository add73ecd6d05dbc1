// Package rerank asks a reranking service how well texts answer a question. Such
// a service reads question and text together, as a rule with a cross-encoder:
// it tells better than words or vectors apart can, at the price of a call.
//
// Services speak one of three shapes, all with JSON and a bearer token:
//
//	cohere  POST /v2/rerank  {model, query, documents, top_n}                    {results: [{index, relevance_score}]}
//	jina    POST /v1/rerank  {model, query, documents, top_n, return_documents}  {results: [{index, relevance_score}]}
//	tei     POST /rerank     {query, texts, truncate, raw_scores}                [{index, score}]
//
// The first two are those of the hosted services of Cohere and Jina; vLLM and
// llama.cpp serve models in the shape of Jina. The third is that of Hugging
// Face's Text Embeddings Inference.
//
// What the texts are goes to the service and nowhere else: redirects are not
// followed. What comes back is not trusted: an answer is read up to a limit and
// must have exactly one score on the expected scale for each text.
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
	maxParallel    = 4                 // requests of one call that are under way at a time
	maxAnswerBytes = 4 << 20           // some services repeat the texts
	breakAfter     = 2*maxParallel + 2 // failures in a row: the parts of one call may fail together
)

// Client asks one service. It is safe for concurrent use.
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

// New returns a client. Options that cannot work are [ragctx.ErrInvalid]; the
// service is not asked.
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

// Breaker returns the state of the circuit breaker, and until when it is open if it is: a
// service that is down costs questions no time then.
func (c *Client) Breaker() (httpclient.State, time.Time) { return c.breaker.State() }

// Close closes idle connections.
func (c *Client) Close() { c.http.Close() }

// String says which service is asked, without the key.
func (c *Client) String() string { return fmt.Sprintf("%s at %s", c.shape, c.host) }

// Rerank returns how well each text answers the query, 0 to 1, in the order of
// the texts. Of long texts the beginning is judged. A text without a visible
// character has 0 and is not sent. It returns at the latest when ctx or the
// client's timeout ends, and either all scores or an error.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	switch {
	case strings.TrimSpace(query) == "":
		return nil, ragctx.Invalid("query", "is empty; there is nothing to compare texts with")
	case len(texts) > c.maxDocuments:
		return nil, ragctx.TooLarge("documents", "are %d; the limit is %d: rerank fewer, or raise MaxDocuments", len(texts), c.maxDocuments)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	query = cut(query, c.maxBytes)
	sent, places := c.visible(texts)
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

// visible returns the texts that are sent, and where each stands in the list.
// Services refuse a request with an empty text in it.
func (c *Client) visible(texts []string) (sent []string, places []int) {
	for i, t := range texts {
		if t = cut(t, c.maxBytes); strings.TrimSpace(t) != "" {
			sent, places = append(sent, t), append(places, i)
		}
	}
	return sent, places
}

// score asks for the scores of one request's texts and puts them into into.
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
