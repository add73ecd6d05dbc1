package engine_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
)

// publish appends a message to the cluster "team".
func (f *fixture) publish(topic, sender, text, data string) ledger.Message {
	f.t.Helper()
	m := ledger.Message{Cluster: "team", Topic: topic, Sender: sender, Text: text}
	if data != "" {
		m.Data = json.RawMessage(data)
	}
	out, err := f.Ledger().Append(f.t.Context(), []ledger.Message{m})
	if err != nil {
		f.t.Fatal(err)
	}
	return out[0]
}

func (f *fixture) topics(topics ...string) []ledger.Message {
	f.t.Helper()
	out, err := f.Ledger().Messages(f.t.Context(), ledger.Query{Filter: ledger.Filter{Cluster: "team", Topics: topics}})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func (f *fixture) pack(r ledger.PackRequest, strategy string) engine.Packed {
	f.t.Helper()
	var err error
	if r.Strategy, _, err = ledger.ParseStrategy([]byte(strategy)); err != nil {
		f.t.Fatal(err)
	}
	r.Cluster = cmp.Or(r.Cluster, "team")
	p, err := f.Ledger().Pack(f.t.Context(), r)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

const withState = `{"sources":[{"topic":"STATE_SNAPSHOT","strategy":"latest","amount":1}]}`

// The snapshot reaches the worker's prompt, right after the message that it is of;
// custom topics are sections by configuration, also after a restart.
func TestStateReachesThePrompt(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.Ledgers.Sections = map[string]string{"DEPLOYED": "deployment"} })
	f.publish("PLAN_READY", "planner", "rotate the keys", "")
	if p := f.pack(ledger.PackRequest{}, withState); !strings.Contains(p.Context, "state-snapshotter:\nPlan: rotate the keys\n") {
		t.Errorf("context %q", p.Context)
	}
	f.publish("DEPLOYED", "ops", "to staging", "")
	f.reopen() // perhaps before it was published
	for range 2 {
		p := f.pack(ledger.PackRequest{}, withState)
		if !strings.Contains(p.Context, "Plan: rotate the keys\nDeployment: to staging\n") {
			t.Errorf("context %q", p.Context)
		}
	}
	s, err := f.Ledger().State(t.Context(), "", "team")
	if err != nil || s.Summary() != "Plan: rotate the keys\nDeployment: to staging" {
		t.Errorf("%+v, %v", s, err)
	}
	if n := len(f.topics(ledger.TopicStateSnapshot)); n > 2 {
		t.Errorf("%d snapshots of two states", n)
	}
	for _, name := range []string{"", "other"} {
		if _, err := f.Ledger().State(t.Context(), "foreign", name); err == nil {
			t.Errorf("the cluster %q of another namespace has a state", name)
		}
	}
	if _, err := f.Ledger().State(t.Context(), "", "other"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a cluster without messages: %v", err)
	}
}

// Loading a stopped cluster writes nothing.
func TestLoadingAClusterWritesNothing(t *testing.T) {
	f := open(t)
	f.publish("ISSUE_OPENED", "user", "it fails", "")
	f.pack(ledger.PackRequest{}, withState)
	before := len(f.topics())
	f.reopen()
	if _, err := f.Ledger().State(t.Context(), "", "team"); err != nil {
		t.Error(err)
	}
	f.pack(ledger.PackRequest{}, withState)
	f.reopen()
	if n := len(f.topics()); n != before {
		t.Errorf("%d messages, %d before", n, before)
	}
}

