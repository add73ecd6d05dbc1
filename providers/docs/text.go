package docs

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// minCapitals is the minimum number of lines in capitals for them to be headings. maxTextHead is
// the maximum length of a heading in plain text, in code points.
const (
	minCapitals = 3
	maxTextHead = 72
)

// parseText parses text without markup. Only unambiguous headings are recognized: underlined lines,
// consecutive section numbers as in an RFC, and lines in capitals as in a manual page, each between
// blank lines.
func parseText(in input) structure {
	w := textWalk{in: in, lines: codeLines(in.text)}
	w.paragraphs()
	w.headings()
	var s structure
	title := w.title()
	w.bodies()
	s.arrange(in, w.units, nil)
	s.title = title
	return s
}

// textWalk finds the paragraphs of a text and the headings among them.
type textWalk struct {
	in                 input
	lines              []codeLine
	units              []unit
	first              []int // first line of each unit
	size               []int // number of lines of each unit
	head               []int // number of heading lines of each unit
	numberedOrCapitals bool  // headings are numbered or in capitals, so none of them is the title
}

func (w *textWalk) paragraphs() {
	for i := 0; i < len(w.lines); {
		if w.lines[i].indent < 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(w.lines) && w.lines[end].indent >= 0 {
			end++
		}
		kind := unitProse
		if end-i == 1 && w.runningHead(i) {
			kind = unitOther
		}
		w.units = append(w.units, unit{start: w.lines[i].start, kind: kind})
		w.first = append(w.first, i)
		w.size = append(w.size, end-i)
		w.head = append(w.head, 1)
		i = end
	}
}

// runningHead reports whether line i, a paragraph of its own, is the first or last line of a page,
// like a printed header or footer.
func (w *textWalk) runningHead(i int) bool {
	if w.in.paged == "" {
		return false
	}
	top, bottom := i, i+1
	for top > 0 && w.lines[top-1].indent < 0 {
		top--
	}
	for bottom < len(w.lines) && w.lines[bottom].indent < 0 {
		bottom++
	}
	from, to := w.lines[top].start, len(w.in.text)
	if bottom < len(w.lines) {
		to = w.lines[bottom].start
	}
	return strings.Contains(w.in.paged[from:to], pageEnd)
}

// title returns the single line at the beginning of a text with headings, or the first heading
// unless headings are numbered or in capitals.
func (w *textWalk) title() string {
	if len(w.units) == 0 {
		return ""
	}
	first := strings.Join(strings.Fields(w.lines[w.first[0]].body), " ")
	switch {
	case w.units[0].kind == unitHeading && !w.numberedOrCapitals:
		return first
	case w.units[0].kind == unitProse && w.size[0] == 1 && headLike(first) &&
		slices.ContainsFunc(w.units, func(u unit) bool { return u.kind == unitHeading }):
		return first
	}
	return ""
}

// headings turns units into headings by the strongest evidence available.
func (w *textWalk) headings() {
	if w.underlined() {
		return
	}
	w.numberedOrCapitals = true
	if !w.numbered() {
		w.capitals()
	}
}

// makeHeading turns unit i into a heading.
func (w *textWalk) makeHeading(i, level int, title string) {
	w.units[i].kind, w.units[i].level, w.units[i].title = unitHeading, level, title
}

// bodies makes the text directly below a heading a unit of its own.
func (w *textWalk) bodies() {
	var out []unit
	for i, u := range w.units {
		out = append(out, u)
		if u.kind == unitHeading && w.size[i] > w.head[i] {
			out = append(out, unit{start: w.lines[w.first[i]+w.head[i]].start, kind: unitProse})
		}
	}
	w.units = out
}

