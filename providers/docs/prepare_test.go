package docs_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/providers/docs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden prepares the first file of each archive with chunks of 120
// characters and compares title, tags, abstract, outline and chunks with "want".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := ar.Files[0]
			p, err := docs.Prepare(ragctx.Document{ExternalID: in.Name, Text: string(in.Data)}, small)
			if err != nil {
				t.Fatal(err)
			}
			checkTiles(t, p)
			got := show(p)
			if *update {
				ar.Files = append(ar.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) != 2 {
				t.Fatal("it has no result; run the test with -update and review it")
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("document differs (-want +got):\n%s", diff)
			}
		})
	}
}

var small = docs.Options{Chunk: ragctx.ChunkSizes{TargetChars: 120, MaxChars: 240}}

func show(p passage.PreparedDocument) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\nmime: %s\ntags: %q\n", p.Title, p.MIME, p.Tags)
	if len(p.Metadata) > 0 {
		fmt.Fprintf(&b, "metadata: %v\n", p.Metadata)
	}
	fmt.Fprintf(&b, "abstract: %s\noutline:\n", p.Abstract)
	for _, s := range p.Outline {
		fmt.Fprintf(&b, "%s- %s (%d bytes)\n", strings.Repeat("  ", s.Level), s.Title, s.End-s.Start)
	}
	for _, c := range p.Chunks {
		page := ""
		if c.Page > 0 {
			page = fmt.Sprintf(", page %d", c.Page)
		}
		fmt.Fprintf(&b, "[%d] %s, lines %d-%d%s\n%s\n", c.Ordinal, strings.Join(c.Heading, " > "), c.Start.Line, c.End.Line, page, c.Text)
	}
	return b.String()
}

// checkTiles fails unless the chunks hold all of the text but a header.
func checkTiles(t *testing.T, p passage.PreparedDocument) {
	t.Helper()
	if len(p.Chunks) == 0 {
		t.Fatal("no chunks")
	}
	end := p.Chunks[0].Start.Byte
	for i, c := range p.Chunks {
		if c.Text != p.Text[c.Start.Byte:c.End.Byte] || c.Start.Byte < end || strings.TrimSpace(p.Text[end:c.Start.Byte]) != "" {
			t.Fatalf("chunk %d does not continue the one before: %d after %d", i, c.Start.Byte, end)
		}
		end = c.End.Byte
	}
	if strings.TrimSpace(p.Text[end:]) != "" {
		t.Fatalf("left out: %q", p.Text[end:])
	}
	header := strings.TrimSpace(p.Text[:p.Chunks[0].Start.Byte])
	if header != "" && !strings.HasPrefix(header, "---") && !strings.HasPrefix(header, "+++") &&
		!strings.HasPrefix(header, "{") && !strings.HasPrefix(header, "<!--{") {
		t.Fatalf("left out at the beginning: %q", header)
	}
	for _, s := range p.Outline {
		if s.Start < 0 || s.End < s.Start || s.End > len(p.Text) {
			t.Fatalf("section %+v in %d bytes", s, len(p.Text))
		}
	}
	if n := utf8.RuneCountInString(p.Abstract); n > 500 || !utf8.ValidString(p.Abstract) {
		t.Fatalf("abstract of %d characters", n)
	}
}

