package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// askedMost is the number of recent queries whose vectors an embedding space caches.
const askedMost = 64

// asked caches the vectors of recent queries. Every provider embeds the same query concurrently,
// and again when it fetches more results, so concurrent calls share one embedding. It is safe for
// concurrent use; the zero value is empty.
type asked struct {
	mu   sync.Mutex
	last []*question // newest last
}

type question struct {
	text string
	done chan struct{} // closed once vector and err are set
	// vector is shared and must not be modified.
	vector []float32
	err    error
}

var errNotEmbedded = errors.New("the embedder ended without an answer")

// vector returns the cached vector of a text, waits for a call that is embedding it, or calls
// embed. Errors are not cached.
func (a *asked) vector(ctx context.Context, text string, embed func(context.Context, string) ([]float32, error)) ([]float32, error) {
	for {
		q, mine := a.take(text)
		if mine {
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

// take returns the entry of a text. mine is true if the entry is new and the caller must fill it.
func (a *asked) take(text string) (q *question, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.last, func(q *question) bool { return q.text == text }); i >= 0 {
		return a.last[i], false
	}
	q = &question{text: text, done: make(chan struct{}), err: errNotEmbedded}
	a.last = append(a.last, q)
	if len(a.last) > askedMost {
		a.last = slices.Delete(a.last, 0, 1)
	}
	return q, true
}

// finish wakes the callers that wait for an entry. A failed entry is removed.
func (a *asked) finish(q *question) {
	if q.err != nil {
		a.mu.Lock()
		a.last = slices.DeleteFunc(a.last, func(o *question) bool { return o == q })
		a.mu.Unlock()
	}
	close(q.done)
}
