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

// Options says which service to ask and how. Shape and Model are required, and URL
// for TEI; every other zero value works.
type Options struct {
	Shape Shape
	// URL is the service's. The path of the shape is added unless it is there, so
	// that a base URL such as https://name.openai.azure.com/openai/v1 does. Empty is
	// the hosted service of OpenAI, and Ollama on this machine.
	URL string
	// Model names the model, which is part of the embedder's identity. It is sent to
	// services of OpenAI's and Ollama's shape; a TEI server has one model and is not
	// told.
	Model string
	// APIKey is sent as a bearer token. It is in no error and in nothing that is
	// printed of a client. It does not travel by plain http but to hosts nearby.
	APIKey string
	// Revision is the operator's name for the state of the model; change it when the
	// service has another model under the same name. Empty is "1".
	Revision string
	// Dimensions is how many components the vectors have; 0 finds out by asking.
	// Shorten asks the service for that many, which models such as
	// text-embedding-3-small can do.
	Dimensions int
	Shorten    bool
	// QueryPrefix and DocumentPrefix are put before questions and documents, as the
	// model was trained with, such as "query: " and "passage: ".
	QueryPrefix, DocumentPrefix string
	// Floor is the cosine that most pairs of unrelated texts stay below; it is the
	// model's, and 0 if it is not known.
	Floor float64
	// Base64 asks a service of OpenAI's shape for vectors in base64, less than half
	// of the bytes. Either form is understood at all times.
	Base64 bool

	// MaxBytes is how much is sent of each text; 0 is [DefaultMaxBytes]. It is part of
	// the identity: longer texts are cut.
	MaxBytes int
	// BatchSize is the most texts of one request; 0 is 128 for OpenAI and 32 for the
	// others. BatchTokens is the most tokens of one request by the count of
	// cl100k_base, which is exact for OpenAI's models and an estimate for others; 0 is
	// 100,000 for OpenAI and 16,384 for the others. A longer text goes alone.
	BatchSize, BatchTokens int
	// Parallel is how many requests for documents are under way at a time, and as
	// many for questions and calls with a few texts; 0 is [DefaultParallel].
	Parallel int
	// QueryTimeout bounds the embedding of a question with its one repetition; 0 is
	// [DefaultQueryTimeout]. It also ends when half of what the caller has left is
	// over, so that time is left to search by words.
	QueryTimeout time.Duration
	// Timeout bounds a request with a full batch of documents, less for fewer, and
	// twice that all its repetitions; 0 is [DefaultTimeout].
	Timeout time.Duration
	// Retries is how often a request for documents is repeated after status 429 or
	// 5xx and after a broken connection; 0 is [DefaultRetries], negative is none.
	Retries int
	// Backoff is about how long to wait before the first repetition; 0 is
	// [DefaultBackoff] for documents. A question waits a tenth of it.
	Backoff time.Duration
	// Breaker configures when the service is left alone. Its Changed and Now are
	// ignored.
	Breaker httpclient.BreakerOptions
	// Price is what a million tokens cost, in any currency; 0 is not known.
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

// MaxDimensions is the most components of a vector that is taken.
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

// check returns where the service is, or what is wrong with the options.
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
		return nil, ragctx.Invalid("dimensions", "is %d; the most is %d", o.Dimensions, MaxDimensions)
	case o.Shorten && o.Dimensions == 0:
		return nil, ragctx.Invalid("dimensions", "is missing; say to how many components the vectors are to be shortened")
	case !(o.Floor >= 0 && o.Floor < 1):
		return nil, ragctx.Invalid("noise_floor", "is %g; use a cosine from 0 up to but not including 1", o.Floor)
	case !(o.Price >= 0 && o.Price <= math.MaxInt32):
		return nil, ragctx.Invalid("price", "is %g; use what a million tokens cost, or leave it out", o.Price)
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

// endpoint returns the URL that is posted to.
func (o Options) endpoint() (*url.URL, error) {
	raw := cmp.Or(o.URL, o.Shape.hosted())
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
		// whole already
	case o.Shape == Ollama && !strings.HasSuffix(path, "/api"):
		u.Path = path + o.Shape.path()
	default:
		u.Path = path + last
	}
	return u, nil
}
