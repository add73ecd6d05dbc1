package engine_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
)

// TestSaidAround: a turn that is found is shown with its neighbours, as far as the budget permits, and
// keeps its id.
func TestSaidAround(t *testing.T) {
	f := open(t)
	at := time.Date(2023, 5, 8, 23, 30, 0, 0, time.UTC)
	for i := range 20 {
		text := fmt.Sprintf("Remark number %d.", i)
		if i == 10 {
			text = "We named the cat Pixel."
		}
		f.say(fmt.Sprintf("t%d", i), "s", "ada", at.Add(time.Duration(i)*5*time.Minute), "Ada", text)
	}
	q := queryOf("What is the name of the cat, Pixel?")
	q.MaxResults, q.Tokenizer = 1, "chars4"
	shown := func(tokens int) (content string, beside []string) {
		t.Helper()
		q.MaxTokens = tokens
		a, err := f.Context(t.Context(), q)
		if err != nil || len(a.Items) != 1 || a.Items[0].ID != "t10" {
			t.Fatalf("%+v, %v", a.Items, err)
		}
		if a.TotalTokens > tokens {
			t.Errorf("%d tokens of %d", a.TotalTokens, tokens)
		}
		beside, _ = a.Items[0].Metadata["beside"].([]string)
		return a.Items[0].Content, beside
	}
	content, beside := shown(4000)
	if want := []string{"t6", "t7", "t8", "t9", "t11", "t12", "t13", "t14"}; !slices.Equal(beside, want) {
		t.Errorf("shown beside: %v, want %v", beside, want)
	}
	// It was said after midnight; the item's own day is in the answer's XML.
	if !strings.HasPrefix(content, "Ada: Remark number 6.") ||
		!strings.Contains(content, "number 9.\nAda: We named the cat Pixel.\nAda: Remark number 11.") {
		t.Errorf("content %q", content)
	}
	if _, beside := shown(45); !slices.Equal(beside, []string{"t9", "t11"}) {
		t.Errorf("in a small budget, beside: %v", beside)
	}
	if content, beside := shown(30); beside != nil || content != "Ada: We named the cat Pixel." {
		t.Errorf("in a tiny budget: %q beside %v", content, beside)
	}
	q.Exclude = []string{"t11"}
	if _, beside := shown(4000); slices.Contains(beside, "t11") || slices.Contains(beside, "t12") || !slices.Contains(beside, "t9") {
		t.Errorf("with t11 excluded, beside: %v", beside)
	}
	q.Exclude, q.Depth = nil, ragctx.DepthAbstract
	if _, beside := shown(4000); beside != nil {
		t.Errorf("an abstract beside: %v", beside)
	}
}

// TestWhatIsShownIsNotShownTwice: no turn stands in an answer twice.
func TestWhatIsShownIsNotShownTwice(t *testing.T) {
	f := open(t)
	at := time.Date(2023, 5, 8, 9, 0, 0, 0, time.UTC)
	for i := range 30 {
		f.say(fmt.Sprintf("t%d", i), "s", "ada", at.Add(time.Duration(i)*time.Minute), "Ada", fmt.Sprintf("Boat tok%d %s.", i, strings.Repeat("x", i%3)))
	}
	a, err := f.Context(t.Context(), queryOf("Which boat?").WithMaxResults(5))
	if err != nil || len(a.Items) != 5 {
		t.Fatalf("%+v, %v", a.Items, err)
	}
	seen := make(map[string]int)
	for _, tok := range marks.FindAllString(a.XML, -1) {
		seen[tok]++
	}
	for tok, n := range seen {
		if n > 1 {
			t.Errorf("%s is shown %d times in\n%s", tok, n, a.XML)
		}
	}
	if len(seen) <= 5 {
		t.Errorf("only %d turns are shown; the budget holds more", len(seen))
	}
}

var marks = regexp.MustCompile(`tok[0-9]+`)

// crowd is a random store of memories that knows which of them a query may see.
type crowd struct {
	r       *rand.Rand
	ns      string
	entries []entryOf
}

type entryOf struct {
	m       ragctx.Memory
	deleted bool
}

func (w *crowd) pick(from ...string) string { return from[w.r.IntN(len(from))] }

// TestScopeIsAWallAround: neighbours of a found turn respect the scope of the query: no other users,
// agents, sessions or namespaces, nothing deleted, replaced, erased, expired, of another time, or
// excluded.
func TestScopeIsAWallAround(t *testing.T) {
	f := open(t)
	widened := 0
	for n := range 6 {
		w := &crowd{r: rand.New(rand.NewPCG(uint64(n), 1)), ns: fmt.Sprintf("w%d", n)}
		w.fill(t, f)
		for range 40 {
			widened += w.ask(t, f)
		}
	}
	if widened < 100 {
		t.Errorf("only %d items were shown beside others; the test tests little", widened)
	}
}

