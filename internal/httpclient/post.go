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
	maxRetryAfter = 24 * time.Hour // longer values could overflow
)

// Request is the input of [Client.Post].
type Request struct {
	Body []byte
	// Header is sent in addition to the standard headers; it may be nil.
	Header http.Header
	// AllowEmpty allows the statuses 202 and 204 in addition to 200.
	AllowEmpty bool
	// MaxAnswer is the limit of the response body in bytes. If it is negative, the body is not read.
	MaxAnswer int64
	// Timeout bounds each attempt; Total bounds all attempts with the pauses between them. 0 means
	// only the deadline of the context. Exceeding either counts as a failure of the service; the
	// end of the context does not.
	Timeout, Total time.Duration
	// Retries is the number of retries after status 429 or 5xx and after a broken connection.
	// ServerErrorRetries, unless 0, is the number after status 500, which some services return for
	// invalid requests.
	Retries, ServerErrorRetries int
	// Backoff is about the pause before the first retry. It doubles with each retry, and is longer
	// if the service asks for it. MaxWait, unless 0, is the limit of a pause: if the service asks
	// for a longer one, the call ends, because an earlier retry would fail.
	Backoff, MaxWait time.Duration
	// MayRetry, unless nil, is called before each retry; false ends the call.
	MayRetry func() bool
}

// Answer is a response with status 200, or another status that the request allows.
type Answer struct {
	Status   int
	Body     []byte
	Header   http.Header
	Attempts int // number of requests sent
}

// StatusError is the error of a response with any other status. It matches [ragctx.ErrUnavailable]
// if a retry may help, [ragctx.ErrDenied] for 401 and 403, and otherwise [ragctx.ErrInvalid].
type StatusError struct {
	Status  int
	Message string // the service's message, clipped, without the key
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%v: status %d", e.Unwrap(), e.Status)
	if e.Message != "" {
		text += ": " + e.Message
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
		return ragctx.ErrInvalid // the request, and therefore the configuration, is wrong
	}
}

// attempt is the result of one request.
type attempt struct {
	answer Answer
	err    error
	// retryable says that a retry may succeed, after the duration after at the earliest.
	retryable bool
	after     time.Duration
}

func (a *attempt) status() int {
	if s, ok := errors.AsType[*StatusError](a.err); ok {
		return s.Status
	}
	return 0
}

// Post sends a request and retries it if that may help and time is left. Answer.Attempts is set
// even if it fails.
func (c *Client) Post(ctx context.Context, r Request) (Answer, error) {
	backoff, start := r.Backoff, c.now()
	var last error
	for n := 1; ; n++ {
		a := c.attempt(ctx, r, n)
		a.answer.Attempts = n
		if errors.Is(a.err, ErrOpen) {
			a.answer.Attempts--
			if last != nil {
				a.err = fmt.Errorf("%w: %w", a.err, last)
			}
		}
		if last = a.err; a.err == nil || !a.retryable || n > r.retries(a.status()) || r.MayRetry != nil && !r.MayRetry() {
			return a.answer, a.err
		}
		// Jitter prevents clients that failed together from retrying together.
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
			return a.answer, fmt.Errorf("%w; no time is left to wait %v and retry", a.err, pause.Round(time.Millisecond))
		}
		if err := c.sleep(ctx, pause); err != nil {
			return a.answer, fmt.Errorf("%w: %w", err, a.err)
		}
		backoff *= 2
		if r.Total > 0 { // the remaining time
			now := c.now()
			start, r.Total = now, r.Total-now.Sub(start)
			if r.Total <= 0 { // the pause took too long; 0 would mean no limit
				return a.answer, fmt.Errorf("%w; no time is left to retry", a.err)
			}
		}
	}
}

func (r *Request) retries(status int) int {
	if status == http.StatusInternalServerError && r.ServerErrorRetries != 0 {
		return min(r.Retries, r.ServerErrorRetries)
	}
	return r.Retries
}

// attempt makes the n-th attempt if the breaker admits it. If a status 500 can be caused by the
// request itself, it counts as one failure together with its retries.
func (c *Client) attempt(ctx context.Context, r Request, n int) attempt {
	if c.breaker == nil {
		return c.send(ctx, r)
	}
	t, err := c.breaker.admit()
	if err != nil {
		return attempt{err: err}
	}
	a := c.send(ctx, r)
	switch status := a.status(); {
	case ctx.Err() != nil && a.err != nil:
		c.breaker.record(t, unknown, 0) // caused by the caller, not by the service
	case status == http.StatusInternalServerError && r.ServerErrorRetries != 0 && n <= r.retries(status):
		c.breaker.record(t, unknown, 0)
	case a.err == nil, status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		c.breaker.record(t, succeeded, 0)
	default:
		c.breaker.record(t, failed, a.after)
	}
	return a
}

