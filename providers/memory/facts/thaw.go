package facts

import (
	"regexp"
	"slices"
	"strings"
)

// thaws reports whether a statement says that a freeze, or what holds until further notice, is over: "back to normal".
func thaws(n, o *Statement) bool {
	still := frozen.Match(o.source.fold[o.from:o.to]) || o.order && o.denies && frozen.Match(o.source.fold)
	if n.passes() || !still || !normal.Match(n.source.fold[n.from:n.to]) {
		return false
	}
	return !slices.ContainsFunc(n.words, func(x term) bool { return x.proper && !o.hasAnywhere(x) && !n.source.quotesGerman() }) ||
		len(shared(n, o)) > 0
}

// hasAnywhere reports whether the content of a statement has a word.
func (s *Statement) hasAnywhere(x term) bool { return strings.Contains(string(s.source.fold), x.stem) }

var (
	frozen = regexp.MustCompile(`\b(?:freeze|frozen|until further notice|einfrierphase|eingefroren|bis auf weiteres|gel (?:du|` +
		`de)|gele[es]?|` +
		`jusqu'a nouvel ordre|congelacion|congelad[oa]s?|hasta nuevo aviso)\b`)
	normal = regexp.MustCompile(`\b(?:back to normal|(?:is|are|everything's) normal again|freeze (?:is|was|has been)? ?(?:over|` +
		`lifted|off|ended)|` +
		`wieder\b.{0,30}\bnormal[a-z]*|freeze ist (?:vorbei|aufgehoben)|retour a la normale|gel (?:est )?(?:termine|leve|fini)|` +
		`a la normalidad|se acabo la congelacion|business as usual)\b`)
)

// freezing are words in which [thaws] finds a freeze or its end.
var freezing = wordSet(`freeze frozen einfrierphase eingefroren gel gele geles congelacion congelado congelada notice weiteres ordre aviso
	normal normale normalen normaler normalidad usual lifted`)

// eatsAgain reports whether a statement allows food again that the older one excludes: "I eat fish again" of a
// vegetarian.
func eatsAgain(n, o *Statement) bool {
	words := n.source.fold[n.from:n.to]
	if n.passes() || n.denies && !noProblem.Match(words) || !again.Match(words) || !o.order && (otherPerson(n, o) || otherName(n, o)) {
		return false
	}
	left := o.leavesOut()
	return slices.ContainsFunc(n.source.words(0, len(n.source.fold)), func(w word) bool { return left[foodKinds[n.source.folded(w)]] })
}

// leavesOut returns the kinds of food that a statement excludes.
func (s *Statement) leavesOut() map[string]bool {
	out := map[string]bool{}
	for i, w := range s.ws {
		f := s.source.folded(w)
		for kind := range strings.FieldsSeq(diets[f]) {
			out[kind] = true
		}
		without := s.denies || i+1 < len(s.ws) && s.source.folded(s.ws[i+1]) == "free"
		if kind := foodKinds[f]; kind != "" && without {
			out[kind] = true
		}
	}
	return out
}

// noProblem denies a problem, and not its subject.
var noProblem = regexp.MustCompile(`\b(?:no|kein|aucun|pas de|ningun) proble?me?a?\b`)

// again are words for what holds again.
var again = regexp.MustCompile(`\b(?:again|wieder|de nouveau|a nouveau|vuelvo a|volvemos a|otra vez|de nuevo)\b`)
