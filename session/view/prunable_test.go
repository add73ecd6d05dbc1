package view_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// shouting is a stage that rewrites each answer, once, and wants that to last.
type shouting struct{}

func (shouting) Name() string                                     { return "shouting" }
func (shouting) Priority() int                                    { return 15 }
func (shouting) EstimateTokens(context.Context, *stage.State) int { return 0 }

func (shouting) Apply(_ context.Context, s *stage.State, messages []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
	last := len(messages) - 1
	if last < 0 || messages[last].Role != ragctx.RoleAssistant || strings.HasPrefix(messages[last].Content.String(), "! ") {
		return nil, nil
	}
	out := slices.Clone(messages)
	out[last].Content = ragctx.Text("! " + out[last].Content.String())
	s.Persist(out)
	return out, nil
}

// exchange is a user message and its answer.
func exchange(n int) []ragctx.Message {
	return []ragctx.Message{
		{ID: fmt.Sprint("q", n), Role: ragctx.RoleUser, Content: ragctx.Text("Why does it fail? Please look at it once more, and tell me what you find in the log.")},
		{ID: fmt.Sprint("a", n), Role: ragctx.RoleAssistant, Content: ragctx.Text("We decided to use rule 7. The log says that the disk was full at that time, and nothing else.")},
	}
}

// full returns a session in which a stage has persisted until there was no more room.
func full() session.Archive {
	a := session.Archive{Sections: []string{session.SectionMessages}}
	for n := range session.MaxRecords {
		for _, m := range exchange(n) {
			m.ParentID, a.Leaf = a.Leaf, m.ID
			a.Entries = append(a.Entries, session.Entry{Section: session.SectionMessages, Message: m})
		}
		record := fmt.Sprintf(`{"kind":"stage","stage":"shouting","through":%q,"messages":["q%d","a%d"]}`, a.Leaf, n, n)
		a.Compactions = append(a.Compactions, session.Compaction{ID: fmt.Sprint("r", n), To: a.Leaf, Record: []byte(record)})
	}
	return a
}

// TestRecordsDoNotPileUp: a conversation in which a stage persists after each turn goes on
// being compacted however long it is, also if it was full of records before.
func TestRecordsDoNotPileUp(t *testing.T) {
	for name, o := range map[string]view.Options{
		"memory":           {Stages: []stage.Stage{shouting{}}},
		"memory, with ids": {Stages: []stage.Stage{noting{true}}},
		"sqlite":           {Stages: []stage.Stage{shouting{}}, Storage: onDisk(t).Sessions(session.Options{})},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, o)
			w.must(w.storage.Delete(t.Context(), key, session.Condition{}))
			_, err := w.storage.Create(t.Context(), key, full(), "")
			w.must(err)
			var compacted []int // in which turns
			for n := range 40 {
				w.append(exchange(session.MaxRecords + n)...)
				v := w.view(view.ViewOptions{Budget: stage.Budget{Window: 800}})
				if slices.ContainsFunc(v.Reports, func(r stage.Report) bool { return r.Stage == "compaction" && r.Persisted }) {
					compacted = append(compacted, n)
				}
			}
			if n := len(compacted); n < 2 || n > 20 {
				t.Errorf("compacted in the turns %v", compacted)
			}
			kept, err := compactions(w.storage)
			w.must(err)
			if len(kept) > 20 {
				t.Errorf("%d records are left", len(kept))
			}
		})
	}
}

// hoarding is a storage that keeps all records.
type hoarding struct{ session.Storage }

func (h hoarding) Update(
	ctx context.Context, k session.Key, u session.Update, when session.Condition,
) (session.Version, error) {
	if u.AddCompaction != nil {
		u.RemoveCompactions = nil
	}
	return h.Storage.Update(ctx, k, u, when)
}

// TestUndoingIsAsWithAllRecords: removed records change no view, including those reached by undoing
// the newest 16.
func TestUndoingIsAsWithAllRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open := func(of func(session.Storage) session.Storage) *view.Service {
			ids, storage := 0, session.NewMemory(session.Options{})
			s, err := view.New(view.Options{
				Storage: of(storage), Stages: []stage.Stage{shouting{}}, Now: func() time.Time { return time.Unix(0, 0) },
				NewID: func() string { ids++; return fmt.Sprint("id", ids) },
			})
			if err == nil {
				_, err = storage.Create(context.Background(), key, session.Archive{}, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		sparing := open(func(s session.Storage) session.Storage { return s })
		all := open(func(s session.Storage) session.Storage { return hoarding{s} })
		both := func(do func(*view.Service) ([]ragctx.Message, int)) int {
			t.Helper()
			want, n := do(all)
			got, _ := do(sparing)
			if d := cmp.Diff(texts(want), texts(got)); d != "" {
				t.Fatalf("(-with all +with those left):\n%s", d)
			}
			return n
		}
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		ctx, said, records, undoable := context.Background(), 0, 0, 0
		for range rapid.IntRange(1, 20).Draw(t, "turns") {
			window := rapid.IntRange(500, 2500).Draw(t, "window")
			said++
			made := both(func(s *view.Service) ([]ragctx.Message, int) {
				_, _, err := s.Append(ctx, key, view.AppendOptions{}, exchange(said)...)
				must(err)
				v, err := s.View(ctx, key, view.ViewOptions{Budget: stage.Budget{Window: window}})
				must(err)
				return v.Messages, len(v.Records)
			})
			records += made
			undoable = min(undoable+made, 16)
			for range rapid.IntRange(-9, undoable).Draw(t, "undo") {
				both(func(s *view.Service) ([]ragctx.Message, int) {
					_, _, err := s.Undo(ctx, key, session.Condition{})
					must(err)
					c, err := s.Compile(ctx, key, view.CompileOptions{})
					must(err)
					return c.Messages, 0
				})
				records, undoable = records-1, undoable-1
			}
		}
	})
}

// TestRecordsOfBranches: records of another branch stay and apply there.
func TestRecordsOfBranches(t *testing.T) {
	w := newWorld(t, view.Options{})
	for n := range 30 {
		w.append(exchange(n)...)
	}
	out, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 1000})
	w.must(err)
	if out.Stored == nil {
		t.Fatal(out.Reason)
	}
	want := texts(w.compiled(view.CompileOptions{}))
	w.must(navigate(w.storage, key, "a2"))
	w.Service, err = view.New(view.Options{Storage: w.storage, Stages: []stage.Stage{shouting{}}})
	w.must(err)
	for n := range 40 {
		w.append(exchange(100 + n)...)
		w.view(view.ViewOptions{})
	}
	if got := texts(w.compiled(view.CompileOptions{Leaf: "a29"})); got != want {
		t.Errorf("the other branch is shown as\n%s\nwant\n%s", got, want)
	}
}
