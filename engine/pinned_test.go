package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
)

// block returns the stable block of an answer in blocks, and the whole answer.
func (f *fixture) block(q ragctx.ContextQuery) (resolve.PromptBlock, resolve.Answer) {
	f.t.Helper()
	q.Blocks = true
	a, err := f.Context(f.t.Context(), q)
	if err != nil || len(a.Blocks) != 2 {
		f.t.Fatalf("%d blocks, %v", len(a.Blocks), err)
	}
	return a.Blocks[0], a
}

func (f *fixture) note(m ragctx.Memory) {
	f.t.Helper()
	if _, _, err := f.Memories().Put(f.t.Context(), m); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) release(k engine.ProcedureKey, trigger string) {
	f.t.Helper()
	if _, err := f.Procedures().PutDraft(f.t.Context(), k, ragctx.ProcedureBody{Trigger: trigger, Steps: []string{"go"}}); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.Procedures().Publish(f.t.Context(), k); err != nil {
		f.t.Fatal(err)
	}
}

func TestStableBlock(t *testing.T) {
	f := open(t, spelling)
	f.put("release", "The release train leaves on Tuesday.")
	f.note(ragctx.Memory{ID: "pin", Content: "Answer in short sentences.", Pinned: true, Importance: .4, Type: ragctx.MemorySemantic})
	f.note(ragctx.Memory{ID: "who", UserID: "ada", SessionID: "monday", Content: "Ada prefers tabs.", Profile: true, Importance: .9, Type: ragctx.MemorySemantic})
	f.note(ragctx.Memory{ID: "bob", UserID: "bob", Content: "Bob prefers spaces.", Profile: true, Importance: .9})
	f.note(ragctx.Memory{ID: "other", AgentID: "coder", Content: "The coder works at night.", Pinned: true})
	f.note(ragctx.Memory{ID: "plain", UserID: "ada", Content: "Ada went to the release train."})
	f.release(engine.ProcedureKey{Name: "deploy"}, "Deploy the release train")
	ask := func(text string) ragctx.ContextQuery {
		q := query(text)
		q.UserID, q.AgentID, q.SessionID = "ada", "writer", "friday"
		return q
	}
	stable, a := f.block(ask("when does the release train leave?"))
	want := []string{"deploy@1", "pin", "who"}
	if d := cmp.Diff(want, namesOf(stable.Items)); d != "" {
		t.Errorf("%s\n%s", d, stable.Text)
	}
	if strings.Contains(stable.Text, "2026") {
		t.Errorf("the stable block tells a time:\n%s", stable.Text)
	}
	for _, id := range stable.Items {
		for _, other := range a.Blocks[1].Items {
			if id == other {
				t.Errorf("%s is in both blocks", id)
			}
		}
	}
	if !strings.Contains(a.Blocks[1].Text, "Tuesday") {
		t.Errorf("volatile block:\n%s", a.Blocks[1].Text)
	}
	// Nothing of it depends on the question, the time or the process.
	f.clock.set(t0.AddDate(0, 2, 0))
	f.reopen()
	for _, q := range []string{"", "deploy the release train", "tabs or spaces?"} {
		if again, _ := f.block(ask(q)); again.Hash != stable.Hash {
			t.Errorf("%q changes the stable block:\n%s", q, cmp.Diff(stable.Text, again.Text))
		}
	}
	// New items come at the end.
	f.note(ragctx.Memory{ID: "aaa", UserID: "ada", Content: "Ada lives in Lisbon.", Profile: true, Importance: 1, Type: ragctx.MemorySemantic})
	if more, _ := f.block(ask("q")); !strings.HasPrefix(more.Text, stable.Text) || len(more.Items) != 4 {
		t.Errorf("after one more:\n%s", more.Text)
	}
	// A query that wants neither memories nor skills has none.
	if none, _ := f.block(ask("q").WithTypes(ragctx.TypeResource)); len(none.Items) != 0 {
		t.Errorf("with resources alone: %v", none.Items)
	}
}

// TestStandingWishes learns instructions and preferences from turns: they are in the stable block of every
// later answer to their user, and what does not fit is reported.
func TestStandingWishes(t *testing.T) {
	f := open(t)
	say := func(id, user, text string) {
		t.Helper()
		f.tell(id, user, id, text)
		f.clock.set(f.clock.now().Add(time.Hour))
	}
	ask := query("how hot is a kiln?").WithSessionID("friday")
	ask.UserID = "ada"
	before := f.clock.now()
	say("t1", "ada", "Always answer in French.")
	say("t2", "eve", "Always answer in Dutch.")
	say("t3", "ada", "Please remember that the spare key hangs in the shed.")
	first := f.clock.now()
	say("t4", "ada", "Never use em dashes.")
	say("t5", "ada", "I prefer tea to coffee.")
	contains := func(text string, words ...string) {
		t.Helper()
		for _, w := range words {
			if w, not := strings.CutPrefix(w, "!"); strings.Contains(text, w) == not {
				t.Errorf("%q is in the block: %v\n%s", w, !not, text)
			}
		}
	}
	stable, _ := f.block(ask)
	contains(stable.Text, "French", "em dashes", "tea", "!Dutch", "!shed")
	plain, err := f.Context(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	contains(plain.XML, "French", "em dashes", "tea", "!Dutch", "!shed") // without blocks, too
	other, _ := f.block(query("where is the spare key?"))
	contains(other.Text, "!French", "!em dashes")
	ask.AsOf = before
	if none, _ := f.block(ask); len(none.Items) != 0 {
		t.Errorf("before all: %s", none.Text)
	}
	ask.AsOf = first
	earlier, _ := f.block(ask)
	contains(earlier.Text, "French", "!em dashes")
	ask.AsOf, ask.Filter.SessionID = time.Time{}, "t1"
	walled, _ := f.block(ask)
	contains(walled.Text, "French", "!em dashes")
	ask.Filter.SessionID, ask.StableTokens = "", -1
	if without, err := f.Context(t.Context(), ask); err != nil || strings.Contains(without.XML, "French") {
		t.Errorf("without wishes: %v\n%s", err, without.XML)
	}
	ask.StableTokens = stable.Tokens / 2
	small, a := f.block(ask)
	contains(small.Text, "em dashes", "!tea") // instructions before preferences, the newest first
	dropped := 0
	for _, d := range a.Dropped {
		if d.Reason == resolve.ReasonBudget && d.Provider == "memory" {
			dropped++
		}
	}
	if dropped+len(a.Items) < len(stable.Items) {
		t.Errorf("%d of %d are shown, and %d reported: %+v", len(a.Items), len(stable.Items), dropped, a.Dropped)
	}
}

// names returns ids of skills without what stands before their names.
func namesOf(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id[strings.LastIndexAny(id, ":/")+1:]
	}
	return out
}

// Markers belong to the data directory: a restart changes no prompt.
func TestMarkersOutliveTheProcess(t *testing.T) {
	f := open(t)
	f.put("release", "The release train leaves on Tuesday.")
	q := query("when does the release train leave?")
	q.Spotlight = true
	before, err := f.Context(t.Context(), q)
	if err != nil || before.Instruction == "" || strings.Contains(before.XML, "leaves on") {
		t.Fatalf("%+v, %v", before, err)
	}
	f.reopen()
	if after, err := f.Context(t.Context(), q); err != nil || after.XML != before.XML {
		t.Errorf("%s\n%v", cmp.Diff(before.XML, after.XML), err)
	}
}
