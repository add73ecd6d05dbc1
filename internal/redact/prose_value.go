package redact

import (
	"slices"
	"strings"
)

// plausible reports whether t may be a value, by itself.
func (p *phrase) plausible(t proseWord) bool {
	v := p.s[t.start:t.end]
	return len(v) >= 3 && !placeholder(v) && !expression(v, "") && !predicate(t.w) && !prepositions[t.w] && !articles[t.w] &&
		!pronouns[t.w] &&
		!conjunctions[t.w] && !copulas[t.w] && !fillers[t.w] && !asking[t.w] && !accounts[t.w] && !owners[t.w] &&
		(!namesSecret(t.w) || countDigits(v) > 0 && !strings.HasPrefix(v, "1")) && !strings.HasSuffix(t.w, "'s") &&
		!strings.HasSuffix(t.w, "’s") && !identifier(v) && !digitsOnly(v, 1, 3) && !numerals[t.w] &&
		(!t.quoted || !describesSecret(v) || p.c == passphrase && strings.Count(v, " ") > 1) && !participle(t.w)
}

// random redacts t if it looks like a generated key or number of the class.
func (p *phrase) random(t proseWord) bool {
	end := t.start + len(strings.TrimRight(p.s[t.start:t.end], "!"))
	return believable(p.c, assigned, p.s[t.start:end], t.quoted, "", false) && p.mask(t.start, end)
}

func (p *phrase) maskWord(t proseWord) bool { return p.mask(t.start, t.end) }

func (p *phrase) strong(t proseWord) bool {
	v := p.s[t.start:t.end]
	return len(v) >= 5 && strongPassword(v) && countDigits(v) < len(v) && !strings.ContainsAny(v, "/=")
}

func (p *phrase) mask(start, end int) bool {
	if start >= end || p.touched(start, end) {
		return false
	}
	p.add(kindOf[p.c], start, end)
	return true
}

// take redacts the value that begins at the nth word after the word, if it does not describe the secret instead.
// A short value has at most four words.
func (p *phrase) take(n int, short bool) {
	for n+1 < len(p.after) && (fillers[p.word(n)] || becomes[p.word(n)] && n > 0 && changing[p.word(n-1)]) && (!p.after[n].closes() ||
		p.after[n].mark == ',') {
		n++
	}
	if n >= len(p.after) {
		return
	}
	toks := p.after[n:]
	first := toks[0]
	switch {
	case p.c == pin || p.c == code || p.c == password && (digitsOnly(first.w, 1, 12) || numerals[first.w]) && p.numeric(toks):
		p.numeric(toks)
	case p.c == secret && p.strong(first) && countDigits(first.w) > 1 && p.plausible(first):
		p.maskWord(first)
	case !chosen[p.c]:
		if !p.random(first) && p.c == secret && strings.Contains(first.w, "-") && countDigits(first.w) > 1 && p.plausible(first) {
			p.maskWord(first)
		}
	case first.quoted || p.c == password && p.strong(first):
		if p.plausible(first) {
			p.maskWord(first)
		}
	default:
		if span := p.span(toks); p.talks(span) || short && len(span) > 4 {
			p.explained(toks)
		} else {
			p.mask(span[0].start, span[len(span)-1].end)
		}
	}
}

// span returns the words of a value: up to the end of its clause, or a word that continues the sentence.
func (p *phrase) span(toks []proseWord) []proseWord {
	for n, t := range toks {
		if n > 0 && (stops[t.w] || conjunctions[t.w] || changing[t.w]) && p.c != passphrase {
			if (t.w == "and" || t.w == "und" || t.w == "et" || t.w == "y") && n+1 < len(toks) && toks[n+1].closes() &&
				p.plausible(toks[n+1]) {
				return toks[:n+2]
			}
			return toks[:n]
		}
		if t.closes() && t.mark != '/' || n == maxPhrase+12 {
			return toks[:n+1]
		}
	}
	return toks
}

// talks reports whether the words describe the secret instead of giving it.
func (p *phrase) talks(span []proseWord) bool {
	first, rest := span[0], span[1:]
	v := p.s[first.start:first.end]
	content := !slices.ContainsFunc(rest, func(t proseWord) bool {
		return predicate(t.w) || participle(t.w) || pronouns[t.w] || copulas[t.w] || namesSecret(t.w)
	})
	plain := content && !slices.ContainsFunc(rest, func(t proseWord) bool { return prepositions[t.w] || articles[t.w] || becomes[t.w] })
	switch {
	case placeholder(v) || expression(v, "") || identifier(v) || namesSecret(first.w) || strings.HasSuffix(first.w, "'s") ||
		strings.HasSuffix(first.w, "’s"):
		return true
	case len(rest) > 0 && participle(rest[len(rest)-1].w), slices.ContainsFunc(rest, func(t proseWord) bool { return namesSecret(t.w) }):
		return true
	case p.noun == "clave" && len(rest) > 0 && ending(first.w, "ar", "er", "ir"):
		return true // "la clave es descansar bien"
	case p.c == answer:
		return predicates[first.w] && !articles[first.w] || articles[first.w] && len(span) > 1 && predicate(span[1].w)
	case p.c == passphrase && articles[first.w]:
		return len(span) < 4 || !content
	case adjectives[first.w] || participle(first.w) && !predicates[first.w]:
		return len(span) < 3 || !plain
	case digitsOnly(v, 1, 3) && len(span) < 3 || len(v) < 3 && len(span) < 2:
		return true
	}
	return predicate(first.w) || prepositions[first.w] || articles[first.w] || pronouns[first.w] || conjunctions[first.w] ||
		copulas[first.w] ||
		len(rest) > 0 && (rest[0].w == "than" || rest[0].w == "als" || rest[0].w == "que")
}

// explained redacts the value after a description: "is the name of our dog, so …", "i.e. …".
func (p *phrase) explained(toks []proseWord) {
	for n := 1; n+1 < len(toks) && n < 16 && !toks[n-1].ends(); n++ {
		t := toks[n+1]
		if (namely[toks[n].w] || hence[toks[n].w] && p.strong(t)) && p.plausible(t) && t.mark != '/' {
			p.maskWord(t)
			return
		}
	}
}
