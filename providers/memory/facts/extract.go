package facts

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// maxMessage is the number of bytes of a message that are read.
const maxMessage = 100_000

// maxFacts is the largest number of facts of one turn; the most confident ones are kept.
const maxFacts = 50

// Found holds the facts of a turn.
type Found struct {
	// Facts have at least the confidence [Gate]. They are in the order of the turn.
	Facts []Fact `json:"facts"`
	// Below holds the facts of lower confidence, with the objections in Reason.
	Below []Fact `json:"below"`
}

// Explain returns the facts stated in a turn and the rejected candidates, in the order of the turn.
// at is the time of the turn; days are days of its location. Explain reads only messages of users
// and of named people. From tool calls it learns what failed and then succeeded. It accepts any
// turn, takes linear time and calls no model.
func Explain(t ragctx.Turn, at time.Time) Found {
	var found Found
	messages := t.Transcript()
	people, several := AmongPeople(messages), len(Speakers(messages)) > 1
	for i, m := range messages {
		from, ok := speaker(m)
		if !ok {
			continue
		}
		s := m.Content.String()
		if len(s) > maxMessage {
			s = s[:maxMessage]
		}
		e := extractor{t: read(s), at: at, speaker: from, message: i, people: people, several: several}
		facts := e.weigh()
		for k := range facts {
			facts[k].Now = e.t.saysNow(facts[k].Span)
		}
		found.add(facts)
	}
	found.add(outcomes(messages))
	found.settle()
	return found
}

// saysNow reports whether the words of a fact, or the one behind them, say that it holds from now on.
func (t *text) saysNow(s ragctx.TurnSpan) bool {
	from, to := min(s.Start, len(t.fold)), min(s.End, len(t.fold))
	if from >= to {
		return false
	}
	if bytes.HasPrefix(t.fold[to:], []byte(" ")) {
		to++
		for to < len(t.fold) && inWord(t.fold[to]) {
			to++
		}
	}
	c := readChange(t, from, to, false)
	return c.says(cueNow)
}

// add sorts facts by whether they reach the gate.
func (f *Found) add(facts []Fact) {
	for _, x := range facts {
		if x.Confidence >= Gate {
			f.Facts = append(f.Facts, x)
		} else {
			f.Below = append(f.Below, x)
		}
	}
}

// settle drops duplicates and keeps the most confident facts.
func (f *Found) settle() {
	f.Facts, f.Below = distinct(f.Facts), distinct(f.Below)
}

func distinct(facts []Fact) []Fact {
	seen := map[string]bool{}
	facts = slices.DeleteFunc(facts, func(x Fact) bool {
		key := string(x.Kind) + "\x00" + analysis.StatementKey(x.Content)
		again := seen[key]
		seen[key] = true
		return again
	})
	if len(facts) > maxFacts {
		slices.SortStableFunc(facts, func(a, b Fact) int { return cmp.Compare(b.Confidence, a.Confidence) })
		facts = facts[:maxFacts]
		slices.SortStableFunc(facts, func(a, b Fact) int {
			return cmp.Or(cmp.Compare(a.Span.Message, b.Span.Message), cmp.Compare(a.Span.Start, b.Span.Start))
		})
	}
	return facts
}

// machines holds names of speakers that are not people.
var machines = wordSet(`assistant ai bot chatbot agent system tool model llm gpt chatgpt claude gemini copilot llama mistral user function
	developer helper planner critic executor researcher coder reviewer orchestrator supervisor worker`)

// speaker returns the speaker of a message, and whether the message is read.
func speaker(m ragctx.Message) (person, bool) {
	name := strings.Join(strings.Fields(m.Name), " ")
	human := name != "" && len(name) <= 60 && !strings.ContainsAny(name, "_/<>@:")
	for w := range strings.FieldsSeq(analysis.StatementKey(name)) {
		human = human && !machines[w]
	}
	switch {
	case m.IsTrace():
		return person{}, false
	case human && (m.Role == ragctx.RoleUser || m.Role == ragctx.RoleAssistant):
		return person{subject: name, name: name, named: true}, true
	case m.Role == ragctx.RoleUser:
		return person{subject: "user", name: "The user"}, len(m.ToolResults()) == 0
	}
	return person{}, false
}

// AmongPeople reports whether the messages are a conversation between people: of several names, or of one without an
// answer of the assistant or instructions of a system.
func AmongPeople(messages []ragctx.Message) bool {
	names := Speakers(messages)
	answered := slices.ContainsFunc(messages, func(m ragctx.Message) bool {
		from, ok := speaker(m)
		return m.Role == ragctx.RoleSystem || m.Role == ragctx.RoleAssistant && !(ok && from.named)
	})
	return len(names) > 1 || len(names) == 1 && !answered
}

// extractor reads one message.
type extractor struct {
	t       *text
	at      time.Time
	speaker person
	message int
	// people is set for a conversation between people rather than with an agent.
	people bool
	// several is set if the messages have several names. What one person alone wishes may be for an agent that did not answer.
	several   bool
	times     []moment
	sentences []sentenceSpan
	facts     []Fact // found by rules
	training  bool   // record the names of features
	// lastPerson is the last person named, the referent of "she" or "he".
	lastPerson string
	// done is the end of the last match of a rule.
	done int
}

// moment is a time that the message names.
type moment struct {
	from, to int // in code points
	timeexpr.Mention
}

