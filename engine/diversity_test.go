package engine_test

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// topic is a query with the subtopics of its answer. Each subtopic is a list of phrases, one of which
// occurs in a passage that covers it.
type topic struct {
	question  string
	subtopics [][]string
}

// diversitySet puts the documents of the set into f and returns its questions.
func diversitySet(t *testing.T, f *fixture) (topics []topic) {
	t.Helper()
	ar, err := txtar.ParseFile(filepath.Join("..", "testdata", "diversity", "set.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var boilerplate string
	for _, file := range ar.Files {
		text := string(file.Data)
		switch dir, name, _ := strings.Cut(file.Name, "/"); dir {
		case "boilerplate.md":
			boilerplate = text
		case "pages":
			for _, version := range []string{"2.0", "2.1", "2.2", "2.3"} {
				f.put(version+"/"+name, edition(text+boilerplate, version))
			}
		case "other":
			f.put(name, text)
		case "questions.txt":
			topics = readTopics(text)
		default:
			t.Fatalf("%s has no place in the set", file.Name)
		}
	}
	return topics
}

// edition returns a page as it was in a version.
func edition(page, version string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if since, rest, ok := strings.Cut(line, " "); ok && len(since) == 3 && since[1] == '.' {
			if since > version {
				continue
			}
			line = rest
		}
		b.WriteString(strings.ReplaceAll(line, "{version}", version))
	}
	return b.String()
}

func readTopics(text string) (topics []topic) {
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "?":
			topics = append(topics, topic{question: rest})
		case "-":
			last := &topics[len(topics)-1]
			last.subtopics = append(last.subtopics, strings.Split(rest, " | "))
		}
	}
	return topics
}

// covers returns which subtopics a text covers.
func (t topic) covers(text string) []bool {
	text = strings.ToLower(text)
	out := make([]bool, len(t.subtopics))
	for i, phrases := range t.subtopics {
		out[i] = slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
	}
	return out
}

// measure returns the share of subtopics that the items cover, and the alpha-nDCG of the first five
// (Clarke and others 2008) with alpha .5: each repetition of a subtopic is worth half as much. The
// ideal is the best order of the whole collection, chosen greedily.
func (t topic) measure(shown, all []string) (recall, ndcg float64) {
	seen := make([]int, len(t.subtopics))
	gain := func(text string, count []int) (g float64) {
		for i, c := range t.covers(text) {
			if c {
				g += math.Pow(.5, float64(count[i]))
			}
		}
		return g
	}
	note := func(text string, count []int) {
		for i, c := range t.covers(text) {
			if c {
				count[i]++
			}
		}
	}
	var dcg, ideal float64
	for i, text := range shown {
		if i < 5 {
			dcg += gain(text, seen) / math.Log2(float64(i+2))
		}
		note(text, seen)
	}
	for _, n := range seen {
		recall += min(float64(n), 1) / float64(len(seen))
	}
	best := make([]int, len(t.subtopics))
	rest := slices.Clone(all)
	for i := range 5 {
		pick := slices.MaxFunc(rest, func(a, b string) int { return cmp.Compare(gain(a, best), gain(b, best)) })
		ideal += gain(pick, best) / math.Log2(float64(i+2))
		note(pick, best)
		rest = slices.DeleteFunc(rest, func(s string) bool { return s == pick })
	}
	if ideal > 0 {
		ndcg = dcg / ideal
	}
	return recall, ndcg
}

// TestDiversityCoversMore measures the set with and without diversity, at a
// budget that holds a few of its passages.
func TestDiversityCoversMore(t *testing.T) {
	f := open(t)
	topics := diversitySet(t, f)
	all := everything(t, f)
	recalls := make(map[float64]float64)
	for _, budget := range []int{300, 500} {
		for _, d := range []float64{0, .1, .3, .5, .7} {
			var several, single, ndcg float64
			var manySub int
			for _, tp := range topics {
				q := query(tp.question).WithMaxTokens(budget)
				q.Diversity = d
				var shown []string
				for _, it := range f.ask(q).Items {
					shown = append(shown, it.Content)
				}
				r, n := tp.measure(shown, all)
				if len(tp.subtopics) > 1 {
					several += r
					ndcg += n
					manySub++
				} else {
					single += r
				}
			}
			several /= float64(manySub)
			t.Logf("%d tokens, diversity %.1f: subtopics %.3f, alpha-nDCG@5 %.3f; of %d questions with one answer %.0f are answered",
				budget, d, several, ndcg/float64(manySub), len(topics)-manySub, single)
			if budget == 300 {
				recalls[d] = several
			}
		}
	}
	if recalls[.3] < recalls[0]+.05 {
		t.Errorf("diversity .3 covers %.3f of the subtopics, %.3f without", recalls[.3], recalls[0])
	}
}

// everything returns the texts of all documents.
func everything(t *testing.T, f *fixture) (texts []string) {
	t.Helper()
	list, err := f.Documents().List(t.Context(), "", store.ListOptions{Limit: engine.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		_, text, err := f.Documents().Get(t.Context(), "", d.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}
