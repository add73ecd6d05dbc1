package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// said is a fact of a turn of a user.
type said struct {
	turn, user, agent string
	at                int // hours after t0
	facts.Fact
}

// about returns a fact with an exclusive attribute.
func about(subject, attribute, value string) facts.Fact {
	return facts.Fact{
		Kind: ragctx.FactIdentity, Content: fmt.Sprintf("The %s of the %s is %s.", attribute, subject, value),
		Subject: subject, Attribute: attribute, Value: value, Exclusive: true, Confidence: 0.9, Importance: 0.6,
		Reason: "it is said",
	}
}

// plain returns a fact without an attribute.
func plain(content string) facts.Fact {
	return facts.Fact{Kind: ragctx.FactPreference, Content: content, Confidence: 0.9, Importance: 0.6}
}

// found stores the turn of a fact and returns the fact as extracted from it.
func (f *world) found(s said) store.ExtractedFact {
	t := ragctx.Turn{
		ID: s.turn, Namespace: "default", UserID: s.user, AgentID: s.agent,
		Occurred: t0.Add(time.Duration(s.at) * time.Hour),
	}
	// A fact is extracted from a stored turn. Storing it again, also with another time, changes nothing.
	if _, _, _, err := f.PutTurn(context.Background(), f.ns, t, nil, store.Content{}, false); err != nil &&
		!errors.Is(err, ragctx.ErrConflict) {
		panic(err)
	}
	m := memory.FromFinding(t, memory.Finding{Fact: s.Fact})
	return store.ExtractedFact{Memory: m, Content: f.content(m.Content, memory.Chunks(m.Content)), By: ragctx.ByTurn}
}

// learn stores a fact.
func (f *world) learn(t *testing.T, l store.ExtractedFact) store.FactOutcome {
	t.Helper()
	done, _, err := f.StoreFacts(t.Context(), f.ns, []store.ExtractedFact{l}, false)
	if err != nil {
		t.Fatal(err)
	}
	return done[0]
}

// facts returns the current facts by content.
func (f *world) facts(t *testing.T) []ragctx.Memory {
	t.Helper()
	found, err := f.ListMemories(t.Context(), f.ns, store.MemoryFilter{
		AnyUser: true, Now: t0, Limit: 100,
		Kinds: facts.Kinds(), Order: store.ByID,
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b ragctx.Memory) int { return strings.Compare(a.Content+a.UserID, b.Content+b.UserID) })
	return found
}

func testStoreFacts(t *testing.T, open Opener) {
	rome, oslo := about("user", "home", "Rome"), about("user", "home", "Oslo")
	spelled := rome
	spelled.Content, spelled.Value = "User's home: ROME", "rome"
	shared := rome // several values may hold
	shared.Exclusive = false
	all := fresh(t, open)
	for _, c := range []struct {
		name string
		told []said
		ops  string // outcome of each
		left string // values and numbers of sources that are current
	}{
		{"one", []said{{turn: "a", Fact: rome}}, "created", "Rome1"},
		{"the same turn again", []said{{turn: "a", Fact: rome}, {turn: "a", Fact: rome}}, "created -", "Rome1"},
		{"another turn", []said{{turn: "a", Fact: rome}, {turn: "b", at: 1, Fact: rome}}, "created merged", "Rome2"},
		{
			"the same in other words",
			[]said{{turn: "a", Fact: rome}, {turn: "b", at: 1, Fact: spelled}},
			"created merged", "Rome2",
		},
		{"another value", []said{{turn: "a", Fact: rome}, {turn: "b", at: 1, Fact: oslo}}, "created created", "Oslo1"},
		{
			"an older turn, later",
			[]said{{turn: "b", at: 1, Fact: oslo}, {turn: "a", Fact: rome}},
			"created superseded", "Oslo1",
		},
		{
			"back again",
			[]said{{turn: "a", Fact: rome}, {turn: "b", at: 1, Fact: oslo}, {turn: "c", at: 2, Fact: rome}},
			"created created created", "Rome1",
		},
		{"another value that may stand beside", []said{
			{turn: "a", Fact: rome},
			{turn: "b", at: 1, Fact: func() facts.Fact { o := oslo; o.Exclusive = false; return o }()},
		}, "created created", "Oslo1 Rome1"},
		{
			"another subject",
			[]said{{turn: "a", Fact: rome}, {turn: "b", at: 1, Fact: about("sister", "home", "Oslo")}},
			"created created", "Oslo1 Rome1",
		},
		{
			"another attribute",
			[]said{{turn: "a", Fact: rome}, {turn: "b", at: 1, Fact: about("user", "birthplace", "Oslo")}},
			"created created", "Oslo1 Rome1",
		},
		{
			"another user",
			[]said{{turn: "a", user: "ada", Fact: rome}, {turn: "b", user: "bob", at: 1, Fact: oslo}},
			"created created", "Oslo1 Rome1",
		},
		{
			"the same of another user",
			[]said{{turn: "a", user: "ada", Fact: rome}, {turn: "b", user: "bob", at: 1, Fact: rome}},
			"created created", "Rome1 Rome1",
		},
		{
			"another agent",
			[]said{{turn: "a", agent: "x", Fact: rome}, {turn: "b", agent: "y", at: 1, Fact: oslo}},
			"created created", "Oslo1 Rome1",
		},
		{
			"no user beside one",
			[]said{{turn: "a", Fact: rome}, {turn: "b", user: "ada", at: 1, Fact: oslo}},
			"created created", "Oslo1 Rome1",
		},
		{"without an attribute", []said{
			{turn: "a", Fact: plain("Tea, please.")},
			{turn: "b", at: 1, Fact: plain("tea please")},
			{turn: "c", at: 2, Fact: plain("Coffee")},
		}, "created merged created", "1 2"},
		{
			"what may stand beside is merged",
			[]said{{turn: "a", Fact: shared}, {turn: "b", at: 1, Fact: shared}},
			"created merged", "Rome2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := all.in(t, c.name)
			var ops, left []string
			for _, s := range c.told {
				ops = append(ops, cmp.Or(string(f.learn(t, f.found(s)).Op), "-"))
			}
			for _, m := range f.facts(t) {
				left = append(left, fmt.Sprintf("%s%d", m.About.Value, len(m.Sources)))
			}
			slices.Sort(left)
			if got := strings.Join(ops, " "); got != c.ops {
				t.Errorf("became %q, want %q", got, c.ops)
			}
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
		})
	}
}

