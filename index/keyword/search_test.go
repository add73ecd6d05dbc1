package keyword

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/index"
)

// Grams are ignored by the number of live chunks that have them, wherever those are stored.
func TestCommonGramsOfLiveChunks(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		ix := mustOpen(t, dir, Options{})
		var chunks []index.TextChunk
		for id := range uint64(commonChunks + 40) {
			chunks = append(chunks, index.TextChunk{ID: id, Item: id, Text: "harbour"})
		}
		if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
		for id := range uint64(45) {
			if err := ix.Apply(t.Context(), 2+id, nil, []uint64{7 * id}); err != nil {
				t.Fatal(err)
			}
			live := commonChunks + 39 - int(id) //nolint:gosec // small
			res := search(t, ix, "harbourmaster")
			if found := len(res.Hits) > 0; found != (live <= commonChunks) {
				t.Fatalf("of %d live chunks with its grams, a word finds %d", live, len(res.Hits))
			}
		}
	}
}

// A search leaves nothing behind for the next one, however it ends.
func TestSearchesAreIndependent(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{LongText: 3})
	texts := []string{"the old harbour", "harbours and lights", "a light house", "house of lights and storms", "storm"}
	for i := range uint64(60) {
		var chunks []index.TextChunk
		for n := range i%5 + 1 {
			chunks = append(chunks, index.TextChunk{ID: 10*i + n, Item: i + 1, Text: texts[(i+n)%5]})
		}
		if err := ix.Apply(t.Context(), i+1, chunks, nil); err != nil {
			t.Fatal(err)
		}
		if i%25 == 24 {
			flush(t, ix)
		}
	}
	groups := &index.Groups{Of: func(id uint64) int32 { return int32(id % 3) }, Sizes: []int32{60, 60, 60}} //nolint:gosec // small
	queries := []index.KeywordQuery{
		{Text: "harbour lights", K: 10},
		{Text: "storm house", K: 0},
		{Text: "storm house", K: 1000, Groups: groups},
		{Text: "light storms", K: 5, Params: index.KeywordParams{Grams: -1, Passage: -1}},
		{Text: "old", K: 3, More: []index.Wording{{Text: "house", Weight: 0.5}}, Groups: groups},
		{Text: "?", K: 3, Groups: groups},
	}
	ask := func(q index.KeywordQuery) index.KeywordResult {
		ix.scratch.Put(new(scratch)) // of no use to the next search
		res, err := ix.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	var want []index.KeywordResult
	for _, q := range queries {
		want = append(want, ask(q))
	}
	for i := range 3 * len(queries) {
		ctx, cancel := context.WithCancel(t.Context())
		accept := func(uint64) bool { cancel(); return true }
		_, err := ix.Search(ctx, index.KeywordQuery{Text: "harbour storm", K: 10, Accept: accept})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		n := (i*5 + 1) % len(queries)
		res, err := ix.Search(t.Context(), queries[n])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want[n], res); d != "" {
			t.Errorf("%s after other searches (-first +now):\n%s", fmt.Sprintf("%+v", queries[n].Text), d)
		}
	}
}
