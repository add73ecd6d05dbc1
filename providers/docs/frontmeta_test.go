package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

func TestFrontMatterIsMetadata(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]any
	}{
		{
			"YAML", "---\nteam: payments # since May\nweight: 3\ndraft: false\nversion: \"1.10\"\ndate: 2026-01-02\nOwner: Ada Lovelace\n---\nx",
			map[string]any{"team": "payments", "weight": "3", "draft": "false", "version": "1.10", "date": "2026-01-02", "Owner": "Ada Lovelace"},
		},
		{"not scalars", "---\nteam:\n  name: payments\nlist: [a, b]\nmap: {a: b}\nref: *x\nnone: ~\nempty:\nnull_: null\ntext: |\n  line\n---\nx", nil},
		{"fields of their own, and of answers", "---\ntitle: T\ntags: [a]\nPage: 7\nlines: 1-2\ndocument: other.md\na3s.context.provenance: p\n---\nx", nil},
		{
			"comments and quotes", "---\na: \"x\" # y\nb: # todo\nc: null # none\nd: 'it''s'\ne: \"say \\\"hi\\\"\"\nf: \"x\" y\ng: \"open\nh: C# # y\n---\nx",
			map[string]any{"a": "x", "d": "it's", "e": `say "hi"`, "h": "C#"},
		},
		{"a long text of TOML", "+++\nteam = 'a' # b\nnote = \"\"\"\nkey = value\n\"\"\"\n+++\nx", map[string]any{"team": "a"}},
		{"TOML", "+++\nteam = \"payments\"\nweight = 3\n[params]\nsecret = \"x\"\n+++\nx", map[string]any{"team": "payments", "weight": "3"}},
		{
			"JSON", `{"Team": "payments", "weight": 1e2, "draft": true, "list": ["a"], "none": null}` + "\n\nx",
			map[string]any{"Team": "payments", "weight": "1e2", "draft": "true"},
		},
		{"no front matter", "Prose.\n\nteam: payments\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: tt.text}, docs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, p.Metadata); d != "" {
				t.Errorf("metadata (-want +got):\n%s", d)
			}
		})
	}
	given := map[string]any{"team": "hr"}
	p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: "---\nteam: payments\nowner: Ada\n---\nx", Metadata: given}, docs.Options{})
	if d := cmp.Diff(map[string]any{"team": "hr", "owner": "Ada"}, p.Metadata); err != nil || d != "" || len(given) != 1 {
		t.Errorf("metadata that the caller sets is not kept (%v):\n%s", err, d)
	}
}

// Whatever front matter a file has, its metadata stays small, and can be stored.
func TestFrontMatterIsBounded(t *testing.T) {
	key := rapid.OneOf(rapid.SampledFrom([]string{"page", "Title", "document", "k" + strings.Repeat("e", 100)}), rapid.String())
	value := rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("v", 1000)), rapid.Just("\x00\x1b[2J"), rapid.Just("\xff"))
	rapid.Check(t, func(rt *rapid.T) {
		fence := rapid.SampledFrom([][2]string{{"---", ":"}, {"+++", " ="}}).Draw(rt, "fence")
		var b strings.Builder
		for i := range rapid.IntRange(0, 100).Draw(rt, "lines") {
			fmt.Fprintf(&b, "%s%s %s\n", rapid.OneOf(key, rapid.Just(fmt.Sprint("key", i))).Draw(rt, "key"), fence[1], value.Draw(rt, "value"))
		}
		text := strings.ToValidUTF8(strings.ReplaceAll(fence[0]+"\n"+b.String()+fence[0]+"\nText.", "\x00", ""), "?")
		p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text}, docs.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		if err := ragctx.ValidMetadata("metadata", p.Metadata, 32<<10); err != nil || len(p.Metadata) > 32 {
			rt.Errorf("%d keys: %v", len(p.Metadata), err)
		}
		for _, reserved := range []string{"page", "Title", "document"} {
			if _, ok := p.Metadata[reserved]; ok {
				rt.Errorf("it has the reserved key %s", reserved)
			}
		}
	})
	given := map[string]any{"large": strings.Repeat("x", docs.MaxMetadataBytes-100)}
	text := "---\n" + strings.Repeat("a: b\n", 10) + "note: " + strings.Repeat("y", 200) + "\n---\nText."
	p, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: text, Metadata: given}, docs.Options{})
	if err != nil || len(p.Metadata) != 1 {
		t.Errorf("%d keys beside metadata at its limit: %v", len(p.Metadata), err)
	}
}
