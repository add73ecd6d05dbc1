package blockmax

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// listed is a word and its postings.
type listed struct {
	postings []Posting
	opens    []uint32
}

// drawShape draws texts of one or more chunks, some long.
func drawShape(rt *rapid.T) Shape {
	s := Shape{Start: []uint32{0}, Long: rapid.IntRange(1, 8).Draw(rt, "long"), Spill: []uint32{4, 2, 1}}
	many := rapid.SampledFrom([]int{1, 1, 3, 12}).Draw(rt, "units")
	texts := rapid.SampledFrom([]int{1, 5, 40, 300, 5000}).Draw(rt, "texts")
	seed := rapid.Uint64().Draw(rt, "seed")
	random := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n //nolint:gosec // a test's
	}
	for text := range texts {
		whole := uint32(0)
		for range 1 + random(many) {
			size := uint32(random(90)) //nolint:gosec // small
			s.Owner, s.Chunk = append(s.Owner, uint32(text)), append(s.Chunk, size)
			whole += size
		}
		s.Text, s.Start = append(s.Text, whole), append(s.Start, uint32(len(s.Chunk))) //nolint:gosec // small
	}
	return s
}

func drawWord(rt *rapid.T, s Shape) (w listed) {
	seed := rapid.Uint64().Draw(rt, "word")
	random := func(n uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return (seed >> 33) % n
	}
	sparse := rapid.SampledFrom([]uint64{1, 2, 10, 100, 3000}).Draw(rt, "sparse")
	for place := range uint32(len(s.Chunk)) {
		if random(sparse) != 0 {
			continue
		}
		tf := 1 + uint32(random(1+random(MaxTf)))
		w.postings = append(w.postings, Posting{place, tf})
		if random(5) == 0 {
			w.opens = append(w.opens, place)
		}
	}
	if w.postings == nil {
		w.postings = []Posting{{Place: uint32(random(uint64(len(s.Chunk)))), Tf: 1}}
	}
	return w
}

func build(t rapid.TB, s Shape, words []listed) *Segment {
	t.Helper()
	b := NewBuilder(s)
	for i, w := range words {
		if err := b.Add(term(i), w.postings, w.opens); err != nil {
			t.Fatal(err)
		}
	}
	seg, err := b.Segment()
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

func term(i int) []byte { return fmt.Appendf(nil, "word%d", i) }

// Lists return what was added.
func TestLists(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawShape(rt)
		var words []listed
		for range rapid.IntRange(0, 5).Draw(rt, "words") {
			words = append(words, drawWord(rt, s))
		}
		seg := build(rt, s, words)
		if _, ok := seg.Lookup("another"); ok {
			rt.Fatal("a word is there that was not added")
		}
		for i, w := range words {
			checkList(rt, seg, string(term(i)), w)
		}
	})
}

// A word without postings, as in a damaged file, is ignored.
func TestWordWithoutPostings(t *testing.T) {
	b := NewBuilder(Shape{Owner: []uint32{0}, Start: []uint32{0, 1}, Text: []uint32{3}, Chunk: []uint32{3}})
	for _, postings := range [][]Posting{nil, {{0, 2}}} {
		if err := b.Add(term(len(postings)), postings, nil); err != nil {
			t.Fatal(err)
		}
	}
	seg, err := b.Segment()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := seg.Lookup("word0"); ok || seg.Terms() != 1 {
		t.Errorf("of %d words, one has no postings", seg.Terms())
	}
	checkList(t, seg, "word1", listed{postings: []Posting{{0, 2}}})
}

func checkList(rt rapid.TB, seg *Segment, term string, w listed) {
	rt.Helper()
	l, ok := seg.Lookup(term)
	if !ok {
		rt.Fatalf("%q is not there", term)
	}
	var got []Posting
	l.Each(func(p Posting) { got = append(got, p) })
	if d := gocmp.Diff(w.postings, got); d != "" {
		rt.Fatalf("postings of %q (-added +listed):\n%s", term, d)
	}
	var want, opened []uint32
	texts := map[uint32]bool{}
	for _, p := range w.postings {
		texts[seg.Owner[p.Place]] = true
	}
	for _, place := range w.opens {
		want = append(want, seg.Owner[place])
	}
	l.EachOpened(func(text uint32) { opened = append(opened, text) })
	if want = slices.Compact(want); !slices.Equal(want, opened) {
		rt.Fatalf("%q opens %v, want %v", term, opened, want)
	}
	if l.Texts != len(texts) || l.Chunks != len(w.postings) {
		rt.Fatalf("%q is in %d texts and %d chunks, want %d and %d", term, l.Texts, l.Chunks, len(texts), len(w.postings))
	}
}

