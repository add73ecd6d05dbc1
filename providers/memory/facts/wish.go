//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"slices"
	"strings"
)

// wish is the content of a standing wish that another one can contradict.
type wish struct {
	values  map[string]string // by topic: the language, the tone, the currency
	objects []string          // stems of the things and deeds that it names
	scope   string            // the kind of text that it is about; "" for all answers
	verb    string            // the stem of the verb that a frame needs, or ""
	// before are the objects before the preposition of a frame, after the words behind it: mails | as | Ed.
	before, after []string
	frame         string
	number        string // the only number
	at            string // start or end
	denies        bool
	withdraws     bool     // takes back an earlier wish
	other         bool     // about everything else
	place         string   // the stem of the name of a repository or project
	changes       bool     // has a word of change
	only          []string // stems of what it is limited to: "for baking", "to my guests"
	about         []string // the things and deeds in the whole content, if the assistant has to ask before them, or not
}

// overrules reports whether a newer wish contradicts an earlier one, so that only the newer one can be followed.
func overrules(newer, older *statement) bool {
	if !newer.order && !older.order || !newer.wishes() || !older.wishes() || newer.changes().doubt || newer.forOnce() {
		return false
	}
	n, o := newer.asWish(), older.asWish()
	if n.other || n.otherPlace(o) || newer.narrower(older) {
		return false
	}
	if n.withdraws && n.takesBack(o) || n.otherTool(o) && !newer.changes().says(cueAlso, cueAdd) {
		return true
	}
	if n.scope != o.scope && !(n.scope == "" && n.denies != o.denies) || n.at != "" && o.at != "" && n.at != o.at {
		return false
	}
	if n.otherValue(o) || n.denies != o.denies && n.opposes(o) {
		return true
	}
	if n.scope != o.scope || n.denies != o.denies {
		return false
	}
	return n.number != "" && o.number != "" && n.number != o.number &&
		comparable(n.objects, o.objects) && inAny(n.objects, o.objects) || n.otherFrame(o)
}

// otherPlace reports whether two wishes are about different repositories or projects.
func (n *wish) otherPlace(o *wish) bool { return n.place != "" && n.place != o.place }

// takesBack reports whether a wish cancels an earlier one.
func (n *wish) takesBack(o *wish) bool {
	for topic, value := range n.values {
		if o.values[topic] == value && comparable(n.objects, o.objects) {
			return true
		}
	}
	return len(n.objects) > 0 && allIn(n.objects, o.objects)
}

// otherTool reports whether two wishes name different tools for the same purpose, or different styles.
func (n *wish) otherTool(o *wish) bool {
	for topic := range toolTopics {
		if a, b := n.values[topic], o.values[topic]; a != "" && b != "" && a != b && !n.denies && !o.denies {
			return !partly(n.objects, o.objects) && (topic != "closing" || comparable(n.objects, o.objects))
		}
	}
	a, b := n.values["asking"], o.values["asking"]
	if a == "" || b == "" {
		return false
	}
	return n.asks() != o.asks() && allIn(n.about, o.about)
}

// asks reports whether the assistant has to ask before it acts.
func (n *wish) asks() bool { return (n.values["asking"] == "ask") != n.denies }

// genericWish reports whether a short unit names a kind of answers or texts in general, and how it is to be: "recipes for two", "code
// comments in German", but not "the letter in German". A way to address the user is one by itself.
func (e *extractor) genericWish(u *unit) bool {
	ws := e.t.words(u.from, u.to)
	if len(ws) > 10 || u.sentence.question || oneTask().Match(e.t.fold[u.from:u.to]) || e.tells(u) {
		return false
	}
	w := readWish(e.t, u.from, u.to)
	if w.values["tone"] != "" && len(w.objects) == 0 && addressing().Match(e.t.fold[u.from:u.to]) {
		return true
	}
	if len(w.values) == 0 && w.number == "" {
		return false
	}
	if stated().MatchString(e.t.foldedWords(u.from, u.to)) {
		return false
	}
	generic := false
	for i, x := range ws {
		f := e.t.folded(x)
		if i > 0 && determiners[e.t.folded(ws[i-1])] {
			return false
		}
		generic = generic || genericNouns[f]
	}
	return generic
}

