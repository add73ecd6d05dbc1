package index_test

import (
	"fmt"
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
