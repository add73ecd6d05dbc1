package remote

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Options configures a [Provider]. Name and URL are required; every other zero value works.
type Options struct {
	// Name is the provider's name in answers, events, logs and metrics: at most 64 lower-case
	// letters, digits, hyphens, underscores and dots.
	Name string
	// URL receives queries, TurnURL completed turns. An empty TurnURL disables turns.
	URL, TurnURL string
	// Types are the types of the provider's items; empty means resource. Queries for other types
	// are not sent, and items of other types are dropped. The first type is the default of an item
	// without a type.
	Types []ragctx.ContextType
	// Namespaces restricts the queries and turns that are sent; empty means all.
	Namespaces []string
	// FailureMode is the effect of a failure on the answer.
	FailureMode ragctx.FailureMode
	// Timeout bounds a query including its retries; 0 is [DefaultTimeout].
	Timeout time.Duration
	// CacheTTL is the time for which an answer is reused for the same query; 0 disables the cache.
	CacheTTL time.Duration
	// Secret signs requests if it is set. It never appears in errors or printed values.
	Secret string
	// MaxBytes is the limit of an answer and MaxItems the number of its items that are read; 0 is
	// [DefaultMaxBytes] and [DefaultMaxItems].
	MaxBytes int64
	MaxItems int
	// Retries is the number of retries after status 429 or 5xx and after a broken connection, while
	// time is left; 0 is [DefaultRetries], negative means none.
	Retries int
	// Breaker configures the circuit breaker.
	Breaker httpclient.BreakerOptions

	Logger *slog.Logger                               // nil logs nothing
	Now    func() time.Time                           // the clock; nil is the system's
	Sleep  func(context.Context, time.Duration) error // waits, or returns the context's error; nil is the system's
	NewID  func() string                              // generates request ids; nil is random
}

// The defaults and limits of [Options].
const (
	DefaultTimeout  = 2 * time.Second
	DefaultMaxBytes = 4 << 20
	DefaultMaxItems = 100
	DefaultRetries  = 1

	MaxTimeout  = time.Minute
	MaxCacheTTL = 24 * time.Hour
	maxName     = 64
	minSecret   = 16
)

// check validates options with defaults filled in.
func (o Options) check() error {
	if err := ValidName(o.Name); err != nil {
		return err
	}
	for _, u := range [...]struct{ field, url string }{{"url", o.URL}, {"turn_url", o.TurnURL}} {
		if u.url == "" && u.field == "turn_url" {
			continue
		}
		if _, err := httpclient.ParseEndpoint(u.url, ""); err != nil {
			f, ok := errors.AsType[*ragctx.FieldError](err)
			if !ok {
				return err
			}
			return ragctx.Invalid(u.field, "%s", f.Problem)
		}
	}
	for _, t := range o.Types {
		if _, err := ragctx.ParseContextType(string(t)); err != nil {
			return ragctx.Invalid("types", "has %q; use memory, resource or skill", ragctx.Clip(string(t)))
		}
	}
	switch {
	case o.Timeout < 0 || o.Timeout > MaxTimeout:
		return ragctx.Invalid("timeout", "is %v; use up to %v", o.Timeout, MaxTimeout)
	case o.CacheTTL < 0 || o.CacheTTL > MaxCacheTTL:
		return ragctx.Invalid("cache_ttl", "is %v; use up to %v", o.CacheTTL, MaxCacheTTL)
	case o.Secret != "" && len(o.Secret) < minSecret:
		return ragctx.Invalid("secret", "has %d bytes, which can be guessed; use at least %d", len(o.Secret), minSecret)
	case o.MaxItems < 0 || o.MaxItems > ragctx.MaxResultsLimit:
		return ragctx.Invalid("max_items", "is %d; use 1 to %d", o.MaxItems, ragctx.MaxResultsLimit)
	}
	return httpclient.CheckNotNegative([]httpclient.Number{{Field: "max_bytes", Value: o.MaxBytes}})
}

// ValidName checks the name of a provider. Names are parts of paths and labels.
func ValidName(name string) error {
	switch {
	case name == "":
		return ragctx.Invalid("name", "is missing; a provider needs one that is short and stable")
	case len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || strings.Trim(name, ".") == "":
		return ragctx.Invalid("name", "is %q; use at most %d lower-case letters, digits, hyphens, underscores and dots",
			ragctx.Clip(name), maxName)
	}
	return nil
}
