package index_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func entry(id, seq uint64, p *index.Item, text string, v ...float32) index.Chunk {
	return index.Chunk{ID: id, Seq: seq, Item: p, Text: text, Vector: v}
}

func ids(r index.Result) []uint64 {
	var out []uint64
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return out
}

// harness is an index with all that it depends on.
type harness struct {
	index.Index

	hybrid *index.Hybrid
	feed   *history
	words  *words
	near   *arrows
	// spaces opens the vector indexes of other embedding spaces than the first.
	spaces map[string]func() (index.VectorIndex, error)
}

// open returns an index over fakes that lasts as long as the test.
func open(t testing.TB) (*harness, *words, *arrows) {
	h := newHarness(t, index.Options{})
	t.Cleanup(func() { h.Close() })
	return h, h.words, h.near
}

type failer interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
}

// newHarness opens an index over fakes, which o may replace.
func newHarness(t failer, o index.Options) *harness {
	t.Helper()
	h := &harness{feed: &history{}, words: newWords(), near: newArrows()}
	if o.Feed == nil {
		o.Feed = h.feed
	}
	if o.Keyword == nil {
		o.Keyword = func(context.Context) (index.KeywordIndex, error) { return h.words, nil }
	}
	if o.Vector == nil {
		o.Vector = func(_ context.Context, s index.Space) (index.VectorIndex, error) {
			if open := h.spaces[s.Name]; open != nil {
				return open()
			}
			return h.near, nil
		}
	}
	var err error
	if h.hybrid, err = index.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	h.Index = index.Index{Engine: h.hybrid}
	return h
}

// prepare prepares an index of an embedding space.
func (h *harness) prepare(ctx context.Context, space string, open func() (index.VectorIndex, error)) error {
	h.spaces = map[string]func() (index.VectorIndex, error){space: open}
	return h.Prepare(ctx, index.Space{Name: space})
}

func (h *harness) health(t failer) index.Health {
	t.Helper()
	v, err := h.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// apply makes a batch happen and has the index catch up with it.
func apply(t failer, h *harness, b index.Batch) {
	t.Helper()
	h.feed.add(b)
	if err := h.CatchUp(t.Context(), b.Seq); err != nil {
		t.Fatal(err)
	}
}

func search(t failer, h *harness, q index.Query) index.Result {
	t.Helper()
	if q.Now.IsZero() {
		q.Now = t0
	}
	if q.K == 0 {
		q.K = 10
	}
	r, err := h.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHitOfEitherLegSurfaces(t *testing.T) {
	h, _, _ := open(t)
	p := &index.Item{ID: 1, Recorded: t0}
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{
		entry(1, 1, p, "red apple", 1, 0),
		entry(2, 1, p, "green pear", 0, 1),
		entry(3, 1, p, "blue plum"),
	}})
	r := search(t, h, index.Query{Text: "apple", Vector: []float32{0, 1}})
	if got := ids(r); !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("got chunks %v, want 1 by its word and 2 by its vector", got)
	}
	if r.Hits[0].Signals.Keyword != 1 || r.Hits[1].Signals.Vector != 1 {
		t.Errorf("signals are not explained: %+v", r.Hits)
	}
}

func TestChanceIsNoHit(t *testing.T) {
	h, _, _ := open(t)
	p := &index.Item{ID: 1, Recorded: t0}
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, p, "apple", .2, .9), entry(2, 1, p, "pear", .2, .9), entry(3, 1, p, "plum", .3, .9)}})
	r := search(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, Fusion: index.Fusion{VectorFloor: .25}})
	if got := ids(r); !slices.Equal(got, []uint64{1, 3}) {
		t.Errorf("got chunks %v, want 1 by its word and 3 by a cosine above chance", got)
	}
}

func TestFloorIsLowerWhereNoWordIsKnown(t *testing.T) {
	h, _, _ := open(t)
	p := &index.Item{ID: 1, Recorded: t0}
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, p, "apple", .1, .9), entry(2, 1, p, "pear", .2, .9)}})
	r := search(t, h, index.Query{Text: "aple", Vector: []float32{1, 0}, Fusion: index.Fusion{VectorFloor: .25}})
	if got := ids(r); !slices.Equal(got, []uint64{2}) {
		t.Errorf("got chunks %v, want 2", got)
	}
}

