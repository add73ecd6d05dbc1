package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/local"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// server has engines behind a socket. Each connection is one call, delayed on both ways.
type server struct {
	addr  string
	delay time.Duration
	fault atomic.Pointer[func() fault] // of each call; nil is none
	trips atomic.Int64                 // calls

	mu     sync.Mutex
	opener index.Opener
	logs   map[index.Collection]map[string]*pushed // by embedding space
	open   map[index.Collection]index.Engine
}

// fault is what goes wrong with a call.
type fault int

const (
	fine    fault = iota
	refused       // it is not begun
	cut           // it is done, and half of the answer is sent
	stalled       // it is done, and no answer is sent until the client gives up
)

// call is what a connection carries: a method with its arguments, and the results.
type call struct {
	Method     string
	Collection index.Collection
	Space      index.Space
	Batch      index.Batch
	Retrieval  index.Retrieval
	Where      index.Where
	Window     timeexpr.Window
	Chunks     []uint64
	N          int
}

type answer struct {
	Error, Code string
	Found       index.Found
	Candidates  []index.Candidate
	Timeline    timeexpr.Timeline
	Neighbors   []index.Neighbors
	Health      index.Health
	Seq         uint64
	N           int
	Yes         bool
}

// MarshalJSON leaves out the func, which stays with the client.
func (c call) MarshalJSON() ([]byte, error) {
	type plain call
	type batch struct {
		Seq          uint64
		Revised, Add []index.Chunk
		Ended        []index.End
		Removed      []index.Removal
	}
	return json.Marshal(struct {
		plain
		Batch batch
	}{plain(c), batch{c.Batch.Seq, c.Batch.Revised, c.Batch.Add, c.Batch.Ended, c.Batch.Removed}})
}

// pushed is a feed of the batches that a client has pushed.
type pushed struct {
	mu      sync.Mutex
	batches []index.Batch
}

func (p *pushed) last() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.batches) == 0 {
		return 0
	}
	return p.batches[len(p.batches)-1].Seq
}

// push appends a batch that is not there yet.
func (p *pushed) push(b index.Batch) {
	if b.Seq > p.last() {
		p.mu.Lock()
		p.batches = append(p.batches, b)
		p.mu.Unlock()
	}
}

func (p *pushed) All(_ context.Context, apply func(index.Batch) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.batches {
		if err := apply(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *pushed) Follow(_ context.Context, after uint64, _ index.Want) (index.Batch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.batches {
		if b.Seq > after {
			b.Add, b.Revised = slices.Clone(b.Add), slices.Clone(b.Revised)
			return b, nil
		}
	}
	return index.Batch{Seq: after}, nil
}

// spaced gives each embedding space its own vectors.
type spaced struct {
	first string
	logs  map[string]*pushed
}

func (s spaced) All(ctx context.Context, apply func(index.Batch) error) error {
	return s.logs[s.first].All(ctx, apply)
}

func (s spaced) Follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	if log := s.logs[want.Space]; log != nil {
		return log.Follow(ctx, after, want)
	}
	return s.logs[s.first].Follow(ctx, after, want)
}

// serve starts a server that keeps its indexes in a directory of the test.
func serve(t *testing.T) *server {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		addr: l.Addr().String(), delay: 3 * time.Millisecond, opener: local.Opener{Dir: t.TempDir()},
		logs: make(map[index.Collection]map[string]*pushed), open: make(map[index.Collection]index.Engine),
	}
	var wg sync.WaitGroup
	life, end := context.WithCancel(context.Background())
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { s.answer(life, conn) })
		}
	})
	t.Cleanup(func() {
		end()
		_ = l.Close()
		wg.Wait()
		for _, e := range s.open {
			_ = e.Close()
		}
	})
	return s
}

func (s *server) answer(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	var c call
	if json.NewDecoder(conn).Decode(&c) != nil {
		return
	}
	s.trips.Add(1)
	time.Sleep(s.delay)
	wrong := fine
	if f := s.fault.Load(); f != nil {
		wrong = (*f)()
	}
	if wrong == refused {
		return
	}
	a, err := s.do(ctx, c)
	if err != nil {
		a.Error, a.Code = err.Error(), "internal"
		if errors.Is(err, ragctx.ErrUnavailable) {
			a.Code = "unavailable"
		}
	}
	b, err := json.Marshal(a)
	if err != nil {
		b = []byte(err.Error())
	}
	time.Sleep(s.delay)
	if wrong == stalled {
		_, _ = conn.Read(make([]byte, 1)) // until the client closes the connection
		return
	}
	if wrong == cut {
		b = b[:len(b)/2]
	}
	_, _ = conn.Write(b)
}

