package redact

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// step of a pattern is a set of words, after at most gap other words. A strict step allows no
// negation among those.
type step struct {
	words  map[uint16]bool
	gap    int
	strict bool
}

// pattern is a sequence of steps within a sentence.
type pattern struct {
	reason string
	first  bool            // only at the start of a sentence
	not    map[uint16]bool // words that must not precede it
	steps  []step
}

// grammar indexes all patterns by their first word.
type grammar struct {
	ids    map[string]uint16
	starts map[uint16][]*pattern
	stems  map[string]bool // lookup stems of words
	signs  map[rune]int    // scripts without spaces: the longest word by its first character
	// negations negate; attacks are words of texts about attacks; under precede a verb that is not
	// an order.
	negations, attacks, under map[uint16]bool
}

// Tokens that are not words.
const (
	unknownWord uint16 = iota
	colonWord          // :
	addressWord        // a URL or mail address
	lineWord           // the underscore within an identifier
)

// compile parses patterns, one per line, grouped by their reason: "ignore|forget ..2 previous|prior
// rules". $ names a word set; a trailing * matches all words with that stem. ..n allows up to n
// words between, ..n! only if none negates. ^ anchors at the start of a sentence. Words after a
// minus must not precede the pattern.
func compile(sets map[string]string, patterns ...map[string]string) *grammar {
	g := &grammar{
		ids:    map[string]uint16{"": unknownWord, ":": colonWord, "@": addressWord, "_": lineWord},
		starts: map[uint16][]*pattern{}, stems: map[string]bool{}, signs: map[rune]int{},
	}
	for name := range sets {
		g.set("$"+name, sets) // a longer word outside all patterns hides a shorter one
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
			next.gap, _ = strconv.Atoi(n) // our own pattern
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

// set returns the words of a pattern's field.
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

// id returns the number of a folded word.
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

// leastStem is the least length of a stem in bytes.
const leastStem = 4

// lookup returns the number of a folded word, or of its stem.
func (g *grammar) lookup(w []byte) uint16 {
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

// match reports whether the steps match words from its start.
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

// maxSentence is the longest sentence in words; longer ones are read in parts.
const maxSentence = 256

// wordSize is the longest word in bytes that is looked up.
const wordSize = 48

// speech reads a text sentence by sentence.
type speech struct {
	*grammar
	words       []uint16 // of the current sentence
	quoted      []bool   // whether each word is quoted
	quote       bool     // inside a quotation
	attackQuote bool     // the open quotation belongs to a sentence about attacks
	word        [wordSize]byte
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
				end = i + len(text[i:]) - len(strings.TrimLeftFunc(text[i:],
					func(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("\")>。、”」》", r) }))
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

// unspaced reports whether r belongs to a script without spaces, or with endings that stick to
// words. Such words are found by the vocabulary.
func unspaced(r rune) bool {
	return r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 || r == '々'
}

// unspaced reads the longest known word of such a script, or one character. Spaces between Chinese
// and Japanese characters are ignored.
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

// put appends a word to the sentence.
func (s *speech) put(id uint16) {
	s.words, s.quoted = append(s.words, id), append(s.quoted, s.quote)
}

// next reads the word at i and appends it.
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

// combines reports whether r combines with the character before it.
func combines(r rune) bool { return r >= 0x300 && r <= 0x36F || r >= 0x20D0 && r <= 0x20FF }

// letter adds a letter to a word of n bytes. Beyond wordSize only the length grows.
func (s *speech) letter(n int, r rune) int {
	if n+utf8.RuneLen(r) > len(s.word) {
		return len(s.word) + 1
	}
	return n + utf8.EncodeRune(s.word[n:], r)
}

// note appends the word of n bytes that ends at end, given its number of figures. It reports
// whether an address begins there.
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
		id = s.lookup(s.word[:n])
		if id == unknownWord && figures > 0 && figures < n {
			id = s.leetWord(s.word[:n])
		}
	}
	s.put(id)
	return address
}

// leetWord returns the number of a word written with digits for letters.
func (s *speech) leetWord(w []byte) uint16 {
	const figures = "013457"
	for _, letters := range [...]string{"oieast", "oleast"} {
		var as [wordSize]byte
		n := copy(as[:], w)
		for i, c := range as[:n] {
			if at := strings.IndexByte(figures, c); at >= 0 {
				as[i] = letters[at]
			}
		}
		if id := s.lookup(as[:n]); id != unknownWord {
			return id
		}
	}
	return unknownWord
}

// sign reads a separator and reports whether it ends the sentence.
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
		if i+1 == len(text) || text[i+1] != c && (i == 0 || text[i-1] != c) { // not a fence
			s.quote = !s.quote
		}
	case '.', '!', '?', ';':
		return i+1 == len(text) || text[i+1] <= ' ' || text[i+1] == '"' || text[i+1] == '\'' || text[i+1] == '<'
	case '|':
		return true
	case '\n':
		rest := strings.TrimLeft(text[i+1:min(len(text), i+16)], " \t\r>*")
		if rest != "" && rest[0] == '\n' {
			s.quote = false // a quotation ends with its paragraph
		}
		return rest == "" || strings.IndexByte("\n#-+=`|<[", rest[0]) >= 0 || digits[rest[0]] || text[i+1] == '*'
	}
	return false
}

// wideSign reads a separator outside ASCII and reports whether it ends the sentence.
func (s *speech) wideSign(r rune) bool {
	switch r {
	case '：':
		s.put(colonWord)
	case '“':
		s.quote = !s.quote // closes a German quotation
	case '„', '«', '「', '『', '《':
		s.quote = true
	case '”', '»', '」', '』', '》':
		s.quote = false
	case '。', '！', '？', '；':
		return true
	}
	return false
}

// judge matches the patterns against the sentence and resets it. In a sentence about attacks,
// quotations and reported attempts are not orders.
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

// about reports whether the sentence is about attacks, and blanks its quotations.
func (s *speech) about() bool {
	about := false
	for i, id := range s.words {
		about = about || s.attacks[id] && !s.quoted[i]
	}
	if about || s.attackQuote {
		for i := range s.words {
			if s.quoted[i] {
				s.words[i] = unknownWord
			}
		}
	}
	s.attackQuote = (about || s.attackQuote) && s.quote
	return about
}
