package retrieve

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxQueryVectors is the number of query vectors that an embedding space caches.
const maxQueryVectors = 64

// queryVectors caches the vectors of recent queries. Every provider embeds the same query concurrently,
// and again when it fetches more results, so concurrent calls share one embedding. It is safe for
// concurrent use; the zero value is empty.
type queryVectors struct {
	mu      sync.Mutex
	entries []*queryVector // newest last
}

type queryVector struct {
	text string
	done chan struct{} // closed once vector and err are set
	// vector is shared and must not be modified.
	vector []float32
	err    error
}

var errNotEmbedded = errors.New("the embedder returned no result")

// vector returns the cached vector of a text, waits for a call that is embedding it, or calls
// embed. Errors are not cached.
func (a *queryVectors) vector(
	ctx context.Context, text string, embed func(context.Context, string) ([]float32, error),
) ([]float32, error) {
	for {
		q, isNew := a.take(text)
		if isNew {
			defer a.finish(q)
			q.vector, q.err = embed(ctx, text)
			return q.vector, q.err
		}
		select {
		case <-q.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if errors.Is(q.err, context.Canceled) || errors.Is(q.err, context.DeadlineExceeded) {
			continue // the embedding caller was cancelled; this one was not
		}
		return q.vector, q.err
	}
}

// take returns the entry of a text. isNew is true if the entry is new and the caller must fill it.
func (a *queryVectors) take(text string) (q *queryVector, isNew bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.entries, func(q *queryVector) bool { return q.text == text }); i >= 0 {
		return a.entries[i], false
	}
	q = &queryVector{text: text, done: make(chan struct{}), err: errNotEmbedded}
	a.entries = append(a.entries, q)
	if len(a.entries) > maxQueryVectors {
		a.entries = slices.Delete(a.entries, 0, 1)
	}
	return q, true
}

// finish wakes the callers that wait for an entry. A failed entry is removed.
func (a *queryVectors) finish(q *queryVector) {
	if q.err != nil {
		a.mu.Lock()
		a.entries = slices.DeleteFunc(a.entries, func(o *queryVector) bool { return o == q })
		a.mu.Unlock()
	}
	close(q.done)
}
