package ragctx

import "time"

// The default sizes in code points; see [ChunkSizes].
const (
	DefaultChunkTarget = 400
	DefaultChunkMax    = 1200
)

// ChunkSizes are the chunk sizes in code points. The zero value works.
type ChunkSizes struct {
	// TargetChars is the size up to which a chunk grows by adding atoms. Default 400.
	TargetChars int
	// MaxChars is the maximum size of a chunk. Only words and blocks that are kept whole exceed the
	// target. Default 1200, at least TargetChars.
	MaxChars int
}

// WithDefaults returns o with unset fields filled in.
func (o ChunkSizes) WithDefaults() ChunkSizes {
	if o.TargetChars <= 0 {
		o.TargetChars = DefaultChunkTarget
	}
	if o.MaxChars <= 0 {
		o.MaxChars = DefaultChunkMax
	}
	o.MaxChars = max(o.MaxChars, o.TargetChars)
	return o
}

// Document is a document to be ingested.
type Document struct {
	// ExternalID is the caller's id of the document within its namespace: 1 to 512 bytes of UTF-8,
	// such as a path or a URL.
	ExternalID string
	// Title is shown and searched. Empty means the title in the text, otherwise the file name in
	// the id.
	Title string
	// Source is the origin of the text, such as "file:docs/a.md".
	Source string
	// MIME is the type of Text. Empty means the type of the id's extension.
	MIME string
	// Text may be empty if Title is set; then the title becomes the text, as text/plain.
	Text     string
	Tags     []string
	Metadata map[string]any // JSON values; filters match strings, numbers and booleans
	// Occurred is the time of the events that the document describes; zero means unknown.
	Occurred time.Time
	// Chunk overrides the default chunk sizes for this document.
	Chunk ChunkSizes
}
