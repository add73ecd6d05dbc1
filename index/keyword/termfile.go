package keyword

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"strings"
)

// A segment file holds the chunks of a segment, and for each term the chunks that contain it. Numbers are little endian
// unless stated otherwise; uvarints are those of encoding/binary.
//
//	magic    8 bytes
//	lists    the posting lists in the order of the terms, without gaps
//	blocks   the terms by ascending key, 16 to a block: the uvarint offset of the first
//	         list, then for each term the uvarint number of bytes shared with the key before,
//	         that of further bytes, these bytes, and the uvarint length of its list
//	index    for each block the first 8 bytes of its first key, big endian, padded with zeros
//	starts   for each block a uint32, its offset in blocks
//	ids      for each chunk a uint64, big endian
//	columns  for each chunk its item as a varint difference to the one before, and its length as a uvarint
//	footer   the numbers of chunks, terms and blocks (uint32 each), the offsets of blocks, index and
//	         columns (uint64 each), and the CRC-32 of all that precedes it (uint32, big endian)
//
// A list is the uvarint count<<2 | frequencies<<1 | bitmap. If count is 1, the number of the chunk follows. Otherwise
// the uvarint number of items follows, and then the chunks: a bitmap, or uvarint differences minus 1.
// Frequencies minus 1 follow in 4 bits each, if any is above 1.
const (
	termMagic  = "ragctxK1"
	blockTerms = 16
	footerSize = 3*4 + 3*8 + 4
)

// The keys of a segment file sort by kind: grams, openings, pairs, words. Grams and openings start with a mark of their own.
const (
	pairMark  = "\x03"
	firstWord = "!"
	pairSpace = ' '
)

// appendKey appends the key of a term in a segment file.
func appendKey(to []byte, term string) []byte {
	if isPair(term) {
		to = append(to, pairMark...)
	}
	return append(to, term...)
}

// termOf is the reverse of appendKey.
func termOf(key []byte) string { return strings.TrimPrefix(string(key), pairMark) }

// isPair reports whether a term is a pair of words.
func isPair(term string) bool { return strings.IndexByte(term, pairSpace) >= 0 }

// termFile is a segment file in memory, or mapped into it.
type termFile struct {
	data          []byte
	chunks, terms int
	lists         []byte
	blocks, index []byte
	starts        []byte
	ids, columns  []byte
}

var errTermFile = errors.New("segment file is damaged")

// parseTermFile locates the parts of a segment file. It does not verify the checksum.
func parseTermFile(data []byte) (*termFile, error) {
	if len(data) < len(termMagic)+footerSize || string(data[:len(termMagic)]) != termMagic {
		return nil, errors.New("not a segment file of this version")
	}
	end := uint64(len(data) - footerSize)
	foot, order := data[end:], binary.LittleEndian
	chunks, terms, blocks := uint64(order.Uint32(foot)), uint64(order.Uint32(foot[4:])), uint64(order.Uint32(foot[8:]))
	atBlocks, atIndex, atColumns := order.Uint64(foot[12:]), order.Uint64(foot[20:]), order.Uint64(foot[28:])
	first := uint64(len(termMagic))
	if atBlocks < first || atIndex < atBlocks || atIndex > end || atColumns > end || atColumns < atIndex ||
		blocks != (terms+blockTerms-1)/blockTerms || atColumns-atIndex != 12*blocks+8*chunks {
		return nil, errTermFile
	}
	f := &termFile{data: data, chunks: int(chunks), terms: int(terms)}
	f.lists, f.blocks = data[first:atBlocks], data[atBlocks:atIndex]
	f.index, f.starts = data[atIndex:atIndex+8*blocks], data[atIndex+8*blocks:atIndex+12*blocks]
	f.ids, f.columns = data[atIndex+12*blocks:atColumns], data[atColumns:end]
	return f, nil
}

// id returns the id of a chunk.
func (f *termFile) id(chunk int) uint64 { return binary.BigEndian.Uint64(f.ids[8*chunk:]) }

// rows returns the data of all chunks.
func (f *termFile) rows() ([]row, error) {
	rows := make([]row, f.chunks)
	item, b := uint64(0), f.columns
	for i := range rows {
		step, n := binary.Varint(b)
		length, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || length > 1<<32-1 {
			return nil, errTermFile
		}
		b = b[n+m:]
		item += uint64(step) //nolint:gosec // modulo 2⁶⁴
		rows[i] = row{item: item, id: f.id(i), chunk: uint32(i), length: uint32(length)}
	}
	return rows, nil
}