func TestTitle(t *testing.T) {
	for _, tt := range []struct {
		doc  ragctx.Document
		want string
	}{
		{ragctx.Document{ExternalID: "a.md", Title: "Given", Text: "---\ntitle: Front\n---\n# H\n"}, "Given"},
		{ragctx.Document{ExternalID: "a.md", Text: "---\ntitle: 'Front'\n---\n# H\n"}, "Front"},
		{ragctx.Document{ExternalID: "a.md", Text: "+++\ntitle = \"Toml\"\n+++\n# H\n"}, "Toml"},
		{ragctx.Document{ExternalID: "a.md", Text: "## Sub\n\nThe *H* `one`\n===\n"}, "The H one"},
		{ragctx.Document{ExternalID: "dir/a.md", Text: "## Sub\n"}, "a.md"},
		{ragctx.Document{ExternalID: "https://example.org/docs/page.md?x=1#y", Text: "text"}, "page.md"},
		{ragctx.Document{ExternalID: "https://example.org/", Text: "text"}, "example.org"},
		{ragctx.Document{ExternalID: "ticket #7", Text: "text"}, "ticket #7"},
		{ragctx.Document{ExternalID: "7", Text: "Hello\n\n# Heading in text of unknown type\n"}, "Heading in text of unknown type"},
		{ragctx.Document{ExternalID: "7", MIME: "text/plain; charset=utf-8", Text: "# No heading\n"}, "7"},
		{ragctx.Document{ExternalID: "a.md", Text: "---\n\nNo header, a line.\n\n---\n\n# H {#id}\n"}, "H"},
		{ragctx.Document{ExternalID: "a.md", Text: "\ufeff---\ntitle: Front\n---\nx\n"}, "Front"},
	} {
		p, err := docs.Prepare(tt.doc, docs.Options{})
		if err != nil {
			t.Errorf("%q: %v", tt.doc.Text, err)
			continue
		}
		if p.Title != tt.want {
			t.Errorf("title of %q = %q, want %q", tt.doc.Text, p.Title, tt.want)
		}
	}
}

// TestTitleIsTheText prepares a document that has only a title, whatever its id and type are.
func TestTitleIsTheText(t *testing.T) {
	for _, mime := range []string{"", "text/markdown", "text/csv", "application/json", "text/html", "text/x-go"} {
		for _, id := range []string{"7", "a.md", "a.csv", "a.json", "a.go", "https://example.org/a.html"} {
			for _, text := range []string{"", " \n", "\ufeff"} {
				for _, title := range []string{"On growth and form", "  a,b\t", "# package x", "---\ntitle: y\n---", "{", "<p>"} {
					d := ragctx.Document{ExternalID: id, MIME: mime, Title: title, Text: text}
					p, err := docs.Prepare(d, docs.Options{})
					want := strings.TrimSpace(title)
					if err != nil || p.Title != title || p.Text != want || len(p.Chunks) != 1 ||
						p.Chunks[0].Text != want || p.Abstract == "" {
						t.Fatalf("%+v: %+v, %v", d, p, err)
					}
					if docs.ContentHash(d) != p.Hash || docs.ContentHash(p.Document) != p.Hash {
						t.Fatalf("%+v: hashes differ, so that it changes when it comes back", d)
					}
				}
			}
		}
	}
}

