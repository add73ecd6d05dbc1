package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestRules: the model's server takes what its vendor takes, and sees what it does not: a
// good request, and what is put in the place of a part of it.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		rules  vendor
		header http.Header
		good   string
		bad    map[string]string
	}{
		"openai": {
			openAIRules{},
			http.Header{"Authorization": {"Bearer key"}},
			`{"model":"m","max_completion_tokens":9,
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
			"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},
			{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"1","content":"r"}]}`,
			map[string]string{
				`"model":"m",`: ``, `"max_completion_tokens":9,`: `"max_tokens":9,`, `"parameters":{"type":"object"}`: `"parameters":{}`,
				`{"role":"system","content":"s"},`:  ``,
				`{"role":"user","content":"u"}`:     `{"role":"user","content":"u","id":"m1"}`,
				`{"role":"user","content":"u"},`:    `{"role":"user","content":"u"},{"role":"system","content":"late"},`,
				`"role":"user"`:                     `"role":"human"`,
				`"content":"u"`:                     `"content":null`,
				`"content":null,`:                   `"content":[{"type":"tool_use"}],`,
				`"arguments":"{}"`:                  `"arguments":"{"`,
				`{"role":"tool","tool_call_id":"1"`: `{"role":"tool","tool_call_id":"2"`,
				`,
			{"role":"tool","tool_call_id":"1","content":"r"}`: ``,
			},
		},
		"anthropic": {
			anthropicRules{},
			http.Header{"X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}},
			`{"model":"m","max_tokens":9,
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],
			"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],
			"messages":[{"role":"user","content":"u"},
			{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r","is_error":false},{"type":"text","text":"t"}]}]}`,
			map[string]string{
				`"max_tokens":9,`: ``, `"input_schema"`: `"parameters"`, `"ephemeral"`: `"eternal"`, `"text":"s"`: `"text":""`,
				`{"role":"user","content":"u"},`:                                             ``,
				`{"role":"user","content":"u"}`:                                              `{"role":"system","content":"u"}`,
				`"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],`: ``,
				`"input":{}`: `"input":"{}"`, `"id":"1"`: `"id":"1.1"`,
				`"tool_use_id":"1"`: `"tool_use_id":"2"`,
				`"is_error":false},{"type":"text","text":"t"}]}]}`:                                                   `"is_error":false},{"type":"text","text":"t"}]},{"role":"assistant","content":"a"}]}`,
				`{"type":"tool_result","tool_use_id":"1","content":"r","is_error":false},{"type":"text","text":"t"}`: `{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"1","content":"r"}`,
				`"text":"t"`: `"text":"t","id":"m1"`,
			},
		},
	} {
		hear := func(body string) error {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
			if err != nil || !json.Valid([]byte(body)) {
				t.Fatalf("%v: %s", err, body)
			}
			r.Header = c.header
			_, err = c.rules.hear(r, []byte(body))
			return err
		}
		if err := hear(c.good); err != nil {
			t.Errorf("%s refuses %s: %v", name, c.good, err)
		}
		for part, other := range c.bad {
			if body := strings.Replace(c.good, part, other, 1); body == c.good || hear(body) == nil {
				t.Errorf("%s takes %s", name, body)
			}
		}
	}
}
