package remote

import (
	"context"
	"sync"

	"github.com/ragctx/ragctx/embed"
)

// meter counts the usage of a service.
type meter struct{ queries, documents tally }

// usage returns the counts and their cost at a price per million tokens.
func (m *meter) usage(price float64) embed.Usage {
	u := embed.Usage{Queries: m.queries.get(), Documents: m.documents.get(), Price: price}
	u.Cost = price * float64(u.Queries.Tokens+u.Documents.Tokens) / 1e6
	return u
}

// maxTokens exceeds the tokens of any request.
const maxTokens = 1 << 32

// tally counts the usage for one purpose. It is safe for concurrent use.
type tally struct {
	mu    sync.Mutex
	spend embed.Spend
}

func (t *tally) get() embed.Spend {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.spend
}

func (t *tally) add(f func(*embed.Spend)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.spend)
}

// sent counts the attempts of a request.
func (t *tally) sent(attempts int) {
	t.add(func(s *embed.Spend) {
		s.Requests += int64(attempts)
		s.Retries += int64(max(attempts-1, 0))
	})
}

// failed counts a request without a usable answer. It does not count a request that the caller
// canceled or that is split and sent again.
func (t *tally) failed(ctx context.Context, notAsked, refused bool) {
	t.add(func(s *embed.Spend) {
		switch {
		case notAsked:
			s.NotAsked++
		case ctx.Err() == nil && !refused:
			s.Failures++
		}
	})
}

// embedded counts embedded texts and the tokens that the service reported. Missing or implausible
// counts are estimated.
func (t *tally) embedded(texts []string, tokens int64) {
	estimated := int64(0)
	if tokens <= 0 || tokens > maxTokens {
		tokens = 0
		for _, text := range texts {
			estimated += int64(countTokens(text))
		}
	}
	t.add(func(s *embed.Spend) {
		s.Texts += int64(len(texts))
		s.Tokens += tokens + estimated
		s.Estimated += estimated
	})
}

func (t *tally) rejected()  { t.add(func(s *embed.Spend) { s.Rejected++ }) }
func (t *tally) shortened() { t.add(func(s *embed.Spend) { s.Shortened++ }) }
