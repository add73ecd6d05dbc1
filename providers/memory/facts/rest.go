package facts

import (
	"maps"
	"slices"
	"strings"
)

// ending says whether and how a part of a content became obsolete.
type ending struct {
	gone, over bool   // obsolete; without a successor
	beside     string // what the part says without its old value
	by         *statement
	value      string // the stem of the old value, if it is known
}

// leave finds the rest of the obsolete parts, without their old values.
func (s *Statements) leave(endings []ending) {
	for i := range endings {
		end := &endings[i]
		if !end.gone {
			continue
		}
		o, text := s.parts[i], s.texts[i]
		followed := !end.over && i+1 < len(endings) && !endings[i+1].gone && s.supplements(i+1)
		if end.beside = o.beside(text, end.value); end.beside == "" || followed {
			end.beside = o.withoutValue(end.by, end.value, text, end.over, followed)
		}
	}
}

// supplements reports whether a part only adds a name, a companion or a number to the part before it: ", with sixty guests".
func (s *Statements) supplements(i int) bool {
	x := s.parts[i]
	if x.verbAt < len(x.ws) || !x.adverbial() || s.joined(i) {
		return false
	}
	return withWords[x.source.folded(x.ws[0])] || prepositional[x.source.folded(x.ws[0])] &&
		slices.ContainsFunc(x.ws[1:], func(w word) bool { return x.source.capital(w.from) && !dayWords[x.source.folded(w)] })
}

// without returns the content without its obsolete parts, or "" if nothing is left. A part leaves what it says beside its old
// value. If it was replaced, it leaves at least the relative that it names.
func (s *Statements) without(endings []ending) string {
	var left []string
	for i, text := range s.texts {
		end := endings[i]
		if !end.gone {
			text = strings.Trim(text, " ,;:-.")
			if i > 0 && endings[i-1].gone && s.parts[i].verbAt == len(s.parts[i].ws) {
				if s.parts[i].adverbial() && !s.joined(i) && !(endings[i-1].beside != "" && s.supplements(i)) {
					endings[i].gone = true
					continue
				}
				if endings[i-1].beside == "" && len(left) == 0 {
					text = s.parts[i-1].predicate() + text
				}
			}
			left = append(left, text)
		} else if end.beside != "" {
			left = append(left, end.beside)
		} else if with := s.parts[i].companion(s.before == ""); with != "" && !end.over {
			left = append(left, with)
		}
	}
	if len(left) == 0 {
		return ""
	}
	out := s.before + strings.Join(left, ", ") + s.after
	if s.before == "" {
		out = sentenceCase(strings.Join(left, ", "))
	}
	if s.speaker != "" {
		return nameAgain(out, s.speaker)
	}
	return out
}

// joined reports whether "and" stands before a part.
func (s *Statements) joined(i int) bool {
	t := s.parts[i].source
	return slices.ContainsFunc(t.words(s.parts[i-1].to, s.parts[i].from), func(w word) bool { return conjunctions[t.folded(w)] })
}

// adverbial reports whether a part without a verb says when, how much or where: "780 a month", "weekends mostly".
func (s *statement) adverbial() bool {
	if len(s.ws) == 0 || len(s.ws) > 5 {
		return false
	}
	f := s.source.folded(s.ws[0])
	noun := func(x term) bool { return x.proper && !timeStems[x.stem] && x.stem[0] > '9' }
	if dayWords[strings.TrimSuffix(f, "s")] && slices.ContainsFunc(s.words, noun) {
		return false // "donnerstags Chorprobe"
	}
	return f[0] <= '9' || dayWords[f] || dayWords[strings.TrimSuffix(f, "s")] || prepositional[f] || adverbs[f] || dayParts[f]
}

// dayParts are times without a date.
var dayParts = wordSet("weekends weekdays mornings evenings nights morgens abends nachts wochenends")

// predicate returns the words of a statement up to a verb that has a list of objects, and a space: "I have ".
func (s *statement) predicate() string {
	if s.verbAt >= len(s.ws) || s.verb != "" && !loose[s.verb] || dayWords[strings.TrimSuffix(s.source.folded(s.ws[0]), "s")] {
		return ""
	}
	return s.source.quote(s.from, s.ws[s.verbAt].to) + " "
}

// companionIn returns the stem of the first word that two statements share, if a word for company stands before it in the older
// one: another tutor leaves "is learning Portuguese" of "is learning Portuguese with a tutor called Rita".
func companionIn(n, o *statement) string {
	with := false
	for _, w := range o.ws[min(len(o.ws), o.verbAt+1):] {
		f := o.source.folded(w)
		with = with || withWords[f]
		if isContent(f) && n.has(term{stem: stem(f)}) {
			if with {
				return stem(f)
			}
			return ""
		}
	}
	return ""
}

