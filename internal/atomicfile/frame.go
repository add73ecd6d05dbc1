package atomicfile

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrTorn says that stored bytes are incomplete or damaged.
var ErrTorn = errors.New("atomicfile: incomplete or damaged data")

// frameHeader is the size of a frame's header: the length of the payload and the checksum of length
// and payload, 4 bytes each, little-endian.
const frameHeader = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C (Castagnoli) of b. It detects every burst of up to 32 wrong bits,
// and misses one in four thousand million other errors.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Extend returns the [Checksum] of a text followed by b, where sum is the checksum of the text.
func Extend(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// AppendFrame appends a frame: the length of payload, a checksum, and payload, which must be
// shorter than 4 GiB.
func AppendFrame(dst, payload []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload))) //nolint:gosec // documented limit
	sum := Extend(Checksum(dst[at:]), payload)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(dst, payload...)
}

// NextFrame returns the payload of the first frame of src and the bytes after the frame. Both share
// memory with src. If the frame is incomplete or damaged, it returns [ErrTorn].
func NextFrame(src []byte) (payload, rest []byte, err error) {
	if len(src) < frameHeader {
		return nil, nil, ErrTorn
	}
	n := uint64(binary.LittleEndian.Uint32(src))
	sum := binary.LittleEndian.Uint32(src[4:])
	rest = src[frameHeader:]
	if n > uint64(len(rest)) || sum != Extend(Checksum(src[:4]), rest[:n]) {
		return nil, nil, ErrTorn
	}
	return rest[:n:n], rest[n:], nil
}
