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
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 256 << 20

// sample is one request.
type sample struct {
	took   time.Duration // until the last byte was read
	bytes  int
	tokens int
	items  int
	err    error
	class  string // of err, for counting
}

// load asks the queries.
type load struct {
	client  *http.Client
	url     string
	bodies  [][]byte
	clients int
}

func newLoad(o Options) (*load, error) {
	l := &load{
		client: newClient(o), clients: o.Clients,
		url: strings.TrimRight(o.URL, "/") + "/v1/context",
	}
	for _, q := range o.Queries {
		b, err := json.Marshal(q.WithDefaults())
		if err != nil {
			return nil, fmt.Errorf("encode query: %w", err)
		}
		l.bodies = append(l.bodies, b)
	}
	return l, nil
}

// run asks until n requests are answered, the time is over or ctx is done; 0 is
// no limit. A request that the end interrupts is not counted.
func (l *load) run(ctx context.Context, n int, limit time.Duration) ([]sample, time.Duration) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	var (
		next    atomic.Int64
		wg      sync.WaitGroup
		samples = make([][]sample, l.clients)
		start   = time.Now()
	)
	for c := range l.clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if n > 0 && i >= n {
					return
				}
				s := l.ask(ctx, l.bodies[i%len(l.bodies)])
				if ctx.Err() != nil && s.err != nil {
					return
				}
				samples[c] = append(samples[c], s)
			}
		})
	}
	wg.Wait()
	return slices.Concat(samples...), time.Since(start)
}

func (l *load) ask(ctx context.Context, body []byte) sample {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return failed(err, "request")
	}
	req.Header.Set("Content-Type", "application/json")
	start := time.Now()
	res, err := l.client.Do(req)
	if err != nil {
		return failed(err, classOf(err))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	s := sample{took: time.Since(start), bytes: len(answer)}
	switch {
	case err != nil:
		s.err, s.class = err, classOf(err)
	case res.StatusCode != http.StatusOK:
		s.class = fmt.Sprintf("status %d", res.StatusCode)
		s.err = fmt.Errorf("%s: %s", s.class, problem(answer))
	default:
		s.read(answer)
	}
	return s
}

// read takes from an answer what the report counts. It is not timed.
func (s *sample) read(answer []byte) {
	var a struct {
		Items       []json.RawMessage `json:"items"`
		TotalTokens int               `json:"total_tokens"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		s.err, s.class = fmt.Errorf("answer is not JSON: %w", err), "unreadable answer"
		return
	}
	s.tokens, s.items = a.TotalTokens, len(a.Items)
}

func failed(err error, class string) sample { return sample{err: err, class: class} }

// classOf names an error's kind, without the address that each text has.
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

// problem returns the text of an error answer (RFC 9457), at most a line.
func problem(body []byte) string {
	var p struct{ Title, Detail string }
	if err := json.Unmarshal(body, &p); err == nil && p.Title+p.Detail != "" {
		return strings.TrimSpace(p.Title + " " + p.Detail)
	}
	return "no explanation given"
}