// do does a call.
func (s *server) do(ctx context.Context, c call) (a answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	logs := s.logs[c.Collection]
	switch c.Method {
	case "open":
		if s.open[c.Collection] == nil {
			if logs == nil {
				logs = make(map[string]*pushed)
				s.logs[c.Collection] = logs
			}
			if logs[c.Space.Name] == nil {
				logs[c.Space.Name] = new(pushed)
			}
			s.open[c.Collection], err = s.opener.Open(ctx, index.Opening{
				Collection: c.Collection, Space: c.Space, Feed: spaced{c.Space.Name, logs},
			})
		}
		a.Seq = logs[c.Space.Name].last()
		return a, err
	case "drop":
		delete(s.logs, c.Collection)
		return a, s.opener.Drop(ctx, c.Collection)
	case "keep":
		for _, logs := range s.logs {
			maps.DeleteFunc(logs, func(name string, _ *pushed) bool { return name != c.Space.Name })
		}
		return a, s.opener.KeepSpace(ctx, c.Space.Name)
	case "newest":
		for _, logs := range s.logs {
			for _, log := range logs {
				a.Seq = max(a.Seq, log.last())
			}
		}
		return a, nil
	case "size":
		n, err := s.opener.Size(ctx)
		a.N = int(n)
		return a, err
	}
	e := s.open[c.Collection]
	switch {
	case e == nil && c.Method == "close": // repeated
		return a, nil
	case e == nil:
		return a, index.ErrClosed
	}
	switch c.Method {
	case "apply":
		logs[c.Space.Name].push(c.Batch)
		if c.Space.Name == e.Space() {
			err = e.CatchUp(ctx, c.Batch.Seq)
		}
	case "prepare":
		if logs[c.Space.Name] == nil {
			logs[c.Space.Name] = new(pushed)
		}
		a.Seq = logs[c.Space.Name].last()
	case "fill":
		err = e.Prepare(ctx, c.Space)
	case "prepared":
		a.Yes, err = e.Prepared(ctx)
	case "switch":
		if err = e.Switch(ctx); err != nil && e.Space() == c.Space.Name {
			err = nil // repeated
		}
	case "abandon":
		err = e.Abandon(ctx)
	case "retrieve":
		a.Found, err = e.Retrieve(ctx, c.Retrieval)
	case "describe":
		a.Candidates, err = e.Describe(ctx, c.Where, c.Chunks)
	case "during":
		a.Found, a.N, err = e.During(ctx, c.Where, c.Window, c.N)
	case "timeline":
		a.Timeline, err = e.Timeline(ctx, c.Where)
	case "neighbors":
		a.Neighbors, err = e.Neighbors(ctx, c.Where, c.Chunks, c.N)
	case "health":
		a.Health, err = e.Health(ctx)
	case "compact":
		err = e.Compact(ctx)
	case "close":
		err = e.Close()
		delete(s.open, c.Collection)
	}
	return a, err
}

// client opens engines on a server.
type client struct {
	addr     string
	attempts int
	timeout  time.Duration // of one attempt
}

var _ index.Opener = client{}

// do makes a call. A failed attempt is repeated, as no call does anything twice.
func (c client) do(ctx context.Context, of call) (a answer, err error) {
	for range c.attempts {
		if a, err = c.try(ctx, of); err == nil || ctx.Err() != nil || !errors.Is(err, ragctx.ErrUnavailable) {
			return a, err
		}
	}
	return a, err
}