// testDeletedFacts checks that the same turn does not restore a deleted fact, and that another turn does.
func testDeletedFacts(t *testing.T, open Opener) {
	f := fresh(t, open)
	l := f.found(said{turn: "a", Fact: about("user", "home", "Rome")})
	f.learn(t, l)
	if _, err := f.DeleteMemory(t.Context(), f.ns, l.Memory.ID, "", true); err != nil {
		t.Fatal(err)
	}
	if done := f.learn(t, l); done.Op != "" || len(f.facts(t)) > 0 {
		t.Errorf("%+v, %v", done, f.facts(t))
	}
	if done := f.learn(t, f.found(said{turn: "b", at: 1, Fact: about("user", "home",
		"Rome")})); done.Op != ragctx.OpCreated || len(f.facts(t)) != 1 {
		t.Errorf("%+v", done)
	}
}

// testNamedMemories stores facts that name the memories they are merged with or replace.
func testNamedMemories(t *testing.T, open Opener) {
	f := fresh(t, open)
	first := f.learn(t, f.found(said{turn: "a", Fact: plain("Green tea in the morning, please.")}))
	near := f.found(said{turn: "b", at: 1, Fact: plain("Green tea in the mornings, please.")})
	near.Near = first.ID
	if done := f.learn(t, near); done.ID != first.ID || done.Op != ragctx.OpMerged {
		t.Errorf("%+v", done)
	}
	named := f.found(said{turn: "c", at: -9, Fact: plain("No tea any more.")}) // an older turn
	named.Supersedes = []string{first.ID, "none"}
	done := f.learn(t, named)
	left := f.facts(t)
	if len(left) != 1 || left[0].ID != named.Memory.ID || !slices.Equal(done.Superseded, []string{first.ID}) {
		t.Errorf("%+v, left %+v", done, left)
	}
	gone := f.found(said{turn: "d", at: 2, Fact: plain("Green tea again.")})
	gone.Near = first.ID // superseded
	if done := f.learn(t, gone); done.Op != ragctx.OpCreated {
		t.Errorf("%+v", done)
	}
}

