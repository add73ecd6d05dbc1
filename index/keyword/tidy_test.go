package keyword

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
)

// Merged parts at least double, and the remaining ones differ by more than a factor of two, except
// for a few.
func TestMergeable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := rapid.SliceOf(rapid.IntRange(0, 1000)).Draw(t, "live")
		chunks := mergeable(slices.Clone(live))
		slices.Sort(live)
		sum, merged := 0, 0
		for i, n := range live {
			if sum+n <= chunks {
				merged = i + 1
			}
			sum += n
		}
		if chunks > 0 && merged < minTidy {
			t.Errorf("%v: %d chunks are of %d parts", live, chunks, merged)
		}
		sum = chunks
		for i, n := range live[merged:] {
			if n <= sum && merged+i >= minTidy-1 {
				t.Errorf("%v: %d chunks are merged, but not the next part", live, chunks)
			}
			sum += n
		}
	})
}

// sizes returns the number of live chunks of each stored part.
func sizes(ix *Index) []int {
	v := ix.acquire()
	defer v.release()
	return liveCounts(v.stored())
}

// After a while without writes, small parts are merged and results stay the same.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	ix := mustOpen(t, dir, Options{tidyDelay: time.Hour})
	seq := uint64(0)
	for ; mergeable(sizes(ix)) == 0 && seq < 500; seq++ { // scorch merges, too
		var chunks []index.TextChunk
		for i := range uint64(30) {
			id := seq*30 + i
			chunks = append(chunks, index.TextChunk{ID: id, Item: id / 3, Text: fmt.Sprint("harbour w", id%7)})
		}
		if err := ix.Apply(t.Context(), seq, chunks, []uint64{seq * 3, seq*3 + 1, seq*3 + 2}); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
	}
	want := search(t, ix, "harbour w3")
	before := sizes(ix)
	if mergeable(slices.Clone(before)) == 0 {
		t.Fatalf("parts of %d chunks to begin with", before)
	}
	for end := time.Now().Add(2 * time.Minute); mergeable(sizes(ix)) != 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		// Scorch does not merge segments that it has not written yet.
		if err := ix.tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// The number of remaining parts is unspecified: scorch may have merged some in between.
	if after := sizes(ix); len(after) >= len(before) || mergeable(slices.Clone(after)) != 0 {
		t.Errorf("parts of %d chunks are left of %d", after, before)
	}
	if d := cmp.Diff(want, search(t, ix, "harbour w3")); d != "" {
		t.Error(d)
	}
}

func TestTidyAfterIdle(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{tidyDelay: 10 * time.Millisecond})
	for seq := range uint64(2 * minTidy) {
		if err := ix.Apply(t.Context(), seq, []index.TextChunk{{ID: seq, Item: seq, Text: "harbour"}}, nil); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
	}
	for mergeable(sizes(ix)) > 0 {
		select {
		case <-t.Context().Done():
			t.Fatal("the parts stay apart")
		case <-time.After(5 * time.Millisecond):
		}
	}
	if n := len(search(t, ix, "harbour").Hits); n != 2*minTidy {
		t.Errorf("%d hits", n)
	}
}
