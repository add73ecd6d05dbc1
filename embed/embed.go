// Package embed defines the contract of embedders, which turn text into vectors. It includes the
// feature-hashing embedder.
package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Embedder turns texts into vectors of one embedding space. Implementations are deterministic and
// safe for concurrent use.
type Embedder interface {
	Identity() Identity
	// EmbedDocuments returns one vector per text, in order. A nil vector means that the embedder
	// cannot represent the text: it is empty or in an unknown script. Such a text is found by the
	// keyword index only. On error no vectors are returned.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a query, or nil as above. It may differ from the vector of
	// the same text as a document.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// EmbedEach embeds documents one by one, for embedders that do not benefit from batches.
func EmbedEach(ctx context.Context, texts []string, embed func(context.Context, string) ([]float32, error)) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := embed(ctx, text)
		if err != nil {
			return nil, err
		}
		vectors[i] = v
	}
	return vectors, nil
}

// Calibrated is implemented by embedders with a known scale of cosines.
type Calibrated interface {
	// VectorWeight is the weight of a cosine relative to a keyword score of weight 1. Better
	// embedders have a higher weight.
	VectorWeight() float64
	// NoiseFloor is the cosine below which most pairs of unrelated texts lie.
	NoiseFloor() float64
}

// Recomputed is implemented by embedders that take microseconds for a text. Their vectors are computed
// from the texts whenever an index needs them, and are not stored.
type Recomputed interface {
	// Recomputed reports whether vectors are computed again rather than stored.
	Recomputed() bool
}

// Gradual is implemented by embedders that take long for a document. Most texts are stored without
// their vectors and get them in the background. Until then, and if it has none, the vectors of another
// embedder serve.
type Gradual interface {
	Embedder
	// Interim returns the other embedder, which is [Recomputed]. A cosine c of its vectors is worth
	// scale·c + offset among the cosines of this one.
	Interim() (with Embedder, scale, offset float64)
}

// TokenCounter is implemented by embedders that tokenize texts.
type TokenCounter interface {
	// CountTokens returns the number of the embedder's tokens in a text.
	CountTokens(text string) int
}

// Identity identifies an embedding space. Only vectors with equal identities can be compared.
type Identity struct {
	Name           string // such as "hashing"
	Revision       string // changes whenever any vector changes
	Dimensions     int
	Pooling        string // how the vectors of a text's parts are combined
	Normalized     bool   // vectors have length 1
	QueryPrefix    string // prepended to queries
	DocumentPrefix string // prepended to documents
	MaxBytes       int    // longer texts are truncated; 0 means no limit
}

// String returns the identity in the short form name@revision/dimensions.
func (id Identity) String() string {
	return fmt.Sprintf("%s@%s/%d", id.Name, id.Revision, id.Dimensions)
}

// Key returns a short name that is unique for each identity.
func (id Identity) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", id))
	return id.String() + "#" + hex.EncodeToString(sum[:8])
}
