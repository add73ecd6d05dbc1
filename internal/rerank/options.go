package rerank

import (
	"cmp"
	"net/url"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Options says which service to ask and how. Shape is required, and Model where
// the shape has one; every other zero value works with the hosted services, but
// that they want a key.
type Options struct {
	Shape Shape
	// URL is the service's; without a path, that of the shape is added. Empty is
	// the hosted service of Cohere or of Jina.
	URL string
	// Model is sent to services of Cohere's and Jina's shape. A TEI server has one
	// model and is not told.
	Model string
	// APIKey is sent as a bearer token. It is in no error and in nothing that is
	// printed of a client. It does not travel by plain http but to hosts nearby.
	APIKey string
	// Scores is the scale of the service's scores; zero is [Unit].
	Scores Scale
	// Timeout bounds a whole call of Rerank, its retries included; 0 is
	// [DefaultTimeout].
	Timeout time.Duration
	// MaxDocuments is the most texts of a call; 0 is [DefaultMaxDocuments]. More are
	// an error: services charge by the text.
	MaxDocuments int
	// MaxBytes is how much is sent of each text, and of the query; 0 is
	// [DefaultMaxBytes].
	MaxBytes int
	// BatchSize is the most texts of one request. 0 is 32 for TEI, whose servers
	// refuse more unless told otherwise, and 100 for the others: there are models
	// that compare the texts of a request with each other.
	BatchSize int
	// Retries is how often a request is repeated after status 429 or 5xx and after
	// a broken connection; 0 is [DefaultRetries], negative is none.
	Retries int
	// Backoff is about how long to wait before the first repetition, twice as long
	// before each further one, and longer where the service asks for it; 0 is
	// [DefaultBackoff].
	Backoff time.Duration
}

// The defaults of [Options].
const (
	DefaultTimeout      = 10 * time.Second
	DefaultMaxDocuments = 1000
	DefaultMaxBytes     = 8 << 10
	DefaultRetries      = 2
	DefaultBackoff      = 100 * time.Millisecond
)

func (o Options) withDefaults() Options {
	batch := 100
	if o.Shape == TEI {
		batch = 32
	}
	o.Scores = cmp.Or(o.Scores, Unit)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.MaxDocuments = cmp.Or(o.MaxDocuments, DefaultMaxDocuments)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.BatchSize = cmp.Or(o.BatchSize, batch)
	o.Retries = max(cmp.Or(o.Retries, DefaultRetries), 0)
	o.Backoff = cmp.Or(o.Backoff, DefaultBackoff)
	return o
}

// check returns where the service is, or what is wrong with the options.
func (o Options) check() (*url.URL, error) {
	if err := o.checkNames(); err != nil {
		return nil, err
	}
	if err := httpclient.CheckNotNegative([]httpclient.Number{
		{Field: "timeout", Value: int64(o.Timeout)},
		{Field: "max_documents", Value: int64(o.MaxDocuments)},
		{Field: "max_bytes", Value: int64(o.MaxBytes)},
		{Field: "batch_size", Value: int64(o.BatchSize)},
		{Field: "backoff", Value: int64(o.Backoff)},
	}); err != nil {
		return nil, err
	}
	return o.endpoint()
}

func (o Options) checkNames() error {
	switch {
	case o.Shape == "":
		return ragctx.Invalid("shape", "is missing; use %s", httpclient.OneOf(Shapes()))
	case o.Shape.path() == "":
		return ragctx.Invalid("shape", "%q is unknown; use %s", ragctx.Clip(string(o.Shape)), httpclient.OneOf(Shapes()))
	case o.Scores != Unit && o.Scores != Cosine && o.Scores != Logit:
		return ragctx.Invalid("scores", "%q is unknown; use %s", ragctx.Clip(string(o.Scores)), httpclient.OneOf(Scales()))
	case o.Model == "" && o.Shape != TEI:
		return ragctx.Invalid("model", "is missing; name a model of the service")
	}
	return ragctx.ValidName("model", o.Model)
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
	if o.URL == "" && o.APIKey == "" {
		return nil, ragctx.Invalid("key", "is missing; %s wants one", u.Host)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = o.Shape.path()
	}
	return u, nil
}
