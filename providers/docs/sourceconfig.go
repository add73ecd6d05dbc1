package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// The providers with a configuration that a [SourceConfig] accepts. They have different defaults.
const (
	ProviderVector     = "vector"
	ProviderFileSystem = "filesystem"
)

// SourceConfig describes a folder to ingest. It has the option names and defaults of
// VectorContextConfig and FileSystemContextConfig, in snake_case or camelCase:
//
//	path, root_path          the folder
//	include_patterns         files to ingest; an empty list means all
//	exclude_patterns         files to skip
//	max_file_size            bytes, or a text such as "512 KiB"
//	chunk_size,              the length of chunks in characters
//	max_chunk_chars
//	auto_index               false: do not ingest when a server starts
//	provider                 "vector" or "filesystem" selects the defaults; the
//	                         default is "filesystem" with enable_cache, else "vector"
//	namespace, prefix, tags  as everywhere in ragctx
//
// enable_cache, min_relevance, max_results, embedding_model, embedding_api_base and
// embedding_api_key are accepted but do not affect the ingested documents; Notes says where each is
// set. Other names are rejected, and so are two names of one option with different values.
//
// Patterns match the whole path, which begins with path. "*" and "?" match slashes as well, and an
// invalid pattern matches nothing. Hidden files are included. .gitignore files apply only inside
// git repositories.
type SourceConfig struct {
	Provider  string
	Path      string
	Namespace string
	Prefix    string
	Tags      []string
	// An empty Include includes all files.
	Include, Exclude []string
	MaxFileSize      int64 // bytes
	// ChunkSize is the maximum length of a chunk in characters. The file system provider has no
	// such option; 0 means the default of [ragctx.ChunkSizes].
	ChunkSize int
	AutoIndex bool
	// Notes list the accepted options without effect, one sentence each.
	Notes []string
}

// MaxChunkSize is the limit of [SourceConfig].ChunkSize.
const MaxChunkSize = 100_000

// sourceOption is one option of the format.
type sourceOption struct {
	names []string // in snake_case; messages use the first
	read  func(c *SourceConfig, raw json.RawMessage) error
	note  string // why the option has no effect, or ""
}

// sourceOptions is the table of options. Each is also accepted in camelCase.
func sourceOptions() []sourceOption {
	const query, embedder = "is an option of each query in ragctx", "is a setting of ragctx; see 'ragctx config'"
	return []sourceOption{
		{names: []string{"path", "root_path"}, read: func(c *SourceConfig,
			raw json.RawMessage,
		) error {
			return readJSON(raw, &c.Path, "a text")
		}},
		{names: []string{"include_patterns", "include"}, read: func(c *SourceConfig,
			raw json.RawMessage,
		) error {
			return readPatterns(raw, &c.Include)
		}},
		{names: []string{"exclude_patterns", "exclude"}, read: func(c *SourceConfig,
			raw json.RawMessage,
		) error {
			return readPatterns(raw, &c.Exclude)
		}},
		{names: []string{"max_file_size"}, read: readMaxFileSize},
		{names: []string{"chunk_size", "max_chunk_chars"}, read: readChunkSize},
		{names: []string{"auto_index"}, read: func(c *SourceConfig,
			raw json.RawMessage,
		) error {
			return readJSON(raw, &c.AutoIndex, "true or false")
		}},
		{names: []string{"provider"}, read: readProvider},
		{names: []string{"namespace"}, read: func(c *SourceConfig,
			raw json.RawMessage,
		) error {
			return readJSON(raw, &c.Namespace, "a text")
		}},
		{names: []string{"prefix"}, read: func(c *SourceConfig, raw json.RawMessage) error { return readJSON(raw, &c.Prefix, "a text") }},
		{names: []string{"tags"}, read: func(c *SourceConfig,
			raw json.RawMessage,
		) error {
			return readJSON(raw, &c.Tags, "a list of texts")
		}},
		{names: []string{"enable_cache"}, read: readSwitch, note: "has no effect: documents are served from the data directory"},
		{names: []string{"min_relevance"}, read: readNumber, note: query},
		{names: []string{"max_results"}, read: readNumber, note: query},
		{names: []string{"embedding_model"}, read: readText, note: embedder},
		{names: []string{"embedding_api_base"}, read: readText, note: embedder},
		{names: []string{"embedding_api_key"}, read: readText, note: embedder},
	}
}

