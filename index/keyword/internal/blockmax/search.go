package blockmax

import (
	"cmp"
	"math/bits"
	"slices"
)

// Query asks for the chunks of a segment that may score best.
type Query struct {
	Terms                           []Term
	TextSaturation, ChunkSaturation Saturation
	Passage                         float64  // weight of a chunk's own score relative to its text's score
	Prior                           *Prior   // may be nil
	Dead                            []uint64 // set of texts to skip; may be empty
}

// Prior holds scores that texts and chunks already have. Its slices may change after the search.
type Prior struct {
	Touched  []uint64 // set of the texts with prior scores
	Texts    []float64
	Chunks   []float64 // by place
	MaxChunk []float64 // by text: the maximum of its chunks' scores
}

// Sink receives the results of a search.
type Sink interface {
	// Wanted reports whether a chunk of the text may be a hit.
	Wanted(text uint32) bool
	// Offer receives a chunk that scores at least the threshold, and returns the new threshold.
	Offer(place uint32, score float64) (threshold float64)
}

// window is the number of texts that are scored at a time.
const window = 2048

// Searcher is the reusable working memory of searches. It runs one search at a time.
type Searcher struct {
	scorer

	query     Query
	sink      Sink
	threshold float64
	slack     float64

	cursors    []*cursor
	order      []*cursor // by windowBound, ascending
	sums       []float64 // prefix sums of the window bounds in order
	scores     [window]float64
	touched    [window / 64]uint64
	candidates []candidate // texts of several chunks in the window

	held    []held
	scored  []float64 // by place in a text
	spilled []uint32  // by place in a long text; all zeros between words
}

// candidate is a text and the maximum score of its chunks.
type candidate struct {
	text  uint32
	bound float64
}

// held is a word of a text.
type held struct {
	*cursor

	rest float64 // bound of what the words before add to a chunk of its own
}