// Metrics as one message and one line of the log, only where they are
// switched on, without text of the context.
func TestContextMetrics(t *testing.T) {
	f := open(t)
	f.publish("CHAT", "a", "secret", "")
	const chat = `{"sources":[{"topic":"CHAT"}]}`
	if f.pack(ledger.PackRequest{}, chat); len(f.topics(ledger.TopicContextMetrics)) != 0 {
		t.Error("metrics without a switch")
	}
	var log bytes.Buffer
	f = open(t, func(o *engine.Options) {
		o.Ledgers, o.Logger = engine.Ledgers{LogMetrics: true, PublishMetrics: true}, slog.New(slog.NewTextHandler(&log, nil))
	})
	f.publish("CHAT", "a", "secret", "")
	p := f.pack(ledger.PackRequest{Agent: ledger.Agent{ID: "w1", Role: "worker"}}, chat)
	got := f.topics(ledger.TopicContextMetrics)
	if len(got) != 1 || got[0].Sender != "w1" || got[0].Receiver != "system" {
		t.Fatalf("published %+v", got)
	}
	var m ledger.Metrics
	if err := json.Unmarshal(got[0].Data, &m); err != nil || m.Total.Chars != len(p.Context) || m.AgentID != "w1" {
		t.Errorf("%+v, %v", m, err)
	}
	if !strings.Contains(log.String(), `msg=[ContextMetrics] metrics="{`) || strings.Contains(log.String()+string(got[0].Data), "secret") {
		t.Errorf("log %s, message %s", log.String(), got[0].Data)
	}
	if tally := f.Metrics().Packs(); tally.Packs != 1 || tally.Parts["full"] != 1 || tally.Tokens == 0 {
		t.Errorf("tally %+v", tally)
	}
	f.pack(ledger.PackRequest{}, `{"sources":[{"topic":"NONE"}]}`)
	if tally := f.Metrics().Packs(); tally.Empty != 1 || tally.Parts["empty"] != 1 {
		t.Errorf("tally %+v", tally)
	}
	f.pack(ledger.PackRequest{Cluster: "nobody"}, chat)
	if _, err := f.Ledger().Cluster(t.Context(), "", "nobody"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a context has made a cluster: %v", err)
	}
	if tally := f.Metrics().Ledger(); tally.Appended != 3 || tally.Imported != 0 {
		t.Errorf("a message and two metrics: %+v", tally)
	}
}

// Documents and memories are sources; messages are items of an answer that names their
// cluster, and of no other.
func TestLedgerAndRetrieval(t *testing.T) {
	f := open(t)
	f.put("keys", "# Keys\n\nSigning keys rotate every Monday.")
	f.turn(ragctx.Turn{SessionID: "s", Prompt: "Who keeps the signing keys?", Response: "Ann keeps them."})
	settle(t, f)
	m := f.publish("REVIEW", "bob", "the signing keys are expired", "")
	p := f.pack(ledger.PackRequest{Trigger: ledger.Trigger{Sequence: m.Sequence}},
		`{"sources":[{"kind":"documents","amount":2},{"kind":"memories","query":"who keeps the keys"}]}`)
	for _, want := range []string{"## Documents\n\n<context", "every Monday", "## Memories\n\n<context", "Ann keeps", "## Triggering Message"} {
		if !strings.Contains(p.Context, want) {
			t.Errorf("the context has no %q:\n%s", want, p.Context)
		}
	}
	q := query("signing keys")
	if ids := f.found(q); strings.Contains(strings.Join(ids, " "), m.ID) {
		t.Errorf("without a cluster: %v", ids)
	}
	if ids := f.found(q.WithParam(ledger.ParamCluster, "team").WithTypes(ragctx.TypeMemory)); !strings.Contains(strings.Join(ids, " "), m.ID) {
		t.Errorf("with the cluster: %v", ids)
	}
	if it, err := f.Ledger().Item(t.Context(), "", "", m.ID); err != nil || it.ID != m.ID || !strings.Contains(it.Content, "bob, REVIEW:\nthe signing keys are expired") {
		t.Errorf("cited: %+v, %v", it, err)
	}
	hidden := f.publish("AGENT_OUTPUT", "bob", "raw", "")
	for _, cited := range []struct{ namespace, cluster, id string }{
		{"foreign", "", m.ID},
		{"foreign", "team", m.ID},
		{"", "copies", m.ID},
		{"", "", hidden.ID},
		{"", "team", hidden.ID},
		{"", "", "msg_" + strings.Repeat("0", 32)},
		{"", "team", "msg"},
		{"", "", "msg"},
		{"", "", "state:"},
		{"", "", "state:nobody"},
		{"", "copies", "state:team"},
	} {
		if it, err := f.Ledger().Item(t.Context(), cited.namespace, cited.cluster, cited.id); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%+v: %+v, %v", cited, it, err)
		}
	}
	hidden.Cluster, hidden.Topic = "copies", "REVIEW" // as which it may be shown
	line, err := json.Marshal(hidden)
	if err != nil {
		t.Fatal(err)
	}
	if in, err := f.Ledger().Import(t.Context(), "", "copies", bytes.NewReader(line)); err != nil || in.Imported != 1 {
		t.Fatalf("%+v, %v", in, err)
	}
	if it, err := f.Ledger().Item(t.Context(), "", "", hidden.ID); err != nil || !strings.Contains(it.Content, "bob, REVIEW:\nraw") {
		t.Errorf("of a message that one of two clusters shows: %+v, %v", it, err)
	}
	m.Cluster, m.Text = "copies", "the signing keys are renewed"
	if line, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if in, err := f.Ledger().Import(t.Context(), "", "copies", bytes.NewReader(line)); err != nil || in.Imported != 1 {
		t.Fatalf("%+v, %v", in, err)
	}
	for cluster, want := range map[string]string{"": "expired", "team": "expired", "copies": "renewed"} {
		if it, err := f.Ledger().Item(t.Context(), "", cluster, m.ID); err != nil || !strings.Contains(it.Content, want) {
			t.Errorf("of the copy in %q: %+v, %v", cluster, it, err)
		}
	}
	if it, err := f.Ledger().Item(t.Context(), "", "\x01", m.ID); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("of no cluster: %+v, %v", it, err)
	}
	q.Namespace = "foreign"
	if ids := f.found(q.WithParam(ledger.ParamCluster, "team").WithTypes(ragctx.TypeMemory)); len(ids) != 0 {
		t.Errorf("from another namespace: %v", ids)
	}
	r := ledger.PackRequest{Namespace: "foreign"}
	if p := f.pack(r, `{"sources":[{"topic":"REVIEW"}]}`); p.Context != "" || !strings.Contains(p.Note, "has no messages") {
		t.Errorf("another namespace sees %q, note %q", p.Context, p.Note)
	}
}

