package sentence

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// MaxSentence is the longest sentence that [Best] returns, in code points.
const MaxSentence = 400

// abbreviations end with a period that does not end a sentence.
var abbreviations = map[string]bool{
	"e.g.": true, "i.e.": true, "cf.": true, "vs.": true, "etc.": true, "mr.": true, "mrs.": true, "ms.": true,
	"dr.": true, "prof.": true, "st.": true, "no.": true, "fig.": true, "sec.": true, "eq.": true, "approx.": true,
	"inc.": true, "ltd.": true, "co.": true, "jr.": true, "sr.": true, "al.": true, "vol.": true, "ed.": true, "bzw.": true, "z.b.": true,
}

// Sentences calls yield for each sentence of plain text on one line. It stops when yield returns
// false.
func Sentences(s string, yield func(string) bool) {
	it := sentences.FromString(s)
	from := 0
	for it.Next() {
		sentence := strings.TrimSpace(s[from:it.End()])
		if it.End() < len(s) && abbreviated(sentence) {
			continue
		}
		from = it.End()
		if sentence != "" && !yield(sentence) {
			return
		}
	}
	if rest := strings.TrimSpace(s[from:]); rest != "" {
		yield(rest)
	}
}

// abbreviated reports whether the final period of s belongs to an abbreviation, or begins a name
// such as .NET, and so does not end a sentence.
func abbreviated(s string) bool {
	word := s[strings.LastIndexAny(s, " (")+1:]
	return word == "." || len(word) < 10 && abbreviations[strings.ToLower(word)] || initial(word)
}

// initial reports whether a word is one capital letter and a period.
func initial(w string) bool { return len(w) == 2 && w[1] == '.' && w[0] >= 'A' && w[0] <= 'Z' }

// Best returns the sentence of a Markdown or plain text with the most distinct terms of a query,
// without markup. The terms come from [analysis.Query]. Among sentences with equally
// many terms, one that only introduces the next, such as "Example:", comes last, then the earliest
// wins. Headings and table headers count only if nothing else matches. Text without sentences gives
// its best line. The result has at most [MaxSentence] characters and is "" for text without words.
func Best(text string, terms []string) string {
	wanted := make(map[string]bool, len(terms))
	for _, t := range terms {
		wanted[t] = true
	}
	all := paragraphs(text)
	for _, headings := range [...]bool{false, true} {
		best, most := "", -1
		for _, par := range all {
			if par.heading != headings {
				continue
			}
			Sentences(Plain(par.text), func(s string) bool {
				n := 2 * overlap(s, wanted)
				if !strings.HasSuffix(s, ":") {
					n++
				}
				if n > most && HasLetter(s) {
					best, most = s, n
				}
				return most <= 2*len(wanted)
			})
		}
		if best != "" {
			return Clip(best, MaxSentence)
		}
	}
	return ""
}

func overlap(s string, wanted map[string]bool) int {
	seen := make(map[string]bool)
	analysis.Each(s, func(term []byte) {
		if wanted[string(term)] {
			seen[string(term)] = true
		}
	})
	return len(seen)
}

// Paragraphs splits Markdown or plain text at the places where every sentence ends: blank lines,
// headings, list items, table rows and lines of code.
func Paragraphs(text string) []string {
	pars := paragraphs(text)
	out := make([]string, len(pars))
	for i, p := range pars {
		out[i] = p.text
	}
	return out
}

type paragraph struct {
	text    string
	heading bool // or a table header
}

func paragraphs(text string) []paragraph {
	var out []paragraph
	var cur strings.Builder
	flush := func() {
		if cur.Len() > 0 {
			out = append(out, paragraph{text: cur.String()})
			cur.Reset()
		}
	}
	code := false
	for line := range strings.Lines(text) {
		body := strings.TrimSpace(line)
		fence := strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~")
		level, title := Heading(body)
		item := listItem(body)
		switch {
		case fence:
			flush()
			code = !code
			continue
		case level > 0:
			flush()
			out = append(out, paragraph{text: title, heading: true})
			continue
		case body == "" || item != body || code || strings.HasPrefix(body, "|"):
			flush()
		}
		if last := len(out) - 1; last >= 0 && strings.HasPrefix(out[last].text, "|") && tableRule(body) {
			out[last].heading = true
			continue
		}
		if item = ShortenRuns(item); item != "" {
			cur.WriteString(item)
			cur.WriteByte('\n')
		}
		if code {
			flush()
		}
	}
	flush()
	return out
}

// tableRule reports whether a line separates a table header from the rows.
func tableRule(line string) bool {
	return strings.HasPrefix(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}

// listItem returns a line without its list or quote marker.
func listItem(line string) string {
	for _, marker := range [...]string{"- ", "* ", "+ ", "> "} {
		if rest, ok := strings.CutPrefix(line, marker); ok {
			return rest
		}
	}
	digits := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(digits); n > 0 && n < 4 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return digits[2:]
	}
	return line
}

// maxRun is the limit of a run without letters, in bytes. No sentence has a longer one, and the
// segmenter takes quadratic time on it.
const maxRun = 100

// ShortenRuns shortens runs without letters to maxRun.
func ShortenRuns(s string) string {
	var b strings.Builder
	from, text := 0, 0
	for i, r := range s {
		if 'a' <= r && r <= 'z' || r == '.' || r == '!' || r == '?' || unicode.IsLetter(r) {
			if i-from > maxRun {
				b.WriteString(strings.ToValidUTF8(s[text:from+maxRun], ""))
				text = i
			}
			from = i
		}
	}
	if len(s)-from > maxRun {
		s = s[:from+maxRun]
	}
	b.WriteString(strings.ToValidUTF8(s[text:], ""))
	return strings.TrimSpace(b.String())
}

// HasLetter reports whether s contains a letter of any script.
func HasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// Heading returns the level and text of a Markdown heading ("## Title"), or 0.
func Heading(line string) (int, string) {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level == 0 || level > 6 || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}
