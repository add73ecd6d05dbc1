package facts

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// match is a rule that matches a clause.
type match struct {
	*extractor
	rule     *rule
	s        *sentenceSpan
	k        int // the index of the clause
	from, at int // the start of the clause, and of the rule's window
	to       int
	loc      []int // of the groups
	set      setting
	omitted  string // words omitted before the clause
	value    string
	vFrom    int
	vTo      int
	time     *moment
	subject  string // the subject, if other than the speaker
}

// run applies the rule. left holds the words that the speaker omitted before the clause.
func (m *match) run(left string) (Fact, bool) {
	m.omitted = left
	words := m.t.fold[m.at:min(m.s.to, m.at+window)]
	if left != "" {
		words = append([]byte(left), words...)
	}
	if !m.rule.mayFit(words) {
		return Fact{}, false
	}
	loc := m.rule.rx.FindSubmatchIndex(words)
	if loc == nil {
		return Fact{}, false
	}
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] = max(m.at, loc[i]+m.at-len(left))
		}
	}
	m.loc, m.to = loc, loc[1]
	if !m.bound() || !m.about() {
		return Fact{}, false
	}
	if !m.rule.more {
		m.findTime()
	}
	if m.rule.timed && m.time == nil || m.rule.check != nil && !m.rule.check(m) {
		return Fact{}, false
	}
	m.weigh()
	wide := m.to
	m.cut()
	f := m.fact()
	f.Matched = wide
	return f, true
}

// cut ends the value, and the match, with their piece of the sentence.
func (m *match) cut() {
	_, _, ok := m.group("v")
	at := m.at
	if ok && m.vTo > m.vFrom {
		at = m.vFrom
	}
	for _, p := range m.s.pieces {
		if p.from <= at && at < p.to && p.to < m.to {
			if ok && m.vTo > p.to {
				m.vTo = p.to
				m.value = strings.Join(strings.Fields(m.t.orig(m.vFrom, m.vTo)), " ")
			}
			m.to = max(p.to, m.lastGroup())
			return
		}
	}
}

// tails matches words at the end of a value that do not belong to it.
var tails = pattern(`(?:[\s,.!;:~"()-]+|\s(?:though|too|as well|lol|haha|btw|by the way|anyway|anyways|` +
	`right now|now|please|pls|thanks|thank you|actually|fyi|either|` +
	`any ?more|nowadays|these days|at the moment|currently|so far|tbh|already|instead|again|jk|ok|okay|right|you ` +
	`know|if possible|and|but|so|or|because|which|that|a|an|the|to|of|for|with|my|our|in|at|on|from|by|` +
	`auch|jetzt|mittlerweile|inzwischen|bitte|danke|ubrigens|und|aber|tambien|ahora|gracias|por favor|y|aussi|` +
	`maintenant|merci|stp|et|mais))$`)

// maxTail exceeds the length of any tail.
const maxTail = 24

// bound cuts the value at the start of the next clause.
func (m *match) bound() bool {
	from, to, ok := m.group("v")
	if !ok {
		for m.to > m.at && (m.t.fold[m.to-1] == ' ' || m.t.fold[m.to-1] == ',') {
			m.to--
		}
		return true
	}
	if to == m.loc[1] || m.loc[1] >= m.s.to-1 {
		to = min(to, m.s.next(from))
	}
	open := to == m.s.to || to >= m.at+window || to < m.loc[1] || to == m.loc[1]
	for open {
		near := max(from, to-maxTail)
		loc := tails().FindIndex(m.t.fold[near:to])
		if loc == nil || loc[0] == loc[1] {
			break
		}
		to = near + loc[0]
	}
	if to-from >= maxValue {
		if i := bytes.LastIndexByte(m.t.fold[from:from+maxValue], ' '); i > 0 {
			to = from + i
		}
	}
	m.vFrom, m.vTo = from, to
	if to <= from {
		m.to = m.lastGroup()
		return strings.Contains(m.rule.value, "{")
	}
	m.setTo(max(to, m.lastGroup()))
	return m.settleValue()
}

// maxValue is the longest value, in code points.
const maxValue = 240

// lastGroup returns the end of the last other group.
func (m *match) lastGroup() int {
	end := m.at
	for i, name := range m.rule.rx.SubexpNames() {
		if name != "" && name != "v" && m.loc[2*i] >= 0 {
			end = max(end, m.loc[2*i+1])
		}
	}
	return end
}

