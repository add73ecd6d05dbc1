package remote

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

// Options configures a [Client]. Shape and Model are required, and URL for TEI. Every other zero
// value works.
type Options struct {
	Shape Shape
	// URL is the URL of the service. The path of the shape is added unless present, so a base URL
	// such as https://name.openai.azure.com/openai/v1 works. Empty means the hosted service of
	// OpenAI, or Ollama on this machine.
	URL string
	// Model is part of the embedder's identity. It is sent to services with the shapes of OpenAI
	// and Ollama. A TEI server has only one model.
	Model string
	// APIKey is sent as a bearer token. It never appears in errors or when a client is printed. It
	// is not sent over plain http except to private hosts.
	APIKey string
	// Revision is the operator's name for the version of the model. Change it when the service
	// replaces the model under the same name. Empty is "1".
	Revision string
	// Dimensions is the number of components of the vectors; 0 determines it with a request.
	// Shorten asks the service for that many, which models such as text-embedding-3-small support.
	Dimensions int
	Shorten    bool
	// QueryPrefix and DocumentPrefix are prepended to queries and documents, as in the model's
	// training, such as "query: " and "passage: ".
	QueryPrefix, DocumentPrefix string
	// Floor is the model's noise floor, the cosine below which most pairs of unrelated texts lie; 0
	// is unknown.
	Floor float64
	// Base64 requests vectors in base64 from services with OpenAI's shape, which takes less than
	// half the bytes. Both forms are always accepted.
	Base64 bool

	// MaxBytes is the length to which texts are truncated; 0 is [DefaultMaxBytes]. It is part of
	// the identity.
	MaxBytes int
	// BatchSize is the maximum number of texts per request; 0 is 128 for OpenAI and 32 for the
	// others. BatchTokens is the maximum number of tokens per request as counted by cl100k_base,
	// which is exact for OpenAI's models and an estimate for others; 0 is 100,000 for OpenAI and
	// 16,384 for the others. A longer text is sent alone.
	BatchSize, BatchTokens int
	// Parallel is the number of requests in flight for documents, and separately for queries and
	// short calls; 0 is [DefaultParallel].
	Parallel int
	// QueryTimeout bounds the embedding of a query with its one retry; 0 is [DefaultQueryTimeout].
	// If the caller has a deadline, embedding gets at most half of the remaining time, so that a
	// keyword search can follow.
	QueryTimeout time.Duration
	// Timeout bounds a request with a full batch of documents; smaller batches get less. A request
	// with all its retries may take twice as long. 0 is [DefaultTimeout].
	Timeout time.Duration
	// Retries is the number of retries of a request for documents after status 429 or 5xx and after
	// a broken connection; 0 is [DefaultRetries], negative means none.
	Retries int
	// Backoff is about the pause before the first retry for documents; 0 is [DefaultBackoff]. For
	// queries it is a tenth.
	Backoff time.Duration
	// Breaker configures the circuit breaker. Its OnChange and Now are ignored.
	Breaker httpclient.BreakerOptions
	// Price is the price of a million tokens, in any currency; 0 is unknown.
	Price float64

	Logger *slog.Logger
	Now    func() time.Time                           // the clock; nil is the system's
	Sleep  func(context.Context, time.Duration) error // nil is the system's
}

// The defaults of [Options].
const (
	DefaultMaxBytes     = 8 << 10
	DefaultParallel     = 4
	DefaultQueryTimeout = 800 * time.Millisecond
	DefaultTimeout      = 40 * time.Second
	DefaultRetries      = 4
	DefaultBackoff      = 500 * time.Millisecond
)

// MaxDimensions is the maximum number of components of a vector.
const MaxDimensions = 1 << 16

func (o Options) withDefaults() Options {
	size, tokens := 32, 16384
	if o.Shape == OpenAI {
		size, tokens = 128, 100_000
	}
	o.Revision = cmp.Or(o.Revision, "1")
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.BatchSize = cmp.Or(o.BatchSize, size)
	o.BatchTokens = cmp.Or(o.BatchTokens, tokens)
	o.Parallel = cmp.Or(o.Parallel, DefaultParallel)
	o.QueryTimeout = cmp.Or(o.QueryTimeout, DefaultQueryTimeout)
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

// check validates the options and returns the URL of the service.
func (o Options) check() (*url.URL, error) {
	if err := o.checkNames(); err != nil {
		return nil, err
	}
	if err := httpclient.CheckNotNegative([]httpclient.Number{
		{Field: "dimensions", Value: int64(o.Dimensions)},
		{Field: "max_bytes", Value: int64(o.MaxBytes)},
		{Field: "batch_size", Value: int64(o.BatchSize)},
		{Field: "batch_tokens", Value: int64(o.BatchTokens)},
		{Field: "parallel", Value: int64(o.Parallel)},
		{Field: "query_timeout", Value: int64(o.QueryTimeout)},
		{Field: "timeout", Value: int64(o.Timeout)},
		{Field: "backoff", Value: int64(o.Backoff)},
	}); err != nil {
		return nil, err
	}
	switch {
	case o.Dimensions > MaxDimensions:
		return nil, ragctx.Invalid("dimensions", "is %d; the limit is %d", o.Dimensions, MaxDimensions)
	case o.Shorten && o.Dimensions == 0:
		return nil, ragctx.Invalid("dimensions", "is missing; set the number of components to which vectors are shortened")
	case !(o.Floor >= 0 && o.Floor < 1):
		return nil, ragctx.Invalid("noise_floor", "is %g; use a cosine from 0 up to but not including 1", o.Floor)
	case !(o.Price >= 0 && o.Price <= math.MaxInt32):
		return nil, ragctx.Invalid("price", "is %g; use the price of a million tokens, or leave it out", o.Price)
	}
	return o.endpoint()
}

func (o Options) checkNames() error {
	switch {
	case o.Shape == "":
		return ragctx.Invalid("shape", "is missing; use %s", httpclient.OneOf(Shapes()))
	case o.Shape.path() == "":
		return ragctx.Invalid("shape", "%q is unknown; use %s", ragctx.Clip(string(o.Shape)), httpclient.OneOf(Shapes()))
	case o.Model == "":
		return ragctx.Invalid("model", "is missing; name the model, so that vectors of different models are never compared")
	}
	for _, n := range [...]struct{ field, value string }{
		{"model", o.Model},
		{"revision", o.Revision},
		{"query_prefix", o.QueryPrefix},
		{"document_prefix", o.DocumentPrefix},
	} {
		if err := ragctx.ValidName(n.field, n.value); err != nil {
			return err
		}
	}
	return nil
}

// endpoint returns the URL for requests.
func (o Options) endpoint() (*url.URL, error) {
	raw := cmp.Or(o.URL, o.Shape.defaultURL())
	if raw == "" {
		return nil, ragctx.Invalid("url", "is missing; name your server, such as http://127.0.0.1:8080")
	}
	u, err := httpclient.ParseEndpoint(raw, o.APIKey)
	if err != nil {
		return nil, err
	}
	if o.URL == "" && o.APIKey == "" && o.Shape == OpenAI {
		return nil, ragctx.Invalid("key", "is missing; %s requires one", u.Host)
	}
	path := strings.TrimRight(u.Path, "/")
	switch last := o.Shape.path()[strings.LastIndex(o.Shape.path(), "/"):]; {
	case path == "":
		u.Path = o.Shape.path()
	case strings.HasSuffix(path, last):
		// already complete
	case o.Shape == Ollama && !strings.HasSuffix(path, "/api"):
		u.Path = path + o.Shape.path()
	default:
		u.Path = path + last
	}
	return u, nil
}
