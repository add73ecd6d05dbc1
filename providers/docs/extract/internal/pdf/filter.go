package pdf

import (
	"bytes"
	"compress/flate"
	"encoding/ascii85"
	"errors"
	"io"
)

// maxFilters bounds the filters of one stream.
const maxFilters = 8

// decode undoes the filters of a stream. Damaged data is cut where the damage begins. Image filters
// are not supported and return nil.
func (f *file) decode(s stream) []byte {
	filters, params := f.firstArray(s.dict["Filter"], s.dict["F"]), f.firstArray(s.dict["DecodeParms"], s.dict["DP"])
	if len(filters) > maxFilters {
		return nil
	}
	b := s.raw
	for i, x := range filters {
		var param dict
		if i < len(params) {
			param = f.dict(params[i])
		}
		if b = f.unfilter(f.name(x), param, b); b == nil {
			return nil
		}
	}
	if len(filters) == 0 {
		f.spend(len(b))
	}
	return b
}

// firstArray returns the first of xs that is set, as an array.
func (f *file) firstArray(xs ...any) array {
	for _, x := range xs {
		switch x := f.resolve(x).(type) {
		case nil:
		case array:
			return x
		default:
			return array{x}
		}
	}
	return nil
}

func (f *file) unfilter(filter name, param dict, b []byte) []byte {
	switch filter {
	case "FlateDecode", "Fl":
		return f.undoPredictor(param, f.inflate(b))
	case "LZWDecode", "LZW":
		early := 1
		if n, ok := f.resolve(param["EarlyChange"]).(int); ok {
			early = n
		}
		return f.undoPredictor(param, f.decodeLZW(b, early))
	case "ASCII85Decode", "A85":
		return f.decodeASCII85(b)
	case "ASCIIHexDecode", "AHx":
		end := bytes.IndexByte(b, '>')
		if end < 0 {
			end = len(b)
		}
		f.spend(end / 2)
		return hexBytes(b[:end])
	case "RunLengthDecode", "RL":
		return f.decodeRunLength(b)
	case "Crypt":
		return b
	}
	return nil
}

// readAll reads r until it ends or fails. It returns the bytes read so far.
func (f *file) readAll(r io.Reader) []byte {
	out := []byte{} // not nil, which means an image
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		f.spend(n)
		out = append(out, buf[:n]...)
		if err != nil {
			f.damaged = f.damaged || !errors.Is(err, io.EOF)
			return out
		}
	}
}

// inflate skips the zlib header and ignores the checksum, so that damaged data can be read up to
// the damage.
func (f *file) inflate(b []byte) []byte {
	b = bytes.TrimLeft(b, "\r\n")
	return f.readAll(flate.NewReader(bytes.NewReader(b[min(2, len(b)):])))
}

func (f *file) decodeASCII85(b []byte) []byte {
	b = bytes.TrimPrefix(bytes.TrimSpace(b), []byte("<~"))
	if end := bytes.IndexByte(b, '~'); end >= 0 {
		b = b[:end]
	}
	return f.readAll(ascii85.NewDecoder(bytes.NewReader(b)))
}

func (f *file) decodeRunLength(b []byte) []byte {
	out := []byte{}
	for len(b) > 1 && b[0] != 128 {
		n := int(b[0])
		if n < 128 {
			n = min(n+1, len(b)-1)
			out, b = append(out, b[1:1+n]...), b[1+n:]
		} else {
			n = 257 - n
			out, b = append(out, bytes.Repeat(b[1:2], n)...), b[2:]
		}
		f.spend(n)
	}
	return out
}

// lzw decodes the LZW variant of TIFF and PDF. Unlike in GIF, codes grow one entry early (early is
// 1).
type lzw struct {
	table    []lzwEntry
	previous int // previous code; -1 after the table was cleared
	early    int
	out      []byte
}

// lzwEntry is the expansion of another entry followed by one byte.
type lzwEntry struct {
	prefix int
	last   byte
	length int
}

const (
	lzwClear = 256
	lzwEnd   = 257
	lzwSize  = 4096
)

func (f *file) decodeLZW(b []byte, early int) []byte {
	z := lzw{table: make([]lzwEntry, 258, lzwSize), previous: -1, early: early, out: []byte{}}
	for i := range 256 {
		z.table[i] = lzwEntry{-1, byte(i), 1}
	}
	bits, have := 0, 0
	for _, c := range b {
		bits, have = bits<<8|int(c), have+8
		if width := z.width(); have >= width {
			code := bits >> (have - width)
			have -= width
			bits &= 1<<have - 1
			before := len(z.out)
			if code == lzwEnd || !z.next(code) {
				break
			}
			f.spend(len(z.out) - before)
		}
	}
	return z.out
}

func (z *lzw) width() int {
	switch size := len(z.table) + z.early; {
	case size >= 2048:
		return 12
	case size >= 1024:
		return 11
	case size >= 512:
		return 10
	}
	return 9
}

// next writes the expansion of code. It returns false for an invalid code.
func (z *lzw) next(code int) bool {
	switch {
	case code == lzwClear:
		z.table, z.previous = z.table[:258], -1
		return true
	case code > len(z.table), code == len(z.table) && z.previous < 0:
		return false
	}
	start := len(z.out)
	if code < len(z.table) {
		z.write(code)
	} else { // the entry about to be added: the previous entry and its own first byte
		z.write(z.previous)
		z.out = append(z.out, z.out[start])
	}
	if z.previous >= 0 && len(z.table) < lzwSize {
		z.table = append(z.table, lzwEntry{z.previous, z.out[start], z.table[z.previous].length + 1})
	}
	z.previous = code
	return true
}

// write appends the expansion of code, from its end to its start.
func (z *lzw) write(code int) {
	start, length := len(z.out), z.table[code].length
	z.out = append(z.out, make([]byte, length)...)
	for at, i := start+length-1, code; i >= 0 && at >= start; at, i = at-1, z.table[i].prefix {
		z.out[at] = z.table[i].last
	}
}

// undoPredictor undoes the PNG predictors and, for 8-bit components, the TIFF predictor.
func (f *file) undoPredictor(param dict, b []byte) []byte {
	predictor := int(f.number(param["Predictor"]))
	if predictor < 2 {
		return b
	}
	or := func(key name, or int) int {
		if n, ok := f.resolve(param[key]).(int); ok && n > 0 && n < 1<<16 {
			return n
		}
		return or
	}
	colors, depth, columns := or("Colors", 1), or("BitsPerComponent", 8), or("Columns", 1)
	pixel := max(1, colors*depth/8)
	row := min((columns*colors*depth+7)/8, len(b)+1)
	if predictor == 2 {
		for i := range b {
			if depth == 8 && i%row >= pixel {
				b[i] += b[i-pixel]
			}
		}
		return b
	}
	return undoPNG(b, row, pixel)
}

// undoPNG undoes the PNG row filters. The byte before each row names its filter.
func undoPNG(b []byte, row, pixel int) []byte {
	out := make([]byte, 0, len(b))
	above := make([]byte, row)
	for len(b) > 1 {
		kind := b[0]
		n := min(row, len(b)-1)
		line := b[1 : 1+n]
		b = b[1+n:]
		for i := range line {
			var left, corner byte
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			switch kind {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		copy(above, line)
		out = append(out, line...)
	}
	return out
}

// paeth is the Paeth predictor of PNG.
func paeth(left, above, corner byte) byte {
	a := abs(int(above) - int(corner))
	b := abs(int(left) - int(corner))
	c := abs(int(left) + int(above) - 2*int(corner))
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return above
	}
	return corner
}

func abs(x int) int { return max(x, -x) }
