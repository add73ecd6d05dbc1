package pdf

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// Characters of the encodings outside ASCII. A space stands for an unassigned code.
const (
	standardA1 = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß"
	pdfDoc18   = "˘ˇˆ˙˝˛˚˜"
	pdfDoc80   = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž €"
	symbol41   = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
	symbolA1   = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑       〉∫⌠ ⌡"
)

// nth returns the n-th character of s, or "" for a space and beyond the end.
func nth(s string, n int) string {
	for _, r := range s {
		if n == 0 {
			if r == ' ' {
				return ""
			}
			return string(r)
		}
		n--
	}
	return ""
}

func ascii(c byte) string {
	if c >= ' ' && c < 0x7F {
		return string(rune(c))
	}
	return ""
}

func standardChar(c byte) string {
	switch {
	case c == '\'':
		return "’"
	case c == '`':
		return "‘"
	case c >= 0xA1:
		return nth(standardA1, int(c)-0xA1)
	}
	return ascii(c)
}

func symbolChar(c byte) string {
	switch {
	case c >= 0xA1:
		return nth(symbolA1, int(c)-0xA1)
	case c >= 0x41:
		return nth(symbol41, int(c)-0x41)
	case strings.IndexByte("\"$'*-@", c) >= 0:
		return map[byte]string{'"': "∀", '$': "∃", '\'': "∋", '*': "∗", '-': "−"}[c]
	}
	return ascii(c)
}

// dingbat maps a ZapfDingbats code to a check mark, a cross, an arrow or a bullet.
func dingbat(c byte) string {
	switch c {
	case ' ':
		return " "
	case '3', '4':
		return "✓"
	case '7', '8':
		return "✗"
	case 0xD4, 0xD5, 0xD8, 0xE0, 0xE8:
		return "→"
	}
	return "•"
}

func charmapChar(m *charmap.Charmap, c byte) string {
	r := m.DecodeByte(c)
	if r == utf8.RuneError || r < ' ' || r >= 0x7F && r < 0xA0 {
		return ""
	}
	return string(r)
}

func pdfDocChar(c byte) string {
	switch {
	case c == '\t' || c == '\n' || c == '\r':
		return " "
	case c >= 0x18 && c < 0x20:
		return nth(pdfDoc18, int(c)-0x18)
	case c >= 0x80 && c <= 0xA0:
		return nth(pdfDoc80, int(c)-0x80)
	case c > 0xA0:
		return string(rune(c))
	}
	return ascii(c)
}

// encodingChar returns the character of a byte in a named encoding.
func encodingChar(encoding name, c byte) string {
	switch encoding {
	case "WinAnsiEncoding":
		if s := charmapChar(charmap.Windows1252, c); s != "" || c < ' ' {
			return s
		}
		return "•" // the standard's character for unassigned codes
	case "MacRomanEncoding":
		return charmapChar(charmap.Macintosh, c)
	case "Symbol":
		return symbolChar(c)
	case "ZapfDingbats":
		return dingbat(c)
	}
	return standardChar(c)
}

// glyphNames lists glyph names with their characters, except letters with accents: name, space,
// character.
const glyphNames = `
space  |exclam !|quotedbl "|numbersign #|dollar $|percent %|ampersand &|quotesingle '|quoteright ’|quoteleft ‘
parenleft (|parenright )|asterisk *|plus +|comma ,|hyphen -|minus −|period .|slash /|zero 0|one 1|two 2|three 3
four 4|five 5|six 6|seven 7|eight 8|nine 9|colon :|semicolon ;|less <|equal =|greater >|question ?|at @
bracketleft [|backslash \|bracketright ]|asciicircum ^|underscore _|grave ` + "`" + `|braceleft {|bar ||braceright }
asciitilde ~|exclamdown ¡|cent ¢|sterling £|fraction ⁄|yen ¥|florin ƒ|section §|currency ¤|quotedblleft “
guillemotleft «|guilsinglleft ‹|guilsinglright ›|fi ﬁ|fl ﬂ|ff ﬀ|ffi ﬃ|ffl ﬄ|endash –|dagger †|daggerdbl ‡
periodcentered ·|middot ·|paragraph ¶|bullet •|quotesinglbase ‚|quotedblbase „|quotedblright ”|guillemotright »
ellipsis …|perthousand ‰|questiondown ¿|acute ´|circumflex ˆ|tilde ˜|macron ¯|breve ˘|dotaccent ˙|dieresis ¨
ring ˚|cedilla ¸|hungarumlaut ˝|ogonek ˛|caron ˇ|emdash —|AE Æ|ordfeminine ª|Lslash Ł|Oslash Ø|OE Œ
ordmasculine º|ae æ|dotlessi ı|dotlessj ȷ|lslash ł|oslash ø|oe œ|germandbls ß|Eth Ð|eth ð|Thorn Þ|thorn þ
onesuperior ¹|twosuperior ²|threesuperior ³|onehalf ½|onequarter ¼|threequarters ¾|degree °|plusminus ±
multiply ×|divide ÷|mu µ|logicalnot ¬|brokenbar ¦|copyright ©|registered ®|trademark ™|Euro €|euro €
nbspace  |nonbreakingspace  |Dcroat Đ|dcroat đ|Hbar Ħ|hbar ħ|kgreenlandic ĸ|Eng Ŋ|eng ŋ
Tbar Ŧ|tbar ŧ|longs ſ|infinity ∞|partialdiff ∂|summation ∑|product ∏|integral ∫|radical √|approxequal ≈
notequal ≠|lessequal ≤|greaterequal ≥|lozenge ◊|Delta Δ|Omega Ω|Ohm Ω|increment Δ|pi π
Alpha Α|Beta Β|Gamma Γ|Epsilon Ε|Zeta Ζ|Eta Η|Theta Θ|Iota Ι|Kappa Κ|Lambda Λ|Mu Μ|Nu Ν|Xi Ξ|Omicron Ο|Pi Π
Rho Ρ|Sigma Σ|Tau Τ|Upsilon Υ|Phi Φ|Chi Χ|Psi Ψ|alpha α|beta β|gamma γ|delta δ|epsilon ε|epsilon1 ε|zeta ζ|eta η
theta θ|theta1 ϑ|iota ι|kappa κ|lambda λ|nu ν|xi ξ|omicron ο|rho ρ|rho1 ϱ|sigma σ|sigma1 ς|tau τ|upsilon υ
phi φ|phi1 ϕ|chi χ|psi ψ|omega ω|omega1 ϖ|arrowleft ←|arrowup ↑|arrowright →|arrowdown ↓|arrowboth ↔
arrowdblleft ⇐|arrowdblright ⇒|arrowdblboth ⇔|element ∈|notelement ∉|similar ∼|equivalence ≡|proportional ∝
propersubset ⊂|propersuperset ⊃|reflexsubset ⊆|reflexsuperset ⊇|union ∪|intersection ∩|emptyset ∅|universal ∀
existential ∃|gradient ∇|nabla ∇|logicaland ∧|logicalor ∨|circleplus ⊕|circlemultiply ⊗|dotmath ⋅|asteriskmath ∗
bardbl ‖|angbracketleft ⟨|angbracketright ⟩|perpendicular ⊥|therefore ∴|minute ′|second ″|prime ′|openbullet ◦
visiblespace ␣|visualspace ␣|square □|filledbox ■|checkmark ✓|nonbreakinghyphen -
hyphentwo -|figuredash ‒|horizontalbar ―|estimated ℮|numero №|f_f ﬀ|f_i ﬁ|f_l ﬂ|f_f_i ﬃ|f_f_l ﬄ|slashmath /
zerosuperior ⁰|foursuperior ⁴|fivesuperior ⁵|sixsuperior ⁶|sevensuperior ⁷|eightsuperior ⁸|ninesuperior ⁹|ell ℓ`

