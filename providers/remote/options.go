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

// Options says which provider to ask and how. Name and URL are required; every other
// zero value works.
type Options struct {
	// Name names the provider in answers, events, logs and metrics: at most 64 small
	// letters, digits, hyphens, underscores and dots.
	Name string
	// URL is where questions are posted to, TurnURL where completed turns are; an empty
	// TurnURL is none.
	URL, TurnURL string
	// Types are those of the provider's items; empty is resource alone. Questions for
	// other types are not sent, and items of other types left out. The first is that of
	// items that do not say theirs.
	Types []ragctx.ContextType
	// Namespaces are those whose questions and turns are sent; empty is all.
	Namespaces []string
	// FailureMode says what a failure does to the answer.
	FailureMode ragctx.FailureMode
	// Timeout bounds a question, its repetitions included; 0 is [DefaultTimeout].
	Timeout time.Duration
	// CacheTTL is how long an answer is used again for the same question; 0 is never.
	CacheTTL time.Duration
	// Secret signs requests; empty does not. It is in no error and never printed.
	Secret string
	// MaxBytes bounds an answer, MaxItems how many items are read of it; 0 is
	// [DefaultMaxBytes] and [DefaultMaxItems].
	MaxBytes int64
	MaxItems int
	// Retries is how often a request is repeated after status 429 or 5xx and after a
	// broken connection, while there is time; 0 is [DefaultRetries], negative none.
	Retries int
	// Breaker says when the provider is left alone.
	Breaker httpclient.BreakerOptions

	Logger *slog.Logger                               // nil logs nothing
	Now    func() time.Time                           // the clock; nil is the system's
	Sleep  func(context.Context, time.Duration) error // waits or fails as the context does; nil is the system's
	NewID  func() string                              // makes ids of requests; nil is a random one
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

// check finds what cannot work in options whose defaults are filled in.
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

// ValidName checks the name of a provider. Names are parts of paths and of labels.
func ValidName(name string) error {
	switch {
	case name == "":
		return ragctx.Invalid("name", "is missing; a provider needs one that is short and stable")
	case len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || strings.Trim(name, ".") == "":
		return ragctx.Invalid("name", "is %q; use at most %d small letters, digits, hyphens, underscores and dots", ragctx.Clip(name), maxName)
	}
	return nil
}