func (m *match) setTo(to int) {
	if to > m.vFrom || m.to > m.s.to {
		m.to = to
	}
}

// pointing holds words that refer to something said elsewhere.
var pointing = wordSet(`it this that these those them him her you your yours so such there here what how when
	where why whatever everything anything nothing something is are was were and or but
	das dies es ihn sie dich dir euch deine dein was wie esto eso ese esa lo te tu que ca cela te toi vous votre vos ton ta tes ce`)

// settleValue removes a trailing time from the value and rejects a value that means nothing alone.
func (m *match) settleValue() bool {
	if !m.rule.keep {
		m.dropTime()
	}
	m.value = strings.Join(strings.Fields(m.t.orig(m.vFrom, m.vTo)), " ")
	if strings.TrimFunc(m.value, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) == "" {
		return false
	}
	if m.rule.keep {
		return true
	}
	return !pointing[m.t.first(m.vFrom, m.vTo)] || m.t.capital(m.vFrom+1)
}

// dropTime removes a trailing time from the value, unless it is the whole value.
func (m *match) dropTime() {
	i, ok := slices.BinarySearchFunc(m.times, m.vTo, func(x moment, at int) int { return cmp.Compare(x.to, at) })
	if !ok {
		return
	}
	to := m.times[i].from
	for to > m.vFrom && !unicode.IsLetter(m.t.runes[to-1]) && !unicode.IsDigit(m.t.runes[to-1]) {
		to--
	}
	if to > m.vFrom {
		m.vTo = to
	}
}

// about resolves the subject of a rule for persons. It rejects "she" if no person was named before.
func (m *match) about() bool {
	from, to, ok := m.group("p")
	if !ok {
		return true
	}
	words := strings.Join(strings.Fields(m.t.orig(from, to)), " ")
	switch m.t.first(from, to) {
	case "he", "she", "they", "he's", "she's", "they're", "er", "sie", "el", "ella", "il", "elle":
		m.subject = m.lastPerson
	case "my", "our":
		_, rest, _ := strings.Cut(words, " ")
		m.subject = m.extractor.speaker.mid() + "'s " + rest
		m.lastPerson = m.subject
	default:
		m.subject = words
		m.lastPerson = words
	}
	last := m.subject[strings.LastIndexByte(m.subject, ' ')+1:]
	return m.subject != "" && (m.rule.more || !linking[strings.ToLower(strings.Trim(last, ","))])
}

// linking holds words that are not a name after "my sister".
var linking = wordSet("who that which is are was has also always just and never still really loves likes already recently")

// findTime finds the time named by the clause, or by the words before it.
func (m *match) findTime() {
	x := m.timeIn(m.from, m.to)
	if x == nil {
		if at := m.to; at < m.s.to {
			for at < m.s.to && (m.t.fold[at] == ' ' || m.t.fold[at] == ',') {
				at++
			}
			if x = m.timeAt(at); x != nil && x.to <= m.s.to {
				m.to = x.to
			} else {
				x = nil
			}
		}
	}
	if x == nil {
		return
	}
	ahead := !x.AheadFrom.IsZero() && !x.AheadFrom.Before(m.today()) || x.AheadTo.After(m.today().AddDate(0, 0, 1))
	behind := x.From.IsZero() || !x.From.After(m.extractor.at)
	if m.rule.tense == future && !ahead && m.rule.timed || m.rule.tense == past && !behind && m.rule.timed {
		return
	}
	m.time = x
}

// weigh sets the confidence from the surroundings of the statement.
func (m *match) weigh() {
	m.t.judge(m.s, m.k, &m.set)
	if m.rule.standing && m.set.less < 1 {
		m.set.less, m.set.why = 0, nil
	}
	if (m.rule.kind == ragctx.FactPreference || m.rule.kind == ragctx.FactInstruction) && m.s.task {
		m.set.doubt(.4, "for one task")
	}
	if m.rule.kind == ragctx.FactInstruction && m.several {
		m.set.doubt(.3, "said to another person")
	}
	if r := m.rule; r.kind == ragctx.FactPlan && m.time != nil && !r.timed {
		m.set.less -= .06
	}
	if m.set.hedge {
		m.set.doubt(.15, "not sure")
	}
}

// certainty rounds a confidence and clamps it to 0 to .95.
func certainty(x float64) float64 { return math.Round(min(.95, max(0, x))*100) / 100 }

