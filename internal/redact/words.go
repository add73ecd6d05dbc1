package redact

import (
	"strings"
	"unicode/utf8"
)

// proseWord is a word of a text, or a quotation.
type proseWord struct {
	start, end int    // without quotes and punctuation
	w          string // in lower case
	quoted     bool
	mark       byte // the sign after it: one of , . ; : = ! ? ) - / and 'n' for the end of a line, or 0
}

// Bounds of what is read around a word for a secret.
const (
	maxTokens = 28
	maxAfter  = 320
	maxBefore = 160
)

// marksClause holds the marks that end a clause.
var marksClause = setOf(",.;:=!?)n/\\-")

// ends reports whether a sentence ends after t.
func (t proseWord) ends() bool { return t.mark != 0 && strings.IndexByte(".!?n", t.mark) >= 0 }

// proseWords reads the words of text[i:to], at most maxTokens. It stops at a redaction and at the end of a line.
func (p *scanner) proseWords(i, to int) []proseWord {
	s, out := p.s, make([]proseWord, 0, maxTokens)
	to = min(to, len(s))
	mark := func(c byte) {
		if n := len(out); n > 0 && (out[n-1].mark == 0 || out[n-1].mark == ')') {
			out[n-1].mark = c
		}
	}
	for i = blanks(s, i); i < to && len(out) < maxTokens; i = blanks(s, i) {
		if s[i] == '\n' || s[i] == '\r' {
			mark('n')
			break
		}
		end := i
		for end < len(s) && end-i < maxValue && s[end] > ' ' && !strings.HasPrefix(s[end:], "\u00a0") {
			end++
		}
		switch {
		case strings.HasPrefix(s[i:], markerStart):
			mark('n')
			return out
		case strings.IndexByte("-/|=:?!,;.", s[i]) >= 0 && (end == i+1 || strings.Trim(s[i:end], s[i:i+1]) == ""),
			s[i:end] == "->", s[i:end] == "=>", s[i:end] == ":=":
			c := s[i]
			switch {
			case c == '|':
				c = '-'
			case end == i+2 && s[i+1] != c: // -> => :=
				c = ':'
			}
			mark(c)
			i = end
			continue
		case strings.HasPrefix(s[i:], "–") || strings.HasPrefix(s[i:], "—") || strings.HasPrefix(s[i:], "→"):
			mark('-')
			i += len("–")
			continue
		}
		t, next := p.cachedWord(i, end)
		if t.start < t.end {
			out = append(out, t)
		}
		i = max(next, i+1)
	}
	if i >= len(s) {
		mark('n')
	}
	return out
}

// cachedWords is more than half of the bytes of a window. Words begin two bytes apart or more, with few exceptions, so those of one
// window hardly displace each other.
const cachedWords = 256

// readWord is a word with the bounds of the run that it was read from, and where the next begins.
type readWord struct {
	start, end, next int
	word             proseWord
}

// cachedWord is proseWord, but reads a word once for all windows that overlap.
func (p *scanner) cachedWord(i, end int) (proseWord, int) {
	if p.words == nil {
		p.words = new([cachedWords]readWord)
	}
	w := &p.words[i/2%cachedWords]
	if w.start != i || w.end != end {
		t, next := p.proseWord(i, end)
		*w = readWord{i, end, next, t}
	}
	return w.word, w.next
}

// proseWord reads the word in the run without spaces text[i:end], and returns where the next begins.
func (p *scanner) proseWord(i, end int) (proseWord, int) {
	s := p.s
	for i < end && strings.IndexByte("([{*_", s[i]) >= 0 {
		i++
	}
	if start, stop, ok := p.quotation(i); ok {
		next := stop
		for next < len(s) && s[next] > ' ' && strings.IndexByte("\"'`*<", s[next]) >= 0 || strings.HasPrefix(s[next:], "”") ||
			strings.HasPrefix(s[next:], "“") || strings.HasPrefix(s[next:], "»") {
			next++
			for next < len(s) && !utf8.RuneStart(s[next]) {
				next++
			}
		}
		t := proseWord{start: start, end: stop, w: strings.ToLower(s[start:stop]), quoted: true}
		if next < len(s) && marksClause[s[next]] && s[next] != 'n' && s[next] != '\\' {
			t.mark = s[next]
			next++
		}
		return t, next
	}
	for i < end && strings.IndexByte("\"'`", s[i]) >= 0 {
		i++
	}
	if i < end && s[i] >= utf8.RuneSelf {
		for _, open := range [...]string{"“", "„", "«", "‘", "¿", "¡"} {
			if strings.HasPrefix(s[i:end], open) {
				i += len(open)
			}
		}
	}
	if dash := strings.Index(s[i:end], "—"); dash > 0 {
		end = i + dash
	}
	if i >= end {
		return proseWord{}, end
	}
	stop := i + cut(s[i:end], false)
	t := proseWord{start: i, end: stop, w: strings.ToLower(strings.TrimRight(s[i:stop], "!"))}
	for _, c := range []byte(s[max(i, stop-1):end]) {
		if strings.IndexByte(",.;:=!?)", c) >= 0 && (t.mark == 0 || t.mark == ')') {
			t.mark = c
		}
	}
	return t, end
}

// quotation returns the bounds of the text within quotes that begins at i.
func (p *scanner) quotation(i int) (start, end int, ok bool) {
	s := p.s
	if i+1 < len(s) && s[i] == 'b' && (s[i+1] == '"' || s[i+1] == '\'') { // of Python
		i++
	}
	if i < len(s) && wordByte[s[i]] {
		return 0, 0, false
	}
	for _, q := range quotes {
		if !strings.HasPrefix(s[i:], q.open) {
			continue
		}
		start = i + len(q.open)
		line, _, _ := strings.Cut(s[start:min(len(s), start+maxValue)], "\n")
		n := strings.Index(line, q.close)
		if n < 0 || strings.Contains(line[:n], markerStart) {
			return 0, 0, false
		}
		trimmed := strings.TrimSpace(line[:n])
		start += strings.Index(line[:n], trimmed)
		return start, start + len(trimmed), true
	}
	return 0, 0, false
}

// sentenceStart returns the start of the sentence that contains i, at most maxBefore bytes before it.
func (p *scanner) sentenceStart(i int) int {
	s, least := p.s, max(0, i-maxBefore)
	for at := i; at > least; at-- {
		switch s[at-1] {
		case '\n', ']':
			return at
		case '.', '!', '?', ';':
			if at < len(s) && s[at] <= ' ' {
				return at
			}
		}
	}
	for least > 0 && least < i && s[least-1] > ' ' {
		least++ // not within a word
	}
	return least
}

// allNumerals reports whether v consists of numbers in words.
func allNumerals(v string) bool {
	for w := range strings.FieldsSeq(v) {
		if !numerals[w] {
			return false
		}
	}
	return v != ""
}
