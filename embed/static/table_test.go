package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

// draft is a table that a test makes, and can break on the way to a file.
type draft struct {
	head       header
	tokens     []string
	rowNumbers []uint16
	scales     []float32
	rows       []int8
}

// small returns a table of ten tokens; five of them have a row.
func small() *draft {
	d := &draft{
		head: header{
			Name: "small", Revision: "7", Dimensions: 8, Exponent: 0.5, NoiseFloor: 0.1, MinCoverage: 0.5, Lowercase: true,
		},
		tokens:     []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "roll", "back", "undo", "##ing", "q"},
		rowNumbers: []uint16{0, 0, 0, 0, 0, 1, 2, 3, 4, 5},
		scales:     []float32{1, .5, .25, -1, 2},
	}
	for i := range len(d.scales) * d.head.Dimensions {
		d.rows = append(d.rows, int8(i*37))
	}
	return d
}

// file returns the draft as a file, after edit has had its way with the header.
func (d *draft) file(tb testing.TB, edit func(*header)) []byte {
	tb.Helper()
	h := d.head
	h.Tokens, h.Rows = len(d.tokens), len(d.scales)
	body := map[string][]byte{"vocabulary": []byte(strings.Join(d.tokens, "\n"))}
	for name, values := range map[string]any{"row_numbers": d.rowNumbers, "scales": d.scales, "rows": d.rows} {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			tb.Fatal(err)
		}
		body[name] = b.Bytes()
	}
	const headerLen = 1 << 10
	out := binary.LittleEndian.AppendUint32([]byte(magic), version)
	out = binary.LittleEndian.AppendUint32(out, headerLen)
	out = append(out, bytes.Repeat([]byte(" "), headerLen)...)
	h.Sections = make(map[string][2]int)
	for _, name := range sections {
		for len(out)%alignment != 0 {
			out = append(out, 0)
		}
		h.Sections[name] = [2]int{len(out), len(body[name])}
		out = append(out, body[name]...)
	}
	if edit != nil {
		edit(&h)
	}
	text, err := json.Marshal(h)
	if err != nil {
		tb.Fatal(err)
	}
	copy(out[prefixLen:], text)
	return seal(out)
}

