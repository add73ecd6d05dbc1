package redact

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A step of a pattern is a set of words, after up to gap others, none of which may say no
// where it is strict.
type step struct {
	words  map[uint16]bool
	gap    int
	strict bool
}

// A pattern is a row of steps within a sentence.
type pattern struct {
	reason string
	first  bool            // only at the start of a sentence
	not    map[uint16]bool // words that may not stand in front
	steps  []step
}

// grammar is all patterns by the words that they begin with.
type grammar struct {
	ids    map[string]uint16
	starts map[uint16][]*pattern
	stems  map[string]bool // the beginnings of words of which a stem is given
	signs  map[rune]int    // how long words of scripts without spaces are at most, by their first character
	// negations say no; attacks are words of those who write about attacks; under stands in
	// front of a verb that is no order.
	negations, attacks, under map[uint16]bool
}

// Words that are none.
const (
	unknownWord uint16 = iota
	colonWord          // :
	addressWord        // a URL or the address of a mail
	lineWord           // the underscore within a name of code
)

// compile reads patterns, one in a line under its reason: "ignore|forget ..2
// previous|prior rules". A word with a dollar stands for one of the named sets, a word with
// a star for all that begin so. ..n lets up to n words stand between, ..n! only such as do
// not say no. A hat asks for the start of a sentence; after a minus are words that may not
// stand in front.
func compile(sets map[string]string, patterns ...map[string]string) *grammar {
	g := &grammar{
		ids:    map[string]uint16{"": unknownWord, ":": colonWord, "@": addressWord, "_": lineWord},
		starts: map[uint16][]*pattern{}, stems: map[string]bool{}, signs: map[rune]int{},
	}
	for name := range sets {
		g.set("$"+name, sets) // a longer word that no pattern has hides a shorter one
	}
	for _, some := range patterns {
		for _, reason := range slices.Sorted(maps.Keys(some)) {
			for line := range strings.Lines(some[reason]) {
				if line = strings.TrimSpace(line); line != "" {
					g.add(reason, line, sets)
				}
			}
		}
	}
	g.negations, g.attacks, g.under = g.set("$negation", sets), g.set("$attack", sets), g.set("$under", sets)
	return g
}

func (g *grammar) add(reason, line string, sets map[string]string) {
	p := &pattern{reason: reason}
	line, p.first = strings.CutPrefix(line, "^")
	var next step
	for field := range strings.FieldsSeq(line) {
		if n, ok := strings.CutPrefix(field, ".."); ok {
			n, next.strict = strings.CutSuffix(n, "!")
			next.gap, _ = strconv.Atoi(n) // a pattern of ours
			continue
		}
		if not, ok := strings.CutPrefix(field, "-"); ok {
			p.not = g.set(not, sets)
			continue
		}
		next.words = g.set(field, sets)
		p.steps, next = append(p.steps, next), step{}
	}
	for id := range p.steps[0].words {
		g.starts[id] = append(g.starts[id], p)
	}
}

// set returns the words of a field of a pattern.
func (g *grammar) set(field string, sets map[string]string) map[uint16]bool {
	words := map[uint16]bool{}
	for w := range strings.SplitSeq(field, "|") {
		if name, ok := strings.CutPrefix(w, "$"); ok {
			for w := range strings.FieldsSeq(sets[name]) {
				words[g.id(w)] = true
			}
			continue
		}
		words[g.id(w)] = true
	}
	return words
}

// id returns the number of a word, as it is read.
func (g *grammar) id(w string) uint16 {
	key := strings.Map(folded, w)
	if id, ok := g.ids[key]; ok {
		return id
	}
	id := uint16(len(g.ids))
	g.ids[key] = id
	if stem, ok := strings.CutSuffix(key, "*"); ok {
		g.stems[stem[:leastStem]] = true
	}
	if r, _ := utf8.DecodeRuneInString(key); unspaced(r) {
		g.signs[r] = max(g.signs[r], len(key))
	}
	return id
}

// leastStem is how long a stem is at least, in bytes.
const leastStem = 4

// known returns the number of a word of letters that are folded, also by its stem.
func (g *grammar) known(w []byte) uint16 {
	if id := g.ids[string(w)]; id != unknownWord {
		return id
	}
	if len(w) < leastStem || !g.stems[string(w[:leastStem])] {
		return unknownWord
	}
	var key [wordSize + 1]byte
	for n := len(w); n >= leastStem; n-- {
		copy(key[:], w[:n])
		key[n] = '*'
		if id := g.ids[string(key[:n+1])]; id != unknownWord {
			return id
		}
	}
	return unknownWord
}