// defaultConfig returns the defaults of a provider.
func defaultConfig(provider string) SourceConfig {
	if provider == ProviderFileSystem {
		return SourceConfig{
			Provider: provider, Include: []string{"**/*.rs", "**/*.md"}, MaxFileSize: 1 << 20, AutoIndex: true,
			Exclude: []string{"**/target/**", "**/node_modules/**", "**/.git/**"},
		}
	}
	c := SourceConfig{
		Provider: ProviderVector, MaxFileSize: 512 << 10, ChunkSize: 1500, AutoIndex: true,
		Exclude: []string{"**/target/**", "**/node_modules/**", "**/.git/**", "**/dist/**", "**/build/**", "**/*.lock"},
	}
	for _, ext := range [...]string{"rs", "py", "ts", "js", "go", "md", "toml", "yaml", "yml"} {
		c.Include = append(c.Include, "**/*."+ext)
	}
	return c
}

// optionValue is the value of an option, with the name under which it was written.
type optionValue struct {
	name string
	raw  json.RawMessage
}

// set reports whether there is a value; null is no value.
func (g optionValue) set() bool { return g.raw != nil && !bytes.Equal(g.raw, []byte("null")) }

// UnmarshalJSON parses a configuration. Errors name the option as it is written.
func (c *SourceConfig) UnmarshalJSON(b []byte) error {
	options := sourceOptions()
	found, err := readOptions(b, options)
	if err != nil {
		return err
	}
	var out SourceConfig
	for i, o := range options { // the provider first, because it determines the defaults
		switch {
		case !found[i].set():
		case o.names[0] == "enable_cache":
			out.Provider = cmp.Or(out.Provider, ProviderFileSystem)
		case o.names[0] == "provider":
			if err := o.read(&out, found[i].raw); err != nil {
				return ragctx.Invalid(found[i].name, "%v", err)
			}
		}
	}
	out = defaultConfig(out.Provider)
	for i, o := range options {
		f := found[i]
		if !f.set() {
			continue
		}
		if err := o.read(&out, f.raw); err != nil {
			return ragctx.Invalid(f.name, "%v", err)
		}
		if o.note != "" {
			out.Notes = append(out.Notes, f.name+" "+o.note)
		}
	}
	if out.Path == "" {
		return ragctx.Invalid("path", "is missing; name the folder to ingest (path, or root_path)")
	}
	*c = out
	return nil
}

// readOptions returns the value of each option in a configuration.
func readOptions(b []byte, options []sourceOption) ([]optionValue, error) {
	found := make([]optionValue, len(options))
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, ragctx.Invalid("source", "is not a JSON object; write {\"path\": \"docs\"}")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, ragctx.Invalid("source", "is not JSON: %v", err)
		}
		name, _ := t.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, ragctx.Invalid("source", "is not JSON at %s: %v", ragctx.Clip(name), err)
		}
		i := slices.IndexFunc(options, func(o sourceOption) bool { return o.named(name) })
		switch {
		case i < 0:
			return nil, ragctx.Invalid(ragctx.Clip(name), "is not an option of a source; use %s", strings.Join(optionNames(options), ", "))
		case found[i].raw != nil && !sameJSON(found[i].raw, raw):
			return nil, ragctx.Invalid(name, "is another name of %s with a different value; give only one of them", found[i].name)
		}
		found[i] = optionValue{name, raw}
	}
	if _, err := dec.Token(); err != nil {
		return nil, ragctx.Invalid("source", "is not JSON: %v", err)
	}
	return found, nil
}

// named reports whether name is a name of the option.
func (o sourceOption) named(name string) bool {
	return slices.ContainsFunc(o.names, func(n string) bool { return n == name || camel(n) == name })
}

func optionNames(options []sourceOption) []string {
	var out []string
	for _, o := range options {
		out = append(out, o.names...)
	}
	return out
}

