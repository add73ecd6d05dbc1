package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// library is a store and an index of its chunks with fixed scores.
type library struct {
	Store // panics: the tests call no other method

	texts  map[uint64]string
	items  map[uint64]*passage.Item
	chunks []passage.Chunk
	scores map[uint64]float64
	state  uint64
	asked  []int // the numbers of hits that were requested
	read   int   // chunks that were read
}

func (l *library) Chunks(_ context.Context, ids []uint64) ([]passage.Chunk, map[uint64]*passage.Item, error) {
	l.read += len(ids)
	var out []passage.Chunk
	for _, u := range l.chunks {
		if slices.Contains(ids, u.ID) {
			out = append(out, u)
		}
	}
	return out, l.items, nil
}

func (l *library) Span(_ context.Context, item uint64, from, to int) ([]passage.Chunk, error) {
	var out []passage.Chunk
	for _, u := range l.chunks {
		if u.Item == item && u.Ordinal >= from && u.Ordinal <= to {
			out = append(out, u)
		}
	}
	return out, nil
}

func (l *library) Text(_ context.Context, item uint64, start, end int) (string, error) {
	return l.texts[item][start:end], nil
}

func (l *library) Space() string { return "" }

func (l *library) Search(_ context.Context, q index.Query) (index.Result, error) {
	r := index.Result{State: l.state}
	l.asked = append(l.asked, q.K)
	for id, score := range l.scores {
		r.Hits = append(r.Hits, index.Hit{ID: id, Score: score, Relevance: score})
	}
	slices.SortFunc(r.Hits, func(a, b index.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	k, ranked := min(q.K, len(r.Hits)), min(3*q.K, len(r.Hits))
	r.Hits, r.Further = r.Hits[:k:k], r.Hits[k:ranked]
	return r, nil
}

func (l *library) Neighbors(_ context.Context, _ index.Where, chunks []uint64, _ int) ([]index.Neighbors, error) {
	return make([]index.Neighbors, len(chunks)), nil
}

// put adds a text, split into small chunks that all have the given score.
func (l *library) put(it passage.Item, text string, score float64) {
	if l.texts == nil {
		l.texts, l.items = make(map[uint64]string), make(map[uint64]*passage.Item)
		l.scores = make(map[uint64]float64)
	}
	it.Bytes = len(text)
	l.texts[it.ID], l.items[it.ID] = text, &it
	for _, c := range chunk.Split(text, ragctx.ChunkSizes{TargetChars: 60, MaxChars: 120}) {
		id := uint64(len(l.chunks) + 1)
		l.chunks = append(l.chunks, passage.Chunk{
			ID: id, Item: it.ID, Ordinal: c.Ordinal, Text: c.Text, Start: c.Start, End: c.End,
		})
		l.scores[id] = score
	}
}

var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func doc(id uint64, key string) passage.Item {
	return passage.Item{
		Item:      index.Item{ID: id, Recorded: now.Add(-time.Hour), Source: "file:" + key},
		Namespace: "default", Type: ragctx.TypeResource, Key: key, Version: 2, Title: "Title of " + key,
	}
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "This is sentence number %d of the text about topic %d.\n\n", i, i)
	}
	return b.String()
}

