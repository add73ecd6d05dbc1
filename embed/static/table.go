package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"

	"github.com/ragctx/ragctx"
)

// The layout of a table file is described in train/table.py, which writes it.
const (
	magic       = "RCSTATIC"
	version     = 1
	prefixLen   = 16
	alignment   = 16
	maxHeader   = 1 << 20
	maxTable    = 1 << 30
	maxDim      = 4096
	dimStep     = 8 // the kernel processes this many components at a time
	numSections = 4
)

// sections are the parts of the file, in order.
var sections = [numSections]string{"vocabulary", "row_numbers", "scales", "rows"}

// header is the JSON header of the file.
type header struct {
	Name        string            `json:"name"`
	Revision    string            `json:"revision"`
	Dimensions  int               `json:"dimensions"`
	Tokens      int               `json:"tokens"`
	Rows        int               `json:"rows"`
	Exponent    float64           `json:"exponent"`
	NoiseFloor  float64           `json:"noise_floor"`
	MinCoverage float64           `json:"min_coverage"`
	Lowercase   bool              `json:"lowercase"`
	Sections    map[string][2]int `json:"sections"`
	License     string            `json:"license"`
	Source      string            `json:"source"`
}

// table holds the rows of tokens.
type table struct {
	dim    int       // length of a row, a multiple of dimStep
	rowOf  []int32   // row of each token, or -1
	scales []float32 // scale of each row, weight included
	rows   []byte    // int8, row by row
}

// parseTable parses a file's contents, which the table keeps using. It checks everything except the
// checksum; see [verify].
func parseTable(data []byte) (header, []string, *table, error) {
	h, err := parseHeader(data)
	if err != nil {
		return header{}, nil, nil, err
	}
	part, err := h.split(data)
	if err != nil {
		return header{}, nil, nil, err
	}
	tokens := strings.Split(string(part[0]), "\n")
	if len(tokens) != h.Tokens {
		return header{}, nil, nil, invalid("has %d tokens, and its header says %d", len(tokens), h.Tokens)
	}
	t := &table{dim: h.Dimensions, rows: part[3]}
	if t.rowOf, err = rowNumbers(part[1], h.Rows); err != nil {
		return header{}, nil, nil, err
	}
	if t.scales, err = readScales(part[2]); err != nil {
		return header{}, nil, nil, err
	}
	return h, tokens, t, nil
}

func invalid(format string, args ...any) error {
	return ragctx.Invalid("static table", format, args...)
}

// verify checks the checksum of a file's contents.
func verify(data []byte) error {
	if len(data) < prefixLen+sha256.Size {
		return invalid("is %d bytes short", prefixLen+sha256.Size-len(data))
	}
	body, want := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], want) {
		return invalid("is damaged: its checksum does not match")
	}
	return nil
}

func parseHeader(data []byte) (header, error) {
	if len(data) > maxTable {
		return header{}, invalid("has %d bytes; the limit is %d", len(data), maxTable)
	}
	if len(data) < prefixLen+sha256.Size || string(data[:len(magic)]) != magic {
		return header{}, invalid("is not a table file: it does not begin with %q", magic)
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != version {
		return header{}, invalid("has format %d; this program reads format %d", v, version)
	}
	n := int(binary.LittleEndian.Uint32(data[12:]))
	if n > maxHeader || prefixLen+n+sha256.Size > len(data) {
		return header{}, invalid("has a header of %d bytes, which exceeds the limit or the file", n)
	}
	var h header
	if err := json.Unmarshal(data[prefixLen:prefixLen+n], &h); err != nil {
		return header{}, invalid("has an invalid header: %v", err)
	}
	return h, h.check()
}

// check returns an error for the first invalid value.
func (h *header) check() error {
	switch {
	case h.Name == "" || len(h.Name) > 100 || h.Revision == "" || len(h.Revision) > 100:
		return invalid("needs a name and a revision of up to 100 bytes")
	case h.Dimensions < dimStep || h.Dimensions > maxDim || h.Dimensions%dimStep != 0:
		return invalid("has %d dimensions; they must be a multiple of %d from %d to %d", h.Dimensions, dimStep, dimStep, maxDim)
	case h.Tokens < 1 || h.Tokens > 1<<16 || h.Rows < 1 || h.Rows > math.MaxUint16:
		return invalid("has %d tokens and %d rows; the limits are 65536 and 65535", h.Tokens, h.Rows)
	case !(h.Exponent > 0 && h.Exponent <= 1):
		return invalid("has the exponent %g; it must be above 0 and at most 1", h.Exponent)
	case !(h.NoiseFloor >= 0 && h.NoiseFloor < 1) || !(h.MinCoverage >= 0 && h.MinCoverage <= 1):
		return invalid("has the noise floor %g and the coverage %g; they must be from 0 to 1, the noise floor below 1",
			h.NoiseFloor, h.MinCoverage)
	}
	return nil
}

// split returns the sections. Apart from alignment, they must fill the file up to the checksum.
func (h *header) split(data []byte) (part [numSections][]byte, err error) {
	want := [numSections]int{-1, 2 * h.Tokens, 4 * h.Rows, h.Rows * h.Dimensions}
	at := prefixLen + int(binary.LittleEndian.Uint32(data[12:]))
	for i, name := range sections {
		offset, length := h.Sections[name][0], h.Sections[name][1]
		at = (at + alignment - 1) &^ (alignment - 1)
		if offset != at {
			return part, invalid("has its section %s at %d instead of %d", name, offset, at)
		}
		if length < 0 || length > len(data)-sha256.Size-at || want[i] >= 0 && length != want[i] {
			return part, invalid("has a section %s of %d bytes, which does not match its counts or the size of the file", name, length)
		}
		at += length
		part[i] = data[offset:at]
	}
	if at != len(data)-sha256.Size {
		return part, invalid("has %d bytes between its rows and its checksum", len(data)-sha256.Size-at)
	}
	return part, nil
}

func rowNumbers(data []byte, rows int) ([]int32, error) {
	rowOf := make([]int32, len(data)/2)
	for i := range rowOf {
		n := int(binary.LittleEndian.Uint16(data[2*i:]))
		if n > rows {
			return nil, invalid("has row %d for token %d, and %d rows", n, i, rows)
		}
		rowOf[i] = int32(n) - 1
	}
	return rowOf, nil
}

func readScales(data []byte) ([]float32, error) {
	scales := make([]float32, len(data)/4)
	for i := range scales {
		s := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if s-s != 0 {
			return nil, invalid("has the scale %g for row %d", s, i)
		}
		scales[i] = s
	}
	return scales, nil
}
