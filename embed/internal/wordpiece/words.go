package wordpiece

import "unicode/utf8"

// Piece is a token of a word.
type Piece struct {
	ID int32
	// Covered is the number of letters and digits of the text that the token represents. It is 0
	// for an unknown token and for a single character of a longer word.
	Covered int32
}

// Words iterates over the words of a text in constant memory.
type Words struct {
	*Tokenizer
	text string
	at   int

	Pieces  []Piece // of the current word
	Letters int     // letters and digits of the current word

	buf    []byte  // the current word, normalized; truncated to the capacity
	hash   uint64  // of buf, with seedWord
	runes  int     // of the current word
	plain  bool    // the word is ASCII
	before []int32 // per byte of buf, the letters and digits before it; unused if plain
	hashes []uint64
}

// NewWords returns an iterator that belongs to one goroutine.
func NewWords(t *Tokenizer) *Words {
	size := utf8.UTFMax * t.MaxRunes
	return &Words{
		Tokenizer: t,
		Pieces:    make([]Piece, 0, t.MaxRunes),
		buf:       make([]byte, 0, size),
		before:    make([]int32, size+1),
		hashes:    make([]uint64, t.vocab.longest+1),
	}
}

// Start sets the text.
func (w *Words) Start(text string) { w.text, w.at = text, 0 }

// Next advances to the next word and finds its pieces. It returns false at the end. Invalid UTF-8
// is read as U+FFFD, which cleaning drops.
func (w *Words) Next() bool {
	w.buf, w.hash, w.runes, w.Letters, w.plain = w.buf[:0], seedWord, 0, 0, true
	for w.at < len(w.text) {
		w.readASCII()
		if w.at == len(w.text) {
			break
		}
		switch w.kind[w.text[w.at]] {
		case asciiWord: // buf is full
			w.overflow()
		case asciiDropped:
			w.at++
		case asciiControl:
			w.add(rune(w.text[w.at]), false)
			w.at++
		case asciiSpace:
			w.at++
			if w.runes > 0 {
				w.finishWord()
				return true
			}
		case asciiPunct:
			if w.runes == 0 {
				w.readPunctuation()
			} else {
				w.finishWord()
			}
			return true
		default:
			if w.readCharacter() {
				return true
			}
		}
	}
	if w.runes == 0 {
		return false
	}
	w.finishWord()
	return true
}

// readASCII reads ASCII letters and digits as long as they fit into buf.
func (w *Words) readASCII() {
	buf, h, i := w.buf, w.hash, w.at
	for i < len(w.text) && len(buf) < cap(buf) {
		c := w.word[w.text[i]]
		if c == 0 {
			break
		}
		buf = append(buf, c)
		h = hashByte(h, c)
		i++
	}
	n := len(buf) - len(w.buf)
	w.runes += n
	for j := len(w.buf); !w.plain && j < len(buf); j++ {
		w.before[j+1] = w.before[j] + 1
	}
	w.Letters += n
	w.buf, w.hash, w.at = buf, h, i
}

// overflow counts a letter of a word that is too long for buf.
func (w *Words) overflow() {
	w.at++
	w.runes++
	w.Letters++
}

// readPunctuation reads the ASCII character at w.at as a word of its own, or the verbatim token that
// begins there.
func (w *Words) readPunctuation() {
	for _, v := range w.special {
		if len(w.text)-w.at >= len(v.text) && w.text[w.at:w.at+len(v.text)] == v.text {
			w.at += len(v.text)
			w.Pieces = append(w.Pieces[:0], Piece{ID: v.id})
			return
		}
	}
	w.add(rune(w.text[w.at]), false)
	w.at++
	w.finishWord()
}

