package engine_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const followUpDir = "../testdata/followup"

// dialogue is a conversation that ends in a question, and where its answer stands.
type dialogue struct {
	id       string
	messages []ragctx.Message
	ask      string
	also     []string
	want     []string
}

func (d *dialogue) kind() store.Kind {
	if strings.Contains(d.want[0], "#") {
		return store.KindDocuments
	}
	return store.KindMemories
}

// kept reports whether d is of the part that weights were not chosen on.
func (d *dialogue) kept() bool {
	n, err := strconv.Atoi(d.id[1:])
	return err == nil && n%3 == 0
}

// dialogues reads one file of the set.
func dialogues(t *testing.T, name string) (out []dialogue) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(followUpDir, name))
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimPrefix(string(b), "== "), "\n== ") {
		id, rest, _ := strings.Cut(block, "\n")
		d := dialogue{id: id}
		for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(rest), "\n  ", "\v"), "\n") {
			key, value, ok := strings.Cut(strings.ReplaceAll(line, "\v", "\n"), ": ")
			switch key {
			case "user", "assistant", "tool":
				d.messages = append(d.messages, ragctx.TextMessage(ragctx.Role(key), value))
			case "ask":
				d.ask = value
			case "also":
				d.also = append(d.also, value)
			case "want":
				d.want = strings.Split(value, " | ")
			default:
				ok = false
			}
			if !ok {
				t.Fatalf("%s: %s: cannot read %q", name, id, line)
			}
		}
		out = append(out, d)
	}
	return out
}

// library is an engine that holds the set's documents and memories.
type library struct {
	*fixture

	sections map[string][]section // of each document
}

type section struct {
	name  string // file#heading
	start int
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{fixture: open(t), sections: make(map[string][]section)}
	files, err := filepath.Glob(filepath.Join(followUpDir, "docs", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(f)
		l.put(name, string(b))
		l.sections[name] = sectionsOf(name, string(b))
	}
	b, err := os.ReadFile(filepath.Join(followUpDir, "memories.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		id, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if _, _, err := l.Memories().Put(t.Context(), ragctx.Memory{ID: id, Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func sectionsOf(file, text string) (out []section) {
	at := 0
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			out = append(out, section{file + "#" + strings.TrimSpace(heading), at})
		}
		at += len(line)
	}
	return out
}

// name returns the name of a hit in the data set.
func (l *library) name(h engine.Hit) string {
	name := h.Key
	for _, s := range l.sections[h.Key] {
		if s.start <= h.Start.Byte {
			name = s.name
		}
	}
	return name
}

// rank returns the place of the first answer, from 1; 0 if it is not found.
func (l *library) rank(d *dialogue, q ragctx.ContextQuery) int {
	l.t.Helper()
	hits, _, err := l.Indexes().Hits(l.t.Context(), q, engine.HitsOptions{Kind: d.kind(), K: 200})
	if err != nil {
		l.t.Fatal(err)
	}
	var seen []string
	for _, h := range hits {
		name := l.name(h)
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		if slices.Contains(d.want, name) {
			return len(seen)
		}
	}
	return 0
}

// quality is nDCG@10 and recall@5 over questions with one answer each.
type quality struct {
	n          int
	ndcg, hits float64
}

func (q *quality) add(rank int) {
	q.n++
	if rank > 0 && rank <= 10 {
		q.ndcg += 1 / math.Log2(float64(rank)+1)
	}
	if rank > 0 && rank <= 5 {
		q.hits++
	}
}

func (q *quality) measures() (ndcg, r5 float64) {
	return q.ndcg / float64(q.n), q.hits / float64(q.n)
}

func (q *quality) String() string {
	ndcg, r5 := q.measures()
	return fmt.Sprintf("%.3f %.3f", ndcg, r5)
}

// way is one way to ask the questions of a set.
type way struct {
	name string
	ask  func(d *dialogue) ragctx.ContextQuery
	// floors of nDCG@10 and recall@5, just below the measured values: for the part that weights were tuned
	// on, and for the held-out part.
	floors [2][2]float64
}

// measure asks all questions of a file in every way. The first way is the baseline
// that changes are listed against, for the part that weights were chosen on.
func (l *library) measure(file string, ways []way) {
	l.t.Helper()
	set := dialogues(l.t, file)
	found := make([][2]quality, len(ways))
	for i := range set {
		d := &set[i]
		half, base := 0, 0
		if d.kept() {
			half = 1
		}
		for w := range ways {
			rank := l.rank(d, ways[w].ask(d))
			found[w][half].add(rank)
			switch {
			case w == 0:
				base = rank
			case rank != base && half == 0:
				l.t.Logf("%s %s: %d -> %d  %q", ways[w].name, d.id, base, rank, d.ask)
			}
		}
	}
	for w := range ways {
		l.t.Logf("%-15s %-20s n %d nDCG@10 R@5 %s   kept aside: n %d %s",
			file, ways[w].name, found[w][0].n, &found[w][0], found[w][1].n, &found[w][1])
		for half, floor := range ways[w].floors {
			if ndcg, r5 := found[w][half].measures(); ndcg < floor[0] || r5 < floor[1] {
				l.t.Errorf("%s, %s, part %d: nDCG@10 %.3f, recall@5 %.3f; at least %.3f, %.3f are expected", file, ways[w].name, half, ndcg, r5, floor[0], floor[1])
			}
		}
	}
}

func alone(d *dialogue) ragctx.ContextQuery { return query(d.ask) }

func inConversation(d *dialogue) ragctx.ContextQuery {
	q := query(d.ask)
	q.Messages = append(slices.Clip(d.messages), ragctx.TextMessage(ragctx.RoleUser, d.ask))
	return q
}

func inOtherWords(d *dialogue) ragctx.ContextQuery {
	q := query(d.ask)
	q.Queries = d.also
	return q
}

func fed(d *dialogue) ragctx.ContextQuery { return query(d.ask).WithParam("feedback", true) }

// TestFollowUp measures the gain of the messages before a query that depends on them, their cost for
// one that does not, and the gain of other wordings and of feedback.
func TestFollowUp(t *testing.T) {
	l := newLibrary(t)
	l.measure("followups.txt", []way{
		{name: "alone", ask: alone},
		{name: "with messages", ask: inConversation, floors: [2][2]float64{{0.84, 0.91}, {0.84, 0.92}}},
	})
	l.measure("standalone.txt", []way{
		{name: "alone", ask: alone},
		{name: "with messages", ask: inConversation, floors: [2][2]float64{{0.91, 0.95}, {0.93, 0.99}}},
		{name: "feedback", ask: fed},
	})
	l.measure("wordings.txt", []way{
		{name: "alone", ask: alone},
		{name: "other wordings", ask: inOtherWords, floors: [2][2]float64{{0.97, 0.98}, {0.85, 0.89}}},
		{name: "feedback", ask: fed},
	})
}

// TestMessagesThatDoNotMatter: a self-contained query, or one with follow-ups disabled, is answered as
// without messages, byte for byte.
func TestMessagesThatDoNotMatter(t *testing.T) {
	f := open(t)
	f.put("proxy.md", "# The proxy\n\nTurn the proxy off with `proxy --stop`.\n")
	f.put("cache.md", "# The cache\n\nTurn the cache off with `cache --stop`, which takes a minute.\n")
	talk := []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, "what does the cache do?"),
		ragctx.TextMessage(ragctx.RoleAssistant, "It keeps answers for an hour."),
	}
	for _, c := range []struct {
		ask    string
		params map[string]any
		reads  bool
	}{
		{"how do I turn it off?", nil, true},
		{"how do I turn it off?", map[string]any{"follow_up": true}, true},
		{"how do I turn it off?", map[string]any{"follow_up": false}, false},
		{"which command stops the proxy in front of the server?", nil, false},
	} {
		q := query(c.ask)
		q.Explain, q.Params = true, c.params
		without := f.ask(q)
		q.Messages = talk
		with := f.ask(q)
		if got := with.Items[0].Signals["follow_up"] > 0; got != c.reads {
			t.Errorf("%q: read as a follow-up: %v", c.ask, got)
		}
		if same := with.XML == without.XML && with.Items[0].Relevance == without.Items[0].Relevance; same == c.reads {
			t.Errorf("%q: the answer is as without messages: %v", c.ask, same)
		}
		if c.reads && !strings.Contains(with.Items[0].Content, "cache --stop") {
			t.Errorf("%q found %q first", c.ask, with.Items[0].Content)
		}
	}
}

