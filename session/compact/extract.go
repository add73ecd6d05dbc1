package compact

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/session"
)

// Bounds of what is read of one text, in bytes: its beginning and its end. More would not
// make a summary better, and a conversation may hold whole files.
const (
	readHead, readTail = 4 << 10, 2 << 10
	goalChars          = 600
)

// AskedPrefix is how the lines begin in which a digest's state says what a user asked last.
const AskedPrefix = "The user asked: "

// Extract returns what messages say, in their own words and without a model: what the user
// wants at present, rules, decisions and dates that still hold, what tools were called with
// and what failed, what is open and where things stand. Summaries among them are merged.
//
// Secrets are taken out, and what is not the user's own word and gives a model orders is
// left out. The messages are looked at once; the lists keep what came first and last.
func Extract(messages []ragctx.Message) Digest { return extract(messages, nil) }

// extract is Extract of messages of which the later ones stay: what the user says there
// takes the place of what they said before.
func extract(messages, later []ragctx.Message) Digest {
	var e extractor
	for _, m := range messages {
		e.read(m)
	}
	for _, m := range later {
		if e.number++; m.Role == ragctx.RoleUser && !session.IsRecord(m) {
			e.hear(textOf(m), true)
		}
	}
	return e.digest()
}

// textOf returns what is said in a message, without calls and results.
func textOf(m ragctx.Message) (text string) {
	for _, b := range m.Content {
		if b.Type == ragctx.BlockText {
			text = joined(text, b.Text)
		}
	}
	return text
}

// extractor reads messages one by one. Of those between the first and the last it needs
// only the sentences that a cue is in.
type extractor struct {
	earlier Digest
	goal    string
	number  int // of the message
	heard   []statement
	lists   [numLists]trail
	asked   [2]string // the texts in which a user spoke last, and before
	said    string    // the text in which the assistant spoke last
	last    line      // the last text, of whomever
	waiting []waiting // calls without an outcome
}

// The lists of an extractor.
const (
	noted = iota
	files
	commands
	failures
	numLists
)

// read takes in a message.
func (e *extractor) read(m ragctx.Message) {
	e.number++
	if text, ok := SummaryText(m); ok {
		d, ok := ParseDigest(text)
		if !ok { // of another layout: what it says must outlive the next summary
			d.Noted, d.State = d.State, nil
		}
		e.earlier = merge(e.earlier, d)
		return
	}
	if session.IsSystem(m) {
		return
	}
	for _, b := range m.Content {
		switch b.Type {
		case ragctx.BlockToolUse:
			e.call(b)
		case ragctx.BlockToolResult:
			e.result(b)
		default:
		}
	}
	switch text := textOf(m); {
	case text == "":
	case m.Role == ragctx.RoleUser:
		e.user(text)
	case m.Role == ragctx.RoleAssistant:
		e.assistant(text)
	default:
	}
}

// joined returns two texts, one below the other.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// user reads what a user says.
func (e *extractor) user(text string) {
	e.last = line{text: text, user: true}
	if !speaks(text) {
		return
	}
	e.asked = [2]string{text, e.asked[0]}
	e.hear(text, false)
}

// hear notes what a user says, and whether that is shown as it was said.
func (e *extractor) hear(text string, shown bool) {
	said := statementsOf(text, e.number)
	for i := range said {
		said[i].shown = shown
	}
	if e.heard = append(e.heard, said...); e.goal == "" || isGoal(said) {
		e.goal = goalOf(text)
	}
}

// goalOf returns what a user's words want, as a goal.
func goalOf(text string) string { return sentence.Clip(oneLine(within(text)), goalChars) }

// isGoal reports whether a user asks for something: a message that only rules something, or
// only has the agent go on, does not.
func isGoal(said []statement) bool {
	const least = 4 // words
	return slices.ContainsFunc(said, func(s statement) bool {
		return s.weight <= hint && len(strings.Fields(s.text)) >= least
	})
}

// assistant reads what an assistant says.
func (e *extractor) assistant(text string) {
	e.last = line{text: text}
	if speaks(text) {
		e.said = text
	}
	for s := range telling(text, decides) {
		e.lists[noted].add(line{text: s})
	}
}

// digest returns what was read, screened.
func (e *extractor) digest() Digest {
	d := Digest{Goal: clean(e.goal)}
	for i, list := range [numLists]*[]string{&d.Noted, &d.Files, &d.Commands, &d.Errors} {
		*list = e.lists[i].screened()
	}
	open := questions(e.last)
	for _, s := range open[max(len(open)-3, 0):] {
		d.Questions = appendScreened(d.Questions, line{text: s})
	}
	for _, text := range [...]string{e.asked[1], e.asked[0]} {
		if all := outline(text); len(all) > 0 {
			d.State = appendScreened(d.State, line{text: AskedPrefix + all[0], user: true})
		}
	}
	for _, s := range outline(e.said) {
		d.State = appendScreened(d.State, line{text: s})
	}
	holds, left := standing(append(e.earlier.statements(), e.heard...))
	d = merge(e.earlier, d)
	d.keep(slices.DeleteFunc(holds, func(s statement) bool {
		return s.shown || s.weight == remark && len(strings.Fields(s.text)) < 3
	}), d.LeftOut+left)
	return d
}

