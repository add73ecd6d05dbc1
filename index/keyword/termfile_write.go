package keyword

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
)

// termWriter writes a segment file. The terms are added by ascending key.
type termWriter struct {
	w     io.Writer
	sum   uint32
	size  uint64
	err   error
	rows  []row
	owner []uint32 // the number of each chunk's item
	seen  []uint32 // for each item the last term that counted it
	terms uint32

	blocks, index, starts []byte
	last                  []byte // the key before
	at                    uint64 // offset of the next list
	buf                   []byte
}

// newTermWriter returns a writer of a file with the given chunks.
func newTermWriter(w io.Writer, rows []row) *termWriter {
	t := &termWriter{w: w, rows: rows, owner: make([]uint32, len(rows))}
	items := make(map[uint64]uint32)
	for i, r := range rows {
		n, ok := items[r.item]
		if !ok {
			n = uint32(len(items)) //nolint:gosec // at most the number of chunks
			items[r.item] = n
		}
		t.owner[i] = n
	}
	t.seen = make([]uint32, len(items))
	t.write([]byte(termMagic))
	return t
}

func (t *termWriter) write(b []byte) {
	if t.err != nil {
		return
	}
	t.sum = crc32.Update(t.sum, crc32.IEEETable, b)
	t.size += uint64(len(b))
	_, t.err = t.w.Write(b)
}

// add adds a term with its postings, by ascending chunk. A term without postings is left out.
func (t *termWriter) add(key []byte, list []posting) {
	if len(list) == 0 {
		return
	}
	t.buf = t.appendList(t.buf[:0], list)
	t.write(t.buf)
	shared := 0
	if t.terms%blockTerms == 0 {
		t.index = binary.BigEndian.AppendUint64(t.index, prefixOf(key))
		t.starts = binary.LittleEndian.AppendUint32(t.starts, uint32(len(t.blocks))) //nolint:gosec // finish checks it
		t.blocks = binary.AppendUvarint(t.blocks, t.at)
	} else {
		for shared < min(len(key), len(t.last)) && key[shared] == t.last[shared] {
			shared++
		}
	}
	t.terms++
	t.at += uint64(len(t.buf))
	t.blocks = binary.AppendUvarint(t.blocks, uint64(shared)) //nolint:gosec // not negative
	t.blocks = binary.AppendUvarint(t.blocks, uint64(len(key)-shared))
	t.blocks = append(t.blocks, key[shared:]...)
	t.blocks = binary.AppendUvarint(t.blocks, uint64(len(t.buf)))
	t.last = append(t.last[:0], key...)
}

// sparse: a list of fewer than 1/sparse of all chunks is stored as differences, which then take less room than a bitmap.
const sparse = 8

func (t *termWriter) appendList(b []byte, list []posting) []byte {
	head, texts := uint64(len(list))<<2, uint64(0)
	for _, e := range list {
		if e.tf > 1 {
			head |= 2
		}
		if item := t.owner[e.chunk]; t.seen[item] != t.terms+1 {
			t.seen[item] = t.terms + 1
			texts++
		}
	}
	dense := len(list) > 1 && len(list) >= len(t.rows)/sparse
	if dense {
		head |= 1
	}
	b = binary.AppendUvarint(b, head)
	switch {
	case len(list) == 1:
		b = binary.AppendUvarint(b, uint64(list[0].chunk))
	case dense:
		b = binary.AppendUvarint(b, texts)
		from := len(b)
		b = append(b, make([]byte, (len(t.rows)+7)/8)...)
		for _, e := range list {
			b[from+int(e.chunk>>3)] |= 1 << (e.chunk & 7)
		}
	default:
		b = binary.AppendUvarint(b, texts)
		next := uint32(0)
		for _, e := range list {
			b = binary.AppendUvarint(b, uint64(e.chunk-next))
			next = e.chunk + 1
		}
	}
	if head&2 == 0 {
		return b
	}
	for i, e := range list {
		if i%2 == 0 {
			b = append(b, byte(e.tf-1)) //nolint:gosec // at most MaxFrequency
		} else {
			b[len(b)-1] |= byte(e.tf-1) << 4 //nolint:gosec // at most MaxFrequency
		}
	}
	return b
}

// finish writes what follows the lists.
func (t *termWriter) finish() error {
	if len(t.blocks) > math.MaxUint32 {
		return errTermFile
	}
	atBlocks := t.size
	t.write(t.blocks)
	atIndex := t.size
	t.write(t.index)
	t.write(t.starts)
	b := t.buf[:0]
	for _, r := range t.rows {
		b = binary.BigEndian.AppendUint64(b, r.id)
	}
	t.write(b)
	atColumns, item := t.size, uint64(0)
	b = b[:0]
	for _, r := range t.rows {
		b = binary.AppendVarint(b, int64(r.item-item)) //nolint:gosec // modulo 2⁶⁴
		b = binary.AppendUvarint(b, uint64(r.length))
		item = r.item
	}
	t.write(b)
	order := binary.LittleEndian
	b = order.AppendUint32(b[:0], uint32(len(t.rows))) //nolint:gosec // scorch numbers chunks with 32 bits
	b = order.AppendUint32(b, t.terms)
	b = order.AppendUint32(b, (t.terms+blockTerms-1)/blockTerms)
	b = order.AppendUint64(b, atBlocks)
	b = order.AppendUint64(b, atIndex)
	b = order.AppendUint64(b, atColumns)
	t.write(b)
	t.write(binary.BigEndian.AppendUint32(nil, t.sum))
	return t.err
}
