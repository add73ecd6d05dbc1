package screen

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A step of a pattern is a set of words, after up to gap others.
type step struct {
	words map[uint16]bool
	gap   int
}

// A pattern is a row of steps within a sentence.
type pattern struct {
	reason string
	first  bool // only at the start of a sentence
	steps  []step
}

// grammar is all patterns by the words that they begin with.
type grammar struct {
	ids    map[string]uint16
	starts map[uint16][]*pattern
}

// Words that are none.
const (
	unknownWord uint16 = iota
	colonWord          // :
	addressWord        // a URL or the address of a mail
)

// compile reads patterns, one in a line under its reason: "ignore|forget ..2
// previous|prior rules". A word with a dollar stands for one of the named sets, ..n
// lets up to n words stand between, a hat asks for the start of a sentence.
func compile(sets map[string]string, patterns map[string]string) *grammar {
	g := &grammar{ids: map[string]uint16{"": unknownWord, ":": colonWord, "@": addressWord}, starts: map[uint16][]*pattern{}}
	reasons := make([]string, 0, len(patterns))
	for reason := range patterns {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		for line := range strings.Lines(patterns[reason]) {
			if line = strings.TrimSpace(line); line != "" {
				g.add(reason, line, sets)
			}
		}
	}
	return g
}

func (g *grammar) add(reason, line string, sets map[string]string) {
	p := &pattern{reason: reason}
	line, p.first = strings.CutPrefix(line, "^")
	gap := 0
	for field := range strings.FieldsSeq(line) {
		if n, ok := strings.CutPrefix(field, ".."); ok {
			gap, _ = strconv.Atoi(n) // a pattern of ours
			continue
		}
		s := step{words: map[uint16]bool{}, gap: gap}
		for w := range strings.SplitSeq(field, "|") {
			if name, ok := strings.CutPrefix(w, "$"); ok {
				for w := range strings.FieldsSeq(sets[name]) {
					s.words[g.id(w)] = true
				}
				continue
			}
			s.words[g.id(w)] = true
		}
		p.steps, gap = append(p.steps, s), 0
	}
	for id := range p.steps[0].words {
		g.starts[id] = append(g.starts[id], p)
	}
}

// id returns the number of a word, as it is read.
func (g *grammar) id(w string) uint16 {
	key := strings.Map(folded, w)
	id, ok := g.ids[key]
	if !ok {
		id = uint16(len(g.ids))
		g.ids[key] = id
	}
	return id
}

// match reports whether the steps of p fit the words from the first on.
func match(steps []step, words []uint16) bool {
	if len(steps) == 0 {
		return true
	}
	for skip := 0; skip <= steps[0].gap && skip < len(words); skip++ {
		if steps[0].words[words[skip]] && match(steps[1:], words[skip+1:]) {
			return true
		}
	}
	return false
}

// maxSentence bounds a sentence in words; longer ones are read in parts.
const maxSentence = 256

// speech reads a text sentence by sentence.
type speech struct {
	*grammar
	words []uint16 // of the sentence
	word  [24]byte // that is being read
}

func (s *speech) read(text string) (reason string, ok bool) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf && !wordByte[c] || c == '_' {
			if s.sign(text, i) || len(s.words) >= maxSentence {
				if reason, ok = s.judge(); ok {
					return reason, true
				}
			}
			i++
			continue
		}
		end, address := s.next(text, i)
		if end == i {
			i += runeLen(text, i)
			continue
		}
		if address {
			end = i + len(text[i:]) - len(strings.TrimLeftFunc(text[i:], func(r rune) bool { return !unicode.IsSpace(r) && r != '"' && r != ')' && r != '>' }))
		}
		i = end
	}
	return s.judge()
}

// next reads the word at i and notes it.
func (s *speech) next(text string, i int) (end int, address bool) {
	n, size := 0, 0
	for end = i; end < len(text); end += size {
		r := rune(text[end])
		size = 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[end:])
			if ignorable(r) {
				continue
			}
		}
		switch f := folded(r); {
		case r == 'ß':
			n = s.put(s.put(n, 's'), 's')
		case f < utf8.RuneSelf && alnum[byte(f)]:
			n = s.put(n, byte(f))
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)):
			n = s.put(n, '?') // of a script without patterns
		default:
			return end, s.note(text, end, n)
		}
	}
	return end, s.note(text, end, n)
}

func (s *speech) put(n int, c byte) int {
	if n < len(s.word) {
		s.word[n] = c
	}
	return n + 1
}

// note adds the word of n bytes that ends at end. It reports whether that was the
// beginning of an address.
func (s *speech) note(text string, end, n int) bool {
	if n == 0 {
		return false
	}
	id := unknownWord
	address := end+2 < len(text) && (text[end] == ':' && text[end+1] == '/' && text[end+2] == '/' || text[end] == '@' && alnum[text[end+1]])
	switch {
	case address:
		id = addressWord
	case n <= len(s.word):
		id = s.ids[string(s.word[:n])]
	}
	s.words = append(s.words, id)
	return address
}

// sign reads what stands between words, and reports whether a sentence ends there.
func (s *speech) sign(text string, i int) bool {
	switch c := text[i]; c {
	case ':':
		if i+1 == len(text) || !alnum[text[i+1]] { // not "system:masters"
			s.words = append(s.words, colonWord)
		}
	case '.', '!', '?', ';':
		return i+1 == len(text) || text[i+1] <= ' ' || text[i+1] == '"' || text[i+1] == '\'' || text[i+1] == '<'
	case '|':
		return true
	case '\n':
		rest := strings.TrimLeft(text[i+1:min(len(text), i+16)], " \t\r>*")
		return rest == "" || strings.IndexByte("\n#-+=`|<[", rest[0]) >= 0 || digits[rest[0]] || text[i+1] == '*'
	}
	return false
}

// judge looks for patterns in the sentence, and forgets it.
func (s *speech) judge() (reason string, ok bool) {
	words := s.words
	s.words = s.words[:0]
	for i, id := range words {
		if id == unknownWord {
			continue
		}
		for _, p := range s.starts[id] {
			if (!p.first || i == 0 || words[i-1] == colonWord) && match(p.steps[1:], words[i+1:]) {
				return p.reason, true
			}
		}
	}
	return "", false
}
