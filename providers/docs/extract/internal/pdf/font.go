package pdf

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Font describes a font.
type Font struct {
	Name string // without the subset tag
	Bold bool
	Mono bool // fixed-width
	// Measured is set if the widths come from the file or from a standard font. Otherwise they are
	// guessed.
	Measured bool
}

// char is the decoded form of a code: its characters ("" if unknown) and its width in text space,
// where 1 is the font size.
type char struct {
	s     string
	width float64
}

// font decodes the strings that are shown in it.
type font struct {
	Font
	f            *file
	encoding     *cmap // of a composite font; nil means two-byte codes
	unicode      *cmap // the ToUnicode map; may be nil
	utf16        bool  // codes are UTF-16
	composite    bool
	names        [256]name // of a simple font: glyphs that differ from base
	base         name
	type3        bool
	scale        float64
	widths       map[uint32]float64
	defaultWidth float64
	cache        map[code]char
}

// newFont reads a font dictionary.
func (f *file) newFont(d dict) *font {
	t := &font{f: f, scale: .001, widths: make(map[uint32]float64), cache: make(map[code]char)}
	base := string(f.name(d["BaseFont"]))
	if i := strings.IndexByte(base, '+'); i == 6 {
		base = base[7:]
	}
	t.Name = base
	if s, ok := f.resolve(d["ToUnicode"]).(stream); ok {
		t.unicode = parseCMap(f.decode(s))
	}
	var descriptor dict
	if t.composite = f.name(d["Subtype"]) == "Type0"; t.composite {
		descriptor = t.readComposite(d)
	} else {
		descriptor = t.readSimple(d)
	}
	t.detectStyle(descriptor)
	return t
}

// detectStyle guesses bold and fixed-width from the name and the descriptor.
func (t *font) detectStyle(descriptor dict) {
	lower := strings.ToLower(t.Name)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(lower, p) {
				return true
			}
		}
		return false
	}
	flags, _ := t.f.resolve(descriptor["Flags"]).(int)
	t.Bold = has("bold", "black", "heavy", "-bd", "cmbx", "cmb1", "demi", "semibold") ||
		t.f.number(descriptor["StemV"]) >= 140
	t.Mono = flags&1 != 0 && !t.composite ||
		has("courier", "mono", "consol", "typewriter", "menlo", "cmtt", "sltt", "inconsolata", "fixed") &&
			!has("monotype")
}

func (t *font) readSimple(d dict) dict {
	f := t.f
	descriptor := f.dict(d["FontDescriptor"])
	t.type3 = f.name(d["Subtype"]) == "Type3"
	if m := f.array(d["FontMatrix"]); t.type3 && len(m) == 6 {
		t.scale = f.number(m[0])
	}
	t.readEncoding(d, descriptor)
	first := int(f.number(d["FirstChar"]))
	for i, w := range f.array(d["Widths"]) {
		if c := first + i; c >= 0 && c < 256 {
			t.widths[uint32(c)] = f.number(w)
		}
	}
	t.defaultWidth = f.number(descriptor["MissingWidth"])
	if t.Measured = len(t.widths) > 0; !t.Measured {
		t.standardWidths()
	}
	return descriptor
}

// readEncoding maps the byte codes of a simple font to glyphs.
func (t *font) readEncoding(d, descriptor dict) {
	f := t.f
	switch {
	case strings.HasPrefix(t.Name, "Symbol"):
		t.base = "Symbol"
	case strings.Contains(t.Name, "Dingbats"):
		t.base = "ZapfDingbats"
	case f.name(d["Subtype"]) == "TrueType":
		t.base = "WinAnsiEncoding"
	}
	switch e := f.resolve(d["Encoding"]).(type) {
	case name:
		t.base = e
	case dict:
		if b := f.name(e["BaseEncoding"]); b != "" {
			t.base = b
		} else {
			t.readBuiltIn(descriptor)
		}
		t.applyDifferences(f.array(e["Differences"]))
	default:
		t.readBuiltIn(descriptor)
	}
}

func (t *font) applyDifferences(list array) {
	n := 0
	for _, x := range list {
		switch x := t.f.resolve(x).(type) {
		case int:
			n = x
		case name:
			if n >= 0 && n < 256 {
				t.names[n] = x
			}
			n++
		}
	}
}

// readBuiltIn reads the encoding from the clear-text part of a Type 1 font: "dup 65 /A put".
func (t *font) readBuiltIn(descriptor dict) {
	s, ok := t.f.resolve(descriptor["FontFile"]).(stream)
	if !ok {
		return
	}
	b := t.f.decode(s)
	b = b[:min(len(b), 64<<10)]
	if i := bytes.Index(b, []byte("eexec")); i >= 0 {
		b = b[:i]
	}
	_, b, _ = bytes.Cut(b, []byte("/Encoding"))
	for {
		var ok bool
		if _, b, ok = bytes.Cut(b, []byte("dup ")); !ok {
			return
		}
		l := &lexer{b: b[:min(len(b), 128)]}
		n, isInt := l.object().(int)
		glyph, isName := l.object().(name)
		if isInt && isName && n >= 0 && n < 256 && glyph != ".notdef" {
			t.names[n] = glyph
		}
	}
}