func (c *Client) send(ctx context.Context, r Request) attempt {
	whole := ctx
	limit := min(cmp.Or(r.Timeout, r.Total), cmp.Or(r.Total, r.Timeout))
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(r.Body))
	if err != nil {
		return attempt{err: errors.New("the URL cannot be requested")} // err contains the URL
	}
	maps.Copy(req.Header, r.Header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	c.authorize(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.connectionError(whole, err)
	}
	defer resp.Body.Close()
	if !r.answers(resp.StatusCode) {
		return c.statusError(resp)
	}
	if r.MaxAnswer < 0 {
		return attempt{answer: Answer{Status: resp.StatusCode, Header: resp.Header}}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, r.MaxAnswer+1))
	switch {
	case err != nil:
		return c.connectionError(whole, err)
	case int64(len(body)) > r.MaxAnswer:
		return attempt{err: fmt.Errorf("the answer has more than %d bytes", r.MaxAnswer)}
	}
	return attempt{answer: Answer{Status: resp.StatusCode, Body: body, Header: resp.Header}}
}

func (r *Request) answers(status int) bool {
	return status == http.StatusOK || r.AllowEmpty && (status == http.StatusAccepted || status == http.StatusNoContent)
}

// connectionError returns the result of a request without a complete response. Posts of this module are
// idempotent, so that it can be retried.
func (c *Client) connectionError(ctx context.Context, err error) attempt {
	if ctx.Err() != nil {
		return attempt{err: fmt.Errorf("no response in time: %w", ctx.Err())}
	}
	if errors.Is(err, context.DeadlineExceeded) { // of this attempt
		return attempt{err: fmt.Errorf("%w: no response in time", ragctx.ErrUnavailable), retryable: true}
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the URL
	}
	// net/http may quote text that the service controls.
	why := cmp.Or(ragctx.Clip(c.redact(err.Error())), "the connection broke")
	return attempt{err: fmt.Errorf("%w: no complete response: %s", ragctx.ErrUnavailable, why), retryable: true}
}

// statusError returns the result of a request with an error status.
func (c *Client) statusError(resp *http.Response) attempt {
	status := resp.StatusCode
	if status >= 300 && status < 400 {
		return attempt{err: fmt.Errorf("it redirects to %s, which is not followed to protect texts and key; use the final URL",
			cmp.Or(c.redact(redirectHost(resp)), "another address"))}
	}
	e := &StatusError{Status: status}
	if body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes)); err == nil {
		e.Message = c.ErrorMessage(body)
	}
	return attempt{
		err: e,
		//nolint:errorlint // Unwrap returns the sentinel itself
		retryable: e.Unwrap() == ragctx.ErrUnavailable && status != http.StatusNotImplemented,
		after:     ParseRetryAfter(resp.Header.Get("Retry-After"), c.now()),
	}
}

// redirectHost returns the host of a redirect.
func redirectHost(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil || u.Host == "" {
		return "nowhere"
	}
	return ragctx.Clip(u.Host)
}

// ParseRetryAfter parses the value of a Retry-After header: seconds or a date. The result is at most a
// day, and 0 for invalid or past values.
func ParseRetryAfter(v string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(s)*time.Second, maxRetryAfter)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// errorMessage returns the error message of a response body. It reads the fields in use: message
// (Cohere), detail (Jina), error (TEI, Ollama) and error.message (OpenAI).
func errorMessage(body []byte) string {
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

// ErrorMessage returns the clipped error message of a response body, without the key. It is for services
// that report errors with status 200.
func (c *Client) ErrorMessage(body []byte) string { return ragctx.Clip(c.redact(errorMessage(body))) }

// redact returns s, or "" if s contains six characters or more of the key. Some services quote a key
// that they reject.
func redact(s, key string) string {
	const part = 6
	for i := range max(len(key)-part+1, min(len(key), 1)) {
		if strings.Contains(s, key[i:min(i+part, len(key))]) {
			return ""
		}
	}
	return s
}
