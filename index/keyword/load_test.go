package keyword

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
)

// wordsOf lists the words of a segment among those that a text might have.
func wordsOf(words *blockmax.Segment, vocabulary []string) []string {
	var out []string
	for _, word := range vocabulary {
		list, ok := words.Lookup(word)
		if !ok {
			continue
		}
		line := fmt.Sprintf("%q %d/%d:", word, list.Texts, list.Chunks)
		list.Each(func(p blockmax.Posting) { line += fmt.Sprintf(" %d×%d", p.Place, p.Tf) })
		list.EachOpened(func(text uint32) { line += fmt.Sprintf(" opens %d", text) })
		out = append(out, line)
	}
	return out
}

// Loading reads words from scorch, without pairs and grams.
func TestLoadGolden(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{})
	chunks := []index.TextChunk{
		{ID: 11, Item: 9, Title: "Old harbour", Text: "Ships ships ships in parseHTTPRequest"},
		{ID: 12, Item: 9, Text: "a storm " + strings.Repeat("harbour ", 20)},
		{ID: 13, Item: 4, Title: "книги", Text: "学习 storm", Extra: "2023-05-08"},
	}
	if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	waitLoaded(t, ix)
	words, _ := ix.view.Load().parts[0].inMemory()
	vocabulary := []string{
		"old", "harbour", "ship", "in", "parsehttprequest", "pars", "http", "request", "a", "storm", "книг", "学习",
		"2023-05-08", "2023", "05", "08", "old harbour", "\x01ship", "\x02harbour", "harbour\x02",
	}
	want := []string{
		`"old" 1/1: 1×2 opens 1`,
		`"harbour" 1/2: 1×2 2×16 opens 1`,
		`"ship" 1/1: 1×3 opens 1`,
		`"in" 1/1: 1×1 opens 1`,
		`"parsehttprequest" 1/1: 1×1 opens 1`,
		`"pars" 1/1: 1×1 opens 1`,
		`"http" 1/1: 1×1 opens 1`,
		`"request" 1/1: 1×1 opens 1`,
		`"a" 1/1: 2×1 opens 1`,
		`"storm" 2/2: 0×1 2×1 opens 0 opens 1`,
		`"книг" 1/1: 0×2 opens 0`,
		`"学习" 1/1: 0×1 opens 0`,
		`"2023-05-08" 1/1: 0×1`, `"2023" 1/1: 0×1`, `"05" 1/1: 0×1`, `"08" 1/1: 0×1`,
	}
	if d := gocmp.Diff(want, wordsOf(words, vocabulary)); d != "" {
		t.Errorf("words (-want +read):\n%s", d)
	}
	if words.Terms() != len(want) {
		t.Errorf("%d words, want %d", words.Terms(), len(want))
	}
	st := ix.Stats().Words
	if st.Chunks != 3 || st.Bytes != words.Bytes() || st.Bytes < 100 {
		t.Errorf("stats say %+v", st)
	}
}

// Words loaded from scorch equal the analysed ones.
func TestLoadedWordsEqualAnalysed(t *testing.T) {
	chunks := drawTexts(rand.New(rand.NewPCG(7, 7)), 0, 500, 9, 3000)
	ix := mustOpen(t, t.TempDir(), Options{FlushChunks: 1 << 20})
	for from := 0; from < len(chunks); {
		n := wholeItems(chunks[from:], 700)
		if err := ix.Apply(t.Context(), uint64(from+1), chunks[from:from+n], nil); err != nil { //nolint:gosec // small
			t.Fatal(err)
		}
		flush(t, ix)
		from += n
	}
	waitLoaded(t, ix)
	all := analyse(chunks)
	for term, i := range all.terms {
		if strings.ContainsAny(term, " \x01\x02") {
			continue
		}
		type have struct{ id, tf uint64 }
		var want, got []have
		for _, e := range all.lists[i] {
			want = append(want, have{all.cols.row(e.chunk).id, uint64(e.tf)})
		}
		for _, p := range ix.view.Load().parts {
			words, _ := p.inMemory()
			if list, ok := words.Lookup(term); ok {
				list.Each(func(e blockmax.Posting) { got = append(got, have{p.columns().ids[e.Place], uint64(e.Tf)}) })
			}
		}
		byID := func(a, b have) int { return cmp.Compare(a.id, b.id) }
		slices.SortFunc(want, byID)
		slices.SortFunc(got, byID)
		if !slices.Equal(want, got) {
			t.Fatalf("%q: %v was analysed, %v read", term, want, got)
		}
	}
}

// segmentOf returns the only segment of an index.
func segmentOf(t *testing.T, ix *Index) *storedSegment {
	t.Helper()
	v := ix.view.Load()
	if len(v.parts) != 1 {
		t.Fatalf("%d parts", len(v.parts))
	}
	s, ok := v.parts[0].segment.(*storedSegment)
	if !ok {
		t.Fatal("not stored")
	}
	return s
}

// Close does not wait for words to be loaded. Neither does the removal of the files of a segment
// that is no longer visible.
func TestLoadingEnds(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{})
	if err := ix.Apply(t.Context(), 1, benchChunks(30), nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	waitLoaded(t, ix)
	old := segmentOf(t, ix)
	if words, err := old.readWords(func() bool { return false }, 1); words != nil || !errors.Is(err, errUnwanted) {
		t.Errorf("read in spite of the end: %v", err)
	}
	if !ix.sees(old.segmentCache) {
		t.Error("a segment is not seen that searches see")
	}
	if err := ix.Apply(t.Context(), 2, nil, []uint64{benchChunks(1)[0].ID}); err != nil {
		t.Fatal(err)
	}
	if !ix.sees(old.segmentCache) {
		t.Error("a segment of which a chunk is deleted is not seen any more")
	}
	if err := ix.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ix.sees(old.segmentCache) {
		t.Error("a segment is seen that was merged away")
	}
	waitLoaded(t, ix)
	if ix.view.Load().nextUnloaded() != nil {
		t.Error("not all words are in memory")
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if ix.sees(old.segmentCache) || ix.loadNextWords(t.Context()) {
		t.Error("something is read of an index that is closed")
	}
}