func TestBrokenLegDegrades(t *testing.T) {
	for _, ix := range []string{"keyword", "vector", "keyword vector"} {
		t.Run(ix, func(t *testing.T) {
			h, w, a := open(t)
			apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, &index.Item{ID: 1, Recorded: t0}, "apple", 1, 0)}})
			if strings.Contains(ix, "keyword") {
				w.broken = errBroken
			}
			if strings.Contains(ix, "vector") {
				a.broken = errBroken
			}
			r, err := h.Search(t.Context(), index.Query{Text: "apple", Vector: []float32{1, 0}, K: 1, Now: t0})
			if ix == "keyword vector" {
				if err == nil {
					t.Error("no index answered and there is no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Hits) != 1 || !slices.Equal(r.Degraded, []string{ix}) {
				t.Errorf("got %+v, want one hit and %q degraded", r, ix)
			}
		})
	}
}

// TestBehind has both indexes wait for another process that feeds them. They answer with what they have, and are not opened again.
func TestBehind(t *testing.T) {
	h, w, a := open(t)
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, &index.Item{ID: 1, Recorded: t0}, "apple", 1, 0)}})
	w.broken, a.broken = index.ErrBehind, index.ErrBehind
	for range 2 {
		r := search(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, K: 1, Now: t0})
		if len(r.Hits) != 1 || !slices.Equal(r.Degraded, []string{"keyword", "vector"}) {
			t.Errorf("got %+v, want one hit and both degraded", r)
		}
	}
}

func TestVersionsInTime(t *testing.T) {
	h, _, _ := open(t)
	day := func(n int) time.Time { return t0.AddDate(0, 0, n) }
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, &index.Item{ID: 1, Recorded: day(1)}, "apple")}})
	apply(t, h, index.Batch{
		Seq:   3,
		Add:   []index.Chunk{entry(2, 2, &index.Item{ID: 2, Recorded: day(5)}, "apple")},
		Ended: []index.End{{Item: 1, At: day(5)}},
	})
	apply(t, h, index.Batch{Seq: 4, Add: []index.Chunk{entry(3, 4, &index.Item{ID: 3, Recorded: day(2), Expires: day(8)}, "apple")}})
	for _, c := range []struct {
		asOf, now time.Time
		want      []uint64
	}{
		{now: day(7), want: []uint64{2, 3}},
		{now: day(9), want: []uint64{2}},
		{asOf: day(0), now: day(9)},
		{asOf: day(1), now: day(9), want: []uint64{1}},
		{asOf: day(3), now: day(9), want: []uint64{1, 3}},
		{asOf: day(5), now: day(9), want: []uint64{2, 3}},
		{asOf: day(8), now: day(9), want: []uint64{2}},
	} {
		got := ids(search(t, h, index.Query{Text: "apple", AsOf: c.asOf, Now: c.now}))
		if !slices.Equal(got, c.want) {
			t.Errorf("as of %v, now %v: chunks %v, want %v", c.asOf, c.now, got, c.want)
		}
	}
}

func TestRemovedIsGoneFromLegs(t *testing.T) {
	h, w, a := open(t)
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, &index.Item{ID: 1, Recorded: t0}, "apple", 1, 0)}})
	apply(t, h, index.Batch{Seq: 2, Removed: []index.Removal{{Item: 1, Chunks: []uint64{1}}}})
	if len(w.chunks)+len(a.chunks) != 0 {
		t.Error("an index still has a removed chunk")
	}
	if r := search(t, h, index.Query{Text: "apple", AsOf: t0}); len(r.Hits) > 0 {
		t.Error("a removed chunk was found")
	}
}