func TestValidate(t *testing.T) {
	ok := ragctx.Document{ExternalID: "a", Text: "x"}
	with := func(change func(*ragctx.Document)) ragctx.Document {
		d := ok
		change(&d)
		return d
	}
	for _, tt := range []struct {
		name string
		doc  ragctx.Document
		kind error
	}{
		{"id", with(func(d *ragctx.Document) { d.ExternalID = "" }), ragctx.ErrInvalid},
		{"id", with(func(d *ragctx.Document) { d.ExternalID = strings.Repeat("a", 513) }), ragctx.ErrInvalid},
		{"id", with(func(d *ragctx.Document) { d.ExternalID = "a\x00" }), ragctx.ErrInvalid},
		{"text", with(func(d *ragctx.Document) { d.Text = "" }), ragctx.ErrInvalid},
		{"text", with(func(d *ragctx.Document) { d.Text = "\ufeff \r\n" }), ragctx.ErrInvalid},
		{"text", with(func(d *ragctx.Document) { d.Text, d.Title = "\n", " \t" }), ragctx.ErrInvalid},
		{"text", with(func(d *ragctx.Document) { d.Text = "\xff" }), ragctx.ErrInvalid},
		{"text", with(func(d *ragctx.Document) { d.Text = "a\x00b" }), ragctx.ErrInvalid},
		{"text", with(func(d *ragctx.Document) { d.Text = strings.Repeat("a", 101) }), ragctx.ErrTooLarge},
		{"title", with(func(d *ragctx.Document) { d.Title = strings.Repeat("a", 3000) }), ragctx.ErrInvalid},
		{"source", with(func(d *ragctx.Document) { d.Source = "\xff" }), ragctx.ErrInvalid},
		{"tags", with(func(d *ragctx.Document) { d.Tags = make([]string, 65) }), ragctx.ErrInvalid},
		{"tags", with(func(d *ragctx.Document) { d.Tags = []string{""} }), ragctx.ErrInvalid},
		{"tags", with(func(d *ragctx.Document) { d.Tags = []string{strings.Repeat("a", 513)} }), ragctx.ErrInvalid},
		{"metadata", with(func(d *ragctx.Document) { d.Metadata = map[string]any{"a": math.NaN()} }), ragctx.ErrInvalid},
		{"metadata", with(func(d *ragctx.Document) { d.Metadata = map[string]any{"": 1} }), ragctx.ErrInvalid},
		{"metadata", with(func(d *ragctx.Document) { d.Metadata = map[string]any{"a": strings.Repeat("a", 70000)} }), ragctx.ErrInvalid},
		{"metadata", with(func(d *ragctx.Document) { d.Metadata = map[string]any{"a": "\x00"} }), ragctx.ErrInvalid},
	} {
		_, err := docs.Prepare(tt.doc, docs.Options{MaxBytes: 100})
		var field *ragctx.FieldError
		if !errors.Is(err, tt.kind) || !errors.As(err, &field) || field.Field != tt.name {
			t.Errorf("%s: got error %v, want %v", tt.name, err, tt.kind)
		}
	}
	for _, id := range []string{"a/b:c#d?e@f", "https://example.org/?q=%zz", "日本", strings.Repeat("a", 512), "/", ".", "C:\\x"} {
		if _, err := docs.Prepare(with(func(d *ragctx.Document) { d.ExternalID = id }), docs.Options{}); err != nil {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func TestChunksOfOwnSize(t *testing.T) {
	text := strings.Repeat("Some words make a sentence. ", 300)
	longest := func(o ragctx.ChunkSizes) (n int) {
		p, err := docs.Prepare(ragctx.Document{ExternalID: "a.txt", Text: text, Chunk: o}, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Chunks {
			n = max(n, len(c.Text))
		}
		return n
	}
	byDefault, long := longest(ragctx.ChunkSizes{}), longest(ragctx.ChunkSizes{TargetChars: 1500})
	if byDefault > 400 || long < 1000 || long > 1500 {
		t.Errorf("chunks of at most %d by default, of %d when 1500 are asked for", byDefault, long)
	}
	for _, o := range []ragctx.ChunkSizes{{TargetChars: -1}, {MaxChars: docs.MaxChunkChars + 1}} {
		err := docs.Validate(ragctx.Document{ExternalID: "a", Text: "x", Chunk: o}, docs.Options{})
		if f, ok := errors.AsType[*ragctx.FieldError](err); !ok || !strings.HasPrefix(f.Field, "chunk.") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestContentHash(t *testing.T) {
	base := ragctx.Document{ExternalID: "a", Text: "x", Tags: []string{"a", "b"}, Metadata: map[string]any{"n": 1, "m": "x"}}
	same := base
	same.ExternalID = "other"
	same.Metadata = map[string]any{"m": "x", "n": json.Number("1")}
	if docs.ContentHash(base) != docs.ContentHash(same) {
		t.Error("equal content, other hash")
	}
	for name, change := range map[string]func(*ragctx.Document){
		"text":     func(d *ragctx.Document) { d.Text = "y" },
		"title":    func(d *ragctx.Document) { d.Title = "y" },
		"source":   func(d *ragctx.Document) { d.Source = "y" },
		"mime":     func(d *ragctx.Document) { d.MIME = "text/plain" },
		"tags":     func(d *ragctx.Document) { d.Tags = []string{"ab"} },
		"order":    func(d *ragctx.Document) { d.Tags = []string{"b", "a"} },
		"metadata": func(d *ragctx.Document) { d.Metadata = map[string]any{"n": 2, "m": "x"} },
		"none":     func(d *ragctx.Document) { d.Metadata = nil },
		"occurred": func(d *ragctx.Document) { d.Occurred = time.Unix(1, 0) },
		"chunks":   func(d *ragctx.Document) { d.Chunk.TargetChars = 400 },
		"shifted":  func(d *ragctx.Document) { d.Text, d.Title = "", "x" },
	} {
		d := base
		change(&d)
		if docs.ContentHash(d) == docs.ContentHash(base) {
			t.Errorf("%s does not change the hash", name)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	for name, text := range map[string]string{
		"list":   "---\ntags:\n  - ops\n  - \"a b\"\nweight: 3\n---\ntext\n",
		"inline": "---\r\ntags: [ops, \"a b\"]\r\n---\r\ntext\r\n",
		"toml":   "+++\ntags = [\"ops\", 'a b']\n+++\ntext\n",
	} {
		p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text, Tags: []string{"ops"}}, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"ops", "a b"}, p.Tags); diff != "" {
			t.Errorf("%s: tags differ:\n%s", name, diff)
		}
		if len(p.Chunks) != 1 || p.Chunks[0].Text != "text" {
			t.Errorf("%s: chunks %+v", name, p.Chunks)
		}
	}
	p, err := docs.Prepare(ragctx.Document{
		ExternalID: "a.md",
		Text:       "---\ntitle: T\ndescription: >\n  Folded over\n  two lines.\n---\n",
	}, docs.Options{})
	if err != nil || p.Abstract != "Folded over two lines." || len(p.Chunks) == 0 {
		t.Errorf("got %q, %d chunks, %v", p.Abstract, len(p.Chunks), err)
	}
}

// TestAbstractReadsWell feeds every kind of markup and looks for debris.
func TestAbstractReadsWell(t *testing.T) {
	text := "# Pods\n\n<!-- a comment\n\nover paragraphs -->\n{{< feature-state state=\"beta\" >}}\n\n" +
		"A **Pod** is the _smallest_ unit that you can [deploy](/docs/x) with {{< tip text=\"kubectl\" term_id=\"k\" >}} or the `create()` call[^1]. " +
		"![image](x.png) It's run by snake_case_name &amp; friends.<br/>\n\n| a | b |\n|---|---|\n| c. | d. |\n\n" +
		"The [reference][ref] lists every field of a Pod (e.g. its name).\n\n[ref]: https://example.org\n"
	p, err := docs.Prepare(ragctx.Document{ExternalID: "pods.md", Text: text}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "A Pod is the smallest unit that you can deploy with kubectl or the create() call. " +
		"It's run by snake_case_name & friends. The reference lists every field of a Pod (e.g. its name)."
	if p.Abstract != want {
		t.Errorf("abstract:\n%s\nwant:\n%s", p.Abstract, want)
	}
}

// TestAbstractBegins: with the first sentence, also if that begins with code.
func TestAbstractBegins(t *testing.T) {
	text := "# Budget\n\n`max_tokens` caps the whole rendered answer. The cap always holds for everybody.\n\nit should not begin like this, though.\n"
	p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "max_tokens caps the whole rendered answer. The cap always holds for everybody."; p.Abstract != want {
		t.Errorf("abstract %q, want %q", p.Abstract, want)
	}
}

func TestEmptySectionsShareChunks(t *testing.T) {
	text := "# A\n\n## B\n\n## C\n\n## D\n\n### E\n\ntext\n\n## F\n\n## G\n"
	p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Chunks {
		got = append(got, strings.Join(c.Heading, " > ")+": "+strings.Join(strings.Fields(c.Text), " "))
	}
	want := []string{"A > D > E: # A ## B ## C ## D ### E text", "A: ## F ## G"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chunks differ (-want +got):\n%s", diff)
	}
	p, err = docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: strings.Repeat("# h\n", 100_000)}, docs.Options{})
	if err != nil || len(p.Chunks) > 1100 || len(p.Outline) != docs.MaxSections {
		t.Errorf("%d chunks, %d sections, %v", len(p.Chunks), len(p.Outline), err)
	}
}

func TestTooMuchStructure(t *testing.T) {
	_, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: strings.Repeat("# h\nx\n", docs.MaxChunks+1)}, docs.Options{})
	var field *ragctx.FieldError
	if !errors.Is(err, ragctx.ErrTooLarge) || !errors.As(err, &field) || field.Field != "text" || !strings.Contains(err.Error(), "100000") {
		t.Errorf("too many chunks: %v", err)
	}
	text := strings.Repeat("# a\n## b\n### c\n", 10_000)
	p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text}, docs.Options{})
	if err != nil || len(p.Outline) != 20_000 || p.Outline[1].Title != "b" || p.Outline[2].Title != "a" {
		t.Errorf("outline of %d sections, %v", len(p.Outline), err)
	}
}

