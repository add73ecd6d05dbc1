package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// TestSentences: in a long message the sentence that asks decides, and each of several has its best chunk on top. The words
// of the whole decide among chunks that the sentence finds alike.
func TestSentences(t *testing.T) {
	h, _, _ := open(t)
	b := index.Batch{Seq: 1}
	for id, text := range []string{
		1: "kiwi plum", 2: "apple pear fig", 3: "mango lime", 4: "mango lime apple pear", 5: "fig melon",
	} {
		if id > 0 {
			b.Add = append(b.Add, entry(uint64(id), uint64(id), &index.Item{ID: uint64(id)}, text))
		}
	}
	apply(t, h, b)
	ask := func(message string, sentences ...string) (ids []uint64) {
		t.Helper()
		q := index.Query{Text: message, K: 10, Now: t0, Scope: index.Scope{AnyUser: true}}
		for _, s := range sentences {
			q.Sentences = append(q.Sentences, index.Sentence{Text: s})
		}
		res, err := index.Index{Engine: h}.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i, hit := range res.Hits {
			ids = append(ids, hit.ID)
			if i > 0 && (hit.Score > res.Hits[i-1].Score || hit.Relevance > res.Hits[i-1].Relevance) || hit.Score > 1 {
				t.Errorf("%q: scores are out of order: %+v", message, res.Hits)
			}
		}
		return ids
	}
	chat := "apple pear fig "
	if got := ask(chat + "kiwi plum"); got[0] != 2 {
		t.Fatalf("the message alone finds %v first; the test shows nothing", got)
	}
	if got := ask(chat+"kiwi plum", "kiwi plum"); got[0] != 1 {
		t.Errorf("with its sentence it finds %v first", got)
	}
	if got := ask(chat+"mango lime", "mango lime"); got[0] != 4 {
		t.Errorf("of two chunks alike by the sentence, %v comes first", got)
	}
	got := ask(chat+"kiwi plum mango lime", "kiwi plum", "mango lime")
	if first := got[:3]; !slices.Contains(first, 1) || !slices.Contains(first, 4) {
		t.Errorf("of two questions it finds %v", got)
	}
	seen := make(map[uint64]bool)
	for _, id := range got {
		if seen[id] {
			t.Errorf("%d is twice in %v", id, got)
		}
		seen[id] = true
	}
}

// TestSentenceOfOneChunk: a sentence decides also where the vector index returns very many chunks that are near by chance.
func TestSentenceOfOneChunk(t *testing.T) {
	h, _, _ := open(t)
	b := index.Batch{Seq: 1}
	for id := range uint64(900) {
		text := fmt.Sprintf("other%d", id)
		switch id {
		case 0:
			text = "kiwi plum"
		case 1, 2, 3:
			text = "apple pear fig"
		}
		b.Add = append(b.Add, entry(id+1, id+1, &index.Item{ID: id + 1}, text, 1, 0))
	}
	apply(t, h, b)
	far := []float32{0, 1}
	res, err := index.Index{Engine: h}.Search(t.Context(), index.Query{
		Text: "apple pear fig kiwi plum", Vector: far, Sentences: []index.Sentence{{Text: "kiwi plum", Vector: far}},
		K: 10, Now: t0, Scope: index.Scope{AnyUser: true}, Fusion: index.Fusion{VectorFloor: 0.35},
	})
	if err != nil || res.Hits[0].ID != 1 {
		t.Errorf("%+v, %v", res.Hits, err)
	}
}

// TestWholeList ranks by a sentence in collections of different sizes, where a part of the chunks has its words or is near it. A list that
// counts as whole lacks no chunk that a longer list has, and one that is shorter than all depths is whole.
func TestWholeList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cut := 0
	for range 60 {
		h, _, _ := open(t)
		b := index.Batch{Seq: 1}
		worded, near := rng.Float64(), rng.Float64()
		for id := range 1 + rng.Uint64N(1500) {
			text, v := "plum", []float32{0.1, 1}
			if rng.Float64() < worded {
				text = "kiwi"
			}
			if rng.Float64() < near {
				v = []float32{1, rng.Float32()}
			}
			b.Add = append(b.Add, entry(id+1, id+1, &index.Item{ID: id + 1}, text, v...))
		}
		apply(t, h, b)
		far := []float32{1, 0}
		q := index.Query{
			Text: "kiwi", Vector: far, Sentences: []index.Sentence{{Text: "kiwi", Vector: far}},
			Now: t0, Scope: index.Scope{AnyUser: true}, Fusion: index.Fusion{VectorFloor: 0.35},
		}
		x := index.Index{Engine: h}
		ask := func(k int) (ids []uint64, whole bool) {
			q.K = k
			ids, whole, err := x.Rank(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(ids)
			return ids, whole
		}
		all, _ := ask(2000)
		for _, k := range []int{1, 1 + rng.IntN(200), 201 + rng.IntN(500), 2000} {
			list, whole := ask(k)
			switch {
			case whole && !slices.Equal(list, all):
				t.Errorf("K %d: %d of %d chunks count as whole", k, len(list), len(all))
			case !whole && len(list) < 400:
				t.Errorf("K %d: %d chunks do not count as whole", k, len(list))
			case !whole && len(list) < 2*k:
				cut++
			}
		}
	}
	if cut == 0 {
		t.Error("no list was cut by vectors alone")
	}
}
