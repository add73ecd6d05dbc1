package eval

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
)

// Lower bounds of the measures, over all questions with an answer.
const (
	floorMerged = .8238 // nDCG@10 of the merged list
	floorBetter = .3475 // its gain over the provider that is better on the mean
	floorEither = .0183 // its gain over the one that is better for each question
	floorPairs  = .8730 // the lower of the two shares of pairs that are in order
	floorAUC    = .8365 // how well the best relevance tells whether there is an answer
	// floorMessages bounds the nDCG@10 of the merged list for questions in messages.
	floorMessages = .665
)

const (
	mixedDir = "../../testdata/mixed"
	// mixedDepth is the number of requested items. It leaves ten pages or turns even if several items
	// belong to one page.
	mixedDepth = 25
)

// Kinds of questions, in the order of the table; see the set's README.
var mixedKinds = [...]string{"documents", "documents-near", "memories", "memories-near", "both", "none"}

// mixedNow is the time of the questions: after all memories.
func mixedNow() time.Time { return time.Date(2025, 10, 6, 9, 0, 0, 0, time.UTC) }

// mixedQuestion is a question with its judgements.
type mixedQuestion struct {
	ID       string `json:"_id"`
	Text     string `json:"text"`
	Message  string `json:"-"` // the question in a message with other matters, or ""
	Metadata struct {
		User string `json:"user"`
	} `json:"metadata"`

	kind, half string
	grades     map[string]int
}

// mixedSet is the collection: pages by path, turns in order, questions.
type mixedSet struct {
	pages     map[string]string
	turns     []ragctx.Turn
	questions []mixedQuestion
}

func readMixed(t *testing.T) mixedSet {
	t.Helper()
	s := mixedSet{pages: make(map[string]string)}
	root := os.DirFS(filepath.Join(mixedDir, "docs"))
	must(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		s.pages[name] = string(b)
		return err
	}))
	must(t, readJSONL(filepath.Join(mixedDir, "turns.jsonl"), func(turn ragctx.Turn) error {
		s.turns = append(s.turns, turn)
		return nil
	}))
	messages := make(map[string]string)
	must(t, readJSONL(filepath.Join(mixedDir, "messages.jsonl"), func(m struct{ ID, Message string }) error {
		messages[m.ID] = m.Message
		return nil
	}))
	qrels, err := readFile(filepath.Join(mixedDir, qrelsFile), ReadQrels)
	must(t, err)
	groups, err := readFile(filepath.Join(mixedDir, groupsFile), readGroups)
	must(t, err)
	must(t, readJSONL(filepath.Join(mixedDir, queriesFile), func(q mixedQuestion) error {
		q.grades, q.Message = qrels[q.ID], messages[q.ID]
		for _, g := range groups {
			switch {
			case !slices.Contains(g.Questions, q.ID):
			case slices.Contains(mixedKinds[:], g.Name):
				q.kind = g.Name
			default:
				q.half = g.Name
			}
		}
		s.questions = append(s.questions, q)
		return nil
	}))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill stores the set in an engine. Concurrent writes share disk syncs; the results do not depend on
// their order.
func (s mixedSet) fill(t *testing.T) *engine.Engine {
	t.Helper()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), Now: mixedNow})
	must(t, err)
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(64)
	for name, text := range s.pages {
		g.Go(func() error {
			_, err := eng.Documents().Put(ctx, "", ragctx.Document{ExternalID: name, Text: text}, "")
			return err
		})
	}
	for _, turn := range s.turns {
		g.Go(func() error {
			_, err := eng.CompleteTurn(ctx, turn)
			return err
		})
	}
	must(t, g.Wait())
	must(t, eng.Sessions().SettleAll(t.Context()))
	return eng
}

// TestMixedSet: every judged item exists and is visible to its question's user, and the judgements
// agree with the README's description of the kinds.
func TestMixedSet(t *testing.T) {
	s := readMixed(t)
	owner := make(map[string]string)
	for _, turn := range s.turns {
		owner[turn.ID] = turn.UserID
	}
	for _, q := range s.questions {
		var page, memory int // the highest grades
		for id, g := range q.grades {
			user, said := owner[id]
			switch _, written := s.pages[id]; {
			case written:
				page = max(page, g)
			case !said:
				t.Errorf("%s: %s is neither a page nor a turn", q.ID, id)
			case user != "" && user != q.Metadata.User:
				t.Errorf("%s: %s is not for %s to see", q.ID, id, q.Metadata.User)
			default:
				memory = max(memory, g)
			}
		}
		want := map[string]bool{
			"documents": page == 2 && memory == 0, "documents-near": page == 2 && memory < 2,
			"memories": memory == 2 && page == 0, "memories-near": memory == 2 && page < 2,
			"both": page > 0 && memory > 0, "none": page+memory == 0,
		}
		if !want[q.kind] || q.half != "dev" && q.half != "test" {
			t.Errorf("%s: kind %q, half %q, grades %v", q.ID, q.kind, q.half, q.grades)
		}
	}
}