// collector keeps the k best chunks offered to it.
type collector struct {
	k      int
	wanted func(text uint32) bool
	hits   []hit
}

type hit struct {
	place uint32
	score float64
}

func (c *collector) Wanted(text uint32) bool { return c.wanted(text) }

func (c *collector) Offer(place uint32, score float64) float64 {
	c.hits = append(c.hits, hit{place, score})
	slices.SortFunc(c.hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place)) })
	if len(c.hits) < c.k {
		return 0
	}
	if len(c.hits) > c.k+5 {
		c.hits = c.hits[:c.k+5]
	}
	return c.hits[c.k-1].score
}

// Search finds the same k best chunks as an exhaustive search, also with the working memory of other searches.
func TestSearch(t *testing.T) {
	var searcher Searcher
	rapid.Check(t, func(rt *rapid.T) {
		s := drawShape(rt)
		q := Query{
			TextSaturation:  Saturation{rapid.Float64Range(0, 2).Draw(rt, "base"), rapid.Float64Range(0, 0.1).Draw(rt, "slope")},
			ChunkSaturation: Saturation{rapid.Float64Range(0, 2).Draw(rt, "base of chunks"), rapid.Float64Range(0, 0.1).Draw(rt, "slope of chunks")},
			Passage:         rapid.SampledFrom([]float64{0, 0.5, 3}).Draw(rt, "passage"),
		}
		var words []listed
		for range rapid.IntRange(1, 6).Draw(rt, "words") {
			words = append(words, drawWord(rt, s))
		}
		seg := build(rt, s, words)
		for i := range words {
			l, _ := seg.Lookup(string(term(i)))
			weight := rapid.Float64Range(0.01, 9).Draw(rt, "weight")
			q.Terms = append(q.Terms, Term{List: l, Text: weight, Chunk: weight * 1.1, Open: weight * 0.15})
		}
		nth := rapid.Uint32Range(1, 7).Draw(rt, "wanted")
		c := &collector{k: rapid.IntRange(1, 40).Draw(rt, "k"), wanted: func(text uint32) bool { return text%nth == 0 }}
		q.Prior = drawPrior(rt, s)
		searcher.Search(seg, q, 0, c)
		checkBest(rt, c, scores(s, words, q), func(place uint32) bool { return s.Owner[place]%nth == 0 })
	})
}

func drawPrior(rt *rapid.T, s Shape) *Prior {
	if rapid.Bool().Draw(rt, "no prior") {
		return nil
	}
	p := &Prior{
		Touched: make([]uint64, (len(s.Text)+63)/64), Texts: make([]float64, len(s.Text)),
		Chunks: make([]float64, len(s.Chunk)), MaxChunk: make([]float64, len(s.Text)),
	}
	for _, text := range rapid.SliceOfN(rapid.IntRange(0, len(s.Text)-1), 0, 9).Draw(rt, "touched") {
		p.Touched[text/64] |= 1 << (text % 64)
		p.Texts[text] = float64(text%7) / 3
		for place := s.Start[text]; place < s.Start[text+1]; place++ {
			p.Chunks[place] = float64(place%3) + 0.25
		}
		p.MaxChunk[text] = slices.Max(p.Chunks[s.Start[text]:s.Start[text+1]])
	}
	return p
}