// companion returns the words for a relative with a name, or for a number of relatives, beside the value of a statement: "with my
// daughter Zoe".
func (s *statement) companion(sentence bool) string {
	t, ws := s.source, s.ws
	for i := 1; i+2 < len(ws); i++ {
		f := t.folded(ws[i])
		if !withWords[f] {
			continue
		}
		own := t.folded(ws[i+1])
		k := i + 2
		if own == "the" && t.folded(ws[k]) == "user's" {
			k++
		} else if !ownWord[own] {
			continue
		}
		if k+1 < len(ws) && numberWords[t.folded(ws[k])] && ofKin(t.folded(ws[k+1])) {
			if who := t.quote(ws[k].from, ws[k+1].to); sentence {
				return "The user has " + who
			}
			return t.quote(ws[i+1].from, ws[k+1].to)
		}
		if k+1 >= len(ws) || !kin[t.folded(ws[k])] || !t.capital(ws[k+1].from) {
			continue
		}
		if who := t.quote(ws[i+1].from, ws[k].to); sentence {
			return who + " is " + t.quote(ws[k+1].from, ws[k+1].to)
		}
		return t.quote(ws[i+1].from, ws[k+1].to)
	}
	return ""
}

// ofKin reports whether a word is one for relatives, in the singular or the plural.
func ofKin(f string) bool { return kin[f] || kin[strings.TrimSuffix(f, "s")] }

var withWords = wordSet("with mit avec con")

// beside returns a statement without the phrase that has the value: "plays bass", if "in the Paper Lanterns" goes. It returns ""
// if that says nothing by itself.
func (s *statement) beside(text, value string) string {
	if value == "" {
		return ""
	}
	if left := s.withoutConjunct(text, value); left != "" {
		return left
	}
	if s.versions()[value] == "" && (s.verb == "" && s.form() != noCopula && s.occupation() == "" || loose[s.verb]) {
		return ""
	}
	ws := s.ws
	for i := range ws {
		if !phraseWords[s.source.folded(ws[i])] || !s.reaches(ws, i, value) {
			continue
		}
		for _, w := range ws[:i] {
			f := s.source.folded(w)
			x := term{stem: stem(f)}
			if isContent(f) && !verbForm(f) && !x.verb() && !subjectHas(s, []term{x}) && !isCue(f) {
				before, ok := strings.CutSuffix(text, s.source.quote(ws[i].from, s.to))
				if !ok {
					return ""
				}
				return strings.TrimRight(before, " ,")
			}
		}
		return ""
	}
	return ""
}

// withoutConjunct returns a statement without a value that is joined to another one: "has Spotify" of "has Netflix and
// Spotify", if Netflix goes. It returns "" if the value is not joined.
func (s *statement) withoutConjunct(text, value string) string {
	t, ws := s.source, s.ws
	joint := slices.IndexFunc(ws, func(w word) bool { return conjunctions[t.folded(w)] })
	first := s.verbAt + 1
	if first > len(ws) {
		first = 0
	}
	if joint <= first || joint-first > 4 || slices.ContainsFunc(ws[first:joint], func(w word) bool { return phraseWords[t.folded(w)] }) {
		return ""
	}
	end := joint + 1
	for end < len(ws) && end-joint < 5 && !phraseWords[t.folded(ws[end])] {
		end++
	}
	has := func(ws []word) bool {
		return slices.ContainsFunc(ws, func(w word) bool { return sameStem(stem(t.folded(w)), value) })
	}
	prefix, ok := strings.CutSuffix(text, t.quote(s.from, s.to))
	switch {
	case !ok || end == joint+1:
		return ""
	case has(ws[first:joint]):
		return prefix + t.quote(s.from, ws[first].from) + " " + t.quote(ws[joint+1].from, s.to)
	case has(ws[joint+1 : end]):
		return strings.TrimSpace(prefix + t.quote(s.from, ws[joint-1].to) + " " + t.quote(ws[end-1].to, s.to))
	}
	return ""
}

