//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"slices"
	"strings"
)

// changeCues are the cues of a change.
var changeCues = [...]cue{cueNow, cueReplace, cueEnd, cueNoMore, cueBecome, cueCorrect}

// overlap counts the words that two statements share.
type overlap struct {
	hits, rare, things    int // of the older one; those that few others have; those that are no verbs
	inSubject, inValue    int // of the older one
	nameInValue           int
	both                  int // in both subjects
	oldNumber, newNumber  bool
	oldName, newName, new bool // words that the other one lacks
}

func overlapOf(n, o *statement, common func(string) bool) overlap {
	var v overlap
	for _, x := range o.words {
		subject := subjectHas(o, []term{x})
		switch {
		case !n.has(x):
			v.oldNumber = v.oldNumber || x.stem[0] <= '9'
			v.oldName = v.oldName || x.proper && x.stem[0] > '9'
			continue
		case loose[x.stem] || currencyStems[x.stem]:
			continue // "has", "euros"
		case subject:
			v.inSubject++
		default:
			v.inValue++
			if x.proper {
				v.nameInValue++
			}
		}
		v.hits++
		if !x.verb() {
			v.things++
		}
		if !common(x.stem) {
			v.rare++
		}
	}
	for _, x := range o.subject {
		if subjectHas(n, []term{x}) {
			v.both++
		}
	}
	for _, x := range n.words {
		if !o.has(x) {
			v.new = true
			v.newNumber = v.newNumber || x.stem[0] <= '9'
			v.newName = v.newName || x.proper && x.stem[0] > '9' && (!n.source.quotesGerman() || n.namesPlace())
		}
	}
	return v
}

// evidence calls add with what speaks for and against a newer statement making an older one obsolete.
// train/change.py fits the weights.
func evidence(n, o *statement, common func(string) bool, add func(name string, value float64)) {
	c, v := n.changes(), overlapOf(n, o, common)
	when := func(name string, all ...bool) {
		if !slices.Contains(all, false) {
			add(name, 1)
		}
	}
	value, subject, any := v.inValue > 0, v.inSubject > 0, v.hits > 0
	changes := c.says(changeCues[:]...)
	kind := sameKinds(n, o)
	verb := n.verb != "" && n.verb == o.verb
	for i, name := range [...]string{"end", "no more", "replace", "become", "now", "correct"} {
		x := c.says([...]cue{cueEnd, cueNoMore, cueReplace, cueBecome, cueNow, cueCorrect}[i])
		when("old value, "+name, x, value)
		when("old name, "+name, x, v.nameInValue > 0)
		when("subject, "+name, x, subject)
	}
	if any {
		add("share of the new", float64(v.hits)/float64(len(n.words)))
	}
	when("only common words", any, v.rare == 0)
	when("no word", !any)
	whole := len(o.subject) > 0 && v.both == len(o.subject)
	when("whole subject", whole)
	when("part of subject, kind", v.both > 0, kind)
	when("no subject in common", len(o.subject) > 0, len(n.subject) > 0, v.both == 0)
	when("same unit, change", sameUnit(n, o), changes, !foreignSubjects(n, o))
	when("ends another", endsAnother(n, o))
	when("number", v.oldNumber, v.newNumber, any)
	n.around(o, c, when)
	other := otherForms(n, o)
	sole := slices.ContainsFunc(other, func(form string) bool { return !common(form) })
	form := len(other) > 0 && n.mayVary(o, any)
	named := n.names(o)
	when("form, nothing named", form, named == 0)
	when("only of the form, nothing named", form, sole, named == 0)
	var things []term
	if v.things > 0 {
		things = thingsInCommon(n, o)
	}
	wishes := n.order || o.order
	when("thing, other value", len(things) > 0, len(other) > 0, !c.says(cueAlso, cueAdd), !wishes)
	when("rare thing, other number", v.oldNumber, v.newNumber, len(other) == 0,
		slices.ContainsFunc(things, func(x term) bool { return !common(x.stem) }))
	only := len(things) > 0 && named == 0
	when("only the thing, end", only, c.says(cueEnd))
	when("only the thing, replace", only, c.says(cueReplace, cueBecome))
	when("only the thing, no more", only, c.says(cueNoMore))
	if value && n.besides(o, changeCues[:]...) {
		when("name, change beside", v.nameInValue > 0)
		when("value, change beside", len(things) > 0)
	}
	when("another thing beside", len(things) > 0 && n.namesBeside(o))
	when("class, change", slices.ContainsFunc(other, isClass), changes, !c.says(cueAlso, cueAdd), !otherSphere(n, o),
		!foreignSubjects(n, o), !n.ofRelative(), !n.hasAny(kin), !wishes)
	when("class, change, mine", slices.ContainsFunc(other, isClass), changes, mine(n), mine(o), !c.says(cueAlso, cueAdd),
		!otherSphere(n, o))
	for topic := range n.topics {
		if !o.topics[topic] || personal[topic] && !(mine(n) && mine(o)) && !(n.ofRelative() && o.ofRelative()) {
			continue
		}
		if personal[topic] {
			when("topic, change", changes)
			when("topic, name", v.oldName, v.newName)
			when("topic, change, name", changes, v.oldName, v.newName)
		} else {
			when("wish, change", n.order, changes)
			when("another wish", anotherWish(n, o, topic))
		}
	}
	when("change", changes)
	when("no change", !changes)
	when("added", c.says(cueAdd), !c.says(cueNoMore))
	when("added, word", c.says(cueAdd), !c.says(cueNoMore), any)
	when("also", c.says(cueAlso), !c.says(cueEnd, cueNoMore, cueReplace, cueBecome))
	when("another day", any, anotherDay(n, o))
	when("another day, whole subject", whole, anotherDay(n, o))
	when("stays", c.says(cueStay))
	when("ahead", c.ahead)
	when("number of the old", o.kinds[aNumber] && !n.kinds[aNumber], !c.says(cueEnd, cueNoMore))
	when("number of the new", n.kinds[aNumber] && !o.kinds[aNumber], !c.says(cueEnd, cueNoMore))
	when("nothing new", !v.new, !anotherDay(n, o), !c.says(cueEnd, cueNoMore))
	when("old denies", o.denies)
	when("denied, become", n.denies, c.says(cueBecome), !c.says(cueNoMore))
	when("other holder", otherHolder(n, o))
	when("old value is subject, is now", oldIsSubject(n, o), c.says(cueNow), v.new, n.form() == nominalForm)
	when("verb, change, mine", verb, value, c.says(cueNow, cueReplace, cueCorrect), !c.says(cueAlso, cueAdd), v.new, mine(n), mine(o))
	when("time, verb, now", anotherTime(n, o), verb, c.says(cueNow, cueBecome, cueReplace, cueCorrect))
	when("time, subject, now", anotherTime(n, o), v.both > 0, c.says(cueNow, cueBecome, cueReplace, cueCorrect))
	when("time, verb, subject", anotherTime(n, o), v.both > 0, verb)
}