func testDryRun(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.learn(t, f.found(said{turn: "a", Fact: about("user", "home", "Rome")}))
	lessons := []store.ExtractedFact{
		f.found(said{turn: "b", at: 1, Fact: about("user", "home", "Oslo")}),
		f.found(said{turn: "b", at: 1, Fact: plain("Tea.")}),
		f.found(said{turn: "b", at: 1, Fact: plain("tea")}), // twice in the turn
	}
	var before []store.FactOutcome
	for range 2 {
		done, seq, err := f.StoreFacts(t.Context(), f.ns, lessons, true)
		if err != nil || seq != 0 || done[0].Op != ragctx.OpCreated || len(done[0].Superseded) != 1 ||
			done[1].Op != ragctx.OpCreated || done[2].Op != "" {
			t.Fatalf("%+v, %d, %v", done, seq, err)
		}
		before = done
	}
	if left := f.facts(t); len(left) != 1 || left[0].About.Value != "Rome" {
		t.Errorf("left %+v", left)
	}
	done, _, err := f.StoreFacts(t.Context(), f.ns, lessons, false)
	if err != nil || fmt.Sprint(done) != fmt.Sprint(before) {
		t.Errorf("%+v, %v; a dry run said %+v", done, err, before)
	}
}

// testFactsOfTurns reads facts by their turns, and turns by their facts.
func testFactsOfTurns(t *testing.T, open Opener) {
	f := fresh(t, open)
	if must(f.HasFacts(t.Context(), f.ns))(t) {
		t.Error("an empty namespace has facts")
	}
	turn := ragctx.Turn{ID: "a", UserID: "ada", Prompt: "I live in Rome.", Occurred: t0}
	if _, _, _, err := f.putTurn(t, turn, false); err != nil {
		t.Fatal(err)
	}
	rome := f.learn(t, f.found(said{turn: "a", user: "ada", Fact: about("user", "home", "Rome")}))
	tea := f.learn(t, f.found(said{turn: "a", user: "ada", Fact: plain("Tea, please.")}))
	f.learn(t, f.found(said{turn: "b", user: "ada", at: 1, Fact: about("user", "home", "Oslo")}))
	if !must(f.HasFacts(t.Context(), f.ns))(t) {
		t.Error("the namespace has no facts")
	}
	got := must(f.Facts(t.Context(), f.ns, "ada", "", []string{tea.ID, "none", rome.ID}, 9))(t)
	if len(got) != 1 || got[0].ID != tea.ID {
		t.Errorf("current facts by id: %+v", got)
	}
	if got := must(f.Facts(t.Context(), f.ns, "bob", "", []string{tea.ID}, 9))(t); len(got) > 0 {
		t.Errorf("bob has the facts %+v", got)
	}
	scope := store.MemoryFilter{UserID: "ada", Now: t0.AddDate(1, 0, 0)}
	turns := must(f.FactsOfTurns(t.Context(), f.ns, []string{"a", "none"}, scope))(t)
	since := make(map[string]string)
	for _, x := range turns["a"] {
		since[x.ID] = x.SupersededBy
	}
	want := map[string]string{rome.ID: "The home of the user is Oslo.", tea.ID: ""}
	if len(turns) != 1 || !maps.Equal(since, want) {
		t.Errorf("facts of turns %+v, replaced by %v", turns, since)
	}
	f.testDistilled(t, scope)
	var chunks []uint64 // of facts and of the turn
	for _, c := range f.follow(t, f.memories(), 0).Add {
		chunks = append(chunks, c.ID)
	}
	episode := must(f.ChunksOfFacts(t.Context(), f.ns, chunks, t0.AddDate(1, 0, 0)))(t)
	for fact, of := range episode {
		if len(of) != 1 || !strings.Contains(of[0].Text, "I live in Rome.") {
			t.Errorf("the turn of the fact with chunk %d is %+v", fact, of)
		}
	}
	if len(episode) != 2 {
		t.Errorf("%d facts of turns with an episode, want 2", len(episode))
	}
}

// testDistilled lists without the turn of two facts, also after they end, and counts the owners of the rest.
func (f *world) testDistilled(t *testing.T, scope store.MemoryFilter) {
	t.Helper()
	scope.Limit, scope.Order = 9, store.ByID
	all := len(f.list(t, scope))
	scope.Distilled = true
	left := f.list(t, scope)
	if all != 3 || len(left) != all-1 || slices.Contains(left, "a") {
		t.Errorf("%v of %d memories are left without turns", left, all)
	}
	want := []store.OwnerCount{{Kind: "user", Name: "ada", Memories: 2, First: t0, Last: t0.AddDate(0, 0, 1)}}
	owners := must(f.CountOwners(t.Context(), f.ns, scope))(t)
	if len(owners) != 1 || owners[0].Kind != "user" || owners[0].Name != "ada" || owners[0].Memories != 2 {
		t.Errorf("owners %+v, want %+v", owners, want)
	}
}