// withoutValue returns a statement without the phrases that a newer one changes: "takes the train from Croydon" of "takes the 8:04
// train from Croydon", if the train leaves at 7:41 now. If the thing itself ended, joined things remain. It returns "" if the
// remainder says nothing by itself. A part that follows may say the rest.
func (s *statement) withoutValue(n *statement, value, text string, over, followed bool) string {
	prefix, ok := strings.CutSuffix(text, s.source.quote(s.from, s.to))
	first := s.verbAt + 1
	if first > len(s.ws) {
		first = 0
	}
	if s.order && len(s.asWish().values) > 0 {
		return s.withoutWish(n, prefix)
	}
	changed := s.changedBy(n, value, first)
	if !ok || len(changed) == 0 {
		return ""
	}
	old := func(w word) bool { return changed[w] }
	figure := !slices.ContainsFunc(s.ws, func(w word) bool { return old(w) && !s.figure(w) })
	timed := !slices.ContainsFunc(s.ws, func(w word) bool { return old(w) && !s.figure(w) && !dayWords[s.source.folded(w)] })
	if s.order && !timed {
		return ""
	}
	starts := append(s.phrases(first, over && !figure), len(s.ws))
	phrase := func(i int) []word { return s.ws[starts[i]:starts[i+1]] }
	begins := func(i int, any map[string]bool) bool {
		return starts[i] < len(s.ws) && any[s.source.folded(s.ws[starts[i]])]
	}
	object := slices.ContainsFunc(phrase(0), old) // without it a time says nothing: "gets at 8"
	// company says that the old value is a companion, joined that a conjunction stands between a phrase and the old value.
	company, joined := false, false
	for i := range starts[1:] {
		company = company || begins(i, withWords) && slices.ContainsFunc(s.ws[starts[i]:], old)
	}
	var out []string
	at, kept := s.from, followed
	for i := range starts[1:] {
		joined = joined || begins(i, conjunctions)
		if slices.ContainsFunc(phrase(i), old) {
			out = append(out, s.source.quote(at, s.ws[starts[i]].from))
			if at, joined = s.to, begins(i+1, conjunctions); starts[i+1] < len(s.ws) {
				at = s.ws[starts[i+1]].from
			}
			continue
		}
		noun := joined || company || timed || s.occupation() != "" && begins(i, placePrepositions) || figure && begins(i, purposes) ||
			i == 0 && begins(1, conjunctions)
		if slices.ContainsFunc(phrase(i), func(w word) bool { return s.ownValue(n, w, noun, object) }) {
			kept = true
			if begins(i, conjunctions) && at == s.ws[starts[i]].from {
				at = s.ws[starts[i]].to
			}
		}
	}
	if !kept {
		return ""
	}
	out = append(out, s.source.quote(at, s.to))
	return prefix + strings.Join(strings.Fields(strings.Join(out, " ")), " ")
}

// figure reports whether a word is a number or a currency.
func (s *statement) figure(w word) bool {
	f := s.source.folded(w)
	return f[0] <= '9' || numberWords[f] || currencies[f]
}

// changedBy returns the words of a statement, from one on, with the values that a newer one changes. These are values of the same form,
// the old value or place if it is known, or words of both. Of joined phrases with a common word, the other words decide: "dental and
// home insurance".
func (s *statement) changedBy(n *statement, value string, first int) map[word]bool {
	out := map[word]bool{}
	for _, x := range append([]*statement{n}, n.whole.parts...) { // "the party was moved, it's on 21 May now"
		if len(out) > 0 || x != n && foreignSubjects(x, s) {
			continue
		}
		for _, form := range otherForms(x, s) {
			for _, at := range s.formsAt()[form] {
				out[s.ws[at]] = true
			}
		}
	}
	for _, w := range s.ws[first:] {
		if len(out) == 0 && value != "" && stem(s.source.folded(w)) == value {
			out[w] = true
		}
	}
	if w, ok := s.oldPlace(n); len(out) == 0 && ok && s.companion(true) == "" {
		out[w] = true
	}
	if len(out) > 0 {
		return out
	}
	count := map[string]int{}
	for _, w := range s.ws[first:] {
		count[stem(s.source.folded(w))]++
	}
	for _, w := range s.ws[first:] {
		f := s.source.folded(w)
		x := term{stem: stem(f)}
		deed := (x.verb() || verbForm(f)) && !s.source.capital(w.from)
		if isContent(f) && n.has(x) && !deed && (first == 0 || !subjectHas(s, []term{x})) && count[x.stem] == 1 {
			out[w] = true
		}
	}
	for w := range out {
		if s.figure(w) { // "the box isn't 24 euros any more"
			maps.DeleteFunc(out, func(w word, _ bool) bool { return !s.figure(w) })
			break
		}
	}
	return out
}

// oldPlace returns the name of the place of a statement, if a newer one only shares a thing with it and names another place: "moved the
// novel to Lisbon".
func (s *statement) oldPlace(n *statement) (old word, ok bool) {
	named := func(s, other *statement, at map[string]bool) (word, bool) {
		for i := 1; i < len(s.ws); i++ {
			f := s.source.folded(s.ws[i])
			if at[s.source.folded(s.ws[i-1])] && s.source.capital(s.ws[i].from) && !dayWords[f] && !other.has(term{stem: stem(f)}) {
				return s.ws[i], true
			}
		}
		return word{}, false
	}
	name := func(x term) bool { return x.proper && x.stem[0] > '9' && !n.source.quotesGerman() }
	if _, ok := named(n, s, toPlaces); !ok || slices.ContainsFunc(shared(n, s), name) {
		return word{}, false
	}
	return named(s, n, placeNames)
}