// accents lists the suffixes of the names of accented letters, with their combining characters.
const accents = "grave \u0300|acute \u0301|circumflex \u0302|tilde \u0303|macron \u0304|breve \u0306|" +
	"dotaccent \u0307|dieresis \u0308|ring \u030A|hungarumlaut \u030B|caron \u030C|" +
	"commaaccent \u0327|cedilla \u0327|ogonek \u0328|dot \u0307"

// glyphTable parses glyphNames.
func glyphTable() map[name]string {
	out := make(map[name]string)
	for line := range strings.SplitSeq(strings.TrimSpace(glyphNames), "\n") {
		for pair := range strings.SplitSeq(line, "|") {
			if n, char, ok := strings.Cut(pair, " "); ok {
				out[name(n)] = char
			}
		}
	}
	out["bar"], out["sfthyphen"], out["softhyphen"] = "|", "\u00AD", "\u00AD"
	return out
}

// glyphChar returns the characters that a glyph name stands for, or "".
func glyphChar(table map[name]string, n name) string {
	if s, ok := table[n]; ok || len(n) > 64 {
		return s
	}
	if i := strings.IndexByte(string(n), '.'); i > 0 {
		return glyphChar(table, n[:i]) // a variant such as "a.sc"
	}
	if len(n) == 1 && ascii(n[0]) != "" {
		return string(n)
	}
	if s := unicodeName(string(n)); s != "" {
		return s
	}
	for pair := range strings.SplitSeq(accents, "|") {
		accent, combining, _ := strings.Cut(pair, " ")
		if base, ok := strings.CutSuffix(string(n), accent); ok && len(base) == 1 {
			return norm.NFC.String(base + combining)
		}
	}
	if first, rest, ok := strings.Cut(string(n), "_"); ok && first != "" {
		a, b := glyphChar(table, name(first)), glyphChar(table, name(rest))
		if a != "" && b != "" {
			return a + b
		}
	}
	return ""
}

// unicodeName decodes names that contain a code point: "uni0041", "u1F600", Cyrillic "afii10017".
func unicodeName(s string) string {
	hex, ok := strings.CutPrefix(s, "uni")
	if ok && len(hex) > 4 && len(hex)%4 == 0 {
		return unicodeName(s[:7]) + unicodeName("uni"+hex[4:])
	}
	if !ok {
		hex, ok = strings.CutPrefix(s, "u")
	}
	if ok && len(hex) >= 4 && len(hex) <= 6 {
		if x, err := strconv.ParseUint(hex, 16, 32); err == nil && x >= ' ' && utf8.ValidRune(rune(x)) {
			return string(rune(x))
		}
	}
	if digits, ok := strings.CutPrefix(s, "afii"); ok {
		return cyrillic(digits)
	}
	return ""
}

// cyrillic decodes the numbered names of Cyrillic letters.
func cyrillic(digits string) string {
	x, err := strconv.Atoi(digits)
	switch {
	case err != nil:
	case x >= 10017 && x <= 10022:
		return string(rune(0x410 + x - 10017))
	case x == 10023:
		return "Ё"
	case x >= 10024 && x <= 10049:
		return string(rune(0x416 + x - 10024))
	case x >= 10065 && x <= 10070:
		return string(rune(0x430 + x - 10065))
	case x == 10071:
		return "ё"
	case x >= 10072 && x <= 10097:
		return string(rune(0x436 + x - 10072))
	case x == 61352:
		return "№"
	}
	return ""
}
