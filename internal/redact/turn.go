package redact

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// IsShort reports whether a text is short enough to be about what was said before.
func IsShort(text string) bool { return len(text) <= 400 }

// Question returns the question for a secret that text ends with, in a short form, or "". What answers it is
// redacted after it: [Redact] of the question and the answer.
func Question(text string) string {
	text = strings.TrimRight(text, " \t\r\n*_\"'”»)")
	text = text[max(0, len(text)-maxBefore):]
	if text == "" {
		return ""
	}
	p := scanner{s: text}
	start := p.sentenceStart(len(text) - 1)
	words := p.proseWords(start, len(text))
	asks := slices.ContainsFunc(words, func(t proseWord) bool {
		return requesting[t.w] || text[len(text)-1] == '?' && knowing[t.w]
	}) || len(words) < 7 && text[len(text)-1] == '?' && !slices.ContainsFunc(words, func(t proseWord) bool {
		return !articles[t.w] && !fillers[t.w] && !owners[t.w] && !conjunctions[t.w] && !copulas[t.w] && !asking[t.w] &&
			!prepositions[t.w] && !maybeNoun(t.w)
	})
	if !asks || slices.ContainsFunc(words, func(t proseWord) bool { return circumstances[t.w] }) {
		return ""
	}
	for i := start; i < len(text); {
		end := wordEnd(text, i)
		if end == i {
			i += runeLen(text, i)
			continue
		}
		if maybeNoun(text[i:end]) {
			if c, _, to := p.classify(i, end); chosen[c] && !compounds[firstWord(text[to:])] {
				return questionOf[c]
			}
		}
		i = end
	}
	return ""
}

// firstWord returns the first word of s in lower case, without punctuation.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " ")
	return strings.ToLower(s[:wordEnd(s, 0)])
}

// questionOf holds the short form of a question for a secret of a class.
var questionOf = map[class]string{
	password: "the password? ", passphrase: "the passphrase: ", pin: "the PIN: ", code: "the door code: ",
	answer: "the security answer: ",
}

// requesting are verbs of a request for a secret.
var requesting = wordSet(`please give send tell enter type need bitte gib schick sag nenne donne envoie dis dime dame escribe`)

var (
	// knowing are words of a request for a secret: "do you have the password?".
	knowing = wordSet(`know have got what what's kennst kennt weißt hast habt quel connais cuál sabes tienes`)
	// circumstances are words of a question about a secret: "how long is the password?".
	circumstances = wordSet(`how where why who when long short reset change changed forgot strong work works working wo warum wer
	wann wieso wohin
		lange zurücksetzen ändern geändert vergessen comment où pourquoi qui quand cómo dónde quién cuándo porqué policy wrong`)
)

// manner begin a question for the way in: "how do I open it?".
var manner = wordSet("how wie comment cómo")

// leastRepeated is the length in bytes of the shortest secret whose repetitions are redacted.
const leastRepeated = 4

// Repeats redacts what repeats known secrets.
type Repeats struct {
	values []string // sorted
	kinds  map[string]string
	first  byteSet // the first bytes of the values
	steps  int     // bytes of text that were compared
}

// NewRepeats returns a Repeats for values, which maps secrets to their kinds.
func NewRepeats(values map[string]string) *Repeats {
	r := &Repeats{kinds: values}
	for v := range values {
		if len(v) >= leastRepeated {
			r.values = append(r.values, v)
			r.first[v[0]] = true
		}
	}
	slices.Sort(r.values)
	return r
}

// Redact returns text with every word or row of words that is a known secret replaced as the function Redact does.
func (r *Repeats) Redact(text string) (string, []Finding) {
	var found []Finding
	for i := range len(text) {
		if !r.first[text[i]] || continues(text, i) {
			continue
		}
		if end := r.longest(text, i); end > i {
			found = append(found, Finding{r.kinds[text[i:end]], i, end})
		}
	}
	found = merge(found)
	return replace(text, found), found
}

// longest returns the end of the longest known secret that begins at i and that no word continues, or i.
func (r *Repeats) longest(text string, i int) int {
	end, left := i, r.values
	for n := 0; len(left) > 0 && i+n < len(text); n++ {
		c := text[i+n]
		r.steps++
		from := sort.Search(len(left), func(k int) bool { return len(left[k]) > n && left[k][n] >= c })
		to := sort.Search(len(left), func(k int) bool { return len(left[k]) > n && left[k][n] > c })
		left = left[from:to]
		if len(left) > 0 && len(left[0]) == n+1 && wordEndsAt(text, i+n+1) {
			end = i + n + 1
		}
	}
	return end
}

// continues reports whether a word continues at i.
func continues(s string, i int) bool {
	_, size := utf8.DecodeLastRuneInString(s[:i])
	return size > 0 && wordEnd(s[:i], i-size) == i
}

// heads holds the words that stand for a text before about a secret of a class.
var heads = map[class]string{
	password: "the password", passphrase: "the passphrase", pin: "the PIN", code: "the door code", answer: "the security answer",
	cardCodeWord: "the CVV", login: "the login", key: "the API key", token: "the token", secret: "the secret key",
}

// weakHeads holds the words that stand for a text before about what a secret opens.
var weakHeads = map[class]string{
	lock: "the box", place: "the box", network: "the phone", account: "the phone", login: "the phone", device: "the phone",
	opening: "to enter", typing: "to enter", vague: "the letters",
}

// requests holds the classes of words whose statements ask for a secret: "the gate is closed".
var requests = map[class]bool{lock: true, opening: true, typing: true, login: true}

// Head returns the words for the secret that text is about, or "". The next message is redacted as if it stood after
// them. They end with a sign that says whether text asks for the secret. A question may ask for any secret; a statement
// counts only if people choose the secret themselves.
func Head(text string) string {
	if q := Question(text); q != "" {
		return q
	}
	text = text[max(0, len(text)-2*maxAfter):]
	p := scanner{s: text}
	p.run()
	trimmed := strings.TrimRight(text, " \n")
	asks := strings.HasSuffix(trimmed, "?")
	words := p.proseWords(p.sentenceStart(len(trimmed)-1), len(trimmed))
	how := len(words) > 0 && manner[words[0].w]
	if asks && !how && slices.ContainsFunc(words, func(t proseWord) bool { return circumstances[t.w] }) {
		return ""
	}
	head, last, weak := "", 0, ""
	for _, t := range p.topics {
		if h := weakHeads[t.c]; h != "" && (asks || requests[t.c]) {
			weak = h
		}
		switch h := heads[t.c]; {
		case h == "" || !asks && !chosen[t.c] || asks && how:
		case compounds[firstWord(text[t.end:])]:
			head, last = "", t.start // a password manager
		default:
			head, last = h, t.start
		}
	}
	if at := strings.LastIndex(text, markerStart); at >= last {
		kind, _, _ := strings.Cut(text[at+len(markerStart):], "]")
		for c, k := range kindOf {
			if h := heads[c]; k == kind && chosen[c] && c != answer {
				head = h
			}
		}
	}
	if head == "" && IsShort(text) && !strings.Contains(text, markerStart) {
		head = weak
	}
	switch {
	case head == "":
		return ""
	case asks:
		return head + "? "
	}
	return head + ". "
}