// toPlaces stand before the name of a new place, placeNames before any place.
var (
	toPlaces   = wordSet("to nach a en in au")
	placeNames = wordSet("in at of from nach aus ab bei a en au")
)

// withoutWish returns an order without the phrase that a newer wish overrules: "answer briefly" of "answer in English and briefly".
func (s *statement) withoutWish(n *statement, prefix string) string {
	t := s.source
	starts := []int{0}
	for i := 1; i+1 < len(s.ws); i++ {
		if conjunctions[t.folded(s.ws[i])] {
			starts = append(starts, i+1)
		}
	}
	starts = append(starts, len(s.ws)+1)
	newer := n.asWish().values
	var left []string
	gone := false
	for i, from := range starts[:len(starts)-1] {
		phrase := s.ws[from : starts[i+1]-1]
		values := readWish(t, phrase[0].from, phrase[len(phrase)-1].to).values
		overruled := len(values) == 0
		for topic := range values {
			overruled = overruled || newer[topic] != ""
		}
		if gone = gone || overruled; overruled {
			continue
		}
		if i > 0 && len(left) == 0 {
			verb := slices.IndexFunc(s.ws, func(w word) bool { return prepositional[t.folded(w)] })
			if verb < 1 {
				return ""
			}
			left = append(left, t.quote(s.from, s.ws[verb-1].to))
		}
		left = append(left, t.quote(phrase[0].from, phrase[len(phrase)-1].to))
	}
	if !gone || len(left) == 0 {
		return ""
	}
	return prefix + strings.Join(left, " ")
}

// formsAt returns the first words of the values of a statement by their forms.
func (s *statement) formsAt() map[string][]int {
	out := map[string][]int{}
	ws := s.source.tokens(s.ws)
	for i := range ws {
		if form := formOf(ws, i); form != "" {
			out[form] = append(out[form], i)
		}
	}
	return out
}

// phrases returns the indexes of the words with which phrases begin, from a word on: prepositions, conjunctions and articles before
// days. With conjuncts, only conjunctions and words for company count.
func (s *statement) phrases(first int, conjuncts bool) []int {
	out := []int{first}
	for i := first + 1; i+1 < len(s.ws); i++ {
		f := s.source.folded(s.ws[i])
		starts := phraseWords[f] || phraseStarts[f] || f == "a" && (s.source.quotesFrench() || s.source.quotesSpanish()) ||
			articleWords[f] && dayWords[s.source.folded(s.ws[i+1])]
		if conjunctions[f] || withWords[f] || starts && !conjuncts && !conjunctions[s.source.folded(s.ws[i-1])] {
			out = append(out, i)
		}
	}
	return out
}

// ownValue reports whether a word is a name, a number or a day that a newer statement lacks, or any noun if that is enough. Without its
// object a statement needs more than a number or a day.
func (s *statement) ownValue(n *statement, w word, noun, object bool) bool {
	f := s.source.folded(w)
	x := term{stem: stem(f)}
	if !isContent(f) || n.has(x) || verbForm(f) || x.verb() || isCue(f) || endsAsAdverb(f) || timeUnits[f] {
		return false
	}
	if dayWords[f] || s.figure(w) {
		return !object
	}
	return noun || w != s.ws[0] && (s.source.capital(w.from) || s.code(w))
}

// code reports whether a word is a part of a name with a number in it: "eu-west-1".
func (s *statement) code(w word) bool {
	at := slices.Index(s.ws, w)
	for at+1 < len(s.ws) && s.ws[at+1].from == s.ws[at].to+1 && s.source.fold[s.ws[at].to] == '-' {
		at++
	}
	return s.ws[at] != w && s.source.folded(s.ws[at])[0] <= '9'
}

// purposes begin the phrase of a thing that is paid, weighed or counted.
var purposes = wordSet("for fur pour por about sobre")

// phraseStarts are further words with which a phrase begins.
var phraseStarts = wordSet("from for um ab zu seit pour por desde sobre to")

var conjunctions = wordSet("and und et y e")

// loose are verbs that say little without the phrase behind their object: "has a job at Acme".
var loose = wordSet("have rent share need want get tengo ai hab")

// reaches reports whether the value is among the next words behind a preposition: "with Rita", "with a tutor called Rita".
func (s *statement) reaches(ws []word, i int, value string) bool {
	for j := i + 1; j < min(len(ws), i+6); j++ {
		f := s.source.folded(ws[j])
		if stem(f) == value {
			return true
		}
		introduced := naming[f] || j+1 < len(ws) && naming[s.source.folded(ws[j+1])]
		if !articleWords[f] && !s.source.capital(ws[j].from) && !introduced {
			return false
		}
	}
	return false
}

// phraseWords begin a phrase that a statement can do without.
var phraseWords = wordSet("on at in with via using mit auf bei beim im am an sur chez avec dans au aux en con")
