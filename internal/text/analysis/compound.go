package analysis

import (
	"strings"
	"unicode/utf8"
)

// levels lists the separators of a compound, from the loosest to the tightest: a path consists of
// names, a name of words.
var levels = [...]uint8{path, dot, dash, apostr}

// span emits the terms of a word or compound that starts at offset at.
func (t *tokenizer) span(s string, at int, joined bool) {
	if !joined {
		t.word(s, at)
		return
	}
	t.compound(trimPossessive(s), at, 0)
}

func (t *tokenizer) compound(s string, at, level int) {
	if level == len(levels) {
		t.word(s, at)
		return
	}
	sep := levels[level]
	switch first := nextSep(s, sep); {
	case first < 0:
		t.compound(s, at, level+1)
		return
	case sep == dot && numeric(s):
		t.numbers(s, at)
		return
	case sep != apostr:
		t.whole(s, at)
	}
	for limit := at + len(s); s != ""; {
		end := nextSep(s, sep)
		if end < 0 {
			end = len(s)
		}
		if part := s[:end]; part != "" {
			t.compound(part, limit-len(s), level+1)
		}
		s = s[end:]
		for s != "" {
			r, size := decode(s)
			if !separates(r, sep) {
				break
			}
			s = s[size:]
		}
		if sep == apostr && contracted(s) {
			return
		}
	}
}

// nextSep returns the offset of the next separator of the given kind, or -1.
func nextSep(s string, sep uint8) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < utf8.RuneSelf {
			if separates(rune(c), sep) {
				return i
			}
			continue
		}
		if s[i] != 0xe2 { // the lead byte of the non-ASCII separators
			continue
		}
		if r, _ := decode(s[i:]); separates(r, sep) {
			return i
		}
	}
	return -1
}

func separates(r rune, sep uint8) bool {
	k := kind(r)
	return k == sep || k == comma && sep == dot
}

// trimPossessive removes a final 's.
func trimPossessive(s string) string {
	if len(s) < 3 || s[len(s)-1]|0x20 != 's' {
		return s
	}
	head := s[:len(s)-1]
	if h, ok := strings.CutSuffix(head, "'"); ok {
		return h
	}
	if h, ok := strings.CutSuffix(head, "’"); ok {
		return h
	}
	return s
}

// contracted reports whether s is the part of an English contraction after the apostrophe, such as
// the t of don't.
func contracted(s string) bool {
	switch strings.ToLower(s) {
	case "s", "t", "d", "m", "ll", "re", "ve":
		return true
	}
	return false
}

// numeric reports whether s consists of ASCII digits, dots and commas.
func numeric(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && c != '.' && c != ',' {
			return false
		}
	}
	return true
}

// numbers emits a number without its grouping commas, or each number of a list written without
// spaces.
func (t *tokenizer) numbers(s string, at int) {
	whole, _, _ := strings.Cut(s, ".")
	if grouped(whole) && !strings.Contains(s[len(whole):], ",") {
		t.number(strings.ReplaceAll(s, ",", ""), at, at+len(s))
		return
	}
	for n := range strings.SplitSeq(s, ",") {
		t.number(n, at, at+len(n))
		at += len(n) + len(",")
	}
}

// grouped reports whether the commas of s separate groups of three digits. It is true for a number
// without commas.
func grouped(s string) bool {
	lead, rest, found := strings.Cut(s, ",")
	if !found {
		return true
	}
	if len(lead) == 0 || len(lead) > 3 {
		return false
	}
	for group := range strings.SplitSeq(rest, ",") {
		if len(group) != 3 {
			return false
		}
	}
	return true
}

func (t *tokenizer) number(s string, start, end int) {
	if s != "" {
		t.start, t.end = start, end
		t.emitPart(s[:min(len(s), MaxTermRunes)])
	}
}

// whole emits a compound as one term: normalised, in lower case, not stemmed.
func (t *tokenizer) whole(s string, at int) {
	if len(s) > MaxTermRunes*utf8.UTFMax || utf8.RuneCountInString(s) > MaxTermRunes {
		return
	}
	t.fold(s)
	for i, c := range t.buf {
		if c == '\\' {
			t.buf[i] = '/'
		}
	}
	t.start, t.end = at, at+len(s)
	t.emitFolded()
}
