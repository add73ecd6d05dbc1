package indextest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// TestEngine checks that the engines of an opener satisfy the contract of [index.Engine], against a model
// that looks at every chunk: what a query sees, not how well it scores. reopen opens what
// an opener kept; every case gets an empty one.
func TestEngine(t *testing.T, empty func(t *testing.T) (reopen func() index.Opener)) {
	for name, test := range map[string]func(*testing.T, *world){
		"Visible": testVisible, "Rest": testRest, "Late vectors": testLateVectors, "Reopen": testReopenEngine, "Erase": testErase,
		"Spaces": testSpaces, "Drop": testDrop, "Cancelled": testEngineCancelled, "Closed": testEngineClosed,
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{opener: empty(t), rng: rand.New(rand.NewPCG(1, 2)), live: make(map[uint64]*known), now: epoch.AddDate(0, 1, 0)}
			w.open(t)
			t.Cleanup(func() { _ = w.engine.Close() })
			test(t, w)
		})
	}
}

// Deferred returns an opener of engines that are fed in the background.
func Deferred(o index.Opener) index.Opener { return deferring{o} }

type deferring struct{ index.Opener }

// Open implements [index.Opener].
func (d deferring) Open(ctx context.Context, o index.Opening) (index.Engine, error) {
	o.Deferred = true
	return d.Opener.Open(ctx, o)
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// space is the embedding space of the vectors of a [world].
var space = index.Space{Name: "first", Dimensions: 4, Identity: "test/4"}

// known is an item of the model. Its chunks have the ids from first on.
type known struct {
	index.Item

	first, chunks uint64
	vectors       bool
}

// world is an engine, its feed and a model of both.
type world struct {
	opener func() index.Opener
	kept   index.Opener
	engine index.Index
	rng    *rand.Rand
	now    time.Time
	chunk  uint64 // the last one

	mu      sync.Mutex // the engine follows in the background
	batches []index.Batch
	live    map[uint64]*known // by id
}

var collection = index.Collection{Namespace: 1, Kind: "memories"}

func (w *world) open(t *testing.T) {
	t.Helper()
	w.kept = w.opener()
	e, err := w.kept.Open(t.Context(), index.Opening{Collection: collection, Space: space, Feed: w})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = index.Index{Engine: e}
}

// All implements [index.Feed].
func (w *world) All(_ context.Context, apply func(index.Batch) error) error {
	w.mu.Lock()
	batches := slices.Clone(w.batches)
	for i := range batches {
		batches[i].Add, batches[i].Revised = w.remaining(batches[i].Add, index.Want{}), nil
	}
	w.mu.Unlock()
	for _, b := range batches {
		if err := apply(b); err != nil {
			return err
		}
	}
	return nil
}

// Follow implements [index.Feed]. Every other batch leaves its vectors out.
func (w *world) Follow(_ context.Context, after uint64, want index.Want) (index.Batch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if after >= uint64(len(w.batches)) {
		return index.Batch{Seq: after}, nil
	}
	b := w.batches[after]
	b.Add, b.Revised = w.remaining(b.Add, want), w.remaining(b.Revised, want)
	if b.Seq%2 == 0 && want.Space != "" {
		for _, list := range [][]index.Chunk{b.Add, b.Revised} {
			for i := range list {
				list[i].Vector = nil
			}
		}
		b.Vectors = func(_ context.Context, some []index.Chunk) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			for i := range some {
				some[i].Vector = w.vector(some[i])
			}
			return nil
		}
	}
	return b, nil
}

// remaining returns copies of the chunks that are not removed, with what is wanted. The caller holds mu.
func (w *world) remaining(list []index.Chunk, want index.Want) (out []index.Chunk) {
	for _, c := range list {
		if w.live[c.Item.ID] == nil {
			continue
		}
		if !want.Texts {
			c.Title, c.Text = "", ""
		}
		if want.Space != "" {
			c.Vector = w.vector(c)
		}
		out = append(out, c)
	}
	return out
}

// vector returns the vector of a chunk that has one by now. The caller holds mu.
func (w *world) vector(c index.Chunk) []float32 {
	if p := w.live[c.Item.ID]; p == nil || !p.vectors {
		return nil
	}
	return []float32{1, float32(c.ID%7) / 10, float32(c.ID%3) / 10, 0}
}

// write has the engine apply a batch.
func (w *world) write(t *testing.T, b index.Batch) {
	t.Helper()
	b.Seq = uint64(len(w.batches) + 1)
	for i := range b.Ended {
		b.Ended[i].Seq = b.Seq
	}
	w.mu.Lock()
	w.batches = append(w.batches, b)
	w.mu.Unlock()
	if err := w.engine.CatchUp(t.Context(), b.Seq); err != nil {
		t.Fatal(err)
	}
}

