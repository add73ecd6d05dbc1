package static

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/safetensors"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

const (
	maxTensors   = 1 << 30
	maxTokenizer = 1 << 26
)

// Open returns the embedder at a path: a directory for [OpenDir] or a file for [OpenFile].
func Open(path string) (embed.Embedder, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ragctx.Invalid("embedder", "%s does not exist", ragctx.Clip(path))
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return OpenDir(path)
	}
	return OpenFile(path)
}

// OpenDir returns the embedder of a directory with a static-embedding model, as saved by model2vec
// and sentence-transformers (StaticEmbedding). It has tokenizer.json and model.safetensors, in the
// directory or in 0_StaticEmbedding. The tokenizer is a WordPiece with the rules of BERT. The
// tensors are embeddings or embedding.weight, and optionally weights per token and a mapping from
// tokens to rows.
//
// The vector of a text is the normalized mean of all its tokens. Unknown and added tokens are
// ignored. Rows are quantized to 8 bits with a scale. The name is [NamePrefix] and the name of the
// directory; the revision is derived from the contents of both files. Errors match
// ragctx.ErrInvalid unless a file could not be read.
func OpenDir(dir string) (embed.Embedder, error) {
	e, err := openDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return e, nil
}

func openDir(dir string) (*embedder, error) {
	hash := sha256.New()
	tokenizer, err := readPart(dir, "tokenizer.json", maxTokenizer)
	if err != nil {
		return nil, err
	}
	model, err := readPart(dir, "model.safetensors", maxTensors)
	if err != nil {
		return nil, err
	}
	hash.Write(tokenizer)
	hash.Write(model)
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	e, err := newMean(tokenizer, model)
	if err != nil {
		return nil, err
	}
	e.identity.Name = NamePrefix + strings.ToValidUTF8(filepath.Base(full), "")
	e.identity.Revision = hex.EncodeToString(hash.Sum(nil)[:8])
	return e, nil
}

// readPart reads a file of the directory, or of the subdirectory that sentence-transformers uses.
func readPart(dir, name string, limit int64) ([]byte, error) {
	data, err := safetensors.ReadFile(filepath.Join(dir, name), limit)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	data, err = safetensors.ReadFile(filepath.Join(dir, "0_StaticEmbedding", name), limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ragctx.Invalid("embedder", "the directory has no %s; tokenizer.json and model.safetensors are needed", name)
	}
	return data, err
}

// newMean returns the embedder of the two files, without a name.
func newMean(tokenizerJSON, model []byte) (*embedder, error) {
	tok, err := wordpiece.Parse(tokenizerJSON)
	if err != nil {
		return nil, err
	}
	tensors, err := safetensors.Parse(model)
	if err != nil {
		return nil, err
	}
	m, err := newMatrix(tensors, tok.Size())
	if err != nil {
		return nil, err
	}
	t, err := m.table(tok.Size(), tok.Silent())
	if err != nil {
		return nil, err
	}
	e := &embedder{
		identity:    embed.Identity{Dimensions: m.dim, Pooling: "mean", Normalized: true},
		minCoverage: 0.5, exponent: 1, tokenizer: tok, table: t,
	}
	e.prepare()
	e.noiseFloor = e.measureFloor()
	return e, nil
}

// measureFloor returns the noise floor of English texts, or 0 if the table has no words for them.
func (e *embedder) measureFloor() float64 {
	vectors := func(texts []string) (vs [][]float32) {
		for _, t := range texts {
			vs = append(vs, e.vector(t))
		}
		return vs
	}
	questions, statements := embed.Unrelated()
	return embed.NoiseFloor(vectors(questions), vectors(statements))
}
