package rerank

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// Limits of what is read.
const (
	maxAnswerBytes = 4 << 20 // some services repeat the texts
	maxErrorBytes  = 16 << 10
	maxHeaderBytes = 64 << 10
	maxRetryAfter  = 24 * time.Hour // over that, arithmetic could overflow
)

// retry says how requests are repeated.
type retry struct {
	times   int
	backoff time.Duration
}

// attempt is what came of one request.
type attempt struct {
	answer []byte
	err    error
	// again says that a repetition may succeed, after that time at the earliest.
	again bool
	after time.Duration
}

// post sends a request, again if that may help and there is time, and returns
// the answer's body.
func (c *Client) post(ctx context.Context, body []byte) ([]byte, error) {
	backoff := c.retry.backoff
	for left := c.retry.times; ; left-- {
		a := c.try(ctx, body)
		if a.err == nil || !a.again || left == 0 {
			return a.answer, a.err
		}
		// Spread, or all who were refused together would come back together.
		pause := max(a.after, backoff/2+rand.N(backoff/2+1))
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return nil, fmt.Errorf("%w; no time is left to wait %v and ask again", a.err, pause.Round(time.Millisecond))
		}
		if !sleep(ctx, pause) {
			return nil, fmt.Errorf("%w: %w", ctx.Err(), a.err)
		}
		backoff *= 2
	}
}

// sleep reports false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *Client) try(ctx context.Context, body []byte) attempt {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return attempt{err: errors.New("the URL cannot be asked")} // its text holds the URL
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	c.authorize(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return c.broken(ctx, err)
	case len(answer) > maxAnswerBytes:
		return attempt{err: fmt.Errorf("the answer has more than %d bytes", maxAnswerBytes)}
	}
	return attempt{answer: answer}
}

// broken is the outcome of a request that had no whole answer. Scoring twice
// does no harm, so it may be repeated.
func (c *Client) broken(ctx context.Context, err error) attempt {
	if ctx.Err() != nil {
		return attempt{err: fmt.Errorf("no answer in time: %w", ctx.Err())}
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the whole URL
	}
	// What net/http quotes of the answer is the service's to choose.
	why := cmp.Or(ragctx.Clip(c.scrub(err.Error())), "the connection broke")
	return attempt{err: fmt.Errorf("%w: no whole answer: %s", ragctx.ErrUnavailable, why), again: true}
}

// refused is the outcome of a request that was answered with another status
// than 200.
func (c *Client) refused(resp *http.Response) attempt {
	status := resp.StatusCode
	if status >= 300 && status < 400 {
		return attempt{err: fmt.Errorf("it redirects to %s, which is not followed: texts and key would go there, too; use the final URL", cmp.Or(c.scrub(target(resp)), "another address"))}
	}
	text := fmt.Sprintf("status %d", status)
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	if err == nil {
		if said := ragctx.Clip(c.scrub(message(body))); said != "" {
			text += ": " + said
		}
	}
	kind := ragctx.ErrInvalid // the request, and so the configuration
	again := status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
	switch {
	case again:
		kind = ragctx.ErrUnavailable
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		kind = ragctx.ErrDenied
	}
	return attempt{
		err: fmt.Errorf("%w: %s", kind, text), again: again && status != http.StatusNotImplemented,
		after: retryAfter(resp.Header.Get("Retry-After"), time.Now()),
	}
}

// target names the host that a redirect leads to.
func target(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil || u.Host == "" {
		return "nowhere"
	}
	return ragctx.Clip(u.Host)
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(v string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(s)*time.Second, maxRetryAfter)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// message returns what a service says about an error, by the fields in use:
// message (Cohere), detail (Jina), error (TEI) and error.message (llama.cpp).
func message(body []byte) string {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	if inner, ok := m["error"].(map[string]any); ok {
		m = inner
	}
	text := func(name string) string { s, _ := m[name].(string); return s }
	return cmp.Or(text("message"), text("detail"), text("error"))
}

// scrub returns s, or nothing if it tells a part of the key: some services
// quote the key that they refuse.
func scrub(s, key string) string {
	const part = 6
	for i := range max(len(key)-part+1, min(len(key), 1)) {
		if strings.Contains(s, key[i:min(i+part, len(key))]) {
			return ""
		}
	}
	return s
}
