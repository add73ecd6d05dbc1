package embed

import (
	"context"
	"fmt"
	"math"
	"sync"
)

// MaxHashingDim is the largest number of components that [NewHashing] takes.
const MaxHashingDim = 1 << 16

const defaultHashingDim = 256

// hashing is the embedder that [NewHashing] returns.
type hashing struct {
	dim   int
	state sync.Pool // of *hasher
}

// NewHashing returns the embedder that needs no model: it hashes the words of a
// text, and their character n-grams, to signed components and adds them up
// (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning",
// 2009). Texts are near each other when they share words or parts of words; it
// knows nothing of meaning, so car and automobile are strangers.
//
// A word counts 1 + ln(its occurrences), an English function word an eighth of
// that. Words are runs of letters, digits and marks in lower case, and pairs of
// neighbours in scripts that put no spaces between words; bytes that are not
// UTF-8 end a word. The work is linear in the text's length, which has no limit.
// Features are added as integers, so their order does not matter.
//
// dim is the number of components; 0 means 256. A text without a letter or digit
// gets a nil vector. NewHashing panics if dim is negative or above 65,536.
func NewHashing(dim int) Embedder {
	if dim < 0 || dim > MaxHashingDim {
		panic(fmt.Sprintf("embed: hashing dimension %d is outside 0..%d", dim, MaxHashingDim))
	}
	if dim == 0 {
		dim = defaultHashingDim
	}
	e := &hashing{dim: dim}
	e.state.New = func() any { return newHasher(dim) }
	return e
}

// Identity implements [Embedder].
func (e *hashing) Identity() Identity {
	return Identity{Name: "hashing", Revision: "1", Dimensions: e.dim, Pooling: "sum", Normalized: true}
}

// EmbedDocuments implements [Embedder].
func (e *hashing) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return EmbedEach(ctx, texts, e.EmbedQuery)
}

// EmbedQuery implements [Embedder]; a question is treated as a document is.
func (e *hashing) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := e.state.Get().(*hasher)
	h.count(text)
	v := h.vector()
	if len(h.words) <= maxPooledWords { // clearing a table costs its largest size
		h.reset()
		e.state.Put(h)
	}
	return v, nil
}

// Weights of features, in fixed point. The n-grams of a word share a weight,
// whatever its length, so that long words do not drown short ones.
const (
	unit     = 1 << 16 // a word that occurs once
	stopPart = 8       // function words weigh 1/8
	// A word's n-grams together weigh twice as much as the word, though each of
	// most words' n-grams less. Chosen on queries of SciFact, Cranfield, CoSQA and
	// a technical manual: mean nDCG@10 rises from .316 without n-grams through
	// .368 at 1 to .384 at 2, and stays there up to 3.
	gramFactor = 2
)

// maxPooledWords bounds the state that is kept for the next text.
const maxPooledWords = 1 << 12

// hasher turns one text at a time into a vector.
type hasher struct {
	tokenizer
	words map[uint64]int // hash of a word -> its place in counts
	list  []counted
	grams []uint64 // hashes, of all words of list
	sums  []int64
}

// counted is a distinct word of the text.
type counted struct {
	hash     uint64
	count    int
	stop     bool
	from, to int // its n-grams
}

func newHasher(dim int) *hasher {
	return &hasher{words: make(map[uint64]int), sums: make([]int64, dim)}
}

// reset makes h ready for another text.
func (h *hasher) reset() {
	clear(h.words)
	clear(h.sums)
	h.list, h.grams = h.list[:0], h.grams[:0]
}

// count collects the distinct words of text and their n-grams. Words are told
// apart by their hashes; the map's own seed keeps chosen words from slowing it.
func (h *hasher) count(text string) {
	h.tokenizer.start(text)
	for h.tokenizer.next() {
		hash := hashBytes(seedWord, h.word)
		if i, ok := h.words[hash]; ok {
			h.list[i].count++
			continue
		}
		h.words[hash] = len(h.list)
		c := counted{hash: hash, count: 1, stop: isStop(h.word), from: len(h.grams)}
		if !c.stop && !h.pair {
			h.grams = appendGrams(h.grams, h.word)
		}
		c.to = len(h.grams)
		h.list = append(h.list, c)
	}
}

// vector returns the direction of the sum of all features, or nil if there is
// none.
func (h *hasher) vector() []float32 {
	for _, c := range h.list {
		weight := int64(math.Round(unit * (1 + math.Log(float64(c.count)))))
		if c.stop {
			weight /= stopPart
		}
		h.add(c.hash, weight)
		if n := c.to - c.from; n > 0 {
			// Random signs add up to the root of their number.
			share := int64(math.Round(gramFactor * float64(weight) / math.Sqrt(float64(n))))
			for _, g := range h.grams[c.from:c.to] {
				h.add(g, share)
			}
		}
	}
	return direction(h.sums)
}

// add adds a feature: high bits of the hash choose the component, the lowest the
// sign.
func (h *hasher) add(hash uint64, weight int64) {
	i := (hash >> 32) * uint64(len(h.sums)) >> 32
	sign := int64(hash&1)<<1 - 1
	h.sums[i] += sign * weight
}

// direction returns sums scaled to length 1, or nil if all are zero.
func direction(sums []int64) []float32 {
	var squares float64
	for _, s := range sums {
		squares += float64(s) * float64(s)
	}
	if squares == 0 {
		return nil
	}
	length := math.Sqrt(squares)
	v := make([]float32, len(sums))
	for i, s := range sums {
		v[i] = float32(float64(s) / length)
	}
	return v
}

// VectorWeight implements [Calibrated]. It is small, for hashing knows little that the
// keyword leg, with its character 4-grams, does not know better: twice the weight
// gains nothing in the mean of eight judged sets, and costs some dearly.
func (e *hashing) VectorWeight() float64 { return 0.1 }

// NoiseFloor implements [Calibrated]. Measured on pairs of questions and
// passages of prose, code and dialogue that have nothing to do with each other:
// the ninth decile lies between .13 and .27. A question with a misspelt word and
// the passage that it is about reach .27 and more.
func (e *hashing) NoiseFloor() float64 { return 0.25 }