// thingsInCommon returns the words of the older statement that name a thing, a person or a place, and that the newer one has.
func thingsInCommon(n, o *statement) []term {
	return slices.DeleteFunc(shared(n, o), func(x term) bool {
		return x.verb() || x.stem[0] <= '9' || timeStems[x.stem] || timeUnits[x.stem] || loose[x.stem] || currencyStems[x.stem] ||
			cueStems()[x.stem] || n.forms()["@"+key(x.stem)] != nil
	})
}

// besides reports whether another part of the content of a statement has one of some cues, and is not about another part of the
// older content.
func (s *statement) besides(o *statement, any ...cue) bool {
	return slices.ContainsFunc(s.whole.parts, func(x *statement) bool {
		of := func(p *statement) bool { return p != o && len(thingsInCommon(x, p)) > 0 }
		return x != s && x.changes().says(any...) && !slices.ContainsFunc(o.whole.parts, of)
	})
}

// namesBeside reports whether another part of its content names a thing of the older statement that the newer one does not: "Zubiri
// left, and my thesis is with Dr Lamas now".
func (s *statement) namesBeside(o *statement) bool {
	return slices.ContainsFunc(s.whole.parts, func(x *statement) bool {
		return x != s && slices.ContainsFunc(thingsInCommon(x, o), func(t term) bool { return !s.has(t) })
	})
}

// sameUnit reports whether both statements count the same, in other numbers: 24 euros, 15 euros.
func sameUnit(n, o *statement) bool {
	a, b := n.amounts(), o.amounts()
	for unit, number := range a {
		if b[unit] != "" && b[unit] != number {
			return true
		}
	}
	return false
}