// read finds the sentences of the message, its times and the matches of rules.
func (e *extractor) read() {
	e.t.maskForeign()
	for _, m := range timeexpr.Find(e.t.s, e.at) {
		e.times = append(e.times, moment{e.t.position(m.Start), e.t.position(m.End), m})
	}
	e.sentences = e.t.sentences()
	for i := range e.sentences {
		s := &e.sentences[i]
		e.t.parts(s)
		s.pieces = e.t.pieces(s.from, s.to, false, false)
		for k := range s.clauses {
			if s.clauses[k].from >= e.done {
				e.clause(s, k)
			}
		}
	}
}

// clause applies the rules to clause k of a sentence.
func (e *extractor) clause(s *sentenceSpan, k int) {
	from := s.clauses[k].from
	var set setting
	at := e.open(from, s.to, &set)
	if at >= s.to {
		return
	}
	var doubtful []Fact
	for _, r := range e.candidates(at, s.to) {
		m := match{extractor: e, rule: r, s: s, k: k, from: from, at: at, set: set}
		f, ok := m.run("")
		switch {
		case !ok:
		case f.Confidence < minRuleConfidence:
			doubtful = append(doubtful, f)
		default:
			e.facts = append(e.facts, f)
			if !r.more {
				e.done = max(e.done, f.Matched)
				return
			}
		}
	}
	if len(doubtful) == 0 && k == 0 && e.elided(s, at, set) {
		return
	}
	if len(doubtful) > 0 {
		e.facts = append(e.facts, doubtful[0])
		e.done = max(e.done, doubtful[0].Matched)
	}
}

// subjectless maps the first words of notes that omit "I" to the omitted words.
var subjectless = func() map[string]string {
	out := map[string]string{}
	for left, words := range map[string]string{
		"i've ": "been",
		"i ": "got moved started finished bought graduated quit sold joined adopted grew broke love hate prefer " +
			"passed met hired signed speak use drive",
		"i'm ": "married allergic vegan vegetarian pregnant retired turning",
		"my ":  "name's name favourite favorite fav birthday",
	} {
		for w := range strings.FieldsSeq(words) {
			out[w] = left
		}
	}
	return out
}()

// elided applies the rules for "I" to a sentence that omits it ("just got engaged"). It reports
// whether one matches.
func (e *extractor) elided(s *sentenceSpan, at int, set setting) bool {
	for range 2 {
		switch w := e.t.first(at, s.to); w {
		case "just", "currently", "recently", "finally", "also":
			at = min(s.to, at+len(w)+1)
		}
	}
	w := e.t.first(at, s.to)
	left, ok := subjectless[w]
	if at > s.from && strings.HasSuffix(w, "ing") { // currently living in
		left, ok = "i'm ", true
	}
	if !ok {
		return false
	}
	for _, r := range compiled()[strings.TrimSpace(left)] {
		m := match{extractor: e, rule: r, s: s, from: at, at: at, set: set}
		m.set.doubt(.08, "no subject")
		if r.lang.code != "en" || r.kind == ragctx.FactInstruction {
			continue
		}
		if f, ok := m.run(left); ok && f.Confidence >= minRuleConfidence {
			e.facts = append(e.facts, f)
			e.done = max(e.done, f.Matched)
			return true
		}
	}
	return false
}

// open skips the words that introduce a statement: fillers, "remember that", "I think", "last
// Friday,".
func (e *extractor) open(from, to int, set *setting) int {
	for range 6 {
		start := from
		from = e.t.skipLead(from, to)
		rest := e.t.fold[from:min(to, from+window)]
		if m := remember().FindIndex(rest); m != nil {
			set.remember, set.cue = true, string(rest[m[0]:m[1]])
			from += m[1]
		} else if m := hedge().FindIndex(rest); m != nil {
			set.hedge = true
			from += m[1]
		} else if m := e.timeLead(from, to); m != nil && m.to < to {
			from = m.to
			for from < to && (e.t.fold[from] == ' ' || e.t.fold[from] == ',') {
				from++
			}
		}
		if from == start {
			break
		}
	}
	return min(from, to)
}

// timeAt returns the time named at a position.
func (e *extractor) timeAt(at int) *moment {
	i, ok := slices.BinarySearchFunc(e.times, at, func(m moment, at int) int { return cmp.Compare(m.from, at) })
	if !ok {
		return nil
	}
	return &e.times[i]
}

// timeLead returns the time named at a position, or after an article there.
func (e *extractor) timeLead(at, to int) *moment {
	if m := e.timeAt(at); m != nil {
		return m
	}
	switch w := e.t.first(at, to); w {
	case "la", "el", "le", "les", "los", "the", "am", "on", "den", "die", "der", "das", "im", "in", "au", "en",
		"this", "just", "about", "around":
		return e.timeAt(at + len(w) + 1)
	}
	return nil
}

// timeIn returns the last time between two positions if the words end with it, else the first.
func (e *extractor) timeIn(from, to int) *moment {
	i, _ := slices.BinarySearchFunc(e.times, from, func(m moment, at int) int { return cmp.Compare(m.from, at) })
	if i < len(e.times) && e.times[i].to <= to {
		return &e.times[i]
	}
	return nil
}

// candidates returns the rules for the words at a position.
func (e *extractor) candidates(at, to int) []*rule {
	index := compiled()
	w := e.t.first(at, to)
	own, any := index[w], index["*"]
	if len(own) == 0 {
		return any
	}
	return append(slices.Clip(own), any...)
}
