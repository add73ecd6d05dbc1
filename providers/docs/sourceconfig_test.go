package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

func source(t *testing.T, text string) docs.SourceConfig {
	t.Helper()
	var c docs.SourceConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// The quoted lines are from the specification.
func TestSourceDefaults(t *testing.T) {
	vector := source(t, `{"path": "d"}`)
	// | — | | include_patterns | `**/*.{rs,py,ts,js,go,md,toml,yaml,yml}` as nine patterns |
	var want []string
	for ext := range strings.SplitSeq("rs,py,ts,js,go,md,toml,yaml,yml", ",") {
		want = append(want, "**/*."+ext)
	}
	if diff := cmp.Diff(want, vector.Include); diff != "" {
		t.Error(diff)
	}
	// | — | | exclude_patterns | `**/target/**`, `**/node_modules/**`, `**/.git/**`, `**/dist/**`, `**/build/**`, `**/*.lock` |
	want = []string{"**/target/**", "**/node_modules/**", "**/.git/**", "**/dist/**", "**/build/**", "**/*.lock"}
	if diff := cmp.Diff(want, vector.Exclude); diff != "" {
		t.Error(diff)
	}
	// | — | | max_file_size | 512 KiB |
	if vector.MaxFileSize != 512<<10 {
		t.Errorf("max_file_size is %d", vector.MaxFileSize)
	}
	// accept all names; chunk default 1500 (as promised by the seed's page), alias max_chunk_chars
	if vector.ChunkSize != 1500 || vector.Chunk().TargetChars != 1500 || vector.Chunk().MaxChars != 1500 {
		t.Errorf("chunk_size is %d", vector.ChunkSize)
	}
	// | — | | auto_index | true |
	if !vector.AutoIndex || vector.Provider != docs.ProviderVector {
		t.Errorf("%+v", vector)
	}
	// FileSystemContextConfig: root_path; include `**/*.rs`,`**/*.md`; exclude target/node_modules/.git; max_file_size 1 MiB; enable_cache true.
	for _, text := range []string{`{"root_path": "d", "enable_cache": true}`, `{"rootPath": "d", "provider": "filesystem"}`} {
		fs := source(t, text)
		if fs.Path != "d" || fs.Provider != docs.ProviderFileSystem || fs.MaxFileSize != 1<<20 || fs.ChunkSize != 0 ||
			!slices.Equal(fs.Include, []string{"**/*.rs", "**/*.md"}) ||
			!slices.Equal(fs.Exclude, []string{"**/target/**", "**/node_modules/**", "**/.git/**"}) {
			t.Errorf("%s: %+v", text, fs)
		}
	}
}

func TestSourceNames(t *testing.T) {
	for _, text := range []string{
		`{"path": "d", "include_patterns": ["*.x"], "exclude_patterns": [], "max_file_size": 2048, "chunk_size": 700, "auto_index": false}`,
		`{"root_path": "d", "include": ["*.x"], "exclude": [], "max_file_size": "2KiB", "max_chunk_chars": 700, "auto_index": false}`,
		`{"rootPath": "d", "includePatterns": ["*.x"], "excludePatterns": [], "maxFileSize": "2 kib", "maxChunkChars": 7e2, "autoIndex": false}`,
		`{"rootPath": "d", "path": "d", "include": ["*.x"], "include_patterns": [ "*.x" ], "exclude": [], "maxFileSize": 2048, "chunkSize": 700, "autoIndex": false, "provider": null}`,
	} {
		got := source(t, text)
		want := docs.SourceConfig{
			Provider: docs.ProviderVector, Path: "d", Include: []string{"*.x"}, Exclude: []string{}, MaxFileSize: 2048, ChunkSize: 700,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	// Options without effect are noted.
	c := source(t, `{"path": "d", "minRelevance": 0.3, "max_results": 10, "embedding_model": "text-embedding-3-small",
		"embedding_api_base": "https://a.example", "embeddingApiKey": "secret-key", "namespace": "team", "prefix": "p", "tags": ["a"]}`)
	if len(c.Notes) != 5 || !strings.HasPrefix(c.Notes[0], "minRelevance is an option of each query") ||
		strings.Contains(strings.Join(c.Notes, " "), "secret") {
		t.Errorf("notes %q", c.Notes)
	}
	if c.Namespace != "team" || c.Prefix != "p" || !slices.Equal(c.Tags, []string{"a"}) {
		t.Errorf("%+v", c)
	}
}

func TestSourceErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                  "path: is missing",
		`[]`:                                  "not a JSON object",
		`{"path": "d"`:                        "not JSON",
		`{"path": 1}`:                         "path: is not a text",
		`{"path": "d", "x": 1}`:               "x: is not an option of a source; use path, root_path, include_patterns",
		`{"path": "d", "root_path": "e"}`:     "root_path: is another name of path",
		`{"path": "d", "path": "e"}`:          "path: is another name of path",
		`{"path": "d", "chunk_size": 0}`:      "chunk_size: is 0; use a whole number from 1 to 100000",
		`{"path": "d", "maxChunkChars": 1.5}`: "maxChunkChars: is 1.5",
		`{"path": "d", "chunk_size": 5, "chunkSize": 6}`:    "chunkSize: is another name of chunk_size",
		`{"path": "d", "max_file_size": "lots"}`:            `max_file_size: is "lots"; use a number of bytes, or a size such as 8MiB`,
		`{"path": "d", "max_file_size": -1}`:                "max_file_size",
		`{"path": "d", "max_file_size": 1.5}`:               "max_file_size",
		`{"path": "d", "include_patterns": "*.md"}`:         "include_patterns: is not a list of patterns",
		`{"path": "d", "provider": "web"}`:                  "use vector or filesystem",
		`{"path": "d", "min_relevance": "high"}`:            "min_relevance: is not a number",
		`{"path": "d", "auto_index": 1}`:                    "auto_index: is not true or false",
		`{"path": "d", "include_pattern": ["*.md"], "a":1}`: "include_pattern: is not an option",
	} {
		var c docs.SourceConfig
		err := c.UnmarshalJSON([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if _, status := ragctx.CodeOf(err); status != 422 {
			t.Errorf("%s: status %d", text, status)
		}
	}
	if _, err := docs.ParseSources([]byte(`[]`)); err == nil {
		t.Error("an empty list is taken")
	}
	if list, err := docs.ParseSources([]byte(`[{"path": "a"}, {"path": "b"}]`)); err != nil || len(list) != 2 || list[1].Path != "b" {
		t.Errorf("list %+v, %v", list, err)
	}
}

// TestSourceWalk: which files a description takes.
func TestSourceWalk(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.md": "x", "deep/b.md": "x", ".hidden/c.md": "x", "target/d.md": "x", "vendor/modules.txt": "", "vendor/e.go": "x",
		"f.lock": "x", "g.txt": "x", "ignored.md": "x", ".gitignore": "ignored.md\n",
		"big.md": strings.Repeat("x", 600<<10), "notes/h.toml": "x",
	})
	for name, c := range map[string]struct {
		options string
		want    string
	}{
		// hidden files included; .gitignore honoured (upstream walker: only inside a git repository)
		"defaults": {`{"path": "D"}`, ".hidden/c.md a.md deep/b.md ignored.md notes/h.toml vendor/e.go"},
		// skip … >max_file_size
		"file system": {`{"path": "D", "enable_cache": true}`, ".hidden/c.md a.md big.md deep/b.md ignored.md"},
		"larger":      {`{"path": "D", "max_file_size": "1MB", "include_patterns": ["**/big.md"]}`, "big.md"},
		"no exclude": {
			`{"path": "D", "exclude_patterns": [], "include_patterns": ["**/*.md"]}`,
			".hidden/c.md a.md deep/b.md ignored.md target/d.md",
		},
		"everything": {
			`{"path": "D", "include_patterns": [], "exclude_patterns": ["**/big.md"]}`,
			".gitignore .hidden/c.md a.md deep/b.md f.lock g.txt ignored.md notes/h.toml target/d.md vendor/e.go vendor/modules.txt",
		},
		"star crosses":  {`{"path": "D", "include_patterns": ["*.toml"]}`, "notes/h.toml"},
		"whole path":    {`{"path": "D", "include_patterns": ["D/*.md"]}`, ".hidden/c.md a.md deep/b.md ignored.md"},
		"not from here": {`{"path": "D", "include_patterns": ["a.md", "deep/*"]}`, ""},
		// a bad glob never matches
		"bad":    {`{"path": "D", "include_patterns": ["**/*.[md", "**a.md", "a***", "**/g.txt"]}`, "g.txt"},
		"sets":   {`{"path": "D", "include_patterns": ["**/[!b-z].md", "**/?.txt"]}`, "a.md g.txt"},
		"braces": {`{"path": "D", "include_patterns": ["**/*.{md,txt}"]}`, ""},
	} {
		s := source(t, strings.ReplaceAll(c.options, "D", filepath.ToSlash(dir)))
		ids, _ := walk(t, s.WalkOptions(), dir)
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if warned := len(s.Warnings()); warned != map[bool]int{true: 3}[name == "bad"] {
			t.Errorf("%s: warnings %q", name, s.Warnings())
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o750); err != nil {
		t.Fatal(err)
	}
	c := docs.SourceConfig{Path: dir, Include: []string{"**/*.md"}}
	if ids, _ := walk(t, c.WalkOptions(), dir); slices.Contains(ids, "ignored.md") {
		t.Errorf("in a repository: %v", ids)
	}
}

// TestWholeGlobs compares with regular expressions.
func TestWholeGlobs(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x", "b/a": "x", "b/b/a": "x", "b/b/c": "x"})
	all := []string{"a", "b/a", "b/b/a", "b/b/c"}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`(\*\*/)?[ab/*?]{0,4}`).Draw(t, "pattern")
		c := docs.SourceConfig{Path: "b", Include: []string{pattern}, Exclude: []string{}}
		var want []string
		if len(c.Warnings()) == 0 {
			expr := strings.NewReplacer("**/", "(?:.*/)?", "**", ".*", "*", ".*", "?", ".").Replace(pattern)
			re := regexp.MustCompile("^" + expr + "$")
			for _, id := range all {
				if re.MatchString("b/" + id) {
					want = append(want, id)
				}
			}
		}
		var got []string
		o := c.WalkOptions()
		o.NoIgnore = true
		for f, err := range docs.Walk(t.Context(), []string{dir}, o) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.ExternalID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q takes %v, want %v", pattern, got, want)
		}
	})
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "512 KiB": 512 << 10, "8MiB": 8 << 20, "1.5 kib": 1536, "1kb": 1000, "2 MB": 2e6,
		"1GiB": 1 << 30, "3m": 3 << 20, "10B": 10,
	} {
		if got, err := docs.ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "x", "1 XB", "inf", "NaN", "0x10", "1e40", "1_000", "MiB"} {
		if n, err := docs.ParseSize(text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}

func FuzzSourceConfig(f *testing.F) {
	f.Add([]byte(`{"path": "d", "include_patterns": ["**/*.md", "[!a]?"], "maxFileSize": "1 MiB", "chunkSize": 700, "enable_cache": false}`))
	f.Add([]byte(`{"path": "d", "path": "e"}`))
	f.Add([]byte(`{"path": "d", "tags": null, "exclude": []}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c docs.SourceConfig
		if err := c.UnmarshalJSON(b); err != nil {
			if _, status := ragctx.CodeOf(err); status != 422 {
				t.Errorf("status %d: %v", status, err)
			}
			return
		}
		o := c.WalkOptions()
		if c.Path == "" || c.MaxFileSize <= 0 || c.ChunkSize < 0 || c.ChunkSize > docs.MaxChunkChars ||
			len(o.Include) == 0 || o.Exclude == nil {
			t.Errorf("%q is %+v", b, c)
		}
		c.Warnings()
	})
}
