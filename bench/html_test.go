package bench

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
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write goldens")

// full returns a report with every part, whose texts try to inject markup.
func full() Report {
	sampled := func(l Load, n int) Measurement {
		var runs []run
		for k := range 2 {
			r := run{took: 2 * time.Second, cpu: 300 * time.Millisecond, memory: Memory{Anon: 50 << 20, File: 20 << 20}}
			for i := range n {
				took := time.Duration(2+i%17+i*i%(31+k)) * time.Millisecond
				s := sample{
					at: time.Duration(i) * 2 * time.Second / time.Duration(n), took: took, sent: took / 2, bytes: 1000 + i,
					tokens: 40, items: i % 3, degraded: i == 7,
					stages: []stage{{"keyword", 1 + float64(i%5)}, {"engine", millis(took) * 0.8}, {"http", millis(took) * 0.2}},
				}
				s.cached = l.Repeated && i%4 > 0
				if i == 5 {
					s = sample{at: s.at, err: errors.New("x"), class: `<script>alert("no")</script>`}
				}
				r.samples = append(r.samples, s)
			}
			if l.Rate > 0 {
				r.gen = generator{late: []float64{0.1, 0.2, 3}, waited: 4}
			}
			if l.Ingest.Own > 0 {
				r.own = &written{took: 2 * time.Second, chunks: 600, bytes: 90_000, times: []float64{3, 4, 5}}
			}
			runs = append(runs, r)
		}
		return measured(l, runs)
	}
	return Report{
		Format: Format, Version: Version, Repeat: 2, Seconds: 2, Warmup: 50, Control: []float64{5.1, 5.2},
		Setup: Setup{
			Server: "http://127.0.0.1:1", InProcess: true, Namespace: `<b>"n"&'s'`, Corpus: "your own", Documents: 2,
			Chunks: 9, Queries: "from q.txt",
			Distinct: 3, MaxTokens: 4000, MaxResults: 10, Tokenizer: "o200k_base", Machine: "</style><script>",
			Cores: 2, Program: "v1", Time: "2026-05-08T14:00:00Z",
		},
		Loads: []Measurement{
			sampled(Load{Clients: 1}, 600), sampled(Load{Clients: 1, Ingest: Ingest{Own: 5}}, 90),
			sampled(Load{Clients: 2}, 200), sampled(Load{Clients: 256, Rate: 50}, 100),
			sampled(Load{Clients: 1, Repeated: true}, 40),
		},
		Ingest: writtenOf(0, &written{took: time.Second, chunks: 4000, bytes: 600_000, times: []float64{1, 2}}),
		Sizes:  &Sizes{Database: 5 << 20, Keyword: 3 << 20, Vector: 1 << 20, Other: 1 << 10},
		Recall: &Recall{Value: 0.99, Low: 0.98, High: 1, Samples: 300, P50MS: 0.2, ExactP50MS: 1},
	}
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
		t.Errorf("%s has changed; run go test ./bench -update if that is meant (-want +got):\n%s", path, d)
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, full()); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.String())
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
	if err := WriteHTML(&b, full(), &c); err != nil {
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
