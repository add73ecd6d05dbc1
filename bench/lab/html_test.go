package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/bench"
)

var update = flag.Bool("update", false, "write goldens")

// full returns a report with every part, whose texts try to inject markup.
func full(t *testing.T) bench.Report {
	t.Helper()
	r, err := readReport("../testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// golden compares text with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s has changed; run go test -update if that is meant (-want +got):\n%s", path, d)
	}
}

func TestComparisonTable(t *testing.T) {
	c := compared(t, made(1, 2, 5, 10, 0.01), made(2, 2, 5, 11, 0.01))
	var b bytes.Buffer
	if err := WriteComparison(&b, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.txt", b.String())
}

func pageOf(t *testing.T) string {
	t.Helper()
	c, err := Compare(made(1, 2, 5, 10, 0.01), made(2, 2, 5, 11, 0.01), false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteHTML(&b, full(t), &c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLStructure checks the elements of the page, not its appearance.
func TestHTMLStructure(t *testing.T) {
	text := pageOf(t)
	var out strings.Builder
	for _, m := range regexp.MustCompile(`(?s)<(h[1-3]|dt|th|li|figcaption)[ >].*?</(h[1-3]|dt|th|li|`+
		`figcaption)>|<svg .*?</svg>`).FindAllString(text, -1) {
		if strings.HasPrefix(m, "<svg") {
			fmt.Fprintf(&out, "svg: %s\n", elements(t, m))
			continue
		}
		tag, _, _ := strings.Cut(m[1:], ">")
		tag, _, _ = strings.Cut(tag, " ")
		fmt.Fprintf(&out, "%s: %s\n", tag, regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m, ""))
	}
	golden(t, "structure.txt", out.String())
}

// elements counts the elements of an SVG, which must be well-formed.
func elements(t *testing.T, svg string) string {
	counts := make(map[string]int)
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, svg)
		}
		if e, ok := tok.(xml.StartElement); ok {
			counts[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	return fmt.Sprint(counts)
}

// TestHTMLIsAlone: the page needs no other file, and escapes every text.
func TestHTMLIsAlone(t *testing.T) {
	text := pageOf(t)
	for _, bad := range []string{"<script", "</style><", "src=", "href=", "url(", "@import", "<b>", "<link", "<img"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, good := range []string{"&lt;script&gt;", "&lt;b&gt;", "&lt;/style&gt;", "prefers-color-scheme: dark"} {
		if !strings.Contains(text, good) {
			t.Errorf("the page lacks %s", good)
		}
	}
}

// TestScale: every scale has some ticks inside it, but not many.
func TestScale(t *testing.T) {
	for _, values := range [][]float64{{0}, {1}, {0.001, 0.002}, {3, 5, 9}, {0.5, 700}, {1e-6, 1e6}, {99, 100}, nil} {
		s := scaleOf(values, 100)
		ticks := s.ticks()
		if len(ticks) < 2 || len(ticks) > 13 {
			t.Errorf("%v: ticks %v", values, ticks)
		}
		for _, v := range ticks {
			if at := s.at(v); at < 0 || at > 100.001 {
				t.Errorf("%v: tick %v is at %v", values, v, at)
			}
		}
		for _, v := range values {
			if at := s.at(v); at < 0 || at > 100 {
				t.Errorf("%v: %v is at %v", values, v, at)
			}
		}
	}
}