// questions returns what the last text of a conversation leaves open: what a user asks
// last, or what the assistant asks or says to be open.
func questions(of line) (out []string) {
	last := ""
	for s := range sentences(of.text) {
		if of.user {
			if strings.HasSuffix(s, "?") {
				out = append(out[:0], s)
			}
			continue
		}
		if last = s; cuesOf(s)&leavesOpen != 0 {
			out = append(out, s)
		}
	}
	if strings.HasSuffix(last, "?") {
		out = append(out, last)
	}
	return out
}

// outline returns the first and the last two sentences of a text.
func outline(text string) (out []string) {
	for s := range sentences(text) {
		if out = append(out, s); len(out) > 4 {
			out = slices.Delete(out, 2, 3)
		}
	}
	return out
}

// line is a line of a digest; user says that it is a user's own words.
type line struct {
	text string
	user bool
	fold uint64 // of a line of a trail: what it has in common with those of other letter case
}

// appendScreened appends a line without secrets, unless it gives a model orders that no
// user gave.
func appendScreened(list []string, l line) []string {
	s := clean(l.text)
	if s == "" {
		return list
	}
	if !l.user {
		if _, orders := redact.Instruction(s); orders {
			return list
		}
	}
	return append(list, s)
}

// clean returns a line of a digest: one line, without secrets, without context that an
// engine put there, and without the signs by which the line would be read as another one.
func clean(s string) string {
	s, _ = redact.Visible(s)
	s, _ = redact.StripBlocks(s)
	s, _ = redact.Redact(s)
	s = sentence.ShortenRuns(oneLine(strings.ToValidUTF8(s, "�")))
	for {
		bare := unlisted(strings.TrimLeft(s, "#> "))
		if bare == s {
			break
		}
		s = bare
	}
	if nothing(s) {
		return ""
	}
	return s
}

// trail keeps the first and the last of what it is given.
type trail struct{ first, last []line }

const trailEnd = 32

// add appends a line; one that is there already is only kept where it is last.
func (t *trail) add(l line) {
	l.text = sentence.Clip(l.text, itemChars)
	l.fold = folded(l.text)
	same := func(o line) bool { return o.fold == l.fold && strings.EqualFold(o.text, l.text) }
	if slices.ContainsFunc(t.first, same) {
		return
	}
	if len(t.first) < trailEnd/2 {
		t.first = append(t.first, l)
		return
	}
	t.last = append(slices.DeleteFunc(t.last, same), l)
	if len(t.last) > trailEnd {
		t.last = slices.Delete(t.last, 0, 1)
	}
}

// folded returns a hash that texts have in common which [strings.EqualFold] finds equal.
func folded(s string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for _, r := range s {
		least := r
		switch {
		case 'a' <= r && r <= 'z':
			least -= 'a' - 'A'
		case r >= utf8.RuneSelf:
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				least = min(least, f)
			}
		}
		h = (h ^ uint64(least)) * prime
	}
	return h
}

// find returns the line with a text, nil if it is gone.
func (t *trail) find(text string) *line {
	for _, list := range [...][]line{t.last, t.first} {
		for i := range list {
			if list[i].text == text {
				return &list[i]
			}
		}
	}
	return nil
}

func (t *trail) screened() (out []string) {
	for _, l := range slices.Concat(t.first, t.last) {
		out = appendScreened(out, l)
	}
	return out
}

// within returns the part of a text that is read.
func within(text string) string {
	if len(text) <= readHead+readTail {
		return text
	}
	return strings.ToValidUTF8(text[:readHead], "") + "\n" + strings.ToValidUTF8(text[len(text)-readTail:], "")
}

// passages yields the lines of a text without code and without signs of lists.
func passages(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		code := false
		for l := range strings.Lines(within(text)) {
			l = strings.TrimSpace(l)
			if strings.HasPrefix(l, "```") {
				code = !code
				continue
			}
			if l = strings.TrimSpace(strings.TrimLeft(l, "#>-*• ")); !code && l != "" && !yield(l) {
				return
			}
		}
	}
}

// speaks reports whether a text has sentences.
func speaks(text string) bool {
	for l := range passages(text) {
		if sentence.HasLetter(l) {
			return true
		}
	}
	return false
}

// sentences yields the sentences of a text.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for l := range passages(text) {
			if !sentencesOf(l, yield) {
				return
			}
		}
	}
}

// sentencesOf yields the sentences of a line, and reports whether more are wanted.
func sentencesOf(passage string, yield func(string) bool) bool {
	more := true
	sentence.Sentences(passage, func(s string) bool {
		if s = strings.TrimSpace(s); sentence.HasLetter(s) {
			more = yield(sentence.Clip(s, itemChars))
		}
		return more
	})
	return more
}

// telling yields the sentences of a text in which there are some of the cues, and which.
// Lines without any are not cut into sentences, which is what would take the time.
func telling(text string, cues cue) iter.Seq2[string, cue] {
	return func(yield func(string, cue) bool) {
		for l := range passages(text) {
			if cuesOf(l)&cues == 0 {
				continue
			}
			more := sentencesOf(l, func(s string) bool {
				found := cuesOf(s) & cues
				return found == 0 || yield(s, found)
			})
			if !more {
				return
			}
		}
	}
}
