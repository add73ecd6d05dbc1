package pdf

import (
	"math"
	"slices"
	"unicode/utf16"
)

// Limits on the content streams of one file.
const (
	maxOperators = 20_000_000
	maxForms     = 12 // nesting of forms
	maxOperands  = 64 // stored per operator
	maxStates    = 512
)

// Glyph is one drawn glyph, which may stand for several characters (a ligature).
type Glyph struct {
	S    string  // "" if the file does not map the glyph to characters
	X, Y float64 // origin on the baseline; Y grows upwards
	W    float64 // advance width
	Size float64 // font size
	Font *Font
	// Angle is the writing direction in degrees, counterclockwise. X and Y are rotated back by
	// Angle, so that every line runs to the right.
	Angle int
}

// matrix is [a b c d e f] of ISO 32000-1 §8.3.3.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// mul returns the matrix that applies m first, then n.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the graphics state that the operator q saves and Q restores.
type state struct {
	ctm                        matrix
	font                       *font
	size, charSpace, wordSpace float64
	horizScale, leading, rise  float64
}

// markedContent is an open marked-content sequence.
type markedContent struct {
	actualText string // replacement text of all glyphs in the sequence
	hasActual  bool
	emitted    bool
}

// interpreter executes the content streams of a page.
type interpreter struct {
	f           *file
	page        *Page
	state       state
	stack       []state
	tm, tlm     matrix
	resources   dict
	marks       []markedContent
	depth       int
	maxGlyphs   int
	inlineFonts map[name]*font // fonts defined inline in the resources, not as objects
}

// run executes the operators in b.
func (in *interpreter) run(b []byte) {
	l := &lexer{b: b}
	var args array
	for {
		x := l.object()
		op, isWord := x.(word)
		switch {
		case x == endOfData:
			return
		case !isWord:
			if len(args) < maxOperands {
				args = append(args, x)
			}
			continue
		case op == "BI":
			in.inlineImage(l)
		default:
			in.f.countOperator()
			in.execute(op, args)
		}
		args = args[:0]
	}
}

// countOperator counts an operator and checks the context every 1024 operators.
func (f *file) countOperator() {
	if f.operators++; f.operators%1024 == 0 {
		f.spend(0)
	}
	if f.operators > maxOperators {
		panic(errBudget{})
	}
}

// inlineImage skips the data of an inline image.
func (in *interpreter) inlineImage(l *lexer) {
	in.page.Images++
	for l.pos < len(l.b) {
		if x := l.object(); x == word("ID") || x == endOfData {
			break
		}
	}
	for ; l.pos+2 < len(l.b); l.pos++ {
		if isSpace(l.b[l.pos]) && l.b[l.pos+1] == 'E' && l.b[l.pos+2] == 'I' && !isRegular(l.peekOr(3, ' ')) {
			l.pos += 3
			return
		}
	}
	l.pos = len(l.b)
}

// peekOr is peek, but returns or beyond the end.
func (l *lexer) peekOr(n int, or byte) byte {
	if l.pos+n < len(l.b) {
		return l.b[l.pos+n]
	}
	return or
}

func (in *interpreter) numbers(args array) (out [6]float64) {
	for i, x := range args[:min(6, len(args))] {
		switch x := x.(type) {
		case int:
			out[i] = float64(x)
		case float64:
			out[i] = x
		}
	}
	return out
}

// execute runs one operator.
func (in *interpreter) execute(op word, args array) {
	n, s := in.numbers(args), &in.state
	switch op {
	case "q":
		if len(in.stack) < maxStates {
			in.stack = append(in.stack, *s)
		}
	case "Q":
		if last := len(in.stack) - 1; last >= 0 {
			*s, in.stack = in.stack[last], in.stack[:last]
		}
	case "cm":
		s.ctm = matrix(n).mul(s.ctm)
	case "Do":
		in.xobject(args)
	case "BDC", "BMC":
		in.beginMarked(args)
	case "EMC":
		if last := len(in.marks) - 1; last >= 0 {
			in.marks = in.marks[:last]
		}
	default:
		in.textOperator(op, args, n)
	}
}

