package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
)

func strategy(t testing.TB, sources string) ledger.Strategy {
	t.Helper()
	s, _, err := ledger.ParseStrategy([]byte(`{"sources":[` + sources + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func build(t testing.TB, log ledger.Log, r ledger.PackRequest) ledger.Pack {
	t.Helper()
	r.Namespace, r.Cluster = "default", "c"
	p, err := (&ledger.Builder{Log: log}).Build(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// texts publishes a message of a topic for each word.
func texts(t testing.TB, log ledger.Log, topic string, words ...string) []ledger.Message {
	t.Helper()
	var batch []ledger.Message
	for _, w := range words {
		batch = append(batch, ledger.Message{Topic: topic, Text: w})
	}
	return publish(t, log, batch...)
}

// shownWords returns which of the words are in the context, in its order.
func shownWords(context string, words ...string) string {
	var out []string
	for l := range strings.Lines(context) {
		for _, w := range words {
			if strings.TrimSpace(l) == w {
				out = append(out, w)
			}
		}
	}
	return strings.Join(out, " ")
}

// outcome writes decisions as a word each.
func outcome(p ledger.Pack) string {
	var out []string
	for _, d := range p.Decisions {
		w := d.ID + "=" + d.Variant
		if d.Status == budget.Skipped {
			w = d.ID + "!" + string(d.Reason)
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// What latest, oldest and all take, shown oldest first; all with an amount
// is the first.
func TestSourceChoice(t *testing.T) {
	log := newLog()
	texts(t, log, "A", "one", "two", "three", "four")
	for in, want := range map[string]string{
		`{"topic":"A"}`:                                                  "one two three four",
		`{"topic":"A","amount":2}`:                                       "three four",
		`{"topic":"A","limit":2}`:                                        "three four",
		`{"topic":"A","limit":2,"amount":3}`:                             "two three four",
		`{"topic":"A","strategy":"latest","amount":1}`:                   "four",
		`{"topic":"A","strategy":"latest"}`:                              "one two three four",
		`{"topic":"A","strategy":"oldest","amount":2}`:                   "one two",
		`{"topic":"A","strategy":"oldest"}`:                              "one two three four",
		`{"topic":"A","strategy":"all","amount":3}`:                      "one two three",
		`{"topic":"A","strategy":"all","amount":9}`:                      "one two three four",
		`{"topic":"A*","amount":1}`:                                      "four",
		`{"topic":"*","amount":2}`:                                       "three four",
		`{"topic":"B*"}`:                                                 "",
		`{"topic":"A","sender":"nobody"}`:                                "",
		`{"topic":"A","sender":"agent","amount":1}`:                      "four",
		`{"topic":"A","since":1700000000002,"amount":9}`:                 "three four",
		`{"topic":"A","since":"2023-11-14T22:13:20.003Z"}`:               "four",
		`{"topic":"A","since":"2023-11-15"}`:                             "",
		`{"topic":"A","since":"cluster_start"}`:                          "one two three four",
		`{"topic":"A","strategy":"all","since":"2023-11-14","amount":1}`: "one",
	} {
		p := build(t, log, ledger.PackRequest{Strategy: strategy(t, in)})
		if got := shownWords(p.Context, "one", "two", "three", "four"); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// The compact form is one message in the source's own choice, of which all becomes
// latest, and is capped also where the full one is not.
func TestSourceCompact(t *testing.T) {
	log := newLog()
	long := strings.Repeat("x", 400)
	texts(t, log, "A", long, "one", long, "two")
	for in, want := range map[string]string{
		`{"topic":"A"}`: "two",
		`{"topic":"A","strategy":"all","compactStrategy":"oldest","compactAmount":2}`: "one",
		`{"topic":"A","strategy":"oldest","amount":4}`:                                "",
		`{"topic":"A","strategy":"latest","amount":4,"compactAmount":1}`:              "two",
		`{"topic":"A","amount":4,"compactStrategy":"all","compactAmount":2}`:          "one",
	} {
		s := strategy(t, in)
		s.MaxTokens = 150
		p := build(t, log, ledger.PackRequest{Strategy: s})
		if got := shownWords(p.Context, "one", "two"); got != want {
			t.Errorf("%s: got %q of %s, want %q", in, got, outcome(p), want)
		}
	}
}

// The exact form of a source, and of the trigger.
func TestRender(t *testing.T) {
	log := newLog()
	m := publish(t, log,
		ledger.Message{Topic: "A", Sender: "a", Text: "hello", Data: json.RawMessage(`{"n":[1],"big":9007199254740993}`)},
		ledger.Message{Topic: "A", Sender: "b", Data: json.RawMessage(`null`)},
		ledger.Message{Topic: "START", Sender: "c", Text: "go", Data: json.RawMessage(`{"x":1}`)})
	p := build(t, log, ledger.PackRequest{
		Strategy: strategy(t, `{"topic":"A"}`), Trigger: ledger.Trigger{Sequence: m[2].Sequence},
		Parts: ledger.Parts{Header: "You are a worker.", QueuedGuidance: []string{"be brief"}, JSONSchema: json.RawMessage(`{"type":"object"}`)},
	})
	want := `
You are a worker.

## Queued Guidance

be brief

## Output Schema

{
  "type": "object"
}

## Messages from topic: A

[2023-11-14T22:13:20.000Z] a:
hello
Data: {
  "n": [
    1
  ],
  "big": 9007199254740993
}

[2023-11-14T22:13:20.001Z] b:


## Triggering Message

Topic: START
Sender: c

go
Data: {
  "x": 1
}
`
	if diff := cmp.Diff(want, p.Context); diff != "" {
		t.Error(diff)
	}
	if got := outcome(p); got != "header=full queuedGuidance=full jsonSchema=full source:A:0=full triggeringMessage=full" {
		t.Error(got)
	}
}

// Replay filter: neither messages that may not be shown again nor the
// trigger use up the amount.
func TestReplay(t *testing.T) {
	log := newLog()
	meta := func(s string) json.RawMessage { return json.RawMessage(s) }
	m := publish(t, log,
		ledger.Message{Topic: "A", Text: "one"},
		ledger.Message{Topic: "A", Text: "two", Metadata: meta(`{"contextSafe":true,"replayPolicy":"raw_log_only"}`)},
		ledger.Message{Topic: "A", Text: "no", Metadata: meta(`{"contextSafe":false}`), Data: meta(`{"contextSafe":true}`)},
		ledger.Message{Topic: "A", Text: "no", Data: meta(`{"contextSafe":false,"replayPolicy":"context"}`)},
		ledger.Message{Topic: "A", Text: "no", Metadata: meta(`{"replayPolicy":"raw_log_only"}`)},
		ledger.Message{Topic: "A", Text: "three", Metadata: meta(`{"replayPolicy":"context","contextSafe":"false"}`)},
		ledger.Message{Topic: "AGENT_OUTPUT", Text: "no"},
		ledger.Message{Topic: "AGENT_OUTPUT", Text: "four", Metadata: meta(`{"replayPolicy":"context"}`)},
		ledger.Message{Topic: "A", Text: "the trigger"})
	both := strategy(t, `{"topic":"A","amount":2},{"topic":"AGENT_OUTPUT","amount":5}`)
	p := build(t, log, ledger.PackRequest{Strategy: both, Trigger: ledger.Trigger{Sequence: m[8].Sequence}})
	if got := shownWords(p.Context, "one", "two", "three", "four", "no", "the trigger"); got != "two three four the trigger" {
		t.Errorf("got %q\n%s", got, p.Context)
	}
	if q := build(t, log, ledger.PackRequest{Strategy: both, Trigger: ledger.Trigger{ID: m[8].ID}}); q.Context != p.Context {
		t.Errorf("with the trigger by its id:\n%s", q.Context)
	}
	if r := p.Sources[0]; r.Withheld != 3 || r.Selected != 2 {
		t.Errorf("report %+v", r)
	}
}

// The filter also holds where a page of messages is full of what is withheld.
func TestReplayAcrossPages(t *testing.T) {
	log := newLog()
	texts(t, log, "A", "one", "two")
	for range 3 {
		var batch []ledger.Message
		for range 500 {
			batch = append(batch, ledger.Message{Topic: "A", Text: "no", Metadata: json.RawMessage(`{"contextSafe":false}`)})
		}
		publish(t, log, batch...)
	}
	texts(t, log, "A", "three")
	p := build(t, log, ledger.PackRequest{Strategy: strategy(t, `{"topic":"A","amount":2},{"topic":"A","strategy":"oldest","amount":3}`)})
	if got := shownWords(p.Context, "one", "two", "three", "no"); got != "two three one two three" || p.Sources[0].Withheld != 1500 {
		t.Errorf("got %q, %+v", got, p.Sources[0])
	}
}

// A budget of 1 token keeps trigger, issue and plan, and drops what is of medium
// priority.
func TestRequiredBeyondBudget(t *testing.T) {
	log := newLog()
	texts(t, log, "ISSUE_OPENED", "issue")
	texts(t, log, "PLAN_READY", "plan")
	texts(t, log, "CHAT", "chat")
	s := strategy(t, `{"topic":"CHAT"},{"topic":"ISSUE_OPENED"},{"topic":"PLAN_READY"},{"topic":"STATE_SNAPSHOT"}`)
	s.MaxTokens = 1
	p := build(t, log, ledger.PackRequest{Strategy: s, Trigger: ledger.Trigger{Topic: "GO", Sender: "x", Text: "now"}})
	if got := outcome(p); got != "source:CHAT:0!budget source:ISSUE_OPENED:1=full source:PLAN_READY:2=full source:STATE_SNAPSHOT:3!empty triggeringMessage=full" {
		t.Error(got)
	}
	if p.Budget.OverBudgetTokens == 0 || *p.Budget.RemainingTokens != 0 {
		t.Errorf("budget %+v", p.Budget)
	}
}

// Priorities where none is named.
func TestRank(t *testing.T) {
	for topic, want := range map[string]budget.Priority{
		"STATE_SNAPSHOT": budget.Required, "ISSUE_OPENED": budget.Required, "PLAN_READY": budget.Required,
		"VALIDATION_RESULT": budget.High, "IMPLEMENTATION_READY": budget.High, "WORKER_PROGRESS": budget.Medium,
	} {
		if got := strategy(t, `{"topic":"`+topic+`"}`).Sources[0].Rank(); got != want {
			t.Errorf("%s is %s, want %s", topic, got, want)
		}
	}
	if got := strategy(t, `{"topic":"PLAN_READY","priority":"low"}`).Sources[0].Rank(); got != budget.Low {
		t.Errorf("its own priority: %s", got)
	}
}

// The limit on characters keeps the trigger whole and ends at 500,000.
func TestMaxChars(t *testing.T) {
	log := newLog()
	texts(t, log, "PLAN_READY", strings.Repeat("p", 400_000))
	texts(t, log, "ISSUE_OPENED", strings.Repeat("i", 300_000))
	texts(t, log, "CHAT", strings.Repeat("c", 20))
	s := strategy(t, `{"topic":"CHAT"},{"topic":"ISSUE_OPENED"},{"topic":"PLAN_READY"}`)
	s.MaxTokens = 1_000_000
	p := build(t, log, ledger.PackRequest{Strategy: s, Trigger: ledger.Trigger{Topic: "GO", Sender: "x", Text: strings.Repeat("t", 50_000)}})
	if n := budget.Chars(p.Context); n > 500_000 || !p.MaxChars.Applied {
		t.Errorf("%d chars, %+v", n, p.MaxChars)
	}
	if !strings.HasSuffix(p.Context, strings.Repeat("t", 50_000)+"\n") || !strings.Contains(p.Context, "[Context truncated to fit limit]") {
		t.Error("the trigger is not whole, or no mark says what was cut")
	}
}

// What since means, and that the bound is included.
func TestSince(t *testing.T) {
	log := newLog()
	event := func(name string) {
		publish(t, log, ledger.Message{Topic: "AGENT_LIFECYCLE", Sender: "w1", Data: json.RawMessage(`{"event":"` + name + `"}`)})
	}
	texts(t, log, "A", "zero")
	event("TASK_STARTED") // the run before
	texts(t, log, "A", "one")
	event("TASK_COMPLETED")
	trigger := texts(t, log, "A", "two", "the trigger")[1]
	event("TASK_STARTED") // the run that the context is for
	texts(t, log, "A", "three")
	words := []string{"zero", "one", "two", "three"}
	start := stored(t, log)[0].Timestamp
	for _, tt := range []struct {
		since string
		times ledger.Times
		agent string
		want  string
	}{
		{"cluster_start", ledger.Times{}, "w1", "zero one two three"},
		{"cluster_start", ledger.Times{ClusterStart: start + 2}, "w1", "one two three"},
		{"last_task_end", ledger.Times{}, "w1", "two three"},
		{"last_agent_start", ledger.Times{}, "w1", "one two three"},
		{"last_agent_start", ledger.Times{LastAgentStart: start + 4}, "w1", "two three"},
		{"last_agent_start", ledger.Times{}, "w2", "zero one two three"},
		{"cluster_start", ledger.Times{ClusterStart: -5}, "w1", "zero one two three"},
		{"1969-07-20", ledger.Times{}, "w1", "zero one two three"}, // before there were timestamps
		{"last_task_end", ledger.Times{ClusterStart: start + 4}, "w2", "two three"},
	} {
		p := build(t, log, ledger.PackRequest{
			Agent: ledger.Agent{ID: tt.agent}, Times: tt.times, Trigger: ledger.Trigger{Sequence: trigger.Sequence},
			Strategy: strategy(t, `{"topic":"A","since":"`+tt.since+`"}`),
		})
		if got := shownWords(p.Context, words...); got != tt.want {
			t.Errorf("%s of %s, %+v: got %q, want %q", tt.since, tt.agent, tt.times, got, tt.want)
		}
	}
}

// Queued guidance appears in the next prompt only: as a part of the request, and as
// a source since the agent's last start.
func TestGuidanceOnce(t *testing.T) {
	log := newLog()
	s := strategy(t, `{"topic":"USER_GUIDANCE","since":"last_agent_start"}`)
	run := func(guidance ...string) string {
		trigger := texts(t, log, "GO", "go")[0]
		p := build(t, log, ledger.PackRequest{
			Strategy: s, Agent: ledger.Agent{ID: "w"}, Trigger: ledger.Trigger{Sequence: trigger.Sequence},
			Parts: ledger.Parts{QueuedGuidance: guidance},
		})
		publish(t, log, ledger.Message{Topic: "AGENT_LIFECYCLE", Sender: "w", Data: json.RawMessage(`{"event":"TASK_STARTED"}`)})
		return shownWords(p.Context, "use tabs", "be brief")
	}
	texts(t, log, "USER_GUIDANCE", "use tabs")
	if got := run("be brief"); got != "be brief use tabs" {
		t.Errorf("the next prompt has %q", got)
	}
	if got := run(); got != "" {
		t.Errorf("the one after has %q", got)
	}
}

// Hints for validators alone, of the newest 50 results, the first reason of each
// criterion; reasons of the platform not where the agent is isolated.
func TestSkipHints(t *testing.T) {
	log := newLog()
	result := func(id, reason string) {
		publish(t, log, ledger.Message{Topic: "VALIDATION_RESULT", Data: json.RawMessage(
			fmt.Sprintf(`{"criteriaResults":[{"id":%q,"status":"CANNOT_VALIDATE","reason":%q},{"id":"ok","status":"PASS"}]}`, id, reason))})
	}
	result("OLD", "out of the newest 50")
	result("AC1", "first reason")
	result("AC1", "second reason")
	result("AC2", "")
	result("AC3", "Platform mismatch: needs arm64")
	for range 46 {
		result("AC1", "again")
	}
	for _, tt := range []struct {
		agent ledger.Agent
		want  []string
	}{
		{ledger.Agent{Role: "worker"}, nil},
		{ledger.Agent{Role: "validator"}, []string{"- AC1: first reason", "- AC2: no reason was given", "- AC3: Platform mismatch: needs arm64"}},
		{ledger.Agent{Role: "validator", Isolated: true}, []string{"- AC1: first reason", "- AC2: no reason was given"}},
	} {
		p := build(t, log, ledger.PackRequest{Agent: tt.agent, Trigger: ledger.Trigger{Topic: "GO", Text: "go"}})
		var got []string
		for l := range strings.Lines(p.Context) {
			if strings.HasPrefix(l, "- ") {
				got = append(got, strings.TrimSpace(l))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v: %s", tt.agent, diff)
		}
		if !strings.HasPrefix(outcome(p)[len(outcome(p))-len("triggeringMessage=full"):], "triggeringMessage") {
			t.Error("the trigger is not last")
		}
	}
}

// Every validator's rejection details appear in full in the worker's context, also
// of the one whose message the trigger is.
func TestRejectionsInFull(t *testing.T) {
	log := newLog()
	var want []string
	var last ledger.Message
	for i := range 4 {
		detail := fmt.Sprintf("validator %d: %s end", i, strings.Repeat("detail ", 300))
		want = append(want, detail)
		last = publish(t, log, ledger.Message{
			Topic: "VALIDATION_RESULT", Sender: fmt.Sprint("v", i), Data: json.RawMessage(fmt.Sprintf(`{"approved":false,"errors":[%q]}`, detail)),
		})[0]
	}
	p := build(t, log, ledger.PackRequest{
		Agent: ledger.Agent{Role: "worker"}, Trigger: ledger.Trigger{Sequence: last.Sequence},
		Strategy: strategy(t, `{"topic":"VALIDATION_RESULT","since":"last_task_end","strategy":"latest","amount":5}`),
	})
	for _, w := range want {
		if strings.Count(p.Context, w) != 1 {
			t.Errorf("%.20s... is there %d times", w, strings.Count(p.Context, w))
		}
	}
}

// An empty context says why, source by source.
func TestEmptyContextSaysWhy(t *testing.T) {
	log := newLog()
	p := build(t, log, ledger.PackRequest{Strategy: strategy(t, `{"topic":"A"}`)})
	if p.Context != "" || !strings.Contains(p.Note, "the cluster has no messages") {
		t.Errorf("%q, note %q", p.Context, p.Note)
	}
	m := texts(t, log, "A", "one", "two")
	publish(t, log, ledger.Message{Topic: "AGENT_OUTPUT", Text: "raw"})
	trigger := texts(t, log, "GO", "go")[0]
	p = build(t, log, ledger.PackRequest{
		Trigger:  ledger.Trigger{Sequence: trigger.Sequence},
		Strategy: strategy(t, `{"topic":"B"},{"topic":"A","since":"2030-01-01"},{"topic":"AGENT_OUTPUT"},{"topic":"GO"},{"topic":"A","sender":"x"},{"topic":"B*"}`),
	})
	var got []string
	for _, r := range p.Sources {
		got = append(got, fmt.Sprintf("%d/%d: %s", r.InRange, r.Stored, r.Reason))
	}
	want := []string{
		"0/0: the cluster has no message of topic B", "0/2: 2 of topic A, none since 2030-01-01T00:00:00.000Z",
		"1/1: 1 of topic AGENT_OUTPUT, 1 of them must not be shown again", "1/1: 1 of topic GO, only the triggering message",
		"0/0: the cluster has no message of topic A from x", "4/4: none of 4 messages has topic B*",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(p.Note, "no source contributed: source:B:0: the cluster has no message") {
		t.Errorf("note %q", p.Note)
	}
	s := strategy(t, `{"topic":"A"}`)
	s.MaxTokens = 1
	if p = build(t, log, ledger.PackRequest{Strategy: s}); p.Note != "no source contributed: source:A:0: budget" {
		t.Errorf("note %q", p.Note)
	}
	if p = build(t, log, ledger.PackRequest{
		Strategy: strategy(t, `{"topic":"A"}`),
		After:    m[1].Sequence,
	}); !strings.Contains(p.Note, "none after sequence 2") {
		t.Errorf("note %q", p.Note)
	}
	if p = build(t, log, ledger.PackRequest{
		Strategy: strategy(t, `{"topic":"A"}`),
		After:    m[0].Sequence,
	}); shownWords(p.Context, "one", "two") != "two" || p.Note != "" || p.Through != trigger.Sequence {
		t.Errorf("%q, note %q, through %d", p.Context, p.Note, p.Through)
	}
}

func TestPackErrors(t *testing.T) {
	b := &ledger.Builder{Log: newLog()}
	for name, tt := range map[string]struct {
		r    ledger.PackRequest
		want string
	}{
		"foreign trigger": {ledger.PackRequest{Trigger: ledger.Trigger{Sequence: 7}}, "the cluster has no message of sequence 7"},
		"unknown trigger": {
			ledger.PackRequest{Trigger: ledger.Trigger{ID: "msg_00112233445566778899aabbccddeeff"}},
			"the cluster has no message msg_0011",
		},
		"strategy": {ledger.PackRequest{Strategy: ledger.Strategy{MaxTokens: -1}}, "maxTokens: is -1"},
		"long part": {
			ledger.PackRequest{Parts: ledger.Parts{RepoTooling: strings.Repeat("x", 1<<20+1)}},
			"parts.repo_tooling: is 1048577 bytes long",
		},
		"no retriever":     {ledger.PackRequest{Strategy: strategy(t, `{"kind":"documents"}`)}, "need an engine"},
		"nameless cluster": {ledger.PackRequest{Namespace: "default"}, "cluster"},
	} {
		if tt.r.Namespace == "" {
			tt.r.Namespace, tt.r.Cluster = "default", "c"
		}
		if _, err := b.Build(t.Context(), tt.r); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// Documents and memories as sources: searched for the trigger's text or their own query,
// and shorter where they do not fit.
func TestRetrievedSources(t *testing.T) {
	var asked []string
	b := &ledger.Builder{Log: newLog(), Retrieve: func(_ context.Context, q ragctx.ContextQuery) (ledger.Retrieved, error) {
		asked = append(asked, fmt.Sprint(q.Query, " ", q.ContextTypes, " ", q.Depth, " ", q.MaxResults, " ", q.UserID))
		if q.Wants(ragctx.TypeMemory) {
			return ledger.Retrieved{Note: "nobody remembers"}, nil
		}
		if q.Depth == ragctx.DepthAbstract {
			return ledger.Retrieved{Text: "<short/>", Items: 1}, nil
		}
		return ledger.Retrieved{Text: strings.Repeat("<long/>", 100), Items: 3}, nil
	}}
	s := strategy(t, `{"kind":"documents","amount":3},{"kind":"memories","query":"who","since":"2026-01-01"}`)
	s.MaxTokens = 60
	p, err := b.Build(t.Context(), ledger.PackRequest{
		Namespace: "default", Cluster: "c", Strategy: s, UserID: "u",
		Trigger: ledger.Trigger{Topic: "GO", Text: "why"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"why [resource] overview 3 u", "why [resource] abstract 1 u", "who [memory] overview 10 u", "who [memory] abstract 1 u"}
	if diff := cmp.Diff(want, asked); diff != "" && !strings.Contains(p.Context, "## Documents\n\n<short/>\n") {
		t.Errorf("%s\n%s", diff, p.Context)
	}
	if p.Sources[0].Selected != 3 || p.Sources[1].Reason != "nobody remembers" {
		t.Errorf("reports %+v", p.Sources)
	}
}
