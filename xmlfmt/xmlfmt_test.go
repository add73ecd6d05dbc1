package xmlfmt_test

import (
	stdcmp "cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/xmlfmt"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestGoldens renders the items of each file in every format. An item is a line
// of type, source and content, the last two quoted as in Go; when it occurred may
// follow the type after @, and what holds since then the content, or its metadata as an
// object, with its id.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			items := parseItems(t, string(ar.Files[0].Data))
			got := &txtar.Archive{Comment: ar.Comment, Files: ar.Files[:1:1]}
			for _, format := range xmlfmt.Names() {
				out := renderer(t, format).Render(items)
				got.Files = append(got.Files, txtar.File{Name: format, Data: []byte(out + "\n")})
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(ar)), string(txtar.Format(got))); diff != "" {
				t.Errorf("output differs from %s (-update rewrites it):\n%s", name, diff)
			}
		})
	}
}

func parseItems(t *testing.T, data string) []ragctx.ContextItem {
	t.Helper()
	var items []ragctx.ContextItem
	for line := range strings.Lines(data) {
		typ, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		source, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		typ, when, _ := strings.Cut(typ, "@")
		it := ragctx.ContextItem{Type: ragctx.ContextType(typ)}
		if when != "" {
			if it.Occurred, err = time.Parse(time.RFC3339, when); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		rest = strings.TrimSpace(rest[len(source):])
		content, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if it.Content, err = strconv.Unquote(content); err != nil {
			t.Fatal(err)
		}
		if more := strings.TrimSpace(rest[len(content):]); strings.HasPrefix(more, "{") {
			if err := json.Unmarshal([]byte(more), &it.Metadata); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			it.ID, _ = it.Metadata["id"].(string)
		} else if since := more; since != "" {
			if it.Since, err = strconv.Unquote(since); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		if it.Source, err = strconv.Unquote(source); err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

func renderer(t testing.TB, format string) ragctx.Renderer {
	t.Helper()
	r, err := xmlfmt.New(format)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNew(t *testing.T) {
	for _, name := range append(xmlfmt.Names(), "") {
		r := renderer(t, name)
		if want := stdcmp.Or(name, "xml"); r.Name() != want {
			t.Errorf("New(%q).Name() = %q, want %q", name, r.Name(), want)
		}
		if got := r.Render(nil); got != "" {
			t.Errorf("%s: no items render to %q", name, got)
		}
	}
	_, err := xmlfmt.New("yaml")
	if !errors.Is(err, ragctx.ErrInvalid) {
		t.Fatalf("New(yaml) = %v, want an invalid input", err)
	}
	if got, want := err.Error(), `format: "yaml" is not a format; use xml, documents, json, text`; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
}

// Source before type; texts leave quotes alone, attributes do not.
func TestItem(t *testing.T) {
	for _, tt := range []struct {
		item ragctx.ContextItem
		want string
	}{
		{ragctx.ContextItem{Type: ragctx.TypeResource, Content: "x"}, "<context type=\"Resource\">\nx\n</context>"},
		{ragctx.ContextItem{Type: ragctx.TypeMemory, Source: "memory", Content: "x"}, "<context source=\"memory\" type=\"Memory\">\nx\n</context>"},
		{ragctx.ContextItem{Type: ragctx.TypeSkill, Source: `<&>"'`, Content: `<&>"'`}, "<context source=\"&lt;&amp;&gt;&quot;&apos;\" type=\"Skill\">\n&lt;&amp;&gt;\"'\n</context>"},
	} {
		if got := xmlfmt.Item(tt.item); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

// TestUncited: without citations items are written as if they had none, in every format.
func TestUncited(t *testing.T) {
	cited := []ragctx.ContextItem{
		{ID: "a@1#0", Type: ragctx.TypeResource, Source: "file:a", Content: "x", Metadata: map[string]any{"title": "A", "page": 2, "lines": "3-4"}},
		{ID: "b", Type: ragctx.TypeMemory, Content: "y"},
	}
	bare := []ragctx.ContextItem{{Type: ragctx.TypeResource, Source: "file:a", Content: "x"}, {Type: ragctx.TypeMemory, Content: "y"}}
	for _, format := range xmlfmt.Names() {
		r := renderer(t, format)
		u := xmlfmt.Uncited(r)
		if got, want := u.Render(cited), r.Render(bare); got != want || u.Name() != format {
			t.Errorf("%s: %q, want %q", u.Name(), got, want)
		}
		if cited[0].ID == "" || cited[0].Cut {
			t.Error("the caller's items are changed")
		}
	}
}

func TestJSONIsAnArrayOfObjects(t *testing.T) {
	items := []ragctx.ContextItem{{Type: ragctx.TypeMemory, Content: "a <b> & c\x00"}, {Source: "s", Content: "x"}}
	got := renderer(t, "json").Render(items)
	if want := `[{"type":"Memory","content":"a <b> & c` + "\ufffd" + `"},{"source":"s","type":"Resource","content":"x"}]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not valid JSON")
	}
}

func BenchmarkRender(b *testing.B) {
	var items []ragctx.ContextItem
	for i := range 10 {
		items = append(items, ragctx.ContextItem{
			Source: fmt.Sprintf("file:docs/%d.md", i), Content: strings.Repeat("if a < b && c > d { return } ", 70),
		})
	}
	for _, format := range xmlfmt.Names() {
		r := renderer(b, format)
		b.Run(format, func(b *testing.B) {
			b.SetBytes(int64(len(r.Render(items))))
			for b.Loop() {
				r.Render(items)
			}
		})
	}
}
