package rerank

import (
	"cmp"
	"net/url"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Options configures a [Client]. Shape is required, and Model if the shape has models. For the
// services with a default URL APIKey is required, too, and every other zero value works.
type Options struct {
	Shape Shape
	// URL is the URL of the service. If it has no path, the path of the shape is added. Empty means
	// the hosted service of Cohere or Jina.
	URL string
	// Model is sent to services of the shapes Cohere and Jina. A TEI server has only one model.
	Model string
	// APIKey is sent as a bearer token. It never appears in errors or when a client is printed. It
	// is not sent over plain http except to private hosts.
	APIKey string
	// Scores is the scale of the service's scores; zero is [Unit].
	Scores Scale
	// Timeout bounds a call of Rerank including its retries; 0 is [DefaultTimeout].
	Timeout time.Duration
	// MaxDocuments is the maximum number of texts per call; 0 is [DefaultMaxDocuments]. More texts
	// are an error, because services charge by the text.
	MaxDocuments int
	// MaxBytes is the length to which the query and each text are truncated; 0 is
	// [DefaultMaxBytes].
	MaxBytes int
	// BatchSize is the maximum number of texts per request. 0 is 32 for TEI, the default limit of
	// its servers, and 100 for the others. Batches are large because some models compare the texts
	// of a request with each other.
	BatchSize int
	// Retries is the number of retries after status 429 or 5xx and after a broken connection; 0 is
	// [DefaultRetries], negative means none.
	Retries int
	// Backoff is about the pause before the first retry. It doubles with each retry, and is longer
	// if the service asks for it. 0 is [DefaultBackoff].
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

// check validates the options and returns the URL of the service.
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
	if o.URL == "" && o.APIKey == "" {
		return nil, ragctx.Invalid("key", "is missing; %s requires one", u.Host)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = o.Shape.path()
	}
	return u, nil
}
