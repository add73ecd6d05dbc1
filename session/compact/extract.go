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

// Bounds on the bytes read of one text, at its beginning and its end. Reading more would not
// improve a summary, and a message may contain whole files.
const (
	readHead, readTail = 4 << 10, 2 << 10
	goalChars          = 600
)

// AskedPrefix begins the lines of a digest's state with the last requests of the user.
const AskedPrefix = "The user asked: "

// Extract summarizes messages in their own words, without a model: the user's current goal, rules,
// decisions and dates in force, tool calls and failures, open questions and the current state.
// Summaries among the messages are merged.
//
// It removes secrets, and lines that give a model orders unless the user wrote them. It reads the
// messages once; lists keep their first and last items.
func Extract(messages []ragctx.Message) Digest { return extract(messages, nil) }

// extract is Extract for messages that are followed by later ones. Statements of the user in the
// later messages overrule earlier ones.
func extract(messages, later []ragctx.Message) Digest {
	var e extractor
	for _, m := range messages {
		e.read(m)
	}
	for _, m := range later {
		if e.number++; m.Role == ragctx.RoleUser && !session.IsRecord(m) {
			e.addStatements(textOf(m), true)
		}
	}
	return e.digest()
}

// textOf returns the text blocks of a message.
func textOf(m ragctx.Message) (text string) {
	for _, b := range m.Content {
		if b.Type == ragctx.BlockText {
			text = joined(text, b.Text)
		}
	}
	return text
}

// extractor reads messages one by one. It keeps sentences with cues, and the texts at the end.
type extractor struct {
	earlier    Digest
	goal       string
	number     int // number of the current message
	statements []statement
	lists      [numLists]headTail
	asked      [2]string        // the newest user text, and the one before
	lastAnswer string           // the newest text of the assistant
	last       line             // the newest text of any speaker
	pending    []pendingCommand // calls without an outcome
}

// Lists of an extractor.
const (
	noted = iota
	files
	commands
	failures
	numLists
)

// read processes a message.
func (e *extractor) read(m ragctx.Message) {
	e.number++
	if text, ok := SummaryText(m); ok {
		d, ok := ParseDigest(text)
		if !ok { // keeps the text of a foreign summary in the next summary
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

// joined joins two texts with a line break.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// user processes a text of a user.
func (e *extractor) user(text string) {
	e.last = line{text: text, user: true}
	if !hasSentences(text) {
		return
	}
	e.asked = [2]string{text, e.asked[0]}
	e.addStatements(text, false)
}

// addStatements records the statements of a user, and whether their message stays visible.
func (e *extractor) addStatements(text string, shown bool) {
	said := statementsOf(text, e.number)
	for i := range said {
		said[i].shown = shown
	}
	if e.statements = append(e.statements, said...); e.goal == "" || isGoal(said) {
		e.goal = goalOf(text)
	}
}

// goalOf shortens a text of the user to a goal.
func goalOf(text string) string { return sentence.Clip(oneLine(readable(text)), goalChars) }

// isGoal reports whether a user asks for something, instead of only giving rules or asking the
// agent to continue.
func isGoal(said []statement) bool {
	const least = 4 // words
	return slices.ContainsFunc(said, func(s statement) bool {
		return s.weight <= hint && len(strings.Fields(s.text)) >= least
	})
}

// assistant processes a text of the assistant.
func (e *extractor) assistant(text string) {
	e.last = line{text: text}
	if hasSentences(text) {
		e.lastAnswer = text
	}
	for s := range sentencesWith(text, decides) {
		e.lists[noted].add(line{text: s})
	}
}

// digest returns the screened result.
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
	for _, s := range outline(e.lastAnswer) {
		d.State = appendScreened(d.State, line{text: s})
	}
	holds, left := inForce(append(e.earlier.statements(), e.statements...))
	d = merge(e.earlier, d)
	d.setStatements(slices.DeleteFunc(holds, func(s statement) bool {
		return s.shown || s.weight == remark && len(strings.Fields(s.text)) < 3
	}), d.LeftOut+left)
	return d
}

// questions returns the open questions in the last text: the user's last question, or the sentences
// that the assistant marks as open.
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

// outline returns the first and last two sentences of a text.
func outline(text string) (out []string) {
	for s := range sentences(text) {
		if out = append(out, s); len(out) > 4 {
			out = slices.Delete(out, 2, 3)
		}
	}
	return out
}

// line is a line of a digest; user marks words of the user.
type line struct {
	text string
	user bool
	fold uint64 // hash of the text without case, set by headTail
}

// appendScreened appends a line without secrets, unless it gives a model orders that do not come
// from a user.
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

// clean prepares a line for a digest: a single line, without secrets, injected context, and markup
// that would make it parse as another line.
func clean(s string) string {
	s, _ = redact.Visible(s)
	s, _ = redact.StripBlocks(s)
	s, _ = redact.Redact(s)
	s = sentence.ShortenRuns(oneLine(strings.ToValidUTF8(s, "�")))
	for {
		bare := trimListMarker(strings.TrimLeft(s, "#> "))
		if bare == s {
			break
		}
		s = bare
	}
	if isNone(s) {
		return ""
	}
	return s
}

// headTail keeps the first and last lines added to it.
type headTail struct{ first, last []line }

const headTailSize = 32

// add appends a line. A repeated line is kept only at its last position.
func (t *headTail) add(l line) {
	l.text = sentence.Clip(l.text, itemChars)
	l.fold = foldHash(l.text)
	same := func(o line) bool { return o.fold == l.fold && strings.EqualFold(o.text, l.text) }
	if slices.ContainsFunc(t.first, same) {
		return
	}
	if len(t.first) < headTailSize/2 {
		t.first = append(t.first, l)
		return
	}
	t.last = append(slices.DeleteFunc(t.last, same), l)
	if len(t.last) > headTailSize {
		t.last = slices.Delete(t.last, 0, 1)
	}
}

// foldHash returns a hash that is equal for texts that [strings.EqualFold] considers equal.
func foldHash(s string) uint64 {
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

// find returns the line with a text, or nil if it was dropped.
func (t *headTail) find(text string) *line {
	for _, list := range [...][]line{t.last, t.first} {
		for i := range list {
			if list[i].text == text {
				return &list[i]
			}
		}
	}
	return nil
}

func (t *headTail) screened() (out []string) {
	for _, l := range slices.Concat(t.first, t.last) {
		out = appendScreened(out, l)
	}
	return out
}

// readable returns the bounded part of a text that is read.
func readable(text string) string {
	if len(text) <= readHead+readTail {
		return text
	}
	return strings.ToValidUTF8(text[:readHead], "") + "\n" + strings.ToValidUTF8(text[len(text)-readTail:], "")
}

// passages yields the lines of a text without code and list markers.
func passages(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		code := false
		for l := range strings.Lines(readable(text)) {
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

// hasSentences reports whether a text contains words outside code.
func hasSentences(text string) bool {
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

// sentencesOf yields the sentences of a line, and reports whether to continue.
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

// sentencesWith yields the sentences of a text with any of the cues, and the cues. It skips lines
// without cues before splitting sentences, which is the expensive step.
func sentencesWith(text string, cues cue) iter.Seq2[string, cue] {
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