// seal appends the checksum.
func seal(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

func TestBuiltInTableIsWhole(t *testing.T) {
	t.Parallel()
	if err := verify(model); err != nil {
		t.Error(err)
	}
	if len(model) > 16<<20 {
		t.Errorf("has %d bytes, more than 16 MiB", len(model))
	}
	id := Default().Identity()
	if id.Name == "" || id.Revision == "" || id.Dimensions == 0 || !id.Normalized {
		t.Errorf("identity %+v", id)
	}
}

func TestOpenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.bin")
	data := small().file(t, nil)
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(data)
	e, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := e.Identity()
	if ok, err := regexp.MatchString(`^static:small@7-[0-9a-f]{16}/8$`, id.String()); err != nil || !ok {
		t.Errorf("identity %s", id)
	}
	other := small()
	other.rows[0]++
	write(other.file(t, nil))
	if o, err := OpenFile(path); err != nil || o.Identity() == id {
		t.Errorf("another table that says the same of itself has the same identity: %v", err)
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x40
		if err := verify(damaged); !errors.Is(err, ragctx.ErrInvalid) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	write(data[:len(data)-1])
	if _, err := OpenFile(path); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("cut short: %v", err)
	}
	if _, err := OpenFile(filepath.Dir(path)); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := OpenFile(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestTableRefuses(t *testing.T) {
	t.Parallel()
	if _, err := newEmbedder(small().file(t, nil)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*header){
		"no name":               func(h *header) { h.Name = "" },
		"no revision":           func(h *header) { h.Revision = "" },
		"dimensions":            func(h *header) { h.Dimensions = 12 },
		"other dimensions":      func(h *header) { h.Dimensions = 16 },
		"huge dimensions":       func(h *header) { h.Dimensions = math.MaxInt &^ 7 },
		"tokens":                func(h *header) { h.Tokens++ },
		"no rows":               func(h *header) { h.Rows = 0 },
		"rows":                  func(h *header) { h.Rows++ },
		"exponent":              func(h *header) { h.Exponent = 0 },
		"large exponent":        func(h *header) { h.Exponent = 1.5 },
		"floor":                 func(h *header) { h.NoiseFloor = 1 },
		"coverage":              func(h *header) { h.MinCoverage = -1 },
		"no section":            func(h *header) { delete(h.Sections, "scales") },
		"negative offset":       func(h *header) { h.Sections["rows"] = [2]int{-16, h.Sections["rows"][1]} },
		"overlap":               func(h *header) { h.Sections["rows"] = h.Sections["scales"] },
		"negative length":       func(h *header) { h.Sections["vocabulary"] = [2]int{h.Sections["vocabulary"][0], -1} },
		"length beyond the end": func(h *header) { h.Sections["vocabulary"] = [2]int{h.Sections["vocabulary"][0], math.MaxInt} },
		"short rows":            func(h *header) { h.Rows, h.Sections["rows"] = 4, [2]int{h.Sections["rows"][0], 32} },
	} {
		if _, err := newEmbedder(small().file(t, edit)); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, edit := range map[string]func(*draft){
		"row number":      func(d *draft) { d.rowNumbers[3] = 6 },
		"scale":           func(d *draft) { d.scales[3] = float32(math.NaN()) },
		"infinite scale":  func(d *draft) { d.scales[3] = float32(math.Inf(-1)) },
		"token twice":     func(d *draft) { d.tokens[9] = "undo" },
		"no unknown":      func(d *draft) { d.tokens[1] = "[unk]" },
		"empty token":     func(d *draft) { d.tokens[9] = "" },
		"token of 2":      func(d *draft) { d.tokens[9] = "a\nb" },
		"token not UTF-8": func(d *draft) { d.tokens[9] = "\xff" },
	} {
		d := small()
		edit(d)
		if _, err := newEmbedder(d.file(t, nil)); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := small().file(t, nil)
	for name, data := range map[string][]byte{
		"empty": {}, "magic": append([]byte("X"), good[1:]...), "version": append([]byte(magic+"\x02"), good[9:]...),
		"header length":        append([]byte(magic+"\x01\x00\x00\x00\xff\xff\xff\xff"), good[16:]...),
		"no JSON":              append(append(bytes.Clone(good[:16]), '}'), good[17:]...),
		"something on the end": append(bytes.Clone(good), 0),
	} {
		if _, err := newEmbedder(data); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An accepted table can be used.
func FuzzTable(f *testing.F) {
	good := small().file(f, nil)
	f.Add(good)
	f.Add(good[:100])
	f.Fuzz(func(t *testing.T, data []byte) {
		if verify(data) == nil {
			t.Log("the checksum is right")
		}
		e, err := newEmbedder(data)
		if err != nil {
			return
		}
		v, err := e.EmbedQuery(t.Context(), "roll back, undoing q [SEP]")
		if err != nil || v != nil && len(v) != e.Identity().Dimensions {
			t.Errorf("%v, %v", v, err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	b.Run("embedded", func(b *testing.B) {
		for b.Loop() {
			if _, err := newEmbedder(model); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("checksum", func(b *testing.B) {
		b.SetBytes(int64(len(model)))
		for b.Loop() {
			if err := verify(model); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestRevision fails if the built-in table changes without a new revision. To change the table, set
// a new revision and note its checksum here.
func TestRevision(t *testing.T) {
	t.Parallel()
	known := map[string]string{"1": "47be26887909198a7c890e5ad09147f76429783bc4eb5279d0065ced7f0a5622"}
	revision := Default().Identity().Revision
	if got := hex.EncodeToString(model[len(model)-sha256.Size:]); got != known[revision] {
		t.Errorf("the table of revision %s has the checksum %s, not %s", revision, got, known[revision])
	}
}