// hostile inputs would take minutes if any step were quadratic.
var hostile = map[string]string{
	"emphasis":        strings.Repeat("*a_", 350_000),
	"nested lists":    nested(1400),
	"lists in a line": strings.Repeat("- ", 500_000),
	"quotes":          strings.Repeat("> ", 500_000),
	"quoted lines":    strings.Repeat(strings.Repeat(">", 200)+"a\n", 5000),
	"open brackets":   strings.Repeat("[", 1<<20),
	"links":           strings.Repeat("[a](", 1<<18),
	"open comments":   strings.Repeat("<!-- a ", 150_000),
	"open tags":       strings.Repeat("<a ", 350_000),
	"backticks":       strings.Repeat("`", 1<<20),
	"backtick runs":   strings.Repeat("a ``` b `` ", 100_000),
	"shortcodes":      strings.Repeat("{{< a ", 170_000),
	"references":      strings.Repeat("[a]: b\n", 150_000),
	"headings":        strings.Repeat("# a\n", 1<<18),
	"deeper":          strings.Repeat("# a\n## b\n### c\n", 70_000),
	"underlines":      strings.Repeat("a\n===\n", 170_000),
	"items":           strings.Repeat("- a\n", 1<<18),
	"numbers":         strings.Repeat("1) a\n", 1<<18),
	"table rows":      "|a|\n|-|\n" + strings.Repeat("|a|\n", 1<<18),
	"fences":          strings.Repeat("```\n", 1<<18),
	"header":          "---\n" + strings.Repeat("a: b\n", 200_000),
	"one long line":   strings.Repeat("word ", 200_000),
	"entities":        strings.Repeat("&", 1<<20),
	"rules":           strings.Repeat("***\n", 1<<18),
	"html":            strings.Repeat("<div>\n\n", 150_000),
	"functions":       strings.Repeat("func a() {\n\n\tif b {\n\n\t\tc()\n\n\t}\n}\n", 28_000),
	"indented more":   indented(1400),
	"comments":        strings.Repeat("// a.\n", 170_000),
	"open blocks":     strings.Repeat("/* a\n<!-- b\n", 80_000),
	"tables":          strings.Repeat("<table>\n\n<tr>\n\n", 60_000),
	"listings":        strings.Repeat("----\n.....\n++++++\n", 50_000),
	"blocks":          strings.Repeat("#+begin_src\n:a:\n", 60_000),
	"environments":    strings.Repeat("\\begin{verbatim}\n\\section{a}\n", 30_000),
	"directives":      strings.Repeat(".. class:: a\n\n   .. method:: b\n\n", 30_000),
	"borders":         strings.Repeat("=== ===\na   b\n", 70_000),
	"grid":            strings.Repeat("+---+---+\n| a | b |\n", 50_000),
	"roles":           strings.Repeat(":a:`b ", 170_000),
	"brackets":        strings.Repeat("[", 1<<17) + strings.Repeat("]", 1<<17),
	"objects":         strings.Repeat(`{"a":`, 1<<17),
	"records":         "[" + strings.Repeat(`{"name":"a","b":[1,{"c":2}]},`, 1<<15) + "1]",
	"open quotes":     strings.Repeat("\"a,b\n", 1<<17),
	"keys":            keys(1400),
	"dashes":          strings.Repeat("- ", 1<<18),
	"documents":       strings.Repeat("---\nname: a\n", 80_000),
	"sections":        strings.Repeat("[[a.b]]\n", 120_000),
	"pages":           strings.Repeat("a\n\f", 1<<18),
	"capitals":        strings.Repeat("NAME\n  a b\n\n", 70_000),
	"chapters":        strings.Repeat("1.  A\n\n1.1.  B\n\nc d\n\n", 40_000),
	"parentheses":     "package a\nvar a = " + strings.Repeat("(", 1<<18),
	"pointers":        "package a\nvar a " + strings.Repeat("*", 1<<18),
	"declarations":    "package a\n" + strings.Repeat("type A struct{ a int }\nfunc (a A) B() {}\n", 20_000),
}

