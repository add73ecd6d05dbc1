package minilm

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the model
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"unsafe"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/kernel"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

// packed is the built-in model: a prefix, a JSON header, and the parts in the order of
// [model.parts]. Nothing is read at start; a test verifies the checksum at its end.
//
//go:embed model.bin
var packed []byte

const (
	magic     = "RCMINILM"
	version   = 1
	prefixLen = 16
	alignment = 64
)

// header is the header of the file. Its tokens follow it.
type header struct {
	Name       string  `json:"name"`
	Revision   string  `json:"revision"`
	Hidden     int     `json:"hidden"`
	Layers     int     `json:"layers"`
	Heads      int     `json:"heads"`
	Inner      int     `json:"inner"`
	Length     int     `json:"length"`
	Tokens     int     `json:"tokens"`
	VocabBytes int     `json:"vocabulary_bytes"`
	Eps        float64 `json:"eps"`
	NoiseFloor float64 `json:"noise_floor"`
	Source     string  `json:"source"`
	License    string  `json:"license"`
}

// Default returns the embedder with the built-in model, all-MiniLM-L6-v2. The first call takes some
// 50 ms.
var Default = sync.OnceValue(func() embed.Embedder {
	e, err := unpack(packed)
	if err != nil {
		panic("minilm: built-in model: " + err.Error()) // a part of the program
	}
	return e
})

// DefaultIdentity returns the identity of [Default] without loading the model.
func DefaultIdentity() embed.Identity {
	h, _, err := parseHeader(packed)
	if err != nil {
		panic("minilm: built-in model: " + err.Error())
	}
	return h.identity()
}

func (h *header) identity() embed.Identity {
	return embed.Identity{Name: h.Name, Revision: h.Revision, Dimensions: h.Hidden, Pooling: "mean", Normalized: true}
}

func damaged(format string, args ...any) error { return ragctx.Invalid("model.bin", format, args...) }

// parseHeader returns the header of a packed model and the index after it.
func parseHeader(data []byte) (h header, at int, err error) {
	if len(data) < prefixLen+sha256.Size || string(data[:len(magic)]) != magic || binary.LittleEndian.Uint32(data[8:]) != version {
		return h, 0, damaged("does not begin with %q and the version %d", magic, version)
	}
	at = prefixLen + int(binary.LittleEndian.Uint32(data[12:]))
	if at > len(data)-sha256.Size {
		return h, 0, damaged("is too short for its header")
	}
	if err := json.Unmarshal(data[prefixLen:at], &h); err != nil {
		return h, 0, damaged("has an invalid header: %v", err)
	}
	return h, at, nil
}

// parts calls number or bytes for each list of the model, in the order of the file. They set or
// write the list; the model must have as many layers as the file.
func (m *model) parts(tokens int, number func(list *[]float32, n int), bytes func(list *[]int8, n int)) {
	norm := func(n *norm) { number(&n.gain, m.hidden); number(&n.bias, m.hidden) }
	matrix := func(x **kernel.Matrix, inputs, outputs int) {
		var panels []int8
		var scales, bias []float32
		if *x != nil {
			panels, scales, bias = (*x).Panels, (*x).Scales, (*x).Bias
		}
		bytes(&panels, inputs*outputs)
		number(&scales, outputs)
		number(&bias, outputs)
		*x = kernel.NewMatrix(inputs, outputs, panels, scales, bias)
	}
	bytes(&m.words, tokens*m.hidden)
	number(&m.wordScales, tokens)
	number(&m.positions, m.length*m.hidden)
	norm(&m.first)
	for i := range m.layers {
		l := &m.layers[i]
		number(&l.attentionIn, m.hidden)
		number(&l.innerIn, m.hidden)
		matrix(&l.qkv, m.hidden, 3*m.hidden)
		matrix(&l.out, m.hidden, m.hidden)
		matrix(&l.up, m.hidden, m.inner)
		matrix(&l.down, m.inner, m.hidden)
		norm(&l.attended)
		norm(&l.done)
	}
}

// unpack returns the embedder of a packed model, which shares its bytes.
func unpack(data []byte) (*embedder, error) {
	h, at, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	c := config{
		Type: "bert", Activation: "gelu", Hidden: h.Hidden, Layers: h.Layers, Heads: h.Heads, Inner: h.Inner,
		Eps: h.Eps, Positions: h.Length,
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if h.Length > maxLength || h.Tokens < 1 || h.Tokens > maxTokens {
		return nil, damaged("has %d positions and %d tokens; the limits are %d and %d", h.Length, h.Tokens, maxLength, maxTokens)
	}
	rest := data[at : len(data)-sha256.Size]
	take := func(n int) []byte {
		skip := roundUp(at, alignment) - at
		if err == nil && (n < 0 || skip+n > len(rest)) {
			err = damaged("ends before its parts do")
		}
		if err != nil {
			return make([]byte, max(n, 0))
		}
		part := rest[skip : skip+n]
		rest, at = rest[skip+n:], at+skip+n
		return part
	}
	vocabulary := string(take(h.VocabBytes))
	m := &model{hidden: h.Hidden, heads: h.Heads, inner: h.Inner, length: h.Length, eps: float32(h.Eps), layers: make([]layer, h.Layers)}
	m.parts(h.Tokens, func(list *[]float32, n int) {
		part := take(4 * n)
		*list = make([]float32, n)
		for i := range *list {
			(*list)[i] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
		}
	}, func(list *[]int8, n int) {
		part := take(n)
		*list = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(part))), n)
	})
	if err != nil {
		return nil, err
	}
	tokenizer, err := wordpiece.New(strings.Split(vocabulary, "\n"), wordpiece.Uncased())
	if err != nil {
		return nil, err
	}
	e, err := newEmbedder(m, tokenizer)
	if err != nil {
		return nil, err
	}
	e.identity, e.noiseFloor = h.identity(), h.NoiseFloor
	return e, nil
}

// verify reports whether the checksum at the end of a packed model is right.
func verify(data []byte) bool {
	body := data[:len(data)-sha256.Size]
	sum := sha256.Sum256(body)
	return bytes.Equal(sum[:], data[len(body):])
}
