package engine_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// say stores a turn of one message.
func (f *fixture) say(id, session, user string, at time.Time, speaker, text string) {
	f.t.Helper()
	role := ragctx.RoleUser
	if speaker == "" {
		role = ragctx.RoleAssistant
	}
	m := ragctx.TextMessage(role, text)
	m.Name = speaker
	if _, err := f.CompleteTurn(f.t.Context(), ragctx.Turn{
		ID: id, SessionID: session, UserID: user, Occurred: at, Messages: []ragctx.Message{m},
	}); err != nil {
		f.t.Fatal(err)
	}
}

// conversations stores three sessions of a user, and one of another user.
func (f *fixture) conversations() {
	day := func(d int) time.Time { return time.Date(2023, 5, d, 18, 0, 0, 0, time.UTC) }
	f.say("a1", "s1", "ada", day(8), "Ada", "I tried the pottery class.")
	f.say("a2", "s1", "ada", day(8).Add(time.Minute), "", "How was it?")
	f.say("a3", "s1", "ada", day(8).Add(2*time.Minute), "Ada", "Wonderful, I made a bowl.")
	f.say("b1", "s2", "ada", day(20), "Bob", "The pottery class was full yesterday.")
	f.say("c1", "s3", "ada", day(25), "Ada", "We repaired the boat.")
	f.say("x1", "s9", "eve", day(24), "Eve", "Another pottery class, another day.")
}

func queryOf(text string) ragctx.ContextQuery {
	q := query(text)
	q.UserID, q.Now, q.Explain = "ada", time.Date(2023, 5, 26, 9, 0, 0, 0, time.UTC), true
	return q
}

// keys returns the ids of the hits in the engine's ranking.
func (f *fixture) keys(q ragctx.ContextQuery) (out []string) {
	f.t.Helper()
	hits, _, err := f.Indexes().Hits(f.t.Context(), q, engine.HitsOptions{Kind: store.KindMemories, K: 10})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range hits {
		out = append(out, h.Key)
	}
	return out
}

// TestDialogue: the neighbours of an answer are found with it, its speaker counts, and each item
// explains its rank.
func TestDialogue(t *testing.T) {
	f := open(t)
	f.conversations()
	q := queryOf("How did Ada like the pottery class?")
	q.MinRelevance = new(0.0)
	items := f.ask(q).Items
	var got []string
	for _, it := range items {
		got = append(got, it.ID)
		s := it.Signals
		sum := s["match"] + s["neighbours"] + s["session"] + s["speaker"] + s["user"] + s["speaks_of_time"] + s["within_time"]
		if math.Abs(sum-s["score"]) > 1e-5 { // each is shown to six digits
			t.Errorf("%s: the parts of %v are not its score", it.ID, s)
		}
	}
	if len(got) < 4 || got[0] != "a1" || !slices.Contains(got, "a3") || slices.Contains(got, "x1") {
		t.Errorf("found %v, want a1 first, its answers with it, and nothing of eve", got)
	}
	if s := items[0].Signals; s["speaker"] == 0 || s["user"] == 0 {
		t.Errorf("the first item's signals are %v", s)
	}
	if k := f.keys(q); !slices.Equal(k[:3], got[:3]) {
		t.Errorf("what is measured, %v, is not what is answered, %v", k, got)
	}
	for _, it := range f.ask(q.WithParam("dialogue", false)).Items {
		if it.Signals["neighbours"] != 0 {
			t.Errorf("%s: signals %v though switched off", it.ID, it.Signals)
		}
	}
}

// TestTimes: a query of only a time lists the items of that time in order; a time next to other words
// raises the rank.
func TestTimes(t *testing.T) {
	f := open(t)
	f.conversations()
	for _, c := range []struct {
		question string
		want     []string
	}{
		{"What did we talk about on May 8th?", []string{"a1", "a2", "a3"}},
		{"What did we discuss two sessions ago?", []string{"b1"}},
		{"What did we discuss one session ago?", []string{"c1"}}, // the question opens a new one
		{"What did we discuss in our last session?", []string{"c1"}},
		{"What did we discuss in session 3?", []string{"c1"}},
		{"Was haben wir gestern besprochen?", []string{"c1"}},
		{"What did we talk about in April?", nil},
	} {
		q := queryOf(c.question)
		if got := f.keys(q); !slices.Equal(got, c.want) {
			t.Errorf("%q: found %v, want %v", c.question, got, c.want)
		}
		ids, read, err := f.Memories().Within(t.Context(), q)
		if err != nil || !read || !slices.Equal(ids, c.want) {
			t.Errorf("%q: %v within (read: %v, %v), want %v", c.question, ids, read, err, c.want)
		}
	}
	for question, want := range map[string][]string{
		"What did we discuss in our last session?":     {"b1"}, // the one before
		"What did we discuss two sessions ago?":        {"a1", "a2", "a3"},
		"What did we talk about in this session?":      {"c1"},
		"What did we talk about in the pottery class?": nil, // any session
	} {
		q := queryOf(question)
		q.SessionID = "s3"
		if got := f.keys(q); want != nil && !slices.Equal(got, want) || want == nil && !slices.Contains(got, "a1") {
			t.Errorf("%q asked in s3: found %v, want %v", question, got, want)
		}
		if q.Filter.SessionID = "s1"; want == nil && slices.ContainsFunc(f.keys(q), func(k string) bool { return k[0] != 'a' }) {
			t.Errorf("%q within s1: found %v", question, f.keys(q))
		}
	}
	if got := f.keys(queryOf("pottery class on May 20th")); len(got) < 2 || got[0] != "b1" {
		t.Errorf("found %v, want b1 first", got)
	}
	if _, read, err := f.Memories().Within(t.Context(), queryOf("pottery")); read || err != nil {
		t.Errorf("a time was read from nothing, %v", err)
	}
	q := queryOf("What did we talk about last week?")
	q.Namespace = "nowhere"
	if ids, read, err := f.Memories().Within(t.Context(), q); len(ids) > 0 || !read || err != nil {
		t.Errorf("%v, %v, %v in a namespace that is not there", ids, read, err)
	}
}

