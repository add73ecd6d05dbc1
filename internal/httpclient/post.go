package httpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

const (
	maxErrorBytes = 16 << 10
	maxRetryAfter = 24 * time.Hour // over that, arithmetic could overflow
)

// Request is what [Client.Post] sends and how often.
type Request struct {
	Body []byte
	// Header is sent beside what every request has; nil is nothing more.
	Header http.Header
	// Accepted takes status 202 and 204 for an answer as well.
	Accepted bool
	// MaxAnswer is the most bytes of an answer.
	MaxAnswer int64
	// Timeout bounds each attempt, Total all of them with the pauses between; 0 is
	// only the context's deadline. Either is the service's failure, while the end of
	// the context is the caller's doing.
	Timeout, Total time.Duration
	// Retries is how often the request is repeated after status 429 or 5xx and after
	// a broken connection. ServerErrors, unless it is 0, is the same for status 500
	// alone, with which some services refuse what a request holds.
	Retries, ServerErrors int
	// Backoff is about how long to wait before the first repetition, twice as long
	// before each further one, and longer where the service asks for it. MaxWait
	// bounds a pause, unless it is 0: the service's wish for a longer one ends the
	// call, as asking earlier would not help.
	Backoff, MaxWait time.Duration
	// Again is asked before each repetition, unless it is nil; false ends the call.
	Again func() bool
}

// Answer is what came back with status 200, or another that was asked for.
type Answer struct {
	Status   int
	Body     []byte
	Header   http.Header
	Attempts int // how often the request was sent
}

// StatusError is the error of a request that was answered with another status
// than 200. It matches [ragctx.ErrUnavailable] if it may help to ask again,
// [ragctx.ErrDenied] for 401 and 403, and else [ragctx.ErrInvalid].
type StatusError struct {
	Status int
	Said   string // the service's message, clipped; it does not tell the key
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%v: status %d", e.Unwrap(), e.Status)
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text
}

// Unwrap returns the sentinel.
func (e *StatusError) Unwrap() error {
	switch {
	case e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError:
		return ragctx.ErrUnavailable
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return ragctx.ErrDenied
	default:
		return ragctx.ErrInvalid // the request, and so the configuration
	}
}

// attempt is what came of one request.
type attempt struct {
	answer Answer
	err    error
	// again says that a repetition may succeed, after that time at the earliest.
	again bool
	after time.Duration
}

func (a *attempt) status() int {
	if s, ok := errors.AsType[*StatusError](a.err); ok {
		return s.Status
	}
	return 0
}

// Post sends a request, again if that may help and there is time. The answer has
// the number of attempts in any case.
func (c *Client) Post(ctx context.Context, r Request) (Answer, error) {
	backoff, start := r.Backoff, c.now()
	var last error
	for n := 1; ; n++ {
		a := c.guarded(ctx, r, n)
		a.answer.Attempts = n
		if errors.Is(a.err, ErrOpen) {
			a.answer.Attempts--
			if last != nil {
				a.err = fmt.Errorf("%w: %w", a.err, last)
			}
		}
		if last = a.err; a.err == nil || !a.again || n > r.retries(a.status()) || r.Again != nil && !r.Again() {
			return a.answer, a.err
		}
		// Spread, or all who were refused together would come back together.
		pause := max(a.after, backoff/2+rand.N(backoff/2+1))
		if r.MaxWait > 0 {
			pause = max(a.after, min(pause, r.MaxWait))
		}
		left := time.Duration(math.MaxInt64)
		if deadline, ok := ctx.Deadline(); ok {
			left = time.Until(deadline)
		}
		if r.Total > 0 {
			left = min(left, r.Total-c.now().Sub(start))
		}
		if left <= pause || r.MaxWait > 0 && pause > r.MaxWait {
			return a.answer, fmt.Errorf("%w; no time is left to wait %v and ask again", a.err, pause.Round(time.Millisecond))
		}
		if err := c.sleep(ctx, pause); err != nil {
			return a.answer, fmt.Errorf("%w: %w", err, a.err)
		}
		backoff *= 2
		if r.Total > 0 { // what is left of it
			now := c.now()
			start, r.Total = now, r.Total-now.Sub(start)
			if r.Total <= 0 { // it slept too long; 0 would be no limit
				return a.answer, fmt.Errorf("%w; no time is left to ask again", a.err)
			}
		}
	}
}

