package passage_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
)

// library is a shelf with an index of fixed scores.
type library struct {
	shelf

	scores map[uint64]float64
	state  uint64
}

func (l *library) Search(_ context.Context, _ ragctx.ContextQuery, s index.Query) (index.Result, error) {
	r := index.Result{State: l.state}
	for id, score := range l.scores {
		r.Hits = append(r.Hits, hit(id, score))
	}
	slices.SortFunc(r.Hits, func(a, b index.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	r.Hits = r.Hits[:min(s.K, len(r.Hits))]
	return r, nil
}

// put adds a text whose chunks all have the given score.
func (l *library) put(it passage.Item, text string, score float64) (ids []uint64) {
	if l.scores == nil {
		l.scores = make(map[uint64]float64)
	}
	ids = l.add(it, text)
	for _, id := range ids {
		l.scores[id] = score
	}
	return ids
}

func find(t *testing.T, l *library, q ragctx.ContextQuery, whole bool) []string {
	t.Helper()
	f, err := passage.Find(t.Context(), l, q.WithDefaults(), index.Query{Now: now}, whole)
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
	for i := range uint64(200) {
		l.put(doc(i+1, fmt.Sprint("copy", i)), "The same text everywhere.", .9)
	}
	for i := range uint64(9) {
		l.put(doc(1000+i, fmt.Sprint("other", i)), fmt.Sprintf("Another text, number %d.", i), .5)
	}
	if got := find(t, &l, ragctx.NewQuery("text"), false); len(got) != 10 {
		t.Errorf("%d different texts of ten: %q", len(got), got)
	}
}

func TestOneLongTextDoesNotCrowdOut(t *testing.T) {
	var l library
	long := doc(1, "long")
	l.put(long, lines(300), .9)
	for i := range uint64(9) {
		l.put(doc(10+i, fmt.Sprint("short", i)), fmt.Sprintf("Another text, number %d.", i), .5)
	}
	if got := find(t, &l, ragctx.NewQuery("text"), true); len(got) != 10 {
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
		if got := find(t, &l, ragctx.NewQuery("version"), false); !slices.Equal(got, want) {
			t.Errorf("in state %d: %q", state, got)
		}
		l.put(fresh, "The new version.", .8)
		if got := find(t, &l, ragctx.NewQuery("version"), false); !slices.Equal(got, []string{"The new version."}) {
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
		got := find(t, &l, ragctx.NewQuery("text").WithMaxResults(3), false)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("written as %v: %q, before %q", order, got, want)
		}
	}
}
