// Package minilm embeds texts with an encoder of the BERT family, such as all-MiniLM-L6-v2, without
// cgo. Weights and activations are 8-bit integers ([kernel]); everything else is float32. Vectors
// are equal on every processor.
//
// A text has a nil vector if it has no letter or digit, or if most of them belong to no token of
// the vocabulary. Texts are truncated to the tokens that the model was made for.
package minilm

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/kernel"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

const (
	// NamePrefix begins the names of models that are not built in.
	NamePrefix = "minilm:"

	packTokens  = 256 // tokens of one pass; more are no faster
	minCoverage = 0.5 // smallest share of letters and digits in known tokens
)

// embedder combines a model and a tokenizer.
type embedder struct {
	identity   embed.Identity
	noiseFloor float64
	tokenizer  *wordpiece.Tokenizer
	first      int32 // [CLS]
	last       int32 // [SEP]
	model      *model
	words      sync.Pool // of *wordpiece.Words
	spaces     sync.Pool // of *workspace
	kernels    *kernel.Kernels
}

func newEmbedder(m *model, t *wordpiece.Tokenizer) (*embedder, error) {
	e := &embedder{model: m, tokenizer: t, kernels: kernel.Best()}
	var err error
	if e.first, err = t.ID("[CLS]"); err != nil {
		return nil, err
	}
	if e.last, err = t.ID("[SEP]"); err != nil {
		return nil, err
	}
	if t.Size() > m.tokens() {
		return nil, ragctx.Invalid("tokenizer.json", "has %d tokens, and the model has vectors for %d", t.Size(), m.tokens())
	}
	e.words.New = func() any { return wordpiece.NewWords(t) }
	e.spaces.New = func() any { return newWorkspace(m, e.kernels) }
	return e, nil
}

// Identity implements [embed.Embedder].
func (e *embedder) Identity() embed.Identity { return e.identity }

// VectorWeight implements [embed.Calibrated]. It was chosen for the built-in model: judged documents prefer
// 0.75 to 0.9, and memories, which had a third of it, no more than 0.6 (README.md).
func (e *embedder) VectorWeight() float64 { return 0.6 }

// NoiseFloor implements [embed.Calibrated].
func (e *embedder) NoiseFloor() float64 { return e.noiseFloor }

// CountTokens implements [embed.TokenCounter].
func (e *embedder) CountTokens(text string) int {
	w := e.words.Get().(*wordpiece.Words)
	n := 0
	for w.Start(text); w.Next(); {
		n += len(w.Pieces)
	}
	w.Start("")
	e.words.Put(w)
	return n
}

// EmbedQuery implements [embed.Embedder].
func (e *embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, []string{text}, e.identity.QueryPrefix)
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedDocuments implements [embed.Embedder]. It uses all processors.
func (e *embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, texts, e.identity.DocumentPrefix)
}

// input is a text's tokens and its place in the results.
type input struct {
	ids []int32
	at  int
}

func (e *embedder) embed(ctx context.Context, texts []string, prefix string) ([][]float32, error) {
	inputs := e.tokenize(texts, prefix)
	vectors := make([][]float32, len(texts))
	packs := pack(inputs)
	workers := min(len(packs), runtime.GOMAXPROCS(0))
	var next atomic.Int64
	errs := make([]error, max(workers, 1))
	var group sync.WaitGroup
	for i := range len(errs) - 1 {
		group.Go(func() { errs[i] = e.work(ctx, vectors, packs, &next) })
	}
	errs[len(errs)-1] = e.work(ctx, vectors, packs, &next)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// work embeds packs until none is left.
func (e *embedder) work(ctx context.Context, vectors [][]float32, packs [][]input, next *atomic.Int64) error {
	s := e.spaces.Get().(*workspace)
	defer e.spaces.Put(s)
	for {
		i := int(next.Add(1)) - 1
		if i >= len(packs) {
			return ctx.Err()
		}
		if err := s.run(ctx, packs[i]); err != nil {
			return err
		}
		for n, in := range packs[i] {
			v, err := s.vector(n)
			if err != nil {
				return err
			}
			vectors[in.at] = v
		}
	}
}

// tokenize returns the tokens of the texts that can be embedded.
func (e *embedder) tokenize(texts []string, prefix string) []input {
	w := e.words.Get().(*wordpiece.Words)
	inputs := make([]input, 0, len(texts))
	for i, text := range texts {
		ids := []int32{e.first}
		if prefix != "" {
			ids, _ = e.read(w, prefix, ids)
		}
		ids, known := e.read(w, text, ids)
		if known {
			inputs = append(inputs, input{append(ids, e.last), i})
		}
	}
	w.Start("")
	e.words.Put(w)
	return inputs
}

// read appends the tokens of a text, as many as the model takes. It reports whether most letters and
// digits among them are known.
func (e *embedder) read(w *wordpiece.Words, text string, ids []int32) ([]int32, bool) {
	var letters, covered int
	for w.Start(text); len(ids) < e.model.length-1 && w.Next(); {
		letters += w.Letters
		for _, p := range w.Pieces {
			if len(ids) < e.model.length-1 {
				ids = append(ids, p.ID)
			}
			covered += int(p.Covered)
		}
	}
	return ids, covered > 0 && float64(covered) >= minCoverage*float64(letters)
}

// pack sorts inputs by length, the longest first so that no worker ends with a long one, and groups them by [packTokens].
func pack(inputs []input) [][]input {
	slices.SortStableFunc(inputs, func(a, b input) int { return len(b.ids) - len(a.ids) })
	var packs [][]input
	for len(inputs) > 0 {
		n, tokens := 0, 0
		for n < len(inputs) && (n == 0 || tokens+len(inputs[n].ids) <= packTokens) {
			tokens += len(inputs[n].ids)
			n++
		}
		packs = append(packs, inputs[:n])
		inputs = inputs[n:]
	}
	return packs
}

// measureFloor returns the noise floor of English texts.
func (e *embedder) measureFloor(ctx context.Context) (float64, error) {
	questions, statements := embed.Unrelated()
	asked, err := e.embed(ctx, questions, e.identity.QueryPrefix)
	if err != nil {
		return 0, err
	}
	said, err := e.embed(ctx, statements, e.identity.DocumentPrefix)
	if err != nil {
		return 0, err
	}
	return embed.NoiseFloor(asked, said), nil
}

// direction returns v with length 1, or an error if it has none.
func direction(v []float32) ([]float32, error) {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	length := math.Sqrt(squares)
	if !(length > 0 && length <= math.MaxFloat32) {
		return nil, ragctx.Invalid("embedder", "the model's numbers overflow; its weights are damaged")
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / length)
	}
	return unit, nil
}