// find returns the distinct contents that a search finds.
func find(t *testing.T, l *library, q ragctx.ContextQuery, kind store.Kind) []string {
	t.Helper()
	r := New(Options{Store: l, Spaces: new(Spaces)})
	plan := index.Query{Now: now, Fusion: index.Fusion{Method: "keyword"}}
	s := &search{Retriever: r, query: q.WithDefaults(), plan: plan, index: l}
	f, err := s.items(t.Context(), kind, Order{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, it := range f.Items {
		if !slices.Contains(texts, it.Content) {
			texts = append(texts, it.Content)
		}
	}
	return texts
}

func TestCopiesDoNotCrowdOut(t *testing.T) {
	var l library
	for i := range uint64(500) {
		l.put(doc(i+1, fmt.Sprint("copy", i)), "The same text everywhere.", .9)
	}
	for i := range uint64(9) {
		l.put(doc(1000+i, fmt.Sprint("other", i)), fmt.Sprintf("Another text, number %d.", i), .5)
	}
	if got := find(t, &l, ragctx.NewQuery("text"), store.KindDocuments); len(got) != 10 {
		t.Errorf("%d different texts of ten: %q", len(got), got)
	}
	if want := []int{100, 1200}; !slices.Equal(l.asked, want) || l.read != len(l.scores) {
		t.Errorf("searches for %v hits, not %v, read %d chunks of %d", l.asked, want, l.read, len(l.scores))
	}
}

// TestAFewMoreItems checks that a search that misses few items examines the rest of what it has ranked, and then requests a few
// more.
func TestAFewMoreItems(t *testing.T) {
	for copies, want := range map[uint64][]int{45: {100}, 93: {100}, 290: {100}, 295: {100, 625}} {
		var l library
		for i := range copies {
			l.put(doc(i+1, fmt.Sprint("copy", i)), "The same text everywhere.", .9)
		}
		for i := range uint64(20) {
			l.put(doc(1000+i, fmt.Sprint("other", i)), fmt.Sprintf("Another text, number %d.", i), .5)
		}
		got := find(t, &l, ragctx.NewQuery("text"), store.KindDocuments)
		if len(got) != 10 || !slices.Equal(l.asked, want) {
			t.Errorf("%d copies: %d different texts of ten, searches for %v hits", copies, len(got), l.asked)
		}
	}
}

// TestOrder checks that an order other than by relevance sees three times as many items, and that one search is
// enough for it if its hits are.
func TestOrder(t *testing.T) {
	var l library
	for i := range uint64(40) {
		l.put(doc(i+1, fmt.Sprintf("doc%02d", i)), fmt.Sprintf("Text number %d.", i), .9-float64(i)/100)
	}
	last := Order{
		Applies: func([]ragctx.ContextItem) bool { return true },
		Sort:    func(items []ragctx.ContextItem) { slices.Reverse(items) },
	}
	s := &search{
		Retriever: New(Options{Store: &l, Spaces: new(Spaces)}), query: ragctx.NewQuery("text").WithMaxResults(3).WithDefaults(),
		plan: index.Query{Now: now, Fusion: index.Fusion{Method: "keyword"}}, index: &l,
	}
	f, err := s.items(t.Context(), store.KindDocuments, last)
	if err != nil || len(f.Items) != 3 || f.Items[0].Content != "Text number 8." || !f.More {
		t.Errorf("%+v, %v", f.Items, err)
	}
	if !slices.Equal(l.asked, []int{100}) {
		t.Errorf("searches for %v hits", l.asked)
	}
}

func TestOneLongTextDoesNotCrowdOut(t *testing.T) {
	var l library
	long := doc(1, "long")
	l.put(long, lines(300), .9)
	for i := range uint64(9) {
		l.put(doc(10+i, fmt.Sprint("short", i)), fmt.Sprintf("Another text, number %d.", i), .5)
	}
	if got := find(t, &l, ragctx.NewQuery("text"), store.KindMemories); len(got) != 10 {
		t.Errorf("%d different texts of ten", len(got))
	}
}

func TestReplacedDuringTheSearch(t *testing.T) {
	old, fresh := doc(1, "a"), doc(2, "a")
	old.Version, fresh.Version = 1, 2
	old.Superseded, old.Ended = now, 7
	for state, want := range map[uint64][]string{6: {"The old version."}, 7: nil} {
		l := library{state: state}
		l.put(old, "The old version.", .9)
		if got := find(t, &l, ragctx.NewQuery("version"), store.KindDocuments); !slices.Equal(got, want) {
			t.Errorf("in state %d: %q", state, got)
		}
		l.put(fresh, "The new version.", .8)
		if got := find(t, &l, ragctx.NewQuery("version"), store.KindDocuments); !slices.Equal(got, []string{"The new version."}) {
			t.Errorf("in state %d, the new version found too: %q", state, got)
		}
	}
}

func TestTiesAreByKeyNotByOrderOfWriting(t *testing.T) {
	var want []string
	for _, order := range [][]uint64{{1, 2, 3, 4}, {4, 2, 1, 3}, {3, 1, 4, 2}} {
		var l library
		for _, n := range order {
			l.put(doc(uint64(len(l.items))+1, fmt.Sprint("doc", n)), fmt.Sprintf("Text number %d.", n), .5)
		}
		got := find(t, &l, ragctx.NewQuery("text").WithMaxResults(3), store.KindDocuments)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("written as %v: %q, before %q", order, got, want)
		}
	}
}