// readCharacter reads a character beyond ASCII. It returns true if a word is complete, which may have
// ended before the character.
func (w *Words) readCharacter() bool {
	r, size := utf8.DecodeRuneInString(w.text[w.at:])
	chars := loadCharacters()
	c, ch := chars.lookup(r)
	switch {
	case w.Clean && c&dropped != 0, w.Strip && c&mark != 0:
		w.at += size
		return false
	case c&space != 0:
		w.at += size
		if w.runes > 0 {
			w.finishWord()
			return true
		}
		return false
	}
	parts := [4]rune{r}
	switch {
	case !w.Strip:
	case r >= hangulFirst && r <= hangulLast:
		parts = jamo(r)
	case ch != nil && ch.strip[0] != 0:
		parts = ch.strip
	}
	alone := w.Han && c&han != 0 || parts[1] == 0 && w.isPunct(chars, parts[0])
	if alone && w.runes > 0 {
		w.finishWord()
		return true
	}
	w.at += size
	for i := 0; parts[i] != 0; i++ {
		w.addLowered(chars, parts[i])
	}
	if alone {
		w.finishWord()
	}
	return alone
}

func (w *Words) isPunct(chars *characters, r rune) bool {
	if r < utf8.RuneSelf {
		return w.kind[r] == asciiPunct
	}
	c, _ := chars.lookup(r)
	return c&punct != 0
}

// addLowered adds a character, in lower case if the rules say so.
func (w *Words) addLowered(chars *characters, r rune) {
	if r < utf8.RuneSelf {
		if b := w.word[r]; b != 0 {
			w.add(rune(b), true)
		} else {
			w.add(r, false)
		}
		return
	}
	c, ch := chars.lookup(r)
	if !w.Lower || ch == nil || ch.lower[0] == 0 {
		w.add(r, c&letter != 0)
		return
	}
	for i := 0; ch.lower[i] != 0; i++ {
		w.add(ch.lower[i], i == 0)
	}
}

// add appends a character to the word. If it does not fit, the word becomes longer than any word
// with pieces, because a character has at most [utf8.UTFMax] bytes.
func (w *Words) add(r rune, counts bool) {
	w.runes++
	if w.plain {
		w.plain = false
		for j := range w.buf {
			w.before[j+1] = int32(j + 1)
		}
	}
	from := len(w.buf)
	if from+utf8.RuneLen(r) <= cap(w.buf) {
		w.buf = utf8.AppendRune(w.buf, r)
	}
	if counts {
		w.Letters++
	}
	for j := from; j < len(w.buf); j++ {
		w.hash = hashByte(w.hash, w.buf[j])
		w.before[j+1] = int32(w.Letters)
	}
}

// finishWord ends the word and finds its pieces greedily, longest token first (Song et al., "Fast
// WordPiece Tokenization", 2021, describe the rule and a faster algorithm for longer words).
func (w *Words) finishWord() {
	w.Pieces = w.Pieces[:0]
	if w.runes <= w.MaxRunes {
		if id := w.vocab.lookup(w.hash, seedWord, w.buf); id >= 0 {
			w.Pieces = append(w.Pieces, Piece{id, int32(w.Letters)})
			return
		}
		if w.split() {
			return
		}
	}
	w.Pieces = append(w.Pieces[:0], Piece{ID: w.unknownID})
}

// split finds the pieces of a word that is not a token. It returns false if a part of the word is
// not a token.
func (w *Words) split() bool {
	seed := uint64(seedWord)
	for start := 0; start < len(w.buf); {
		rest := w.buf[start:]
		id, n := w.prefix(seed, rest)
		if id < 0 {
			return false
		}
		p := Piece{ID: id}
		if _, first := utf8.DecodeRune(rest); n > first {
			p.Covered = w.lettersIn(start, start+n)
		}
		w.Pieces = append(w.Pieces, p)
		start += n
		seed = seedContinue
	}
	return true
}

// prefix returns the longest token at the beginning of rest and its length. The id is -1 if no
// token matches.
func (w *Words) prefix(seed uint64, rest []byte) (int32, int) {
	n := min(len(rest), w.vocab.longest)
	hashes := w.hashes[:n]
	h := seed
	for i := range hashes {
		h = hashByte(h, rest[i])
		hashes[i] = h
	}
	for ; n > 0; n-- {
		if id := w.vocab.lookup(hashes[n-1], seed, rest[:n]); id >= 0 {
			return id, n
		}
	}
	return -1, 0
}

// lettersIn returns the number of letters and digits between two bytes of buf.
func (w *Words) lettersIn(from, to int) int32 {
	if w.plain {
		return int32(to - from)
	}
	return w.before[to] - w.before[from]
}
