package embed

import (
	"context"
	"time"
)

// Unsized is implemented by embedders that can be without a number of dimensions,
// because only the service that they ask knows it.
type Unsized interface {
	Embedder
	// Sized returns the embedder with its number of dimensions: that of an identity
	// that is like its own in everything else, if there is one, without asking
	// anyone; else the one that the service's answer has.
	Sized(ctx context.Context, like ...Identity) (Embedder, error)
}

// Metered is implemented by embedders that ask a service, which costs something
// and can be down.
type Metered interface {
	// Usage returns what was asked for since the embedder was made.
	Usage() Usage
}

// Usage says what an embedder asked of its service.
type Usage struct {
	Service string `json:"service" doc:"the shape and the host of the service" example:"openai at api.openai.com"`
	// State is closed while the service is asked, open while it is not because it
	// failed just now, and half-open while one request finds out whether it is back.
	State     string     `json:"state" enum:"closed,open,half-open" doc:"closed: requests are sent; open: the service failed and gets no requests until asks_again; half-open: one request probes whether it works again"`
	AsksAgain *time.Time `json:"asks_again,omitempty" doc:"the time until which no requests are sent"`
	Queries   Spend      `json:"queries"`
	Documents Spend      `json:"documents"`
	// Price is per million tokens, in the operator's currency; 0 is not known.
	Price float64 `json:"price_per_million_tokens,omitempty" doc:"as configured"`
	Cost  float64 `json:"cost,omitempty" doc:"of all tokens, in the currency of the price"`
}

// Asked reports whether the service was asked at all.
func (u Usage) Asked() bool { return u.Queries.Requests+u.Documents.Requests > 0 }

// Spend counts what was asked for one purpose.
type Spend struct {
	Requests int64 `json:"requests" doc:"requests sent to the service, including retries"`
	Retries  int64 `json:"retries" doc:"requests that were retries"`
	Texts    int64 `json:"texts" doc:"texts that the service embedded"`
	Tokens   int64 `json:"tokens" doc:"of those texts, as the service counts them"`
	// Estimated is the part of Tokens that the service did not count.
	Estimated int64 `json:"tokens_estimated" doc:"the part of tokens that the service did not count"`
	Failures  int64 `json:"failures" doc:"requests that had no usable answer, also after repetitions"`
	NotAsked  int64 `json:"not_asked" doc:"requests that were not sent because the service was down"`
	Rejected  int64 `json:"rejected" doc:"texts that the service refused while it took others; they are found by their words only"`
	Shortened int64 `json:"shortened" doc:"texts of which the service only took the beginning"`
}
