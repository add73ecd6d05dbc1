package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
)

const exampleStrategy = `{
  "contextStrategy": {
    "sources": [
      { "topic": "ISSUE_OPENED", "priority": "required", "strategy": "latest", "amount": 1 },
      { "topic": "STATE_SNAPSHOT", "priority": "required", "strategy": "latest", "amount": 1 },
      { "topic": "PLAN_READY", "priority": "required", "strategy": "latest", "amount": 1 },
      {
        "topic": "VALIDATION_RESULT",
        "priority": "high",
        "since": "last_task_end",
        "strategy": "latest",
        "amount": 5,
        "compactAmount": 1
      },
      {
        "topic": "WORKER_PROGRESS",
        "priority": "medium",
        "since": "last_task_end",
        "strategy": "latest",
        "amount": 3,
        "compactAmount": 1
      }
    ],
    "maxTokens": 100000
  }
}`

func TestParseStrategy(t *testing.T) {
	s, warnings, err := ledger.ParseStrategy([]byte(exampleStrategy))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("the example: %v, %v", err, warnings)
	}
	want := ledger.Source{
		Kind: ledger.FromMessages, Topic: "VALIDATION_RESULT", Since: "last_task_end", Choice: ledger.Latest, Amount: 5,
		Priority: budget.High, CompactAmount: 1,
	}
	if len(s.Sources) != 5 || s.MaxTokens != 100000 {
		t.Fatalf("%d sources, %d tokens", len(s.Sources), s.MaxTokens)
	}
	if diff := cmp.Diff(want, s.Sources[3]); diff != "" {
		t.Error(diff)
	}
}

// Limit alias; amount beats limit. A budget of 0 is the default.
func TestParseStrategyAliases(t *testing.T) {
	for in, want := range map[string]int{
		`{"topic":"A","limit":3}`:            3,
		`{"topic":"A","limit":3,"amount":7}`: 7,
		`{"topic":"A","amount":7,"limit":3}`: 7,
		`{"topic":"A","amount":null}`:        0,
	} {
		s, _, err := ledger.ParseStrategy([]byte(`{"sources":[` + in + `],"maxTokens":0}`))
		if err != nil || s.Sources[0].Amount != want || s.Budget() != 100_000 {
			t.Errorf("%s: amount %d, budget %d, %v; want %d, 100000", in, s.Sources[0].Amount, s.Budget(), err, want)
		}
	}
	s, _, err := ledger.ParseStrategy([]byte(`{"sources":[{"topic":"A","since":1700000000000}]}`))
	if err != nil || s.Sources[0].Since != "1700000000000" {
		t.Errorf("a number as since: %q, %v", s.Sources[0].Since, err)
	}
}

// Configuration: what is an error, by field and with a remedy.
func TestParseStrategyErrors(t *testing.T) {
	source := func(s string) string { return `{"sources":[` + s + `]}` }
	for in, want := range map[string]string{
		`[]`:                       "strategy: is array; send an object",
		`{`:                        "strategy: is not JSON",
		`{} {}`:                    "strategy: has something after the object",
		`{"contextStrategy":1}`:    "contextStrategy: is number",
		`{"maxTokens":-1}`:         "maxTokens: is -1; use 1 to",
		`{"maxTokens":"many"}`:     `maxTokens: is "many"; send a whole number`,
		source(`7`):                "sources[0]: is number",
		source(`{}`):               "sources[0].topic: is missing",
		source(`{"topic":["A"]}`):  "sources[0].topic: is",
		source(`{"topic":"A"},{}`): "sources[1].topic: is missing",
		source(`{"kind":"web"}`):   `sources[0].kind: "web" is unknown`,
		source(`{"kind":"memories","topic":"A"}`):                      "do not go with memories",
		source(`{"topic":"A","query":"x"}`):                            "sources[0].query: does not go with messages",
		source(`{"topic":"A","strategy":"newest"}`):                    `sources[0].strategy: "newest" is unknown; use latest, oldest or all`,
		source(`{"topic":"A","compactStrategy":"x"}`):                  `sources[0].compactStrategy: "x" is unknown`,
		source(`{"topic":"A","priority":"urgent"}`):                    `sources[0].priority: "urgent" is unknown; use required, high, medium or low`,
		source(`{"topic":"A","amount":0}`):                             "sources[0].amount: is 0; use 1 or more",
		source(`{"topic":"A","amount":1.5}`):                           "sources[0].amount: is 1.5; send a whole number",
		source(`{"topic":"A","compactAmount":0}`):                      "sources[0].compactAmount: is 0; use 1 or more",
		source(`{"topic":"A","compactAmount":-2}`):                     "sources[0].compactAmount: is -2; use 1 or more",
		source(`{"topic":"A","since":"yesterday"}`):                    `"yesterday" of topic A is neither a known word nor a time; use cluster_start, last_task_end, last_agent_start`,
		source(`{"topic":"A","since":{}}`):                             "sources[0].since: is {}; send a string or a number",
		source(strings.Repeat(`{"topic":"A"},`, 64) + `{"topic":"A"}`): "sources: are 65; the limit is 64",
	} {
		if _, _, err := ledger.ParseStrategy([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s\n got %v\nwant %s", in, err, want)
		}
	}
}

// Configuration: what is a warning, and which topics are exempt.
func TestStrategyWarnings(t *testing.T) {
	in := `{"sources":[
		{"topic":"REVIEW","strategy":"latest"}, {"topic":"ISSUE_OPENED"}, {"topic":"CLUSTER_RESUMED"}, {"topic":"STATE_SNAPSHOT"},
		{"topic":"VALID*"}, {"topic":"DONE","limit":2,"colour":"red"}, {"kind":"documents","amount":2}]}`
	s, warnings, err := ledger.ParseStrategy([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range append(warnings, s.Warnings([]string{"DONE"})...) {
		got = append(got, w.Field)
	}
	want := []string{"sources[5].colour", "sources[5].limit", "sources[0].amount", "sources[0].topic"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if w := s.Warnings(nil); len(w) != 1 {
		t.Errorf("without knowing what agents publish: %v", w)
	}
}

// Many fields that are not known are not all named: the answer would be longer than
// what was sent.
func TestStrategyManyUnknown(t *testing.T) {
	var in strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, `"x%d":1,`, i)
	}
	_, warnings, err := ledger.ParseStrategy([]byte(`{` + in.String() + `"sources":[]}`))
	if n := len(warnings); err != nil || n != 21 || warnings[n-1].String() != "strategy: has 980 more fields that are not known" {
		t.Errorf("%d warnings, the last is %v, %v", n, warnings[max(n-1, 0):], err)
	}
}

func FuzzParseStrategy(f *testing.F) {
	f.Add([]byte(exampleStrategy))
	f.Add([]byte(`{"sources":[{"topic":"A","since":"2026-01-02","amount":null}]}`))
	f.Add([]byte(`{"sources":null,"maxTokens":1e9}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, _, err := ledger.ParseStrategy(raw)
		if err == nil && s.Check() != nil {
			t.Errorf("%q was accepted and is wrong: %v", raw, s.Check())
		}
	})
}
