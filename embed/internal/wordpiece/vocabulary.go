package wordpiece

import (
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

const (
	maxTokens   = 1 << 20 // ids fit into a slot
	maxTokenLen = 512     // bytes; longer tokens do not occur in practice
	maxChain    = 512     // slots that a lookup may visit
	continued   = "##"    // prefix of tokens that continue a word
)

// A word is hashed byte by byte, so that the hash of each prefix is available. Words and
// continuations have different seeds.
const (
	hashFactor   = 0x9E3779B97F4A7C15
	seedWord     = 0x243F6A8885A308D3
	seedContinue = 0x13198A2E03707344
)

func hashByte(h uint64, b byte) uint64 { return (h ^ uint64(b)) * hashFactor }

// vocabulary maps tokens to ids. It is an open-addressing table of 4-byte slots over the tokens'
// text. A slot has id+1 in its low 20 bits and 12 bits of the hash above, so that other tokens are
// rarely compared.
type vocabulary struct {
	text    string // all tokens, without the ## prefix
	offsets []uint32
	slots   []uint32
	shift   uint // shift from a hash to a slot
	longest int  // bytes of the longest token, without ##
}

const (
	idBits  = 20
	idMask  = 1<<idBits - 1
	tagMask = ^uint32(idMask)
)

// newVocabulary returns the vocabulary of tokens. Their ids are their indexes. The tokens' text is
// copied.
func newVocabulary(tokens []string) (*vocabulary, error) {
	if len(tokens) == 0 || len(tokens) >= maxTokens {
		return nil, ragctx.Invalid("vocabulary", "has %d tokens; the limits are 1 and %d", len(tokens), maxTokens-1)
	}
	size, shift := 2, uint(63)
	for size < 2*len(tokens) {
		size, shift = 2*size, shift-1
	}
	v := &vocabulary{offsets: make([]uint32, 1, len(tokens)+1), slots: make([]uint32, size), shift: shift}
	var text strings.Builder
	text.Grow(totalLen(tokens))
	for id, token := range tokens {
		if token == "" || len(token) > maxTokenLen || !utf8.ValidString(token) {
			return nil, ragctx.Invalid("vocabulary", "token %d is empty, longer than %d bytes or not UTF-8", id, maxTokenLen)
		}
		seed, token := seedOf(token)
		text.WriteString(token)
		v.text = text.String()
		v.offsets = append(v.offsets, uint32(len(v.text)))
		v.longest = max(v.longest, len(token))
		if err := v.insert(seed, token, id); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func totalLen(tokens []string) int {
	n := 0
	for _, t := range tokens {
		n += len(t)
	}
	return n
}

// seedOf returns a token's seed, and the token without its ##.
func seedOf(token string) (uint64, string) {
	if rest, ok := strings.CutPrefix(token, continued); ok && rest != "" {
		return seedContinue, rest
	}
	return seedWord, token
}

// insert adds a token that is already part of the text.
func (v *vocabulary) insert(seed uint64, token string, id int) error {
	h := seed
	for i := range len(token) {
		h = hashByte(h, token[i])
	}
	i := h >> v.shift
	for chain := 0; v.slots[i] != 0; chain++ {
		if chain == maxChain {
			return ragctx.Invalid("vocabulary", "more than %d tokens collide in the table", maxChain)
		}
		if other := v.slots[i]&idMask - 1; v.slots[i]&tagMask == tag(h, seed) && v.token(other) == token {
			return ragctx.Invalid("vocabulary", "tokens %d and %d are equal", other, id)
		}
		i = (i + 1) & uint64(len(v.slots)-1)
	}
	v.slots[i] = tag(h, seed) | uint32(id+1)
	return nil
}

// tag returns the part of a hash that is stored in a slot. Its lowest bit distinguishes words from
// continuations with the same text.
func tag(h, seed uint64) uint32 {
	return uint32(h>>12)&tagMask&^(1<<idBits) | uint32(seed&1)<<idBits
}

// token returns the text of a token.
func (v *vocabulary) token(id uint32) string {
	return v.text[v.offsets[id]:v.offsets[id+1]]
}

// lookup returns the id of the token with the given text and hash, or -1.
func (v *vocabulary) lookup(h, seed uint64, token []byte) int32 {
	t := tag(h, seed)
	for i := h >> v.shift; v.slots[i] != 0; i = (i + 1) & uint64(len(v.slots)-1) {
		s := v.slots[i]
		if s&tagMask != t {
			continue
		}
		if id := s&idMask - 1; v.token(id) == string(token) {
			return int32(id)
		}
	}
	return -1
}

// id returns the id of a whole token, including ##.
func (v *vocabulary) id(token string) (int32, error) {
	seed, text := seedOf(token)
	h := seed
	for i := range len(text) {
		h = hashByte(h, text[i])
	}
	if id := v.lookup(h, seed, []byte(text)); id >= 0 {
		return id, nil
	}
	return 0, ragctx.Invalid("vocabulary", "has no token %q", ragctx.Clip(token))
}
