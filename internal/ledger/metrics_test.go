package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
)

// The sections add up what is included, tokens are of the summed
// characters, the default budget is 100,000, the total is the length of the context.
func TestMeasure(t *testing.T) {
	log := newLog()
	texts(t, log, "ISSUE_OPENED", "secret issue 😀")
	texts(t, log, "CHAT", "secret chat")
	texts(t, log, "NEWS", strings.Repeat("secret news", 100))
	s := strategy(t, `{"topic":"ISSUE_OPENED"},{"topic":"CHAT"},{"topic":"NEWS","priority":"low"},{"topic":"NONE"}`)
	r := ledger.PackRequest{
		Strategy: s, Agent: ledger.Agent{ID: "w1", Role: "worker", Iteration: 3}, Parts: ledger.Parts{Header: "secret header"},
		Trigger: ledger.Trigger{Topic: "GO", Sender: "lead", Text: "secret trigger"},
	}
	m := ledger.Measure(r, build(t, log, r))
	if m.Strategy.MaxTokens != 100_000 || m.Budget.MaxTokens != 100_000 || m.Strategy.SourcesCount != 4 {
		t.Errorf("budget %+v, strategy %+v", m.Budget, m.Strategy)
	}
	r.Strategy.MaxTokens = 70
	p := build(t, log, r)
	m = ledger.Measure(r, p)
	sum := 0
	for name, sec := range m.Sections {
		sum += sec.Chars
		if sec.EstimatedTokens != (sec.Chars+3)/4 {
			t.Errorf("section %s: %+v", name, sec)
		}
	}
	if sum != budget.Chars(p.Context) || m.Total.Chars != sum || m.Total.EstimatedTokens != budget.Estimate(p.Context) {
		t.Errorf("sections have %d chars, total is %+v, the context has %d", sum, m.Total, budget.Chars(p.Context))
	}
	if outcome(p) != "header=full source:ISSUE_OPENED:0=full source:CHAT:1=full source:NEWS:2!budget source:NONE:3!empty triggeringMessage=full" {
		t.Error(outcome(p))
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "secret") {
		t.Errorf("the metrics have text: %s", raw)
	}
}

// The exact form.
func TestMetricsJSON(t *testing.T) {
	log := newLog()
	texts(t, log, "CHAT", "hello")
	s := strategy(t, `{"topic":"CHAT"}`)
	s.MaxTokens = 1
	r := ledger.PackRequest{Strategy: s, Cluster: "c"}
	raw, err := json.Marshal(ledger.Measure(r, build(t, log, r)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"clusterId":"c","agentId":"","role":"","iteration":0,"triggeredBy":null,"triggerFrom":null,` +
		`"strategy":{"maxTokens":1,"sourcesCount":1},"budget":{"maxTokens":1,"remainingTokens":1,"overBudgetTokens":0,"finalTokens":0},` +
		`"packs":[{"id":"source:CHAT:0","section":"sources","priority":"medium","required":false,"status":"skipped","variant":null,` +
		`"chars":0,"estimatedTokens":0,"order":0,"reason":"budget","truncated":false}],"sections":{},"total":{"chars":0,"estimatedTokens":0},` +
		`"truncation":{"maxContextChars":{"applied":false,"beforeChars":0,"afterChars":0}}}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkBuild builds contexts of a cluster of 10,000 messages: of its newest ones,
// and of all of them.
func BenchmarkBuild(b *testing.B) {
	log := newLog()
	for range 10 {
		var batch []string
		for i := range 1000 {
			batch = append(batch, fmt.Sprintf("message %d says something of an average length, as messages of agents do", i))
		}
		texts(b, log, "CHAT", batch...)
	}
	for name, in := range map[string]string{"latest": `{"topic":"CHAT","amount":20}`, "all": `{"topic":"CHAT"}`} {
		b.Run(name, func(b *testing.B) {
			r := ledger.PackRequest{Strategy: strategy(b, in)}
			for b.Loop() {
				build(b, log, r)
			}
		})
	}
}

// BenchmarkSelect selects among 10,000 candidates.
func BenchmarkSelect(b *testing.B) {
	ranks := []budget.Priority{budget.Required, budget.High, budget.Medium, budget.Low}
	cands := make([]budget.Candidate, 10_000)
	for i := range cands {
		text := strings.Repeat("some words of a message ", 1+i%20)
		cands[i] = budget.Candidate{
			ID: fmt.Sprint(i), Priority: ranks[(i+2)%4], Order: i,
			Variants: []budget.Variant{budget.Fixed("full", text), budget.Fixed("compact", text[:24])},
		}
	}
	cands[2].Priority = budget.Required
	for b.Loop() {
		budget.Select(cands, budget.Options{MaxTokens: ledger.DefaultMaxTokens, MaxChars: ledger.MaxContextChars, RequiredMayExceed: true})
	}
}