// add writes a new item.
func (w *world) add(t *testing.T, p known) *known {
	t.Helper()
	p.ID, p.first, p.chunks = uint64(len(w.batches)+1), w.chunk+1, 1+w.rng.Uint64N(3)
	w.chunk += p.chunks
	w.mu.Lock()
	w.live[p.ID] = &p
	w.mu.Unlock()
	item := p.Item
	b := index.Batch{}
	for n := range p.chunks {
		b.Add = append(b.Add, index.Chunk{
			ID: p.first + n, Ordinal: int(n), Item: &item, //nolint:gosec // at most 3
			Title: "orchard", Text: fmt.Sprintf("walnut number%d", p.ID), Speaker: index.Speaker{Role: ragctx.RoleUser},
		})
	}
	w.write(t, b)
	return &p
}

func (w *world) end(t *testing.T, p *known, at time.Time) {
	t.Helper()
	p.Superseded, p.Ended = at, uint64(len(w.batches)+1)
	w.write(t, index.Batch{Ended: []index.End{{Item: p.ID, At: at}}})
}

func (w *world) remove(t *testing.T, p *known) {
	t.Helper()
	w.mu.Lock()
	delete(w.live, p.ID)
	w.mu.Unlock()
	r := index.Removal{Item: p.ID}
	for n := range p.chunks {
		r.Chunks = append(r.Chunks, p.first+n)
	}
	w.write(t, index.Batch{Removed: []index.Removal{r}})
}

// testRest asks for a few candidates: no other chunk has a better score than the engine says.
func testRest(t *testing.T, w *world) {
	for range 20 {
		w.add(t, w.anyItem())
	}
	ask := func(words, vectors int) index.Found {
		t.Helper()
		f, err := w.engine.Retrieve(t.Context(), index.Retrieval{
			Where: index.Where{Scope: index.Scope{AnyUser: true}, Now: w.now}, Text: "walnut number1 number2",
			Vector: []float32{1, 0, 0, 0}, Space: w.engine.Space(), Exact: true, WordDepth: words, VectorDepth: vectors,
		})
		if err != nil || len(f.Degraded) > 0 {
			t.Fatalf("%v, degraded %v", err, f.Degraded)
		}
		return f
	}
	all := ask(1000, 1000)
	if all.Rest != (index.Signals{Vector: -1}) {
		t.Errorf("of all chunks there remain some with %+v", all.Rest)
	}
	const rounding = 1e-6
	for n := 1; n < len(all.Candidates); n += 1 + n/4 {
		for _, depth := range [][2]int{{n, 1000}, {1000, n}, {n, n}, {n, 2 * n}} {
			few := ask(depth[0], depth[1])
			for _, c := range all.Candidates {
				has := func(o index.Candidate) bool { return o.ID == c.ID }
				if s := c.Signals; (s.Keyword > few.Rest.Keyword+rounding || w.hasVector(c.ID) && s.Vector > few.Rest.Vector+rounding) &&
					!slices.ContainsFunc(few.Candidates, has) {
					t.Errorf("with depths %d chunk %d with %+v is not found, and the rest has %+v", depth, c.ID, s, few.Rest)
				}
			}
		}
	}
}

// hasVector reports whether a chunk has a vector.
func (w *world) hasVector(chunk uint64) bool {
	for _, p := range w.live {
		if chunk >= p.first && chunk < p.first+p.chunks {
			return p.vectors
		}
	}
	return false
}

// sees is the plain reading of [index.Where].
func sees(q index.Query, p *known) bool {
	at := q.Now
	if !q.AsOf.IsZero() {
		at = q.AsOf
		if p.Recorded.After(at) || !p.Superseded.IsZero() && !p.Superseded.After(at) {
			return false
		}
	} else if !p.Superseded.IsZero() {
		return false
	}
	if !p.Expires.IsZero() && !at.Before(p.Expires) {
		return false
	}
	s, f := q.Scope, q.Filter
	if p.User != "" && !s.AnyUser && p.User != s.User || s.Agent != "" && s.Agent != p.Agent || s.Session != "" && s.Session != p.Session {
		return false
	}
	for _, tag := range f.Tags {
		if !slices.Contains(p.Tags, tag) {
			return false
		}
	}
	for k, v := range f.Metadata {
		if p.Metadata[k] != v {
			return false
		}
	}
	if !f.OccurredAfter.IsZero() && p.Occurred.Before(f.OccurredAfter) ||
		!f.OccurredBefore.IsZero() && !p.Occurred.Before(f.OccurredBefore) {
		return false
	}
	return len(f.Sources) == 0 || slices.ContainsFunc(f.Sources, func(s string) bool {
		prefix, open := strings.CutSuffix(s, "*")
		return p.Source == s || open && strings.HasPrefix(p.Source, prefix)
	})
}

