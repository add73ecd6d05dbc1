package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// accept lists the supported types by preference. Servers with several forms of a page choose by
// it.
const accept = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.5"

// validators are the contents of a [Page].State.
type validators struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
}

// maxState is the limit of a [Page].State in bytes. An ETag that does not fit is omitted.
const maxState = 350

func stateOf(h http.Header) string {
	v := validators{h.Get("ETag"), h.Get("Last-Modified")}
	if ragctx.ValidText("", v.ETag) != nil {
		v.ETag = ""
	}
	if !settled(h) {
		v.Modified = ""
	}
	b, err := json.Marshal(v)
	if err == nil && len(b) > maxState {
		v.ETag = ""
		b, err = json.Marshal(v)
	}
	if err != nil || v == (validators{}) {
		return ""
	}
	return string(b)
}

// settled reports whether Last-Modified identifies this version. It counts in seconds, and a second
// change may follow in the same second (RFC 9110 §8.8.2.2).
func settled(h http.Header) bool {
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return false
	}
	sent, err := http.ParseTime(h.Get("Date"))
	return err == nil && sent.Sub(modified) >= 2*time.Second
}

// answer is the response to a request.
type answer struct {
	status int
	mime   string
	state  string
	body   []byte
	next   *url.URL // target of a redirect
}

// attempt is the result of one request.
type attempt struct {
	answer answer
	err    error
	// serverFailing says that the server is failing. again says that a retry may succeed, after the
	// duration after at the earliest.
	serverFailing, retryable bool
	after                    time.Duration
}

// ask sends a request and retries it if that may help.
func (c *Client) ask(ctx context.Context, u *url.URL, state string, limit int64) (answer, error) {
	h, pause := c.host(u), firstPause
	for n := 0; ; n++ {
		if err := h.acquire(ctx, c, u); err != nil {
			return answer{}, err
		}
		a := c.send(ctx, u, state, limit)
		h.release(c.opts.Now(), a)
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		wait := max(a.after, pause/2+rand.N(pause/2))
		if a.err == nil || !a.retryable || n == maxRetries || wait > maxWait {
			return a.answer, a.err
		}
		if err := c.opts.Sleep(ctx, wait); err != nil {
			return answer{}, err
		}
		pause *= 2
	}
}

func (c *Client) send(ctx context.Context, u *url.URL, state string, limit int64) attempt {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return attempt{err: refuse(u, "cannot be requested")}
	}
	req.Header.Set("User-Agent", c.opts.UserAgent)
	req.Header.Set("Accept", accept)
	var v validators
	if json.Unmarshal([]byte(state), &v) == nil {
		setHeader(req.Header, "If-None-Match", v.ETag)
		setHeader(req.Header, "If-Modified-Since", v.Modified)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.connectionError(whole, u, err)
	}
	defer resp.Body.Close()
	a := attempt{answer: answer{status: resp.StatusCode, mime: resp.Header.Get("Content-Type"), state: stateOf(resp.Header)}}
	switch s := resp.StatusCode; {
	case s == http.StatusOK:
		a.answer.body, a.err = readBody(u, resp, limit)
		if a.err != nil {
			if _, ours := errors.AsType[*Error](a.err); !ours {
				return c.connectionError(whole, u, a.err)
			}
		}
	case s == http.StatusNotModified && state != "":
	case s == http.StatusMovedPermanently, s == http.StatusFound, s == http.StatusSeeOther,
		s == http.StatusTemporaryRedirect, s == http.StatusPermanentRedirect:
		a.answer.next, a.err = redirectTarget(u, resp)
	default:
		return c.statusError(u, resp)
	}
	return a
}

func setHeader(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// redirectTarget returns the target of a redirect.
func redirectTarget(u *url.URL, resp *http.Response) (*url.URL, error) {
	to, err := resp.Location()
	if err != nil {
		return nil, refuse(u, "redirects nowhere")
	}
	next, err := parse(to.String())
	if err != nil {
		return nil, refuse(u, "redirects to %s, which is not the URL of a page", ragctx.Clip(hideUser(to.String())))
	}
	if u.Scheme == "https" && next.Scheme == "http" {
		return nil, refuse(u, "redirects from https to plain http, where it could be modified on the way")
	}
	return next, nil
}

// readBody reads at most limit bytes of the decompressed body.
func readBody(u *url.URL, resp *http.Response, limit int64) ([]byte, error) {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), "/")
	switch k := strings.ToLower(strings.TrimSpace(kind)); {
	case k == "image", k == "video", k == "audio", k == "font":
		return nil, refuse(u, "is %s, which has no text", ragctx.Clip(resp.Header.Get("Content-Type")))
	case resp.Header.Get("Content-Encoding") != "":
		return nil, refuse(u, "is compressed with %s, which was not requested", ragctx.Clip(resp.Header.Get("Content-Encoding")))
	case resp.ContentLength > limit:
		return nil, tooLong(u, limit)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = tooLong(u, limit)
	}
	return b, err
}

func tooLong(u *url.URL, limit int64) error {
	return refuse(u, "is longer than the limit of %d bytes", limit)
}

// connectionError returns the result of a request without a complete response.
func (c *Client) connectionError(ctx context.Context, u *url.URL, err error) attempt {
	if ctx.Err() != nil {
		return attempt{err: ctx.Err()}
	}
	if in, ok := asPrivateAddress(err); ok {
		return attempt{err: &Error{URL: u.String(), Reason: in.Error()}}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return attempt{err: refuse(u, "was not answered within %v", c.opts.Timeout), serverFailing: true}
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the URL
	}
	return attempt{err: refuse(u, "gave no complete response: %s", ragctx.Clip(err.Error())), serverFailing: true, retryable: true}
}

// statusError returns the result of a request with an error status.
func (c *Client) statusError(u *url.URL, resp *http.Response) attempt {
	s := resp.StatusCode
	e := refuse(u, "was answered with status %s", statusText(s))
	e.absent = s >= http.StatusBadRequest && s < http.StatusInternalServerError && s != http.StatusTooManyRequests
	switch {
	case s == http.StatusNotFound, s == http.StatusGone:
		e.Gone = true
		return attempt{err: e}
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		e.Reason += "; pages that need a password cannot be fetched"
		return attempt{err: e}
	case s != http.StatusTooManyRequests && s < http.StatusInternalServerError, s == http.StatusNotImplemented:
		return attempt{err: e}
	}
	a := attempt{
		err: e, serverFailing: true, retryable: true,
		after: httpclient.ParseRetryAfter(resp.Header.Get("Retry-After"), c.opts.Now()),
	}
	if a.after > maxWait {
		e.Reason += fmt.Sprintf("; it asks to retry in %v", a.after.Round(time.Second))
	}
	return a
}

func statusText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