// TestMixed queries documents and memories together and separately. With -v it writes the table by
// which relevance is calibrated.
func TestMixed(t *testing.T) {
	if testing.Short() {
		t.Skip("asks an engine hundreds of questions, one after the other")
	}
	s := readMixed(t)
	m := mixedRun{eng: s.fill(t)}
	for _, q := range s.questions {
		a := mixedAnswer{
			question: q,
			merged:   m.ask(t, q),
			pages:    m.ask(t, q, ragctx.TypeResource),
			memories: m.ask(t, q, ragctx.TypeMemory),
		}
		a.oracle = interleaved(a.pages, a.memories, q.grades)
		m.answers = append(m.answers, a)
	}
	t.Log(m.table())
	all := meansOf(m.answers)
	pages, memories := crossed(m.answers)
	const rounding = 1e-9
	for what, x := range map[string]struct{ got, least float64 }{
		"nDCG@10 of the merged list":             {all.merged, floorMerged},
		"its gain over the better provider":      {all.merged - all.better(), floorBetter},
		"its gain over the better one of each":   {all.merged - all.either, floorEither},
		"pairs of a page and a memory in order":  {min(pages, memories), floorPairs},
		"AUC of answerable questions":            {answerable(m.answers), floorAUC},
		"the bound, which the merged list keeps": {all.oracle, all.merged - rounding},
	} {
		if x.got < x.least {
			t.Errorf("%s: %.4f, less than %.4f", what, x.got, x.least)
		}
	}
}

// TestMixedMessages asks the questions as people type them: in messages that also greet, tell and thank.
func TestMixedMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("asks an engine a hundred messages, one after the other")
	}
	s := readMixed(t)
	m := mixedRun{eng: s.fill(t)}
	var bare, messages []mixedAnswer
	for _, q := range s.questions {
		if q.Message == "" || len(q.grades) == 0 {
			continue
		}
		bare = append(bare, mixedAnswer{question: q, merged: m.ask(t, q)})
		q.Text = q.Message
		messages = append(messages, mixedAnswer{question: q, merged: m.ask(t, q)})
	}
	got := meansOf(messages).merged
	t.Logf("nDCG@10 of %d messages %.4f, of their questions alone %.4f", len(messages), got, meansOf(bare).merged)
	if got < floorMessages {
		t.Errorf("nDCG@10 of messages: %.4f, less than %.4f", got, floorMessages)
	}
}

// mixedRun is an engine and its answers.
type mixedRun struct {
	eng     *engine.Engine
	answers []mixedAnswer
}

// mixedAnswer holds the rankings of pages and turns for a question, best first.
type mixedAnswer struct {
	question                        mixedQuestion
	merged, pages, memories, oracle []Scored
}

// ask returns the pages and turns of a query, each with the relevance of its best item. No types means
// all.
func (m mixedRun) ask(t *testing.T, q mixedQuestion, types ...ragctx.ContextType) []Scored {
	t.Helper()
	query := ragctx.NewQuery(q.Text).WithTypes(types...).WithMaxResults(mixedDepth).WithDepth(ragctx.DepthAbstract)
	query.UserID = q.Metadata.User
	found, err := m.eng.Search(t.Context(), query)
	if err != nil || len(found.Degraded) > 0 {
		t.Fatal(q.ID, err, found.Degraded)
	}
	var out []Scored
	for _, it := range found.Items {
		id := it.ID
		if it.Type == ragctx.TypeResource {
			id, _, _, _ = passage.ParseItemID(it.ID)
		}
		if !slices.ContainsFunc(out, func(s Scored) bool { return s.Doc == id }) {
			out = append(out, Scored{id, it.Relevance})
		}
	}
	return out
}

// isPage reports whether an id is a page's and not a turn's.
func isPage(id string) bool { return strings.HasSuffix(id, ".md") }

func isTurn(id string) bool { return !isPage(id) }
