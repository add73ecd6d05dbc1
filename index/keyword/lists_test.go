package keyword

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
)

// waitLoaded waits until the words of all stored segments are in memory.
func waitLoaded(t rapid.TB, ix *Index) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		v := ix.acquire()
		missing := 0
		for _, p := range v.stored() {
			if words, _ := p.inMemory(); words == nil {
				if _, whole := p.deadSet.of(p); whole {
					missing++
				}
			}
		}
		v.release()
		if missing == 0 {
			return
		}
	}
	t.Fatal("words are not in memory after two minutes")
}

// sameAsPlain compares a result with the one from stored postings.
func sameAsPlain(t rapid.TB, ix *Index, q index.KeywordQuery) {
	t.Helper()
	ask := func(plain bool) index.KeywordResult {
		ix.opts.plain = plain
		res, err := ix.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	want, got := ask(true), ask(false)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%+v (-plain +in memory):\n%s", q, d)
	}
}

func drawText(r *rand.Rand, vocabulary, words int) string {
	z := rand.NewZipf(r, 1.2, 3, uint64(vocabulary)) //nolint:gosec // small
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%x ", z.Uint64())
	}
	return b.String()
}

// drawTexts draws the chunks of n texts, numbered so that texts and chunks differ in order.
func drawTexts(r *rand.Rand, from uint64, n, most, vocabulary int) (chunks []index.TextChunk) {
	for i := range uint64(n) { //nolint:gosec // small
		text := from + i
		title := drawText(r, vocabulary, r.IntN(4))
		many := 1 + r.IntN(most)
		for chunk := range uint64(many) { //nolint:gosec // small
			chunks = append(chunks, index.TextChunk{
				ID: text<<10 | chunk, Item: 1 + (text*7919)%100_003, Title: title, Text: drawText(r, vocabulary, 1+r.IntN(20)),
			})
		}
	}
	return chunks
}

// Words in memory give the same result as reading all postings, bit for bit.
func TestLoadedWordsGiveTheSameResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		ix, err := Open(t.TempDir(), Options{LongText: rapid.IntRange(1, 9).Draw(rt, "long"), FlushChunks: 1 << 20, passes: drawPasses(rt)})
		if err != nil {
			rt.Fatal(err)
		}
		defer ix.Close()
		most, vocabulary := rapid.SampledFrom([]int{1, 3, 14}).Draw(rt, "chunks"), rapid.SampledFrom([]int{4, 60, 900}).Draw(rt, "vocabulary")
		seq, next := uint64(0), uint64(0)
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			n := rapid.SampledFrom([]int{1, 20, 160}).Draw(rt, "texts")
			chunks := drawTexts(r, next, n, most, vocabulary)
			next += uint64(n) //nolint:gosec // small
			if seq++; ix.Apply(rt.Context(), seq, chunks, nil) != nil {
				rt.Fatal("apply")
			}
			if rapid.IntRange(0, 3).Draw(rt, "flush") > 0 {
				if err := ix.Flush(rt.Context()); err != nil {
					rt.Fatal(err)
				}
			}
			drop(rt, ix, chunks, &seq)
			waitLoaded(rt, ix)
			for range 6 {
				sameAsPlain(rt, ix, drawPlain(rt, r, vocabulary))
			}
		}
	})
}

// A search leaves no reference that keeps a dropped segment, or the words of its deleted chunks, in
// memory.
func TestSearchReleasesSegments(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{FlushChunks: 1 << 20, passes: passOptions{minRatio: 2, minListed: 10}})
	chunks := drawTexts(rand.New(rand.NewPCG(3, 3)), 0, 500, 3, 200)
	if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	waitLoaded(t, ix)
	var used *scratch
	for ok := false; !ok; used, ok = ix.scratch.Get().(*scratch) { // which may have been thrown away
		if _, err := ix.Search(t.Context(), index.KeywordQuery{Text: "w1 w2 w3 w4 w5", K: 5}); err != nil {
			t.Fatal(err)
		}
	}
	old := weak.Make(segmentOf(t, ix).words.Load())
	if err := ix.Apply(t.Context(), 2, nil, []uint64{chunks[0].ID}); err != nil {
		t.Fatal(err)
	}
	if err := ix.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitLoaded(t, ix)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) { // it may still be on a stack
		if runtime.GC(); old.Value() == nil {
			break
		}
	}
	if old.Value() != nil {
		t.Error("the words of a segment that is gone are still in memory")
	}
	runtime.KeepAlive(used)
}

