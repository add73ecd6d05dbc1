package procedures

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer turns calls into steps.
type writer struct {
	values  []value
	request string // folded
	orders  func(string) bool
	// results are what calls have returned so far, folded; given are the values in
	// them, with the tool.
	results strings.Builder
	given   map[string]string
	// more says that there were more results than were looked at.
	more bool
}

// step is a call as it is written.
type step struct {
	tool   string
	keys   []string
	values []string
	failed bool
	check  bool
}

// String returns a step as text, such as deploy(service={service}, to={target}).
func (s step) String() string {
	var b strings.Builder
	b.WriteString(s.tool + "(")
	for i, k := range s.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		if k != "" {
			b.WriteString(k + "=")
		}
		b.WriteString(s.values[i])
	}
	b.WriteByte(')')
	return clipRunes(b.String(), MaxEntryRunes)
}

// steps returns the steps of calls, also of those that failed.
func (w *writer) steps(calls []call) []step {
	out := make([]step, len(calls))
	for i, c := range calls {
		s := step{tool: c.tool, failed: c.failed, check: checks.MatchString(spaced(c.tool))}
		for _, a := range c.args {
			s.keys = append(s.keys, a.key)
			s.values = append(s.values, w.value(a))
			s.check = s.check || isCommand(a.key) && checks.MatchString(spaced(a.value))
		}
		out[i] = s
		w.saw(c)
	}
	return out
}

// checks are words of calls that look whether something went well.
var checks = regexp.MustCompile(`(?i)\b(test|tests|check|verify|validate|lint|vet|status|health|healthz|readyz|ping|assert|diff|probe|smoke|compare|confirm|curl|describe)\b`)

// spaced parts the words of names in snake and camel case.
func spaced(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		if r == '_' || r == '-' || r == '.' || r == '/' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isCommand(key string) bool {
	return key == "" || slices.Contains([]string{"command", "cmd", "script", "args", "arguments", "code"}, strings.ToLower(key))
}

// Values longer than maxValueRunes, or of maxProse words that are no command, are not
// how something is done but what it was done with.
const (
	maxValueRunes = 160
	maxProse      = 6
	shingle       = 4 // words in a row that are no chance
)

// orders is what text says that wants to be obeyed.
var orders = regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|prompt|rule|above|previous|prior)|` +
	`\byou (must|are now|should always)\b|\bsystem prompt\b|\bdo not (tell|inform|reveal)\b|</?(system|assistant|user|instructions?|context)\b`)

// obeyed reports whether a text wants to be.
func (w *writer) obeyed(s string) bool {
	return orders.MatchString(s) || w.orders != nil && w.orders(s)
}

// value returns an argument as it stands in a step. What was read from a tool's result
// is somebody else's text: it never becomes a step.
func (w *writer) value(a arg) string {
	hidden := placeholder(a.key)
	switch n := len(strings.Fields(a.value)); {
	case a.value == "":
		return `""`
	case strings.ContainsAny(a.value, "\n\r"), utf8.RuneCountInString(a.value) > maxValueRunes, !utf8.ValidString(a.value),
		w.obeyed(a.value), n >= maxProse && !isCommand(a.key) && !strings.Contains(w.request, fold(a.value)), w.copied(a.value):
		return hidden
	}
	if tool, ok := w.given[fold(a.value)]; ok {
		return strings.TrimSuffix(hidden, "}") + " from " + tool + "}"
	}
	return generalise(a.value, w.values)
}

// copied reports whether a value repeats words of a tool's result that the request
// does not have.
func (w *writer) copied(v string) bool {
	words := strings.Fields(fold(v))
	if w.more {
		return len(words) >= shingle
	}
	results := w.results.String()
	for i := 0; i+shingle <= len(words); i++ {
		part := strings.Join(words[i:i+shingle], " ")
		if strings.Contains(results, part) && !strings.Contains(w.request, part) {
			return true
		}
	}
	return false
}

const (
	minGiven = 4       // bytes of a value that is believed to be from a result
	maxSeen  = 1 << 20 // bytes of results that are looked at
)

// saw remembers what a call returned.
func (w *writer) saw(c call) {
	text := fold(c.result)
	if w.more = w.more || c.cut || w.results.Len()+len(text) > maxSeen; w.more {
		return
	}
	w.results.WriteString(text + "\n")
	if c.failed {
		return
	}
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"',;(){}[]<>=`, r) }) {
		f = strings.Trim(f, ".:")
		if len(f) < minGiven || len(f) > 80 || !strings.ContainsAny(f, "0123456789") || strings.ContainsAny(f, "/.") || strings.Contains(w.request, f) {
			continue
		}
		if _, ok := w.given[f]; !ok && len(w.given) < 10_000 {
			w.given[f] = c.tool
		}
	}
}

// fold returns a text in lower case with single spaces.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// written returns steps as texts: repetitions are told once.
func written(steps []step) []string {
	var out []string
	for i := 0; i < len(steps); {
		n := series(steps[i:])
		text := steps[i].String()
		if n > 1 {
			text = clipRunes(common(steps[i:i+n]).String()+", for each ("+strconv.Itoa(n)+" times)", MaxEntryRunes)
		}
		i += max(n, 1)
		out = append(out, text)
		for k := 1; k <= 3; k++ { // the same again, or two or three in turn
			if len(out) >= 2*k && slices.Equal(out[len(out)-2*k:len(out)-k], out[len(out)-k:]) {
				out = out[:len(out)-k]
				break
			}
		}
	}
	return out
}

// series returns how many steps do the same with one thing after the other: at least
// three calls of a tool, none of a command.
func series(steps []step) int {
	n := 1
	for n < len(steps) && steps[n].tool == steps[0].tool && slices.Equal(steps[n].keys, steps[0].keys) && !slices.ContainsFunc(steps[n].keys, isCommand) {
		n++
	}
	if n < 3 || common(steps[:n]).String() == steps[0].String() {
		return 1
	}
	return n
}

// common returns a step with names in the place of what differs.
func common(steps []step) step {
	s := steps[0]
	s.values = slices.Clone(s.values)
	for i := range s.values {
		if slices.ContainsFunc(steps, func(o step) bool { return o.values[i] != s.values[i] }) {
			s.values[i] = placeholder(s.keys[i])
		}
	}
	return s
}

// pitfalls tells what failed and then went well.
func pitfalls(steps []step) []string {
	var out []string
	for i, s := range steps {
		if !s.failed {
			continue
		}
		text := ""
		if slices.ContainsFunc(steps[i+1:], func(o step) bool { return !o.failed && o.String() == s.String() }) {
			text = s.String() + " failed the first time and went well when it was repeated."
		} else if n := i + 1; n < len(steps) && !steps[n].failed && steps[n].tool == s.tool && slices.Equal(steps[n].keys, s.keys) {
			text = s.String() + " failed; " + steps[n].String() + " went well."
		}
		if text = clipRunes(text, MaxEntryRunes); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out[:min(len(out), MaxEntries)]
}

func clipRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
