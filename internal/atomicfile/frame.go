package atomicfile

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrTorn says that stored bytes are not those that were written.
var ErrTorn = errors.New("durable: torn or damaged")

// frameHeader is the length of the payload and the checksum of length and
// payload, 4 bytes each, little-endian.
const frameHeader = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C (Castagnoli) of b, which finds any burst of up to
// 32 wrong bits, and others but for one in four thousand million.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Extend returns the [Checksum] of what sum is that of, followed by b.
func Extend(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// AppendFrame appends payload, shorter than 4 GiB, with its length and checksum.
func AppendFrame(dst, payload []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload))) //nolint:gosec // documented limit
	sum := Extend(Checksum(dst[at:]), payload)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(dst, payload...)
}

// NextFrame returns the payload of the first frame in src, which it shares, and
// what follows it. Anything but a whole, sound frame is [ErrTorn].
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