func (t *font) readComposite(d dict) dict {
	f := t.f
	var inner dict
	if list := f.array(d["DescendantFonts"]); len(list) > 0 {
		inner = f.dict(list[0])
	}
	switch e := f.resolve(d["Encoding"]).(type) {
	case stream:
		t.encoding = parseCMap(f.decode(e))
	case name:
		t.utf16 = strings.Contains(string(e), "UCS2") || strings.Contains(string(e), "UTF16")
		if !t.utf16 && !strings.HasPrefix(string(e), "Identity") {
			t.encoding = eastAsian()
		}
	}
	t.defaultWidth = 1000
	if f.resolve(inner["DW"]) != nil {
		t.defaultWidth = f.number(inner["DW"])
	}
	t.cidWidths(f.array(inner["W"]))
	t.Measured = true
	return f.dict(inner["FontDescriptor"])
}

// eastAsian returns the code spaces of encodings that mix one-byte and two-byte codes.
func eastAsian() *cmap {
	return &cmap{codeSpaces: []codeRange{
		{low: code{0x00, 1}, high: code{0x80, 1}},
		{low: code{0x8100, 2}, high: code{0xFEFF, 2}},
	}}
}

// cidWidths reads widths of the forms "first [w w w]" and "first last w".
func (t *font) cidWidths(list array) {
	f := t.f
	for len(list) >= 2 {
		first := int(f.number(list[0]))
		if each, ok := f.resolve(list[1]).(array); ok {
			for i, w := range each {
				t.widths[uint32(first+i)] = f.number(w)
			}
			list = list[2:]
			continue
		}
		if len(list) < 3 {
			return
		}
		last, w := int(f.number(list[1])), f.number(list[2])
		for n := first; n <= last && n <= 0xFFFF && n >= 0; n++ {
			t.widths[uint32(n)] = w
		}
		list = list[3:]
	}
}

// next decodes the first code of s and returns the rest.
func (t *font) next(s text) (char, code, text) {
	c := codeOf(s[:1])
	switch {
	case t.composite && t.encoding != nil:
		c = t.encoding.next(s)
	case t.composite:
		c = codeOf(s[:min(2, len(s))])
	}
	got, ok := t.cache[c]
	if !ok {
		got = t.char(c)
		if len(t.cache) < maxMappings {
			t.cache[c] = got
		}
	}
	return got, c, s[max(c.size, 1):]
}

func (t *font) char(c code) char {
	out := char{s: t.chars(c)}
	cid := c.value
	if t.encoding != nil {
		if to, offset := t.encoding.lookup(c); to != nil {
			n, _ := to.(int)
			cid = uint32(n + offset)
		}
	}
	w, ok := t.widths[cid]
	if !ok {
		w = t.defaultWidth
		if !t.Measured || !t.composite && w == 0 && len(t.widths) == 0 {
			w = t.guessWidth(out.s)
		}
	}
	out.width = w * t.scale
	return out
}

// chars returns the characters of a code, or "".
func (t *font) chars(c code) string {
	if t.unicode != nil {
		if s := t.unicode.chars(c); usable(s) {
			return s
		}
	}
	if t.composite {
		if t.utf16 {
			return string(rune(c.value))
		}
		return ""
	}
	if glyph := t.names[c.value&0xFF]; glyph != "" && glyph != ".notdef" {
		if s := glyphChar(t.f.glyphNames(), glyph); s != "" {
			return s
		}
		return t.numberedGlyph(glyph, c)
	}
	return encodingChar(t.base, byte(c.value))
}

// numberedGlyph decodes glyph names of TeX bitmap fonts: a letter followed by the code. In these
// fonts ligatures have the codes of control characters.
func (t *font) numberedGlyph(glyph name, c code) string {
	n, err := strconv.Atoi(strings.TrimLeft(string(glyph), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	if err != nil || uint32(n) != c.value || !t.type3 {
		return ""
	}
	if n >= 11 && n <= 15 {
		return nth("ﬀﬁﬂﬃﬄ", n-11)
	}
	return ascii(byte(n))
}

// usable returns false for the placeholders of producers that do not know the characters.
func usable(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if r == 0 || r == utf8.RuneError || r >= 0xFFF0 || unicode.Is(unicode.Co, r) {
			return false
		}
	}
	return true
}

func (f *file) glyphNames() map[name]string {
	if f.names == nil {
		f.names = glyphTable()
	}
	return f.names
}
