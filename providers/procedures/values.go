package procedures

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// value is a part of the request that the calls use and that differs each time.
type value struct{ text, name string }

// valuesOf returns the values of a request, longest first: words that are whole arguments, and
// name-like words that occur in arguments.
func valuesOf(request string, calls []call) []value {
	words := wordsOf(request)
	var out []value
	names := make(map[string]string) // by name
	add := func(text, name string) {
		for _, v := range out {
			if strings.EqualFold(v.text, text) {
				return
			}
		}
		free := name
		for n := 2; names[free] != ""; n++ {
			free = name + "_" + strconv.Itoa(n)
		}
		names[free] = text
		out = append(out, value{text, free})
	}
	for _, c := range calls {
		for _, a := range c.args {
			if at, ok := wholeArgument(a.value, request, words); ok {
				add(a.value, nameOf(a.value, keyOf(a.value, calls), words, at))
			}
		}
	}
	for i, w := range words {
		if i > 0 && w.specific(words, i) && slices.ContainsFunc(calls, func(c call) bool { return c.holds(w.text) }) {
			add(w.text, nameOf(w.text, "", words, i))
		}
	}
	slices.SortStableFunc(out, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	return out
}

// word is a word of a request.
type word struct {
	text   string
	quoted bool
}

const around = "\"'`“”‘’«»()[]{}<>.,;:!?"

func wordsOf(s string) []word {
	var out []word
	for f := range strings.FieldsSeq(s) {
		t := strings.Trim(f, around)
		if t == "" || f[0] == '[' { // a redaction is no value
			continue
		}
		quoted := strings.HasPrefix(f, "`") || strings.HasPrefix(f, `"`)
		out = append(out, word{t, quoted})
	}
	return out
}

// wholeArgument reports whether a whole argument occurs in the request, and at which word. The first word
// names the action and is no value.
func wholeArgument(arg, request string, words []word) (at int, ok bool) {
	if n := utf8.RuneCountInString(arg); n < 2 || n > 80 || arg == "true" || arg == "false" || len(analysis.ContentFeatures(arg)) == 0 {
		return 0, false
	}
	if strings.ContainsAny(arg, " \n") {
		return -1, len(strings.Fields(arg)) <= 8 && !strings.Contains(arg, "\n") && find(request, arg, 1) > 0
	}
	for i, w := range words {
		if i > 0 && strings.EqualFold(w.text, arg) {
			return i, true
		}
	}
	return 0, false
}

var prepositions = []string{"to", "from", "in", "into", "on", "onto", "for", "at", "with", "of", "by", "called", "named"}

// specific reports whether a word looks like a name, or stands where names do.
func (w word) specific(words []word, i int) bool {
	if len(w.text) < 2 || len(analysis.ContentFeatures(w.text)) == 0 {
		return false
	}
	if w.quoted || strings.ContainsAny(w.text, "0123456789_./:@#") || strings.Contains(w.text, "-") {
		return true
	}
	if i+1 < len(words) && slices.Contains(kinds, strings.ToLower(words[i+1].text)) {
		return true
	}
	before := strings.ToLower(words[i-1].text)
	return slices.Contains(kinds, before) || slices.Contains(prepositions, before)
}

// holds reports whether a word occurs in an argument of a call.
func (c call) holds(text string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return find(a.value, text, 0) >= 0 })
}

// kinds holds words that name the kind of a neighboring word.
var kinds = []string{
	"service", "server", "cluster", "environment", "branch", "repo", "repository", "project", "package", "module",
	"customer", "team", "database", "table", "app", "application", "host", "region", "tenant", "bucket", "queue",
	"topic", "account", "order", "ticket", "issue", "release", "node", "namespace", "image", "container", "domain",
	"model", "dataset", "report", "component", "function", "class", "endpoint", "pipeline", "job", "version",
}

// generic holds keys that say nothing about their values.
var generic = []string{
	"command", "cmd", "query", "input", "text", "args", "arguments", "code", "script", "content", "value", "q", "body", "data",
	"prompt", "pattern", "message",
}

var shapes = []struct {
	name  string
	shape *regexp.Regexp
}{
	{"url", regexp.MustCompile(`^[a-z][a-z0-9+.-]*://\S+$`)},
	{"email", regexp.MustCompile(`^\S+@\S+\.\S+$`)},
	{"date", regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)},
	{"version", regexp.MustCompile(`^v?\d+(\.\d+)+([-+.]\w+)*$`)},
	{"number", regexp.MustCompile(`^#?\d[\d.,]*$`)},
	{"path", regexp.MustCompile(`/|\.[a-zA-Z]\w{0,4}$`)},
}

// keyOf returns the most frequent key of the arguments equal to a value, without generic keys, or
// "".
func keyOf(text string, calls []call) string {
	count := make(map[string]int)
	best := ""
	for _, c := range calls {
		for _, a := range c.args {
			key := strings.Trim(placeholder(a.key), "{}")
			if !strings.EqualFold(a.value, text) || slices.Contains(generic, key) {
				continue
			}
			if count[key]++; count[key] > count[best] {
				best = key
			}
		}
	}
	return best
}

// nameOf names a value: by its neighbors in the request, by the key of its arguments, or by its
// form.
func nameOf(text, key string, words []word, at int) string {
	if at >= 0 && at < len(words) {
		for _, beside := range [...]int{at + 1, at - 1} {
			if beside > 0 && beside < len(words) {
				if k := strings.ToLower(words[beside].text); slices.Contains(kinds, k) {
					return k
				}
			}
		}
	}
	if key != "" {
		return key
	}
	for _, s := range shapes {
		if s.shape.MatchString(text) {
			return s.name
		}
	}
	if at > 0 && at < len(words) {
		switch strings.ToLower(words[at-1].text) {
		case "to", "into", "onto", "on", "in":
			return "target"
		case "from":
			return "source"
		case "called", "named":
			return "name"
		}
	}
	return "subject"
}

// generalise replaces values by their placeholders.
func generalise(s string, values []value) string {
	for _, v := range values {
		for from := 0; ; {
			i := find(s, v.text, from)
			if i < 0 {
				break
			}
			name := "{" + v.name + "}"
			s = s[:i] + name + s[i+len(v.text):]
			from = i + len(name)
		}
	}
	return s
}

// find returns the index at or after from where what occurs in s as whole words, ignoring case and
// outside braces, or -1.
func find(s, phrase string, from int) int {
	for i := from; i+len(phrase) <= len(s); i++ {
		if !strings.EqualFold(s[i:i+len(phrase)], phrase) || !utf8.RuneStart(s[i]) {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, size := utf8.DecodeRuneInString(s[i+len(phrase):])
		if wordRune(before) || wordRune(after) || before == '{' && strings.IndexByte(s[i:], '}') >= 0 {
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+len(phrase)+size:])
		if after == '.' && unicode.IsDigit(next) { // part of a longer number
			continue
		}
		return i
	}
	return -1
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
