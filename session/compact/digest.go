package compact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Digest is the content of a summary, in order. Every summary has this layout, whether made by a
// model or not, so that the next compaction can merge it.
type Digest struct {
	// Goal is the current request of the user.
	Goal string
	// Constraints, Decisions and Dates are the rules, decisions and dates of the user that are in
	// force, verbatim and oldest first. LeftOut is the number of further ones that did not fit.
	Constraints, Decisions, Dates []string
	LeftOut                       int
	// Noted lists decisions of the agent, and a model's notes in addition to the user's own words.
	Noted []string
	// Files lists files that were read or changed, Commands calls with their outcomes, Errors
	// failures.
	Files, Commands, Errors []string
	// Said lists other statements of the user, verbatim. Questions are open questions. State is the
	// current state, newest last.
	Said, Questions, State []string
}

// itemChars is the maximum length of a summary item in characters, except for statements of the
// user.
const itemChars = 240

// part is a section of a digest with a maximum number of items. Statements of the user (own) are
// never shortened.
type part struct {
	title string
	items *[]string
	most  int
	own   bool
}

// parts returns the list sections.
func (d *Digest) parts() []part {
	return []part{
		{"Constraints", &d.Constraints, mostStatements, true},
		{"Decisions", &d.Decisions, mostStatements, true},
		{"Dates", &d.Dates, mostStatements, true},
		{"Noted", &d.Noted, 16, false},
		{"Files", &d.Files, 40, false},
		{"Commands", &d.Commands, 24, false},
		{"Errors", &d.Errors, 12, false},
		{"Also said by the user", &d.Said, mostStatements, true},
		{"Open questions", &d.Questions, 8, false},
		{"Current state", &d.State, 12, false},
	}
}

// Empty reports whether a digest has no content.
func (d *Digest) Empty() bool {
	return d.Goal == "" && !slices.ContainsFunc(d.parts(), func(p part) bool { return len(*p.items) > 0 })
}

// String returns a digest as Markdown without empty sections.
func (d *Digest) String() string { return d.render(d.Goal, 1<<30, 1<<30) }

