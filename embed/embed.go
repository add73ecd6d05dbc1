// Package embed holds the contract between the engine and what turns text into
// vectors, and the built-in feature-hashing embedder.
package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Embedder turns texts into vectors of one space. Implementations are safe for
// concurrent use and deterministic for equal input.
type Embedder interface {
	Identity() Identity
	// EmbedDocuments returns one vector per text, in order. A nil vector means
	// that the embedder has nothing to say about the text (it is empty, or in a
	// script the embedder does not know); such a text is left to the keyword leg.
	// On error no vectors are returned.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a question, or nil as above. It can differ
	// from the vector of the same text as a document.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// EmbedEach embeds documents one after the other, for embedders that gain nothing
// from having many at once.
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

// Calibrated is implemented by embedders that know what their cosines mean.
type Calibrated interface {
	// VectorWeight is what the cosine of a question and a document is worth beside a
	// keyword score of weight 1. The better the embedder, the more.
	VectorWeight() float64
	// NoiseFloor is the cosine that most pairs of unrelated texts stay below.
	NoiseFloor() float64
}

// TokenCounter is implemented by embedders that cut texts into tokens.
type TokenCounter interface {
	// CountTokens returns how many tokens the embedder sees in a text.
	CountTokens(text string) int
}

// Identity says which vectors can be compared: those of equal identities only.
type Identity struct {
	Name           string // such as "hashing"
	Revision       string // changes whenever any vector would
	Dimensions     int
	Pooling        string // how a text's parts become one vector
	Normalized     bool   // vectors have length 1
	QueryPrefix    string // put before a question
	DocumentPrefix string // put before a document
	MaxBytes       int    // longer texts are cut; 0 means never
}

// String returns the identity in short form, name@revision/dimensions.
func (id Identity) String() string {
	return fmt.Sprintf("%s@%s/%d", id.Name, id.Revision, id.Dimensions)
}

// Key is a short name that differs between any two identities.
func (id Identity) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", id))
	return id.String() + "#" + hex.EncodeToString(sum[:8])
}