// fact returns the fact.
func (m *match) fact() Fact {
	r := m.rule
	conf := r.conf - m.set.less
	imp := r.imp
	reason := r.reason
	if m.set.remember {
		conf, imp, reason = conf+.1, max(imp, .85), reason+", asked to remember"
	}
	if len(m.set.why) > 0 {
		reason += "; " + strings.Join(m.set.why, ", ")
	}
	f := Fact{
		Kind: r.kind, Exclusive: r.exclusive, Confidence: certainty(conf), Importance: imp, Rule: r.lang.code + "." +
			r.name, Reason: reason,
		Profile: r.profile && !m.extractor.speaker.named, Span: ragctx.TurnSpan{Message: m.message, Start: m.start(), End: m.to},
		Subject: m.fill(r.subject), Attribute: m.fill(r.attribute), Value: m.fill(r.value), Content: m.content(),
	}
	if f.Subject == "" {
		f.Subject = m.extractor.speaker.subject
		if m.subject != "" {
			f.Subject = m.subject
		}
	}
	if f.Value == "" {
		f.Value = m.value
	}
	f.Subject = strings.TrimPrefix(strings.TrimPrefix(f.Subject, "the "), "The ")
	if x := m.time; x != nil {
		f.When = m.t.orig(x.from, x.to)
		f.Occurred = x.From
		if r.tense == future {
			f.Occurred = x.AheadFrom
		}
		if f.Occurred.IsZero() && !x.To.IsZero() {
			f.Occurred = x.To.AddDate(0, 0, -1)
		}
	}
	return f
}

// start returns the start of the fact's words, including a preceding time.
func (m *match) start() int {
	if m.time != nil && m.time.from < m.at {
		return max(m.from, m.time.from)
	}
	return m.at
}

// fill substitutes the groups in a template.
func (m *match) fill(s string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	from := m.extractor.speaker
	pairs := []string{"{S}", from.name, "{u}", from.mid(), "{v}", m.value, "{P}", m.subject}
	for _, g := range []string{"a", "s", "n", "o", "p"} {
		words := m.words(g)
		if g == "s" || g == "a" {
			words = m.owned(words)
		}
		pairs = append(pairs, "{"+g+"}", words)
	}
	return strings.Join(strings.Fields(strings.NewReplacer(pairs...).Replace(s)), " ")
}

// owned replaces a leading article or possessive by the owner's name.
func (m *match) owned(words string) string {
	first, rest, ok := strings.Cut(words, " ")
	if !ok {
		return words
	}
	switch strings.ToLower(first) {
	case "my", "our":
		return rest
	case "the", "a", "an", "der", "die", "das", "el", "la", "los", "las", "le", "les":
		return rest
	}
	return words
}

// content returns the sentence that states the fact.
func (m *match) content() string {
	if m.rule.content != "" {
		return sentenceCase(m.withTime(m.fill(m.rule.content)))
	}
	clause := strings.Join(strings.Fields(m.t.orig(m.start(), m.to)), " ")
	if m.omitted != "" {
		r, n := utf8.DecodeRuneInString(clause)
		clause = m.omitted + string(unicode.ToLower(r)) + clause[n:]
	}
	if m.subject != "" && m.rule.lang.code == "en" {
		if from, to, ok := m.group("p"); ok && from == m.at {
			rest := m.t.orig(to, m.to)
			if is, ok := strings.CutPrefix(strings.ReplaceAll(rest, "’", "'"), "'s "); ok {
				rest = "is " + is
			}
			clause = strings.Join(strings.Fields(m.subject+" "+rest), " ")
		}
	}
	if m.rule.lang.code == "en" && m.rule.kind != ragctx.FactInstruction {
		if s, ok := m.extractor.speaker.third(clause); ok {
			return s
		}
	}
	l := m.rule.lang
	if m.extractor.speaker.named {
		return m.extractor.speaker.name + ": " + l.quotes[0] + clause + l.quotes[1]
	}
	return l.says + l.quotes[0] + clause + l.quotes[1]
}

// withTime appends the words of the time if the sentence lacks them.
func (m *match) withTime(s string) string {
	if m.time == nil {
		return s
	}
	when := m.t.orig(m.time.from, m.time.to)
	if strings.Contains(s, when) {
		return s
	}
	return strings.TrimSuffix(s, ".") + " (" + when + ")"
}
