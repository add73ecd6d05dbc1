package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Collection is the contents of one index: the items of a kind in a namespace.
type Collection struct {
	Namespace int64
	Kind      Kind
}

// IndexTitle returns the indexed title of a chunk: the title of its item and the headings above it,
// without repeating the title.
func IndexTitle(title string, heading []string) string {
	if len(heading) > 0 && strings.EqualFold(heading[0], title) {
		heading = heading[1:]
	}
	return strings.TrimSpace(title + "\n" + strings.Join(heading, "\n"))
}

// Strings returns metadata in the form that filters compare: strings unchanged, other scalars as
// JSON. It leaves out lists, objects and null.
func Strings(m map[string]any) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
			continue
		}
		b, err := json.Marshal(v)
		if err != nil || bytes.ContainsAny(b[:1], "[{n") {
			continue
		}
		out[k] = string(b)
	}
	return out
}

// Kind is the kind of an item.
type Kind int

// The kinds. Their values are stored.
const (
	KindDocuments Kind = 1
	KindMemories  Kind = 2
)

// String returns the name of the kind in directories and metrics.
func (k Kind) String() string {
	if k == KindDocuments {
		return "documents"
	}
	return "memories"
}

// Chunk is a chunk to be stored, with its vector. The vector is empty if the embedder has none for
// the text, nil if the embedder was unavailable.
type Chunk struct {
	chunk.Chunk

	Speaker index.Speaker
	Hash    VectorKey
	Vector  []float32
	// NextVector is the vector of the embedder that the data directory is migrating to.
	NextVector []float32
}

// VectorKey identifies an embedded text.
type VectorKey [16]byte

// VectorKeyOf returns the key of a text to be embedded.
func VectorKeyOf(text string) VectorKey {
	sum := sha256.Sum256([]byte(text))
	return VectorKey(sum[:16])
}

// Unembedded is a text without a vector of an embedder.
type Unembedded struct {
	Item uint64
	Key  VectorKey
	Text string
}

// Content is the text of an item and the data derived from it.
type Content struct {
	Text     string
	Abstract string
	Outline  []passage.Section
	Chunker  string
	Chunks   []Chunk
	// Embed sets the hashes and vectors of the chunks in some, which are written next; nil if Chunks
	// has them already. Only [Documents.PutDocument] calls it.
	Embed func(ctx context.Context, some []Chunk) error
	// Embedder is the id from [Embedders.Embedder] of the vectors' embedder, Next the id of the
	// embedder migrated to. Both may be 0.
	Embedder, Next int64
}

// Status is the outcome of a write.
type Status string

// The outcomes of a write.
const (
	Created   Status = "created"
	Replaced  Status = "replaced"
	Unchanged Status = "unchanged"
	// InQuarantine means that the memory went into quarantine.
	InQuarantine Status = "quarantined"
)

// Deleted is the status of an item whose document was deleted.
const Deleted Status = "deleted"

// EmbedText returns the text to embed for a chunk: the title of its item, its headings and its
// text.
func EmbedText(title string, heading []string, text string) string {
	if t := IndexTitle(title, heading); t != "" {
		return t + "\n" + text
	}
	return text
}