// underlined finds headings with an underline of about the same length.
func (w *textWalk) underlined() (found bool) {
	var styles []byte
	for i := range w.units {
		title, line := w.lines[w.first[i]], codeLine{}
		if w.size[i] > 1 {
			line = w.lines[w.first[i]+1]
		}
		sign := adornment(line.body)
		if title.indent != 0 || line.indent != 0 || sign == 0 || adornment(title.body) != 0 || !headLike(title.body) {
			continue
		}
		if d := len(line.body) - utf8.RuneCountInString(title.body); d < -1 || d > 1 {
			continue
		}
		level := strings.IndexByte(string(styles), sign) + 1
		if level == 0 {
			styles = append(styles, sign)
			level = len(styles)
		}
		found = true
		w.head[i] = 2
		w.makeHeading(i, level, title.body)
	}
	return found
}

// headLike reports whether a line could be a heading by its length and characters.
func headLike(body string) bool {
	return !longerThan(body, maxTextHead) && sentence.HasLetter(body) && !strings.ContainsRune(".,;", lastRune(body))
}

// numbered finds headings like "2.1. Names" with consecutive numbers from 1.
func (w *textWalk) numbered() bool {
	type candidate struct {
		unit  int
		level int
		title string
	}
	var got []candidate
	var last []int
	text := 0 // number of candidates that are followed by text
	for i := range w.units {
		l := w.lines[w.first[i]]
		if w.size[i] != 1 || l.indent != 0 || !headLike(l.body) {
			continue
		}
		number := sectionNumber(l.body)
		if len(number) == 0 || !follows(last, number) {
			continue
		}
		last = number
		got = append(got, candidate{i, len(number), l.body})
		if i+1 < len(w.units) {
			if next := w.lines[w.first[i+1]]; next.indent > 0 || w.size[i+1] > 1 || !headLike(next.body) {
				text++
			}
		}
	}
	if len(got) < 2 || text*2 < len(got) {
		return false
	}
	for _, c := range got {
		w.makeHeading(c.unit, c.level, strings.Join(strings.Fields(c.title), " "))
	}
	return true
}

// sectionNumber returns the number at the beginning of a heading. A capital letter must follow it.
func sectionNumber(body string) (number []int) {
	head, title, ok := strings.Cut(body, " ")
	title = strings.TrimSpace(title)
	if first, _ := utf8.DecodeRuneInString(title); !ok || !unicode.IsUpper(first) || len(head) > 16 {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(head, "."), ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 99 {
			return nil
		}
		number = append(number, n)
	}
	return number
}

// follows reports whether next can follow last: 1, 1.1, 1.2, 2.
func follows(last, next []int) bool {
	n := 0
	for n < len(last) && n < len(next) && last[n] == next[n] {
		n++
	}
	switch {
	case n == len(next):
		return false
	case n == len(last):
		return n+1 == len(next) && next[n] <= 1
	}
	return n+1 == len(next) && next[n] == last[n]+1
}

// capitals finds headings in capitals, if they are few compared with the text.
func (w *textWalk) capitals() {
	var got []int
	lines, lower := 0, false
	for i := range w.units {
		lines += w.size[i]
		l := w.lines[w.first[i]]
		if l.indent == 0 && headLike(l.body) && inCapitals(l.body) && i+1 < len(w.units)+w.size[i]-1 &&
			(w.size[i] == 1 || w.lines[w.first[i]+1].indent > 0) {
			got = append(got, i)
		} else {
			lower = lower || !inCapitals(l.body)
		}
	}
	if len(got) < minCapitals || len(got)*3 > lines || !lower {
		return
	}
	for _, i := range got {
		w.makeHeading(i, 1, strings.Join(strings.Fields(w.lines[w.first[i]].body), " "))
	}
}

// inCapitals reports whether a line has at least three letters, all of them capitals, in at most
// eight words.
func inCapitals(body string) bool {
	letters := 0
	for _, r := range body {
		switch {
		case unicode.IsLower(r):
			return false
		case unicode.IsUpper(r):
			letters++
		case unicode.IsLetter(r): // a letter of a script without capitals
			return false
		}
	}
	return letters >= 3 && len(strings.Fields(body)) <= 8 && !strings.ContainsAny(body, "=|<>{}")
}
