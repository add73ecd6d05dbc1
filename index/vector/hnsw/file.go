package hnsw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// A graph's file is an image of its memory in the writer's byte order, so that it can be mapped and
// used in place:
//
//	header   a [header], the caller's name for it, zero padding, CRC-32C of these
//	chunks   each as in layout.go, with only the held slots filled
//	towers   each as in layout.go
//	sums     CRC-32C of header, chunks and towers; CRC-32C of these sums
//
// The length of the header and of every part after it is a multiple of 64 bytes, so codes are
// aligned to cache lines. Every byte is covered by a checksum.
//
// A file contains no data of vectors deleted before the write began, except how they were linked. A
// dead node has to stay until Tidy removes it; it is written with the codes and the id of a live
// neighbor. Other dead slots are written empty.

// ErrDamaged reports that a graph's file differs from what was written. Every operation on a
// damaged graph except Close returns it.
var ErrDamaged = errors.New("hnsw: the graph's file is damaged")

var (
	// magic begins every file.
	magic = [8]byte{'h', 'n', 's', 'w', 'f', 'i', 'l', 'e'}

	errClosed = errors.New("hnsw: the graph is closed")
)

const (
	fileVersion = 1
	fileOrder   = 0x01020304
	line        = 64

	// MaxName is the maximum length of a name in bytes.
	MaxName = 1 << 20
)

// header describes the contents of a file. It has no padding.
type header struct {
	Magic   [8]byte
	Order   uint32 // fileOrder in the writer's byte order
	Version uint32
	Size    uint32 // bytes before the chunks
	Name    uint32 // bytes

	Dimensions, M uint32
	ChunkSlots    uint32
	ChunkWords    uint32
	TowerLists    uint32
	TowerWords    uint32
	Seed          uint64

	Entry    uint64
	Slots    uint32
	Lists    uint32
	Root     uint32
	Residual uint32
	Live     uint32
	Held     uint32
	Waiting  uint32
	Nodes    uint32
}

// headerSize is the length of a header. The fields before Dimensions keep their positions in all
// versions.
const headerSize = int(unsafe.Sizeof(header{}))

// chunks and towers return how many of each the file has.
func (h *header) chunks() int { return (int(h.Slots) + chunkSlots - 1) >> chunkShift }
func (h *header) towers() int { return (int(h.Lists) + towerLists - 1) >> towerShift }

// total is the length of the file.
func (h *header) total() int64 {
	chunks, towers := int64(h.chunks()), int64(h.towers())
	return int64(h.Size) + 4*(chunks*int64(h.ChunkWords)+towers*int64(h.TowerWords)+chunks+towers+2)
}

// encode returns the first part of a file, including the name, and sets the header's lengths.
func (h *header) encode(name string) ([]byte, error) {
	h.Magic, h.Order, h.Version = magic, fileOrder, fileVersion
	h.Name = uint32(len(name))                                   //nolint:gosec // at most MaxName
	h.Size = uint32(headerSize+len(name)+4+line-1) &^ (line - 1) //nolint:gosec // not much more
	b, err := binary.Append(make([]byte, 0, h.Size), binary.NativeEndian, h)
	if err != nil {
		return nil, err
	}
	b = append(b, name...)
	b = append(b, make([]byte, int(h.Size)-len(b)-4)...)
	return binary.NativeEndian.AppendUint32(b, atomicfile.Checksum(b)), nil
}

// decodeHeader parses the result of encode and reports what is wrong with it.
func decodeHeader(b []byte) (*header, string, error) {
	h := new(header)
	if len(b) < headerSize {
		return nil, "", fmt.Errorf("%w: it has %d bytes, fewer than its header", ErrDamaged, len(b))
	}
	if _, err := binary.Decode(b, binary.NativeEndian, h); err != nil {
		return nil, "", err
	}
	switch {
	case h.Magic != magic:
		return nil, "", errors.New("hnsw: the file is not a graph file")
	case h.Order != fileOrder:
		return nil, "", errors.New("hnsw: the graph's file was written on a machine of another byte order")
	case h.Version != fileVersion:
		return nil, "", fmt.Errorf("hnsw: the graph's file has version %d, not %d", h.Version, fileVersion)
	case h.Name > MaxName || h.Size < uint32(headerSize)+h.Name+4 || h.Size%line != 0:
		return nil, "", fmt.Errorf("%w: its header has invalid lengths", ErrDamaged)
	case int64(h.Size) > int64(len(b)):
		return nil, "", fmt.Errorf("%w: it has %d bytes, fewer than its header", ErrDamaged, len(b))
	}
	body := b[:h.Size-4]
	if binary.NativeEndian.Uint32(b[h.Size-4:]) != atomicfile.Checksum(body) {
		return nil, "", fmt.Errorf("%w: the checksum of its header does not match", ErrDamaged)
	}
	return h, string(body[headerSize : headerSize+int(h.Name)]), nil
}

// fits returns an error if the file does not match the graph's parameters or the length in its
// header.
func (h *header) fits(g *Graph, length int) error {
	for _, field := range []struct {
		name      string
		got, want int
	}{
		{"Dimensions", int(h.Dimensions), g.dim},
		{"M", int(h.M), g.m},
		{"slots of a chunk", int(h.ChunkSlots), chunkSlots},
		{"words of a chunk", int(h.ChunkWords), g.chunkWords()},
		{"lists of a tower", int(h.TowerLists), towerLists},
		{"words of a tower", int(h.TowerWords), g.towerWords()},
	} {
		if field.got != field.want {
			return fmt.Errorf("hnsw: the graph's file has %d for %s, not %d", field.got, field.name, field.want)
		}
	}
	if h.Slots > maxSlots || h.Lists > 1<<levelShift {
		return fmt.Errorf("%w: its header claims %d slots and %d lists", ErrDamaged, h.Slots, h.Lists)
	}
	if h.total() != int64(length) {
		return fmt.Errorf("%w: it has %d bytes, not %d", ErrDamaged, length, h.total())
	}
	return nil
}

// sums returns the checksums of chunks and towers.
func (h *header) sums(b []byte) ([]uint32, error) {
	tail := b[h.total()-4*int64(h.chunks()+h.towers()+2):]
	sums := slices.Clone(unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(tail))), len(tail)/4))
	last := len(sums) - 1
	if atomicfile.Checksum(tail[:4*last]) != sums[last] || atomicfile.Checksum(b[:h.Size]) != sums[0] {
		return nil, fmt.Errorf("%w: the checksum of its checksums does not match", ErrDamaged)
	}
	return sums[1:last], nil
}

// bytesOf returns words as bytes, without a copy.
func bytesOf(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}

// wordsOf returns bytes as words, without a copy. The bytes begin and end at a multiple of 4 bytes.
func wordsOf(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