func (w *crowd) fill(t *testing.T, f *fixture) {
	t.Helper()
	for i := range 60 {
		m := ragctx.Memory{
			ID: fmt.Sprintf("m%d", i), Namespace: w.ns, Type: ragctx.MemoryEpisodic, Importance: .5,
			UserID: w.pick("", "ada", "eve"), AgentID: w.pick("", "x"), SessionID: w.pick("", "s1", "s2"),
			Content: fmt.Sprintf("%s tok%d", w.pick("boat", "tea", "rope"), i), Tags: []string{w.pick("a", "b")},
			Occurred: time.Date(2023, 5, 1+w.r.IntN(20), w.r.IntN(24), 0, 0, 0, time.UTC),
		}
		if w.r.IntN(6) == 0 {
			m.Expires = f.clock.now().Add(time.Duration(1+w.r.IntN(2)) * time.Hour)
		}
		if _, _, err := f.Memories().Put(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		w.entries = append(w.entries, entryOf{m: m})
	}
	for i := range w.entries {
		e := &w.entries[i]
		switch w.r.IntN(6) {
		case 0:
			e.deleted = true
			if err := f.Memories().Delete(t.Context(), w.ns, e.m.ID, "", true); err != nil {
				t.Fatal(err)
			}
		case 1: // the old text is gone
			e.m.Content += "00"
			if _, _, err := f.Memories().Put(t.Context(), e.m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ask runs a query and returns how many items are shown as neighbours.
func (w *crowd) ask(t *testing.T, f *fixture) (widened int) {
	t.Helper()
	q := ragctx.NewQuery(w.pick("boat", "tea", "rope")).WithMaxResults(1 + w.r.IntN(3))
	q.Namespace, q.UserID, q.AgentID = w.ns, w.pick("", "ada", "eve"), w.pick("", "", "x")
	q.SessionID, q.Filter.SessionID = w.pick("", "s1"), w.pick("", "", "s1")
	q.Now = f.clock.now().Add(time.Duration(w.r.IntN(3)) * 90 * time.Minute)
	q.Depth = []ragctx.ContextDepth{ragctx.DepthOverview, ragctx.DepthFull}[w.r.IntN(2)]
	if w.r.IntN(3) == 0 {
		q.Filter.Tags = []string{"a"}
	}
	if w.r.IntN(3) == 0 {
		q.Filter.OccurredAfter = time.Date(2023, 5, 10, 0, 0, 0, 0, time.UTC)
	}
	if w.r.IntN(3) == 0 {
		q.Exclude = []string{fmt.Sprintf("m%d", w.r.IntN(60))}
	}
	a, err := f.Context(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	allowed := make(map[string]string) // token to session and owner
	for _, e := range w.entries {
		if tok := marks.FindString(e.m.Content); !e.deleted && w.may(q, e.m) {
			allowed[tok] = e.m.UserID + "/" + e.m.AgentID + "/" + e.m.SessionID
		}
	}
	seen := make(map[string]bool)
	for _, it := range a.Items {
		beside, _ := it.Metadata["beside"].([]string)
		widened += len(beside)
		found := marks.FindAllString(it.Content, -1)
		if len(found) != len(beside)+1 {
			t.Errorf("%s shows %v, and says beside %v", it.ID, found, beside)
		}
		for _, tok := range found {
			if of, ok := allowed[tok]; !ok || of != allowed[found[0]] || seen[tok] {
				t.Errorf("%+v shows %s with %v, which it may not, or shows again", q, tok, found)
			}
			seen[tok] = true
		}
	}
	return widened
}

func (w *crowd) may(q ragctx.ContextQuery, m ragctx.Memory) bool {
	return (m.UserID == "" || m.UserID == q.UserID) && (q.AgentID == "" || q.AgentID == m.AgentID) &&
		(q.Filter.SessionID == "" || q.Filter.SessionID == m.SessionID) && (m.Expires.IsZero() || q.Now.Before(m.Expires)) &&
		(len(q.Filter.Tags) == 0 || slices.Contains(m.Tags, "a")) && !slices.Contains(q.Exclude, m.ID) &&
		(q.Filter.OccurredAfter.IsZero() || !m.Occurred.Before(q.Filter.OccurredAfter))
}
