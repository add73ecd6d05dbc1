package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const mimeMarkdown = "text/markdown"

// Conditions for a heading.
const (
	headingLarger = 1.12 // factor of the body size
	headingLength = 160  // bytes
	headingLevels = 4
	headingShare  = .25 // of the text may be in heading sizes
)

var (
	bulletMark = regexp.MustCompile(`^[•◦▪▫‣∙●○■□►▷–·*-] +`)
	listMark   = regexp.MustCompile(`^(\(?([0-9]{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\[[0-9A-Za-z+]{1,12}\]) `)
	numbered   = regexp.MustCompile(`^(?:(?:[0-9]{1,3}|[A-Z])(?:\.[0-9]{1,3}){0,5}\.?|` +
		`(?i:chapter|appendix|section|part|kapitel|annex) [0-9A-Z]+[.:]?) +\S`)
)

// pdfWriter writes lines as Markdown.
type pdfWriter struct {
	body    float64   // size of most text
	sizes   []float64 // heading sizes, the largest first
	leading float64   // line distance in units of the font size
	code    bool      // fixed-width fonts mean code
	words   map[string]bool
	out     strings.Builder
}

// markdown writes the document.
func (d *pdfDoc) markdown(drawn bool) string {
	w := pdfWriter{words: make(map[string]bool)}
	drop := d.repeatedLines()
	pages := make([][]pdfLine, len(d.pages))
	for i, p := range d.pages {
		for j := range p.lines {
			if l := p.lines[j]; !drop[&p.lines[j]] {
				if drawn {
					l.text = l.drawnText
				}
				pages[i] = append(pages[i], l)
			}
		}
	}
	w.measure(pages)
	for i, lines := range pages {
		if i > 0 {
			w.out.WriteByte('\f')
		}
		w.page(lines)
	}
	return w.out.String()
}

// measure computes the usual sizes and line distances of the document.
func (w *pdfWriter) measure(pages [][]pdfLine) {
	sizes, leadings := make(map[float64]int), make(map[float64]int)
	total, mono := 0, 0
	for _, lines := range pages {
		for i, l := range lines {
			n := utf8.RuneCountInString(l.text)
			sizes[roundToHalf(l.size)] += n
			total, mono = total+n, mono+n*b2i(l.mono)
			if i > 0 && !l.mono && l.block == lines[i-1].block {
				if gap := (lines[i-1].y - l.y) / l.size; gap > .8 && gap < 2.5 {
					leadings[math.Round(gap*20)/20]++
				}
			}
			for word := range strings.FieldsSeq(l.text) {
				letters := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
				w.words[strings.ToLower(letters)] = true
			}
		}
	}
	w.body, w.leading = mostFrequent(sizes), cmp.Or(mostFrequent(leadings), 1.2)
	w.code = 2*mono < total
	w.headingSizes(sizes, total)
}

func roundToHalf(x float64) float64 { return math.Round(x*2) / 2 }

// mostFrequent returns the key with the highest count; ties go to the smallest key.
func mostFrequent(m map[float64]int) (best float64) {
	for x, n := range m {
		if n > m[best] || n == m[best] && x < best {
			best = x
		}
	}
	return best
}

// headingSizes determines the heading sizes, unless much of the text is that large.
func (w *pdfWriter) headingSizes(sizes map[float64]int, total int) {
	large := 0
	for size, n := range sizes {
		if size >= headingLarger*w.body && n > 1 {
			w.sizes, large = append(w.sizes, size), large+n
		}
	}
	if float64(large) > headingShare*float64(total) {
		w.sizes = nil
	}
	slices.SortFunc(w.sizes, func(a, b float64) int { return cmp.Compare(b, a) })
}

// level returns the heading level of a line, or 0.
func (w *pdfWriter) level(l, above pdfLine, first bool) int {
	s := strings.TrimSpace(l.text)
	if l.mono || l.leader || l.cells > 2 || len(s) > headingLength || strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return 0
	}
	for i, size := range w.sizes {
		if roundToHalf(l.size) == size {
			return min(i+1, headingLevels)
		}
	}
	apart := first || above.block != l.block || above.y-l.y > 1.3*w.leading*l.size
	end, _ := utf8.DecodeLastRuneInString(s)
	if l.bold && l.size >= .95*w.body && apart && len(s) <= headingLength/2 && !strings.ContainsRune(".,;:", end) &&
		numbered.MatchString(s) {
		return min(len(w.sizes), headingLevels) + 1
	}
	return 0
}

// page writes the lines of one page.
func (w *pdfWriter) page(lines []pdfLine) {
	right := make(map[int]float64)
	for _, l := range lines {
		right[l.block] = max(right[l.block], l.x1)
	}
	for i := 0; i < len(lines); {
		var above pdfLine
		if i > 0 {
			above = lines[i-1]
		}
		from := i
		switch level := w.level(lines[i], above, i == 0); {
		case level > 0:
			i = w.heading(lines, i, level)
		case w.code && lines[i].mono && lines[i].cells < 3:
			i = w.codeBlock(lines, i)
		default:
			i = w.paragraph(lines, i, right[lines[i].block])
		}
		if i < len(lines) {
			w.separate(lines[from], lines[i-1], lines[i])
		}
	}
	if len(lines) > 0 {
		w.out.WriteByte('\n')
	}
}

