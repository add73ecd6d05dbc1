package pdf

import "unicode/utf16"

// maxMappings bounds the mappings and ranges of a character map.
const maxMappings = 1 << 17

// code is a character code in a string: its value and its length in bytes.
type code struct {
	value uint32
	size  int
}

type codeRange struct {
	low, high code
	to        any // text: UTF-16 characters; array of text; int: the number of the first glyph
}

// cmap is a character map. It splits strings into codes, and maps codes to characters (ToUnicode)
// or to glyph numbers (the encoding of a composite font).
type cmap struct {
	codeSpaces []codeRange
	single     map[code]any
	ranges     []codeRange
}

func codeOf(t text) (c code) {
	for i := range min(len(t), 4) {
		c.value = c.value<<8 | uint32(t[i])
	}
	c.size = min(len(t), 4)
	return c
}

// parseCMap reads the operators of a character map.
func parseCMap(b []byte) *cmap {
	m := &cmap{single: make(map[code]any)}
	l := &lexer{b: b}
	var args array
	for {
		x := l.object()
		op, isWord := x.(word)
		switch {
		case x == endOfData:
			return m
		case !isWord:
			args = append(args, x)
			continue
		case op == "endcodespacerange":
			eachRange(args, 2, func(r codeRange) { m.codeSpaces = append(m.codeSpaces, r) })
		case op == "endbfchar", op == "endcidchar":
			for ; len(args) >= 2; args = args[2:] {
				if from, ok := args[0].(text); ok && len(m.single) < maxMappings {
					m.single[codeOf(from)] = args[1]
				}
			}
		case op == "endbfrange", op == "endcidrange":
			eachRange(args, 3, func(r codeRange) { m.ranges = append(m.ranges, r) })
		}
		if len(m.ranges) > maxMappings || len(m.codeSpaces) > 1000 {
			return m
		}
		args = args[:0]
	}
}

func eachRange(args array, n int, use func(codeRange)) {
	for ; len(args) >= n; args = args[n:] {
		low, ok1 := args[0].(text)
		high, ok2 := args[1].(text)
		if !ok1 || !ok2 {
			continue
		}
		r := codeRange{low: codeOf(low), high: codeOf(high)}
		if n > 2 {
			r.to = args[2]
		}
		use(r)
	}
}

// contains reports whether the range includes c. Each byte of a multi-byte code is checked against
// its own bounds.
func (r codeRange) contains(c code) bool {
	if c.size != r.low.size {
		return false
	}
	for shift := 0; shift < 8*c.size; shift += 8 {
		b := byte(c.value >> shift)
		if b < byte(r.low.value>>shift) || b > byte(r.high.value>>shift) {
			return false
		}
	}
	return true
}

// next returns the first code of t.
func (m *cmap) next(t text) code {
	for n := 1; n <= min(4, len(t)); n++ {
		c := codeOf(t[:n])
		for _, s := range m.codeSpaces {
			if s.contains(c) {
				return c
			}
		}
	}
	size := 1
	if len(m.codeSpaces) > 0 {
		size = m.codeSpaces[0].low.size
	}
	return codeOf(t[:min(max(size, 1), len(t))])
}

// lookup returns the target that c is mapped to and the offset of c within its range.
func (m *cmap) lookup(c code) (to any, offset int) {
	if to, ok := m.single[c]; ok {
		return to, 0
	}
	for _, r := range m.ranges {
		if c.size == r.low.size && c.value >= r.low.value && c.value <= r.high.value {
			return r.to, int(c.value - r.low.value)
		}
	}
	return nil, 0
}

// chars returns the characters that c is mapped to, or "".
func (m *cmap) chars(c code) string {
	to, offset := m.lookup(c)
	if list, ok := to.(array); ok {
		to = nil
		if offset < len(list) {
			to, offset = list[offset], 0
		}
	}
	t, ok := to.(text)
	if !ok {
		return ""
	}
	units := utf16Units(t)
	if len(units) > 0 {
		units[len(units)-1] += uint16(offset)
	}
	return string(utf16.Decode(units))
}

// utf16Units reads big-endian UTF-16 units. A single byte is one unit.
func utf16Units(t text) []uint16 {
	if len(t) == 1 {
		return []uint16{uint16(t[0])}
	}
	out := make([]uint16, 0, len(t)/2)
	for ; len(t) >= 2; t = t[2:] {
		out = append(out, uint16(t[0])<<8|uint16(t[1]))
	}
	return out
}
