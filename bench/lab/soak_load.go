package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx/bench"
)

// operationKind is a kind of operation in a soak.
type operationKind int

const (
	askKind operationKind = iota
	turnKind
	putKind
	deleteKind
	rememberKind
	eraseKind
	operationKinds
)

// String returns the kind's name, as the report shows it.
func (k operationKind) String() string {
	return [...]string{"query", "turn", "put", "delete", "remember", "erase"}[k]
}

// The mix, in percent. Erasures come in addition: one per session that ends. In four of five cases
// a document still exists when it is put again, so most puts are replacements.
var mix = [operationKinds]int{askKind: 50, turnKind: 20, putKind: 20, deleteKind: 5, rememberKind: 5}

// worker is one client of a soak, with its own share of the ids.
type worker struct {
	*soak

	number int
	rand   *rand.Rand
	turns  int // turns completed
	erased int // sessions erased, oldest first
}

// sessionTurns is the number of turns of a session.
const sessionTurns = 20

// share is the number of documents, and of turns, that the worker keeps alive.
func (w *worker) share() int { return w.opts.Pool / w.opts.Clients }

// fill writes the worker's share of the pool: documents, with earlier versions in a long soak, and
// turns until the first session is due to be erased.
func (w *worker) fill(ctx context.Context) error {
	versions := 1
	if w.opts.Duration >= longSoak {
		versions = fillVersions
	}
	for range versions {
		for i := range w.share() {
			if err := w.put(ctx, i); err != nil {
				return err
			}
		}
	}
	for versions > 1 && w.turns < w.share() {
		if err := w.turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// work performs operations when they are due until ctx ends; without a pace, one after another. An
// operation that the server delays is late, and the delay counts.
//
// With a pace the worker does not wait for an erasure, which takes a hundred times as long as
// anything else. Otherwise the worker and not the server would delay the next operation.
func (w *worker) work(ctx context.Context, p *pace) {
	var beside sync.WaitGroup
	defer beside.Wait()
	for ctx.Err() == nil {
		due := time.Now()
		if p != nil {
			if due = p.next(); !sleepUntil(ctx, due) {
				return
			}
		}
		if kind := w.draw(); kind == eraseKind && p != nil {
			session := w.oldest()
			beside.Go(func() { w.ended(ctx, eraseKind, due, w.erase(ctx, session)) })
		} else {
			w.ended(ctx, kind, due, w.do(ctx, kind))
		}
	}
}

// ended records the outcome of an operation, unless the time was over first.
func (w *worker) ended(ctx context.Context, kind operationKind, due time.Time, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		w.failed(kind, err)
	default:
		w.succeeded(kind, time.Since(due))
	}
}

// pace schedules operations at random times, like independent callers. It is safe for concurrent
// use.
type pace struct {
	start time.Time
	gap   float64

	mu   sync.Mutex // guards what follows
	rand *rand.Rand
	at   float64 // time of the last one, since the start
}

func newPace(start time.Time, rate float64, seed uint64) *pace {
	return &pace{
		start: start, gap: float64(time.Second) / rate,
		rand: rand.New(rand.NewPCG(seed, 0x0be17)),
	} //nolint:gosec // arrivals are no secret
}

func (p *pace) next() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at += p.rand.ExpFloat64() * p.gap
	return p.start.Add(time.Duration(p.at))
}

func (w *worker) draw() operationKind {
	if alive := w.turns - w.erased*sessionTurns; !w.opts.History && alive >= max(w.share(), sessionTurns) {
		return eraseKind
	}
	n := w.rand.IntN(100)
	for k := range mix {
		if n -= mix[k]; n < 0 {
			return operationKind(k)
		}
	}
	return askKind
}

