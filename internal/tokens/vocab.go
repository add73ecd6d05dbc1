package tokens

import (
	_ "embed" // the vocabularies
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// noRank is the rank of a string that is not a token. It is greater than all ranks.
const noRank = math.MaxUint32

// vocab maps tokens to ranks. It is an immutable open-addressing table without pointers, which
// loads several times faster than a map of strings and costs the garbage collector nothing.
type vocab struct {
	text    string   // the concatenated tokens, by rank
	starts  []uint32 // token r is text[starts[r]:starts[r+1]]
	longest int      // bytes of the longest token

	slots []uint32 // tag and rank+1 of a token, or 0
	shift uint     // shift from a hash to a slot

	pairs []uint32 // ranks of two-byte tokens, by first and second byte
}

// The vocabularies, as TestVocabularies writes them.
var (
	//go:embed o200k_base.vocab
	o200kFile string
	//go:embed cl100k_base.vocab
	cl100kFile string
)

// parseVocab reads a file of four bytes with the number of tokens, one byte for each token with its
// length, and the concatenated tokens, by rank.
func parseVocab(file string) (*vocab, error) {
	if len(file) < 4 {
		return nil, errors.New("is too short for a number of tokens")
	}
	n := load32(file)
	if file = file[4:]; uint64(len(file)) < n {
		return nil, fmt.Errorf("is too short for %d lengths", n)
	}
	lengths, text := file[:n], file[n:]
	v := &vocab{text: text, starts: make([]uint32, 1, n+1)}
	end := 0
	for rank := range len(lengths) {
		length := int(lengths[rank])
		if length == 0 {
			return nil, fmt.Errorf("token %d is empty", rank)
		}
		end += length
		v.longest = max(v.longest, length)
		v.starts = append(v.starts, uint32(end))
	}
	if end != len(text) {
		return nil, fmt.Errorf("has %d bytes of tokens, want %d", len(text), end)
	}
	return v, v.index()
}

// index fills the table and checks that every byte can be encoded.
func (v *vocab) index() error {
	if len(v.starts) > rankMask {
		return fmt.Errorf("%d tokens, want fewer than %d", len(v.starts)-1, rankMask)
	}
	size := bits.Len(uint(2 * len(v.starts))) // at most half full
	v.slots = make([]uint32, 1<<size)
	v.shift = uint(64 - size)
	for r := range uint32(len(v.starts) - 1) {
		v.insert(v.token(r), r)
	}
	v.pairs = make([]uint32, 1<<16)
	for i := range v.pairs {
		v.pairs[i] = v.rank(string([]byte{byte(i >> 8), byte(i)}))
	}
	for b := range 256 {
		if v.rank(string([]byte{byte(b)})) == noRank {
			return errors.New("a byte has no token of its own")
		}
	}
	return nil
}

func (v *vocab) insert(s string, rank uint32) {
	h := hash(s)
	i := h >> v.shift
	for v.slots[i] != 0 {
		i = v.after(i)
	}
	v.slots[i] = tag(h) | (rank + 1)
}

// rank returns the rank of the token s, or noRank.
func (v *vocab) rank(s string) uint32 {
	if len(s) > v.longest {
		return noRank
	}
	h := hash(s)
	for i := h >> v.shift; v.slots[i] != 0; i = v.after(i) {
		if slot := v.slots[i]; slot&^rankMask == tag(h) {
			if r := slot&rankMask - 1; v.token(r) == s {
				return r
			}
		}
	}
	return noRank
}

func (v *vocab) after(slot uint64) uint64 { return (slot + 1) & uint64(len(v.slots)-1) }

// pair returns the rank of a two-byte token.
func (v *vocab) pair(a, b byte) uint32 { return v.pairs[int(a)<<8|int(b)] }

func (v *vocab) token(rank uint32) string { return v.text[v.starts[rank]:v.starts[rank+1]] }

// A slot has rankBits for the rank. The bits above are a tag, part of the hash, which avoids most
// comparisons with other tokens that share the slot.
const (
	rankBits = 18
	rankMask = 1<<rankBits - 1
)

func tag(hash uint64) uint32 { return uint32(hash << rankBits) }

// hash mixes the bytes and the length of s. It needs no secret: the set of tokens is fixed, so no
// input can cause more collisions.
func hash(s string) uint64 {
	n := len(s)
	h := uint64(n)
	for len(s) > 8 {
		h = fold(h ^ load64(s))
		s = s[8:]
	}
	switch n := len(s); {
	case n == 8:
		return fold(h ^ load64(s))
	case n >= 4:
		return fold(h ^ (load32(s) | load32(s[n-4:])<<32))
	}
	var tail uint64
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * i)
	}
	return fold(h ^ tail)
}

// fold is a step of multiplicative hashing by 2^64 divided by the golden ratio.
func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

func load32(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

func load64(s string) uint64 { return load32(s) | load32(s[4:])<<32 }
