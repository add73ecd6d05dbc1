package local_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// TestTripsOfAQuery asks a whole engine whose indexes are behind a socket: documents and memories
// are found, with at most six calls of the index engine, and the time of a question is read as well.
func TestTripsOfAQuery(t *testing.T) {
	s := serve(t)
	e, err := engine.Open(t.Context(), engine.Options{
		Dir: t.TempDir(), Indexes: client{addr: s.addr, attempts: 1, timeout: 10 * time.Second}, AnswerCache: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "a.md", Text: "# Walrus\n\nThe walrus eats clams."}, ""); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"My walrus is called Bodo.", "The walrus of Ada sleeps.", "Walruses like ice."} {
		turn := ragctx.Turn{UserID: "u", SessionID: "s", Prompt: text, Response: "I see."}
		if _, err := e.CompleteTurn(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Sessions().SettleAll(t.Context()); err != nil { // the extraction of facts calls the indexes, too
		t.Fatal(err)
	}
	for _, question := range []string{"What does the walrus eat?", "What did I say about the walrus yesterday?", "What did we say in the last session?"} {
		q := ragctx.NewQuery(question)
		q.UserID, q.MaxTokens = "u", 2000
		before := s.trips.Load()
		r, err := e.Context(t.Context(), q)
		if err != nil || len(r.Degraded) > 0 {
			t.Fatalf("%q: degraded %v, %v", question, r.Degraded, err)
		}
		trips := s.trips.Load() - before
		t.Logf("%q took %d calls", question, trips)
		if trips < 2 || trips > 6 {
			t.Errorf("%q took %d calls, want at most 6", question, trips)
		}
		if question == "What does the walrus eat?" && (!strings.Contains(r.Rendered(), "clams") || !strings.Contains(r.Rendered(), "Bodo")) {
			t.Errorf("%q finds\n%s", question, r.Rendered())
		}
	}
}
