package redact

import (
	"slices"
	"strings"
)

// passage is the text around words for secrets. Each of its words is labelled as part of a secret or not by a linear-chain
// conditional random field. Its weights are for the form of the word, its neighbours, and what binds it to words for
// secrets. TestTrain makes the weights.
type passage struct {
	*scanner
	words  []passageWord
	topics []topic  // in the order of the text
	list   []uint32 // room for the features of a word
}

// passageWord is a word with what the features say of it. The numbers are hashes of names.
type passageWord struct {
	proseWord
	topic    class // of the word for a secret that it is, or noClass
	sentence int
	sets     uint32 // the sets of the lexicon that it is in
	main     uint32 // its most telling class
	group    uint32 // the class of its shape
	coarse   uint32 // of that class
	shape    uint32 // its kinds of characters and its length
	id       uint32 // the word, if it is an everyday one, or 0
	ending   uint32 // the last letters of a word that is not, or 0
	refers   bool   // is a word for what has another number
	opened   bool   // a parenthesis opens before it
	binds    uint32 // its class, or that of the sign after it, that binds what follows to what is before, or 0
	removed  bool   // is a secret that has been found
	barred   bool   // cannot be part of a secret
}

// maxPassage bounds a passage, in bytes.
const maxPassage = 2000

// mayBePhrase holds the weak topics whose secrets may be everyday words.
var mayBePhrase = [lastClass]bool{network: true, opening: true, device: true, vague: true, typing: true}

// passages calls yield with the text around the topics, in pieces that do not overlap. They share memory.
func (p *scanner) passages(yield func(*passage) bool) {
	ps := passage{scanner: p}
	end := 0
	for n := 0; n < len(p.topics); {
		first := n
		from, to := p.around(p.topics[n])
		from = max(from, end)
		for n++; n < len(p.topics) && p.topics[n].start < to; n++ {
			if _, next := p.around(p.topics[n]); to-from < maxPassage {
				to = max(to, next)
			}
		}
		end = to
		if from >= to {
			continue
		}
		topics := p.topics[first:n]
		if !slices.ContainsFunc(topics, func(t topic) bool { return !t.c.isWeak() || mayBePhrase[t.c] }) &&
			!oddText(p.s[from:min(to, len(p.s))]) {
			continue
		}
		ps.topics, ps.words = topics, slices.Grow(ps.words[:0], (to-from)/5+8)
		if ps.read(from, to); len(ps.words) > 0 && !yield(&ps) {
			return
		}
	}
}

// around returns the bounds of the text that a topic may concern: its sentence, and those beside it if they have a word
// that is no everyday word.
func (p *scanner) around(t topic) (from, to int) {
	s := p.s
	if IsShort(s) {
		return 0, len(s)
	}
	from, to = p.sentenceStart(t.start), p.sentenceEnd(t.end, t.end+maxAfter)
	if t.c.isWeak() {
		if after := p.sentenceEnd(to, t.end+maxAfter); after > to && (after-to <= maxReply || from == 0 && to <= maxHead) &&
			(oddText(s[to:after]) || s[to-1] == '?') {
			to = after
		}
		if before := p.sentenceStart(max(from-1, 0)); before < from && from-before <= maxBeforeWeak && oddText(s[before:from]) {
			from = before
		}
		return from, to
	}
	if before := p.sentenceStart(max(from-1, 0)); before < from && (from-before <= maxBeforeWeak || oddText(s[before:from])) {
		from = before
	}
	if after := p.sentenceEnd(to, t.end+maxAfter); after > to && (after-to <= maxReply || oddText(s[to:after])) {
		to = after
	}
	return from, to
}

// maxReply is the length of a sentence in bytes that may be nothing but a secret.
const maxReply = 40

// maxBeforeWeak is the length of a sentence in bytes that may be nothing but a secret before one with a topic.
const maxBeforeWeak = 64

// maxHead is more than the length in bytes of what [Head] returns for a weak topic.
const maxHead = 16

// sentenceEnd returns the end of the sentence at i, which is at a space or not far behind most.
func (p *scanner) sentenceEnd(i, most int) int {
	s := p.s
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' && i > 0 && strings.IndexByte("\n:.!?", s[i-1]) < 0,
			(c == '.' || c == '!' || c == '?') && i+1 < len(s) && s[i+1] <= ' ':
			return i + 1
		case i >= most && (c <= ' ' || i >= most+maxAfter):
			return i
		}
	}
	return i
}

// oddText reports whether a text has a word that is no everyday word. Where all topics are weak, there is no secret
// without one.
func oddText(s string) bool {
	for w := range strings.FieldsSeq(s) {
		switch w = strings.Trim(w, ".,;:!?()"); {
		case w == "":
		case !letters(w), rarity(strings.ToLower(w)) == gUnknown, numerals[strings.ToLower(w)]:
			return true
		}
	}
	return false
}

// read splits text[from:to] into words.
func (ps *passage) read(from, to int) {
	s := ps.s
	found := 0
	for i := blanks(s, from); i < to; i = blanks(s, i) {
		for found < len(ps.found) && ps.found[found].End <= i {
			found++
		}
		stop := len(s)
		if found < len(ps.found) {
			stop = ps.found[found].Start
		}
		if stop <= i {
			ps.remove(i, ps.found[found].End)
			i = ps.found[found].End
		} else if m := marker(s[i:]); m > 0 {
			ps.remove(i, i+m)
			i += m
		} else {
			i = ps.next(i, stop)
		}
	}
	if to >= len(s) {
		ps.mark('n')
	}
	ps.describe()
}

