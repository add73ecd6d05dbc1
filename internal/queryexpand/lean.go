package queryexpand

import (
	"strings"
	"unicode/utf8"
)

// How much a question leans on what came before, by what shows it; chosen with the
// weights of the messages.
const (
	leanRefers = 1.0 // a word that stands for something said before
	leanLinks  = 0.8 // a word that continues something
	leanShort  = 0.6 // hardly a word of its own
)

const (
	// shortest is the number of words of its own with which a question may still
	// be about what was said before although nothing else shows it. With 3, nDCG@10
	// of follow-up questions rises by another .06; but "how often are backups taken"
	// has 2 and stands by itself: after another topic the questions of
	// testdata/relevance lose .02 of MRR at 2 and .03 at 3, and next to nothing at 1.
	shortest = 1
	// compound is the number of letters from which a word counts as two.
	compound = 13
	// easy is the number of words of its own that a question may have without
	// leaning less, and longest that from which it does not lean at all.
	easy    = 4
	longest = 12
	// mostWords is how many words of a question are looked at; one with more has
	// enough of its own.
	mostWords = 60
)

// lean returns how much a question leans on what was said before, 0 to 1.
func lean(words []word, l *lexicon) float64 {
	if len(words) == 0 || len(words) >= mostWords || says(words, l.turns) {
		return 0
	}
	words = l.unfilled(words)
	l.parse(words)
	own, said := l.own(words)
	strength := 0.0
	switch {
	case own > longest:
	case own == 0, l.standsFor(words, said):
		strength = leanRefers
	case l.continues(words):
		strength = leanLinks
	case own <= shortest && l.phrase(words):
		strength = leanShort
	}
	return strength * min(1, easy/float64(max(own, 1)))
}

// unfilled returns the words without those before the question that say nothing.
func (l *lexicon) unfilled(words []word) []word {
	for i, w := range words {
		if !l.fillers[w.text] {
			return words[i:]
		}
	}
	return words
}

// parse numbers the clauses that words begin, not signs.
func (l *lexicon) parse(words []word) {
	shift := 0
	for i := range words {
		if i > 0 && l.breaks[words[i].text] {
			shift++
		}
		words[i].clause += shift
	}
}

// said is what a question has said before a word of it.
type said struct {
	earlier bool // an earlier clause says something
	words   int  // that say something, of any clause
}

// own returns how many words say what the question is about, and what is said
// before each word.
func (l *lexicon) own(words []word) (n int, before []said) {
	before = make([]said, len(words))
	told := -1 // the first clause that says something
	for i, w := range words {
		before[i] = said{told >= 0 && told < w.clause, n}
		if l.small(w.text) {
			continue
		}
		n++
		if utf8.RuneCountInString(w.text) >= compound {
			n++
		}
		if told < 0 {
			told = w.clause
		}
	}
	return n, before
}

// antecedents is the number of words after which a word is taken to stand for one
// of them.
const antecedents = 3

// standsFor reports whether a word stands for something that the question itself
// does not say before.
func (l *lexicon) standsFor(words []word, before []said) bool {
	for i, w := range words {
		if before[i].earlier || before[i].words >= antecedents {
			continue
		}
		polite := w.text == "sie" && w.upper && !w.first
		switch {
		case l.points[w.text] && l.alone(words, i),
			l.refers[w.text] && !polite && !l.empty(words, i),
			l.owners[w.text] && before[i].words == 0, // and not "does Lantern keep its logs"
			l.places[w.text] && !l.exists(words, i),
			l.objects[w.text] && i > 0 && l.subject[words[i-1].text] && (i == 1 || words[i-2].text != "t"), // garde-t-on les …
			l.infinitives && carries(w.text):
			return true
		}
	}
	return false
}

// alone reports whether no noun follows the demonstrative at i. One after a word
// that says something begins a relative clause ("files that were deleted"), or
// belongs to a name.
func (l *lexicon) alone(words []word, i int) bool {
	if i+1 == len(words) || words[i+1].clause != words[i].clause {
		return true
	}
	if next := words[i+1].text; !l.small(next) || next == "of" {
		return false
	}
	return i == 0 || l.small(words[i-1].text) && !(words[i].text == "that" && l.joins[words[i-1].text])
}

// exists reports whether "there" at i only says that there is something, or that
// something "is already there".
func (l *lexicon) exists(words []word, i int) bool {
	for j := max(0, i-2); j < min(len(words), i+2); j++ {
		if l.being[words[j].text] && words[j].clause == words[i].clause {
			return true
		}
	}
	return false
}

// empty reports whether the pronoun at i stands for nothing: "is it safe to …",
// "gibt es", "does it take long to …".
func (l *lexicon) empty(words []word, i int) bool {
	switch words[i].text {
	case "it":
		for j := i + 1; j < min(len(words), i+5); j++ {
			if words[j].clause != words[i].clause {
				return false
			}
			if t := words[j].text; t == "that" || t == "to" && j > i+1 {
				return i > 0 && (l.being[words[i-1].text] || words[j-1].text == "take") || l.being[words[i+1].text]
			}
		}
	case "es":
		return i > 0 && (words[i-1].text == "gibt" || words[i-1].text == "gab") || i+1 < len(words) && words[i+1].text == "gibt"
	}
	return false
}

// carries reports whether a Spanish verb has its object at its end: borrarlo.
func carries(w string) bool {
	for _, end := range [...]string{"lo", "la", "los", "las", "le", "les"} {
		verb, ok := strings.CutSuffix(w, end)
		if ok && len(verb) > 3 && (strings.HasSuffix(verb, "ar") || strings.HasSuffix(verb, "er") || strings.HasSuffix(verb, "ir")) {
			return true
		}
	}
	return false
}

// continues reports whether the question goes on from something.
func (l *lexicon) continues(words []word) bool {
	if l.openers[words[0].text] || begins(words, l.phrases) {
		return true
	}
	for i, w := range words {
		last := i+1 == len(words) || words[i+1].clause != w.clause
		if l.links[w.text] || last && l.tails[w.text] {
			return true
		}
	}
	return false
}

// phrase reports whether the words are more than search terms in a row, which are
// no part of a conversation. The s of a possessive makes no phrase.
func (l *lexicon) phrase(words []word) bool {
	for _, w := range words {
		if l.small(w.text) && w.text != "s" {
			return true
		}
	}
	return false
}

// says reports whether one of the phrases is among the words.
func says(words []word, phrases []string) bool {
	for i := range words {
		if begins(words[i:], phrases) {
			return true
		}
	}
	return false
}

// begins reports whether the words begin with one of the phrases.
func begins(words []word, phrases []string) bool {
	for _, p := range phrases {
		n := 0
		for part := range strings.FieldsSeq(p) {
			if n >= len(words) || words[n].text != part {
				n = -1
				break
			}
			n++
		}
		if n > 0 {
			return true
		}
	}
	return false
}
