package blockmax

// Saturation is the function tf / (tf + Base + Slope·length), which is below 1.
type Saturation struct{ Base, Slope float64 }

// Of returns the saturated frequency for a text of the given length.
func (s Saturation) Of(tf, length float64) float64 { return tf / (tf + s.Base + s.Slope*length) }

// Term is a word of a query. A text that contains it scores Text times its saturated frequency,
// plus Open if the word is in its opening. A chunk scores Chunk times its own saturated frequency,
// weighted by Query.Passage.
type Term struct {
	List              List
	Text, Chunk, Open float64
}

// cursor is the position of a word in its list.
type cursor struct {
	Term

	passage     float64   // the weight of a chunk's own score: Chunk·Passage
	begin, end  uint32    // all texts of the list lie in [begin, end]
	bounds      []float64 // by block: the maximum score of a chunk by this word
	windowBound float64   // the maximum of bounds in the current window
	first       int       // the first block that can be in the window

	// The decoded blocks of the window, by number modulo windowBlocks. The order in which candidates are looked up leads
	// to each of them several times.
	decoded []reader
	probe   *reader // the block of the last seek, or nil
}

// windowBlocks is the maximum number of blocks that overlap a window.
const windowBlocks = window/blockTexts + 1

// reader reads a block.
type reader struct {
	block

	number int     // of the decoded block, or -1
	at     int     // index in the block
	bound  float64 // the maximum score of a chunk of its own in the block
}

// start moves the cursor to the start of a term's list.
func (c *cursor) start(t Term, s *scorer) {
	c.Term, c.passage = t, t.Chunk*s.passage
	c.first, c.probe = 0, nil
	c.bounds = c.bounds[:0]
	blocks := t.List.blocks()
	for i := range c.decoded {
		c.decoded[i].number = -1
	}
	for len(c.decoded) < min(blocks, windowBlocks) {
		c.decoded = append(c.decoded, reader{number: -1})
	}
	for number := range blocks {
		c.bounds = append(c.bounds, s.bound(c, number))
	}
	if blocks > 1 {
		c.begin, c.end = 0, t.List.last(blocks-1)
		return
	}
	texts := s.load(c, 0).texts
	c.begin, c.end = texts[0], texts[len(texts)-1]
}

// last returns the last text of a block.
func (c *cursor) last(number int) uint32 {
	if len(c.bounds) == 1 {
		return c.end
	}
	return c.List.last(number)
}

// scorer scores the texts and chunks of a segment.
type scorer struct {
	segment                         *Segment
	textSaturation, chunkSaturation Saturation
	passage                         float64
}

// text returns the score of a frequency in a text.
func (s *scorer) text(t *Term, text, tf uint32) float64 {
	return t.Text * s.textSaturation.Of(float64(tf), float64(s.segment.Text[text]))
}

// bound returns the maximum score of a chunk in a block by this word.
func (s *scorer) bound(c *cursor, number int) float64 {
	data := c.List.start(number)
	if c.List.single || data[head-1] == 0 {
		return s.boundOfSmall(c, number)
	}
	pairs := data[head-1]
	most := c.Open
	if w := widthsOf(uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24); !w.opens {
		most = 0
	}
	ofTexts, ofUnits := pairs&maxPairs, pairs>>4
	data = data[head:]
	var text, unit float64
	for range ofTexts {
		tf, length := float64(data[0]), float64(lengthOf(data[1]))
		inText, inUnit := s.textSaturation.Of(tf, length), s.chunkSaturation.Of(tf, length)
		if data[0] == overflow {
			inText, inUnit = 1, 1
		}
		score := c.Text * inText
		if ofUnits == 0 { // each text is one chunk
			score += c.passage * inUnit
		}
		text = max(text, score)
		data = data[2:]
	}
	if ofUnits > 0 {
		unit = c.passage * s.chunkBound(data, ofUnits)
	}
	return most + text + unit
}

// chunkBound returns the maximum saturation among the front pairs of chunks.
func (s *scorer) chunkBound(pairs []byte, n byte) (most float64) {
	for range n {
		if pairs[0] == overflow {
			return 1
		}
		most = max(most, s.chunkSaturation.Of(float64(pairs[0])/fifths, float64(lengthOf(pairs[1]))))
		pairs = pairs[2:]
	}
	return most
}

// boundOfSmall computes the bound of a block without a front from its postings.
func (s *scorer) boundOfSmall(c *cursor, number int) (most float64) {
	r := s.load(c, number)
	for i := range r.texts {
		most = max(most, s.score(r, c, i))
	}
	return most
}

// load returns a decoded block.
func (s *scorer) load(c *cursor, number int) *reader {
	r := &c.decoded[number%windowBlocks]
	if r.number == number {
		return r
	}
	r.read(&c.List, number)
	r.number, r.at = number, 0
	if r.widths.chunks == 0 {
		return r // each text is one chunk
	}
	if r.bound = 1; !c.List.single {
		data := c.List.start(number)
		if pairs := data[head-1]; pairs != 0 {
			r.bound = s.chunkBound(data[head+2*(pairs&maxPairs):], pairs>>4)
		}
	}
	r.bound *= c.passage
	return r
}

// score returns the maximum score of a chunk of a text by this word. For a text of one chunk it is
// the exact score.
func (s *scorer) score(r *reader, c *cursor, i int) float64 {
	text, tf := r.texts[i], r.frequency(i)
	score := s.text(&c.Term, text, tf)
	if r.widths.chunks == 0 || r.chunkCount(i) == 0 {
		score += c.passage * s.chunkSaturation.Of(float64(tf), float64(s.segment.Text[text]))
	} else {
		score += s.inChunk(r, c, i)
	}
	if r.opensText(i) {
		score += c.Open
	}
	return score
}

// inChunk returns the maximum of what this word adds to the score of a chunk of its own, in a text of several chunks.
func (s *scorer) inChunk(r *reader, c *cursor, i int) float64 {
	text, tf := r.texts[i], r.frequency(i)
	most := s.segment.mostInChunk(text, tf, r.chunkCount(i))
	return min(r.bound, c.passage*s.chunkSaturation.Of(most, float64(s.segment.shortest[text])))
}

// enter moves the cursor to the window [lo, hi) and reports whether a block overlaps it.
func (c *cursor) enter(lo, hi uint32) bool {
	if c.begin >= hi || c.end < lo {
		return false
	}
	blocks := len(c.bounds)
	for c.first < blocks && c.last(c.first) < lo {
		c.first++
	}
	c.windowBound = 0
	for number := c.first; number < blocks; number++ {
		if number > c.first && c.last(number-1)+1 >= hi {
			break
		}
		c.windowBound = max(c.windowBound, c.bounds[number])
	}
	return c.first < blocks
}

// blockOf returns the first block of the window that can contain a text, or the number of blocks.
func (c *cursor) blockOf(text uint32) int {
	number := c.first
	if r := c.probe; r != nil && text >= r.texts[0] {
		number = max(number, r.number)
	}
	for number < len(c.bounds) && c.last(number) < text {
		number++
	}
	return number
}

// seek reports whether a text of the window contains the word and positions the probe at it.
func (s *scorer) seek(c *cursor, text uint32) bool {
	number := c.blockOf(text)
	if number == len(c.bounds) {
		return false
	}
	r := s.load(c, number)
	c.probe = r
	if r.at == len(r.texts) || text < r.texts[r.at] {
		r.at = 0
	}
	r.at = skip(r.texts, r.at, text)
	return r.at < len(r.texts) && r.texts[r.at] == text
}