func checkBest(rt *rapid.T, c *collector, all map[uint32]float64, wanted func(place uint32) bool) {
	var want []float64
	for place, score := range all {
		if wanted(place) {
			want = append(want, score)
		}
	}
	slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
	want = want[:min(len(want), c.k)]
	got := c.hits[:min(len(c.hits), c.k)]
	if len(got) != len(want) {
		rt.Fatalf("%d chunks, want %d", len(got), len(want))
	}
	for i, h := range got {
		if off := 1e-12 * want[i]; !(math.Abs(h.score-want[i]) <= off) || !(math.Abs(all[h.place]-h.score) <= off) {
			rt.Fatalf("chunk %d is %d with %v, which scores %v; want %v", i, h.place, h.score, all[h.place], want[i])
		}
	}
}

// scores computes the score of each chunk by the formula.
func scores(s Shape, words []listed, q Query) map[uint32]float64 {
	texts, units := make([]float64, len(s.Text)), make([]float64, len(s.Chunk))
	if q.Prior != nil {
		copy(texts, q.Prior.Texts)
		copy(units, q.Prior.Chunks)
	}
	for i, w := range words {
		t := q.Terms[i]
		inText, opens := make([]float64, len(s.Text)), make([]bool, len(s.Text))
		near := make([]float64, len(s.Chunk))
		for _, p := range w.postings {
			text := s.Owner[p.Place]
			inText[text] += float64(p.Tf)
			near[p.Place] += float64(p.Tf)
			for d, share := range s.Spill {
				if s.chunkCount(text) < s.Long || s.chunkCount(text) == 1 {
					break
				}
				for _, at := range []int{int(p.Place) + d + 1, int(p.Place) - d - 1} {
					if at >= int(s.Start[text]) && at < int(s.Start[text+1]) {
						near[at] += float64(p.Tf) * float64(share) / Tenths
					}
				}
			}
		}
		for _, place := range w.opens {
			opens[s.Owner[place]] = true
		}
		for text, tf := range inText {
			if tf > 0 {
				texts[text] += t.Text * q.TextSaturation.Of(tf, float64(s.Text[text]))
			}
			if opens[text] {
				texts[text] += t.Open
			}
		}
		for place, tf := range near {
			if tf > 0 {
				units[place] += t.Chunk * q.ChunkSaturation.Of(tf, float64(s.Chunk[place]))
			}
		}
	}
	out := make(map[uint32]float64)
	for place, own := range units {
		if own > 0 {
			out[uint32(place)] = texts[s.Owner[place]] + q.Passage*own
		}
	}
	return out
}

// FuzzLists builds lists from the fuzzed bytes.
func FuzzLists(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{0, 1, 0, 9, 200})
	f.Add([]byte{0, 255, 40, 40, 40}, []byte{3, 3, 3, 3, 3, 3, 3})
	f.Fuzz(func(t *testing.T, texts, postings []byte) {
		s := Shape{Start: []uint32{0}, Long: 3, Spill: []uint32{4, 2, 1}}
		for text, n := range texts {
			for unit := range 1 + uint32(n%40) {
				s.Owner, s.Chunk = append(s.Owner, uint32(text)), append(s.Chunk, unit*uint32(n)) //nolint:gosec // small
			}
			s.Text, s.Start = append(s.Text, uint32(n)*uint32(n)), append(s.Start, uint32(len(s.Chunk))) //nolint:gosec // small
		}
		var w listed
		for i, place := 0, uint32(0); i+1 < len(postings); i += 2 {
			place += uint32(postings[i])
			if int(place) >= len(s.Chunk) {
				break
			}
			w.postings = append(w.postings, Posting{place, 1 + uint32(postings[i+1]%MaxTf)})
			if postings[i+1] > 200 {
				w.opens = append(w.opens, place)
			}
			place++
		}
		if w.postings == nil {
			return
		}
		checkList(t, build(t, s, []listed{w, w}), string(term(1)), w)
	})
}

// Length codes round down by less than a sixteenth and keep the order.
func TestLengths(t *testing.T) {
	for n := range uint32(300_000) {
		code := lengthCode(n)
		back := lengthOf(code)
		if back > n || code < lastLength && n-back > n/steps || n > 0 && code < lengthCode(n-1) {
			t.Fatalf("%d has code %d, which is %d", n, code, back)
		}
	}
	if code := lengthCode(math.MaxUint32); code != lastLength {
		t.Fatalf("the longest has code %d", code)
	}
}
