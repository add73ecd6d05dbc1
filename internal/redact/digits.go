package redact

import (
	"slices"
	"strings"
)

// numeric redacts a PIN or code at the start of toks.
func (p *phrase) numeric(toks []proseWord) bool {
	first, end := p.figures(toks)
	if end <= first || !p.mask(toks[first].start, toks[end-1].end) {
		return false
	}
	if strings.HasSuffix(p.noun, "s") && end < len(toks) { // recovery codes are several
		rest := toks[end:]
		for len(rest) > 0 && conjunctions[rest[0].w] {
			rest = rest[1:]
		}
		p.numeric(rest)
	}
	return true
}

// figures returns the words at the start of toks that are a PIN or code: digits in one or more groups, words for
// digits, or letters and digits.
func (p *phrase) figures(toks []proseWord) (first, end int) {
	n := 0
	for n < len(toks) && articles[toks[n].w] && toks[n].mark == 0 {
		n++
	}
	if n < len(toks) && p.c == pin && p.strong(toks[n]) && toks[n].end-toks[n].start >= 8 && p.plausible(toks[n]) {
		return n, n + 1
	}
	first, last, figures, words := n, -1, 0, 0
	for ; n < len(toks) && n < first+14; n++ {
		t := toks[n]
		v := strings.Trim(p.s[t.start:t.end], "#*")
		switch {
		case t.quoted && n > first:
			n = len(toks)
			continue
		case numerals[t.w] || t.quoted && allNumerals(t.w):
			words += len(strings.Fields(t.w))
			last = n
		case codeGroup(strings.ReplaceAll(v, " ", "")):
			figures += countDigits(v)
			last = n
		case n > first && codeFillers[t.w]:
		default:
			n = len(toks)
			continue
		}
		if t.closes() && t.mark != ',' && t.mark != '-' || t.mark == ',' && n+1 < len(toks) && figures > 3 && !codeFillers[t.w] {
			break
		}
	}
	least := 3
	if p.c == pin {
		least = 4
	}
	if last < 0 || figures < least && words < 3 || figures > 40 {
		return 0, 0
	}
	for last+1 < len(toks) && codeFillers[toks[last+1].w] && toks[last].mark == 0 {
		last++
	}
	return first, last + 1
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

// codeGroup reports whether v is a part of a code: digits, perhaps with letters and signs between.
func codeGroup(v string) bool {
	if v == "" || len(v) > 24 || identifier(v) || strings.ContainsAny(v, "/=:@$%()<>_") {
		return false
	}
	n := countDigits(v)
	return n == len(v) || n > 0 && strings.Trim(v, "0123456789-.#*") == "" && !strings.Contains(v, ".") || n >= 3 || n >= 2 &&
		len(v) >= 4 && len(v) <= 12
}

// spelled redacts a code in words at the numeral text[i:j], next to a word for what it opens: "the door opens with
// nine nine two five". It returns where the scan continues.
func (p *scanner) spelled(i, j int) int {
	toks := p.proseWords(i, i+maxAfter)
	n := 0
	for n < len(toks) && numerals[toks[n].w] && !toks[n].quoted {
		if n++; toks[n-1].closes() && toks[n-1].mark != ',' {
			break
		}
	}
	if n < 4 {
		return j
	}
	if near := before(p.s, i, 64); slices.ContainsFunc(opened, func(w string) bool { return strings.Contains(near, w) }) {
		p.add(AccessCode, i, toks[n-1].end)
	}
	return toks[n-1].end
}

// opened are words for what a code opens.
var opened = strings.Fields(`door gate safe alarm lock keypad open garage tür tor tresor schloss öffne porte portail coffre ouvr
puerta portón
	abre pin code alarma alarme candado cadenas padlock locker combo`)
