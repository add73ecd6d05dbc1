package builtin

import (
	"context"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/minilm"
	"github.com/ragctx/ragctx/embed/static"
)

const autoRevision = "1"

// auto embeds with the built-in model, and in the meantime with the built-in table. The model is
// loaded at its first use.
type auto struct{}

var _ embed.Gradual = auto{}

// The scale of the table's cosines among the model's: the part of a cosine beyond chance, times the
// embedder's weight, is worth the same as with the table alone.
const (
	interimScale  = 0.8136
	interimOffset = -0.0374
)

// Identity implements [embed.Embedder].
func (auto) Identity() embed.Identity {
	id := minilm.DefaultIdentity()
	id.Name, id.Revision = "ragctx-"+autoName, autoRevision+"-"+id.Revision+"-"+static.Default().Identity().Revision
	return id
}

// EmbedDocuments implements [embed.Embedder]. Texts that are not English have no vector: the model
// compares them worse than the table does.
func (auto) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	var english []string
	var at []int
	for i, t := range texts {
		if isEnglish(t) {
			english, at = append(english, t), append(at, i)
		}
	}
	made, err := minilm.Default().EmbedDocuments(ctx, english)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, v := range made {
		vectors[at[i]] = v
	}
	return vectors, nil
}

// EmbedQuery implements [embed.Embedder].
func (auto) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return minilm.Default().EmbedQuery(ctx, text)
}

// VectorWeight implements [embed.Calibrated].
func (auto) VectorWeight() float64 { return calibrated().VectorWeight() }

// NoiseFloor implements [embed.Calibrated].
func (auto) NoiseFloor() float64 { return calibrated().NoiseFloor() }

func calibrated() embed.Calibrated { return minilm.Default().(embed.Calibrated) }

// Interim implements [embed.Gradual].
func (auto) Interim() (with embed.Embedder, scale, offset float64) {
	return static.Default(), interimScale, interimOffset
}
