package stage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// words counts words, so that costs are easy to see.
type words struct{}

func (words) Name() string       { return "words" }
func (words) Count(s string) int { return len(strings.Fields(s)) }

// fakeStage is a stage with configurable behaviour.
type fakeStage struct {
	name     string
	priority int
	apply    func(context.Context, *stage.State, []ragctx.Message, stage.Budget) ([]ragctx.Message, error)
}

func (s fakeStage) Name() string  { return s.name }
func (s fakeStage) Priority() int { return s.priority }
func (s fakeStage) EstimateTokens(context.Context, *stage.State) int {
	panic("a pipeline never asks")
}

func (s fakeStage) Apply(ctx context.Context, st *stage.State, m []ragctx.Message, b stage.Budget) ([]ragctx.Message, error) {
	return s.apply(ctx, st, m, b)
}

// adds is a stage that appends a message.
func adds(name string, priority int) fakeStage {
	return fakeStage{name, priority, func(_ context.Context, _ *stage.State, m []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
		return append(m, user(name)), nil
	}}
}

func user(s string) ragctx.Message   { return ragctx.TextMessage(ragctx.RoleUser, s) }
func system(s string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleSystem, s) }

func texts(messages []ragctx.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Content.String())
	}
	return strings.Join(out, " ")
}

