package compact

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/prose"
	"github.com/ragctx/ragctx/screen"
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

// Extract returns what messages say, in their own words and without a model: the first
// instruction, sentences that constrain or decide, what tools were called with and what
// failed, what is open and where things stand. Summaries among the messages are merged.
//
// Secrets are taken out, and what is not the user's own word and gives a model orders is
// left out. The messages are looked at once; the lists keep what came first and last.
func Extract(messages []ragctx.Message) Digest {
	var e extractor
	for _, m := range messages {
		e.read(m)
	}
	return e.digest()
}

// extractor reads messages one by one.
type extractor struct {
	earlier  Digest
	goal     string
	lists    [numLists]trail
	request  [2]string // what the user asked last, and before
	said     []string  // what the assistant said last
	question []string  // what nobody has answered yet
	waiting  []waiting // calls without an outcome
}

// The lists of an extractor.
const (
	constraints = iota
	decisions
	files
	commands
	failures
	numLists
)

// read takes in a message.
func (e *extractor) read(m ragctx.Message) {
	if text, ok := SummaryText(m); ok {
		d, ok := ParseDigest(text)
		if !ok { // of another layout: what it says must outlive the next summary
			d.Decisions, d.State = d.State, nil
		}
		e.earlier = merge(e.earlier, d)
		return
	}
	if session.IsSystem(m) {
		return
	}
	text := ""
	for _, b := range m.Content {
		switch b.Type {
		case ragctx.BlockToolUse:
			e.call(b)
		case ragctx.BlockToolResult:
			e.result(b)
		case ragctx.BlockText:
			text = joined(text, b.Text)
		default:
		}
	}
	switch {
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
	e.question = e.question[:0]
	first := ""
	for s := range sentences(text) {
		if first == "" {
			first = s
		}
		found := cuesOf(s)
		if found&constrains != 0 {
			e.lists[constraints].add(line{text: s, user: true})
		}
		if found&decides != 0 {
			e.lists[decisions].add(line{text: s, user: true})
		}
		if strings.HasSuffix(s, "?") {
			e.question = append(e.question[:0], s)
		}
	}
	if first == "" {
		return
	}
	if e.goal == "" {
		e.goal = goalOf(text)
	}
	e.request = [2]string{first, e.request[0]}
}

// goalOf returns what a user's words want, as a goal.
func goalOf(text string) string { return prose.Clip(oneLine(within(text)), goalChars) }

// assistant reads what an assistant says.
func (e *extractor) assistant(text string) {
	var said []string
	e.question = e.question[:0]
	last := ""
	for s := range sentences(text) {
		found := cuesOf(s)
		if found&decides != 0 {
			e.lists[decisions].add(line{text: s})
		}
		if found&leavesOpen != 0 {
			e.question = append(e.question, s)
		}
		if said = append(said, s); len(said) > 4 {
			said = slices.Delete(said, 2, 3)
		}
		last = s
	}
	if strings.HasSuffix(last, "?") {
		e.question = append(e.question, last)
	}
	if len(said) > 0 {
		e.said = said
	}
}

// digest returns what was read, screened.
func (e *extractor) digest() Digest {
	d := Digest{Goal: clean(e.goal)}
	for i, list := range [numLists]*[]string{&d.Constraints, &d.Decisions, &d.Files, &d.Commands, &d.Errors} {
		*list = e.lists[i].screened()
	}
	for _, s := range e.question[max(len(e.question)-3, 0):] {
		d.Questions = appendScreened(d.Questions, line{text: s})
	}
	for _, s := range [...]string{e.request[1], e.request[0]} {
		if s != "" {
			d.State = appendScreened(d.State, line{text: AskedPrefix + s, user: true})
		}
	}
	for _, s := range e.said {
		d.State = appendScreened(d.State, line{text: s})
	}
	return merge(e.earlier, d)
}

// line is a line of a digest; user says that it is a user's own words.
type line struct {
	text string
	user bool
}

// appendScreened appends a line without secrets, unless it gives a model orders that no
// user gave.
func appendScreened(list []string, l line) []string {
	s := clean(l.text)
	if s == "" {
		return list
	}
	if !l.user {
		if _, orders := screen.Instruction(s); orders {
			return list
		}
	}
	return append(list, s)
}

// clean returns a line of a digest: one line, without secrets, without context that an
// engine put there, and without the signs by which the line would be read as another one.
func clean(s string) string {
	s, _ = screen.StripBlocks(s)
	s, _ = screen.Redact(s)
	s = prose.Calm(oneLine(strings.ToValidUTF8(s, "�")))
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
	l.text = prose.Clip(l.text, itemChars)
	same := func(o line) bool { return strings.EqualFold(o.text, l.text) }
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

// sentences yields the sentences of a text, without code and without signs of lists.
func sentences(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		code, more := false, true
		for l := range strings.Lines(within(text)) {
			l = strings.TrimSpace(l)
			if strings.HasPrefix(l, "```") {
				code = !code
				continue
			}
			if l = strings.TrimSpace(strings.TrimLeft(l, "#>-*• ")); code || l == "" {
				continue
			}
			prose.Sentences(l, func(s string) bool {
				if s = strings.TrimSpace(s); prose.HasLetter(s) {
					more = yield(prose.Clip(s, itemChars))
				}
				return more
			})
			if !more {
				return
			}
		}
	}
}
