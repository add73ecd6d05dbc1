package llm

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Options says which service to ask and how. The zero value names none, see
// [Options.Named]. Model is required; every other zero value works with OpenAI, but
// that it wants a key.
type Options struct {
	// URL is the service's base, such as http://127.0.0.1:11434/v1 for Ollama. The
	// path /chat/completions is added unless it is there, and /v1 before it where
	// there is no path. Empty is OpenAI's.
	URL   string
	Model string
	// APIKey is sent as a bearer token. It is in no error and in nothing that is
	// printed of a client. It does not travel by plain http but to hosts nearby.
	APIKey string
	// MaxTokens is the most tokens of an answer to a request that does not say; 0 is
	// [DefaultMaxTokens].
	MaxTokens int
	// MaxTokensPerDay is how many tokens all requests of a day of UTC may have
	// together, asked and answered; 0 is any number. A request that could exceed it
	// is not sent: it counts with the most tokens that its answer can have until the
	// answer is there.
	MaxTokensPerDay int64
	// Spent is what was spent before this client was made, so that a restart does not
	// begin the day anew; see [Totals].
	Spent Spent
	// Parallel is how many requests are under way at a time; 0 is [DefaultParallel].
	Parallel int
	// Timeout bounds each attempt, and twice that a whole call with its repetitions; 0
	// is [DefaultTimeout].
	Timeout time.Duration
	// Retries is how often a request is repeated after status 429 or 5xx and after
	// a broken connection; 0 is [DefaultRetries], negative is none.
	Retries int
	// Backoff is about how long to wait before the first repetition, twice as long
	// before each further one, and longer where the service asks for it; 0 is
	// [DefaultBackoff].
	Backoff time.Duration
	// Breaker configures when the service is left alone. Its Changed and Now are
	// ignored.
	Breaker httpclient.BreakerOptions
	// PromptPrice and CompletionPrice are what a million tokens cost, in any
	// currency; 0 is not known.
	PromptPrice, CompletionPrice float64

	Logger *slog.Logger
	Now    func() time.Time                           // the clock; nil is the system's
	Sleep  func(context.Context, time.Duration) error // nil is the system's
}

// The defaults of [Options].
const (
	DefaultMaxTokens = 2048
	DefaultParallel  = 2
	DefaultTimeout   = 2 * time.Minute
	DefaultRetries   = 2
	DefaultBackoff   = time.Second
)

// hosted is the service that is asked unless another one is named.
const hosted = "https://api.openai.com"

// Named reports whether the options name a service at all. Those that do not are
// how an operator says that no model is to be asked.
func (o Options) Named() bool { return o.Model != "" || o.URL != "" }

func (o Options) withDefaults() Options {
	o.MaxTokens = cmp.Or(o.MaxTokens, DefaultMaxTokens)
	o.Parallel = cmp.Or(o.Parallel, DefaultParallel)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Retries = max(cmp.Or(o.Retries, DefaultRetries), 0)
	o.Backoff = cmp.Or(o.Backoff, DefaultBackoff)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// check returns where the service is, or what is wrong with the options.
func (o Options) check() (*url.URL, error) {
	if o.Model == "" {
		return nil, ragctx.Invalid("model", "is missing; name a model of the service")
	}
	if err := ragctx.ValidName("model", o.Model); err != nil {
		return nil, err
	}
	if err := httpclient.CheckNotNegative([]httpclient.Number{
		{Field: "max_tokens", Value: int64(o.MaxTokens)},
		{Field: "max_tokens_per_day", Value: o.MaxTokensPerDay},
		{Field: "parallel", Value: int64(o.Parallel)},
		{Field: "timeout", Value: int64(o.Timeout)},
		{Field: "backoff", Value: int64(o.Backoff)},
	}); err != nil {
		return nil, err
	}
	if o.MaxTokens > maxTokens {
		return nil, ragctx.Invalid("max_tokens", "is %d; the most is %d", o.MaxTokens, maxTokens)
	}
	for field, price := range map[string]float64{"prompt_price": o.PromptPrice, "completion_price": o.CompletionPrice} {
		if !(price >= 0 && price <= math.MaxInt32) {
			return nil, ragctx.Invalid(field, "is %g; use what a million tokens cost, or leave it out", price)
		}
	}
	return o.endpoint()
}

// endpoint returns the URL that is posted to.
func (o Options) endpoint() (*url.URL, error) {
	u, err := httpclient.ParseEndpoint(cmp.Or(o.URL, hosted), o.APIKey)
	if err != nil {
		return nil, err
	}
	if o.URL == "" && o.APIKey == "" {
		return nil, ragctx.Invalid("key", "is missing; %s wants one", u.Host)
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
