package procedures

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer converts calls to steps.
type writer struct {
	values  []value
	request string // folded
	isOrder func(string) bool
	// results is the folded text of the results so far; given maps the values in them to the tool.
	results strings.Builder
	given   map[string]string
	// truncated is set if results were ignored beyond the limit.
	truncated bool
}

// step is a call in its written form.
type step struct {
	tool   string
	keys   []string
	values []string
	failed bool
	check  bool
}

// String returns the step as text, such as deploy(service={service}, to={target}).
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

// steps returns the steps of all calls, including failed ones.
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
		w.record(c)
	}
	return out
}

// checks matches words of calls that check a result.
var checks = regexp.MustCompile(`(?i)\b(test|tests|check|verify|validate|lint|vet|status|health|healthz|readyz|` +
	`ping|assert|diff|probe|smoke|compare|confirm|curl|describe)\b`)

// spaced separates the words of names in snake and camel case.
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

// Values longer than maxValueRunes, or of at least maxProse words other than a command, are data
// rather than part of the procedure.
const (
	maxValueRunes = 160
	maxProse      = 6
	shingle       = 4 // words in sequence that are no coincidence
)

// orders matches text that gives orders to a model.
var orders = regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|prompt|rule|above|previous|prior)|` +
	`\byou (must|are now|should always)\b|\bsystem prompt\b|\bdo not (tell|inform|reveal)\b|</?(system|assistant|` +
	`user|instructions?|context)\b`)

// givesOrders reports whether a text gives orders to a model.
func (w *writer) givesOrders(s string) bool {
	return orders.MatchString(s) || w.isOrder != nil && w.isOrder(s)
}

// value returns an argument as written in a step. Text read from a tool's result is untrusted and
// never becomes a step.
func (w *writer) value(a arg) string {
	hidden := placeholder(a.key)
	switch n := len(strings.Fields(a.value)); {
	case a.value == "":
		return `""`
	case strings.ContainsAny(a.value, "\n\r"), utf8.RuneCountInString(a.value) > maxValueRunes, !utf8.ValidString(a.value),
		w.givesOrders(a.value), n >= maxProse && !isCommand(a.key) && !strings.Contains(w.request, fold(a.value)), w.copied(a.value):
		return hidden
	}
	if tool, ok := w.given[fold(a.value)]; ok {
		return strings.TrimSuffix(hidden, "}") + " from " + tool + "}"
	}
	if !isCommand(a.key) && w.returned(a.value) {
		return hidden
	}
	return generalise(a.value, w.values)
}

// returned reports whether a value is a word or phrase of a tool's result that the request does not have.
func (w *writer) returned(v string) bool {
	v = fold(v)
	return !w.truncated && len(v) > 2 && find(w.request, v, 0) < 0 && find(w.results.String(), v, 0) >= 0
}

// copied reports whether a value repeats words of a tool's result that are not in the request.
func (w *writer) copied(v string) bool {
	words := strings.Fields(fold(v))
	if w.truncated {
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
	minGiven = 4       // least bytes of a value attributed to a result
	maxSeen  = 1 << 20 // bytes of results that are read
)

// record records the result of a call.
func (w *writer) record(c call) {
	text := fold(c.result)
	if w.truncated = w.truncated || c.cut || w.results.Len()+len(text) > maxSeen; w.truncated {
		return
	}
	w.results.WriteString(text + "\n")
	if c.failed {
		return
	}
	for f := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"',;(){}[]<>=`, r) }) {
		f = strings.Trim(f, ".:")
		if len(f) < minGiven || len(f) > 80 || !strings.ContainsAny(f, "0123456789") ||
			strings.ContainsAny(f, "/.") || strings.Contains(w.request, f) {
			continue
		}
		if _, ok := w.given[f]; !ok && len(w.given) < 10_000 {
			w.given[f] = c.tool
		}
	}
}

// fold returns a text in lower case with single spaces.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// stepTexts returns the steps as texts, with repetitions merged.
func stepTexts(steps []step) []string {
	var out []string
	for i := 0; i < len(steps); {
		n := series(steps[i:])
		text := steps[i].String()
		if n > 1 {
			text = clipRunes(generalStep(steps[i:i+n]).String()+", for each ("+strconv.Itoa(n)+" times)", MaxEntryRunes)
		}
		i += max(n, 1)
		out = append(out, text)
		for k := 1; k <= 3; k++ { // repetitions of one, two or three steps
			if len(out) >= 2*k && slices.Equal(out[len(out)-2*k:len(out)-k], out[len(out)-k:]) {
				out = out[:len(out)-k]
				break
			}
		}
	}
	return out
}

// series returns the number of steps that apply one tool to different things: at least three calls,
// and no commands.
func series(steps []step) int {
	n := 1
	for n < len(steps) && steps[n].tool == steps[0].tool && slices.Equal(steps[n].keys, steps[0].keys) &&
		!slices.ContainsFunc(steps[n].keys, isCommand) {
		n++
	}
	if n < 3 || generalStep(steps[:n]).String() == steps[0].String() {
		return 1
	}
	return n
}

// generalStep returns a step with placeholders for the parts that differ.
func generalStep(steps []step) step {
	s := steps[0]
	s.values = slices.Clone(s.values)
	for i := range s.values {
		if slices.ContainsFunc(steps, func(o step) bool { return o.values[i] != s.values[i] }) {
			s.values[i] = placeholder(s.keys[i])
		}
	}
	return s
}

// pitfalls describes the calls that failed and then succeeded.
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