func (w *worker) do(ctx context.Context, kind operationKind) error {
	i := w.rand.IntN(w.share())
	switch kind {
	case turnKind:
		return w.turn(ctx)
	case putKind:
		return w.put(ctx, i)
	case deleteKind:
		return w.remove(ctx, "documents", w.document(i))
	case rememberKind:
		return w.remember(ctx, i)
	case eraseKind:
		return w.erase(ctx, w.oldest())
	default:
		return w.ask(ctx)
	}
}

func (w *worker) document(i int) string { return fmt.Sprintf("soak/%d/%d.md", w.number, i) }

// put stores a document of a few thousand bytes, which usually replaces another.
func (w *worker) put(ctx context.Context, i int) error {
	var text strings.Builder
	for range 2 + w.rand.IntN(8) {
		fmt.Fprintf(&text, "## %s\n\n%s.\n\n", w.words(3), w.words(60))
	}
	return w.send(ctx, http.MethodPut, "/v1/documents/"+url.PathEscape(w.document(i))+"?namespace="+url.QueryEscape(w.opts.Namespace),
		map[string]any{"text": text.String()})
}

// session returns the id of one of the worker's sessions.
func (w *worker) session(n int) string {
	return fmt.Sprintf("soak-%d-%d-%d", w.opts.Seed, w.number, n)
}

// turn completes the next turn of the worker's newest session.
func (w *worker) turn(ctx context.Context) error {
	session := w.session(w.turns / sessionTurns)
	w.turns++
	return w.send(ctx, http.MethodPost, "/v1/turns", map[string]any{
		"id": fmt.Sprintf("%s-%d", session, w.turns), "namespace": w.opts.Namespace, "session_id": session,
		"prompt": w.words(12), "response": w.words(40),
	})
}

// oldest returns the worker's oldest session and counts it as erased.
func (w *worker) oldest() string {
	w.erased++
	return w.session(w.erased - 1)
}

// erase erases a session.
func (w *worker) erase(ctx context.Context, session string) error {
	return w.remove(ctx, "sessions", session, "erase", "true")
}

// remember stores a memory, which usually replaces another.
func (w *worker) remember(ctx context.Context, i int) error {
	return w.send(ctx, http.MethodPost, "/v1/memories", map[string]any{
		"id": fmt.Sprintf("soak-%d-%d", w.number, i), "namespace": w.opts.Namespace, "content": w.words(20),
	})
}

func (w *worker) ask(ctx context.Context) error {
	return w.send(ctx, http.MethodPost, "/v1/context", map[string]any{
		"query": w.words(4), "namespace": w.opts.Namespace,
	})
}

// remove deletes an item. It succeeds if the item does not exist.
func (w *worker) remove(ctx context.Context, what, id string, params ...string) error {
	q := url.Values{"namespace": {w.opts.Namespace}}
	for i := 0; i < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	err := w.send(ctx, http.MethodDelete, "/v1/"+what+"/"+url.PathEscape(id)+"?"+q.Encode(), nil)
	if answer, ok := errors.AsType[statusError](err); ok && answer.code == http.StatusNotFound {
		return nil
	}
	return err
}

// words returns n words from a vocabulary of several thousand, with uneven frequencies.
func (w *worker) words(n int) string {
	out := make([]string, n)
	for i := range out {
		k := int(w.rand.ExpFloat64() * 400)
		out[i] = bench.Word(k % 5000)
	}
	return strings.Join(out, " ")
}

// statusError is a response that is not a success.
type statusError struct {
	code int
	text string
}

// Error implements error.
func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// send sends a request.
func (s *soak) send(ctx context.Context, method, path string, body any) error {
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, payload)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	// The whole answer is read, so that the connection can be reused.
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = statusError{res.StatusCode, string(answer)}
	}
	return err
}

// errorClass returns the kind of an error from send.
func errorClass(err error) string {
	if answer, ok := errors.AsType[statusError](err); ok {
		return fmt.Sprintf("status %d", answer.code)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	return "request failed"
}

// sleepUntil waits until the given time. It returns false if ctx ended first.
func sleepUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-time.After(time.Until(at)):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