func (in *interpreter) textOperator(op word, args array, n [6]float64) {
	s := &in.state
	switch op {
	case "BT":
		in.tm, in.tlm = identity, identity
	case "Tf":
		if len(args) == 2 {
			fontName, _ := args[0].(name)
			s.font, s.size = in.findFont(fontName), n[1]
		}
	case "Tc":
		s.charSpace = n[0]
	case "Tw":
		s.wordSpace = n[0]
	case "Tz":
		s.horizScale = n[0] / 100
	case "TL":
		s.leading = n[0]
	case "Ts":
		s.rise = n[0]
	case "Td":
		in.move(n[0], n[1])
	case "TD":
		s.leading = -n[1]
		in.move(n[0], n[1])
	case "T*":
		in.move(0, -s.leading)
	case "Tm":
		in.tm, in.tlm = matrix(n), matrix(n)
	default:
		in.showOperator(op, args, n)
	}
}

func (in *interpreter) showOperator(op word, args array, n [6]float64) {
	s := &in.state
	switch op {
	case "\"":
		s.wordSpace, s.charSpace = n[0], n[1]
		fallthrough
	case "'":
		in.move(0, -s.leading)
		fallthrough
	case "Tj":
		if len(args) > 0 {
			t, _ := args[len(args)-1].(text)
			in.show(t)
		}
	case "TJ":
		if len(args) > 0 {
			list, _ := args[0].(array)
			in.showSpaced(list)
		}
	default: // draws no text
	}
}

func (in *interpreter) showSpaced(list array) {
	s := &in.state
	for _, x := range list {
		if t, ok := x.(text); ok {
			in.show(t)
			continue
		}
		by := in.numbers(array{x})[0]
		in.tm = matrix{1, 0, 0, 1, -by / 1000 * s.size * s.horizScale, 0}.mul(in.tm)
	}
}

func (in *interpreter) move(x, y float64) {
	in.tlm = matrix{1, 0, 0, 1, x, y}.mul(in.tlm)
	in.tm = in.tlm
}

// show draws a string.
func (in *interpreter) show(t text) {
	s := &in.state
	if s.font == nil {
		return
	}
	in.f.operators += len(t) / 8
	for len(t) > 0 {
		var c char
		var k code
		c, k, t = s.font.next(t)
		space := s.charSpace
		if k.size == 1 && k.value == ' ' {
			space += s.wordSpace
		}
		advance := (c.width*s.size + space) * s.horizScale
		tracking := max(0, s.charSpace)
		if tracking > .5*math.Abs(s.size) {
			tracking = 0 // a jump, not letter spacing
		}
		in.glyph(c, (c.width*s.size+tracking)*s.horizScale)
		in.tm = matrix{1, 0, 0, 1, advance, 0}.mul(in.tm)
	}
}

// glyph records the position of a character; width is in text space.
func (in *interpreter) glyph(c char, width float64) {
	s := &in.state
	m := matrix{s.horizScale, 0, 0, 1, 0, s.rise}.mul(in.tm).mul(s.ctm)
	length := math.Hypot(m[0], m[1])
	size := math.Abs(s.size) * math.Hypot(m[2], m[3])
	if s.horizScale != 0 {
		length /= math.Abs(s.horizScale)
	}
	if !(size > 0.1 && size < 1e5 && math.Abs(m[4]) < 1e6 && math.Abs(m[5]) < 1e6 && length < 1e5) {
		return
	}
	if len(in.page.Glyphs) >= in.maxGlyphs {
		panic(errBudget{})
	}
	direction := 1.0
	if s.size*s.horizScale < 0 {
		direction = -1
	}
	angle := int(math.Round(math.Atan2(direction*m[1], direction*m[0]) * 180 / math.Pi))
	sin, cos := math.Sincos(-float64(angle) * math.Pi / 180)
	in.page.Glyphs = append(in.page.Glyphs, Glyph{
		S: in.replaceText(c.s), X: m[4]*cos - m[5]*sin, Y: m[4]*sin + m[5]*cos,
		W: math.Abs(width) * length, Size: size, Font: &s.font.Font, Angle: (angle + 360) % 360,
	})
}