// TestOtherWordings finds by other wordings texts that the query alone does not find.
func TestOtherWordings(t *testing.T) {
	f := open(t)
	f.put("soup.md", "# Lunch\n\nThere is soup on Fridays.\n")
	f.put("canteen.md", "# Canteen\n\nThe canteen is closed in August.\n")
	q := query("where do people eat?")
	q.Queries = []string{"canteen", "cafeteria"}
	if a := f.ask(q); len(a.Items) == 0 || a.Items[0].Metadata["document"] != "canteen.md" {
		t.Errorf("found %+v", a.Items)
	}
	q.Queries = append(q.Queries, "")
	if _, err := f.Context(t.Context(), q); err == nil || !strings.Contains(err.Error(), "queries[2]") {
		t.Errorf("an empty wording: %v", err)
	}
}

// TestFeedback finds what shares no word with the question but with what answers it.
func TestFeedback(t *testing.T) {
	f := open(t, spelling)
	f.put("a.md", "# Lighthouse\n\nThe lighthouse is kept by the harbour master, who winds the lamp's clockwork.\n")
	f.put("b.md", "# Winding\n\nThe clockwork is wound at dusk; the harbour master has the key.\n")
	f.put("c.md", "# Menu\n\nThere is soup on Fridays.\n")
	found := func(q ragctx.ContextQuery) (ids []string) {
		for _, it := range f.ask(q).Items {
			ids = append(ids, fmt.Sprint(it.Metadata["document"]))
		}
		return ids
	}
	q := query("lighthouse")
	q.MinRelevance = new(0.0) // what shares no word has little
	if ids := found(q); slices.Contains(ids, "b.md") {
		t.Fatalf("without feedback: %v", ids)
	}
	if ids := found(q.WithParam("feedback", true)); len(ids) != 2 || ids[0] != "a.md" || ids[1] != "b.md" {
		t.Errorf("with feedback: %v, want a.md, b.md", ids)
	}
	if ids := found(query("xylophone").WithParam("feedback", true)); len(ids) != 0 {
		t.Errorf("feedback on nothing: %v", ids)
	}
}
