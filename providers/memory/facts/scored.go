package facts

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// sure is the confidence from which on a rule believes what it found.
const sure = 0.6

// A rule that is as sure as strict, or finds what there is one of, makes up for what is missing to the gate from likely
// on, and what the speaker asks to remember does from wished on.
const (
	strict = 0.8
	likely = 0.8
	wished = 0.5
)

// asksToRemember is the attribute of what a rule finds that the speaker asks to remember.
const asksToRemember = "to remember"

// enough reports whether what a rule found makes up for what a unit of confidence p
// lacks.
func enough(f Fact, p float64) bool {
	return (f.Exclusive || f.Confidence >= strict) && p >= likely || f.Attribute == asksToRemember && p >= wished
}

// shown is the confidence from which on what was not believed is shown.
const shown = 0.2

// weigh returns the facts of a message: what is likely to be worth remembering, as
// rules put it where they know more than that.
func (e *extractor) weigh() []Fact {
	e.read()
	sc, b := e.scene(), newBag()
	var out []Fact
	for k := range sc.units {
		u := &sc.units[k]
		e.features(b, sc, k)
		p, why := e.confidence(u, b, len(sc.units))
		out = append(out, e.put(u, b, sc.language, p, why)...)
	}
	return out
}

// confidence returns how likely it is that one of n units is worth remembering, and
// what speaks against it.
func (e *extractor) confidence(u *unit, b *bag, n int) (float64, []string) {
	p := loadWeights().weigh(b.hashes, n)
	s := u.sentence
	var why []string
	for _, x := range [...]struct {
		is  bool
		why string
		no  bool // never worth it
	}{
		{s.secret, "about a secret", true},
		{s.joke, "a joke", true},
		{s.story, "told in a story", true},
		{u.to-u.from > maxUnit, "too long for one fact", true},
		{u.asked, "a question or request", false},
		{u.supposed, "a condition", false},
		{s.task, "for one task", false},
	} {
		if !x.is {
			continue
		}
		why = append(why, x.why)
		if x.no {
			p = min(p, shown)
		}
	}
	return certainty(p), why
}

// put makes the facts of a unit: those of the rules, and the unit as a whole where it
// says more than they do.
func (e *extractor) put(u *unit, b *bag, language string, p float64, why []string) []Fact {
	var out []Fact
	ruled := e.believed(u)
	if p < Gate && slices.ContainsFunc(ruled, func(f Fact) bool { return enough(f, p) }) {
		p = Gate
	}
	for i := range ruled {
		f := &ruled[i]
		f.Confidence = p
		if f.When != "" && f.Kind != Event && f.Kind != Plan {
			e.date(f, u, language)
		}
		if p < Gate {
			f.Reason = against(f.Reason, why)
		}
	}
	more := e.more(u, ruled)
	if more > 0 && !slices.ContainsFunc(ruled, func(f Fact) bool { return f.Kind != Instruction }) && len(ruled) > 0 {
		// An order means little without what it is for.
		ruled, more = ruled[:1], manyMore
	}
	switch {
	case len(ruled) == 0 && p < Gate && len(u.facts) > 0:
		f := u.facts[0]
		f.Confidence, f.Reason = min(f.Confidence, p), against(f.Reason, why)
		return []Fact{f}
	case len(ruled) == 0 && p < shown:
		return nil
	case len(ruled) == 0 || more >= manyMore && len(ruled) > 1:
		out = append(out, e.whole(u, b, language, p, why))
	case more >= manyMore:
		e.widen(&ruled[0], e.whole(u, b, language, p, why))
	}
	return append(out, ruled...)
}

// manyMore is from how many words on that the rules did not take in a unit says more
// than they do.
const manyMore = 3

// believed returns what rules found in a unit and believe, in their order, and that
// begins there.
func (e *extractor) believed(u *unit) []Fact {
	var out []Fact
	for _, f := range u.facts {
		if f.Confidence >= sure && f.Span.Start >= u.from && f.Span.Start < u.to {
			out = append(out, f)
		}
	}
	return out
}

// more counts the words of a unit that say something and that no rule took.
func (e *extractor) more(u *unit, ruled []Fact) int {
	n := 0
	for _, w := range e.t.words(u.from, u.to) {
		taken := slices.ContainsFunc(ruled, func(f Fact) bool { return w.from >= f.Span.Start && w.to <= f.Span.End })
		if f := e.t.folded(w); !taken && !function[f] && !fillers[f] {
			n++
		}
	}
	return n
}

// widen makes what a rule found say all that the unit does.
func (e *extractor) widen(f *Fact, whole Fact) {
	f.Content = whole.Content
	f.Span.Start = min(f.Span.Start, whole.Span.Start)
	f.Span.End = max(f.Span.End, whole.Span.End)
	if f.When == "" {
		f.When, f.Occurred = whole.When, whole.Occurred
	}
}

// importances of facts that no rule weighs.
var importances = map[Kind]float64{
	Identity: .75, Instruction: .85, Preference: .7, Decision: .75, Relation: .7, Plan: .65, Event: .55, Outcome: .6,
}