// amounts returns the numbers of a statement by the stem of the word behind them.
func (s *statement) amounts() map[string]string {
	out := map[string]string{}
	ws := s.ws
	for i := 0; i+1 < len(ws); i++ {
		f, unit := s.source.folded(ws[i]), s.source.folded(ws[i+1])
		if (f[0] >= '0' && f[0] <= '9' || numberWords[f] || oneOf[f]) && unit[0] > '9' && !function[unit] && !numberWords[unit] {
			out[stem(unit)] = f
		}
	}
	return out
}

var oneOf = wordSet("one single ein eine einen un une una uno")

// endsAnother reports whether a word for an end is followed by a thing that the older statement does not name.
func endsAnother(n, o *statement) bool {
	ws := n.ws
	c := n.changes()
	for i := range ws {
		if cue, ok := c.cueAt[i]; !ok || cue != cueEnd {
			continue
		}
		for j := i + 1; j < min(len(ws), i+4); j++ {
			f := n.source.folded(ws[j])
			if !isContent(f) || isCue(f) || verbForm(f) {
				continue
			}
			return !o.has(term{stem: stem(f)})
		}
	}
	return false
}

// anotherTime reports whether both statements have a time, and another one.
func anotherTime(n, o *statement) bool {
	return n.kinds[aTime] && o.kinds[aTime] && !(len(n.days()) > 0 && len(o.days()) > 0 && !anotherDay(n, o))
}

// otherHolder reports whether a newer statement gives an owner to a thing that both name, whom the older one lacks: the team of
// Tristan, Anneke's boss.
func otherHolder(s, o *statement) bool {
	ws := s.ws
	lacks := func(i int) bool {
		f := s.source.folded(ws[i])
		return isContent(f) && !dayWords[f] && !o.has(term{stem: stem(f)}) && (f[0] > '9')
	}
	for i, w := range ws {
		f := s.source.folded(w)
		if !isContent(f) || !o.has(term{stem: stem(f)}) {
			continue
		}
		if i > 0 && s.source.capital(ws[i-1].from) {
			if owner := s.source.folded(ws[i-1]); strings.HasSuffix(owner, "'s") && owner != "user's" && lacks(i-1) {
				return true
			}
		}
		if i+2 < len(ws) && holderWords[s.source.folded(ws[i+1])] {
			j := i + 2
			if articleWords[s.source.folded(ws[j])] && j+1 < len(ws) {
				j++
			}
			if lacks(j) && (s.source.capital(ws[j].from) || kin[s.source.folded(ws[j])]) {
				return true
			}
		}
	}
	return false
}

var holderWords = wordSet("of von vom der des de du d' del")

// around adds the evidence of the words near a mention of the old value.
func (s *statement) around(o *statement, c *change, when func(string, ...bool)) {
	ws := s.ws
	seen := map[string]bool{}
	for i, w := range ws {
		f := s.source.folded(w)
		x := term{stem: stem(f)}
		if !isContent(f) || !o.has(x) || subjectHas(o, []term{x}) {
			continue
		}
		seen["old value for new"] = seen["old value for new"] || c.says(cueReplace, cueBecome, cueEnd) && s.follows(o, ws, i, exchanging)
		before := s.before(ws, i)
		for j := max(0, i-3); j < min(len(ws), i+5); j++ {
			cue, ok := c.cueAt[j]
			switch {
			case j < i && c.says(cueReplace, cueBecome) && arriving[s.source.folded(ws[j])] && arriving[before] &&
				anotherVersion(s, o) == "":
				seen["to old value"] = true
			case !ok || j == i:
			case j < i && cue == cueEnd:
				seen["end before old value"] = true
			case j < i && cue == cueReplace:
				seen["replace before old value"] = true
			case j > i && cue == cueStay:
				seen["stay after old value"] = true
			case j > i && (cue == cueEnd || cue == cueReplace):
				seen["end after old value"] = true
				seen["end of subject"] = seen["end of subject"] || subjectHas(s, []term{x})
			}
		}
	}
	for _, name := range [...]string{
		"to old value", "end before old value", "replace before old value", "stay after old value", "end after old value",
		"end of subject", "old value for new",
	} {
		when(name, seen[name])
	}
}

// anotherDay reports whether both statements name days or months, and none in common.
func anotherDay(n, o *statement) bool {
	a, b := n.days(), o.days()
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	for d := range a {
		if b[d] {
			return false
		}
	}
	return true
}