// render is String with another goal, lists of at most most items and items of at most chars
// characters.
func (d *Digest) render(goal string, most, chars int) string {
	var b strings.Builder
	if goal != "" {
		b.WriteString("## Goal\n- " + sentence.Clip(goal, chars) + "\n")
	}
	for _, p := range d.parts() {
		if len(*p.items) == 0 {
			continue
		}
		b.WriteString("## " + p.title + "\n")
		items := *p.items
		if !p.own {
			items = dropMiddle(items, most)
		}
		for _, s := range items {
			if !p.own {
				s = sentence.Clip(s, chars)
			}
			b.WriteString("- " + s + "\n")
		}
	}
	if d.LeftOut > 0 {
		b.WriteString("## " + leftOutTitle + "\n- " + strconv.Itoa(d.LeftOut) + leftOutText + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Text of a digest about rules, decisions and dates that did not fit.
const (
	leftOutTitle = "Left out"
	leftOutText  = " more rules, decisions or dates of the user, for which there was no room"
)

// fit returns a digest as Markdown of at most most tokens. Statements of the user get three
// quarters, or more if the rest needs less. Other lists and items are shortened until they fit.
func (d *Digest) fit(most int, counter ragctx.Counter) string {
	if most <= 0 {
		return ""
	}
	if s := d.String(); counter.Count(s) <= most {
		return s
	}
	said := d.statements()
	rest := *d
	rest.setStatements(nil, 0)
	for room := max(int(float64(most)*ruleShare), most-counter.Count(rest.String())) - titleTokens; room > 0; room = room * 3 / 4 {
		out := rest
		out.setStatements(fitStatements(said, room, counter))
		out.LeftOut += d.LeftOut
		for _, size := range [...]struct{ items, chars int }{{1 << 30, 1 << 30}, {12, itemChars}, {8, 160}, {4, 120}, {2, 100}, {1, 80}} {
			if s := out.render(out.Goal, size.items, size.chars); counter.Count(s) <= most {
				return s
			}
		}
	}
	rest.LeftOut = d.LeftOut
	for _, s := range said {
		if s.weight > hint {
			rest.LeftOut++
		}
	}
	return clipTokens(rest.render(rest.Goal, 1, 60), most, counter)
}

// fromSummary replaces the message number of a statement that comes from a summary.
const fromSummary = -1

// statements returns the statements of the user.
func (d *Digest) statements() (out []statement) {
	for _, list := range [...]struct {
		items []string
		least weight
	}{{d.Constraints, hint}, {d.Decisions, decided}, {d.Dates, dated}, {d.Said, remark}} {
		for _, s := range list.items {
			w := list.least
			if w == hint && weigh(s) != hint {
				w = ruled
			}
			out = append(out, statement{text: s, weight: w, message: fromSummary})
		}
	}
	return out
}

// setStatements replaces the statements of the user and the number of omitted ones.
func (d *Digest) setStatements(said []statement, left int) {
	d.Constraints, d.Decisions, d.Dates, d.Said, d.LeftOut = nil, nil, nil, nil, left
	for _, s := range said {
		list := &d.Said
		switch s.weight.kind() {
		case KindRule:
			list = &d.Constraints
		case KindDecision:
			list = &d.Decisions
		case KindDate:
			list = &d.Dates
		}
		*list = append(*list, s.text)
	}
}

// Rules returns the rules, decisions and dates of the user.
func (d *Digest) Rules() (out []Rule) {
	for _, s := range d.statements() {
		if kind := s.weight.kind(); kind != "" {
			out = append(out, Rule{kind, s.text})
		}
	}
	return out
}

// dropMiddle returns at most most items from the start and the end, because both early constraints
// and recent items matter.
func dropMiddle(items []string, most int) []string {
	if len(items) <= most {
		return items
	}
	head := most / 3
	return append(slices.Clone(items[:head]), items[len(items)-(most-head):]...)
}

// trim limits all lists to their maximum lengths.
func (d *Digest) trim() {
	for _, p := range d.parts() {
		*p.items = dropMiddle(*p.items, p.most)
	}
}

// titles maps headings written by people and models to sections.
var titles = map[string]string{
	"goal": "goal", "goals": "goal", "objective": "goal", "task": "goal",
	"constraints": "constraints", "constraint": "constraints", "preferences": "constraints", "requirements": "constraints",
	"decisions": "decisions", "decisions made": "decisions", "key decisions": "decisions",
	"dates": "dates", "deadlines": "dates", "noted": "noted", "also said by the user": "also said by the user", "left out": "left out",
	"files": "files", "files touched": "files", "files changed": "files",
	"commands": "commands", "commands run": "commands",
	"errors": "errors", "errors/issues": "errors", "issues": "errors", "errors and issues": "errors",
	"open questions": "open questions", "questions": "open questions", "open": "open questions", "pending": "open questions",
	"current state": "current state", "state": "current state", "status": "current state", "progress": "current state",
}

// ParseDigest parses a summary with the headings of a digest, of any level or bold. For a text
// without these headings, such as a foreign summary, it returns false and the lines as State.
func ParseDigest(text string) (d Digest, ok bool) {
	lists := make(map[string]*[]string)
	for _, p := range d.parts() {
		lists[strings.ToLower(p.title)] = p.items
	}
	section := "current state"
	for line := range strings.Lines(strings.ToValidUTF8(text, "�")) {
		line = strings.TrimSpace(line)
		title, rest := heading(line)
		if title != "" {
			section, ok, line = title, true, rest
		}
		line = trimListMarker(line)
		switch {
		case line == "" || isNone(line):
		case section == "goal":
			d.Goal = strings.TrimSpace(d.Goal + " " + line)
		case section == "left out":
			if n, _, ok := strings.Cut(line, " "); ok {
				left, _ := strconv.Atoi(n)
				d.LeftOut += min(max(left, 0), 1<<20)
			}
		default:
			list := lists[section]
			*list = append(*list, line)
		}
	}
	return d, ok
}

// trimListMarker removes a list marker from a line.
func trimListMarker(line string) string {
	if bare := strings.TrimLeft(line, "-*•"); len(bare) < len(line) {
		return strings.TrimSpace(bare)
	}
	if rest := strings.TrimLeft(line, "0123456789"); len(rest) < len(line) &&
		(strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return strings.TrimSpace(rest[2:])
	}
	return line
}

// heading returns the section that a line begins, and the rest of the line.
func heading(line string) (title, rest string) {
	bare := strings.TrimLeft(line, "#*0123456789. ")
	marked := len(bare) < len(line)
	name, rest, colon := strings.Cut(bare, ":")
	if !marked && !colon {
		return "", ""
	}
	name = strings.ToLower(strings.TrimSpace(strings.Trim(name, "*# ")))
	return titles[name], strings.TrimSpace(strings.Trim(rest, "* "))
}

// isNone reports whether a line is a placeholder such as "none".
func isNone(line string) bool {
	switch strings.ToLower(strings.Trim(line, "().-_* ")) {
	case "none", "n/a", "nothing", "":
		return true
	}
	return false
}

// merge combines an earlier and a later digest. The current state is replaced.
func merge(earlier, later Digest) Digest {
	out := later
	out.Goal = cmp.Or(later.Goal, earlier.Goal)
	out.LeftOut += earlier.LeftOut
	old := earlier.parts()
	for i, p := range out.parts() {
		switch p.title {
		case "Current state", "Open questions":
			if len(*p.items) == 0 {
				*p.items = slices.Clone(*old[i].items)
			}
		default:
			*p.items = union(*old[i].items, *p.items)
		}
	}
	out.trim()
	return out
}

// union returns the items of both lists without duplicates, each at its last position.
func union(a, b []string) []string {
	seen := make(map[string]bool)
	var out []string
	for _, s := range slices.Backward(slices.Concat(a, b)) {
		if key := strings.ToLower(s); !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}