// A snapshot does not repeat messages of an erased cluster.
func TestErasedClusterHasNoState(t *testing.T) {
	f := open(t)
	f.publish("PLAN_READY", "planner", "secret", "")
	f.pack(ledger.PackRequest{}, withState)
	if _, err := f.Ledger().Erase(t.Context(), "", "team"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Ledger().State(t.Context(), "", "team"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the state of an erased cluster: %v", err)
	}
	f.publish("ISSUE_OPENED", "user", "anew", "")
	if p := f.pack(ledger.PackRequest{}, withState); strings.Contains(p.Context, "secret") || !strings.Contains(p.Context, "Task: anew") {
		t.Errorf("context %q", p.Context)
	}
}

func TestWrongSections(t *testing.T) {
	_, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), Ledgers: engine.Ledgers{Sections: map[string]string{"A": "Not a name"}}})
	if !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// The replay filter holds after a reload.
func TestReplayAfterReload(t *testing.T) {
	f := open(t)
	m := ledger.Message{Cluster: "team", Topic: "CHAT", Sender: "a", Text: "raw", Metadata: json.RawMessage(`{"contextSafe":false}`)}
	if _, err := f.Ledger().Append(t.Context(), []ledger.Message{m}); err != nil {
		t.Fatal(err)
	}
	f.publish("CHAT", "a", "fine", "")
	f.publish("CHAT", "a", "raw", `{"replayPolicy":"raw_log_only"}`)
	for range 2 {
		p := f.pack(ledger.PackRequest{}, `{"sources":[{"topic":"CHAT","amount":1}]}`)
		if !strings.Contains(p.Context, "fine") || strings.Contains(p.Context, "raw") || p.Sources[0].Withheld == 0 {
			t.Errorf("context %q, %+v", p.Context, p.Sources)
		}
		f.reopen()
	}
}

// BenchmarkPack builds contexts of a cluster of 10,000 messages on disk.
func BenchmarkPack(b *testing.B) {
	e, err := engine.Open(b.Context(), engine.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for range 10 {
		batch := make([]ledger.Message, 1000)
		for i := range batch {
			batch[i] = ledger.Message{Cluster: "team", Topic: "CHAT", Sender: "a", Text: "a message of an average length, as agents send them to each other all day"}
		}
		if _, err := e.Ledger().Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for name, sources := range map[string]string{"latest": `{"topic":"CHAT","amount":20}`, "all": `{"topic":"CHAT"}`, "nothing": `{"topic":"NONE"}`} {
		s, _, err := ledger.ParseStrategy([]byte(`{"sources":[` + sources + `]}`))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Ledger().Pack(b.Context(), ledger.PackRequest{Cluster: "team", Strategy: s}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