func keys(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "- a\n")
	}
	return b.String()
}

func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "class A:\n\n")
	}
	return b.String()
}

// everyFormat has a file name for each parser, and for kinds of source code.
var everyFormat = []string{
	"a.md", "a.txt", "a.rst", "a.adoc", "a.org", "a.tex", "a.csv", "a.json", "a.jsonl", "a.yaml", "a.toml", "a.go",
	"a.py", "a.c", "a.scss", "a.xml",
	"Makefile",
}

func TestHostile(t *testing.T) {
	for name, text := range hostile {
		for _, id := range everyFormat {
			limit := 1 << 15
			if id == "a.md" {
				limit = 1 << 18
			}
			if testing.Short() {
				limit /= 8
			}
			t.Run(name+" "+id, func(t *testing.T) {
				t.Parallel()
				p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: text[:min(len(text), limit)]}, docs.Options{})
				if err != nil {
					t.Fatal(err)
				}
				checkTiles(t, p)
			})
		}
	}
}

// TestPrepareChecked: a caller that has validated and hashed a document gets the same result as
// from Prepare.
func TestPrepareChecked(t *testing.T) {
	d := ragctx.Document{ExternalID: "a.md", Text: "\ufeff# A\n\nalpha", Tags: []string{"x"}, Source: "s"}
	want, err := docs.Prepare(d, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := docs.PrepareChecked(d, docs.ContentHash(d), docs.Options{})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("differs (-want +got):\n%s%v", diff, err)
	}
}

