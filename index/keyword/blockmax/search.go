package blockmax

import (
	"cmp"
	"math/bits"
	"slices"
)

// Query asks for the units of a segment that may score best.
type Query struct {
	Terms          []Term
	TextSaturation, ChunkSaturation Saturation
	Passage        float64  // what a unit's own score counts beside that of its text
	Prior          *Prior   // may be nil
	Dead           []uint64 // set of texts to leave out; empty if there are none
}

// Prior is what texts and units score already. Its slices may change after the search.
type Prior struct {
	Touched []uint64 // set of the texts of which something is said here
	Texts   []float64
	Chunks   []float64 // by place
	MaxChunk    []float64 // by text: the most that one of its units does
}

// Sink takes what a search finds.
type Sink interface {
	// Wanted reports whether a unit of the text may be a hit.
	Wanted(text uint32) bool
	// Offer takes a unit that scores the threshold or more, and returns the threshold
	// from now on.
	Offer(place uint32, score float64) (threshold float64)
}

// window is how many texts are looked at at a time.
const window = 2048

// Searcher is the working memory of searches, one at a time.
type Searcher struct {
	scorer

	query     Query
	sink      Sink
	threshold float64
	slack     float64

	cursors []*cursor
	order   []*cursor // by what they can add in the window
	sums    []float64 // chunksOf these, up to each
	scores  [window]float64
	touched [window / 64]uint64
	candidates []candidate // chunksOf texts of more units in the window

	scored  []float64 // by place in a text
	spilled []uint32  // by place in a long text
}

// candidate is the most that a unit of a text may score.
type candidate struct {
	text uint32
	bound float64
}

// Search offers the sink all units that score the threshold or more, wherever they came
// to be that, in some order of additions: scores are off by rounding, and the sink is to
// allow for that, as the search does.
func (s *Searcher) Search(segment *Segment, q Query, threshold float64, sink Sink) float64 {
	s.scorer = scorer{segment: segment, textSaturation: q.TextSaturation, chunkSaturation: q.ChunkSaturation, passage: q.Passage}
	s.query, s.sink, s.threshold = q, sink, threshold
	s.slack = Slack(len(q.Terms))
	for len(s.cursors) < len(q.Terms) {
		s.cursors = append(s.cursors, new(cursor))
	}
	for i, t := range q.Terms {
		s.cursors[i].start(t, &s.scorer)
	}
	texts := uint32(segment.texts()) //nolint:gosec // at most 2³²
	for lo := uint32(0); lo < texts; lo += window {
		s.window(lo, min(lo+window, texts))
	}
	s.release()
	return s.threshold
}

// release forgets the segment that was searched: a searcher that waits must not keep it in
// memory.
func (s *Searcher) release() {
	for _, c := range s.cursors[:len(s.query.Terms)] {
		c.List = List{}
		c.scan.release()
		c.probe.release()
	}
	s.segment, s.query, s.sink = nil, Query{}, nil
}

// Slack returns the factor by which a sum of so many terms may be too small.
func Slack(terms int) float64 { return 1 + float64(terms+64)*1e-15 }

// window looks for units of the texts from lo to before hi.
func (s *Searcher) window(lo, hi uint32) {
	s.order = s.order[:0]
	for _, c := range s.cursors[:len(s.query.Terms)] {
		if c.enter(lo, hi) {
			s.order = append(s.order, c)
		}
	}
	slices.SortFunc(s.order, func(a, b *cursor) int { return cmp.Compare(a.windowBound, b.windowBound) })
	s.sums = s.sums[:0]
	sum, lookups := 0.0, 0
	for i, c := range s.order {
		sum += c.windowBound
		s.sums = append(s.sums, sum)
		if sum*s.slack < s.threshold {
			lookups = i + 1
		}
	}
	s.addPrior(lo, hi)
	for _, c := range s.order[lookups:] {
		s.addWord(c, lo, hi)
	}
	s.visit(lo, lookups)
	s.offerCandidates()
}

// addPrior begins with what texts score already.
func (s *Searcher) addPrior(lo, hi uint32) {
	if s.query.Prior == nil {
		return
	}
	for at := lo; at < hi; at += 64 {
		word := s.query.Prior.Touched[at/64]
		s.touched[(at-lo)/64] = word
		for ; word != 0; word &= word - 1 {
			text := at + uint32(bits.TrailingZeros64(word)) //nolint:gosec // below 64
			s.scores[text-lo] = s.query.Prior.Texts[text] + s.passage*s.query.Prior.MaxChunk[text]
		}
	}
}

// addWord adds what a word scores in the window.
func (s *Searcher) addWord(c *cursor, lo, hi uint32) {
	r := &c.scan
	if r.number < c.first {
		s.load(r, c, c.first)
	}
	for {
		i := r.at
		for i < len(r.texts) && r.texts[i] < lo {
			i++
		}
		r.at = i
		for ; i < len(r.texts) && r.texts[i] < hi; i++ {
		}
		if r.widths.chunks == 0 {
			s.addTexts(c, r, r.at, i, lo)
		} else {
			s.addBounds(c, r, r.at, i, lo)
		}
		r.at = i
		if i < len(r.texts) || r.number+1 == len(c.bounds) {
			return
		}
		s.load(r, c, r.number+1)
	}
}

