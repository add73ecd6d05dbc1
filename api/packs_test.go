package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

func TestPackOverHTTP(t *testing.T) {
	f := start(t, Options{})
	issue := f.say(t, ledger.Message{Cluster: "team/1", Topic: "ISSUE_OPENED", Sender: "user", Text: "it fails"})[0]
	trigger := f.say(t, ledger.Message{Cluster: "team/1", Topic: "PLAN_READY", Sender: "planner", Text: "fix it"})[0]
	r := PackRequest{
		Cluster: "team/1", Strategy: json.RawMessage(`{"contextStrategy":{"sources":[{"topic":"ISSUE_OPENED","limit":1},{"topic":"STATE_SNAPSHOT","amount":1},{"topic":"TEST"}]}}`),
		Agent: PackAgent{ID: "w", Role: "worker"}, Trigger: &PackTrigger{Sequence: trigger.Sequence.String()},
		Parts: PackParts{Header: "You are a worker."}, Topics: []string{"PLAN_READY"}, Explain: true,
	}
	a, err := f.client.Pack(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"You are a worker.", "it fails", "Task: it fails\nPlan: fix it", "## Triggering Message\n\nTopic: PLAN_READY"} {
		if !strings.Contains(a.Context, want) {
			t.Errorf("no %q in\n%s", want, a.Context)
		}
	}
	if len(a.Decisions) != 5 || len(a.Sources) != 3 || a.Sources[0].Stored != 1 || a.ThroughSeq <= trigger.Sequence || a.Metrics == nil || a.Tokens == 0 {
		t.Errorf("answer %+v", a)
	}
	if len(a.Warnings) != 2 || a.Warnings[0].Field != "contextStrategy.sources[0].limit" || a.Warnings[1].Field != "sources[2].topic" {
		t.Errorf("warnings %v", a.Warnings)
	}
	r.Explain, r.After = false, a.ThroughSeq.String()
	if a, err = f.client.Pack(t.Context(), r); err != nil || a.Metrics != nil || strings.Contains(a.Context, "## Messages") || a.Note == "" {
		t.Errorf("after all that: %+v, %v", a, err)
	}
	s, err := f.client.ClusterState(t.Context(), "", "team/1")
	if err != nil || s.Summary() != "Task: it fails\nPlan: fix it" || s.SourceMessageID == issue.ID {
		t.Errorf("state %+v, %v", s, err)
	}
	if _, err := f.client.ClusterState(t.Context(), "foreign", "team/1"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a foreign cluster: %v", err)
	}
	if _, text := f.scrape(t); !strings.Contains(text, "ragctx_packs_total 2\n") || !strings.Contains(text, `ragctx_pack_parts_total{outcome="full"}`) {
		t.Error("the metrics have no contexts")
	} else if !strings.Contains(text, "ragctx_ledger_messages_total{origin=\"appended\"} ") || !strings.Contains(text, "ragctx_ledger_subscriptions 0\n") {
		t.Error("the metrics have no messages")
	}
	for id, want := range map[string]string{trigger.ID: "planner, PLAN_READY:\nfix it", "state:team/1": "Task: it fails\nPlan: fix it"} {
		it := f.call(t, http.MethodGet, "/v1/items/"+url.PathEscape(id), "")
		var got Item
		if err := json.Unmarshal([]byte(it.body), &got); err != nil || it.status != http.StatusOK || got.ID != id || got.Type != ragctx.TypeMemory || !strings.Contains(got.Text, want) {
			t.Errorf("item %s: %d %s, %v", id, it.status, it.body, err)
		}
	}
}

func TestPackFaults(t *testing.T) {
	f := start(t, Options{})
	f.say(t, ledger.Message{Cluster: "c", Topic: "A", Sender: "user", Text: "x"})
	for body, want := range map[string]string{
		`{"cluster":"c"}`:                             "body.strategy",
		`{"strategy":{}}`:                             "body.cluster",
		`{"cluster":"c","strategy":[]}`:               "body.strategy",
		`{"cluster":"c","strategy":{"sources":[{}]}}`: "body.strategy.sources[0].topic",
		`{"cluster":"c","strategy":{"sources":[{"topic":"A","since":"soon"}]}}`: "body.strategy.sources[0].since",
		`{"cluster":"c","strategy":{},"after_sequence":"x"}`:                    "body.after_sequence",
		`{"cluster":"c","strategy":{},"trigger":{}}`:                            "body.trigger",
	} {
		p := f.call(t, "POST", "/v1/packs", body).problem(t)
		if p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Location != want {
			t.Errorf("%s: %+v, want a fault of %s", body, p, want)
		}
	}
	if p := f.call(t, "POST", "/v1/packs", `{"cluster":"c","strategy":{},"trigger":{"sequence":"99"}}`).problem(t); p.Status != 404 {
		t.Errorf("a trigger that is not there: %+v", p)
	}
}