// Cancelling a search does not wait for all parts.
func TestSearchOfPartsEndsEarly(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{FlushChunks: 1 << 20, passes: passOptions{minRatio: 2, minListed: 10}})
	for seq := range uint64(3) {
		if err := ix.Apply(t.Context(), seq+1, drawTexts(rand.New(rand.NewPCG(3, seq)), seq*100, 100, 3, 40), nil); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
	}
	waitLoaded(t, ix)
	ctx, cancel := context.WithCancel(t.Context())
	parts := ix.view.Load().parts
	looked := make(map[int]bool)
	_, err := ix.Search(ctx, index.KeywordQuery{Text: "w1 w2", K: 5, Accept: func(id uint64) bool {
		cancel()
		looked[slices.IndexFunc(parts, func(p part) bool { return p.columns().holds(id) })] = true
		return true
	}})
	if !errors.Is(err, context.Canceled) || len(looked) != 1 || len(parts) < 2 {
		t.Errorf("%d of %d parts were looked at, and the error is %v", len(looked), len(parts), err)
	}
}

// drop deletes some texts, or sometimes single chunks, which no caller should do.
func drop(rt *rapid.T, ix *Index, chunks []index.TextChunk, seq *uint64) {
	one, tear := rapid.IntRange(0, 5).Draw(rt, "drop"), rapid.IntRange(0, 9).Draw(rt, "tear") == 9
	var ids []uint64
	for _, u := range chunks {
		if one > 0 && (tear && u.ID%17 == 0 || !tear && u.Item%uint64(one*3) == 1) { //nolint:gosec // small
			ids = append(ids, u.ID)
		}
	}
	if *seq++; ix.Apply(rt.Context(), *seq, nil, ids) != nil {
		rt.Fatal("delete")
	}
}

func drawPlain(rt *rapid.T, r *rand.Rand, vocabulary int) index.KeywordQuery {
	q := index.KeywordQuery{
		Text: drawText(r, vocabulary, rapid.IntRange(1, 9).Draw(rt, "words")),
		K:    rapid.SampledFrom([]int{0, 1, 3, 20, 100, 10_000}).Draw(rt, "k"),
		Params: index.KeywordParams{
			K1: rapid.SampledFrom([]float64{0, 0.01, 7}).Draw(rt, "k1"), B: rapid.SampledFrom([]float64{0, 0.01, 1}).Draw(rt, "b"),
			Passage: rapid.SampledFrom([]float64{0, -1, 3}).Draw(rt, "passage"), Opening: rapid.SampledFrom([]float64{0, -1, 2}).Draw(rt, "opening"),
			Pairs: rapid.SampledFrom([]float64{-1, -1, 0, 3}).Draw(rt, "pairs"), Grams: rapid.SampledFrom([]float64{-1, -1, 0}).Draw(rt, "grams"),
		},
	}
	if rapid.Bool().Draw(rt, "more") {
		q.More = []index.Wording{{Text: drawText(r, vocabulary, 3), Weight: 0.3}}
	}
	if nth := rapid.Uint64Range(0, 6).Draw(rt, "filter"); nth > 0 {
		q.Accept = func(id uint64) bool { return id%nth == 0 }
	}
	if rapid.IntRange(0, 3).Draw(rt, "groups") == 3 {
		q.Groups = &index.Groups{Of: func(id uint64) int32 { return int32(id%5) - 1 }, Sizes: []int32{9, 9, 99, 2}} //nolint:gosec // small
	}
	return q
}

// drawPasses draws options with which most searches take two passes.
func drawPasses(rt *rapid.T) passOptions {
	return passOptions{rapid.IntRange(1, 9).Draw(rt, "rare"), rapid.IntRange(1, 30).Draw(rt, "least"), rapid.IntRange(1, 3).Draw(rt, "share")}
}
