package facts

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// minRuleConfidence is the least confidence at which a rule's match counts.
const minRuleConfidence = 0.6

// A rule with confidence strict, or with an exclusive value, lowers the gate to supported, and a request to remember to
// leastRemembered.
const (
	strict          = 0.8
	supported       = 0.5
	leastRemembered = 0.35
)

// asksToRemember is the attribute of a match in which the speaker asks to remember something.
const asksToRemember = "to remember"

// enough reports whether a rule's match makes up for a unit's confidence p below the gate.
func enough(f Fact, p float64) bool {
	if f.Attribute == asksToRemember {
		return p >= leastRemembered
	}
	return p >= supported && (f.Exclusive || f.Confidence >= strict)
}

// leastShown is the least confidence at which a rejected fact is returned by [Explain].
const leastShown = 0.1

// weigh returns the facts of a message: the units likely to be worth remembering, refined by rules
// where those know more.
func (e *extractor) weigh() []Fact {
	e.read()
	sc, b := e.scene(), newBag()
	var out []Fact
	for k := range sc.units {
		u := &sc.units[k]
		sc.at = k
		e.features(b, sc, k)
		p, why := e.confidence(u, b, len(sc.units))
		for _, f := range e.unitFacts(u, b, sc, p, why) {
			f.Unclaimed = len(why) > 0 && p < Gate && !(f.Kind == ragctx.FactInstruction && e.lasting(u, why))
			out = append(out, f)
		}
	}
	return out
}

// Objections that the form of an order may have.
const (
	asRequest   = "a question or request"
	asCondition = "a condition"
)

// confidence returns the probability that one of n units is worth remembering, and the objections.
func (e *extractor) confidence(u *unit, b *bag, n int) (float64, []string) {
	p := loadWeights().weigh(b.hashes, n)
	if p < Gate && n <= maxShort && b.reads() == ragctx.FactInstruction && !e.people && e.genericWish(u) {
		return Gate, nil
	}
	if p < leastWithdrawal && withdrawn().MatchString(e.t.foldedWords(u.from, u.to)) {
		p = leastWithdrawal
	}
	s := u.sentence
	var why []string
	for _, x := range [...]struct {
		is  bool
		why string
		no  bool // always rejected
	}{
		{s.secret, "about a secret", true},
		{s.joke, "a joke", true},
		{s.story, "told in a story", true},
		{u.to-u.from > maxUnit, "too long for one fact", true},
		{u.asked, asRequest, false},
		{u.supposed, asCondition, false},
		{s.task, "for one task", false},
		{e.several && len(u.facts) == 0 && b.reads() == ragctx.FactInstruction, "said to another person", true},
	} {
		if !x.is {
			continue
		}
		why = append(why, x.why)
		if x.no {
			p = min(p, leastShown)
		}
	}
	return certainty(p), why
}

// leastWithdrawal is the least confidence of words that take an earlier wish back. It is enough if they do.
const leastWithdrawal = 0.35

// reads returns the most likely kind of the unit with these features.
func (b *bag) reads() ragctx.FactKind {
	return loadWeights().kindOf(b.hashes, func(ragctx.FactKind) bool { return false })
}

// sure is the least confidence of a unit with an objection, or of a long message.
const sure = 0.9