// separate writes an empty line between two blocks, or only a line break between list items and
// between table rows.
func (w *pdfWriter) separate(first, last, next pdfLine) {
	item := func(l pdfLine) bool { return bulletMark.MatchString(l.text) || listMark.MatchString(l.text) }
	gap := (last.y - next.y) / (w.leading * max(last.size, next.size))
	near := last.block == next.block && gap > 0 && (item(first) && item(next) && gap < 1.5 ||
		last.cells > 1 && next.cells > 1 && gap < 2.5 || last.leader && next.leader && gap < 2)
	if near {
		w.out.WriteByte('\n')
		return
	}
	w.out.WriteString("\n\n")
}

// heading writes a heading of one or more lines.
func (w *pdfWriter) heading(lines []pdfLine, i, level int) int {
	w.out.WriteString(strings.Repeat("#", level) + " ")
	s := strings.TrimSpace(lines[i].text)
	for i++; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		gap := (a.y - b.y) / max(b.size, 1)
		if a.block != b.block || roundToHalf(a.size) != roundToHalf(b.size) || b.bold != a.bold ||
			gap < 0 || gap > 1.6 || len(s) > headingLength ||
			roundToHalf(a.size) <= w.body || numbered.MatchString(b.text) {
			break
		}
		s = w.join(s, b.text)
	}
	w.out.WriteString(strings.Join(strings.Fields(s), " "))
	return i
}

// codeBlock writes lines in a fixed-width font as they are.
func (w *pdfWriter) codeBlock(lines []pdfLine, i int) int {
	end := i
	for end < len(lines) && lines[end].mono && lines[end].block == lines[i].block {
		end++
	}
	left := lines[i].x0
	for _, l := range lines[i:end] {
		left = min(left, l.x0)
	}
	w.out.WriteString("```\n")
	for j, l := range lines[i:end] {
		if j > 0 && lines[i+j-1].y-l.y > 1.6*w.leading*l.size {
			w.out.WriteByte('\n')
		}
		indent := int(math.Round((l.x0 - left) / (.6 * max(l.size, 1))))
		w.out.WriteString(strings.Repeat(" ", min(max(indent, 0), 60)))
		w.out.WriteString(strings.ReplaceAll(l.text, "```", "'''") + "\n")
	}
	w.out.WriteString("```")
	return end
}

// paragraph joins the lines of a paragraph.
func (w *pdfWriter) paragraph(lines []pdfLine, i int, right float64) int {
	s, from := w.opening(lines[i].text), i
	for i++; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if w.breaks(lines, from, i) || endsEarly(a, b, right) {
			break
		}
		if a.x1 < right-.35*(right-a.x0) && !continues(a.text, b.text) {
			s += "\n" + strings.TrimSpace(b.text) // a separate line, as in an address or a poem
			continue
		}
		s = w.join(s, b.text)
	}
	w.out.WriteString(s)
	return i
}

// endsEarly reports whether a sentence ends well before the right margin, which also ends the
// paragraph.
func endsEarly(a, b pdfLine, right float64) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimSpace(b.text))
	return a.x1 < right-.2*(right-a.x0) && strings.HasSuffix(strings.TrimRight(a.text, `"”’)`), ".") &&
		!unicode.IsLower(next)
}

// opening converts the beginning of a paragraph: bullets become "-", and a "#" is escaped.
func (w *pdfWriter) opening(s string) string {
	s = strings.TrimSpace(s)
	if mark := bulletMark.FindString(s); mark != "" {
		return "- " + s[len(mark):]
	}
	if strings.HasPrefix(s, "#") {
		return `\` + s
	}
	return s
}

// continues reports whether a sentence continues on the next line.
func continues(a, b string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(b))
	return unicode.IsLower(r) || strings.HasSuffix(a, ",") || strings.HasSuffix(a, "-")
}

// breaks reports whether line i begins a new paragraph after one that began at line from.
func (w *pdfWriter) breaks(lines []pdfLine, from, i int) bool {
	a, b := lines[i-1], lines[i]
	gap := (a.y - b.y) / max(a.size, b.size, 1)
	switch {
	case a.block != b.block, gap < 0, gap > 1.25*w.leading+.05, math.Abs(a.size-b.size) > .15*max(a.size, b.size),
		b.mono && w.code, a.cells > 1 || b.cells > 1, a.leader, w.level(b, a, false) > 0,
		bulletMark.MatchString(b.text), listMark.MatchString(b.text) && !continues(a.text, "A"):
		return true
	}
	// An indented line begins a paragraph if the next line is not indented.
	if i+1 < len(lines) && !bulletMark.MatchString(lines[from].text) && !listMark.MatchString(lines[from].text) {
		c := lines[i+1]
		em := max(b.size, 1)
		return c.block == b.block && b.x0-c.x0 > .8*em && b.x0-c.x0 < 5*em && b.x0-a.x0 > .8*em
	}
	return false
}

// join appends a line to a paragraph. It removes the hyphen of a word that is split at the line
// end, unless the document writes the word with a hyphen elsewhere.
func (w *pdfWriter) join(s, line string) string {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutSuffix(s, "\u00AD"); ok {
		return rest + line
	}
	rest, ok := strings.CutSuffix(s, "-")
	next, _ := utf8.DecodeRuneInString(line)
	before, _ := utf8.DecodeLastRuneInString(rest)
	if !ok || !unicode.IsLetter(before) || !unicode.IsLetter(next) {
		return s + " " + line
	}
	head, tail := rest[strings.LastIndexAny(rest, " \n(")+1:], line
	if i := strings.IndexFunc(tail, func(r rune) bool { return !isLetter(r) }); i >= 0 {
		tail = tail[:i]
	}
	whole, hyphenated := strings.ToLower(head+tail), strings.ToLower(head+"-"+tail)
	if unicode.IsLower(next) && (w.words[whole] || !w.words[hyphenated]) {
		return rest + line
	}
	return s + line
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }
