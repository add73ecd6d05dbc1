package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
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
	data, err := json.MarshalIndent(full(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", string(data)) // bench/lab draws it
}