// TestScopeIsAWall checks random queries against the plain reading of the
// rules: nothing out of scope is found, and k chunks are found whenever k exist.
func TestScopeIsAWall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHarness(t, index.Options{})
		defer h.Close()
		name := rapid.SampledFrom([]string{"", "a", "b"})
		tags := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), rapid.ID[string])
		parents := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *index.Item {
			return &index.Item{
				User: name.Draw(t, "user"), Agent: name.Draw(t, "agent"), Session: name.Draw(t, "session"),
				Tags: tags.Draw(t, "tags"), Source: rapid.SampledFrom([]string{"file:a", "file:b", "web", index.DerivedSource}).Draw(t, "source"),
				Metadata: map[string]string{"lang": rapid.SampledFrom([]string{"en", "de"}).Draw(t, "lang")},
				Occurred: t0.AddDate(0, 0, rapid.IntRange(0, 9).Draw(t, "day")), Recorded: t0,
			}
		}), 1, 40).Draw(t, "parents")
		crowded := rapid.Bool().Draw(t, "crowded")
		if crowded { // among so many, each of a user's chunks is looked at alone
			others := &index.Item{User: "other", Session: "s", Occurred: t0, Recorded: t0}
			for range 16 * len(parents) {
				p := *others
				parents = append(parents, &p)
			}
		}
		b := index.Batch{Seq: uint64(len(parents))}
		for i, p := range parents {
			p.ID = uint64(i + 1)
			b.Add = append(b.Add, entry(p.ID, p.ID, p, "apple", 1, 0))
		}
		apply(t, h, b)
		q := index.Query{
			Text: "apple", Vector: []float32{1, 0}, K: rapid.IntRange(1, 50).Draw(t, "k"), Now: t0,
			Scope: index.Scope{
				User: name.Draw(t, "q.user"), Agent: name.Draw(t, "q.agent"), Session: name.Draw(t, "q.session"),
				AnyUser: rapid.Bool().Draw(t, "any"),
			},
			Filter: ragctx.Filter{
				Tags:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y"}), 0, 2, rapid.ID[string]).Draw(t, "q.tags"),
				Sources: rapid.SampledFrom([][]string{nil, {"file:*"}, {"web", "file:a"}}).Draw(t, "q.sources"),
			},
		}
		if rapid.Bool().Draw(t, "q.lang") {
			q.Filter.Metadata = map[string]string{"lang": "de"}
		}
		if rapid.Bool().Draw(t, "q.after") {
			q.Filter.OccurredAfter = t0.AddDate(0, 0, 4)
		}
		r, err := h.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var want []uint64
		for _, p := range parents {
			if allowed(q, p) {
				want = append(want, p.ID)
			}
		}
		if only := h.words.asked.Only; only != nil && !slices.Equal(only, want) || crowded && only == nil && !q.Scope.AnyUser {
			t.Fatalf("query %+v was narrowed to %v, want %v", q, only, want)
		}
		want = want[:min(q.K, len(want))]
		if got := ids(r); !slices.Equal(got, want) {
			t.Fatalf("query %+v found %v, want %v", q, got, want)
		}
	})
}

// beaten is a keyword index that something is written to just before it answers.
type beaten struct {
	*words

	write func()
}

func (b *beaten) Search(ctx context.Context, q index.KeywordQuery) (index.KeywordResult, error) {
	if write := b.write; write != nil {
		b.write = nil
		write()
	}
	return b.words.Search(ctx, q)
}

// TestWallOfCorrections has the first chunks that are somebody's come while a question is
// answered that found everything everybody's.
func TestWallOfCorrections(t *testing.T) {
	ix := &beaten{words: newWords()}
	h := newHarness(t, index.Options{Keyword: func(context.Context) (index.KeywordIndex, error) { return ix, nil }})
	defer h.Close()
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, &index.Item{ID: 1, Recorded: t0}, "harbour", 1, 0)}})
	ask := func() *index.Spelling {
		search(t, h, index.Query{Text: "harbuor", Spelling: true})
		return ix.asked.Spelling
	}
	if s := ask(); s.Within != nil {
		t.Error("there is a wall where everything is everybody's")
	}
	ix.write = func() {
		theirs := &index.Item{ID: 2, User: "other", Recorded: t0}
		apply(t, h, index.Batch{Seq: 2, Add: []index.Chunk{entry(2, 2, theirs, "harbuor", 1, 0)}})
	}
	if s := ask(); s.Within == nil || s.Within(2) || !s.Within(1) {
		t.Error("words of another user counted")
	}
}

// allowed is the scope rule written out once more.
func allowed(q index.Query, p *index.Item) bool {
	user := q.Scope.AnyUser || p.User == "" || p.User == q.Scope.User
	agent := q.Scope.Agent == "" || q.Scope.Agent == p.Agent
	session := q.Scope.Session == "" || q.Scope.Session == p.Session
	source := len(q.Filter.Sources) == 0
	for _, s := range q.Filter.Sources {
		source = source || s == p.Source || s == "file:*" && strings.HasPrefix(p.Source, "file:")
	}
	tags := true
	for _, t := range q.Filter.Tags {
		tags = tags && slices.Contains(p.Tags, t)
	}
	lang := q.Filter.Metadata == nil || p.Metadata["lang"] == "de"
	after := q.Filter.OccurredAfter.IsZero() || !p.Occurred.Before(q.Filter.OccurredAfter)
	return user && agent && session && source && tags && lang && after
}

