package docs

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Version is the version of the rules of this package and of package chunk. Documents that were
// prepared under another version are prepared again.
const Version = "docs-4 " + chunk.Version

// DefaultMaxBytes is the default limit of a text's length.
const DefaultMaxBytes = 32 << 20

// Options are the limits of preparation. The zero value works.
type Options struct {
	Chunk    ragctx.ChunkSizes
	MaxBytes int // limit of the text; default 32 MiB
}

// withDefaults returns o with unset fields filled in.
func (o Options) withDefaults() Options {
	o.Chunk = o.Chunk.WithDefaults()
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return o
}

// Prepare checks a document and computes everything that is stored with it. An error is
// [ragctx.ErrInvalid] or [ragctx.ErrTooLarge] and names the field. Prepare is deterministic, does
// no I/O, takes time linear in the text, and is safe for concurrent use. The result may share the text
// and metadata of d.
func Prepare(d ragctx.Document, o Options) (passage.PreparedDocument, error) {
	if err := Validate(d, o); err != nil {
		return passage.PreparedDocument{}, err
	}
	return PrepareChecked(d, ContentHash(d), o)
}

// PrepareChecked is [Prepare] for a document that passed [Validate] and has the given
// [ContentHash].
func PrepareChecked(d ragctx.Document, hash [32]byte, o Options) (passage.PreparedDocument, error) {
	d = withTitleAsText(d)
	if d.Chunk != (ragctx.ChunkSizes{}) {
		o.Chunk = d.Chunk
	}
	o = o.withDefaults()
	p := passage.PreparedDocument{Document: d, Hash: hash, Chunker: Version}
	p.Text = strings.TrimPrefix(d.Text, "\ufeff")
	f := formatOf(p.Document)
	p.MIME = cmp.Or(strings.TrimSpace(d.MIME), f.mime)
	in := input{text: unpaged(p.Text), name: fileName(d.ExternalID), lang: f.lang, target: o.Chunk.TargetChars, max: o.Chunk.MaxChars}
	if in.text != p.Text {
		in.paged = p.Text
	}
	s := f.parse(in)
	p.Title = cmp.Or(d.Title, sentence.Clip(s.title, maxTitleRunes), sentence.Clip(in.name, maxTitleRunes))
	p.Tags, p.Metadata = mergeTags(d.Tags, s.tags), mergeMetadata(d.Metadata, s.metadata)
	p.Outline = limitOutline(s.outline)
	p.Chunks = chunk.Blocks(p.Text, s.blocks, o.Chunk)
	if len(p.Chunks) == 0 { // the text is only front matter
		p.Chunks = chunk.Split(p.Text, o.Chunk)
	}
	if len(p.Chunks) > MaxChunks {
		return passage.PreparedDocument{}, ragctx.TooLarge("text", "makes %d chunks; the limit is %d: split the "+
			"document", len(p.Chunks), MaxChunks)
	}
	if f.lang == nil {
		numberPages(p.Text, p.Chunks)
	}
	p.Abstract = abstract(p, s)
	p.Sketch = Sketch(p.Text)
	return p, nil
}

// limitOutline removes the deepest sections of an outline that is too long, and then the last ones.
func limitOutline(sections []passage.Section) []passage.Section {
	for len(sections) > MaxSections {
		deepest := slices.MaxFunc(sections, func(a, b passage.Section) int { return a.Level - b.Level }).Level
		kept := slices.DeleteFunc(slices.Clone(sections), func(s passage.Section) bool { return s.Level == deepest })
		if len(kept) == 0 {
			return sections[:MaxSections:MaxSections]
		}
		sections = kept
	}
	return sections
}

// fileName returns the last element of an id that is a path or a URL without query and fragment.
// Otherwise it returns the id.
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

// splitURL returns the host and path of an id that is a URL, or "" and "".
func splitURL(id string) (host, rest string) {
	if u, err := url.Parse(id); err == nil && u.Scheme != "" && u.Host != "" {
		return u.Host, strings.TrimSuffix(u.Path, "/")
	}
	return "", ""
}

// mergeTags appends the tags found in the text to the given ones, within the limits.
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
