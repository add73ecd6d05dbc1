package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// maxAnswer bounds the bytes that are read of one answer.
const maxAnswer = 256 << 20

// sample is one request.
type sample struct {
	at       time.Duration // when it was due, since the start of the run
	took     time.Duration // from the due time until the last byte was read
	began    time.Time     // when it was sent
	sent     time.Duration // from sending until the last byte was read
	stages   []stage       // as reported by the server
	bytes    int
	tokens   int
	items    int
	degraded bool // the answer is degraded: a provider did not contribute
	cached   bool // the answer came from the answer cache
	err      error
	class    string // kind of err, for counting
}

// asker sends the queries.
type asker struct {
	client  *http.Client
	url     string
	queries []ragctx.ContextQuery
	next    atomic.Int64 // index of the next query
	asked   atomic.Int64 // queries sent with a "now" of their own
}

func newAsker(o Options, client *http.Client) (*asker, error) {
	a := &asker{client: client, url: strings.TrimRight(o.URL, "/") + "/v1/context"}
	for _, q := range o.Queries {
		q = q.WithDefaults()
		if _, err := json.Marshal(q); err != nil {
			return nil, fmt.Errorf("encode query: %w", err)
		}
		a.queries = append(a.queries, q)
	}
	return a, nil
}

// body returns the next query. The answer cache's key is the query's text and its "now", if it has
// one.
func (a *asker) body(repeated bool) []byte {
	q := a.queries[int(a.next.Add(1)-1)%len(a.queries)]
	if !repeated {
		q.Now = time.Now().Add(time.Duration(a.asked.Add(1))) // the clock may return the same time twice
	}
	b, err := json.Marshal(q)
	if err != nil {
		panic(err) // the query was encoded before
	}
	return b
}

// closedLoop has each client ask again after its answer, until n requests have begun, the time limit is
// over or ctx is done; 0 is no limit. It waits for requests under way, because cutting them off
// would omit the slow ones. Requests that ctx interrupts are not counted.
func (a *asker) closedLoop(ctx context.Context, l Load, n int, limit time.Duration) ([]sample, time.Duration) {
	var (
		asked   atomic.Int64
		wg      sync.WaitGroup
		samples = make([][]sample, l.Clients)
		start   = time.Now()
	)
	a.next.Store(0) // every run sends the same queries
	for c := range l.Clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				if i := int(asked.Add(1)); n > 0 && i > n {
					return
				}
				at := time.Since(start)
				if limit > 0 && at >= limit {
					return
				}
				s := a.ask(ctx, a.body(l.Repeated))
				if ctx.Err() != nil && s.err != nil {
					return
				}
				s.at, s.took = at, s.sent
				samples[c] = append(samples[c], s)
			}
		})
	}
	wg.Wait()
	return slices.Concat(samples...), time.Since(start)
}

func (a *asker) ask(ctx context.Context, body []byte) sample {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		f := failed(err, "request")
		f.began = time.Now()
		return f
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(timingHeader, "true")
	start := time.Now()
	res, err := a.client.Do(req)
	if err != nil {
		f := failed(err, classOf(err))
		f.began, f.sent = start, time.Since(start)
		return f
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	s := sample{began: start, sent: time.Since(start), bytes: len(answer)}
	switch {
	case err != nil:
		s.err, s.class = err, classOf(err)
	case res.StatusCode != http.StatusOK:
		s.class = fmt.Sprintf("status %d", res.StatusCode)
		s.err = fmt.Errorf("%s: %s", s.class, problem(answer))
	default:
		s.read(answer)
		s.stages = stagesOf(res.Header, s.sent)
		s.cached = fromCache(s.stages)
	}
	return s
}

// read extracts the counts of the report from an answer. It is not part of the measured time.
func (s *sample) read(answer []byte) {
	var a struct {
		Items       []json.RawMessage `json:"items"`
		TotalTokens int               `json:"total_tokens"`
		Degraded    []json.RawMessage `json:"degraded"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		s.err, s.class = fmt.Errorf("answer is not JSON: %w", err), "unreadable answer"
		return
	}
	s.tokens, s.items, s.degraded = a.TotalTokens, len(a.Items), len(a.Degraded) > 0
}

func failed(err error, class string) sample { return sample{err: err, class: class} }

// classOf returns the kind of an error, without addresses.
func classOf(err error) string {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op + " failed"
	}
	return "request failed"
}

// problem returns the text of an error response (RFC 9457) on one line.
func problem(body []byte) string {
	var p struct{ Title, Detail string }
	if err := json.Unmarshal(body, &p); err == nil && p.Title+p.Detail != "" {
		return strings.TrimSpace(p.Title + " " + p.Detail)
	}
	return "no explanation given"
}
