package docs_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// list extracts a file that lists its texts: each line is a path, a colon and the
// text, which is an error if it begins with "!"; a title and a bar may stand before it.
func list(_ context.Context, f extract.File, o extract.Options) iter.Seq2[extract.Text, error] {
	return func(yield func(extract.Text, error) bool) {
		for line := range strings.Lines(string(f.Data)) {
			name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			if name != "" && o.Take != nil && !o.Take(name) {
				continue
			}
			title, text, titled := strings.Cut(text, "|")
			if !titled {
				title, text = "", title
			}
			t, err := extract.Text{Path: name, Text: text, Title: title}, error(nil)
			if why, bad := strings.CutPrefix(text, "!"); bad {
				t, err = extract.Text{}, &extract.Error{Path: name, Reason: why}
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

func TestReadSeveral(t *testing.T) {
	dir := tree(t, map[string]string{"all.md": ":body\na/b.md:one\na/c.md:!is damaged\n:!the rest is missing\n/x.md:out\n" +
		"d.md:  \nt.md:Title| \nu.md: | \ne.png:no\n.h/f.md:no\nnode_modules/g.md:no\n"})
	var got []string
	for f, err := range docs.Walk(t.Context(), []string{dir}, docs.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range f.Read(t.Context(), list) {
			if s, ok := errors.AsType[*docs.Skip](err); ok {
				rel, _ := filepath.Rel(dir, s.Path)
				got = append(got, filepath.ToSlash(rel)+" "+s.Inside+" skip "+s.Reason)
				continue
			}
			got = append(got, d.ExternalID+" "+d.Source+" "+d.MIME+" "+d.Text)
		}
	}
	want := []string{
		"all.md file:all.md text/markdown body", "all.md/a/b.md file:all.md/a/b.md text/markdown one",
		"all.md/a/c.md a/c.md skip is damaged", "all.md  skip the rest is missing", "all.md/x.md /x.md skip has an invalid path; rename it",
		"all.md/d.md d.md skip has no text", "all.md/t.md file:all.md/t.md text/markdown  ", "all.md/u.md u.md skip has no text",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents differ (-want +got):\n%s", diff)
	}
}

func TestReadEnds(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "x"})
	ended := func(context.Context, extract.File, extract.Options) iter.Seq2[extract.Text, error] {
		return func(yield func(extract.Text, error) bool) { yield(extract.Text{}, context.Canceled) }
	}
	for f, err := range docs.Walk(t.Context(), []string{dir}, docs.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range f.Read(t.Context(), ended) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	}
}

func TestFromText(t *testing.T) {
	mail := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name string
		id   string
		in   extract.Text
		want ragctx.Document
	}{
		{"text", "a.py", extract.Text{Text: "x"}, ragctx.Document{MIME: "text/x-python", Text: "x"}},
		{
			"converted", "a.pdf",
			extract.Text{
				Text: "x", MIME: "text/markdown", Format: "made/up", Title: "T", Occurred: mail,
				Metadata: map[string]any{"pages": 3},
			},
			ragctx.Document{
				MIME: "text/markdown", Text: "x", Title: "T", Occurred: mail,
				Metadata: map[string]any{"pages": 3, "format": "made/up"},
			},
		},
		{
			"what cannot be stored", "a.pdf",
			extract.Text{
				Text: "x", MIME: "text/plain", Title: strings.Repeat("t", 9999),
				Occurred: mail.AddDate(9000, 0, 0), Metadata: map[string]any{"": 1},
			},
			ragctx.Document{MIME: "text/plain", Text: "x", Title: strings.Repeat("t", 199) + "…"},
		},
	} {
		tt.want.ExternalID, tt.want.Source = tt.id, "file:"+tt.id
		d := docs.FromText(tt.id, tt.in)
		if diff := cmp.Diff(tt.want, d); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", tt.name, diff)
		}
		if err := docs.Validate(d, docs.Options{}); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestAccepts: the files inside a file that the rules accept.
func TestAccepts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      docs.WalkOptions
		inside string
		want   bool
	}{
		{"the file itself", docs.WalkOptions{}, "", true},
		{"a known type", docs.WalkOptions{}, "a/b.MD", true},
		{"another type", docs.WalkOptions{}, "a/b.exe", false},
		{"hidden", docs.WalkOptions{}, ".a/b.md", false},
		{"hidden files, too", docs.WalkOptions{Hidden: true}, ".a/b.md", true},
		{"a folder that tools make", docs.WalkOptions{}, "a/node_modules/b.md", false},
		{"included by name", docs.WalkOptions{Include: []string{"*.md", "*.log"}}, "a/b.log", true},
		{"included by path", docs.WalkOptions{Include: []string{"*.md", "in.md/a/*.log"}}, "a/b.log", true},
		{"not included", docs.WalkOptions{Include: []string{"*.log", "in.md"}}, "a/b.txt", false},
		{"excluded", docs.WalkOptions{Exclude: []string{"b.*"}}, "a/b.md", false},
	} {
		dir := tree(t, map[string]string{"in.md": "x"})
		for f, err := range docs.Walk(t.Context(), []string{filepath.Join(dir, "in.md")}, tt.o) {
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Accepts(tt.inside); got != tt.want {
				t.Errorf("%s: %v", tt.name, got)
			}
		}
	}
}
