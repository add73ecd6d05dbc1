package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// askedMost is how many questions an embedder's last vectors are kept of.
const askedMost = 64

// asked keeps the vectors of the last questions: every provider asks the same one
// at the same time, and again for more where the budget leaves room. It is safe
// for concurrent use; the zero value is empty.
type asked struct {
	mu   sync.Mutex
	last []*question // the newest at the end
}

type question struct {
	text string
	done chan struct{} // closed once the rest is set
	// vector is shared; nobody changes it.
	vector []float32
	err    error
}

var errNotEmbedded = errors.New("the embedder ended without an answer")

// vector returns the vector of a text, which embed makes unless it is kept or being
// made. What fails is not kept.
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
			continue // whoever asked went away, but this caller did not
		}
		return q.vector, q.err
	}
}

// take returns the question of a text, and whether it is new and the caller's to
// answer.
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

// finish lets those go on who wait for a question.
func (a *asked) finish(q *question) {
	if q.err != nil {
		a.mu.Lock()
		a.last = slices.DeleteFunc(a.last, func(o *question) bool { return o == q })
		a.mu.Unlock()
	}
	close(q.done)
}