// TestTimesAreExplained: an answer and a list say how a question's time was read,
// once for each provider, and whether it filtered.
func TestTimesAreExplained(t *testing.T) {
	f := open(t)
	f.conversations()
	f.put("notes", "The pottery class moves.")
	day := func(d int) time.Time { return time.Date(2023, 5, d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		question string
		want     ragctx.TimeReading
	}{
		{"What did we talk about on May 8th?", ragctx.TimeReading{Words: "on May 8th", From: day(8), To: day(9), Use: ragctx.TimeFilter}},
		{"Where was the pottery class on May 8th?", ragctx.TimeReading{Words: "on May 8th", From: day(8), To: day(9), Use: ragctx.TimeBoost}},
		{"What did we discuss two sessions ago?", ragctx.TimeReading{Words: "two sessions ago", Sessions: []string{"s2"}, Use: ragctx.TimeFilter}},
		{"What did we discuss in session 30?", ragctx.TimeReading{Words: "in session 30", Sessions: []string{}, Use: ragctx.TimeFilter}},
	} {
		a, err := f.Context(t.Context(), queryOf(c.question))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range a.Providers {
			if p.Name == "memory" && (p.Time == nil || !cmp.Equal(*p.Time, c.want)) {
				t.Errorf("%q was read as %+v, want %+v", c.question, p.Time, c.want)
			}
			if p.Name == "docs" && (p.Time == nil || p.Time.Use != ragctx.TimeBoost) {
				t.Errorf("%q is for documents %+v", c.question, p.Time)
			}
		}
		found, err := f.Search(t.Context(), queryOf(c.question))
		if err != nil || !cmp.Equal(found.Times["memory"], c.want) {
			t.Errorf("%q: a search has %+v, %v", c.question, found.Times, err)
		}
	}
	for _, q := range []ragctx.ContextQuery{queryOf("Where is the pottery class?"), queryOf("pottery on May 8th").WithParam("time", false)} {
		if a, err := f.Context(t.Context(), q); err != nil || a.Providers[1].Time != nil {
			t.Errorf("%+v, %v: a time was read", a.Providers, err)
		}
	}
}

// TestTimesOfAFollowUp: a query of only a time keeps the topic of the conversation before it.
func TestTimesOfAFollowUp(t *testing.T) {
	f := open(t)
	f.conversations()
	q := queryOf("and what about May 8th?")
	if got := f.keys(q); !slices.Equal(got, []string{"a1", "a2", "a3"}) {
		t.Errorf("alone: found %v, want all of that day in its order", got)
	}
	q.Messages = []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "When did I make a bowl?")}
	if got := f.keys(q); len(got) == 0 || got[0] != "a3" {
		t.Errorf("after a question about the bowl: found %v, want a3 first", got)
	}
}

// TestTimesOfDocuments lift those that say when it happened.
func TestTimesOfDocuments(t *testing.T) {
	f := open(t)
	for id, at := range map[string]time.Time{"may": t0.AddDate(-3, 4, 7), "june": t0.AddDate(-3, 5, 7), "never": {}} {
		d := ragctx.Document{ExternalID: id, Text: "Minutes of the harbour board, " + id + ".", Occurred: at}
		if _, err := f.Documents().Put(t.Context(), "", d, ""); err != nil {
			t.Fatal(err)
		}
	}
	for month, want := range map[string]string{"May": "may", "June": "june"} {
		q := query("minutes of the harbour board in " + month + " " + t0.AddDate(-3, 0, 0).Format("2006"))
		hits, _, err := f.Indexes().Hits(t.Context(), q, engine.HitsOptions{Kind: store.KindDocuments, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) != 3 || hits[0].Key != want {
			t.Errorf("%s: %+v, want three, %s first", month, hits, want)
		}
	}
}