// findDays returns the days and months of a statement, in the singular.
func (s *statement) findDays() map[string]bool {
	out := map[string]bool{}
	for _, w := range s.ws {
		if f := s.source.folded(w); dayWords[f] {
			out[strings.TrimSuffix(f, "s")] = true
		}
	}
	return out
}

// introduces reports whether a statement gives the name of a person or thing.
func (s *statement) introduces() bool {
	return slices.ContainsFunc(s.ws, func(w word) bool { return naming[s.source.folded(w)] })
}

var naming = wordSet("called named name heisst heist heis heiss namens appelle s'appelle m'appelle llama llamo llamada llamado nombre")

// sameKinds reports whether both statements have times, numbers or names.
func sameKinds(a, b *statement) bool {
	for k := range a.kinds {
		if b.kinds[k] {
			return true
		}
	}
	return false
}

// names counts the words of a statement that name something, and that the older one lacks.
func (s *statement) names(o *statement) int {
	n := 0
	for _, w := range s.ws {
		f := s.source.folded(w)
		x := term{stem: stem(f)}
		aside := numberWords[f] || dayWords[f] || timeUnits[f] || isCue(f) || endsAsAdverb(f) || adverbs[f] || fillers[f]
		if isContent(f) && f[0] > '9' && !aside && !x.verb() && !verbForm(f) && classes[f] == "" && !o.has(x) {
			n++
		}
	}
	return n
}

// mayVary reports whether a value of a statement may be another one for that of an older statement with the same form: it is about
// the same person or thing, or does not say what it is about, and it adds nothing.
func (s *statement) mayVary(o *statement, shared bool) bool {
	if s.changes().says(cueAlso, cueAdd) || sideWords[s.source.folded(s.ws[0])] || o.owner == aPerson && !shared {
		return false
	}
	verbless := s.verbAt == len(s.ws)
	switch {
	case s.last != nil && !shared && (!s.changes().says(changeCues[:]...) || s.last.introducesOther(o)), otherSphere(s, o):
		return false // the part before names another subject, or one statement is about work and one about home
	case s.owner == aPerson:
		inList := o.verbAt == len(o.ws) && bytes.Contains(o.source.fold, []byte(s.person)) // "Malin goes to Oakdell, class 3b"
		return o.owner == aPerson && shared || inList && !o.has(term{stem: s.person})
	case mine(o):
		return !s.ofOthers() && (mine(s) || len(s.subject) == 0 || verbless)
	}
	return verbless || !foreignSubjects(s, o)
}

// introducesOther reports whether a statement introduces a thing that the older one lacks: "got a new phone contract".
func (s *statement) introducesOther(o *statement) bool {
	for i, w := range s.ws {
		if f := s.source.folded(w); !indefinite[f] && !newWords[f] {
			continue
		}
		for _, x := range s.ws[i+1 : min(len(s.ws), i+4)] {
			if f := s.source.folded(x); isContent(f) && !isCue(f) {
				return !o.has(term{stem: stem(f)})
			}
		}
	}
	return false
}

// otherSphere reports whether one statement is about work, and the other one about family or friends.
func otherSphere(n, o *statement) bool {
	return n.hasAny(workSphere) && o.hasAny(homeSphere) || n.hasAny(homeSphere) && o.hasAny(workSphere)
}

var (
	workSphere = wordSet(`work office team client clients company colleagues department arbeit buro firma kollegen kunden abteilung team
		travail boulot bureau boite equipe collegues clients trabajo oficina curro empresa equipo colegas clientes`)
	homeSphere = wordSet(`home family private privately friends privat familie zuhause daheim freunde freunden famille amis maison
		prive familia amigos casa privado`)
)

// ofOthers reports whether a statement begins with a pronoun for other people, and does not name the user: "they open at 9", but
// not "they gave the user till June".
func (s *statement) ofOthers() bool {
	f := s.source.folded(s.ws[0])
	return (others[f] || thirdPerson[f] && f != "el") &&
		!slices.ContainsFunc(s.ws, func(w word) bool { f := s.source.folded(w); return f == "user" || firstSingular[f] || firstPlural[f] })
}

var others = wordSet("they they're ils elles ellos ellas")

// sideWords begin a part that only says since when, how long or for whom something else holds.
var sideWords = wordSet("since until till for before after seit bis fur vor nach depuis jusqu'a pour avant apres desde hasta para antes")