// unitFacts returns the facts of a unit: for each piece of it those of the rules, and the whole piece if it says
// more than they do.
func (e *extractor) unitFacts(u *unit, b *bag, sc *scene, p float64, why []string) []Fact {
	language := sc.language
	ruled := e.credible(u)
	plain := 0.0 // the confidence of a unit below the gate
	if below := (len(why) > 0 || len(sc.units) > maxShort) && p < sure || p < Gate; below {
		if slices.ContainsFunc(ruled, func(f Fact) bool { return enough(f, p) }) || sc.isWish(b, p, why) && !e.tells(u) {
			p = max(p, Gate)
		} else {
			plain, p = p, min(p, Gate-.01)
		}
	}
	for i := range ruled {
		f := &ruled[i]
		f.Confidence = p
		if f.When != "" && f.Kind != ragctx.FactEvent && f.Kind != ragctx.FactPlan {
			e.date(f, u, language)
		}
		if p < Gate {
			f.Reason = withObjections(f.Reason, why)
		}
	}
	if plain >= plainGate && len(why) == 0 {
		if out := e.plainFacts(u, ruled, b, sc, plain); len(out) > 0 {
			return out
		}
	}
	switch {
	case len(ruled) == 0 && p < Gate && len(u.facts) > 0:
		f := u.facts[0]
		f.Confidence, f.Reason = min(f.Confidence, p), withObjections(f.Reason, why)
		return []Fact{f}
	case len(ruled) == 0 && p < leastShown:
		return nil
	}
	var out []Fact
	for _, part := range e.worthy(e.partsOf(u), u, sc) {
		out = append(out, e.pieceFacts(part, u, ruled, b, language, p, why)...)
	}
	return out
}

// plainGate is the least confidence of a unit whose plain statements are believed if they are about a taste or
// name something. Other plain statements need [sure], since "I'm starving" is a mood. So do those of a long message,
// which is more often a story.
const (
	plainGate = .45
	maxShort  = 3 // units of a short message
)

// plainFacts returns the facts of a unit below the gate whose pieces are plain statements, or nil.
func (e *extractor) plainFacts(u *unit, ruled []Fact, b *bag, sc *scene, p float64) []Fact {
	var out []Fact
	parts := e.worthy(e.partsOf(u), u, sc)
	e.features(b, sc, sc.at)
	for _, x := range parts {
		says := e.plain(x)
		if says == nothing {
			continue
		}
		for _, f := range e.pieceFacts(x, u, ruled, b, sc.language, Gate, nil) {
			vague := says == something && f.Kind != ragctx.FactPreference || len(sc.units) > maxShort
			if vague && p < sure {
				continue
			}
			f.Confidence = Gate
			out = append(out, f)
		}
	}
	return out
}

// wishGate is the least confidence of a wish for later answers in a short message. The user notices at once that one
// was missed, and has to repeat it. One in the form of a request or a condition needs more. So does a phrase that names no
// topic of answers and does not say that it is to last, and one in a conversation between people.
const (
	wishGate    = .45
	requestGate = .55
	looseGate   = .6
)

// isWish reports whether the unit of a short message is most likely an instruction, with a confidence p.
func (sc *scene) isWish(b *bag, p float64, why []string) bool {
	gate, request := wishGate, requestGate
	if sc.people || b.has("form=phrase") && !b.has("wish topic") && !b.has("cue=standing") {
		gate, request = looseGate, Gate
	}
	for _, x := range why {
		if x != asRequest && x != asCondition {
			return false
		}
		gate = request
	}
	return len(sc.units) <= maxShort && p >= gate && b.reads() == ragctx.FactInstruction
}

// lasting reports whether a unit with these objections says that a request holds from now on, or takes one back.
func (e *extractor) lasting(u *unit, why []string) bool {
	for _, x := range why {
		if x != asRequest && x != asCondition {
			return false
		}
	}
	words := e.t.foldedWords(u.from, u.to)
	c := readChange(e.t, u.from, u.to, true)
	return !oneTask().MatchString(words) && (withdrawn().MatchString(words) || c.says(cueNow, cueNoMore) ||
		slices.ContainsFunc(e.t.words(u.from, u.to), func(w word) bool { return slices.Contains(cuesOf[e.t.folded(w)], "standing") }))
}

