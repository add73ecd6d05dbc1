package redact

import (
	"math/bits"
	"strconv"
)

// sink takes the features of a passage, by the number of a word, and does not keep the slices.
type sink interface {
	word(n int, features []uint32)  // of the word being part of a secret
	stay(n int, features []uint32)  // of the word and the one before being parts of one
	leave(n int, features []uint32) // of the word not being part of the secret that the one before is part of
}

// part returns the hash of the name of a part of a feature.
func part(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// mix combines the hashes of the parts of a feature.
func mix(parts ...uint32) uint32 {
	h := uint32(0x9E3779B9)
	for _, p := range parts {
		h = more(h, p)
	}
	return h
}

// more adds a part to what mix returned.
func more(h, part uint32) uint32 {
	h = (h<<5 | h>>27) ^ part
	h *= 0x85EBCA6B
	return h ^ h>>15
}

// Templates of features. "own" is the class of the word itself.
var (
	fBias, fOwn, fSet, fWord, fShape, fEnding = part("bias"), part("own"), part("set"), part("word"), part("shape"), part("ending")
	fQuoted, fCode, fRow, fLetters            = part("quoted"), part("code"), part("row"), part("letters")
	fPrev, fPrev2, fPrevWord                  = part("previous"), part("previous two"), part("previous word")
	fNext, fNextWord, fMark                   = part("next"), part("next word"), part("mark")
	fBefore, fAfter, fRelation, fOther        = part("topic before"), part("topic after"), part("relation"), part("other sentence")
	fWeak, fCompound                          = part("weak topic"), part("compound")
	fBound, fBoundTo, fBoundAfter, fClause    = part("bound"), part("bound to"), part("bound after"), part("clause")
	fQuestion, fLength, fNegated              = part("question"), part("length"), part("negated")
	fStay, fStayPair, fStayWord               = part("stay"), part("stay pair"), part("stay word")
	fLeave, fLeaveMain, fLeaveWord            = part("leave"), part("leave main"), part("leave word")
	fStart, fEnd                              = part("start"), part("end")
	fReference                                = part("reference")
)

var numberNames = func() (out [16]uint32) {
	for i := range out {
		out[i] = part(strconv.Itoa(i))
	}
	return out
}()

var markNames = func() (out [256]uint32) {
	for i := range out {
		out[i] = part(string(rune(i)))
	}
	out['!'] = out['.']
	return out
}()

// distance returns the hash of a rough distance in words.
func distance(n int) uint32 {
	switch {
	case n <= 3:
	case n <= 5:
		n = 4
	case n <= 9:
		n = 5
	case n <= 15:
		n = 6
	default:
		n = 7
	}
	return numberNames[n]
}

// sentenceContext is what the features of the words of a sentence share.
type sentenceContext struct {
	from, to   int
	question   uint32
	negated    bool
	refers     bool  // has a word for what has another number
	code       int   // signs of code
	strong     []int // words that are strong topics
	weak       uint  // the weak topics, as bits
	earlier    uint  // those of the two sentences before
	everywhere uint  // those of all sentences of the passage
	preceding  class // the strong topic of the sentences before, or noClass
	following  class // that of the next sentence
	gap        int   // sentences since the one before
}

// features calls out for each feature of the words.
func (ps *passage) features(out sink) {
	last, at := noClass, 0
	var earlier, all uint
	for n := range ps.words {
		if t := ps.words[n].topic; t.isWeak() {
			all |= 1 << (t - network)
		}
	}
	for from := 0; from < len(ps.words); {
		c := ps.context(from)
		if c.gap = ps.words[from].sentence - at; last != noClass && c.gap <= 3 {
			c.preceding = last
		}
		c.earlier, earlier = earlier, c.weak
		c.everywhere = all
		for n := c.from; n < c.to; n++ {
			if !ps.words[n].barred {
				f := wordFeatures{passage: ps, sentenceContext: &c, t: &ps.words[n], n: n, list: ps.list[:0]}
				f.all()
				out.word(n, f.list)
				ps.list = f.list
			}
			ps.pairFeatures(n, &c, out)
		}
		if k := len(c.strong); k > 0 {
			last, at = ps.words[c.strong[k-1]].topic, ps.words[from].sentence
		}
		from = c.to
	}
}

// context returns the context of the sentence that begins at a word.
func (ps *passage) context(from int) sentenceContext {
	to := from
	for to < len(ps.words) && ps.words[to].sentence == ps.words[from].sentence {
		to++
	}
	c := sentenceContext{from: from, to: to, question: gNone, code: codeSigns(ps.s[ps.words[from].start:ps.words[to-1].end])}
	if ps.words[to-1].mark == '?' {
		c.question = markNames['?']
	}
	for n := from; n < to; n++ {
		t := &ps.words[n]
		c.negated, c.refers = c.negated || t.in(setNegation), c.refers || t.refers
		if t.topic.isWeak() {
			c.weak |= 1 << (t.topic - network)
		} else if t.topic != noClass {
			c.strong = append(c.strong, n)
		}
	}
	for n := to; n < len(ps.words) && ps.words[n].sentence == ps.words[to].sentence && c.following == noClass; n++ {
		if tp := ps.words[n].topic; !tp.isWeak() {
			c.following = tp
		}
	}
	return c
}

// pairFeatures are those of a word after one that is part of a secret.
func (ps *passage) pairFeatures(n int, c *sentenceContext, out sink) {
	t := &ps.words[n]
	m := ps.markBefore(n)
	kind := gNone
	for _, s := range c.strong {
		if s < n || kind == gNone {
			kind = topicNames[ps.words[s].topic]
		}
	}
	list := ps.list[:0]
	list = append(list, mix(fStay), mix(fStay, m), mix(fStay, m, t.group), mix(fStay, kind, m), mix(fStay, kind, t.coarse),
		mix(fStayPair, ps.mainAt(n-1), t.main))
	if t.id != 0 {
		list = append(list, mix(fStayWord, t.id))
	}
	out.stay(n, list)
	list = append(list[:0], mix(fLeave, m), mix(fLeave, kind, m), mix(fLeave, kind, t.coarse), mix(fLeaveMain, t.main))
	if t.id != 0 {
		list = append(list, mix(fLeaveWord, t.id))
	}
	out.leave(n, list)
}

// wordFeatures makes the features of the nth word.
type wordFeatures struct {
	*passage
	*sentenceContext
	t    *passageWord
	n    int
	list []uint32 // the features so far

	before, after int    // the nearest strong topics of the sentence, or -1
	relation      uint32 // where the nearest topic is
	bound         uint32 // what binds the word to what is before it, or gNone
	since         int    // words since then
}

// put makes a feature, and returns it.
func (f *wordFeatures) put(parts ...uint32) uint32 {
	h := mix(parts...)
	f.list = append(f.list, h)
	return h
}

// with makes a feature of one and of a further part.
func (f *wordFeatures) with(h, part uint32) { f.list = append(f.list, more(h, part)) }

// both makes a feature with the class of the word's shape, and one with the coarse class.
func (f *wordFeatures) both(h uint32) {
	f.list = append(f.list, more(h, f.t.group), more(h, f.t.coarse))
}

func (f *wordFeatures) all() {
	f.own()
	f.neighbours()
	f.topics()
	f.binding()
	f.rest()
}

// own are features of the word by itself.
func (f *wordFeatures) own() {
	t := f.t
	f.put(fBias)
	f.both(mix(fOwn))
	for sets := t.sets; sets != 0; sets &= sets - 1 {
		f.put(fSet, setHashes[bits.TrailingZeros32(sets)])
	}
	if t.id != 0 && t.sets != 0 { // not of a word for a thing, which may be a secret as well
		f.put(fWord, t.id)
	}
	f.put(fShape, t.shape)
	if t.quoted {
		f.put(fQuoted, t.group)
		f.put(fQuoted, numberNames[min(len(f.strong), 2)])
		if t.start > 0 {
			f.put(fQuoted, markNames[f.s[t.start-1]], t.group)
			f.put(fQuoted, markNames[f.s[t.start-1]], numberNames[min(len(f.strong), 2)])
		}
	}
	if t.ending != 0 && t.sets&^(1<<setParticiple) == 0 {
		f.put(fEnding, t.ending)
	}
}

// neighbours are features of the words and signs beside it.
func (f *wordFeatures) neighbours() {
	m1, m0 := f.markBefore(f.n), markNames[f.t.mark]
	p1, p2, q1 := f.mainAt(f.n-1), f.mainAt(f.n-2), f.mainAt(f.n+1)
	f.both(f.put(fPrev, p1, m1))
	f.put(fPrev2, p2, p1, f.t.coarse)
	if f.n > 0 && f.words[f.n-1].id != 0 {
		f.with(f.put(fPrevWord, f.words[f.n-1].id), f.t.coarse)
	}
	f.with(f.put(fNext, q1, m0), f.t.coarse)
	if f.n+1 < len(f.words) && f.words[f.n+1].id != 0 {
		f.put(fNextWord, f.words[f.n+1].id)
	}
	f.put(fMark, m0, f.t.group)
	if code := codeSigns(f.s[f.t.start:min(len(f.s), f.t.end+1)]); code > 0 || f.code > 0 {
		own, all := numberNames[min(code, 3)], numberNames[min(f.code, 3)]
		f.with(f.put(fCode, own, all), f.t.group)
		f.put(fCode, all, p1, m1, f.t.group)
	}
}

// topics are features of the words for secrets around it.
func (f *wordFeatures) topics() {
	f.before, f.after, f.relation = -1, -1, gNone
	for _, s := range f.strong {
		if s < f.n {
			f.before = s
		} else if s > f.n && f.after < 0 {
			f.after = s
		}
	}
	if f.before >= 0 {
		k, d := topicNames[f.words[f.before].topic], distance(f.n-f.before)
		f.put(fBefore, k, d)
		f.put(fBefore, k, f.t.coarse)
		f.both(mix(fBefore, fBefore, d))
		f.relation = fBefore
		if f.before+1 < f.n && f.words[f.before].mark == 0 && f.words[f.before+1].in(setCompound) {
			f.put(fCompound, f.t.group)
			f.relation = fCompound
		}
	}
	if f.after >= 0 {
		k, d := topicNames[f.words[f.after].topic], distance(f.after-f.n)
		f.put(fAfter, k, d)
		f.put(fAfter, k, f.t.coarse)
		f.both(mix(fAfter, fAfter, d))
		if f.relation == gNone {
			f.relation = fAfter
		}
	}
	if f.relation == gNone && f.preceding != noClass {
		gap := numberNames[f.gap]
		f.put(fOther, topicNames[f.preceding], gap)
		f.both(mix(fOther, fBefore, gap))
		f.relation = fOther
	}
	if f.relation == gNone && f.following != noClass {
		f.put(fOther, topicNames[f.following], fAfter)
		f.both(mix(fOther, fAfter, fAfter))
		f.relation = fNext
	}
	f.weakTopics(f.weak, mix(fWeak))
	f.weakTopics(f.earlier, mix(fWeak, fBefore))
	f.weakTopics(f.everywhere&^f.weak&^f.earlier, mix(fWeak, fOther))
	f.put(fRelation, f.relation, f.t.coarse)
	f.put(fRelation, f.relation, f.t.group)
}

// weakTopics are features of weak topics, as bits. which says where they stand.
func (f *wordFeatures) weakTopics(topics uint, which uint32) {
	for ; topics != 0; topics &= topics - 1 {
		h := more(more(which, topicNames[network+class(bits.TrailingZeros(topics))]), f.relation)
		f.list = append(f.list, h, more(h, f.t.coarse))
	}
}

// binding makes the features of the words and signs that bind the word to its left and to its right.
func (f *wordFeatures) binding() {
	f.bound, f.since = gNone, 0
	for b := f.n - 1; b >= max(f.from, f.n-maxTokens); b-- {
		if h := f.words[b].binds; h != 0 {
			f.bound, f.since = h, f.n-b
			break
		}
	}
	since := distance(f.since)
	f.with(f.put(fBound, f.relation, f.bound, since), f.t.coarse)
	kind := gNone
	if f.before >= 0 {
		kind = topicNames[f.words[f.before].topic]
		f.put(fBoundTo, kind, f.bound, since)
	}
	if f.since > 0 {
		f.clause(kind)
	}
	ahead, until := gNone, 0
	for b := f.n + 1; b < min(f.to, f.n+12); b++ {
		if h := f.words[b].binds; h != 0 {
			ahead, until = h, b-f.n
			break
		}
	}
	f.with(f.put(fBoundAfter, f.relation, ahead, distance(until)), f.t.coarse)
}

// clause are features of the clause from what binds the word on: its first word, its length, and whether a sign divides
// it or a word in it talks about the secret.
func (f *wordFeatures) clause(kind uint32) {
	a := f.n - f.since + 1
	size, talk, broken := 0, 0, 0
	for k := a; k < min(f.to, f.n+maxTokens); k++ {
		size++
		if f.words[k].group == gPredicate {
			talk++
		}
		if f.words[k].mark != 0 {
			if k >= f.n {
				break
			}
			broken = 1
		}
	}
	first, length, says, divided := &f.words[a], distance(size), numberNames[min(talk, 2)], numberNames[broken]
	f.put(fClause, f.bound, kind, divided, length, says)
	f.put(fClause, f.bound, kind, divided, first.coarse, f.t.coarse)
	f.put(fClause, f.relation, divided, first.coarse, first.main)
	f.put(fClause, f.relation, divided, length, says, f.t.coarse)
	if first.id != 0 {
		f.put(fClause, f.relation, divided, first.id)
	}
}

// rest are features of the sentence, and of the row of words without everyday ones that the word is in.
func (f *wordFeatures) rest() {
	t := f.t
	f.put(fQuestion, f.question, t.group)
	f.put(fLength, distance(f.to-f.from), f.relation, t.coarse)
	if f.negated {
		f.both(mix(fNegated, f.relation))
	}
	if f.refers {
		near := 0
		for near < 8 && near < f.n && !f.words[f.n-near-1].refers {
			near++
		}
		f.with(f.put(fReference, distance(near), f.t.coarse), f.relation)
		f.put(fReference, f.relation, f.t.group)
	}
	row := f.row(f.n, true, (*passageWord).content)
	f.put(fRow, distance(row), t.group)
	f.put(fRow, distance(row), f.relation, f.bound, t.group)
	if t.group == gLetter || t.group == gNumeral || t.group == gFewDigits {
		row = f.row(f.n, false, func(u *passageWord) bool { return u.group == t.group || u.group == gLetter || u.group == gFewDigits })
		f.put(fLetters, distance(row+1), f.relation)
		f.put(fLetters, distance(row+1), t.group)
	}
}

// row returns the number of words beside the nth that are like it. joined is whether a sign ends the row.
func (ps *passage) row(n int, joined bool, like func(*passageWord) bool) (size int) {
	for at := n; at > max(0, n-12) && like(&ps.words[at-1]) && (!joined || ps.words[at-1].mark == 0); at-- {
		size++
	}
	for at := n; at+1 < min(len(ps.words), n+13) && like(&ps.words[at+1]) && (!joined || ps.words[at].mark == 0); at++ {
		size++
	}
	return size
}

// markBefore returns the sign before the nth word.
func (ps *passage) markBefore(n int) uint32 {
	switch {
	case ps.words[n].opened:
		return markNames['(']
	case n == 0:
		return fStart
	}
	return markNames[ps.words[n-1].mark]
}

func (ps *passage) mainAt(n int) uint32 {
	switch {
	case n < 0:
		return fStart
	case n >= len(ps.words):
		return fEnd
	}
	return ps.words[n].main
}

// codeSigns counts the signs of a text that code has and sentences do not.
func codeSigns(v string) (n int) {
	for i := range len(v) {
		switch v[i] {
		case '(', ')':
			if i > 0 && alnum[v[i-1]] && i+1 < len(v) && (v[i] == '(' || v[i+1] == ')' || v[i+1] == ';') {
				n++
			}
		case '{', '}', '<', '>', '$', '\\', '=', '[', ';', '|':
			n++
		case '_':
			if i > 0 && i+1 < len(v) && alnum[v[i-1]] && alnum[v[i+1]] {
				n++
			}
		}
	}
	return n
}
