package index_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// fact returns a chunk of something that was found in a session of a user.
func fact(id uint64, user, session, text string) index.Chunk {
	p := &index.Item{
		ID: id, User: user, Session: session, Source: index.DerivedSource,
		Recorded: t0, Occurred: t0.Add(time.Duration(id) * time.Hour),
	}
	return index.Chunk{ID: id, Seq: id, Item: p, Text: text}
}

// crowd returns messages of so many others that the chunks of one user are few.
func crowd(first uint64, n int) (out []index.Chunk) {
	for i := range n {
		out = append(out, told(fmt.Sprint("other", i%7), "s", first+uint64(i), "user: fig")...)
	}
	return out
}

// TestFactsAreInNoConversation shows that what was found in messages is found, in the
// scope of its user alone, and changes nothing for the conversation around it.
func TestFactsAreInNoConversation(t *testing.T) {
	reading := timeexpr.Reading{From: t0.Add(2 * time.Hour), To: t0.Add(4 * time.Hour)}
	queries := map[string]index.Query{
		"neighbours": {Text: "pear", Conversation: &index.ConversationWeights{Session: 1}},
		"listed":     {Time: &index.Time{Reading: reading, List: true}},
		"timed":      {Text: "pear", Time: &index.Time{Weight: 1, Reading: reading}},
	}
	messages := slices.Concat(
		told("a", "s1", 1, "user:Ada red apple", "user:Bob pear", "user:Ada plum"),
		told("a", "s2", 5, "user:Ada nut"), crowd(100, 200),
	)
	without, _, _ := open(t)
	apply(t, without, index.Batch{Seq: 300, Add: messages})
	with, words, _ := open(t)
	apply(t, with, index.Batch{Seq: 300, Add: slices.SortedFunc(slices.Values(slices.Concat(messages, []index.Chunk{
		fact(4, "a", "s1", "walnut"), fact(6, "b", "s3", "walnut"), fact(7, "", "s4", "walnut"),
	})), func(a, b index.Chunk) int { return int(a.ID) - int(b.ID) })}) //nolint:gosec // small
	for name, q := range queries {
		q.Explain, q.Now, q.Scope = true, t0.AddDate(0, 1, 0), index.Scope{User: "a"}
		want, got := explained(search(t, without, q)), explained(search(t, with, q))
		if got != want || got == "" {
			t.Errorf("%s: with facts\n%s\nwithout\n%s", name, got, want)
		}
	}
	q := index.Query{Text: "walnut", Now: t0, Scope: index.Scope{User: "a"}}
	if got := ids(search(t, with, q)); !slices.Equal(got, []uint64{4, 7}) {
		t.Errorf("found %v", got)
	}
	if want := []uint64{1, 2, 3, 4, 5, 7}; !slices.Equal(words.asked.Only, want) {
		t.Errorf("narrowed to %v, want %v", words.asked.Only, want)
	}
	q.Scope.Session = "s1"
	if got := ids(search(t, with, q)); !slices.Equal(got, []uint64{4}) {
		t.Errorf("found %v in the session", got)
	}
	around, err := with.Neighbors(t.Context(), q.Where(300), []uint64{4, 2}, 3)
	if err != nil || len(around[0].Before)+len(around[0].After) > 0 || slices.Contains(around[1].After, 4) {
		t.Errorf("around %+v", around)
	}
}

// TestNarrowingChangesNothing asks a world with facts of several users, whose chunks
// are so few that each is looked at alone, and the same world among as many loose
// chunks, where nothing is narrowed.
func TestNarrowingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for i := range w.entries {
			if p := w.entries[i].Item; p.ID%3 == 0 {
				p.Source = index.DerivedSource
			}
		}
		last := w.entries[len(w.entries)-1].ID
		narrow, full := newHarness(t, index.Options{}), newHarness(t, index.Options{})
		defer narrow.Close()
		defer full.Close()
		others := crowd(last+1000, 20*len(w.entries))
		loose := &index.Item{ID: last + 999, User: "nobody", Recorded: t0}
		w.feed(t, narrow)
		w.feed(t, full)
		apply(t, narrow, index.Batch{Seq: 1000, Add: others})
		apply(t, full, index.Batch{Seq: 1000, Add: append([]index.Chunk{line(loose.ID, loose, "user:", "fig")}, others...)})
		q := index.Query{
			Text: rapid.SampledFrom([]string{"apple", "red Ada", "pear plum"}).Draw(t, "text"), K: 50, Now: t0.AddDate(0, 1, 0), Explain: true,
			Scope: index.Scope{
				User: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "q.user"), Agent: rapid.SampledFrom([]string{"", "x"}).Draw(t, "q.agent"),
				Session: rapid.SampledFrom([]string{"", "s1"}).Draw(t, "q.session"),
			},
		}
		if rapid.Bool().Draw(t, "dialogue") {
			q.Conversation = &index.ConversationWeights{Session: 1}
		}
		a, err := narrow.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := full.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if narrow.words.asked.Only == nil || full.words.asked.Only != nil {
			t.Fatalf("narrowed to %v, and to %v", narrow.words.asked.Only, full.words.asked.Only)
		}
		if got, want := explained(a), explained(b); got != want {
			t.Fatalf("query %+v:\n%s\nwhere nothing is narrowed\n%s", q, got, want)
		}
	})
}

// TestRarePhrasesNarrow checks that a phrase of few texts is looked up in these texts alone, and that the hits are the same.
func TestRarePhrasesNarrow(t *testing.T) {
	two := &index.Item{ID: 900, Recorded: t0}
	rare := []index.Chunk{{ID: 900, Seq: 900, Item: two, Text: "red apple"}, {ID: 901, Seq: 900, Item: two, Ordinal: 1, Text: "green apple"}}
	for name, c := range map[string]struct {
		texts int // that have the phrase, too
		only  index.Only
		hits  int
	}{"rare": {0, index.Only{900, 901}, 1}, "frequent": {40, nil, 41}} {
		h, words, _ := open(t)
		var all []index.Chunk
		for i := range uint64(400) {
			text := "fig tree"
			if i < uint64(c.texts) { //nolint:gosec // not negative
				text = "red apple"
			}
			all = append(all, index.Chunk{ID: i + 1, Seq: 900, Item: &index.Item{ID: i + 1, Recorded: t0}, Text: text})
		}
		apply(t, h, index.Batch{Seq: 900, Add: append(all, rare...)})
		q := index.Query{Text: "apple", Phrases: analysis.Phrases(`"red apple"`), K: 50, Now: t0, Scope: index.Scope{AnyUser: true}}
		if got := ids(search(t, h, q)); len(got) != c.hits || !slices.Contains(got, 900) {
			t.Errorf("%s: found %v", name, got)
		}
		if !slices.Equal(words.asked.Only, c.only) || (words.asked.Only == nil) != (c.only == nil) {
			t.Errorf("%s: narrowed to %v, want %v", name, words.asked.Only, c.only)
		}
	}
}