// prefixOf returns the first 8 bytes of a key as a number.
func prefixOf(key []byte) uint64 {
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// blockOf returns the last block whose first key is at most key; -1 if there is none.
func (f *termFile) blockOf(key []byte) int {
	prefix := prefixOf(key)
	low, high := 0, len(f.index)/8
	for low < high {
		mid := int(uint(low+high) >> 1) //nolint:gosec // not negative
		p := binary.BigEndian.Uint64(f.index[8*mid:])
		if p < prefix || p == prefix && bytes.Compare(f.first(mid), key) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// block returns the bytes from the beginning of a block on.
func (f *termFile) block(n int) []byte { return f.blocks[binary.LittleEndian.Uint32(f.starts[4*n:]):] }

// first returns the first key of a block.
func (f *termFile) first(n int) []byte {
	b := f.block(n)
	_, at := binary.Uvarint(b)
	b = b[at+1:] // nothing is shared
	length, at := binary.Uvarint(b)
	return b[at : at+int(length)] //nolint:gosec // a slice expression checks it
}

// find returns the list of a key.
func (f *termFile) find(key []byte) (l termList, ok bool, err error) {
	n := f.blockOf(key)
	if n < 0 {
		return l, false, nil
	}
	c := termCursor{file: f, next: n}
	for more := c.advance(); more; more = c.left > 0 && c.advance() {
		switch bytes.Compare(c.key, key) {
		case 0:
			l, err = f.list(c.list)
			return l, err == nil, err
		case 1:
			return l, false, nil
		}
	}
	return l, false, c.err
}

// seek returns a cursor before the first key that is at least from.
func (f *termFile) seek(from []byte) *termCursor {
	c := &termCursor{file: f, next: max(f.blockOf(from), 0)}
	for ahead := *c; ahead.advance() && bytes.Compare(ahead.key, from) < 0; {
		*c = ahead
		c.key = slices.Clone(ahead.key)
	}
	return c
}

// termCursor reads keys in order.
type termCursor struct {
	file *termFile
	next int // the next block
	left int // keys left in the current block
	rest []byte
	at   uint64 // offset of the next list
	err  error

	key    []byte // valid until the next call of advance
	shared int    // bytes that key shares with the key before; 0 at the beginning of a block
	list   []byte
}

// advance reads the next key. It returns false at the end, and after an error.
func (c *termCursor) advance() bool {
	if c.left == 0 {
		if c.err != nil || c.next*blockTerms >= c.file.terms {
			return false
		}
		c.rest = c.file.block(c.next)
		c.left = min(blockTerms, c.file.terms-c.next*blockTerms)
		c.next++
		c.at, c.key = c.uvarint(), c.key[:0]
	}
	c.left--
	shared, more := c.uvarint(), c.uvarint()
	if c.err != nil || shared > uint64(len(c.key)) || more > uint64(len(c.rest)) {
		return c.fail()
	}
	c.shared = int(shared) //nolint:gosec // at most the length of a key
	c.key = append(c.key[:shared], c.rest[:more]...)
	c.rest = c.rest[more:]
	size := c.uvarint()
	if c.err != nil || c.at+size > uint64(len(c.file.lists)) || c.at+size < c.at {
		return c.fail()
	}
	c.list = c.file.lists[c.at : c.at+size]
	c.at += size
	return true
}

func (c *termCursor) fail() bool {
	c.left, c.err = 0, errTermFile
	return false
}

func (c *termCursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.err = errTermFile
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// skip moves before the last block that begins with the first n bytes of the current key, if that is a later one.
func (c *termCursor) skip(n int) {
	from := c.next
	for c.next*blockTerms < c.file.terms && bytes.HasPrefix(c.file.first(c.next), c.key[:n]) {
		c.next++
	}
	if c.next > from {
		c.next, c.left, c.key = c.next-1, 0, c.key[:0]
	}
}

// termList is a posting list of a segment file.
type termList struct {
	count, texts int
	only         uint32 // the chunk, if count is 1
	bitmap       bool
	chunks       int    // of the file
	rest         []byte // the chunks, if there are several, and the frequencies
	frequent     bool   // frequencies follow the chunks
}

// list reads the head of a list.
func (f *termFile) list(b []byte) (l termList, err error) {
	head, n := binary.Uvarint(b)
	texts, m := binary.Uvarint(b[max(n, 0):])
	count := head >> 2
	if n <= 0 || m <= 0 || count == 0 || count > uint64(f.chunks) || texts > uint64(f.chunks) {
		return l, errTermFile
	}
	l = termList{count: int(count), texts: int(texts), bitmap: head&1 != 0, frequent: head&2 != 0, rest: b[n+m:], chunks: f.chunks}
	if l.count == 1 {
		l.only, l.texts = uint32(texts), 1 //nolint:gosec // below 2³²
		if l.only >= uint32(f.chunks) {    //nolint:gosec // below 2³²
			return l, errTermFile
		}
	}
	if size := (f.chunks + 7) / 8; l.bitmap && l.count > 1 && len(l.rest) < size {
		return l, errTermFile
	}
	return l, nil
}

// appendChunks appends the chunks of a list, ascending, and returns the bytes after them.
func (l *termList) appendChunks(to []uint32) (chunks []uint32, frequencies []byte, err error) {
	switch {
	case l.count == 1:
		return append(to, l.only), l.rest, nil
	case l.bitmap:
		size := (l.chunks + 7) / 8
		for at := 0; at < size; at += 8 {
			for w := wordAt(l.rest[:size], at); w != 0; w &= w - 1 {
				to = append(to, uint32(8*at+bits.TrailingZeros64(w))) //nolint:gosec // below 2³²
			}
		}
		return to, l.rest[size:], nil
	}
	first, b, last := len(to), l.rest, uint32(0)
	to = slices.Grow(to, l.count)[:first+l.count]
	for i := first; i < len(to); i++ {
		var step uint32
		if len(b) > 0 && b[0] < 0x80 {
			step, b = uint32(b[0]), b[1:]
		} else {
			v, n := binary.Uvarint(b)
			if n <= 0 || v > 1<<32-1 {
				return to[:first], nil, errTermFile
			}
			step, b = uint32(v), b[n:]
		}
		last += step
		to[i] = last
		last++
	}
	if int(to[len(to)-1]) >= l.chunks {
		return to[:first], nil, errTermFile
	}
	return to, b, nil
}

// wordAt returns up to 8 bytes as a little-endian number.
func wordAt(b []byte, at int) uint64 {
	if len(b)-at >= 8 {
		return binary.LittleEndian.Uint64(b[at:])
	}
	var w [8]byte
	copy(w[:], b[at:])
	return binary.LittleEndian.Uint64(w[:])
}

// frequency returns the frequency of the nth posting.
func (l *termList) frequency(b []byte, n int) (uint32, error) {
	if !l.frequent {
		return 1, nil
	}
	if n/2 >= len(b) {
		return 0, errTermFile
	}
	return uint32(b[n/2]>>(4*(n&1))&15) + 1, nil
}

// appendPostings appends the postings of a list without dead chunks. nums is memory to reuse.
func (l *termList) appendPostings(to []posting, dead bitset, nums *[]uint32) ([]posting, error) {
	chunks, b, err := l.appendChunks((*nums)[:0])
	if err != nil {
		return to, err
	}
	*nums = chunks
	for i, chunk := range chunks {
		tf, err := l.frequency(b, i)
		if err != nil {
			return to, err
		}
		if !dead.has(chunk) {
			to = append(to, posting{chunk, tf})
		}
	}
	return to, nil
}

// appendAmong appends the postings of a list that are in a subset. nums is memory to reuse.
func (l *termList) appendAmong(to []posting, q *subsetLookup, nums *[]uint32) ([]posting, error) {
	switch {
	case len(q.chunks) == 0:
		return to, nil
	case l.bitmap && l.count > 1 && !l.frequent:
		for _, chunk := range q.chunks {
			if l.rest[chunk>>3]>>(chunk&7)&1 != 0 {
				to = append(to, posting{chunk, 1})
			}
		}
		return to, nil
	case l.count > 1 && !l.frequent:
		return l.appendSparse(to, q.chunks)
	}
	chunks, b, err := l.appendChunks((*nums)[:0])
	if err != nil {
		return to, err
	}
	*nums = chunks
	at := 0
	for i, chunk := range chunks {
		if at = skipTo(q.chunks, at, chunk); at == len(q.chunks) {
			break
		}
		if q.chunks[at] != chunk {
			continue
		}
		tf, err := l.frequency(b, i)
		if err != nil {
			return to, err
		}
		to = append(to, posting{chunk, min(tf, q.maxTf)})
	}
	return to, nil
}

// appendSparse is appendAmong for differences without frequencies. It adds up eight of them at once as long as they lead to
// no chunk of the subset.
func (l *termList) appendSparse(to []posting, among []uint32) ([]posting, error) {
	b, next, at := l.rest, uint32(0), 0 // next is the chunk at a difference of 0
	for left := l.count; left > 0; {
		if len(b) >= 8 && left >= 8 {
			if sum, ok := sumOf8(binary.LittleEndian.Uint64(b)); ok && next+sum+8 <= among[at] {
				next, b, left = next+sum+8, b[8:], left-8
				continue
			}
		}
		step, n := uint64(0), 1
		if len(b) > 0 && b[0] < 0x80 {
			step = uint64(b[0])
		} else if step, n = binary.Uvarint(b); n <= 0 || step > 1<<32-1 {
			return to, errTermFile
		}
		chunk := next + uint32(step)
		if at = skipTo(among, at, chunk); at == len(among) {
			break
		}
		if among[at] == chunk {
			to = append(to, posting{chunk, 1})
		}
		next, b, left = chunk+1, b[n:], left-1
	}
	return to, nil
}

// sumOf8 returns the sum of eight uvarints of a byte each. It returns false if one of them is longer.
func sumOf8(w uint64) (sum uint32, ok bool) {
	const odd = 0x00ff00ff00ff00ff
	pairs := w&odd + w>>8&odd
	return uint32(pairs * 0x0001000100010001 >> 48), w&0x8080808080808080 == 0 //nolint:gosec // below 8 · 255
}

// skipTo returns the first index at or after from with a number of at least chunk.
func skipTo(chunks []uint32, from int, chunk uint32) int {
	for from+8 < len(chunks) && chunks[from+8] < chunk {
		from += 8
	}
	for from < len(chunks) && chunks[from] < chunk {
		from++
	}
	return from
}