var (
	// addressing are the words for the form of address.
	addressing = pattern(`\b(?:duzt?e?n?|siezt?e?n?|sie zu mir|du zu mir|per (?:du|sie)|das (?:du|sie)|tutoi[a-z]*|` +
		`vouvoi[a-z]*|tutea[a-z]*|` +
		`de (?:tu|usted))\b`)
	// genericNouns are kinds of answers, texts and values, in the plural.
	genericNouns = wordSet(`answers replies responses recipes prices amounts comments dates times temperatures distances mails emails
		summaries examples commands explanations paragraphs sentences lists links portions headings
		antworten rezepte preise betrage kommentare code-kommentare uhrzeiten temperaturen entfernungen mails zusammenfassungen
		beispiele befehle erklarungen absatze satze listen uberschriften
		reponses recettes prix montants commentaires dates heures temperatures distances courriels resumes exemples commandes
		explications phrases titres
		respuestas recetas precios importes comentarios fechas horas temperaturas distancias correos resumenes ejemplos comandos
		explicaciones frases titulos cantidades`)
	determiners = wordSet(`a an the this that these those following ein eine einen einem einer der die das dem den diese dieser dieses
		diesen un une une le la les ce cet cette ces l' una uno el los las este esta estos estas`)
)

// tells reports whether a unit is a fact with the words of a wish.
func (e *extractor) tells(u *unit) bool {
	return told().MatchString(e.t.foldedWords(u.from, u.to)) || listsValues().Match(e.t.fold[u.from:u.to])
}

// wishes reports whether a statement says how the assistant is to answer, or the team works, whatever its kind: "longer answers
// are welcome", "we use npm".
func (s *statement) wishes() bool {
	switch w := s.asWish(); {
	case s.aboutOthers():
		return false
	case s.order, w.values["name"] != "", w.ofTool() && s.changesTool():
		return true
	default:
		return s.owner != aPerson && (ofAnswers().Match(s.source.fold[s.from:s.to]) || s.owner == theTeam && w.ofTeam())
	}
}

// changesTool reports whether a content says that something is new or holds from now on.
func (s *statement) changesTool() bool {
	c := readChange(s.source, 0, len(s.source.fold), false)
	return c.says(cueNow, cueBecome, cueReplace)
}

// ofAnswers reports whether a unit says how the assistant's answers are to be.
func (e *extractor) ofAnswers(u *unit) bool {
	return ofAnswers().Match(e.t.fold[u.from:u.to]) && len(readWish(e.t, e.t.clauseOfAnswers(u.from, u.to), u.to).values) > 0
}

// clauseOfAnswers returns the start of the clause that says something of the assistant's answers, or from.
func (t *text) clauseOfAnswers(from, to int) int {
	if m := ofAnswers().FindIndex(t.fold[from:to]); m != nil {
		from += bytes.LastIndexByte(t.fold[from:from+m[0]], ',') + 1
	}
	return from
}

// ofTeam reports whether a wish is about the tools or the style of a team.
func (n *wish) ofTeam() bool { return n.values["quotes"] != "" || n.values["case"] != "" || n.ofTool() }

// ofTool reports whether a wish names a tool or a style.
func (n *wish) ofTool() bool {
	for topic := range n.values {
		if toolTopics[topic] {
			return true
		}
	}
	return false
}

// ofAnswers finds preferences and remarks on the answers of the assistant.
var ofAnswers = pattern(`\b(?:prefers?|answers|replies|responses|bevorzug[a-z]*|antworten|prefere|reponses|` +
	`prefiero|respuestas)\b`)

// otherValue reports whether two wishes about the same things have different values of a topic.
func (n *wish) otherValue(o *wish) bool {
	if n.denies || o.denies {
		return false
	}
	same := comparable(n.objects, o.objects)
	for topic, value := range n.values {
		old, ok := o.values[topic]
		if !same || topic == "asking" {
			continue
		}
		if manners[topic] && len(n.objects) == 0 != (len(o.objects) == 0) {
			continue // to the customers, to the user
		}
		if !ok {
			for narrow, x := range o.values { // "imperial units" overrules "Celsius"
				if strings.HasPrefix(narrow, topic+"/") && system[x] != value {
					return true
				}
			}
			if broad, _, _ := strings.Cut(topic, "/"); o.values[broad] != "" && system[value] != "" && system[value] != o.values[broad] {
				return true // "Fahrenheit" overrules "metric units"
			}
			continue
		}
		if old != value && !(topic == "length" && value != "long" && old != "long" && (value == "short" || old == "short")) {
			return true
		}
	}
	return false
}

// manners are topics that depend on the addressee.
var manners = wordSet("tone form")

// system is the system of a unit.
var system = map[string]string{
	"celsius": "metric", "km": "metric", "gram": "metric", "fahrenheit": "imperial", "miles": "imperial", "ounce": "imperial",
}