func (ps *passage) remove(start, end int) {
	ps.words = append(ps.words, passageWord{proseWord: proseWord{start: start, end: end}, removed: true})
}

// mark notes the sign after the last word.
func (ps *passage) mark(c byte) {
	if n := len(ps.words); n > 0 && (ps.words[n-1].mark == 0 || ps.words[n-1].mark == ')') {
		ps.words[n-1].mark = c
	}
}

// next reads the sign or the word at i and returns where the next begins; a secret begins at stop.
func (ps *passage) next(i, stop int) int {
	s := ps.s
	if s[i] == '\n' || s[i] == '\r' {
		ps.mark('n')
		return i + 1
	}
	end := i + 1
	for end < stop && end-i < maxValue && s[end] > ' ' && !strings.HasPrefix(s[end:], "\u00a0") && marker(s[end:]) == 0 {
		end++
	}
	switch v := s[i:end]; {
	case v == "->" || v == "=>" || v == ":=":
		ps.mark(':')
		return end
	case strings.IndexByte("-/|=:?!,;.()", s[i]) >= 0 && strings.Trim(v, v[:1]) == "":
		ps.mark(s[i])
		return end
	case strings.HasPrefix(v, "–") || strings.HasPrefix(v, "—") || strings.HasPrefix(v, "→"):
		ps.mark('-')
		return i + len("–")
	}
	t, next := ps.cachedWord(i, end)
	if t.quoted && next > stop { // a secret within quotes
		return stop
	}
	if t.quoted && t.start > i && isProse(s[t.start:t.end]) {
		return t.start
	}
	if at := pairSign(s, t); at > 0 {
		name := proseWord{start: t.start, end: at, w: strings.ToLower(s[t.start:at]), mark: s[at]}
		ps.words = append(ps.words, passageWord{proseWord: name})
		t = proseWord{start: at + 1, end: t.end, w: strings.ToLower(s[at+1 : t.end]), mark: t.mark}
	}
	if t.start < t.end {
		ps.words = append(ps.words, passageWord{proseWord: t})
	}
	return max(next, i+1)
}

// isProse reports whether a quotation is a message of several words, and no secret by itself.
func isProse(v string) bool {
	if strings.Count(v, " ") < 2 {
		return false
	}
	for _, sign := range [...]string{": ", ". ", "! ", "? ", " - ", " – ", "→", "\n"} {
		if strings.Contains(v, sign) {
			return true
		}
	}
	words := strings.Fields(v)
	return len(words) > 8 || slices.ContainsFunc(words, func(w string) bool {
		w = strings.Trim(w, ".,;:!?()")
		return countDigits(w) > 2 && countDigits(w) < len(w) || formOf(w) == gSigned || formOf(w) == gInner
	})
}

// pairSign returns the position of the sign between a name and a password: ada/hunter2, or 0.
func pairSign(s string, t proseWord) int {
	v := s[t.start:t.end]
	if t.quoted || v == "" || digits[v[0]] {
		return 0
	}
	at := strings.IndexAny(v, "/:|")
	if at < 1 || at+2 >= len(v) || strings.ContainsAny(v[at+1:], "/|") || v[at] == ':' && strings.IndexByte(v[at+1:], ':') >= 0 {
		return 0
	}
	return t.start + at
}

// describe fills in the classes of the words.
func (ps *passage) describe() {
	sentence, at := 0, 0
	for n := range ps.words {
		t := &ps.words[n]
		t.sentence = sentence
		if t.ends() && !(t.mark == '.' && digitsOnly(t.w, 1, 2)) {
			sentence++
		}
		for at < len(ps.topics) && ps.topics[at].end <= t.start {
			at++
		}
		for _, tp := range ps.topics[at:] {
			if tp.start >= t.end {
				break
			}
			if tp.c == odd {
				continue
			}
			if rest := ps.s[min(tp.end, t.end):t.end]; t.quoted || t.topic != noClass && !t.topic.isWeak() ||
				tp.start > t.start && rest != "" && rest != "'s" && rest != "’s" {
				continue
			}
			t.topic = tp.c
		}
		t.opened = t.start > 0 && ps.s[t.start-1] == '('
		assigned := n > 0 && (ps.words[n-1].mark == ':' || ps.words[n-1].mark == '=')
		ps.classifyWord(t, n == 0 || ps.words[n-1].sentence != t.sentence, assigned)
		if assigned && digitsOnly(t.w, 1, 12) && ps.words[n-1].isSetting(ps.s) {
			t.barred = true // minLength: 8
		}
		if ps.isRecipient(n) {
			t.barred = true
		}
		t.binds = t.binding()
	}
}

// isSetting reports whether a word is the name of a setting in text that is not a secret.
func (t *passageWord) isSetting(text string) bool {
	v := text[t.start:t.end]
	return t.topic == noClass && lastPart(v) > 0 && plainName(v) && !namesSecret(t.w)
}

// sending are verbs of giving something to somebody, and toward the words that stand before the recipient.
var (
	sending = wordSet("send sends sent mail email forward give gave hand post leak pass",
		"schick schicke sende gib maile envoie envoyer donne envía manda dale")
	toward = wordSet("to an à au a al")
)

// isRecipient reports whether word n gets a secret: send the password to example.org.
func (ps *passage) isRecipient(n int) bool {
	if n < 3 || !toward[ps.words[n-1].w] || ps.words[n-2].topic == noClass {
		return false
	}
	for _, t := range ps.words[max(n-6, 0) : n-2] {
		if sending[t.w] {
			return true
		}
	}
	return false
}