// Search offers the sink all chunks that score at least the threshold. The order of additions is
// unspecified, so scores are subject to rounding; the sink must allow for that as the search does.
func (s *Searcher) Search(segment *Segment, q Query, threshold float64, sink Sink) float64 {
	s.scorer = scorer{
		segment: segment, textSaturation: q.TextSaturation, chunkSaturation: q.ChunkSaturation, passage: q.Passage,
	}
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

// release drops the references to the segment, so that an idle searcher does not keep it in memory.
func (s *Searcher) release() {
	for _, c := range s.cursors[:len(s.query.Terms)] {
		c.List = List{}
		for i := range c.decoded {
			c.decoded[i].release()
		}
	}
	s.segment, s.query, s.sink = nil, Query{}, nil
}

// Slack returns a factor that covers the rounding error of a sum over the given number of terms.
func Slack(terms int) float64 { return 1 + float64(terms+64)*1e-15 }

// window searches the texts in [lo, hi).
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

// addPrior starts the window with the prior scores.
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

// addWord adds the scores of a word in the window.
func (s *Searcher) addWord(c *cursor, lo, hi uint32) {
	for number := c.first; number < len(c.bounds); number++ {
		r := s.load(c, number)
		from := skip(r.texts, 0, lo)
		to := skip(r.texts, from, hi)
		if r.widths.chunks == 0 {
			s.addTexts(c, r, from, to, lo)
		} else {
			s.addBounds(c, r, from, to, lo)
		}
		if to < len(r.texts) {
			return
		}
	}
}

// addTexts adds the exact scores of the texts from index from to before to, which have one chunk
// each.
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

// addBounds adds the maximum chunk scores of the texts from index from to before to.
func (s *Searcher) addBounds(c *cursor, r *reader, from, to int, lo uint32) {
	for i := from; i < to; i++ {
		x := r.texts[i] - lo
		s.scores[x] += s.score(r, c, i)
		s.touched[x>>6] |= 1 << (x & 63)
	}
}

// visit looks up the texts that have a score and resets the window.
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

// lookUp looks up the words that were not added, as long as the text can reach the threshold. A
// text of one chunk is offered at once; any other becomes a candidate.
func (s *Searcher) lookUp(text uint32, score float64, lookups int) {
	single := s.segment.chunkCount(text) == 1
	if single && !s.wanted(text) { // cheaper than the lookups
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
			score += s.score(c.probe, c, c.probe.at)
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

// offerCandidates offers the chunks of candidates, best bound first: the sooner the threshold
// rises, the fewer remain. Few are offered, so they are not sorted but taken from a heap.
func (s *Searcher) offerCandidates() {
	for i := len(s.candidates)/2 - 1; i >= 0; i-- {
		sinkDown(s.candidates, i)
	}
	for len(s.candidates) > 0 {
		c := s.candidates[0]
		if c.bound*s.slack < s.threshold {
			break
		}
		if s.wanted(c.text) {
			s.offerChunks(c.text)
		}
		last := len(s.candidates) - 1
		s.candidates[0] = s.candidates[last]
		s.candidates = s.candidates[:last]
		sinkDown(s.candidates, 0)
	}
	s.candidates = s.candidates[:0]
}

// sinkDown moves a candidate down to its position in a heap, which has the best bound at the root.
func sinkDown(heap []candidate, i int) {
	for child := 2*i + 1; child < len(heap); child = 2*i + 1 {
		if next := child + 1; next < len(heap) && heap[next].bound > heap[child].bound {
			child = next
		}
		if heap[child].bound <= heap[i].bound {
			return
		}
		heap[child], heap[i] = heap[i], heap[child]
		i = child
	}
}

// wanted reports whether a chunk of the text may be a hit.
func (s *Searcher) wanted(text uint32) bool {
	dead := len(s.query.Dead) > 0 && s.query.Dead[text>>6]>>(text&63)&1 != 0
	return !dead && s.sink.Wanted(text)
}

// offerChunks scores the chunks of a text and offers them. It gives up when no chunk can reach the threshold.
func (s *Searcher) offerChunks(text uint32) {
	n := s.segment.chunkCount(text)
	start := s.segment.Start[text]
	s.scored = slices.Grow(s.scored[:0], n)[:n]
	clear(s.scored)
	whole, most := 0.0, 0.0
	if p := s.query.Prior; p != nil && p.Touched[text>>6]>>(text&63)&1 != 0 {
		whole, most = p.Texts[text], p.MaxChunk[text]
		copy(s.scored, p.Chunks[start:])
	}
	s.held = s.held[:0]
	rest := 0.0
	for _, c := range s.order {
		if s.seek(c, text) {
			r := c.probe
			if whole += s.text(&c.Term, text, r.frequency(r.at)); r.opensText(r.at) {
				whole += c.Open
			}
			s.held = append(s.held, held{c, rest})
			rest += s.inChunk(r, c, r.at)
		}
	}
	for _, h := range slices.Backward(s.held) {
		most = max(most, s.addChunks(h.cursor, start))
		if (whole+s.passage*most+h.rest)*s.slack < s.threshold {
			return
		}
	}
	for at, own := range s.scored {
		if score := whole + s.passage*own; own != 0 && score*s.slack >= s.threshold {
			s.threshold = s.sink.Offer(start+uint32(at), score) //nolint:gosec // of a text
		}
	}
}

// addChunks adds the score of a word to the chunks of a text. It returns the highest score of these chunks.
func (s *Searcher) addChunks(c *cursor, start uint32) (most float64) {
	if len(s.scored) >= s.segment.Long {
		return s.spread(c, start)
	}
	r := c.probe
	for n := range r.chunkCount(r.at) {
		place, tf := r.chunk(r.at, n)
		s.scored[place] += c.Chunk * s.chunkSaturation.Of(float64(tf), float64(s.segment.Chunk[start+place]))
		most = max(most, s.scored[place])
	}
	return most
}

// spread is addChunks for a long text. It looks at the chunks near the word only.
func (s *Searcher) spread(c *cursor, start uint32) (most float64) {
	n, near := len(s.scored), len(s.segment.Spill)
	s.spilled = slices.Grow(s.spilled[:0], n)[:n]
	lengths := s.segment.Chunk[start:]
	from, to := 0, 0 // the chunks that have a part of the word
	add := func(before int) {
		for ; from < before; from++ {
			tf := float64(s.spilled[from]) / Tenths
			s.spilled[from] = 0
			s.scored[from] += c.Chunk * s.chunkSaturation.Of(tf, float64(lengths[from]))
			most = max(most, s.scored[from])
		}
	}
	r := c.probe
	for i := range r.chunkCount(r.at) {
		place, tf := r.chunk(r.at, i)
		add(min(to, int(place)-near))
		from = max(from, int(place)-near)
		s.segment.SpillOver(s.spilled, place, tf)
		to = min(int(place)+near+1, n)
	}
	add(to)
	return most
}