// opposes reports whether one wish asks for a thing that the other one rejects.
func (n *wish) opposes(o *wish) bool {
	for topic, value := range n.values {
		if old, ok := o.values[topic]; ok {
			return old == value && comparable(n.objects, o.objects)
		}
	}
	if len(n.objects) == 0 || len(o.objects) == 0 {
		return false
	}
	return allIn(n.objects, o.objects) || n.changes && !n.denies && allIn(o.objects, n.objects)
}

// otherFrame reports whether two wishes differ only in the words behind a preposition: mails start with Dear, with Hi.
func (n *wish) otherFrame(o *wish) bool {
	if n.frame == "" || n.frame != o.frame || n.verb != o.verb || n.at != o.at || len(n.values)+len(o.values) > 0 {
		return false
	}
	if len(n.after) == 0 || len(o.after) == 0 || n.frame == "with" && n.verb+n.at == "" || n.verb == "" && len(n.before) == 0 {
		return false
	}
	return allIn(n.before, o.before) && allIn(o.before, n.before) && !(allIn(n.after, o.after) && allIn(o.after, n.after))
}

// comparable reports whether one of two lists of things has all of the other.
func comparable(a, b []string) bool { return allIn(a, b) || allIn(b, a) }

// allIn reports whether all words of a are in b.
func allIn(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool {
		return !slices.ContainsFunc(b, func(y string) bool { return sameStem(x, y) })
	})
}

// inAny reports whether two lists have a word in common.
func inAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return sameStem(x, y) })
	})
}

// asWish reads a statement as a wish. It is read once.
func (s *statement) asWish() *wish {
	s.wishOnce.Do(func() {
		from := s.from
		if !s.order {
			from = s.source.clauseOfAnswers(s.from, s.to)
		}
		s.wish = readWish(s.source, from, s.to)
		s.wish.only, s.wish.changes = s.limits(), s.changes().says(cueNow, cueReplace) || again().Match(s.source.fold[s.from:s.to])
		if s.wish.values["asking"] == "" {
			return
		}
		for _, w := range s.source.words(0, len(s.source.fold)) {
			f := s.source.folded(w)
			x := objectStem(f)
			if strings.HasPrefix(x, "#") || isContent(f) && !isCue(f) && !plainWish[f] && wishValues[f].topic == "" && !wishStems[stem(f)] {
				s.wish.about = append(s.wish.about, x)
			}
		}
	})
	return &s.wish
}

// wishWord is the class of a word in a wish. The topics at, frame and verb are where it stands in the text.
type wishWord struct{ topic, value string }

// topicOf returns the topic of a word, or of it and the word before, or "".
func topicOf(before, f string) string {
	c, ok := wishValues[before+"_"+f]
	if !ok {
		c = wishValues[f]
	}
	switch {
	case c.topic == "at" || c.topic == "frame" || c.topic == "verb":
		return ""
	case f == "me" && (before == "call" || before == "address") || f == "mich" || f == "moi" || f == "llamame":
		return "name"
	}
	topic, _, _ := strings.Cut(c.topic, "/")
	return topic
}

