package facts

import (
	"bytes"
	_ "embed" // for the weights
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/ragctx/ragctx"
)

// weightsFile is written by train/train.py: a magic word, a header on one line, the ascending
// hashes of the features, and for each feature a 16-bit weight and an 8-bit weight per kind.
// Numbers are little-endian.
//
//go:embed weights.bin
var weightsFile []byte

const (
	weightsMagic   = "RCFACTS\n"
	weightsVersion = 1
)

// weights holds the weight of each feature for being worth remembering, and for each kind.
type weights struct {
	Version  int               `json:"version"`
	Features int               `json:"features"`
	Kinds    []ragctx.FactKind `json:"kinds"`
	Step     float64           `json:"step"`      // the value of one weight unit
	KindStep float64           `json:"kind_step"` // the same for the weights of kinds
	// Slope and Offset map a sum of weights to log-odds.
	Slope  float64 `json:"slope"`
	Offset float64 `json:"offset"`
	// Crowd is subtracted for each doubling of a message beyond three units, because long messages
	// contain more detail.
	Crowd float64 `json:"crowd"`

	slots []int32 // hash table: number of the feature + 1; 0 is free
	hash  []uint32
	keep  []int16
	kind  []int8
}

// loadWeights returns the embedded weights.
var loadWeights = sync.OnceValue(func() *weights {
	w, err := parseWeights(weightsFile)
	if err != nil {
		panic("facts: weights: " + err.Error()) // embedded in the program
	}
	return w
})

func parseWeights(data []byte) (*weights, error) {
	rest, ok := bytes.CutPrefix(data, []byte(weightsMagic))
	head, body, found := bytes.Cut(rest, []byte("\n"))
	if !ok || !found {
		return nil, fmt.Errorf("they do not begin with %q and a header", weightsMagic)
	}
	var w weights
	if err := json.Unmarshal(head, &w); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	n, kinds := w.Features, len(w.Kinds)
	if w.Version != weightsVersion || n <= 0 || len(body) != n*(4+2+kinds) {
		return nil, fmt.Errorf("version %d with %d features has %d bytes", w.Version, n, len(body))
	}
	w.hash, w.keep, w.kind = make([]uint32, n), make([]int16, n), make([]int8, n*kinds)
	for i := range n {
		w.hash[i] = binary.LittleEndian.Uint32(body[4*i:])
		w.keep[i] = int16(binary.LittleEndian.Uint16(body[4*n+2*i:]))
	}
	for i, b := range body[6*n:] {
		w.kind[i] = int8(b)
	}
	w.index()
	return &w, nil
}

// index builds the hash table of the features.
func (w *weights) index() {
	size := 1
	for size < 2*w.Features {
		size *= 2
	}
	w.slots = make([]int32, size)
	for i, h := range w.hash {
		at := h & uint32(size-1)
		for w.slots[at] != 0 {
			at = (at + 1) & uint32(size-1)
		}
		w.slots[at] = int32(i) + 1
	}
}

// find returns the number of a feature.
func (w *weights) find(h uint32) (int, bool) {
	mask := uint32(len(w.slots) - 1)
	for at := h & mask; w.slots[at] != 0; at = (at + 1) & mask {
		if i := int(w.slots[at]) - 1; w.hash[i] == h {
			return i, true
		}
	}
	return 0, false
}

// weigh returns the probability that a unit with these features is worth remembering, in a message
// of n units. It adds integers, so the order of features does not matter.
func (w *weights) weigh(features []uint32, n int) float64 {
	var sum int64
	for _, h := range features {
		if i, ok := w.find(h); ok {
			sum += int64(w.keep[i])
		}
	}
	crowd := w.Crowd * math.Log2(float64(max(n, 3))/3)
	return 1 / (1 + math.Exp(crowd-w.Slope*float64(sum)*w.Step-w.Offset))
}

// kindOf returns the most likely kind of a unit, except those rejected by without.
func (w *weights) kindOf(features []uint32, without func(ragctx.FactKind) bool) ragctx.FactKind {
	sums := make([]int64, len(w.Kinds))
	for _, h := range features {
		if i, ok := w.find(h); ok {
			for k := range sums {
				sums[k] += int64(w.kind[i*len(sums)+k])
			}
		}
	}
	best := -1
	for k, sum := range sums {
		if !without(w.Kinds[k]) && (best < 0 || sum > sums[best]) {
			best = k
		}
	}
	return w.Kinds[best]
}
