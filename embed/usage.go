package embed

import (
	"context"
	"time"
)

// Unsized is implemented by embedders with a number of dimensions that may be unknown until the
// service is called.
type Unsized interface {
	Embedder
	// Sized returns the embedder with its number of dimensions. If like has an identity that
	// differs only in the dimensions, that number is used without a call. Otherwise the service is
	// called.
	Sized(ctx context.Context, like ...Identity) (Embedder, error)
}

// Metered is implemented by embedders that call a service, which costs money and can be down.
type Metered interface {
	// Usage returns the usage since the embedder was made.
	Usage() Usage
}

// Usage is the usage of an embedder's service.
type Usage struct {
	Service string `json:"service" doc:"the shape and the host of the service" example:"openai at api.openai.com"`
	// State is the state of the circuit breaker: closed while requests are sent, open while they
	// are paused after failures, half-open while one request probes the service.
	State     string     `json:"state" enum:"closed,open,half-open"`
	AsksAgain *time.Time `json:"asks_again,omitempty" doc:"the time until which no requests are sent"`
	Queries   Spend      `json:"queries"`
	Documents Spend      `json:"documents"`
	// Price is the price per million tokens, in the operator's currency; 0 is unknown.
	Price float64 `json:"price_per_million_tokens,omitempty" doc:"as configured"`
	Cost  float64 `json:"cost,omitempty" doc:"cost of all tokens, in the currency of the price"`
}

// Used reports whether any request was sent.
func (u Usage) Used() bool { return u.Queries.Requests+u.Documents.Requests > 0 }

// Spend is the usage for one purpose.
type Spend struct {
	Requests int64 `json:"requests" doc:"requests sent to the service, including retries"`
	Retries  int64 `json:"retries" doc:"requests that were retries"`
	Texts    int64 `json:"texts" doc:"texts that the service embedded"`
	Tokens   int64 `json:"tokens" doc:"tokens of those texts, as the service counts them"`
	// Estimated is the part of Tokens that the service did not report.
	Estimated int64 `json:"tokens_estimated" doc:"the part of tokens that the service did not report"`
	Failures  int64 `json:"failures" doc:"requests without a usable answer after all retries"`
	NotAsked  int64 `json:"not_asked" doc:"requests that were not sent because the service was down"`
	Rejected  int64 `json:"rejected" doc:"texts that the service rejected while it accepted others; they are found by keywords only"`
	Shortened int64 `json:"shortened" doc:"texts that had to be truncated for the service"`
}