// addTexts adds what the texts of a block score from one to before another, where texts
// are units.
func (s *Searcher) addTexts(c *cursor, r *reader, from, to int, lo uint32) {
	for i := from; i < to; i++ {
		text := r.texts[i]
		tf, length := float64(r.frequency(i)), float64(s.segment.Text[text])
		score := c.Text*s.textSaturation.Of(tf, length) + c.passage*s.chunkSaturation.Of(tf, length)
		if r.opens && r.opensText(i) {
			score += c.Open
		}
		x := text - lo
		s.scores[x] += score
		s.touched[x>>6] |= 1 << (x & 63)
	}
}

// addBounds adds the most that a unit of these texts scores.
func (s *Searcher) addBounds(c *cursor, r *reader, from, to int, lo uint32) {
	for i := from; i < to; i++ {
		x := r.texts[i] - lo
		s.scores[x] += s.score(r, c, i)
		s.touched[x>>6] |= 1 << (x & 63)
	}
}

// visit looks at the texts that have something, and forgets what they have.
func (s *Searcher) visit(lo uint32, lookups int) {
	rest := 0.0
	if lookups > 0 {
		rest = s.sums[lookups-1]
	}
	for i, word := range s.touched {
		if word == 0 {
			continue
		}
		s.touched[i] = 0
		for ; word != 0; word &= word - 1 {
			x := uint32(i<<6 + bits.TrailingZeros64(word)) //nolint:gosec // below window
			score := s.scores[x]
			s.scores[x] = 0
			if (score+rest)*s.slack >= s.threshold {
				s.lookUp(lo+x, score, lookups)
			}
		}
	}
}

// lookUp looks up the words that were not added, while the text may be among the best. One
// that is a unit is offered then, and of others it is noted what is known.
func (s *Searcher) lookUp(text uint32, score float64, lookups int) {
	single := s.segment.chunkCount(text) == 1
	if single && !s.wanted(text) { // which is sooner said than looked up
		return
	}
	for i := lookups - 1; i >= 0; i-- {
		c := s.order[i]
		if (score+s.sums[i])*s.slack < s.threshold {
			return
		}
		number := c.blockOf(text)
		if number == len(c.bounds) {
			continue
		}
		below := 0.0
		if i > 0 {
			below = s.sums[i-1]
		}
		if (score+c.bounds[number]+below)*s.slack < s.threshold {
			return
		}
		if s.seek(c, text) {
			score += s.score(&c.probe, c, c.probe.at)
		}
	}
	switch {
	case score*s.slack < s.threshold:
	case single:
		s.threshold = s.sink.Offer(s.segment.Start[text], score)
	default:
		s.candidates = append(s.candidates, candidate{text, score})
	}
}

// offerCandidates looks at the units of the texts that may be among the best, the likeliest first:
// the sooner the threshold rises, the fewer are left.
func (s *Searcher) offerCandidates() {
	slices.SortFunc(s.candidates, func(a, b candidate) int { return cmp.Compare(b.bound, a.bound) })
	for _, c := range s.candidates {
		if c.bound*s.slack < s.threshold {
			break
		}
		if s.wanted(c.text) {
			s.offerChunks(c.text)
		}
	}
	s.candidates = s.candidates[:0]
}

// wanted reports whether a unit of the text may be a hit.
func (s *Searcher) wanted(text uint32) bool {
	dead := len(s.query.Dead) > 0 && s.query.Dead[text>>6]>>(text&63)&1 != 0
	return !dead && s.sink.Wanted(text)
}

// chunks offers the units of a text.
func (s *Searcher) offerChunks(text uint32) {
	n := s.segment.chunkCount(text)
	start := s.segment.Start[text]
	s.scored = slices.Grow(s.scored[:0], n)[:n]
	clear(s.scored)
	whole := 0.0
	if p := s.query.Prior; p != nil && p.Touched[text>>6]>>(text&63)&1 != 0 {
		whole = p.Texts[text]
		copy(s.scored, p.Chunks[start:])
	}
	for _, c := range s.order {
		if c.rewind(text); s.seek(c, text) {
			whole += s.scoreWord(c, text)
		}
	}
	for at, own := range s.scored {
		if score := whole + s.passage*own; own != 0 && score*s.slack >= s.threshold {
			s.threshold = s.sink.Offer(start+uint32(at), score) //nolint:gosec // of a text
		}
	}
}

// scoreWord adds what units score by a word, and returns what their text does.
func (s *Searcher) scoreWord(c *cursor, text uint32) float64 {
	r := &c.probe
	score := s.text(&c.Term, text, r.frequency(r.at))
	if r.opensText(r.at) {
		score += c.Open
	}
	start := s.segment.Start[text]
	if len(s.scored) >= s.segment.Long {
		s.spread(c, start)
		return score
	}
	for n := range r.chunkCount(r.at) {
		place, tf := r.chunk(r.at, n)
		s.scored[place] += c.Chunk * s.chunkSaturation.Of(float64(tf), float64(s.segment.Chunk[start+place]))
	}
	return score
}

// spread adds what units of a long text score by a word, whose probe is at it.
func (s *Searcher) spread(c *cursor, start uint32) {
	n := len(s.scored)
	s.spilled = slices.Grow(s.spilled[:0], n)[:n]
	clear(s.spilled)
	r := &c.probe
	for i := range r.chunkCount(r.at) {
		place, tf := r.chunk(r.at, i)
		s.segment.SpillOver(s.spilled, place, tf)
	}
	for at, tf := range s.spilled {
		if tf > 0 {
			s.scored[at] += c.Chunk * s.chunkSaturation.Of(float64(tf)/Tenths, float64(s.segment.Chunk[int(start)+at]))
		}
	}
}