// readWish reads the words between two positions.
func readWish(t *text, from, to int) wish {
	w := wish{values: map[string]string{}}
	ws := t.words(from, t.endOfWish(from, to))
	f := make([]string, len(ws))
	for i, x := range ws {
		f[i] = t.folded(x)
	}
	fold := " " + strings.Join(f, " ") + " "
	w.other = restOnly().MatchString(fold)
	order := fold // without its condition: "when you are not sure"
	if m := conditional().FindStringIndex(fold); m != nil && m[0] > 0 {
		order = fold[:m[0]+1]
	}
	order = beyondOne().ReplaceAllString(order, "")
	w.denies = rejects().MatchString(order) || !allows().MatchString(order) && lacking().MatchString(order)
	w.withdraws = withdrawn().MatchString(fold)
	if keepsOn().MatchString(fold) {
		w.denies, w.withdraws = false, false
	}
	if date := dateForm(fold); date != "" {
		w.values["date"] = date
	}
	closes := len(f) // the index of the words with which a letter ends
	if whole := t.foldedWords(from, to); closing().MatchString(whole) {
		at := closing().FindStringIndex(whole)[0]
		closes = len(strings.Fields(whole[:at]))
		w.values["closing"], _, _ = strings.Cut(asideOfClosing().ReplaceAllString(whole[at:], " |"), " |")
	}
	numbers := map[string]bool{}
	framed := false
	for i := 0; i < min(len(f), closes); i++ {
		x := f[i]
		two := x
		if i+1 < len(f) {
			two += "_" + f[i+1]
		}
		if i == 0 && t.onlyTitle(ws) {
			w.values["name"] = two
		}
		if named := nameAfter(t, ws, f, i); named != "" {
			w.values["name"] = named
			break
		}
		c, ok := wishValues[two]
		if ok {
			i++
		} else if c, ok = wishValues[x]; !ok {
			c, ok = mannerStems[stem(x)]
		}
		switch {
		case ok && c.topic == "at" && !(x == "termine" && t.quotesGerman()):
			w.at = c.value
		case ok && c.topic == "frame":
			if !framed && len(f) > i+1 {
				framed, w.frame, w.before = true, c.value, slices.Clone(w.objects)
			}
		case ok && c.topic == "verb":
			w.verb = c.value
		case ok && c.topic != "at":
			if _, set := w.values[c.topic]; !set {
				w.values[c.topic] = c.value
			}
		case x[0] >= '0' && x[0] <= '9' || numberWords[x] || x == "one" || small[x] != "":
			numbers[number(x)] = true
		case dateWords[x]:
		default:
			if name, ok := scopes[stem(x)]; ok {
				w.scope = name
				w.objects = append(w.objects, "#"+name)
				continue
			}
			if i > 0 && repoWords[f[i-1]] && ws[i].from == ws[i-1].to+1 || i+1 < len(f) && repoWords[f[i+1]] {
				if isContent(x) && !isCue(x) {
					w.place = stem(x)
				}
			}
			if !isContent(x) && !wishObject[x] || isCue(x) || wishStems[stem(x)] || plainWish[x] {
				if framed && len(x) > 1 && !nominal[x] && !plainWish[x] {
					w.after = append(w.after, stem(x))
				}
				continue
			}
			x = objectStem(x)
			if framed {
				w.after = append(w.after, x)
			}
			w.objects = append(w.objects, x)
		}
	}
	if w.scope == "" && w.values["program"] != "" {
		w.scope = "code"
	}
	if len(numbers) == 1 {
		for n := range numbers {
			w.number = n
		}
		if unit := lengthUnit().FindString(fold); unit != "" {
			w.values["length"] = w.number + unit
		}
	}
	return w
}

// objectStem returns the stem of a word, or the name of its concept.
func objectStem(f string) string {
	x := stem(f)
	if name := concepts[x]; name != "" {
		return name
	}
	if name := scopes[x]; name != "" {
		return "#" + name
	}
	if len(x) == 4 {
		return strings.TrimSuffix(x, "s") // jobs
	}
	if len(f) == 5 && len(x) == 3 && strings.HasSuffix(f, "es") {
		return f[:4] // jokes
	}
	return x
}

// foldedWords returns the words between two positions with a space around each.
func (t *text) foldedWords(from, to int) string {
	var out strings.Builder
	out.WriteByte(' ')
	for _, w := range t.words(from, to) {
		out.WriteString(t.folded(w) + " ")
	}
	return out.String()
}

// endOfWish returns the comma after the first words of content: a reason or a rejected thing follows.
func (t *text) endOfWish(from, to int) int {
	content := false
	ws := t.words(from, to)
	for i, w := range ws {
		f := t.folded(w)
		if i > 0 && content && bytes.IndexByte(t.fold[ws[i-1].to:w.from], ',') >= 0 && wishValues[f].topic == "" {
			return ws[i-1].to
		}
		content = content || wishValues[f].topic != "" || isContent(f) && !plainWish[f] && !isCue(f)
	}
	return to
}

// nameAfter returns how the user wants to be called, if word i begins with that.
func nameAfter(t *text, ws []word, f []string, i int) string {
	m := wantsName().FindString(strings.Join(f[i:min(len(f), i+6)], " ") + " ")
	n := len(strings.Fields(m))
	if n == 0 || i+n >= len(f) || function[f[i+n]] && !t.capital(ws[i+n].from) || !t.capital(ws[i+n].from) && !t.careless {
		return ""
	}
	return f[i+n] + " " + strings.Join(f[i+n+1:min(len(f), i+n+3)], " ")
}

// onlyTitle reports whether words are a title, a name and words of politeness: "Mr Miller please".
func (t *text) onlyTitle(ws []word) bool {
	if len(ws) < 2 || !titles[t.folded(ws[0])] || !t.capital(ws[1].from) {
		return false
	}
	return !slices.ContainsFunc(ws[2:], func(w word) bool { return !aroundName[t.folded(w)] })
}

// dateForm returns the order of a date's parts that a wish names, or "".
func dateForm(fold string) string {
	for i, rx := range dateForms {
		if rx().MatchString(fold) {
			return [...]string{"year", "day", "month"}[i]
		}
	}
	return ""
}

func number(f string) string {
	if n := small[f]; n != "" {
		return n
	}
	return f
}
