// Package static embeds texts with a table: the vector of a text is the weighted sum of its tokens'
// rows. There is no network to evaluate, so it takes microseconds. The rows were trained so that
// the sums approximate the vectors of a large model (see train/README.md).
//
// [Default] is the built-in table. [OpenDir] and [OpenFile] load others.
//
// A text has a nil vector if it has no letter or digit, if too few of them belong to tokens with a
// row (for example in a script that the vocabulary lacks), or if its rows cancel out. Invalid UTF-8
// is ignored unless a tokenizer.json disables cleaning. It takes time linear in the text's length,
// which is unlimited.
package static

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the table
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/safetensors"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

// model is the built-in table. A test verifies its checksum, so it is not verified at each start.
//
//go:embed model.bin
var model []byte

// Default returns the embedder with the built-in table.
var Default = sync.OnceValue(func() embed.Embedder {
	e, err := newEmbedder(model)
	if err != nil {
		panic("static: built-in table: " + err.Error())
	}
	return e
})

// NamePrefix begins the names of tables that are not built in, so that they cannot be mistaken for
// the built-in one.
const NamePrefix = "static:"

// OpenFile returns the embedder of a table file written by train/table.py. For the built-in table's
// file it returns [Default]. The name is [NamePrefix] and the name in the file's header. The
// revision ends with a part of the checksum, because two trainings can have the same name and
// revision. The file is read into memory and its checksum verified. Errors match ragctx.ErrInvalid
// unless the file could not be read.
func OpenFile(path string) (embed.Embedder, error) {
	data, err := safetensors.ReadFile(path, maxTable)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(data, model) {
		return Default(), nil
	}
	if err := verify(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e, err := newEmbedder(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sum := data[len(data)-sha256.Size:]
	e.identity.Name = NamePrefix + e.identity.Name
	e.identity.Revision += "-" + hex.EncodeToString(sum[:8])
	return e, nil
}

// embedder combines a table and a tokenizer.
type embedder struct {
	identity    embed.Identity
	noiseFloor  float64
	minCoverage float64 // minimum share of letters and digits in tokens with a row
	exponent    float64
	powers      [64]float64 // powers of small counts
	tokenizer   *wordpiece.Tokenizer
	table       *table
	state       sync.Pool // lookup *state
}

// newEmbedder returns the embedder of a table file.
func newEmbedder(data []byte) (*embedder, error) {
	h, tokens, t, err := parseTable(data)
	if err != nil {
		return nil, err
	}
	r := wordpiece.Uncased()
	r.Lower, r.Strip = h.Lowercase, h.Lowercase
	tok, err := wordpiece.New(tokens, r)
	if err != nil {
		return nil, err
	}
	e := &embedder{
		identity: embed.Identity{
			Name: h.Name, Revision: h.Revision, Dimensions: h.Dimensions, Pooling: "weighted sum", Normalized: true,
		},
		noiseFloor: h.NoiseFloor, minCoverage: h.MinCoverage, exponent: h.Exponent,
		tokenizer: tok, table: t,
	}
	e.prepare()
	return e, nil
}

// prepare computes the derived fields.
func (e *embedder) prepare() {
	for n := range e.powers {
		e.powers[n] = math.Pow(float64(n), e.exponent)
	}
	e.state.New = func() any {
		return &state{words: wordpiece.NewWords(e.tokenizer), counter: newCounter(), sums: make([]uint64, e.table.dim/perWord)}
	}
}

// Identity implements [embed.Embedder].
func (e *embedder) Identity() embed.Identity { return e.identity }

// VectorWeight implements [embed.Calibrated]. Of the weights from 0.3 to 0.5, the mean over judged sets of documents is best
// from 0.45 on.
func (e *embedder) VectorWeight() float64 { return 0.45 }

// NoiseFloor implements [embed.Calibrated].
func (e *embedder) NoiseFloor() float64 { return e.noiseFloor }

// Recomputed implements [embed.Recomputed]: a text of 1 KB takes 24 µs.
func (e *embedder) Recomputed() bool { return true }

// EmbedDocuments implements [embed.Embedder].
func (e *embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return embed.EmbedEach(ctx, texts, e.EmbedQuery)
}

// EmbedQuery implements [embed.Embedder]. Queries and documents have the same vectors.
func (e *embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e.vector(text), nil
}

// vector returns the vector of a text, or nil.
func (e *embedder) vector(text string) []float32 {
	s := e.state.Get().(*state)
	v := e.embed(s, text)
	s.words.Start("")
	s.counter.reset()
	if cap(s.rows) > maxPooled {
		s.rows = nil
	}
	e.state.Put(s)
	return v
}

// CountTokens implements [embed.TokenCounter].
func (e *embedder) CountTokens(text string) int {
	s := e.state.Get().(*state)
	n := 0
	for s.words.Start(text); s.words.Next(); {
		n += len(s.words.Pieces)
	}
	s.words.Start("")
	e.state.Put(s)
	return n
}

// state is the working memory for one text.
type state struct {
	words   *wordpiece.Words
	counter counter
	rows    []weighted
	sums    []uint64
}

// embed returns the vector of a text, or nil.
func (e *embedder) embed(s *state, text string) []float32 {
	if !e.count(s, text) {
		return nil
	}
	bias := e.weightRows(s)
	for len(s.rows)%rowsAtOnce != 0 {
		s.rows = append(s.rows, weighted{row: s.rows[0].row})
	}
	for i := 0; i < len(s.rows); i += rowsAtOnce {
		addRows(s.sums, (*[rowsAtOnce]weighted)(s.rows[i:]))
	}
	return direction(s.sums, bias, e.identity.Dimensions)
}

// count counts the rows of the text's tokens. It returns false if there are no rows, or too few of
// the text's letters have one.
func (e *embedder) count(s *state, text string) bool {
	var letters, covered int
	for s.words.Start(text); s.words.Next(); {
		letters += s.words.Letters
		for _, p := range s.words.Pieces {
			if row := e.table.rowOf[p.ID]; row >= 0 {
				covered += int(p.Covered)
				s.counter.add(row)
			}
		}
	}
	return covered > 0 && float64(covered) >= e.minCoverage*float64(letters)
}

// weightRows turns counts into weights. The sum of their absolute values is at most 2^weightBits. It
// initializes the sums and returns the bias of each sum.
func (e *embedder) weightRows(s *state) (bias int64) {
	var total float64
	for _, i := range s.counter.used {
		at := s.counter.slots[i]
		total += math.Abs(float64(e.table.scales[at.row-1])) * e.power(at.count)
	}
	s.rows = s.rows[:0]
	var below int64 // sum of the negative weights
	if total > 0 {
		factor := (1<<weightBits - float64(len(s.counter.used))) / total // each weight may be rounded up
		for _, i := range s.counter.used {
			at := s.counter.slots[i]
			weight := int64(math.Round(float64(e.table.scales[at.row-1]) * e.power(at.count) * factor))
			from := int(at.row-1) * e.table.dim
			s.rows = append(s.rows, weighted{e.table.rows[from : from+e.table.dim], uint64(weight)})
			bias += 128 * weight
			below += min(weight, 0)
		}
	}
	start := -255 * below
	for i := range s.sums {
		s.sums[i] = uint64(start | start<<32)
	}
	return bias + start
}

// power returns the weight of n occurrences.
func (e *embedder) power(n uint32) float64 {
	if int(n) < len(e.powers) {
		return e.powers[n]
	}
	return math.Pow(float64(n), e.exponent)
}
