package docs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// Limits of a document's fields other than its text.
const (
	MaxTags          = 64
	MaxTitleBytes    = 2 << 10
	MaxSourceBytes   = 4 << 10
	MaxMetadataBytes = 64 << 10 // encoded as JSON
	MaxChunkChars    = 100_000  // limit of a configured chunk size
)

// Limits of a prepared document.
const (
	MaxChunks   = 100_000
	MaxLines    = 500_000 // lines of the text
	MaxSections = 20_000  // sections of the outline; deeper ones are dropped first

	maxTitleRunes = 200 // of a title found in the text
)

// Validate checks a document against the documented limits.
func Validate(d ragctx.Document, o Options) error {
	limit := o.withDefaults().MaxBytes
	if d.ExternalID == "" {
		return ragctx.Invalid("id", "is empty; give the document a name that is unique in its namespace, such as its path or URL")
	}
	if err := ragctx.ValidName("id", d.ExternalID); err != nil {
		return err
	}
	if len(d.Text) > limit {
		return ragctx.TooLarge("text", "is %d bytes long; the limit is %d: split the document", len(d.Text), limit)
	}
	if n := strings.Count(d.Text, "\n"); n > MaxLines {
		return ragctx.TooLarge("text", "has %d lines; the limit is %d: split the document", n, MaxLines)
	}
	if err := ragctx.ValidText("text", d.Text); err != nil {
		return err
	}
	if isBlank(d.Text) && isBlank(d.Title) {
		return ragctx.Invalid("text",
			"is empty or white space, and there is no title; send one of them, or delete the document if it is gone")
	}
	for _, f := range [...]struct {
		name, value string
		limit       int
	}{{"title", d.Title, MaxTitleBytes}, {"source", d.Source, MaxSourceBytes}, {"mime", d.MIME, ragctx.MaxNameBytes}} {
		if len(f.value) > f.limit {
			return ragctx.Invalid(f.name, "is %d bytes long; the limit is %d: shorten it", len(f.value), f.limit)
		}
		if err := ragctx.ValidText(f.name, f.value); err != nil {
			return err
		}
	}
	if err := validTags(d.Tags); err != nil {
		return err
	}
	if err := validChunk("chunk", d.Chunk); err != nil {
		return err
	}
	if err := ragctx.ValidTime("occurred", d.Occurred); err != nil {
		return err
	}
	return ragctx.ValidMetadata("metadata", d.Metadata, MaxMetadataBytes)
}

// validChunk checks chunk sizes given in a request.
func validChunk(field string, o ragctx.ChunkSizes) error {
	for _, f := range [...]struct {
		name string
		n    int
	}{{"target_chars", o.TargetChars}, {"max_chars", o.MaxChars}} {
		if f.n < 0 || f.n > MaxChunkChars {
			return ragctx.Invalid(field+"."+f.name, "is %d; use 1 to %d, or 0 for the default", f.n, MaxChunkChars)
		}
	}
	return nil
}

func validTags(tags []string) error {
	if len(tags) > MaxTags {
		return ragctx.Invalid("tags", "has %d tags; the limit is %d: put the rest into metadata", len(tags), MaxTags)
	}
	for _, t := range tags {
		if err := validTag(t); err != nil {
			return err
		}
	}
	return nil
}

func validTag(t string) error {
	if t == "" {
		return ragctx.Invalid("tags", "has an empty tag; remove it")
	}
	return ragctx.ValidName("tags", t)
}

// isBlank reports whether a text has nothing to search for.
func isBlank(text string) bool { return strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" }

// withTitleAsText returns d with its title as the text if the text is blank. A catalogue entry is then found
// and shown by its title, and has the same hash when it is sent with that text.
func withTitleAsText(d ragctx.Document) ragctx.Document {
	if isBlank(d.Text) && !isBlank(d.Title) {
		d.Text, d.MIME = strings.TrimSpace(d.Title), "text/plain"
	}
	return d
}

// ContentHash identifies the content of a document and how it is prepared: text, title, source,
// MIME type, ordered tags, metadata, time, the document's own chunk sizes, and [Version]. A
// document with a stored hash needs no preparation. The id is not included. Metadata that JSON
// cannot express counts as absent; [Validate] rejects it.
func ContentHash(d ragctx.Document) [32]byte {
	d = withTitleAsText(d)
	h := sha256.New()
	put := func(parts ...string) {
		var n [8]byte
		for _, s := range parts {
			binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
			h.Write(n[:])
			h.Write([]byte(s))
		}
	}
	put(Version, d.Text, d.Title, d.Source, d.MIME, fmt.Sprint(len(d.Tags)))
	put(d.Tags...)
	if len(d.Metadata) > 0 {
		if b, err := json.Marshal(d.Metadata); err == nil {
			put(string(b))
		}
	}
	if !d.Occurred.IsZero() {
		put(d.Occurred.UTC().Format(time.RFC3339Nano))
	}
	if d.Chunk != (ragctx.ChunkSizes{}) {
		put("chunk", fmt.Sprint(d.Chunk.TargetChars), fmt.Sprint(d.Chunk.MaxChars))
	}
	return [32]byte(h.Sum(nil))
}
