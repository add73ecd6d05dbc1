package docs

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Version names the rules of this package and of package chunk. Documents
// prepared under another version are prepared again.
const Version = "docs-3 " + chunk.Version

// DefaultMaxBytes is the longest text that is prepared unless [Options] say
// otherwise.
const DefaultMaxBytes = 32 << 20

// Document is what a caller hands in.
type Document struct {
	// ExternalID is the caller's own name of the document within its namespace:
	// any UTF-8 of 1 to 512 bytes, such as a path or a URL.
	ExternalID string
	// Title is shown and searched; empty means that of the text, else the file
	// name in the id.
	Title string
	// Source says where the text comes from, such as "file:docs/a.md".
	Source string
	// MIME is the type of Text; empty means by the id's extension.
	MIME string
	// Text may be empty if there is a title, which then is the text, as text/plain.
	Text     string
	Tags     []string
	Metadata map[string]any // JSON values; filters reach strings, numbers and booleans
	// Occurred is when what the document tells happened; zero means unknown.
	Occurred time.Time
	// Chunk is how long the chunks of this document are; zero means as in [Options].
	Chunk chunk.Options
}

// Prepared is a document that is ready to be stored.
type Prepared struct {
	// Document has its title, MIME type and the tags of its front matter filled
	// in, and its text if it had none. Chunks and Outline count in its Text, which has no byte order mark.
	Document
	// Hash is [ContentHash] of the document as it was handed in.
	Hash [32]byte
	// Abstract is at most 500 characters of plain text, about 100 tokens.
	Abstract string
	Outline  []Section // at most [MaxSections]
	// Chunks has 1 to [MaxChunks]. Heading paths of source code begin with the
	// file name; the rows of a long table stand under the names of its columns.
	// Pages are numbered if the text has form feeds and is no source code.
	Chunks []chunk.Chunk
	// Chunker is the [Version] that made the chunks.
	Chunker string
	// Sketch is that of the text, by which near duplicates are found.
	Sketch []byte
}

// Options bound the preparation of a document. The zero value works.
type Options struct {
	Chunk    chunk.Options
	MaxBytes int // longest text; default 32 MiB
}

// WithDefaults returns o with unset fields filled.
func (o Options) WithDefaults() Options {
	o.Chunk = o.Chunk.WithDefaults()
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return o
}

// Prepare checks a document and returns it with everything that is stored with
// it. An error is [ragctx.ErrInvalid] or [ragctx.ErrTooLarge] and names the
// field. Prepare is deterministic, does no I/O, takes time linear in the text,
// and is safe for concurrent use. The result shares d's text and metadata.
func Prepare(d Document, o Options) (Prepared, error) {
	if err := Validate(d, o); err != nil {
		return Prepared{}, err
	}
	return PrepareChecked(d, ContentHash(d), o)
}

// PrepareChecked is [Prepare] for a document that [Validate] has passed, whose
// [ContentHash] is hash.
func PrepareChecked(d Document, hash [32]byte, o Options) (Prepared, error) {
	d = d.titled()
	if d.Chunk != (chunk.Options{}) {
		o.Chunk = d.Chunk
	}
	o = o.WithDefaults()
	p := Prepared{Document: d, Hash: hash, Chunker: Version}
	p.Text = strings.TrimPrefix(d.Text, "\ufeff")
	f := formatOf(p.Document)
	p.MIME = cmp.Or(strings.TrimSpace(d.MIME), f.mime)
	in := input{text: unpaged(p.Text), name: fileName(d.ExternalID), lang: f.lang, target: o.Chunk.TargetChars, max: o.Chunk.MaxChars}
	if in.text != p.Text {
		in.paged = p.Text
	}
	s := f.parse(in)
	p.Title = cmp.Or(d.Title, sentence.Clip(s.title, maxTitleRunes), sentence.Clip(in.name, maxTitleRunes))
	p.Tags = mergeTags(d.Tags, s.tags)
	p.Outline = limitOutline(s.outline)
	p.Chunks = chunk.Blocks(p.Text, s.blocks, o.Chunk)
	if len(p.Chunks) == 0 { // nothing but front matter
		p.Chunks = chunk.Split(p.Text, o.Chunk)
	}
	if len(p.Chunks) > MaxChunks {
		return Prepared{}, ragctx.TooLarge("text", "makes %d chunks; the limit is %d: split the document", len(p.Chunks), MaxChunks)
	}
	if f.lang == nil {
		number(p.Text, p.Chunks)
	}
	p.Abstract = abstract(p, s)
	p.Sketch = Sketch(p.Text)
	return p, nil
}

// limitOutline leaves out the deepest sections of an outline that is too long,
// and then the last ones.
func limitOutline(sections []Section) []Section {
	for len(sections) > MaxSections {
		deepest := slices.MaxFunc(sections, func(a, b Section) int { return a.Level - b.Level }).Level
		kept := slices.DeleteFunc(slices.Clone(sections), func(s Section) bool { return s.Level == deepest })
		if len(kept) == 0 {
			return sections[:MaxSections:MaxSections]
		}
		sections = kept
	}
	return sections
}

// fileName returns the last element of an id that is a path or a URL, without
// query and fragment, or the id itself.
func fileName(id string) string {
	p := id
	if host, rest := splitURL(id); host != "" {
		if p = rest; p == "" {
			return host
		}
	}
	if base := path.Base(p); base != "." && base != "/" {
		return base
	}
	return id
}

// splitURL returns host and path of an id that is a URL, "" for others.
func splitURL(id string) (host, rest string) {
	if u, err := url.Parse(id); err == nil && u.Scheme != "" && u.Host != "" {
		return u.Host, strings.TrimSuffix(u.Path, "/")
	}
	return "", ""
}

// mergeTags appends the tags found in the text to those given, as far as the
// limits allow.
func mergeTags(given, found []string) []string {
	tags := append([]string(nil), given...)
	seen := make(map[string]bool, len(given))
	for _, t := range given {
		seen[t] = true
	}
	for _, t := range found {
		if len(tags) < MaxTags && !seen[t] && validTag(t) == nil {
			seen[t] = true
			tags = append(tags, t)
		}
	}
	return tags
}