// whole makes a fact of a unit.
func (e *extractor) whole(u *unit, b *bag, language string, p float64, why []string) Fact {
	kind := loadWeights().kindOf(b.hashes, func(k Kind) bool { return k == Instruction && e.people })
	from := e.open(u.from, u.to, &setting{})
	if from >= u.to || e.timeLead(u.from, u.to) != nil {
		from = u.from
	}
	f := Fact{
		Kind: kind, Content: e.say(e.t.quote(from, u.to), language, kind), Subject: e.who.subject,
		Confidence: p, Importance: importances[kind], Rule: "scored", Reason: reason(b, kind),
		Span: Span{Message: e.message, Start: u.from, End: u.to},
	}
	e.date(&f, u, language)
	if p < Gate {
		f.Reason = against(f.Reason, why)
	}
	return f
}

// say puts words into a sentence that says whose they are.
func (e *extractor) say(words, language string, kind Kind) string {
	if language == "en" && kind != Instruction {
		if s, ok := e.who.third(words); ok {
			return s
		}
	}
	l := speech(language)
	if e.who.named {
		return e.who.name + ": " + l.quotes[0] + words + l.quotes[1]
	}
	return l.says + l.quotes[0] + words + l.quotes[1]
}

// speech returns the language of a code.
func speech(code string) *language {
	for _, l := range languages() {
		if l.code == code {
			return l
		}
	}
	return &english
}

// date gives a fact the first day that its words name, or else the first time.
func (e *extractor) date(f *Fact, u *unit, language string) {
	if len(u.times) == 0 {
		return
	}
	x := u.times[max(0, slices.IndexFunc(u.times, func(x moment) bool { return x.Day }))]
	from, to := x.From, x.To
	if !e.over(f.Kind, u, language) && (!x.AheadFrom.IsZero() || !x.AheadTo.IsZero()) {
		from, to = x.AheadFrom, x.AheadTo
	}
	if open := from.IsZero() || to.Sub(from) > 20*365*24*time.Hour; open && !to.IsZero() {
		from = to.AddDate(0, 0, -1) // "until Friday"
	}
	if f.Occurred = from; !from.IsZero() {
		f.When = e.t.orig(x.from, x.to)
	}
}

// over reports whether a day that a unit names without its year is over.
func (e *extractor) over(k Kind, u *unit, language string) bool {
	past, future := false, false
	for _, w := range e.t.words(u.from, u.to) {
		past = past || e.past(w, language)
		future = future || slices.Contains(tells[e.t.folded(w)], "future")
	}
	switch k {
	case Plan:
		return false
	case Event:
		return past || !future
	default:
		return past && !future
	}
}

// helping are verbs at which a past of two words is known.
var helping = map[string]map[string]bool{
	"de": wordSet("hat hatte hatten war waren wurde wurden"),
	"es": wordSet("fue fueron ha he hemos han era"),
	"fr": wordSet("a ai avons ont etait"),
}

// past reports whether a word is a verb in the past.
func (e *extractor) past(w word, language string) bool {
	f := e.t.folded(w)
	if language == "en" {
		return pastVerb(f)
	}
	return helping[language][f]
}

// articles stand before the names of kinds.
var articles = map[Kind]string{
	Preference: "a ", Decision: "a ", Instruction: "an ", Identity: "an ", Relation: "a ", Plan: "a ", Event: "an ", Outcome: "an ",
}

// said are what some features mean, for people.
var said = sync.OnceValue(func() map[uint32]string {
	out := map[uint32]string{}
	b := newBag()
	for name, says := range map[string]string{
		"cue=first person": "said in the first person", "cue=own": "about somebody's own", "cue=relative": "about somebody close",
		"cue=standing": "meant to last", "cue=recurring": "happens again and again", "cue=change": "something changed", "cue=settled": "something was settled",
		"cue=number": "names a number", "cue=future": "something is to come", "cue=denial": "says what is not", "time": "names a time",
		"time ahead": "names a day to come", "time past": "names a day that is over", "remember": "asked to remember", "rule": "a rule found something",
		"n asked": "a question follows", "p asked": "follows a question", "elided": "a note without subject", "named": "said by a person with a name",
	} {
		b.reset()
		b.add(name)
		out[b.hashes[0]] = says
	}
	return out
})

// reason says what speaks most for a unit.
func reason(b *bag, kind Kind) string {
	w := loadWeights()
	type spoken struct {
		weight int16
		says   string
	}
	var all []spoken
	for _, h := range b.hashes {
		if says, ok := said()[h]; ok {
			if i, ok := w.find(h); ok && w.keep[i] > 0 {
				all = append(all, spoken{w.keep[i], says})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y spoken) int { return cmp.Compare(y.weight, x.weight) })
	parts := []string{"reads like " + articles[kind] + string(kind)}
	for _, x := range all[:min(len(all), 3)] {
		parts = append(parts, x.says)
	}
	return strings.Join(parts, ", ")
}

// against adds what speaks against a fact to what speaks for it.
func against(reason string, why []string) string {
	if strings.Contains(reason, "; ") {
		return reason
	}
	if len(why) == 0 {
		why = []string{"little else speaks for it"}
	}
	return reason + "; " + strings.Join(why, ", ")
}