// want returns the visible chunks of the model, ascending.
func (w *world) want(q index.Query, in func(*known) bool) (ids []uint64) {
	for _, p := range w.live {
		if sees(q, p) && in(p) {
			for n := range p.chunks {
				ids = append(ids, p.first+n)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func found(hits []index.Hit) (ids []uint64) {
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

// check compares all that the engine finds for a query with the model.
func (w *world) check(t *testing.T, q index.Query) {
	t.Helper()
	q.K = 10_000
	every := func(*known) bool { return true }
	for method, in := range map[string]func(*known) bool{"keyword": every, "vector": func(p *known) bool { return p.vectors }} {
		q.Text, q.Vector, q.Space = "walnut", []float32{1, 0, 0, 0}, w.engine.Space()
		q.Fusion.Method, q.Exact = method, true
		r, err := w.engine.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := w.want(q, in), found(r.Hits); !slices.Equal(got, want) || len(r.Degraded) > 0 {
			t.Fatalf("%s search for %+v found chunks %v, degraded %v, want %v", method, q, got, r.Degraded, want)
		}
	}
	all := make([]uint64, w.chunk)
	for i := range all {
		all[i] = uint64(i + 1) //nolint:gosec // not negative
	}
	described, err := w.engine.Describe(t.Context(), q.Where(0), all)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, c := range described {
		got = append(got, c.ID)
		if c.Message == nil {
			t.Fatalf("chunk %d is described without its message", c.ID)
		}
	}
	if want := w.want(q, every); !slices.Equal(got, want) {
		t.Fatalf("%+v describes chunks %v, want %v", q, got, want)
	}
	win := timeexpr.Window{From: epoch.AddDate(0, 0, 2), To: epoch.AddDate(0, 0, 6)}
	during, total, err := w.engine.During(t.Context(), q.Where(0), win, 3)
	want := w.want(q, func(p *known) bool { return win.Contains(p.Occurred, p.Session) && p.Source != index.DerivedSource })
	if err != nil || total != len(want) || len(during.Candidates) != min(3, total) {
		t.Fatalf("%+v has %d of %d chunks within a time, want %d; %v", q, len(during.Candidates), total, len(want), err)
	}
	none, total, err := w.engine.During(t.Context(), q.Where(0), timeexpr.Window{Sessions: []string{}}, 3)
	if err != nil || total != 0 || len(none.Candidates) != 0 {
		t.Fatalf("%d chunks are within no session; %v", total, err)
	}
}

// draw returns one of some values.
func draw[T any](w *world, of ...T) T { return of[w.rng.IntN(len(of))] }

func (w *world) anyItem() known {
	p := known{vectors: w.rng.IntN(4) > 0, Item: index.Item{
		User: draw(w, "", "a", "b"), Agent: draw(w, "", "x"), Session: draw(w, "", "s1", "s2"),
		Source: draw(w, "file:a", "file:b", "web", index.DerivedSource), Tags: draw(w, nil, []string{"t"}, []string{"t", "u"}),
		Metadata: map[string]string{"lang": draw(w, "en", "de")}, Recorded: epoch.AddDate(0, 0, w.rng.IntN(20)),
		Occurred: epoch.AddDate(0, 0, w.rng.IntN(9)),
	}}
	if w.rng.IntN(5) == 0 {
		p.Expires = epoch.AddDate(0, 0, 10+w.rng.IntN(40))
	}
	return p
}

func (w *world) anyQuery() index.Query {
	return index.Query{
		Now: w.now, AsOf: draw(w, time.Time{}, time.Time{}, epoch.AddDate(0, 0, w.rng.IntN(30))),
		Scope: index.Scope{
			User: draw(w, "", "a", "b"), AnyUser: w.rng.IntN(4) == 0,
			Agent: draw(w, "", "", "x"), Session: draw(w, "", "", "s1"),
		},
		Filter: ragctx.Filter{
			Tags: draw(w, nil, nil, []string{"u"}), Sources: draw(w, nil, nil, []string{"file:*"}, []string{"web", "file:a"}),
			Metadata: draw(w, nil, map[string]string{"lang": "de"}), OccurredAfter: draw(w, time.Time{}, epoch.AddDate(0, 0, 4)),
		},
	}
}

// everything is a query that sees all current items.
func (w *world) everything() index.Query {
	return index.Query{Now: w.now, Scope: index.Scope{AnyUser: true}}
}

func testVisible(t *testing.T, w *world) {
	var items []*known
	for range 60 {
		items = append(items, w.add(t, w.anyItem()))
		switch p := draw(w, items...); {
		case w.live[p.ID] == nil || !p.Superseded.IsZero():
		case w.rng.IntN(4) == 0:
			w.end(t, p, epoch.AddDate(0, 0, 20+w.rng.IntN(8)))
		case w.rng.IntN(8) == 0:
			w.remove(t, p)
		}
	}
	w.check(t, w.everything())
	for range 40 {
		w.check(t, w.anyQuery())
	}
}

func testLateVectors(t *testing.T, w *world) {
	p := w.add(t, known{Item: index.Item{Recorded: epoch}})
	w.check(t, w.everything())
	w.mu.Lock()
	p.vectors = true
	w.mu.Unlock()
	b := index.Batch{}
	item := p.Item
	for n := range p.chunks {
		b.Revised = append(b.Revised, index.Chunk{ID: p.first + n, Item: &item})
	}
	w.write(t, b)
	w.check(t, w.everything())
}

// testReopenEngine closes the engine: changes made while it was closed, and those before, are found.
func testReopenEngine(t *testing.T, w *world) {
	for range 5 {
		w.add(t, w.anyItem())
	}
	version, err := w.engine.Version(t.Context())
	if err != nil || version.Applied != 5 {
		t.Fatalf("version %+v after 5 changes, %v", version, err)
	}
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	w.open(t)
	if err := w.engine.CatchUp(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	w.check(t, w.everything())
	w.add(t, w.anyItem())
	w.check(t, w.everything())
}

func testErase(t *testing.T, w *world) {
	gone := w.add(t, known{vectors: true})
	w.add(t, known{vectors: true})
	w.remove(t, gone)
	if err := w.engine.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.check(t, w.everything())
	if v, err := w.engine.Health(t.Context()); err != nil || v.Keyword.Chunks != int(w.live[2].chunks) { //nolint:gosec // at most 3
		t.Errorf("%+v after an erasure, %v", v, err)
	}
}

func testSpaces(t *testing.T, w *world) {
	w.add(t, known{vectors: true})
	next := index.Space{Name: "second", Dimensions: 4, Identity: "other/4"}
	if err := errors.Join(w.engine.Prepare(t.Context(), next), w.engine.Abandon(t.Context()),
		w.engine.Prepare(t.Context(), next)); err != nil {
		t.Fatal(err)
	}
	w.add(t, known{vectors: true})
	for ready := false; !ready; time.Sleep(time.Millisecond) {
		var err error
		if ready, err = w.engine.Prepared(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.check(t, w.everything())
	if err := w.engine.Switch(t.Context()); err != nil || w.engine.Space() != next.Name {
		t.Fatalf("in space %q, %v", w.engine.Space(), err)
	}
	if err := w.kept.KeepSpace(t.Context(), next.Name); err != nil {
		t.Fatal(err)
	}
	w.add(t, known{vectors: true})
	w.check(t, w.everything())
}

func testDrop(t *testing.T, w *world) {
	w.add(t, known{vectors: true})
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.kept.Drop(t.Context(), collection); err != nil {
		t.Fatal(err)
	}
	if n, name, err := w.kept.Newest(t.Context()); err != nil || n != 0 {
		t.Errorf("change %d of %q is kept, %v", n, name, err)
	}
	w.mu.Lock()
	w.batches, w.live, w.chunk = nil, make(map[uint64]*known), 0
	w.mu.Unlock()
	w.open(t)
	w.add(t, known{vectors: true})
	w.check(t, w.everything())
}

func retrieveOne(ctx context.Context, e index.Engine) error {
	_, err := e.Retrieve(ctx, index.Retrieval{Where: index.Where{Now: epoch}, Text: "walnut", WordDepth: 1})
	return err
}

func testEngineCancelled(t *testing.T, w *world) {
	w.add(t, known{vectors: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := retrieveOne(ctx, w.engine); !errors.Is(err, context.Canceled) {
		t.Errorf("retrieve: %v", err)
	}
	w.check(t, w.everything())
}

func testEngineClosed(t *testing.T, w *world) {
	w.add(t, known{vectors: true})
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err := retrieveOne(t.Context(), w.engine); err == nil {
		t.Error("a closed engine answers")
	}
}