// camel converts max_file_size to maxFileSize.
func camel(snake string) string {
	parts := strings.Split(snake, "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

// sameJSON compares values, so that giving the same value under two names is not an error.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func readJSON(raw json.RawMessage, into any, what string) error {
	if json.Unmarshal(raw, into) != nil {
		return errors.New("is not " + what)
	}
	return nil
}

func readText(_ *SourceConfig, raw json.RawMessage) error {
	return readJSON(raw, new(string), "a text")
}

func readSwitch(_ *SourceConfig, raw json.RawMessage) error {
	return readJSON(raw, new(bool), "true or false")
}

func readNumber(_ *SourceConfig, raw json.RawMessage) error {
	return readJSON(raw, new(float64), "a number")
}

func readPatterns(raw json.RawMessage, into *[]string) error {
	*into = nil
	if err := readJSON(raw, into, "a list of patterns"); err != nil {
		return err
	}
	if *into == nil {
		*into = []string{}
	}
	return nil
}

func readProvider(c *SourceConfig, raw json.RawMessage) error {
	var name string
	if err := readJSON(raw, &name, "a text"); err != nil {
		return err
	}
	switch strings.ToLower(name) {
	case ProviderVector, "vector-rag":
		c.Provider = ProviderVector
	case ProviderFileSystem:
		c.Provider = ProviderFileSystem
	default:
		return fmt.Errorf("is %q; use vector or filesystem", ragctx.Clip(name))
	}
	return nil
}

func readMaxFileSize(c *SourceConfig, raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	n, err := ParseSize(text)
	c.MaxFileSize = n
	return err
}

func readChunkSize(c *SourceConfig, raw json.RawMessage) error {
	var n float64
	if err := readJSON(raw, &n, "a number"); err != nil {
		return err
	}
	if n != math.Trunc(n) || n < 1 || n > MaxChunkSize {
		return fmt.Errorf("is %s; use a whole number from 1 to %d", ragctx.Clip(string(raw)), MaxChunkSize)
	}
	c.ChunkSize = int(n)
	return nil
}

// WalkOptions returns the walk options of the source.
func (c SourceConfig) WalkOptions() WalkOptions {
	o := WalkOptions{
		Include: c.Include, Exclude: c.Exclude, MaxFileBytes: c.MaxFileSize,
		Hidden: true, WholePath: c.Path, NoIgnore: !inRepository(c.Path),
	}
	if len(o.Include) == 0 {
		o.Include = []string{"*"}
	}
	return o
}

// Chunk returns the chunk sizes of the source: at most ChunkSize characters.
func (c SourceConfig) Chunk() ragctx.ChunkSizes {
	return ragctx.ChunkSizes{TargetChars: c.ChunkSize, MaxChars: c.ChunkSize}
}

// Warnings list the invalid patterns, which match nothing.
func (c SourceConfig) Warnings() []string {
	var out []string
	for _, l := range [...]struct {
		name     string
		patterns []string
	}{{"include_patterns", c.Include}, {"exclude_patterns", c.Exclude}} {
		for _, p := range l.patterns {
			if _, problem := compileWhole(p); problem != "" {
				out = append(out, fmt.Sprintf("%s: %q %s; it matches nothing", l.name, ragctx.Clip(p), problem))
			}
		}
	}
	return out
}

// inRepository reports whether a path is in a git repository.
func inRepository(path string) bool {
	abs, err := filepath.Abs(path)
	for err == nil {
		if exists(filepath.Join(abs, ".git")) {
			return true
		}
		up := filepath.Dir(abs)
		if up == abs {
			break
		}
		abs = up
	}
	return false
}

// ReadSources reads a file with one configuration or a list of them. Relative paths are relative to
// the working directory.
func ReadSources(name string) ([]SourceConfig, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const limit = 1 << 20
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if len(b) > limit {
		return nil, ragctx.TooLarge("source", "is longer than %d bytes", limit)
	}
	return ParseSources(b)
}

// ParseSources parses one configuration or a list of them.
func ParseSources(b []byte) ([]SourceConfig, error) {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	if len(list) == 0 {
		return nil, ragctx.Invalid("source", "is an empty list")
	}
	out := make([]SourceConfig, len(list))
	for i, raw := range list {
		if !json.Valid(raw) {
			return nil, ragctx.Invalid("source", "is not JSON")
		}
		if err := out[i].UnmarshalJSON(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}
