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

// What it takes to be a heading.
const (
	headingLarger = 1.12 // than the text
	headingLength = 160  // bytes
	headingLevels = 4
	headingShare  = .25 // of all text may be as large as headings
)

var (
	bulletMark = regexp.MustCompile(`^[•◦▪▫‣∙●○■□►▷–·*-] +`)
	listMark   = regexp.MustCompile(`^(\(?([0-9]{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\[[0-9A-Za-z+]{1,12}\]) `)
	numbered   = regexp.MustCompile(`^(?:(?:[0-9]{1,3}|[A-Z])(?:\.[0-9]{1,3}){0,5}\.?|(?i:chapter|appendix|section|part|kapitel|annex) [0-9A-Z]+[.:]?) +\S`)
)

// pdfWriter writes lines as Markdown.
type pdfWriter struct {
	body    float64   // the size of most text
	sizes   []float64 // of headings, the largest first
	leading float64   // from line to line, in units of the size
	code    bool      // fonts of equal widths mean code
	words   map[string]bool
	out     strings.Builder
}

// markdown writes the document.
func (d *pdfDoc) markdown(drawn bool) string {
	w := pdfWriter{words: make(map[string]bool)}
	drop := d.repeated()
	pages := make([][]pdfLine, len(d.pages))
	for i, p := range d.pages {
		for j := range p.lines {
			if l := p.lines[j]; !drop[&p.lines[j]] {
				if drawn {
					l.boxes = l.drawn
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

// measure finds what is usual in the document.
func (w *pdfWriter) measure(pages [][]pdfLine) {
	sizes, leadings := make(map[float64]int), make(map[float64]int)
	total, mono := 0, 0
	for _, lines := range pages {
		for i, l := range lines {
			n := utf8.RuneCountInString(l.boxes)
			sizes[half(l.size)] += n
			total, mono = total+n, mono+n*b2i(l.mono)
			if i > 0 && !l.mono && l.block == lines[i-1].block {
				if gap := (lines[i-1].y - l.y) / l.size; gap > .8 && gap < 2.5 {
					leadings[math.Round(gap*20)/20]++
				}
			}
			for word := range strings.FieldsSeq(l.boxes) {
				w.words[strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }))] = true
			}
		}
	}
	w.body, w.leading = most(sizes), cmp.Or(most(leadings), 1.2)
	w.code = 2*mono < total
	w.headingSizes(sizes, total)
}

func half(x float64) float64 { return math.Round(x*2) / 2 }

// most returns the most frequent key.
func most(m map[float64]int) (best float64) {
	for x, n := range m {
		if n > m[best] || n == m[best] && x < best {
			best = x
		}
	}
	return best
}

// headingSizes notes which sizes are those of headings, unless much is as large.
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

// level is the level of the heading that a line is, 0 for none.
func (w *pdfWriter) level(l, above pdfLine, first bool) int {
	s := strings.TrimSpace(l.boxes)
	if l.mono || l.leader || l.cells > 2 || len(s) > headingLength || strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return 0
	}
	for i, size := range w.sizes {
		if half(l.size) == size {
			return min(i+1, headingLevels)
		}
	}
	apart := first || above.block != l.block || above.y-l.y > 1.3*w.leading*l.size
	end, _ := utf8.DecodeLastRuneInString(s)
	if l.bold && l.size >= .95*w.body && apart && len(s) <= headingLength/2 && !strings.ContainsRune(".,;:", end) && numbered.MatchString(s) {
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

// separate ends a part: with an empty line, or only the line between items of a list
// and rows of a table.
func (w *pdfWriter) separate(first, last, next pdfLine) {
	item := func(l pdfLine) bool { return bulletMark.MatchString(l.boxes) || listMark.MatchString(l.boxes) }
	gap := (last.y - next.y) / (w.leading * max(last.size, next.size))
	near := last.block == next.block && gap > 0 && (item(first) && item(next) && gap < 1.5 ||
		last.cells > 1 && next.cells > 1 && gap < 2.5 || last.leader && next.leader && gap < 2)
	if near {
		w.out.WriteByte('\n')
		return
	}
	w.out.WriteString("\n\n")
}

// heading writes a heading, which may have several lines.
func (w *pdfWriter) heading(lines []pdfLine, i, level int) int {
	w.out.WriteString(strings.Repeat("#", level) + " ")
	s := strings.TrimSpace(lines[i].boxes)
	for i++; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		gap := (a.y - b.y) / max(b.size, 1)
		if a.block != b.block || half(a.size) != half(b.size) || b.bold != a.bold || gap < 0 || gap > 1.6 ||
			len(s) > headingLength || half(a.size) <= w.body || numbered.MatchString(b.boxes) {
			break
		}
		s = w.join(s, b.boxes)
	}
	w.out.WriteString(strings.Join(strings.Fields(s), " "))
	return i
}

// codeBlock writes lines in a font of equal widths as they are.
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
		w.out.WriteString(strings.Repeat(" ", min(max(indent, 0), 60)) + strings.ReplaceAll(l.boxes, "```", "'''") + "\n")
	}
	w.out.WriteString("```")
	return end
}

// paragraph writes a paragraph, joining its lines.
func (w *pdfWriter) paragraph(lines []pdfLine, i int, right float64) int {
	s, from := w.opening(lines[i].boxes), i
	for i++; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if w.breaks(lines, from, i) || endsEarly(a, b, right) {
			break
		}
		if a.x1 < right-.35*(right-a.x0) && !continues(a.boxes, b.boxes) {
			s += "\n" + strings.TrimSpace(b.boxes) // a line of its own: an address, a poem
			continue
		}
		s = w.join(s, b.boxes)
	}
	w.out.WriteString(s)
	return i
}

// endsEarly reports whether a sentence ends before the end of its line, and so does the
// paragraph.
func endsEarly(a, b pdfLine, right float64) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimSpace(b.boxes))
	return a.x1 < right-.2*(right-a.x0) && strings.HasSuffix(strings.TrimRight(a.boxes, `"”’)`), ".") && !unicode.IsLower(next)
}

// opening writes the beginning of a paragraph so that it is no other Markdown.
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

// continues reports whether a sentence goes on in the next line.
func continues(a, b string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(b))
	return unicode.IsLower(r) || strings.HasSuffix(a, ",") || strings.HasSuffix(a, "-")
}

// breaks reports whether a new paragraph begins with line i of one that began
// with line from.
func (w *pdfWriter) breaks(lines []pdfLine, from, i int) bool {
	a, b := lines[i-1], lines[i]
	gap := (a.y - b.y) / max(a.size, b.size, 1)
	switch {
	case a.block != b.block, gap < 0, gap > 1.25*w.leading+.05, math.Abs(a.size-b.size) > .15*max(a.size, b.size),
		b.mono && w.code, a.cells > 1 || b.cells > 1, a.leader, w.level(b, a, false) > 0,
		bulletMark.MatchString(b.boxes), listMark.MatchString(b.boxes) && !continues(a.boxes, "A"):
		return true
	}
	// An indented line begins a paragraph if the next one is not indented.
	if i+1 < len(lines) && !bulletMark.MatchString(lines[from].boxes) && !listMark.MatchString(lines[from].boxes) {
		c := lines[i+1]
		em := max(b.size, 1)
		return c.block == b.block && b.x0-c.x0 > .8*em && b.x0-c.x0 < 5*em && b.x0-a.x0 > .8*em
	}
	return false
}

// join appends a line to a paragraph. A word that is hyphenated at the end of the line
// is put together, unless the document writes it with the hyphen elsewhere.
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