func (c client) try(ctx context.Context, of call) (a answer, err error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	failed := func(err error) error {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("%w: index engine at %s: %s: %w", ragctx.ErrUnavailable, c.addr, of.Method, err)
	}
	conn, err := new(net.Dialer).DialContext(limited, "tcp", c.addr)
	if err != nil {
		return a, failed(err)
	}
	defer conn.Close()
	defer context.AfterFunc(limited, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if err := json.NewEncoder(conn).Encode(of); err != nil {
		return a, failed(err)
	}
	if err := json.NewDecoder(conn).Decode(&a); err != nil {
		return answer{}, failed(err)
	}
	switch {
	case a.Error == "":
		return a, nil
	case a.Code == "unavailable":
		return answer{}, failed(errors.New(a.Error))
	}
	return answer{}, fmt.Errorf("index engine at %s: %s: %s", c.addr, of.Method, a.Error)
}

func (c client) Open(ctx context.Context, o index.Opening) (index.Engine, error) {
	a, err := c.do(ctx, call{Method: "open", Collection: o.Collection, Space: o.Space})
	if err != nil {
		return nil, err
	}
	e := &remote{client: c, id: o.Collection, feed: o.Feed, space: o.Space, applied: a.Seq}
	return e, e.CatchUp(ctx, math.MaxUint64) // all that the store has by now
}

func (c client) Drop(ctx context.Context, id index.Collection) error {
	_, err := c.do(ctx, call{Method: "drop", Collection: id})
	return err
}

func (c client) KeepSpace(ctx context.Context, name string) error {
	_, err := c.do(ctx, call{Method: "keep", Space: index.Space{Name: name}})
	return err
}

func (c client) Newest(ctx context.Context) (uint64, string, error) {
	a, err := c.do(ctx, call{Method: "newest"})
	return a.Seq, c.addr, err
}

func (c client) Size(ctx context.Context) (int64, error) {
	a, err := c.do(ctx, call{Method: "size"})
	return int64(a.N), err
}

// remote is an engine on a server. It pushes the changes of its feed.
type remote struct {
	client client
	id     index.Collection
	feed   index.Feed

	mu      sync.Mutex
	space   index.Space
	next    *index.Space
	applied uint64
}

func (r *remote) do(ctx context.Context, c call) (answer, error) {
	c.Collection = r.id
	return r.client.do(ctx, c)
}

// push pushes the batch after a change, and returns its number.
func (r *remote) push(ctx context.Context, after uint64, to index.Space) (uint64, error) {
	b, err := r.feed.Follow(ctx, after, index.Want{Texts: true, Space: to.Name})
	if err != nil || b.Seq <= after {
		return after, err
	}
	if b.Vectors != nil {
		if err := errors.Join(b.Vectors(ctx, b.Add), b.Vectors(ctx, b.Revised)); err != nil {
			return after, err
		}
		b.Vectors = nil
	}
	if _, err := r.do(ctx, call{Method: "apply", Space: to, Batch: b}); err != nil {
		return after, err
	}
	return b.Seq, nil
}

func (r *remote) CatchUp(ctx context.Context, seq uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.applied < seq {
		at, err := r.push(ctx, r.applied, r.space)
		if err != nil || at == r.applied {
			return err
		}
		r.applied = at
	}
	return nil
}

func (r *remote) Retrieve(ctx context.Context, q index.Retrieval) (index.Found, error) {
	a, err := r.do(ctx, call{Method: "retrieve", Retrieval: q})
	return a.Found, err
}

func (r *remote) Describe(ctx context.Context, w index.Where, chunks []uint64) ([]index.Candidate, error) {
	a, err := r.do(ctx, call{Method: "describe", Where: w, Chunks: chunks})
	return a.Candidates, err
}

func (r *remote) During(ctx context.Context, w index.Where, win timeexpr.Window, k int) (index.Found, int, error) {
	a, err := r.do(ctx, call{Method: "during", Where: w, Window: win, N: k})
	return a.Found, a.N, err
}

func (r *remote) Timeline(ctx context.Context, w index.Where) (timeexpr.Timeline, error) {
	a, err := r.do(ctx, call{Method: "timeline", Where: w})
	return a.Timeline, err
}

func (r *remote) Neighbors(ctx context.Context, w index.Where, chunks []uint64, n int) ([]index.Neighbors, error) {
	a, err := r.do(ctx, call{Method: "neighbors", Where: w, Chunks: chunks, N: n})
	return a.Neighbors, err
}

func (r *remote) Version(context.Context) (index.Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return index.Version{Applied: r.applied, Space: r.space.Name}, nil
}

func (r *remote) Health(ctx context.Context) (index.Health, error) {
	a, err := r.do(ctx, call{Method: "health"})
	return a.Health, err
}

func (r *remote) Compact(ctx context.Context) error {
	_, err := r.do(ctx, call{Method: "compact"})
	return err
}

func (r *remote) Close() error {
	_, err := r.do(context.Background(), call{Method: "close"})
	return err
}

func (r *remote) Space() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.space.Name
}

// fill pushes what the next space lacks. The caller holds mu.
func (r *remote) fill(ctx context.Context, at uint64) error {
	for {
		to, err := r.push(ctx, at, *r.next)
		if err != nil || to == at {
			return err
		}
		at = to
	}
}

func (r *remote) Prepare(ctx context.Context, to index.Space) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = &to
	a, err := r.do(ctx, call{Method: "prepare", Space: to})
	if err == nil {
		err = r.fill(ctx, a.Seq)
	}
	if err == nil {
		_, err = r.do(ctx, call{Method: "fill", Space: to})
	}
	return err
}

func (r *remote) Prepared(ctx context.Context) (bool, error) {
	a, err := r.do(ctx, call{Method: "prepared"})
	return a.Yes, err
}

func (r *remote) Switch(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.do(ctx, call{Method: "prepare", Space: *r.next})
	if err == nil {
		err = r.fill(ctx, a.Seq)
	}
	if err == nil {
		_, err = r.do(ctx, call{Method: "switch", Space: *r.next})
	}
	if err == nil {
		r.space, r.next = *r.next, nil
	}
	return err
}

func (r *remote) Abandon(ctx context.Context) error {
	_, err := r.do(ctx, call{Method: "abandon"})
	return err
}

// Audit counts what is missing.
func (r *remote) Audit(ctx context.Context, _ index.AuditOptions) (index.Audit, error) {
	var a index.Audit
	v, err := r.Health(ctx)
	if err != nil {
		return a, err
	}
	err = r.feed.All(ctx, func(b index.Batch) error {
		a.Chunks += len(b.Add)
		return nil
	})
	a.Catalog = index.PartAudit{State: index.Ready, Missing: max(0, a.Chunks-v.Chunks)}
	a.Keyword, a.Vector = a.Catalog, a.Catalog
	return a, err
}

func (r *remote) Recall(context.Context) (float64, bool, error) { return 0, false, nil }
