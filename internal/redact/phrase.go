package redact

import "strings"

// Bounds of what is added to the words of a found passphrase.
const (
	maxGap    = 3 // words between two found ones
	maxBeside = 6 // words before or after
)

// complete marks the rest of phrases and rows of which words are found: a passphrase is a whole run of words, and a row of
// words or letters with signs between them is one secret.
func (ps *passage) complete(secret []bool) {
	ps.rows(secret)
	last := -1
	for n := range secret {
		if !secret[n] {
			continue
		}
		if last >= 0 && n-last > 1 && n-last <= maxGap+1 && ps.joined(last, n) &&
			(ps.isPlain(last) || ps.isPlain(n) || ps.isNumeral(last) && ps.isNumeral(n)) {
			for k := last + 1; k < n; k++ {
				secret[k] = true
			}
		}
		last = n
	}
	for n := 0; n < len(secret); n++ {
		end, plain := n, 0
		for ; end < len(secret) && secret[end] && ps.words[end].sentence == ps.words[n].sentence; end++ {
			if ps.isPlain(end) {
				plain++
			}
		}
		if plain >= 2 {
			ps.widen(secret, n, end)
		}
		n = max(n, end)
	}
}

// isPlain reports whether a word is an everyday one, which only a phrase has.
func (ps *passage) isPlain(n int) bool {
	t := &ps.words[n]
	return !t.quoted && t.group != gLetter && letters(ps.s[t.start:t.end])
}

// isNumeral reports whether a word is a number or a letter.
func (ps *passage) isNumeral(n int) bool { return ps.words[n].coarse == gDigits }

// joined reports whether nothing between two words divides them: no topic, no sign but a comma between numbers.
func (ps *passage) joined(from, to int) bool {
	for k := from; k < to; k++ {
		t := &ps.words[k]
		comma := (t.mark == ',' || t.mark == '-') && ps.isNumeral(from) && ps.isNumeral(to)
		if t.mark != 0 && !comma || t.removed || k > from && t.topic != noClass && !t.topic.isWeak() {
			return false
		}
	}
	return ps.words[from].sentence == ps.words[to].sentence
}

// widen marks the words beside the found phrase from n to end, up to what binds it, a topic or a sign.
func (ps *passage) widen(secret []bool, n, end int) {
	for k := n - 1; k >= max(0, n-maxBeside); k-- {
		t := &ps.words[k]
		if t.mark != 0 || t.topic != noClass || t.binds != 0 || t.barred || t.sentence != ps.words[n].sentence {
			break
		}
		secret[k] = true
	}
	for k := end; k < min(len(secret), end+maxBeside); k++ {
		t := &ps.words[k]
		if ps.words[k-1].mark != 0 || t.topic != noClass || t.barred || phraseEnds[t.w] || t.sentence != ps.words[n].sentence {
			break
		}
		secret[k] = true
	}
}

// phraseEnds are words that go on with the sentence after a phrase.
var phraseEnds = wordSet(`for when if because so please exactly but since until then now wants whenever while which`,
	`für fürs wenn weil aber bitte dann jetzt sobald falls genau damit eingeben ein`,
	`pour quand mais puis car lorsque dès maintenant comme`, `para cuando pero porque luego si como ahora`)

// leastRow is the least number of items of a row.
const leastRow = 4

// rows marks all items of a row of single words between signs, if a third of them are found.
func (ps *passage) rows(secret []bool) {
	for n := 0; n < len(secret); n++ {
		end, found := n, 0
		for ; end < len(secret); end++ {
			t := &ps.words[end]
			if t.barred || t.topic != noClass && !t.topic.isWeak() || t.sentence != ps.words[n].sentence {
				break
			}
			if secret[end] {
				found++
			}
			if t.mark == 0 || strings.IndexByte(",-;", t.mark) < 0 {
				end++
				break
			}
		}
		if size := end - n; size >= leastRow && found >= 2 && 3*found >= size {
			for k := n; k < end; k++ {
				secret[k] = true
			}
		}
		n = max(n, end-1)
	}
}
