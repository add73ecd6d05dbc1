package engine_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
)

func TestMisspeltWordsAreReadAsOthers(t *testing.T) {
	f := open(t)
	f.put("harbour", "The harbour is closed in a storm.")
	f.put("other", "Ropes hang on the wall of a house.")
	f.turn(ragctx.Turn{ID: "t1", SessionID: "s1", Prompt: "Who is the lighthouse keeper?", Response: "Nobody."})

	read := func(word, as, provider string) ragctx.Correction {
		return ragctx.Correction{Word: word, As: as, Provider: provider}
	}
	for _, tt := range []struct {
		name  string
		query string
		off   bool
		want  []ragctx.Correction
		best  string
		marks []string
	}{
		{"a word of documents", "Is the harbuor closed?", false, []ragctx.Correction{read("harbuor", "harbour", "docs")}, "harbour", []string{"harbour", "closed"}},
		{"a name", "is the Harbor closed?", false, nil, "harbour", []string{"closed"}},
		{"one of memories", "the lighthuose", false, []ragctx.Correction{read("lighthuose", "lighthouse", "memory")}, "t1", []string{"lighthouse"}},
		{"as it is written", "harbuor closed", true, nil, "harbour", []string{"closed"}},
		{"quoted", `"harbuor" closed`, false, nil, "harbour", []string{"closed"}},
		{"spelt as texts have it", "harbour closed", false, nil, "harbour", []string{"harbour", "closed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := ragctx.ContextQuery{Query: tt.query, Highlight: true}
			if tt.off {
				q = q.WithParam("spelling", false)
			}
			found, err := f.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			a := f.ask(q)
			for door, got := range map[string]struct {
				corrections []ragctx.Correction
				items       []ragctx.ContextItem
			}{"search": {found.Corrections, found.Items}, "context": {a.Corrections, a.Items}} {
				if d := cmp.Diff(tt.want, got.corrections); d != "" {
					t.Errorf("corrections of %s (-want +got):\n%s", door, d)
				}
				if len(got.items) == 0 || names(got.items[:1])[0] != tt.best {
					t.Fatalf("%s finds %v, want %s first", door, names(got.items), tt.best)
				}
				if marks := marksOf(got.items[0]); !slices.Equal(marks, tt.marks) {
					t.Errorf("%s marks %q, want %q", door, marks, tt.marks)
				}
			}
		})
	}
}

// marksOf returns the marked words of an item's highlights.
func marksOf(it ragctx.ContextItem) (marks []string) {
	for _, m := range it.Highlights.Matches {
		marks = append(marks, it.Content[m.Start:m.End])
	}
	return marks
}

// Corrections reveal no words that the caller may not see: neither of other users nor of deleted
// items.
func TestCorrectionsKeepTheWall(t *testing.T) {
	f := open(t)
	f.turn(ragctx.Turn{ID: "a1", UserID: "ada", SessionID: "s1", Prompt: "My secret is the lighthouse.", Response: "Noted."})
	f.turn(ragctx.Turn{ID: "a2", UserID: "ada", SessionID: "s1", Prompt: "I typed harbuor.", Response: "You did."})
	f.turn(ragctx.Turn{ID: "b1", UserID: "bob", SessionID: "s2", Prompt: "The harbour is cold.", Response: "Put on a coat."})
	f.put("anchor", "The anchor is heavy.")
	asked := func(user, query string) (as []string) {
		t.Helper()
		found, err := f.Search(t.Context(), ragctx.ContextQuery{Query: query, UserID: user})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found.Corrections {
			as = append(as, c.As)
		}
		return as
	}
	for _, tt := range []struct {
		user, query string
		want        []string
	}{
		{"ada", "lighthuose", []string{"lighthouse"}},
		{"bob", "lighthuose", nil},
		{"", "lighthuose", nil},
		{"bob", "harbuor", []string{"harbour"}}, // that ada has the word is nothing that bob learns
		{"ada", "harbuor", nil},
		{"bob", "anchro", []string{"anchor"}},
	} {
		if got := asked(tt.user, tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("%s of %q is read as %q, want %q", tt.query, tt.user, got, tt.want)
		}
	}
	if err := f.Documents().Delete(t.Context(), "", "anchor"); err != nil {
		t.Fatal(err)
	}
	if got := asked("bob", "anchro"); got != nil {
		t.Errorf("a deleted text is read: %q", got)
	}
}

// The matches of a pattern are marked like the words of the query.
func TestHighlightsOfPatterns(t *testing.T) {
	f := open(t)
	f.put("harbours", "A harbinger of spring in the harbours.")
	for query, want := range map[string][]string{
		"harb*":                {"harbinger", "harbours"},
		"Harbuor~ spring":      {"spring", "harbours"},
		"har* of the harbours": {"harbinger", "harbours"},
	} {
		found, err := f.Search(t.Context(), ragctx.ContextQuery{Query: query, Highlight: true})
		if err != nil || len(found.Items) != 1 {
			t.Fatalf("%s: %d items, %v", query, len(found.Items), err)
		}
		if got := marksOf(found.Items[0]); !slices.Equal(got, want) {
			t.Errorf("%s marks %q, want %q", query, got, want)
		}
	}
}
