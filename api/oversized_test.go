package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

// oversized returns a conversation in a form whose newest exchange are two calls, one of them
// with a result of about 131,000 tokens.
func oversized(format string) []any {
	var long strings.Builder
	for i := range 16_000 {
		fmt.Fprintf(&long, "line %d of the log\n", i)
	}
	document := fields{"type": "document", "title": "Log", "source": fields{"type": "text", "media_type": "text/plain", "data": long.String()}}
	switch format {
	case "openai":
		call := func(id string) fields {
			return fields{"id": id, "type": "function", "function": fields{"name": "read", "arguments": `{"path": "log"}`}}
		}
		return []any{
			fields{"role": "user", "content": "older"},
			fields{"role": "assistant", "content": "answer"},
			fields{"role": "user", "content": "What failed?"},
			fields{"role": "assistant", "content": nil, "tool_calls": []any{call("big"), call("small")}},
			fields{"role": "tool", "tool_call_id": "big", "content": long.String()},
			fields{"role": "tool", "tool_call_id": "small", "content": "short"},
		}
	case "gemini":
		call := func(name string) fields {
			return fields{"functionCall": fields{"name": name, "args": fields{"path": "log"}}}
		}
		response := func(name, text string) fields {
			return fields{"functionResponse": fields{"name": name, "response": fields{"output": text, "code": 0}}}
		}
		return []any{
			fields{"role": "user", "parts": []any{fields{"text": "What failed?"}}},
			fields{"role": "model", "parts": []any{call("big"), call("small")}},
			fields{"role": "user", "parts": []any{response("big", long.String()), response("small", "short")}},
		}
	}
	use := func(id string) fields {
		return fields{"type": "tool_use", "id": id, "name": "read", "input": fields{"path": "log"}}
	}
	content := any([]any{document, fields{"type": "text", "text": long.String()}})
	if format != "anthropic" {
		content = long.String()
	}
	return []any{
		fields{"role": "user", "content": "What failed?"},
		fields{"role": "assistant", "content": []any{use("big"), use("small")}},
		fields{"role": "user", "content": []any{
			fields{"type": "tool_result", "tool_use_id": "big", "content": content}, fields{"type": "tool_result", "tool_use_id": "small", "content": "short"},
		}},
	}
}

// The newest calls and their results are always sent, cut to what fits, in every form, from a
// request and from a session of every layer, and the answer says so.
func TestOversizedResultIsCut(t *testing.T) {
	f := start(t, Options{})
	check := map[string]func([]json.RawMessage) error{"openai": pairing.CheckOpenAI, "anthropic": pairing.CheckAnthropic, "gemini": pairing.CheckGemini}
	for i, format := range []string{"openai", "anthropic", "gemini", "ragctx"} {
		for j, layer := range []string{"", "any", "compaction", "observation", "buffer", "none"} {
			if testing.Short() && (i+j)%4 != 0 {
				continue // each form and each layer is left
			}
			name := format + " " + layer
			body, target := fields{"messages": oversized(format), "budget": fields{"window": 32_000}}, "/v1/assemble"
			if format != "ragctx" {
				body["format"] = format
			}
			if layer != "" {
				target = "/v1/sessions/" + format + layer
				f.post(t, target+"/messages", fields{"format": format, "messages": oversized(format), "create": true}, http.StatusCreated)
				if got := f.call(t, http.MethodPatch, target, `{"layer":"`+layer+`"}`); got.status != http.StatusOK {
					t.Fatalf("%s: %d %s", name, got.status, got.body)
				}
				target += ":assemble"
				delete(body, "messages")
			}
			raw := f.post(t, target, body, http.StatusOK)
			var a SessionAssembleAnswer
			if err := json.Unmarshal([]byte(raw), &a); err != nil {
				t.Fatal(err)
			}
			shown, _ := json.Marshal(a.Messages)
			for _, want := range []string{"What failed?", "line 0 of the log", "line 15999 of the log", "short"} {
				if !strings.Contains(string(shown), want) {
					t.Errorf("%s: no %q in %.3000s", name, want, shown)
				}
			}
			if err := check[format]; err != nil && err(a.Messages) != nil {
				t.Errorf("%s: %v", name, err(a.Messages))
			}
			partial := 0
			for _, d := range a.Dropped {
				if d.Partial {
					partial++
				}
			}
			for _, h := range a.Hidden {
				partial += h.Messages // what a compaction has pruned, or a summary stands for
			}
			if layer == "buffer" {
				f.post(t, strings.TrimSuffix(target, ":assemble")+":undo-compaction", fields{}, http.StatusOK)
			}
			if a.Budget.Over != 0 || partial == 0 || layer == "" && !strings.Contains(a.Note, "shortened") {
				t.Errorf("%s: over %d, %+v, %+v, %q", name, a.Budget.Over, a.Dropped, a.Hidden, a.Note)
			}
		}
	}
}

// A window that cannot hold the smallest form says by how much, and has it.
func TestOversizedResultInNoWindow(t *testing.T) {
	f := start(t, Options{})
	raw := f.post(t, "/v1/assemble", fields{"format": string(wire.OpenAI), "messages": oversized("openai"), "budget": fields{"window": 40, "reserve_output": -1}}, http.StatusOK)
	var a AssembleAnswer
	if err := json.Unmarshal([]byte(raw), &a); err != nil || a.Budget.Over == 0 || len(a.Messages) != 4 || !strings.Contains(raw, "tokens left out to fit]") {
		t.Errorf("%v, over %d, %d messages: %.2000s", err, a.Budget.Over, len(a.Messages), raw)
	}
}

// post posts a body that is answered with a status.
func (f *fixture) post(t *testing.T, target string, body any, status int) string {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got := f.call(t, http.MethodPost, target, string(b))
	if got.status != status {
		t.Fatalf("%s: status %d: %.2000s", target, got.status, got.body)
	}
	return got.body
}
