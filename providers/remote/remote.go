// Package remote queries context providers that run as separate programs, over HTTP.
//
// A query is posted to the provider's URL as JSON (see [Question]) and answered with items:
//
//	{"items": [{"id": "account-17", "content": "...", "relevance": 0.8, "source": "crm:account-17"}]}
//
// With a turn hook, completed turns are posted to a second URL (see [TurnNote]). With a secret,
// requests are signed. [Verify] checks signatures, and [Handler] serves a provider written in Go.
//
// If a provider is down, only its items are missing: after several consecutive failures a circuit
// breaker pauses requests to it (package httpclient). Answers are untrusted. They are read up to
// limits, and invalid items are dropped. Claims about an item's rank, such as being required, are
// ignored.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// grace is added to a provider's timeout to get the time that a caller should wait. A late answer
// then counts as the provider's own failure for its breaker.
const grace = 250 * time.Millisecond

// backoff is about the pause before the first retry.
const backoff = 50 * time.Millisecond

// Provider is a provider behind a URL. It is safe for concurrent use.
type Provider struct {
	opts    Options
	client  *httpclient.Client
	breaker *httpclient.Breaker
	answers *answers
}

var (
	_ ragctx.ContextProvider = (*Provider)(nil)
	_ ragctx.FailurePolicy   = (*Provider)(nil)
	_ ragctx.Selective       = (*Provider)(nil)
	_ ragctx.TurnObserver    = (*Observer)(nil)
)

// New returns a provider. It does not call it. Invalid options are [ragctx.ErrInvalid]. TurnURL is
// for [NewObserver].
func New(o Options) (*Provider, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Provider{opts: o, answers: newAnswers(o.CacheTTL)}
	o.Breaker.Now = o.Now
	p.breaker = httpclient.NewBreaker(o.Breaker)
	p.client = p.newClient(o.URL, p.breaker)
	return p, nil
}

// newClient returns a client for one of the provider's URLs, which have been checked.
func (p *Provider) newClient(raw string, b *httpclient.Breaker) *httpclient.Client {
	u, err := httpclient.ParseEndpoint(raw, "")
	if err != nil {
		panic(err) // a bug in this package
	}
	return httpclient.New(httpclient.Options{URL: u, Parallel: 4, Breaker: b, Now: p.opts.Now, Sleep: p.opts.Sleep})
}

// Close closes idle connections.
func (p *Provider) Close() { p.client.Close() }

// Name implements [ragctx.ContextProvider].
func (p *Provider) Name() string { return p.opts.Name }

// Kind returns how the provider is reached.
func (*Provider) Kind() string { return "remote" }

// FailureMode implements [ragctx.FailurePolicy].
func (p *Provider) FailureMode() ragctx.FailureMode { return p.opts.FailureMode }

// Timeout returns the time that the service may take.
func (p *Provider) Timeout() time.Duration { return p.opts.Timeout }

// Patience returns the time that a caller should wait for an answer: the timeout and a margin.
func (p *Provider) Patience() time.Duration { return p.opts.Timeout + grace }

// Breaker returns the state of the circuit breaker and, if it is open, until when.
func (p *Provider) Breaker() (httpclient.State, time.Time) { return p.breaker.State() }

// Concerns implements [ragctx.Selective]. Queries of other namespaces, and for other types of
// items, are not sent.
func (p *Provider) Concerns(q ragctx.ContextQuery) bool {
	if len(p.opts.Namespaces) > 0 && !slices.Contains(p.opts.Namespaces, q.Namespace) {
		return false
	}
	return slices.ContainsFunc(p.opts.Types, q.Wants)
}

// Query implements [ragctx.ContextProvider].
func (p *Provider) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	if p.opts.CacheTTL == 0 {
		res, _, err := p.query(ctx, q)
		return res, err
	}
	key, err := keyOf(q)
	if err != nil {
		return ragctx.ContextResult{}, err
	}
	now := p.opts.Now()
	if body, ok := p.answers.get(key, q.Now, now); ok {
		return read(q, &p.opts, body)
	}
	res, body, err := p.query(ctx, q)
	if err == nil {
		p.answers.put(key, body, q.Now, now)
	}
	return res, err
}

// query queries the service. It returns the decoded result and the response body.
func (p *Provider) query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, []byte, error) {
	id := p.opts.NewID()
	body, err := p.post(ctx, id, q)
	if err != nil {
		return ragctx.ContextResult{}, nil, p.logFailure(ctx, id, err)
	}
	res, err := read(q, &p.opts, body)
	if err != nil {
		err = p.logFailure(ctx, id, err)
	}
	return res, body, err
}

// post sends a query and returns the response body.
func (p *Provider) post(ctx context.Context, id string, q ragctx.ContextQuery) ([]byte, error) {
	deadline := p.opts.Now().Add(p.opts.Timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	body, err := json.Marshal(Question{Event: EventQuery, Provider: p.opts.Name, RequestID: id, Deadline: deadline.UTC(), Query: q})
	if err != nil {
		return nil, fmt.Errorf("encode question: %w", err)
	}
	answer, err := p.client.Post(ctx, httpclient.Request{
		Body: body, Header: p.sign(body), MaxAnswer: p.opts.MaxBytes, AllowEmpty: true,
		Timeout: p.opts.Timeout, Total: p.opts.Timeout, Retries: p.opts.Retries, Backoff: backoff,
	})
	return answer.Body, err
}

// logFailure logs the cause of a failure and returns an error for callers without details, because
// callers did not configure the provider.
func (p *Provider) logFailure(ctx context.Context, id string, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(err, httpclient.ErrOpen):
		return httpclient.ErrOpen
	}
	p.opts.Logger.WarnContext(ctx, "provider's service failed", "provider", p.opts.Name, "provider_request", id, "error", err)
	return fmt.Errorf("%w: its service failed; the log has the cause", ragctx.ErrUnavailable)
}

// sign returns the headers of a request with the given body.
func (p *Provider) sign(body []byte) http.Header {
	h := make(http.Header)
	if p.opts.Secret != "" {
		h.Set(SignatureHeader, Sign(p.opts.Secret, body, p.opts.Now()))
	}
	return h
}

// withDefaults returns o with every unset field filled in.
func (o Options) withDefaults() Options {
	if len(o.Types) == 0 {
		o.Types = []ragctx.ContextType{ragctx.TypeResource}
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.MaxItems = cmp.Or(o.MaxItems, DefaultMaxItems)
	o.Retries = max(cmp.Or(o.Retries, DefaultRetries), 0)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }
	}
	return o
}
