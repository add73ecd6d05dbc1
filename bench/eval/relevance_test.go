package eval_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const (
	relevanceDir = "../../testdata/relevance"
	// searchDepth is the largest rank at which a hit counts.
	searchDepth = 50
)

// expectation is one line of questions.txt.
type expectation struct{ kind, question, doc, phrase string }

func (x expectation) dialogue() bool { return strings.HasPrefix(x.doc, "dialogue/") }

// shelf holds the ingested documents and their texts.
type shelf struct {
	eng   *engine.Engine
	texts map[string]string // of documents and of single turns
}

// TestRelevance asks the questions and compares the ranks of the answers with results.txt. After a
// change of ranking, run it with -update and review the difference: the summary at the end must not
// get worse.
func TestRelevance(t *testing.T) {
	s := fill(t)
	var got strings.Builder
	kinds := make(map[string][]int)
	var order []string
	for _, x := range expectations(t) {
		rank := s.rank(t, x)
		if kinds[x.kind] == nil {
			order = append(order, x.kind)
		}
		kinds[x.kind] = append(kinds[x.kind], rank)
		kinds[overall] = append(kinds[overall], rank)
		fmt.Fprintf(&got, "%-10s  %4s  %s\n", x.kind, place(rank), x.question)
	}
	fmt.Fprintf(&got, "\n%-10s  %3s  recall@1  recall@5    MRR\n", "", "n")
	for _, k := range append(order, overall) {
		r1, r5, mrr := summary(kinds[k])
		fmt.Fprintf(&got, "%-10s  %3d  %8.3f  %8.3f  %.3f\n", k, len(kinds[k]), r1, r5, mrr)
	}
	golden := filepath.Join(relevanceDir, "results.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if want := string(b); want != got.String() {
		t.Errorf("%s; if it is meant, run this test with -update and review results.txt (-want +got):\n%s",
			verdict(want, got.String()), cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")))
	}
}

const overall = "all"

// verdict reports whether the ranking improved or got worse overall.
func verdict(want, got string) string {
	var a, b [3]float64
	read := func(text string, into *[3]float64) bool {
		i := strings.LastIndex(text, "\n"+overall+" ")
		if i < 0 {
			return false
		}
		var n int
		_, err := fmt.Sscanf(text[i+1+len(overall):], "%d %f %f %f", &n, &into[0], &into[1], &into[2])
		return err == nil
	}
	if !read(want, &a) || !read(got, &b) {
		return "the ranking changed"
	}
	what := "the ranking changed without loss over all"
	for i := range a {
		if b[i] < a[i] {
			what = "LOSS: the ranking got worse"
		}
	}
	return fmt.Sprintf("%s: recall@1 %.3f to %.3f, recall@5 %.3f to %.3f, MRR %.3f to %.3f", what, a[0], b[0],
		a[1], b[1], a[2], b[2])
}

func TestVerdict(t *testing.T) {
	const before = "x\nall  3  0.500  0.900  0.700\n"
	for after, want := range map[string]string{
		"x\nall  3  0.600  0.900  0.700\n": "without loss",
		"x\nall  3  0.600  0.800  0.700\n": "LOSS",
		"nothing":                          "the ranking changed",
	} {
		if got := verdict(before, after); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %q", after, got, want)
		}
	}
}

func place(rank int) string {
	if rank == 0 {
		return "-"
	}
	return fmt.Sprint(rank)
}

func summary(ranks []int) (r1, r5, mrr float64) {
	for _, r := range ranks {
		if r == 0 {
			continue
		}
		mrr += 1 / float64(r)
		if r == 1 {
			r1++
		}
		if r <= 5 {
			r5++
		}
	}
	n := float64(len(ranks))
	return r1 / n, r5 / n, mrr / n
}

// fill ingests the documents, in order, and the dialogues turn by turn.
func fill(t *testing.T) shelf {
	t.Helper()
	now := func() time.Time { return time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC) }
	eng, err := engine.Open(t.Context(), engine.Options{
		Dir: t.TempDir(), Now: now,
		FactExtraction: engine.FactExtraction{Off: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	s := shelf{eng: eng, texts: make(map[string]string)}
	root := os.DirFS(filepath.Join(relevanceDir, "docs"))
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, "dialogue/") {
			return s.dialogue(t.Context(), name, string(b))
		}
		s.texts[name] = string(b)
		_, err = eng.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: name, Text: string(b)}, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s shelf) dialogue(ctx context.Context, name, text string) error {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		at, rest, _ := strings.Cut(line, " ")
		speaker, said, _ := strings.Cut(rest, ": ")
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return err
		}
		m := ragctx.TextMessage(ragctx.RoleUser, said)
		m.Name = speaker
		id := fmt.Sprintf("%s#%d", name, i+1)
		s.texts[id] = said
		if _, err := s.eng.CompleteTurn(ctx, ragctx.Turn{
			ID: id, SessionID: name, Messages: []ragctx.Message{m}, Occurred: when,
		}); err != nil {
			return err
		}
	}
	return nil
}

// expectations reads questions.txt.
func expectations(t *testing.T) []expectation {
	t.Helper()
	f, err := os.Open(filepath.Join(relevanceDir, "questions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []expectation
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if line := sc.Text(); line != "" && !strings.HasPrefix(line, "#") {
			p := strings.Split(line, " | ")
			if len(p) != 4 {
				t.Fatalf("questions.txt: %q has %d parts, not 4", line, len(p))
			}
			out = append(out, expectation{p[0], p[1], p[2], p[3]})
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// rank returns the place, from 1, of the first hit that contains the expected phrase, or 0.
func (s shelf) rank(t *testing.T, x expectation) int {
	t.Helper()
	return s.rankOf(t, x, nil)
}

// rankOf is rank for a question after a conversation.
func (s shelf) rankOf(t *testing.T, x expectation, talk []ragctx.Message) int {
	t.Helper()
	kind := store.KindDocuments
	if x.dialogue() {
		kind = store.KindMemories
		if !s.said(x) {
			t.Fatalf("questions.txt: nobody says %q in %s", x.phrase, x.doc)
		}
	} else if !strings.Contains(s.texts[x.doc], x.phrase) {
		t.Fatalf("questions.txt: %s does not say %q", x.doc, x.phrase)
	}
	q := ragctx.NewQuery(x.question)
	q.Messages = talk
	hits, degraded, err := s.eng.Indexes().Hits(t.Context(), q, engine.HitsOptions{
		Kind: kind, K: searchDepth,
	})
	if err != nil || len(degraded) > 0 {
		t.Fatal(err, degraded)
	}
	return 1 + slices.IndexFunc(hits, func(h engine.Hit) bool {
		if x.dialogue() {
			return strings.HasPrefix(h.Key, x.doc+"#") && strings.Contains(s.texts[h.Key], x.phrase)
		}
		return h.Key == x.doc && holds(s.texts[h.Key], h.Start.Byte, h.End.Byte, x.phrase)
	})
}

// said reports whether a turn of the dialogue contains the expected phrase.
func (s shelf) said(x expectation) bool {
	for id, text := range s.texts {
		if strings.HasPrefix(id, x.doc+"#") && strings.Contains(text, x.phrase) {
			return true
		}
	}
	return false
}

// holds reports whether a phrase begins within text[start:end].
func holds(text string, start, end int, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		if at := from + i; at >= start && at < end {
			return true
		}
		from += i + len(phrase)
	}
}
