package remote

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/internal/httpclient"
)

// call has the settings that requests for one purpose share.
type call struct {
	slots chan struct{}
	tally *tally
	// timeout bounds the wait for a slot and the request together, if there is a wait; 0 means
	// only the context's deadline.
	timeout time.Duration
	// splits says that a rejected batch is split and sent again.
	splits bool
	// request returns the limits of a request with n texts.
	request func(n int) httpclient.Request
}

// queryCall returns the settings for queries: a short timeout and one retry.
func (c *Client) queryCall() call {
	return call{slots: c.fastSlots, tally: &c.meter.queries, timeout: c.opts.QueryTimeout, request: func(int) httpclient.Request {
		return httpclient.Request{Total: c.opts.QueryTimeout, Retries: min(c.opts.Retries, 1), Backoff: c.opts.Backoff / 10}
	}}
}

// documentCall returns the settings for documents: a timeout for the batch, and a retry budget that
// all requests of the call share. A nil budget is unlimited.
func (c *Client) documentCall(lane chan struct{}, budget *atomic.Int64) call {
	return call{slots: lane, tally: &c.meter.documents, splits: true, request: func(n int) httpclient.Request {
		r := httpclient.Request{
			Timeout: c.opts.Timeout/4 + 3*c.opts.Timeout/4*time.Duration(min(n, c.opts.BatchSize))/time.Duration(c.opts.BatchSize),
			Retries: c.opts.Retries, ServerErrorRetries: 1, Backoff: c.opts.Backoff,
		}
		r.Total = 2 * r.Timeout
		r.MaxWait = r.Timeout
		if budget != nil {
			r.MayRetry = func() bool { return budget.Add(-1) >= 0 }
		}
		return r
	}}
}

// ask sends one request and returns the normalized vectors of its texts. A zero vector is returned
// as nil.
func (c *Client) ask(ctx context.Context, of call, texts []string) ([][]float32, error) {
	select {
	case of.slots <- struct{}{}:
	default: // the wait does not count as the service's failure
		if of.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, of.timeout)
			defer cancel()
		}
		select {
		case of.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { <-of.slots }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, err := c.opts.request(texts)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	r := of.request(len(texts))
	r.Body, r.MaxAnswer = body, maxAnswer(len(texts), c.identity.Dimensions)
	answer, err := c.http.Post(ctx, r)
	of.tally.sent(answer.Attempts)
	if err != nil {
		of.tally.failed(ctx, errors.Is(err, httpclient.ErrOpen) && answer.Attempts == 0, of.splits && rejection(err) != 0)
		return nil, err
	}
	reply, err := readReply(c.opts.Shape, answer, len(texts))
	var vectors [][]float32
	if err == nil {
		vectors, err = c.normalizeAll(reply.vectors)
	}
	if err != nil {
		of.tally.failed(ctx, false, false)
		return nil, err
	}
	of.tally.embedded(texts, reply.tokens)
	return vectors, nil
}

func (c *Client) normalizeAll(raw []vector) ([][]float32, error) {
	dim := c.identity.Dimensions
	out := make([][]float32, len(raw))
	for i, v := range raw {
		var err error
		if out[i], err = normalize(v, dim); err != nil {
			return nil, err
		}
		dim = len(v) // all vectors have the same number of components, even if it is not known in advance
	}
	return out, nil
}