// TestFormat: by MIME type, by the whole name, by extension, by the first line, by
// a look at the text.
func TestFormat(t *testing.T) {
	for _, tt := range []struct{ id, mime, text, want string }{
		{"a.txt", "text/markdown; charset=utf-8", "x", "text/markdown"},
		{"dir/Dockerfile", "", "FROM scratch", "text/x-dockerfile"},
		{"Dockerfile.dev", "", "FROM scratch", "text/x-dockerfile"},
		{"CMakeLists.txt", "", "project(x)", "text/x-cmake"},
		{"https://example.org/a/page.adoc?x=1", "", "= T", "text/asciidoc"},
		{"https://example.org/?x=1", "", "## H", "text/markdown"},
		{"https://example.org", "", "text", "text/plain"},
		{"bin/tool", "", "#!/usr/bin/env -S python3 -u\nx", "text/x-python"},
		{"bin/tool", "", "#!/bin/sh\nx", "application/x-sh"},
		{"bin/tool", "", "#! /opt/unknown\nx", "text/plain"},
		{"README", "", "Hello\n\n# Heading\n", "text/markdown"},
		{"a.R", "", "x", "text/x-r"},
	} {
		p, err := docs.Prepare(ragctx.Document{ExternalID: tt.id, MIME: tt.mime, Text: tt.text}, docs.Options{})
		if got, _, _ := strings.Cut(p.MIME, ";"); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.id, got, err, tt.want)
		}
	}
}

// TestPages: a form feed ends a page, wherever in a line it stands, and what
// begins a page begins a line.
func TestPages(t *testing.T) {
	for _, text := range []string{"one\n\f# Two\nb\n\n\f\n# Three\nc\n", "one\f# Two\nb\f# Three\nc\f"} {
		p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text}, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.Outline {
			got = append(got, s.Title)
		}
		for _, c := range p.Chunks {
			got = append(got, fmt.Sprint(c.Page, c.Text))
		}
		if diff := cmp.Diff([]string{"Two", "Three", "1one", "2# Two\nb", "3# Three\nc"}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, id := range []string{"a.txt", "a.go"} {
		p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: "package a\n\nvar b = 1\n"}, docs.Options{})
		if err != nil || p.Chunks[0].Page != 0 {
			t.Errorf("%s: %+v, %v", id, p.Chunks, err)
		}
	}
}

func TestPrepareIsDeterministic(t *testing.T) {
	for name, text := range hostile {
		d := ragctx.Document{ExternalID: "a.md", Text: text[:5000]}
		a, err := docs.Prepare(d, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := docs.Prepare(d, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: equal input, other result:\n%s", name, diff)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	section := "## Section\n\nThe server keeps two indexes. One holds words, the other holds vectors; both follow the store.\n\n" +
		"- a first item of a list\n- a second one, with a [link](target.md)\n\n```go\nfunc main() {}\n```\n\n"
	d := ragctx.Document{ExternalID: "a.md", Text: strings.Repeat(section, 40)}
	b.SetBytes(int64(len(d.Text)))
	for b.Loop() {
		if _, err := docs.Prepare(d, docs.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
