package passage

import (
	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// PreparedDocument is a document that is ready to be stored.
type PreparedDocument struct {
	// Document has its title, MIME type and the tags of its front matter filled in. An empty text
	// is replaced by the title. The offsets of Chunks and Outline refer to its Text, which has no
	// byte order mark.
	ragctx.Document
	// Hash is the content hash of the document as supplied.
	Hash [32]byte
	// Abstract is plain text of at most 500 characters, about 100 tokens.
	Abstract string
	Outline  []Section // bounded by the provider
	// Chunks has at least one chunk. Heading paths in source code begin with the file name.
	// The rows of a long table have the column names as heading. Pages are numbered if the text has
	// form feeds and is not source code.
	Chunks []chunk.Chunk
	// Chunker is the version of the chunking rules.
	Chunker string
	// Sketch is the MinHash sketch of the text, for finding near duplicates.
	Sketch []byte
}

// SketchedDocument is a document to compare with others.
type SketchedDocument struct {
	ID   string
	Hash [16]byte // of the text; equal texts have equal hashes
	// Sketch is the MinHash sketch of the text; without one only Hash is compared.
	Sketch []byte
}
