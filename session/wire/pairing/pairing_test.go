package pairing_test

import (
	"encoding/json"
	"testing"

	"github.com/ragctx/ragctx/session/wire/pairing"
)

// The rules, each by what keeps it and what breaks it.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		check     func([]json.RawMessage) error
		good, bad []string
	}{
		"OpenAI": {pairing.CheckOpenAI, []string{
			`[]`,
			`[{"role":"user"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}},{"id":"2","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"2"},{"role":"tool","tool_call_id":"1"},{"role":"user"}]`,
			`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"1"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]}]`,
			`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}},{"id":"2","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"2"}]`,
		}, []string{
			`[{"role":"tool","tool_call_id":"1"}]`,
			`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"user"},{"role":"tool","tool_call_id":"1"}]`,
			`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"system"}]`,
			`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"1"},{"role":"tool","tool_call_id":"1"}]`,
			`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}},{"id":"1","function":{"name":"f"}}]}]`,
			`[{"role":"user","tool_calls":[{"id":"1","function":{"name":"f"}}]}]`,
		}},
		"Anthropic": {pairing.CheckAnthropic, []string{
			`[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"text","text":"c"}]}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1"},{"type":"tool_use","id":"2"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"2"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]},{"role":"user","content":"c"}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1"},{"type":"tool_use","id":"2"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"2"}]}]`,
		}, []string{
			`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]`,
			`[{"role":"system","content":"a"}]`,
			`[{"role":"user","content":""}]`,
			`[{"role":"user","content":[]}]`,
			`[{"role":"user","content":[{"type":"tool_use","id":"1"}]}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1.2"}]}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":"a"}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"text","text":"c"},{"type":"tool_result","tool_use_id":"1"}]}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1"},{"type":"tool_use","id":"2"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]},{"role":"assistant","content":"b"}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]},{"role":"assistant","content":[{"type":"tool_use","id":"1"}]}]`,
		}},
		"Gemini": {pairing.CheckGemini, []string{
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"name":"g"}},{"functionResponse":{"name":"f"}}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]}]`,
			`[{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"1"}},{"text":"and"}]}]`,
			`[{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"name":"g"}}]}]`,
		}, []string{
			`[{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]`,
			`[{"role":"user","parts":[]}]`,
			`[{"role":"tool","parts":[{"text":"a"}]}]`,
			`[{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]}]`,
			`[{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"text":"a"}]}]`,
			`[{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"text":"a"}]}]`,
			`[{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"2"}}]}]`,
			`[{"role":"user","parts":[{"functionCall":{"name":"f"}}]}]`,
		}},
	} {
		for _, list := range c.good {
			if err := c.check(parse(t, list)); err != nil {
				t.Errorf("%s: %s: %v", name, list, err)
			}
		}
		for _, list := range c.bad {
			if c.check(parse(t, list)) == nil {
				t.Errorf("%s takes %s", name, list)
			}
		}
		for _, hostile := range []json.RawMessage{nil, []byte(`7`), []byte(`{`), []byte(`{"role":7}`)} {
			if c.check([]json.RawMessage{hostile}) == nil {
				t.Errorf("%s takes %q", name, hostile)
			}
		}
	}
}

func parse(t *testing.T, list string) []json.RawMessage {
	t.Helper()
	var out []json.RawMessage
	if err := json.Unmarshal([]byte(list), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