// match reports whether the steps fit the words from the first on.
func (g *grammar) match(steps []step, words []uint16) bool {
	if len(steps) == 0 {
		return true
	}
	for skip := 0; skip <= steps[0].gap && skip < len(words); skip++ {
		if steps[0].words[words[skip]] && g.match(steps[1:], words[skip+1:]) {
			return true
		}
		if steps[0].strict && g.negations[words[skip]] {
			return false
		}
	}
	return false
}

// maxSentence bounds a sentence in words; longer ones are read in parts.
const maxSentence = 256

// wordSize bounds the words that are looked at, in bytes.
const wordSize = 48

// speech reads a text sentence by sentence.
type speech struct {
	*grammar
	words  []uint16 // of the sentence
	quoted []bool   // whether they stand in quotation marks
	quote  bool     // a quotation is open
	told   bool     // it was begun by a sentence about attacks
	word   [wordSize]byte
}

func (s *speech) read(text string) (reason string, ok bool) {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case unspaced(r):
			i = s.unspaced(text, i)
		case r < utf8.RuneSelf && !wordByte[byte(r)] || r == '_':
			if s.sign(text, i) || len(s.words) >= maxSentence {
				if reason, ok = s.judge(); ok {
					return reason, true
				}
			}
			i++
		default:
			end, address := s.next(text, i)
			if end == i {
				if s.wideSign(r) {
					if reason, ok = s.judge(); ok {
						return reason, true
					}
				}
				end += size
			}
			if address {
				end = i + len(text[i:]) - len(strings.TrimLeftFunc(text[i:], func(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("\")>。、”」》", r) }))
			}
			i = end
		}
		if len(s.words) >= maxSentence {
			if reason, ok = s.judge(); ok {
				return reason, true
			}
		}
	}
	return s.judge()
}

// unspaced reports whether r is of a script whose words are found by the words that there
// are: no spaces part them, or endings that stick to them follow.
func unspaced(r rune) bool {
	return r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 || r == '々'
}

// unspaced reads a word of such a script, the longest that is known, or a character.
// Spaces between characters are no part of Chinese and Japanese, and are left out.
func (s *speech) unspaced(text string, i int) (end int) {
	first, size := utf8.DecodeRuneInString(text[i:])
	end = i + size
	n, id := copy(s.word[:], text[i:end]), unknownWord
	longest := min(s.signs[first], wordSize)
	for at := end; ; {
		if found := s.ids[string(s.word[:n])]; found != unknownWord {
			id, end = found, at
		}
		if first < 0xAC00 {
			for spaces := at; spaces < len(text) && (text[spaces] == ' ' || text[spaces] == '\t'); {
				spaces++
				if r, _ := utf8.DecodeRuneInString(text[spaces:]); unspaced(r) {
					at = spaces
				}
			}
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unspaced(r) || n+size > longest {
			s.put(id)
			return end
		}
		n += copy(s.word[n:], text[at:at+size])
		at += size
	}
}

// put adds a word to the sentence.
func (s *speech) put(id uint16) {
	s.words, s.quoted = append(s.words, id), append(s.quoted, s.quote)
}

// next reads the word at i and notes it.
func (s *speech) next(text string, i int) (end int, address bool) {
	n, size, figures := 0, 0, 0
	for end = i; end < len(text); end += size {
		r := rune(text[end])
		size = 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[end:])
			if ignorable(r) || combines(r) {
				continue
			}
		}
		switch f := folded(r); {
		case r == 'ß':
			n = s.letter(s.letter(n, 's'), 's')
		case f < utf8.RuneSelf && alnum[byte(f)]:
			n = s.letter(n, f)
			if digits[byte(f)] {
				figures++
			}
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)) && !unspaced(r):
			n = s.letter(n, f)
		default:
			return end, s.note(text, end, n, figures)
		}
	}
	return end, s.note(text, end, n, figures)
}

// combines reports whether r is drawn over the character before it.
func combines(r rune) bool { return r >= 0x300 && r <= 0x36F || r >= 0x20D0 && r <= 0x20FF }