func pipe(t *testing.T, stages ...stage.Stage) *stage.Pipeline {
	t.Helper()
	p, err := stage.New(stage.Options{Counter: words{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stages {
		if err := p.Register(s); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func run(t *testing.T, p *stage.Pipeline, s *stage.State) stage.Result {
	t.Helper()
	res, err := p.Run(context.Background(), s, s.Messages, stage.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Order by priority with stable ties; a stage registered late runs early if its priority
// is low.
func TestOrder(t *testing.T) {
	p := pipe(t, adds("b1", 20), adds("c", 30), adds("b2", 20))
	if err := p.Register(adds("a", 5)); err != nil {
		t.Fatal(err)
	}
	s := &stage.State{Messages: []ragctx.Message{user("x")}}
	if got := texts(run(t, p, s).Messages); got != "x a b1 b2 c" {
		t.Error(got)
	}
	if got := texts(s.Messages); got != "x" { // a run does not change the state
		t.Errorf("the state has %s", got)
	}
	if err := p.Register(adds("a", 1)); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a second stage of the name: %v", err)
	}
	if !p.Unregister("a") || p.Unregister("a") || texts(run(t, p, s).Messages) != "x b1 b2 c" {
		t.Error("a stage cannot be taken out")
	}
}

// Nil leaves the list, an empty list replaces it, and a result with an
// error is discarded.
func TestResultsOfStages(t *testing.T) {
	returns := func(out []ragctx.Message, err error) fakeStage {
		return fakeStage{"s", 10, func(_ context.Context, s *stage.State, m []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
			if len(m) > 0 {
				m[0] = user("changed") // its copy
			}
			if err != nil {
				s.Persist(out)
			}
			return out, err
		}}
	}
	for name, c := range map[string]struct {
		stage fakeStage
		want  string
		check func(stage.Report) bool
	}{
		"nil":     {returns(nil, nil), "x after", func(r stage.Report) bool { return r.Error == "" && r.MessagesAfter == 1 }},
		"empty":   {returns([]ragctx.Message{}, nil), "after", func(r stage.Report) bool { return r.MessagesAfter == 0 && r.TokensAfter == 0 }},
		"error":   {returns([]ragctx.Message{user("bad")}, errors.New("down")), "x after", func(r stage.Report) bool { return r.Error == "down" && !r.Persisted }},
		"skipped": {returns(nil, stage.Skipped("nothing to do")), "x after", func(r stage.Report) bool { return r.Skipped == "nothing to do" && r.Error == "" }},
		"panic": {fakeStage{"s", 10, func(context.Context, *stage.State, []ragctx.Message, stage.Budget) ([]ragctx.Message, error) {
			panic("oops")
		}}, "x after", func(r stage.Report) bool { return strings.Contains(r.Error, "oops") }},
	} {
		s := &stage.State{Messages: []ragctx.Message{user("x")}}
		res := run(t, pipe(t, c.stage, adds("after", 20)), s)
		if got := texts(res.Messages); got != c.want || !c.check(res.Reports[0]) {
			t.Errorf("%s: %q, %+v", name, got, res.Reports[0])
		}
		if texts(s.Messages) != "x" {
			t.Errorf("%s: the state has %s", name, texts(s.Messages))
		}
	}
}

// Cancellation is looked at between stages and stops at once.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stops := fakeStage{"stops", 10, func(_ context.Context, _ *stage.State, m []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
		cancel()
		return append(m, user("done")), nil
	}}
	res, err := pipe(t, stops, adds("never", 20)).Run(ctx, &stage.State{}, []ragctx.Message{user("x")}, stage.Budget{})
	if !errors.Is(err, context.Canceled) || texts(res.Messages) != "x done" || len(res.Reports) != 2 || res.Reports[1].Skipped == "" {
		t.Errorf("%v, %q, %+v", err, texts(res.Messages), res.Reports)
	}
}

func TestReports(t *testing.T) {
	now := time.Unix(0, 0)
	p, err := stage.New(stage.Options{Counter: words{}, Now: func() time.Time { now = now.Add(time.Second); return now }})
	if err != nil {
		t.Fatal(err)
	}
	persists := fakeStage{"persists", 1, func(_ context.Context, s *stage.State, m []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
		out := slices.Concat(m, []ragctx.Message{user("two words")})
		s.Persist(out)
		return out, nil
	}}
	if err := errors.Join(p.Register(persists), p.Register(adds("view", 2))); err != nil {
		t.Fatal(err)
	}
	s := &stage.State{Messages: []ragctx.Message{user("one")}}
	want := []stage.Report{
		{Stage: "persists", Priority: 1, MessagesBefore: 1, MessagesAfter: 2, TokensBefore: 5, TokensAfter: 11, Duration: time.Second, Persisted: true},
		{Stage: "view", Priority: 2, MessagesBefore: 2, MessagesAfter: 3, TokensBefore: 11, TokensAfter: 16, Duration: time.Second},
	}
	if diff := cmp.Diff(want, run(t, p, s).Reports); diff != "" {
		t.Error(diff)
	}
	if texts(s.Messages) != "one two words" {
		t.Errorf("the state has %s", texts(s.Messages))
	}
}

// Trap 20: a stage that adds and persists its text in every run has it there once.
func TestTextsAreAddedOnce(t *testing.T) {
	crm := fakeStage{"crm", 5, func(_ context.Context, s *stage.State, m []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
		out := append([]ragctx.Message{m[0], system("Account: Acme")}, m[1:]...)
		s.Persist(out)
		return out, nil
	}}
	p := pipe(t, crm)
	s := &stage.State{Messages: []ragctx.Message{system("Be good."), user("yes"), user("yes")}}
	for i, phase := range []session.Phase{session.PhaseLoop, session.PhaseLoop, session.PhaseSynthesis} {
		s.Phase = phase
		res := run(t, p, s)
		if got := texts(res.Messages); got != "Be good. Account: Acme yes yes" || texts(s.Messages) != got {
			t.Fatalf("run %d: %q; the state has %q", i, got, texts(s.Messages))
		}
		if want := min(i, 1); res.Reports[0].Repeated != want {
			t.Errorf("run %d: %d repeated", i, res.Reports[0].Repeated)
		}
	}
}

// long is a conversation with an instruction and much traffic.
func long(n int) []ragctx.Message {
	out := []ragctx.Message{system("You are an agent.")}
	for i := range n {
		out = append(out, user(fmt.Sprintf("Please do step %d of the plan that we made for the release of the shop.", i)),
			ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("Step %d is done and all of the tests of it have passed.", i)))
	}
	for i := range out {
		out[i].ID = fmt.Sprintf("m%d", i)
	}
	return out
}

func builtin(t *testing.T, b stage.BuiltinOptions) *stage.Pipeline {
	t.Helper()
	p, err := stage.Builtin(stage.Options{Counter: words{}}, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Truncation leaves the state as it is, compaction persists.
func TestTruncationIsAView(t *testing.T) {
	p := builtin(t, stage.BuiltinOptions{MaxMessages: 6})
	s := &stage.State{Messages: long(20)}
	res := run(t, p, s)
	if len(res.Messages) != 5 || res.Messages[0].ID != "m0" || len(s.Messages) != 41 || res.Reports[0].Persisted {
		t.Errorf("%d messages from %s, the state has %d", len(res.Messages), res.Messages[0].ID, len(s.Messages))
	}
	for most, b := range map[int]stage.Budget{100: {Tokens: 100}, 60: {Tokens: 60}} {
		res, err := p.Run(context.Background(), s, s.Messages, b)
		if err != nil || res.Reports[0].TokensAfter > most {
			t.Errorf("%d tokens of %d, %v", res.Reports[0].TokensAfter, most, err)
		}
	}
	orphan := []ragctx.Message{{Role: ragctx.RoleUser, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "x"}}}}
	if res, err := p.Run(context.Background(), s, orphan, stage.Budget{}); err != nil || len(res.Messages) != 0 {
		t.Errorf("an orphan is shown: %v, %v", res.Messages, err)
	}
}

func TestCompactionPersists(t *testing.T) {
	p := builtin(t, stage.BuiltinOptions{Compaction: &compact.Options{Strategy: compact.Extractive}})
	s := &stage.State{Scope: stage.Scope{SessionID: "s"}, Messages: long(50)}
	budget := stage.Budget{Window: 2000}
	res, err := p.Run(context.Background(), s, s.Messages, budget)
	if err != nil || !res.Reports[0].Persisted || len(s.Records) != 1 || len(s.Messages) != len(res.Messages) || s.Used == 0 {
		t.Fatalf("%+v, %d records, %v", res.Reports[0], len(s.Records), err)
	}
	raw := long(50)
	if diff := cmp.Diff(compact.Apply(raw, s.Records), s.Messages); diff != "" {
		t.Error(diff)
	}
	again, err := p.Run(context.Background(), s, s.Messages, budget) // usage is up to date
	if err != nil || again.Reports[0].Skipped == "" || len(s.Records) != 1 {
		t.Errorf("%+v, %v", again.Reports[0], err)
	}
	more := long(100)[101:]
	s.Persist(append(s.Messages, more...))
	s.Used = 0
	if _, err := p.Run(context.Background(), s, s.Messages, budget); err != nil || len(s.Records) != 2 {
		t.Fatalf("%d records, %v", len(s.Records), err)
	}
	if diff := cmp.Diff(compact.Apply(append(raw, more...), s.Records), s.Messages); diff != "" {
		t.Errorf("records of a view do not hold for the conversation: %s", diff)
	}
}

// A stage at 5 sees messages before observations; extra stages run in loop and
// synthesis.
func TestExtraStages(t *testing.T) {
	notes := &stage.MemoryNotes{}
	scope := stage.Scope{Namespace: "n", SessionID: "s"}
	if err := notes.AddNote(context.Background(), scope, stage.Note{Intent: "build a shop"}); err != nil {
		t.Fatal(err)
	}
	runs, saw := 0, ""
	early := fakeStage{"early", 5, func(_ context.Context, _ *stage.State, m []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
		runs++
		saw = texts(m)
		return nil, nil
	}}
	p := builtin(t, stage.BuiltinOptions{Observations: &stage.Observation{Notes: notes}, Compaction: &compact.Options{Window: 10}, Extra: []stage.Stage{early}})
	s := &stage.State{Scope: scope, Messages: long(2)}
	run(t, p, s)
	if strings.Contains(saw, "Observations") {
		t.Error("the stage at 5 sees observations")
	}
	s.Phase = session.PhaseSynthesis
	if run(t, p, s); runs != 2 {
		t.Errorf("it ran %d times", runs)
	}
	var names []string
	for _, st := range p.Stages() {
		names = append(names, st.Name())
	}
	if diff := cmp.Diff([]string{"early", "observation", "compaction", "truncation"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestBuiltinIsChecked(t *testing.T) {
	for _, b := range []stage.BuiltinOptions{{Compaction: &compact.Options{Threshold: 7}}, {Extra: []stage.Stage{adds("truncation", 1)}}, {Extra: []stage.Stage{adds("", 1)}}} {
		if _, err := stage.Builtin(stage.Options{}, b); err == nil {
			t.Errorf("%+v passes", b)
		}
	}
}