func TestSearchBesideApply(t *testing.T) {
	h, _, _ := open(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 200 {
				q := index.Query{Text: "apple", Vector: []float32{1, 0}, K: 5, Now: t0, Scope: index.Scope{User: "a"}}
				r, err := h.Search(t.Context(), q)
				if err != nil {
					t.Error(err)
				}
				for _, hit := range r.Hits {
					if hit.Item == 0 {
						t.Error("a hit without an item")
					}
				}
			}
		})
	}
	for i := uint64(1); i <= 200; i++ {
		p := &index.Item{ID: i, User: "a", Recorded: t0}
		apply(t, h, index.Batch{Seq: i, Add: []index.Chunk{entry(i, i, p, "apple", 1, 0)}, Ended: []index.End{{Item: i - 1, At: t0}}})
	}
	wg.Wait()
	if got := ids(search(t, h, index.Query{Text: "apple", Scope: index.Scope{User: "a"}})); !slices.Equal(got, []uint64{200}) {
		t.Errorf("found %v, want only the last", got)
	}
}

func TestFusion(t *testing.T) {
	p := &index.Item{ID: 1, Recorded: t0}
	const short = "red apple"
	for _, c := range []struct {
		text   string
		fusion index.Fusion
		vector []float32
		want   []string // chunk:score
	}{
		{short, index.Fusion{}, []float32{1, 0}, []string{"1:0.909", "2:0.545"}},
		{short, index.Fusion{VectorWeight: 1}, []float32{1, 0}, []string{"2:0.750", "1:0.500"}},
		{short, index.Fusion{VectorWeight: -1}, []float32{1, 0}, []string{"1:1.000", "2:0.500"}},
		{"", index.Fusion{VectorWeight: -1}, []float32{1, 0}, []string{"2:0.000"}},
		{short, index.Fusion{}, nil, []string{"1:1.000", "2:0.500"}},
		{short, index.Fusion{Method: "rrf"}, []float32{1, 0}, []string{"2:0.992", "1:0.500"}},
		// Sixteen words halve the weight.
		{strings.Repeat("red apple ", 8), index.Fusion{VectorWeight: 1}, []float32{1, 0}, []string{"1:0.667", "2:0.667"}},
	} {
		h, _, _ := open(t)
		apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{entry(1, 1, p, "red apple", 0, 1), entry(2, 1, p, "apple", 1, 0)}})
		var got []string
		for _, hit := range search(t, h, index.Query{Text: c.text, Vector: c.vector, Fusion: c.fusion}).Hits {
			got = append(got, fmt.Sprintf("%d:%.3f", hit.ID, hit.Score))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, %+v over vector %v: %v, want %v", c.text, c.fusion, c.vector, got, c.want)
		}
	}
}

// TestFusionInALongItem: the cosine of a chunk counts a third from the number of chunks on that makes an item long,
// beside other items and at any place. It counts in full where no word is found.
func TestFusionInALongItem(t *testing.T) {
	for _, n := range []int{2, index.LongText - 1, index.LongText, index.LongText + 3} {
		h, _, _ := open(t)
		id := uint64(1)
		var add []index.Chunk
		for item, chunks := range []int{1, n, 2} {
			p := &index.Item{ID: uint64(item + 1), Recorded: t0}
			for k := range chunks {
				c := entry(id, 1, p, "apple", 1, 0)
				c.Ordinal = k
				add, id = append(add, c), id+1
			}
		}
		apply(t, h, index.Batch{Seq: 1, Add: add})
		hits := search(t, h, index.Query{Text: "red apple", Vector: []float32{1, 0}, Fusion: index.Fusion{VectorWeight: 1}, K: n + 3}).Hits
		for _, hit := range hits {
			want := (0.5 + 1) / 2
			if hit.Item == 2 && n >= index.LongText {
				want = (0.5 + 1.0/3) / 2
			}
			if math.Abs(hit.Score-want) > 1e-9 {
				t.Errorf("of %d chunks: chunk %d of item %d scores %v, want %v", n, hit.Ordinal, hit.Item, hit.Score, want)
			}
		}
		if len(hits) != n+3 {
			t.Errorf("%d hits of %d chunks", len(hits), n+3)
		}
		for _, hit := range search(t, h, index.Query{Text: "pear", Vector: []float32{1, 0}, Fusion: index.Fusion{VectorWeight: 1}, K: n + 3}).Hits {
			if math.Abs(hit.Score-0.5) > 1e-9 {
				t.Errorf("of %d chunks without the word: chunk %d of item %d scores %v", n, hit.Ordinal, hit.Item, hit.Score)
			}
		}
	}
}
