package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// A segment file holds immutable rows by ascending id. Numbers are in the byte order of the machine
// that wrote it, so that ids and rows are used directly from the mapping; a machine of another byte
// order discards the file.
//
//	header  64 bytes or a multiple: magic, the byte order mark, the header's
//	        length, dimensions, stride (uint32 each), rows (uint64), the length of
//	        the identity (uint32), the identity, zeros, and the CRC of all that
//	ids     uint64 each, then zeros up to a multiple of 64 bytes
//	rows    stride int16 each, see kernel.Encode16, then zeros up to a multiple of 64 bytes
//	sums    the CRC of each block of 64 rows
//	trailer the CRC of the ids; the CRC of sums, that CRC and the header's CRC
//
// All CRCs are CRC-32C in a uint32. The last one identifies the whole file; the manifest repeats
// it.
const (
	segmentMagic  = "ragctxV2"
	byteOrderMark = 0x01020304
	fixedHeader   = 36 // bytes before the identity
	alignment     = 64
	blockRows     = 64
	maxIdentity   = 4096
	maxRows       = math.MaxInt32
)

func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// layout holds the offsets of the parts of a segment file.
type layout struct{ header, ids, rows, sums, trailer, size int64 }

func layoutOf(identity string, rows, stride int) layout {
	var l layout
	l.header = align(fixedHeader + int64(len(identity)) + 4)
	l.ids = l.header
	l.rows = l.ids + align(8*int64(rows))
	l.sums = l.rows + align(2*int64(rows)*int64(stride))
	l.trailer = l.sums + 4*int64((rows+blockRows-1)/blockRows)
	l.size = l.trailer + 8
	return l
}

// segmentHeader returns the header of a segment file, with its CRC.
func segmentHeader(identity string, dim, rows int) []byte {
	order := binary.NativeEndian
	b := make([]byte, 0, 128)
	b = append(b, segmentMagic...)
	b = order.AppendUint32(b, byteOrderMark)
	b = order.AppendUint32(b, uint32(layoutOf(identity, 0, 0).header)) //nolint:gosec // below 2^13
	b = order.AppendUint32(b, uint32(dim))                             //nolint:gosec // at most MaxDimensions
	b = order.AppendUint32(b, uint32(stride(dim)))                     //nolint:gosec // likewise
	b = order.AppendUint64(b, uint64(rows))                            //nolint:gosec // not negative
	b = order.AppendUint32(b, uint32(len(identity)))                   //nolint:gosec // at most maxIdentity
	b = append(b, identity...)
	b = append(b, make([]byte, layoutOf(identity, 0, 0).header-int64(len(b))-4)...)
	return order.AppendUint32(b, atomicfile.Checksum(b))
}

// segment is an open segment file. It is immutable except for its reference count and the record of
// verified blocks.
type segment struct {
	refs     atomic.Int64
	name     string
	size     int64
	sum      uint32
	ids      []uint64
	vecs     []int16
	sums     []uint32 // by block
	verified []atomic.Uint64
	unmap    func() error
	width    int // codes per row
	// first and last id, to skip the segment without touching its pages
	first, last uint64
	memory      []byte
}

// openSegment opens a segment file and verifies everything except its rows, which [segment.check]
// verifies on first use. It starts with one reference.
func openSegment(fsys atomicfile.FS, name, identity string, dim, rows int) (*segment, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	l := layoutOf(identity, rows, stride(dim))
	if info.Size() != l.size {
		return nil, fmt.Errorf("%s has %d bytes, not %d", filepath.Base(name), info.Size(), l.size)
	}
	b, unmap, err := atomicfile.Contents(f, l.size, false)
	if err != nil {
		return nil, err
	}
	s := &segment{name: filepath.Base(name), size: l.size, unmap: unmap, width: stride(dim), memory: b}
	s.refs.Store(1)
	if err := guard(func() error { return s.read(l, segmentHeader(identity, dim, rows)) }); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.name, err), unmap())
	}
	return s, nil
}

// read verifies the file and locates its parts.
func (s *segment) read(l layout, header []byte) error {
	b := s.memory
	if !slices.Equal(b[:l.header], header) {
		return errors.New("its header differs in format, dimensions, embedder or number of rows")
	}
	order := binary.NativeEndian
	tail := atomicfile.Extend(atomicfile.Checksum(b[l.sums:l.trailer+4]), header[len(header)-4:])
	s.sum = order.Uint32(b[l.trailer+4:])
	if tail != s.sum || atomicfile.Checksum(b[l.ids:l.rows]) != order.Uint32(b[l.trailer:]) {
		return errors.New("checksum does not match")
	}
	rows := int(order.Uint64(header[24:])) //nolint:gosec // what the caller asked for
	s.ids = view[uint64](b[l.ids:], rows)
	s.vecs = view[int16](b[l.rows:], rows*s.width)
	s.sums = view[uint32](b[l.sums:], (rows+blockRows-1)/blockRows)
	for _, x := range b[l.rows+2*int64(len(s.vecs)) : l.sums] {
		if x != 0 { // no checksum covers the padding
			return errors.New("its padding is not zero")
		}
	}
	s.verified = make([]atomic.Uint64, (len(s.sums)+63)/64)
	for i := 1; i < len(s.ids); i++ {
		if s.ids[i-1] >= s.ids[i] {
			return errors.New("ids are out of order")
		}
	}
	s.first, s.last = s.ids[0], s.ids[len(s.ids)-1]
	return nil
}

// view returns the first n numbers in b, which must be aligned for them.
func view[T uint32 | uint64 | int16](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func (s *segment) retain() { s.refs.Add(1) }

// release releases a reference; the last release unmaps the file.
func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.unmap() // nothing is left that could use it
	}
}

// row returns a padded row. Its block must have been checked.
func (s *segment) row(i int) []int16 { return s.vecs[i*s.width : (i+1)*s.width] }

// locate returns the row of an id.
func (s *segment) locate(id uint64) (int, bool) {
	if id < s.first || id > s.last {
		return 0, false
	}
	// Ids are often consecutive: try the direct position before searching.
	if g := id - s.first; g < uint64(len(s.ids)) && s.ids[g] == id {
		return int(g), true //nolint:gosec // below len
	}
	return slices.BinarySearch(s.ids, id)
}

// check verifies the checksum of a block on its first use.
func (s *segment) check(block int) error {
	known := &s.verified[block>>6]
	if known.Load()>>(block&63)&1 != 0 {
		return nil
	}
	from := block * blockRows * s.width
	to := min(from+blockRows*s.width, len(s.vecs))
	if rowSum(s.vecs[from:to]) != s.sums[block] {
		return fmt.Errorf("%s: checksum of rows %d to %d does not match", s.name, block*blockRows, to/s.width-1)
	}
	known.Or(1 << (block & 63))
	return nil
}

// rowSum returns the checksum of rows as they are in memory.
func rowSum(rows []int16) uint32 { return atomicfile.Checksum(rowBytes(rows)) }

// rowBytes returns rows as bytes, without a copy.
func rowBytes(rows []int16) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), 2*len(rows))
}
