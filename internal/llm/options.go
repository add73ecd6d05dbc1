package llm

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Options configures a [Client]. For OpenAI, Model and APIKey are required, and every other zero
// value works.
type Options struct {
	// URL is the base URL of the service, such as http://127.0.0.1:11434/v1 for Ollama.
	// /chat/completions is appended unless present, and /v1 before it if the URL has no path. Empty
	// means OpenAI.
	URL   string
	Model string
	// APIKey is sent as a bearer token. It never appears in errors or when a client is printed. It
	// is not sent over plain http except to private hosts.
	APIKey string
	// MaxTokensPerDay limits the prompt and completion tokens of all requests per UTC day; 0 means
	// no limit. A request in flight counts with its maximum. A request that could exceed the limit
	// is not sent.
	MaxTokensPerDay int64
	// UsedToday is the usage before this client was made, so that a restart does not reset the daily
	// limit; see [Client.Today].
	UsedToday DayUsage
	// Timeout bounds each attempt. A call with its retries may take twice as long. 0 is
	// [DefaultTimeout].
	Timeout time.Duration
	// Retries is the number of retries after status 429 or 5xx and after a broken connection; 0 is
	// [DefaultRetries], negative means none.
	Retries int
	// Backoff is about the pause before the first retry. It doubles with each retry, and is longer
	// if the service asks for it. 0 is [DefaultBackoff].
	Backoff time.Duration

	Now   func() time.Time                           // the clock; nil is the system's
	Sleep func(context.Context, time.Duration) error // nil is the system's
}

// The defaults of [Options].
const (
	DefaultTimeout = 2 * time.Minute
	DefaultRetries = 2
	DefaultBackoff = time.Second
)

// defaultURL is the default service.
const defaultURL = "https://api.openai.com"

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Retries = max(cmp.Or(o.Retries, DefaultRetries), 0)
	o.Backoff = cmp.Or(o.Backoff, DefaultBackoff)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// check validates the options and returns the URL of the service.
func (o Options) check() (*url.URL, error) {
	if o.Model == "" {
		return nil, ragctx.Invalid("model", "is missing; name a model of the service")
	}
	if err := ragctx.ValidName("model", o.Model); err != nil {
		return nil, err
	}
	if err := httpclient.CheckNotNegative([]httpclient.Number{
		{Field: "max_tokens_per_day", Value: o.MaxTokensPerDay},
		{Field: "timeout", Value: int64(o.Timeout)},
		{Field: "backoff", Value: int64(o.Backoff)},
	}); err != nil {
		return nil, err
	}
	return o.endpoint()
}

// endpoint returns the URL for requests.
func (o Options) endpoint() (*url.URL, error) {
	u, err := httpclient.ParseEndpoint(cmp.Or(o.URL, defaultURL), o.APIKey)
	if err != nil {
		return nil, err
	}
	if o.URL == "" && o.APIKey == "" {
		return nil, ragctx.Invalid("key", "is missing; %s requires one", u.Host)
	}
	const last = "/chat/completions"
	switch path := strings.TrimRight(u.Path, "/"); {
	case path == "":
		u.Path = "/v1" + last
	case !strings.HasSuffix(path, last):
		u.Path = path + last
	}
	return u, nil
}
