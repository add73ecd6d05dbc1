//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"maps"
	"slices"
	"strings"
)

// thaws reports whether a statement says that a freeze, or what holds until further notice, is over: "back to normal".
func thaws(n, o *statement) bool {
	if !n.normal() || !frozen().Match(o.source.fold[o.from:o.to]) && !(o.order && o.denies && frozen().Match(o.source.fold)) {
		return false
	}
	own := func(x term) bool {
		return !thawStems[x.stem] && !workStems[x.stem] && !cueStems()[x.stem] && !plainStems[x.stem] && x.stem[0] > '9'
	}
	shares := func(x term) bool { return !thawStems[x.stem] && o.has(x) }
	if slices.ContainsFunc(n.words, own) || slices.ContainsFunc(n.words, shares) {
		return slices.ContainsFunc(n.words, shares)
	}
	ofWork := func(s *statement) bool {
		return slices.ContainsFunc(s.words, func(x term) bool { return workStems[x.stem] })
	}
	if !ofWork(n) && (hires().Match(o.source.fold) || !frozenThing().Match(o.source.fold[o.from:o.to]) &&
		!theFreeze().Match(n.source.fold[n.from:n.to])) {
		return true
	}
	return ofWork(o) || theFreeze().Match(o.source.fold[o.from:o.to])
}

// returnsToNormal reports whether a statement has words for the end of a freeze.
func (s *statement) returnsToNormal() bool {
	return !s.passes() && normal().Match(s.source.fold[s.from:s.to])
}

// thawStems are stems of words for the end of a freeze. workStems are stems of words for the work that a team freezes.
var (
	thawStems = func() map[string]bool {
		out := stems(wordSet(`over back off ended vorbei aufgehoben beendet wieder retour termine leve fini fin acabo vuelta vuelve
			business everything everything's things alles tout todo again`))
		maps.Copy(out, stems(freezing))
		return out
	}()
	workStems = stems(wordSet(`deploy deploys deployment deployments deploying code release releases merge merges production
		schema feature features rollout rollouts change changes prod main
		deployen releasen freigabe freigaben veroffentlichungen anderungen
		deploiement deploiements mep livraisons
		despliegue despliegues entregas versiones cambios`))
	theFreeze   = pattern(`\b(?:freeze|einfrierphase|gel|congelacion)\b`)
	hires       = pattern(`\b(?:hiring|hires|budgets?|einstellungen|embauches|contrataciones|presupuestos?)\b`)
	frozenThing = pattern(`\b(?:frozen|eingefroren|gele[es]{0,2}|congelad[oa]s?)\b`)
)

var (
	frozen = pattern(`\b(?:freeze|frozen|until further notice|einfrierphase|eingefroren|bis auf weiteres|gel (?:du|` +
		`de)|gele[es]?|` +
		`jusqu'a nouvel ordre|congelacion|congelad[oa]s?|hasta nuevo aviso)\b`)
	normal = pattern(`\b(?:back to normal|(?:is|are|everything's) normal again|freeze (?:is|was|has been)? ?(?:over|` +
		`lifted|off|ended)|` +
		`wieder\b.{0,30}\bnormal[a-z]*|freeze (?:ist|wurde) (?:vorbei|aufgehoben|beendet)|retour a la normale|gel (?:est |` +
		`a ete )?(?:termine|leve|fini)|` +
		`a la normalidad|se acabo la congelacion|business as usual)\b`)
)

// freezing are words in which [thaws] finds a freeze or its end.
var freezing = wordSet(`freeze frozen einfrierphase eingefroren gel gele geles congelacion congelado congelada notice weiteres ordre aviso
	normal normale normalen normaler normalidad usual lifted`)

// eatsAgain reports whether a statement allows food again that the older one excludes: "I eat fish again" of a
// vegetarian.
func eatsAgain(n, o *statement) bool {
	if !n.eating() || !o.order && (otherPerson(n, o) || otherName(n, o)) {
		return false
	}
	left := o.leavesOut()
	return slices.ContainsFunc(n.source.words(0, len(n.source.fold)), func(w word) bool { return left[foodKinds[n.source.folded(w)]] })
}

// allowsFood reports whether a statement has words of the user, or of a permission, for eating again.
func (s *statement) allowsFood() bool {
	words := s.source.fold[s.from:s.to]
	return !s.passes() && (!s.denies ||
		noProblem().Match(words)) && again().Match(words) && eats().Match(words) && !forOthers().Match(words)
}

// leavesOut returns the kinds of food that a statement excludes.
func (s *statement) leavesOut() map[string]bool {
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

var (
	// eats finds the user who eats, or a permission.
	eats = pattern(`\b(?:i(?:'m| am| can| may|'ve (?:started|begun)| started| do)? (?:now |happily |only |also )?` +
		`(?:eat|eating|ate|drink|drinking|have|having)|` +
		`(?:back to|started) eating|ich (?:esse|trinke|darf|kann|vertrage)|(?:esse|trinke|darf|kann|vertrage) ich|` +
		`je (?:mange|bois|re ?mange|peux)|vuelvo a (?:comer|beber|tomar)|(?:ya )?(?:como|bebo|puedo comer)|volvemos a comer|` +
		`fine|ok|okay|allowed|welcome|no problem|you can|you may|feel free|in ordnung|erlaubt|kein problem|du (?:kannst|darfst)|` +
		`(?:kannst|darfst) du|permise?s?|tu peux|vous pouvez|d'accord|pas de probleme|puedes|permitido)\b`)
	// forOthers finds people for whom food is.
	forOthers = pattern(`\b(?:for|fur|pour|para) (?:my|the|our|his|her|die|den|das|meine?n?|unsere?n?|mes|mon|` +
		`ma|les|nos|mis?|los|las|` +
		`nuestr[oa]s)\b`)
)

// noProblem denies a problem, and not its subject.
var noProblem = pattern(`\b(?:no|kein|aucun|pas de|ningun) proble?me?a?\b`)

// again are words for what holds again.
var again = pattern(`\b(?:again|wieder|de nouveau|a nouveau|vuelvo a|volvemos a|otra vez|de nuevo)\b`)