// replaceText returns the text for a glyph inside marked content with an ActualText entry. The
// first glyph of the sequence gets the whole replacement; the others get a zero-width space.
func (in *interpreter) replaceText(s string) string {
	for i := range in.marks {
		m := &in.marks[i]
		if !m.hasActual {
			continue
		}
		if m.emitted {
			return "\u200B" // no text, but not an unknown character
		}
		m.emitted = true
		return m.actualText
	}
	return s
}

// beginMarked opens a marked-content sequence.
func (in *interpreter) beginMarked(args array) {
	if len(in.marks) >= maxStates {
		return
	}
	var m markedContent
	if len(args) == 2 {
		d, ok := args[1].(dict)
		if key, isName := args[1].(name); isName {
			d, ok = in.f.dict(in.f.dict(in.resources["Properties"])[key]), true
		}
		if t, has := in.f.resolve(d["ActualText"]).(text); ok && has {
			m = markedContent{actualText: textString(t), hasActual: true}
		}
	}
	in.marks = append(in.marks, m)
}

// findFont returns a font of the resources. Fonts that are objects are parsed once per file; inline
// fonts once per set of resources.
func (in *interpreter) findFont(n name) *font {
	x := in.f.dict(in.resources["Font"])[n]
	r, isRef := x.(ref)
	if t, ok := in.f.fonts[r.num]; ok && isRef {
		return t
	}
	if t, ok := in.inlineFonts[n]; ok && !isRef {
		return t
	}
	var t *font
	if d := in.f.dict(x); d != nil {
		t = in.f.newFont(d)
	}
	if isRef {
		in.f.fonts[r.num] = t
	} else {
		in.inlineFonts[n] = t
	}
	return t
}

// xobject draws a form or counts an image.
func (in *interpreter) xobject(args array) {
	if len(args) == 0 {
		return
	}
	n, _ := args[0].(name)
	s, ok := in.f.resolve(in.f.dict(in.resources["XObject"])[n]).(stream)
	if !ok {
		return
	}
	if in.f.name(s.dict["Subtype"]) != "Form" {
		in.page.Images++
		return
	}
	if in.depth >= maxForms {
		return
	}
	outer := *in
	in.depth++
	if m := in.f.array(s.dict["Matrix"]); len(m) == 6 {
		in.state.ctm = matrix(in.numbers(m)).mul(in.state.ctm)
	}
	if d := in.f.dict(s.dict["Resources"]); d != nil {
		in.resources, in.inlineFonts = d, make(map[name]*font)
	}
	in.stack, in.marks = nil, slices.Clone(in.marks)
	in.run(in.f.decode(s))
	*in = outer
}

// textString decodes a text string: UTF-16, UTF-8 or PDFDocEncoding.
func textString(t text) string {
	switch {
	case len(t) >= 2 && t[:2] == "\xFE\xFF":
		return string(utf16.Decode(utf16Units(t[2:])))
	case len(t) >= 2 && t[:2] == "\xFF\xFE":
		swapped := make([]byte, 0, len(t))
		for i := 2; i+1 < len(t); i += 2 {
			swapped = append(swapped, t[i+1], t[i])
		}
		return string(utf16.Decode(utf16Units(text(swapped))))
	case len(t) >= 3 && t[:3] == "\xEF\xBB\xBF":
		return string(t[3:])
	}
	var out []byte
	for i := range len(t) {
		out = append(out, pdfDocChar(t[i])...)
	}
	return string(out)
}