// letter adds a letter to a word of n bytes; those that are too long only grow.
func (s *speech) letter(n int, r rune) int {
	if n+utf8.RuneLen(r) > len(s.word) {
		return len(s.word) + 1
	}
	return n + utf8.EncodeRune(s.word[n:], r)
}

// note adds the word of n bytes that ends at end, of which so many are figures. It
// reports whether that was the beginning of an address.
func (s *speech) note(text string, end, n, figures int) bool {
	if n == 0 {
		return false
	}
	id := unknownWord
	address := end+2 < len(text) && (text[end] == ':' && text[end+1] == '/' && text[end+2] == '/' || text[end] == '@' && alnum[text[end+1]])
	switch {
	case address:
		id = addressWord
	case n <= len(s.word):
		id = s.known(s.word[:n])
		if id == unknownWord && figures > 0 && figures < n {
			id = s.figured(s.word[:n])
		}
	}
	s.put(id)
	return address
}

// figured returns the number of a word in which figures stand for letters.
func (s *speech) figured(w []byte) uint16 {
	const figures = "013457"
	for _, letters := range [...]string{"oieast", "oleast"} {
		var as [wordSize]byte
		n := copy(as[:], w)
		for i, c := range as[:n] {
			if at := strings.IndexByte(figures, c); at >= 0 {
				as[i] = letters[at]
			}
		}
		if id := s.known(as[:n]); id != unknownWord {
			return id
		}
	}
	return unknownWord
}

// sign reads what stands between words, and reports whether a sentence ends there.
func (s *speech) sign(text string, i int) bool {
	switch c := text[i]; c {
	case ':':
		if i+1 == len(text) || !alnum[text[i+1]] { // not "system:masters"
			s.put(colonWord)
		}
	case '_':
		if i > 0 && i+1 < len(text) && alnum[text[i-1]] && alnum[text[i+1]] {
			s.put(lineWord)
		}
	case '"':
		s.quote = !s.quote
	case '`':
		if i+1 == len(text) || text[i+1] != c && (i == 0 || text[i-1] != c) { // no fence
			s.quote = !s.quote
		}
	case '.', '!', '?', ';':
		return i+1 == len(text) || text[i+1] <= ' ' || text[i+1] == '"' || text[i+1] == '\'' || text[i+1] == '<'
	case '|':
		return true
	case '\n':
		rest := strings.TrimLeft(text[i+1:min(len(text), i+16)], " \t\r>*")
		if rest != "" && rest[0] == '\n' {
			s.quote = false // quotations do not go on in the next paragraph
		}
		return rest == "" || strings.IndexByte("\n#-+=`|<[", rest[0]) >= 0 || digits[rest[0]] || text[i+1] == '*'
	}
	return false
}

// wideSign reads a sign that is not of ASCII, and reports whether a sentence ends there.
func (s *speech) wideSign(r rune) bool {
	switch r {
	case '：':
		s.put(colonWord)
	case '“':
		s.quote = !s.quote // it closes in German
	case '„', '«', '「', '『', '《':
		s.quote = true
	case '”', '»', '」', '』', '》':
		s.quote = false
	case '。', '！', '？', '；':
		return true
	}
	return false
}

// judge looks for patterns in the sentence, and forgets it. What a sentence about attacks
// quotes is no order, nor is what it says that somebody tries to do.
func (s *speech) judge() (reason string, ok bool) {
	words := s.words
	about := s.about()
	s.words, s.quoted = s.words[:0], s.quoted[:0]
	for i, id := range words {
		if id == unknownWord || about && i > 0 && s.under[words[i-1]] {
			continue
		}
		for _, p := range s.starts[id] {
			if i > 0 && (p.first && words[i-1] != colonWord || p.not[words[i-1]]) {
				continue
			}
			if s.match(p.steps[1:], words[i+1:]) {
				return p.reason, true
			}
		}
	}
	return "", false
}

// about reports whether the sentence is about attacks, and blanks what that one quotes.
func (s *speech) about() bool {
	about := false
	for i, id := range s.words {
		about = about || s.attacks[id] && !s.quoted[i]
	}
	if about || s.told {
		for i := range s.words {
			if s.quoted[i] {
				s.words[i] = unknownWord
			}
		}
	}
	s.told = (about || s.told) && s.quote
	return about
}
