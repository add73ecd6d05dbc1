package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

// fuzzFormat fuzzes the parser of a file name, seeded with the goldens of the same extension and
// malicious inputs.
func fuzzFormat(f *testing.F, id string) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if in := txtar.Parse(b).Files[0]; filepath.Ext(in.Name) == filepath.Ext(id) {
			f.Add(string(in.Data))
		}
	}
	for _, text := range hostile {
		f.Add(text[:200])
	}
	f.Fuzz(func(t *testing.T, text string) { checkPrepare(t, id, text) })
}

// checkPrepare prepares a text and checks the guarantees of the package.
func checkPrepare(t *testing.T, id, text string) {
	if len(text) > 8<<10 {
		return
	}
	p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: text}, small)
	if err != nil {
		if utf8.ValidString(text) && utf8.ValidString(id) && len(id) < 512 && id != "" &&
			strings.IndexFunc(strings.ReplaceAll(text, "\ufeff", ""), func(r rune) bool { return !unicode.IsSpace(r) }) >= 0 &&
			!strings.Contains(text+id, "\x00") {
			t.Fatalf("refused: %v", err)
		}
		return
	}
	checkTiles(t, p)
	for i, s := range p.Outline {
		if s.Title == "" || s.Level < 1 || i > 0 && s.Start < p.Outline[i-1].Start {
			t.Fatalf("section %d is %+v", i, s)
		}
	}
	page := 0
	for _, c := range p.Chunks {
		if c.Page < page || slices.Contains(c.Heading, "") {
			t.Fatalf("chunk %d is on page %d under %q", c.Ordinal, c.Page, c.Heading)
		}
		page = c.Page
	}
	again, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: text}, small)
	if diff := cmp.Diff(p, again); diff != "" || err != nil {
		t.Fatalf("equal input, other result: %v\n%s", err, diff)
	}
}

func FuzzPrepare(f *testing.F) {
	for _, text := range hostile {
		f.Add("a.md", text[:200])
		f.Add("a.py", text[:200])
	}
	f.Add("a.md", "---\ntitle: x\n---\n\na\r\n===\r\n\r\n- b\n\n  ```\n  c\n")
	f.Fuzz(func(t *testing.T, id, text string) { checkPrepare(t, id, text) })
}

func FuzzMarkdown(f *testing.F)  { fuzzFormat(f, "a.md") }
func FuzzText(f *testing.F)      { fuzzFormat(f, "a.txt") }
func FuzzRST(f *testing.F)       { fuzzFormat(f, "a.rst") }
func FuzzAsciiDoc(f *testing.F)  { fuzzFormat(f, "a.adoc") }
func FuzzOrg(f *testing.F)       { fuzzFormat(f, "a.org") }
func FuzzLaTeX(f *testing.F)     { fuzzFormat(f, "a.tex") }
func FuzzCSV(f *testing.F)       { fuzzFormat(f, "a.csv") }
func FuzzJSON(f *testing.F)      { fuzzFormat(f, "a.json") }
func FuzzJSONLines(f *testing.F) { fuzzFormat(f, "a.jsonl") }
func FuzzYAML(f *testing.F)      { fuzzFormat(f, "a.yaml") }
func FuzzTOML(f *testing.F)      { fuzzFormat(f, "a.toml") }
func FuzzGo(f *testing.F)        { fuzzFormat(f, "a.go") }
func FuzzSource(f *testing.F)    { fuzzFormat(f, "a.kt") }
func FuzzMarkup(f *testing.F)    { fuzzFormat(f, "a.xml") }