// partsOf returns the pieces of a unit.
func (e *extractor) partsOf(u *unit) []piece {
	var out []piece
	for _, x := range u.sentence.pieces {
		first := len(out) == 0
		if x.from, x.to = max(x.from, u.from), min(x.to, u.to); x.from >= x.to {
			continue
		}
		if first {
			x.from, x.subject, x.pronoun = u.from, "", false
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return []piece{{from: u.from, to: u.to}}
	}
	return out
}

// part returns the unit within a piece, with the times there.
func (u *unit) part(x piece) unit {
	p := *u
	p.from, p.to = x.from, x.to
	p.times = slices.DeleteFunc(slices.Clone(u.times), func(t moment) bool { return t.from < x.from || t.to > x.to })
	return p
}

// worthPiece is the least probability that a piece is worth remembering by itself.
const worthPiece = 0.7

// plainPiece is the same for a plain statement.
const plainPiece = 0.3

// worthy joins a piece that is not worth remembering by itself to the piece before.
func (e *extractor) worthy(parts []piece, u *unit, sc *scene) []piece {
	if len(parts) < 2 {
		return parts
	}
	b := newBag()
	out := parts[:0:0]
	for i, x := range parts {
		part := u.part(x)
		part.first, part.last = u.first && i == 0, u.last && i == len(parts)-1
		part.facts = slices.DeleteFunc(slices.Clone(u.facts), func(f Fact) bool { return f.Span.Start < x.from || f.Span.Start >= x.to })
		old := sc.units[sc.at]
		sc.units[sc.at] = part
		e.features(b, sc, sc.at)
		sc.units[sc.at] = old
		p := loadWeights().weigh(b.hashes, len(sc.units))
		keep := p >= worthPiece || p >= plainPiece && e.plain(x) != nothing
		if n := len(out); n > 0 && !keep {
			out[n-1].to = x.to
		} else if n == 1 && out[0].weak && out[0].from == parts[0].from {
			out[0].to, out[0].weak = x.to, false
		} else {
			x.weak = !keep
			out = append(out, x)
		}
	}
	return out
}

// pieceFacts returns the facts of a piece of a unit; ruled are those of the unit.
func (e *extractor) pieceFacts(x piece, u *unit, ruled []Fact, b *bag, language string, p float64, why []string) []Fact {
	part := u.part(x)
	var own []Fact
	for _, f := range ruled {
		if f.Span.Start >= x.from && f.Span.Start < x.to || x.from == u.from && f.Span.Start < x.from {
			own = append(own, f)
		}
	}
	if len(own) == 0 && x.subject != "" && !x.pronoun {
		if f, ok := e.carried(x, u); ok {
			f.Confidence = p
			own = append(own, f)
		}
	}
	whole := func() Fact { return e.wholeFact(&part, x, b, language, p, why) }
	more := e.uncovered(&part, own, func(f Fact) int { return f.Span.End })
	if more > 0 && len(own) > 0 && !slices.ContainsFunc(own, func(f Fact) bool { return f.Kind != ragctx.FactInstruction }) {
		// An order means little without its purpose.
		own, more = own[:1], manyUncovered
	}
	switch {
	case len(own) == 0 && !hasContent(e.t, &part):
		return nil
	case len(own) == 0:
		return []Fact{whole()}
	case more >= manyUncovered && len(own) > 1:
		return append([]Fact{whole()}, own...)
	case more >= manyUncovered:
		e.widen(&own[0], whole())
	}
	return own
}

// hasContent reports whether a piece has a content word.
func hasContent(t *text, u *unit) bool {
	return slices.ContainsFunc(t.words(u.from, u.to), func(w word) bool { f := t.folded(w); return !function[f] && !fillers[f] })
}

// carried applies the rules to a piece with the subject of the piece before.
func (e *extractor) carried(x piece, u *unit) (Fact, bool) {
	left := strings.ToLower(x.subject)
	if left != "i" && left != "we" && left != "ich" && left != "wir" {
		return Fact{}, false
	}
	for _, r := range compiled()[left] {
		m := match{extractor: e, rule: r, s: u.sentence, from: x.from, at: x.from}
		if f, ok := m.run(left + " "); ok && f.Confidence >= minRuleConfidence && r.kind != ragctx.FactInstruction {
			return f, true
		}
	}
	return Fact{}, false
}

// manyUncovered is the number of words outside all matches from which a unit says more than its rules.
const manyUncovered = 3

// credible returns the credible matches of rules that begin in a unit, in their order.
func (e *extractor) credible(u *unit) []Fact {
	var out []Fact
	for _, f := range u.facts {
		if f.Confidence >= minRuleConfidence && f.Span.Start >= u.from && f.Span.Start < u.to {
			out = append(out, f)
		}
	}
	return out
}

// uncovered counts the content words of a unit outside the facts, each of which goes to end.
func (e *extractor) uncovered(u *unit, facts []Fact, end func(Fact) int) int {
	n := 0
	for _, w := range e.t.words(u.from, u.to) {
		taken := slices.ContainsFunc(facts, func(f Fact) bool { return w.from >= f.Span.Start && w.to <= end(f) })
		if f := e.t.folded(w); !taken && !function[f] && !fillers[f] {
			n++
		}
	}
	return n
}

// widen extends a rule's fact to the whole unit.
func (e *extractor) widen(f *Fact, whole Fact) {
	f.Content = whole.Content
	f.Span.Start = min(f.Span.Start, whole.Span.Start)
	f.Span.End = max(f.Span.End, whole.Span.End)
	if f.When == "" {
		f.When, f.Occurred = whole.When, whole.Occurred
	}
}

// importances holds the importance by kind of facts without a rule.
var importances = map[ragctx.FactKind]float64{
	ragctx.FactIdentity: .75, ragctx.FactInstruction: .85, ragctx.FactPreference: .7, ragctx.FactDecision: .75,
	ragctx.FactRelation: .7, ragctx.FactPlan: .65, ragctx.FactEvent: .55, ragctx.FactOutcome: .6,
}

// wholeFact returns a fact for a whole piece of a unit.
func (e *extractor) wholeFact(u *unit, x piece, b *bag, language string, p float64, why []string) Fact {
	kind := loadWeights().kindOf(b.hashes, func(k ragctx.FactKind) bool {
		return k == ragctx.FactInstruction && (e.several || e.costs(u) || e.tells(u))
	})
	if kind == ragctx.FactIdentity && e.ofAnswers(u) && !e.several {
		kind = ragctx.FactInstruction // "longer answers are welcome again"
	}
	from := e.open(u.from, u.to, &setting{})
	if from >= u.to || e.timeLead(u.from, u.to) != nil {
		from = u.from
	}
	f := Fact{
		Kind: kind, Content: e.attributed(x.words(e.t.quote(from, u.to)), language, kind), Subject: e.speaker.subject,
		Confidence: p, Importance: importances[kind], Rule: "scored", Reason: reason(b, kind),
		Span: ragctx.TurnSpan{Message: e.message, Start: u.from, End: u.to},
	}
	e.date(&f, u, language)
	if p < Gate {
		f.Reason = withObjections(f.Reason, why)
	}
	return f
}

// costs reports whether a unit says how much something costs, which is no wish.
func (e *extractor) costs(u *unit) bool {
	ws := e.t.words(u.from, u.to)
	at := slices.IndexFunc(ws, func(w word) bool { return costVerbs[e.t.folded(w)] })
	return at >= 0 && slices.ContainsFunc(ws[at+1:], func(w word) bool {
		f := e.t.folded(w)
		return f[0] >= '0' && f[0] <= '9' || numberWords[f]
	})
}

var costVerbs = wordSet("costs kostet kosten coute coutent cuesta cuestan vale")

// attributed quotes words in a sentence that names their speaker.
func (e *extractor) attributed(words, language string, kind ragctx.FactKind) string {
	if language == "en" && kind != ragctx.FactInstruction {
		if s, ok := e.speaker.third(words); ok {
			return s
		}
	}
	l := languageByCode(language)
	if e.speaker.named {
		return e.speaker.name + ": " + l.quotes[0] + words + l.quotes[1]
	}
	return l.says + l.quotes[0] + words + l.quotes[1]
}

// languageByCode returns the language of a code.
func languageByCode(code string) *language {
	for _, l := range languages() {
		if l.code == code {
			return l
		}
	}
	return &english
}

// date sets the fact's time to the first day that its words name, or else the first time.
func (e *extractor) date(f *Fact, u *unit, language string) {
	if len(u.times) == 0 {
		return
	}
	x := u.times[max(0, slices.IndexFunc(u.times, func(x moment) bool { return x.Day }))]
	from, to := x.From, x.To
	if !e.dayIsPast(f.Kind, u, language) && (!x.AheadFrom.IsZero() || !x.AheadTo.IsZero()) {
		from, to = x.AheadFrom, x.AheadTo
	}
	if open := from.IsZero() || to.Sub(from) > 20*365*24*time.Hour; open && !to.IsZero() {
		from = to.AddDate(0, 0, -1) // "until Friday"
	}
	if f.Occurred = from; !from.IsZero() {
		f.When = e.t.orig(x.from, x.to)
	}
}

// dayIsPast reports whether a day named without its year lies in the past.
func (e *extractor) dayIsPast(k ragctx.FactKind, u *unit, language string) bool {
	past, future := false, false
	for _, w := range e.t.words(u.from, u.to) {
		past = past || e.isPastVerb(w, language)
		future = future || slices.Contains(cuesOf[e.t.folded(w)], "future")
	}
	switch k {
	case ragctx.FactPlan:
		return false
	case ragctx.FactEvent:
		return past || !future
	default:
		return past && !future
	}
}

// helping holds auxiliary verbs of the perfect tense.
var helping = map[string]map[string]bool{
	"de": wordSet("hat hatte hatten war waren wurde wurden"),
	"es": wordSet("fue fueron ha he hemos han era"),
	"fr": wordSet("a ai avons ont etait"),
}

// isPastVerb reports whether a word is a past verb.
func (e *extractor) isPastVerb(w word, language string) bool {
	f := e.t.folded(w)
	if language == "en" {
		return pastVerb(f)
	}
	return helping[language][f]
}

// articles precede the names of kinds.
var articles = map[ragctx.FactKind]string{
	ragctx.FactPreference: "a ", ragctx.FactDecision: "a ", ragctx.FactInstruction: "an ",
	ragctx.FactIdentity: "an ", ragctx.FactRelation: "a ", ragctx.FactPlan: "a ", ragctx.FactEvent: "an ", ragctx.FactOutcome: "an ",
}

// explanations maps features to their explanations for people.
var explanations = sync.OnceValue(func() map[uint32]string {
	out := map[uint32]string{}
	b := newBag()
	for name, says := range map[string]string{
		"cue=first person": "said in the first person", "cue=own": "about a possession", "cue=relative": "about a relative or friend",
		"cue=standing": "meant to last", "cue=recurring": "recurring",
		"cue=change": "something changed", "cue=settled": "something was settled",
		"cue=number": "names a number", "cue=future": "a future event", "cue=denial": "a denial", "time": "names a time",
		"time ahead": "names a future day", "time past": "names a past day",
		"remember": "asked to remember", "rule": "a rule matched",
		"n asked": "a question follows", "p asked": "follows a question", "elided": "a note without subject",
		"named": "said by a named person",
	} {
		b.reset()
		b.add(name)
		out[b.hashes[0]] = says
	}
	return out
})

// reason returns the explanation of the strongest feature of a unit.
func reason(b *bag, kind ragctx.FactKind) string {
	w := loadWeights()
	type spoken struct {
		weight int16
		says   string
	}
	var all []spoken
	for _, h := range b.hashes {
		if says, ok := explanations()[h]; ok {
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

// withObjections appends the objections to a reason.
func withObjections(reason string, why []string) string {
	if strings.Contains(reason, "; ") {
		return reason
	}
	if len(why) == 0 {
		why = []string{"little else speaks for it"}
	}
	return reason + "; " + strings.Join(why, ", ")
}