func (r *Request) retries(status int) int {
	if status == http.StatusInternalServerError && r.ServerErrors != 0 {
		return min(r.Retries, r.ServerErrors)
	}
	return r.Retries
}

// guarded makes an attempt, the nth, if the breaker lets it through. Where a status
// 500 can be about what the request holds, it is one failure with its repetitions.
func (c *Client) guarded(ctx context.Context, r Request, n int) attempt {
	if c.breaker == nil {
		return c.try(ctx, r)
	}
	t, err := c.breaker.enter()
	if err != nil {
		return attempt{err: err}
	}
	a := c.try(ctx, r)
	switch status := a.status(); {
	case ctx.Err() != nil && a.err != nil:
		c.breaker.leave(t, unknown, 0) // the caller's doing, not the service's
	case status == http.StatusInternalServerError && r.ServerErrors != 0 && n <= r.retries(status):
		c.breaker.leave(t, unknown, 0)
	case a.err == nil, status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		c.breaker.leave(t, works, 0)
	default:
		c.breaker.leave(t, fails, a.after)
	}
	return a
}

func (c *Client) try(ctx context.Context, r Request) attempt {
	whole := ctx
	limit := min(cmp.Or(r.Timeout, r.Total), cmp.Or(r.Total, r.Timeout))
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(r.Body))
	if err != nil {
		return attempt{err: errors.New("the URL cannot be asked")} // its text holds the URL
	}
	maps.Copy(req.Header, r.Header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	c.authorize(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.broken(whole, err)
	}
	defer resp.Body.Close()
	if !r.answers(resp.StatusCode) {
		return c.refused(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, r.MaxAnswer+1))
	switch {
	case err != nil:
		return c.broken(whole, err)
	case int64(len(body)) > r.MaxAnswer:
		return attempt{err: fmt.Errorf("the answer has more than %d bytes", r.MaxAnswer)}
	}
	return attempt{answer: Answer{Status: resp.StatusCode, Body: body, Header: resp.Header}}
}

func (r *Request) answers(status int) bool {
	return status == http.StatusOK || r.Accepted && (status == http.StatusAccepted || status == http.StatusNoContent)
}

// broken is the outcome of a request that had no whole answer. What is posted
// here does no harm if it is done twice, so it may be repeated.
func (c *Client) broken(ctx context.Context, err error) attempt {
	if ctx.Err() != nil {
		return attempt{err: fmt.Errorf("no answer in time: %w", ctx.Err())}
	}
	if errors.Is(err, context.DeadlineExceeded) { // of the attempt
		return attempt{err: fmt.Errorf("%w: no answer in time", ragctx.ErrUnavailable), again: true}
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
	e := &StatusError{Status: status}
	if body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes)); err == nil {
		e.Said = c.Said(body)
	}
	return attempt{
		err: e, again: e.Unwrap() == ragctx.ErrUnavailable && status != http.StatusNotImplemented, //nolint:errorlint // it is the sentinel itself
		after: RetryAfter(resp.Header.Get("Retry-After"), c.now()),
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

// RetryAfter reads the value of the header of that name: seconds, or a date. It is at
// most a day, and 0 for what is neither, or past.
func RetryAfter(v string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(s)*time.Second, maxRetryAfter)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// message returns what a service says about an error, by the fields in use:
// message (Cohere), detail (Jina), error (TEI, Ollama) and error.message (OpenAI).
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

// Said returns what a service says about an error in a body, clipped, and nothing
// of what would tell the key: for services that answer so with status 200.
func (c *Client) Said(body []byte) string { return ragctx.Clip(c.scrub(message(body))) }

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
