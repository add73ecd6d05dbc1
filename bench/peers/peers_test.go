package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const page = `# Pumps

The pressure valve of the second pump opens at nine bars. Nobody may open it by hand while the engine runs!

# Birds

Swallows leave for the south when the evenings of September get cold. They come back in April.
`

// export writes a dataset of a few pages and returns it.
func export(t *testing.T) dataset {
	t.Helper()
	from, out := filepath.Join(t.TempDir(), "pages"), t.TempDir()
	if err := os.Mkdir(from, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a.md", "b.md", "c.md"} {
		text := strings.Replace(page, "nine", []string{"nine", "twelve", "thirty"}[i], 1)
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := exportCorpus(t.Context(), out, []string{from}, 5, 4); err != nil {
		t.Fatal(err)
	}
	return dataset(out)
}

func TestExportIsTheSameEveryTime(t *testing.T) {
	a, b := export(t), export(t)
	for _, name := range []string{"queries.jsonl", "queries.f32", "chunks.f32", "info.json"} {
		x, err := os.ReadFile(a.path(name))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(b.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if len(x) == 0 || !bytes.Equal(x, y) {
			t.Errorf("%s: %d bytes, then %d others", name, len(x), len(y))
		}
	}
}

func TestSentences(t *testing.T) {
	got := slices.Collect(sentencesOf(page + "\n\nToo short, this.\n\nx := f(a[1], b[2]) + c[3] - 4 * 5.\n\nIt " +
		"wraps over\na line and is one sentence."))
	want := []string{
		"The pressure valve of the second pump opens at nine bars.",
		"Nobody may open it by hand while the engine runs!",
		"Swallows leave for the south when the evenings of September get cold.",
		"They come back in April.",
		"It wraps over a line and is one sentence.",
	}
	want = slices.Delete(want, 3, 4) // five words
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestServe fills each Go system, opens it again and queries it in all of its modes.
func TestServe(t *testing.T) {
	set := export(t)
	var asked question
	err := set.chunks(100, func(_ int, cs []chunkLine, vs [][]float32) error {
		i := slices.IndexFunc(cs, func(c chunkLine) bool { return strings.Contains(c.Text, "twelve") })
		asked = question{Text: "valve opens at twelve bars", Vector: vs[i]}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ragctx", "bleve", "chromem-go"} {
		t.Run(name, func(t *testing.T) {
			store := t.TempDir()
			about := talk(t, name, command{Do: "setup"}, command{Do: "open", Store: store},
				command{Do: "ingest", Set: string(set)})[0]
			for _, mode := range about.Modes {
				q := asked
				q.Mode = mode
				found := talk(t, name, command{Do: "open", Store: store}, command{Do: "search", K: 2, question: q})[1]
				if len(found.Hits) != 2 || found.Wall <= 0 || found.CPU <= 0 {
					t.Fatalf("%s: %+v", mode, found)
				}
				if got := textOf(t, set, found.Hits[0]); !strings.Contains(got, "twelve") {
					t.Errorf("%s: the best of %v is %q", mode, found.Hits, got)
				}
			}
		})
	}
}

// talk serves a system one sequence of commands.
func talk(t *testing.T, name string, commands ...command) []reply {
	t.Helper()
	p, err := newPeer(name)
	if err != nil {
		t.Fatal(err)
	}
	var in, out bytes.Buffer
	for _, c := range commands {
		if err := json.NewEncoder(&in).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := serve(t.Context(), p, &in, &out); err != nil {
		t.Fatal(err)
	}
	var replies []reply
	for d := json.NewDecoder(&out); ; {
		var r reply
		if err := d.Decode(&r); err == io.EOF {
			return replies
		} else if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
}

// textOf returns the text of a hit, which is a number or [document, ordinal].
func textOf(t *testing.T, set dataset, hit any) (text string) {
	t.Helper()
	number := 0.0
	err := lines(set.path("chunks.jsonl"), func(c chunkLine) error {
		place, named := hit.([]any)
		if named && c.Doc == place[0] && float64(c.Ordinal) == place[1] || !named && number == hit {
			text = c.Text
		}
		number++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
