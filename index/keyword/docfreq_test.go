package keyword

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// Cached document frequencies, with and without dead chunks, equal the counted ones.
func TestDocFreq(t *testing.T) {
	for _, each := range []uint64{1, 3} { // chunks of an item
		ix := mustOpen(t, t.TempDir(), Options{})
		r := rand.New(rand.NewPCG(each, 1))
		seq := uint64(0)
		apply := func(chunks []index.TextChunk, deletes ...uint64) {
			seq++
			if err := ix.Apply(t.Context(), seq, chunks, deletes); err != nil {
				t.Fatal(err)
			}
		}
		for n := range uint64(3) {
			var chunks []index.TextChunk
			for id := 1000 * n; id < 1000*n+300; id++ {
				text := fmt.Sprintf("storm %d %s", r.IntN(4), passWords[r.IntN(len(passWords))])
				chunks = append(chunks, index.TextChunk{ID: id, Item: id / each, Text: text})
			}
			apply(chunks)
			flush(t, ix)
		}
		check := func() {
			t.Helper()
			for range 2 { // the second time it is known
				sameSpreads(t, ix)
			}
		}
		check()
		for range 4 {
			first := each * (r.Uint64N(4) + 1000*r.Uint64N(3)/each)
			var gone []uint64
			for n := range 12 * each {
				gone = append(gone, first+n)
			}
			apply(nil, gone...)
			check()
		}
		flush(t, ix)
		check()
		apply(nil, 150) // without its siblings
		check()
	}
}

func sameSpreads(t *testing.T, ix *Index) {
	t.Helper()
	v := ix.view.Load()
	some, err := v.narrow([]uint64{7, 8, 1010, 2030})
	if err != nil {
		t.Fatal(err)
	}
	all, few := new(scratch), new(scratch)
	all.start(v, 32, index.KeywordParams{})
	few.start(some, 32, index.KeywordParams{})
	for _, term := range []string{"storm", "3", "harbour", "\x01stor", "\x01arbo", "\x01orms", "absent"} {
		if _, err := all.gather(v, term, 1, unlimited); err != nil {
			t.Fatal(err)
		}
		if _, err := few.gather(some, term, 1, unlimited); err != nil {
			t.Fatal(err)
		}
		texts := make(map[uint64]bool)
		for i, p := range v.parts {
			for _, e := range of(all.postings, all.ends, i) {
				texts[p.columns().row(e.chunk).item] = true
			}
		}
		if want := (docFreq{len(all.postings), len(texts)}); few.docFreq != want {
			t.Fatalf("%q is spread over %+v, want %+v", term, few.docFreq, want)
		}
	}
}
