package tokens

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

const (
	// shortPiece is the length in bytes up to which a linear scan for the next merge is faster than
	// a heap. Nearly all pieces of real text are shorter.
	shortPiece = 128
	// longestPiece is the length up to which positions fit into an int32. A longer piece is
	// counted in parts, which can add a token per part.
	longestPiece = 1 << 30
)

// splitter returns the end of the piece of s that starts at byte i < len(s).
type splitter func(t *classes, s string, i int) int

// bpe is a byte-pair encoding. A pattern splits text into pieces. The bytes of a piece are merged
// pair by pair, lowest rank first, then leftmost, until no two neighbors form a token.
type bpe struct {
	name       string
	split      splitter
	classes    *classes
	vocab      *vocab
	longMerges sync.Pool // *longMerge
}

func newBPE(name, file string, next splitter) (*bpe, error) {
	v, err := parseVocab(file)
	if err != nil {
		return nil, fmt.Errorf("embedded vocabulary %s: %w", name, err)
	}
	return &bpe{
		name:       name,
		split:      next,
		classes:    unicodeClasses(),
		vocab:      v,
		longMerges: sync.Pool{New: func() any { return new(longMerge) }},
	}, nil
}

// Name implements [ragctx.Counter].
func (b *bpe) Name() string { return b.name }

// Count implements [ragctx.Counter].
func (b *bpe) Count(text string) int {
	text = replaceInvalid(text)
	var buf [shortPiece + 1]part
	n := 0
	for i := 0; i < len(text); {
		end := b.split(b.classes, text, i)
		n += b.countPiece(text[i:end], buf[:])
		i = end
	}
	return n
}

func (b *bpe) countPiece(piece string, buf []part) int {
	if b.vocab.rank(piece) != noRank {
		return 1
	}
	if len(piece) <= shortPiece {
		return len(b.vocab.mergeShort(piece, buf)) - 1
	}
	long := b.longMerges.Get().(*longMerge)
	defer b.longMerges.Put(long)
	n := 0
	for len(piece) > longestPiece {
		n += long.merge(b.vocab, piece[:longestPiece])
		piece = piece[longestPiece:]
	}
	return n + long.merge(b.vocab, piece)
}

// replaceInvalid returns text with every byte that is not part of valid UTF-8
// replaced by U+FFFD.
func replaceInvalid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// part is a token under construction. It starts at byte at and ends where the next part starts.
// rank is the rank of the token that it forms with the next part.
type part struct {
	at, rank uint32
}

// mergeShort merges piece in buf, which must have room for len(piece)+1 parts. It returns the parts
// and an end marker. It takes quadratic time.
func (v *vocab) mergeShort(piece string, buf []part) []part {
	parts := buf[:len(piece)+1]
	for i := range parts {
		parts[i] = part{uint32(i), noRank}
		if i+2 <= len(piece) {
			parts[i].rank = v.pair(piece[i], piece[i+1])
		}
	}
	for {
		i := lowest(parts)
		if parts[i].rank == noRank {
			return parts
		}
		parts[i].rank = v.joined(piece, parts, i)
		if i > 0 {
			parts[i-1].rank = v.joined(piece, parts, i-1)
		}
		copy(parts[i+1:], parts[i+2:])
		parts = parts[:len(parts)-1]
	}
}

// lowest returns the index of the leftmost part with the lowest rank.
func lowest(parts []part) int {
	at, rank := 0, uint32(noRank)
	for i, p := range parts {
		if p.rank < rank {
			at, rank = i, p.rank
		}
	}
	return at
}

// joined returns the rank of the token that the parts i to i+2 would form.
func (v *vocab) joined(piece string, parts []part, i int) uint32 {
	if i+3 >= len(parts) {
		return noRank
	}
	return v.rank(piece[parts[i].at:parts[i+3].at])
}

// node is a token under construction. It starts at the byte of its own index.
type node struct {
	prev, next int32  // starts of the neighbors
	rank       uint32 // of the token that it forms with the next one
}

// longMerge merges long pieces in O(n log n) time. It is pooled to reuse its memory.
type longMerge struct {
	nodes []node
	queue minHeap
}

// merge returns the number of tokens of piece and leaves them in nodes, linked from the first.
func (m *longMerge) merge(v *vocab, piece string) int {
	m.start(v, piece)
	n := len(piece)
	for len(m.queue) > 0 {
		rank, at := unpack(m.queue.pop())
		if m.nodes[at].rank == rank { // otherwise it was merged or changed after it was queued
			m.join(v, piece, at)
			n--
		}
	}
	return n
}

func (m *longMerge) start(v *vocab, piece string) {
	m.nodes = slices.Grow(m.nodes[:0], len(piece))
	m.queue = slices.Grow(m.queue[:0], len(piece))
	for i := range int32(len(piece)) {
		rank := uint32(noRank)
		if int(i)+1 < len(piece) {
			rank = v.pair(piece[i], piece[i+1])
		}
		m.nodes = append(m.nodes, node{prev: i - 1, next: i + 1, rank: rank})
		if rank != noRank {
			m.queue = append(m.queue, pack(rank, i))
		}
	}
	m.queue.init()
}

// join merges the token at byte at with the next one.
func (m *longMerge) join(v *vocab, piece string, at int32) {
	gone := m.nodes[at].next
	m.nodes[gone].rank = noRank
	next := m.nodes[gone].next
	m.nodes[at].next = next
	if int(next) < len(piece) {
		m.nodes[next].prev = at
	}
	m.update(v, piece, at)
	if at > 0 {
		m.update(v, piece, m.nodes[at].prev)
	}
}

// update sets the rank of the token at byte at with the one after it.
func (m *longMerge) update(v *vocab, piece string, at int32) {
	n := &m.nodes[at]
	n.rank = noRank
	if int(n.next) == len(piece) {
		return
	}
	n.rank = v.rank(piece[at:m.nodes[n.next].next])
	if n.rank != noRank {
		m.queue.push(pack(n.rank, at))
	}
}

// pack makes a heap key that orders by rank, then by position.
func pack(rank uint32, at int32) uint64 { return uint64(rank)<<32 | uint64(at) }

func unpack(x uint64) (rank uint32, at int32) {
	return uint32(x >> 32), int32(x & math.MaxInt32)
}
