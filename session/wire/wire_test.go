package wire_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

var checks = map[wire.Vendor]func([]json.RawMessage) error{
	wire.OpenAI: pairing.CheckOpenAI, wire.Anthropic: pairing.CheckAnthropic, wire.Gemini: pairing.CheckGemini,
}

func list(t testing.TB, text string) []json.RawMessage {
	t.Helper()
	var out []json.RawMessage
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func equal(a, b any) bool {
	return reflect.DeepEqual(value(a), value(b))
}

// value decodes JSON.
func value(v any) (out any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// stored returns messages as they come back from storage.
func stored(t testing.TB, messages []ragctx.Message) []ragctx.Message {
	t.Helper()
	out := make([]ragctx.Message, len(messages))
	for i, m := range messages {
		b, err := session.EncodeMessage(m)
		if err == nil {
			out[i], err = session.DecodeMessage(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// vendorLists are conversations as vendors document them, with fields and parts that only
// they know.
var vendorLists = map[wire.Vendor][]wire.Conversation{
	wire.OpenAI: {
		{Messages: raw(`[
			{"role":"system","content":"Be brief."},{"role":"developer","content":[{"type":"text","text":"One."},{"type":"text","text":"Two.","x":1}]},
			{"role":"user","name":"ada","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA==","detail":"low"}}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},
			{"role":"tool","tool_call_id":"b","content":"two"},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"one"}]},
			{"role":"assistant","content":"A cat.","audio":{"id":"v1"}},{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"eA==","format":"wav"}},{"type":"text","text":"And this?"}]},
			{"role":"assistant","content":null,"refusal":"I cannot."},{"role":"user","content":"<&>"},
			{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"not json"}}]},{"role":"tool","tool_call_id":"a","content":""},
			{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/x.png"}}]},{"role":"user","content":[{"type":"text","text":"a list of one"}]}
		]`)},
		{Messages: raw(`[
			{"role":"system","content":"One."},{"role":"developer","content":"Two."},
			{"role":"user","content":[{"type":"file","file":{"file_id":"f1"}},{"type":"input_text","text":"Read it."}]},
			{"role":"assistant","content":[{"type":"refusal","refusal":"No."}],"tool_calls":[
				{"id":"c1","type":"custom","custom":{"name":"run","input":"a = \"<1>\""}},{"id":"c2","type":"custom","custom":{"name":"run","input":"{\"x\": 1}"},"index":1},
				{"id":"c3","type":"telepathy","telepathy":{"name":"guess","about":[1,12345678901234567890]}},
				{"id":"c4","type":"function","function":{"name":"f","arguments":"{ \"x\" : \"<&>\" ,\n \"n\":12345678901234567890 }"}},
				{"id":"c5","type":"function","function":{"name":"f","arguments":"\"a text\""}},{"id":"c6","type":"function","function":{"name":"f","arguments":""}}]},
			{"role":"tool","tool_call_id":"c1","content":"one","x":1},{"role":"tool","tool_call_id":"c2","content":"two"},{"role":"tool","tool_call_id":"c3","content":"three"},
			{"role":"tool","tool_call_id":"c4","content":[{"type":"text","text":"a"},{"type":"chart","values":[1]}]},{"role":"tool","tool_call_id":"c5","content":"5"},{"role":"tool","tool_call_id":"c6","content":"6"}
		]`)},
	},
	wire.Anthropic: {
		{System: json.RawMessage(`"Be brief."`), Messages: raw(`[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},{"role":"user","content":[{"type":"text","text":"one part"}]}]`)},
		{System: json.RawMessage(`[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]`), Messages: raw(`[
			{"role":"user","content":[{"type":"text","text":"What is it?","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}},{"type":"document","source":{"type":"url","url":"https://example.com"}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"Hm. ","signature":"s1"},{"type":"redacted_thinking","data":"zz"},{"type":"text","text":"Let me look."},{"type":"thinking","thinking":"So?","signature":"s2"},{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"g","input":{},"caller":{"type":"direct"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"two","is_error":true},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"one"}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"Go on."}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s3"},{"type":"tool_use","id":"c","name":"f","input":{"n":12345678901234567890}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}
		]`)},
		{System: json.RawMessage(`[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}]`), Messages: raw(`[
			{"role":"user","content":[{"type":"container_upload","file_id":"f"},{"type":"text","text":"Search."}]},
			{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},
				{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"T","url":"u","encrypted_content":"e"}]},
				{"type":"text","text":"So.","citations":[{"type":"web_search_result_location","cited_text":"c"}]},{"type":"tool_use","id":"a","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"search_result","title":"T","source":"s","content":[{"type":"text","text":"x"}],"citations":{"enabled":true}},
				{"type":"text","text":"beside","cache_control":{"type":"ephemeral"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"<x>"}}]},
				{"type":"document","source":{"type":"url","url":"https://example.com"}}]}
		]`)},
	},
	wire.Gemini: {
		{System: json.RawMessage(`{"parts":[{"text":"Be brief."}]}`), Messages: raw(`[
			{"role":"user","parts":[{"text":"What is it?"},{"inlineData":{"mimeType":"image/png","data":"eA=="},"mediaResolution":{"level":"LOW"}},{"fileData":{"fileUri":"gs://x"}}]},
			{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"Let me look."},{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"s"},{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g"}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}},{"functionResponse":{"name":"f","response":{"a":{"b":[1]}}}},{"functionResponse":{"name":"g","response":{"error":"no"}}}]},
			{"role":"model","parts":[{"functionCall":{"id":"x1","name":"f","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"x1","name":"f","response":{"output":"{\"a\":1}"},"scheduling":"SILENT"}}]},
			{"role":"model","parts":[{"text":"A cat."},{"text":"","thoughtSignature":"t"}]}
		]`)},
		{System: json.RawMessage(`"Be brief."`), Messages: raw(`[
			{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"__79"},"text":null},{"inline_data":{"mime_type":"image/png","data":"eA==","display_name":"x"}},{"file_data":{"file_uri":"gs://x"}},{"text":"What is it?","thought":null}]},
			{"role":"model","parts":[{"function_call":{"name":"f","args":{"x":1},"will_continue":null},"thought_signature":"s"},{"function_call":{"id":"i","name":"g","args":{}}}]},
			{"role":"user","parts":[{"function_response":{"name":"f","response":{"output":"one"},"scheduling":null}},{"function_response":{"id":"i","name":"g","response":{"rows":[12345678901234567890]}},"text":null}]}
		]`)},
	},
}

func raw(text string) []json.RawMessage {
	var out []json.RawMessage
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(err)
	}
	return out
}

// Reading and writing a vendor's conversation preserves it, even if it is stored in between.
func TestIdentity(t *testing.T) {
	for v, conversations := range vendorLists {
		for i, c := range conversations {
			if err := checks[v](c.Messages); err != nil {
				t.Fatalf("%s %d breaks the vendor's rules: %v", v, i, err)
			}
			messages, lost, err := wire.Read(v, c)
			if err != nil || len(lost) > 0 {
				t.Fatalf("%s %d: lost %v, %v", v, i, lost, err)
			}
			for _, list := range [][]ragctx.Message{messages, stored(t, messages)} {
				back, lost, err := wire.Write(v, list)
				if err != nil || len(lost) > 0 {
					t.Errorf("%s %d: lost %v, %v", v, i, lost, err)
				}
				for j := range c.Messages {
					if j >= len(back.Messages) || !equal(c.Messages[j], back.Messages[j]) {
						t.Errorf("%s %d, message %d:\n%s\n%s", v, i, j, text(c.Messages[j]), text(back.Messages[min(j, len(back.Messages)-1)]))
					}
				}
				if !equal(c.System, back.System) || len(back.Messages) != len(c.Messages) {
					t.Errorf("%s %d: system %s, %d messages", v, i, back.System, len(back.Messages))
				}
			}
		}
	}
}

// Messages written for another vendor obey that vendor's rules, and losses are listed.
func TestAcrossVendors(t *testing.T) {
	for from, conversations := range vendorLists {
		for i, c := range conversations {
			messages, _, err := wire.Read(from, c)
			if err != nil {
				t.Fatal(err)
			}
			for to, check := range checks {
				out, lost, err := wire.Write(to, messages)
				if err == nil {
					err = check(out.Messages)
				}
				if err != nil {
					t.Errorf("%s %d to %s: %v\n%s", from, i, to, err, text(out.Messages))
				}
				if from != to && len(lost) == 0 && i == len(conversations)-1 {
					t.Errorf("%s %d to %s lost nothing", from, i, to)
				}
				if again, _, err := wire.Read(to, out); err != nil || len(again) == 0 {
					t.Errorf("%s %d to %s cannot be read: %v", from, i, to, err)
				}
			}
		}
	}
}

// talk reads a conversation as package session's tests do: a role, then calls (!id),
// results (?id) or text, joined by +.
func talk(in string) []ragctx.Message {
	roles := map[byte]ragctx.Role{'s': ragctx.RoleSystem, 'u': ragctx.RoleUser, 'a': ragctx.RoleAssistant, 't': ragctx.RoleTool}
	var out []ragctx.Message
	for word := range strings.FieldsSeq(in) {
		m := ragctx.Message{Role: roles[word[0]]}
		for part := range strings.SplitSeq(word[1:], "+") {
			switch part[0] {
			case '!':
				m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: part[1:], Name: "f", Input: []byte(`{}`)})
			case '?':
				m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: part[1:], Content: ragctx.Text("ok")})
			default:
				m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockText, Text: part})
			}
		}
		out = append(out, m)
	}
	return out
}

// The places of results in written conversations.
func TestPlaces(t *testing.T) {
	for in, want := range map[string][2]string{ // OpenAI, Anthropic
		"uhi a!1+!2 t?1 t?2 uok": {"user:text assistant:1,2 tool:1 tool:2 user:text", "user:text assistant:1,2 user:?1?2 user:text"},
		"uhi a!1+!2 u?2+?1+so":   {"user:text assistant:1,2 tool:2 tool:1 user:text", "user:text assistant:1,2 user:?2?1text"},
		"uhi a!1 ubtw t?1":       {"user:text assistant:1 tool:1 user:text", "user:text assistant:1 user:?1 user:text"},                    // a late result
		"uhi a!1 a!2 t?2 t?1":    {"user:text assistant:1 tool:1 assistant:2 tool:2", "user:text assistant:1 user:?1 assistant:2 user:?2"}, // nested
		"uhi a!1 a!2 t?2":        {"user:text assistant:1,2 tool:2", "user:text assistant:1,2 user:?2"},                                    // one is pending
		"uhi a!1 snote ahm":      {"user:text system:text assistant:1", "user:text assistant:text1"},
		"uhi a!1 t?1 a!1 t?1":    {"user:text assistant:1 tool:1 assistant:1 tool:1", "user:text assistant:1 user:?1 assistant:1-2 user:?1-2"}, // an id again
		"uhi a!call.1 t?call.1":  {"user:text assistant:call.1 tool:call.1", "user:text assistant:call_1 user:?call_1"},
		"uhi a!1 t?1+beside":     {"user:text assistant:1 tool:texttext1", "user:text assistant:1 user:?1"},
	} {
		for i, v := range []wire.Vendor{wire.OpenAI, wire.Anthropic} {
			c, _, err := wire.Write(v, talk(in))
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(c.Messages); got != want[i] {
				t.Errorf("%s for %s: %q, want %q", in, v, got, want[i])
			}
			if err := checks[v](c.Messages); err != nil {
				t.Errorf("%s for %s: %v", in, v, err)
			}
		}
		c, _, _ := wire.Write(wire.Gemini, talk(in))
		if err := pairing.CheckGemini(c.Messages); err != nil {
			t.Errorf("%s: %v: %s", in, err, text(c.Messages))
		}
	}
}

// shown summarizes roles with the ids of calls and results.
func shown(messages []json.RawMessage) string {
	var words []string
	for _, raw := range messages {
		var m struct {
			Role    string
			Content json.RawMessage
			Calls   []struct{ ID string } `json:"tool_calls"`
			CallID  string                `json:"tool_call_id"`
		}
		_ = json.Unmarshal(raw, &m)
		var parts []struct {
			Type, ID string
			Of       string `json:"tool_use_id"`
		}
		word, ids := "", []string{}
		if json.Unmarshal(m.Content, &parts) != nil && len(m.Calls) == 0 && m.CallID == "" {
			word = "text"
		}
		for _, p := range parts {
			switch p.Type {
			case "tool_use":
				ids = append(ids, p.ID)
			case "tool_result":
				word += "?" + p.Of
			default:
				word += p.Type
			}
		}
		for _, c := range m.Calls {
			ids = append(ids, c.ID)
		}
		if word += strings.Join(ids, ",") + m.CallID; word != "" {
			word = ":" + word
		}
		words = append(words, m.Role+word)
	}
	return strings.Join(words, " ")
}

func TestLosses(t *testing.T) {
	bad := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: "1", IsError: true, Content: ragctx.Content{{Type: ragctx.BlockImage, Data: []byte("x")}}}
	call := ragctx.Block{Type: ragctx.BlockToolUse, ID: "1", Name: "f", Input: json.RawMessage(`[1]`)}
	messages := []ragctx.Message{
		{Role: ragctx.RoleUser, Name: "Ada Lovelace", Content: ragctx.Content{{Type: ragctx.BlockText, Text: "hi"}}},
		{Role: ragctx.RoleAssistant, Reasoning: "hm", Content: ragctx.Content{call, {Type: ragctx.BlockText, Text: "after"}}},
		{Role: ragctx.RoleTool, Content: ragctx.Content{bad, {Type: ragctx.BlockText, Text: "beside"}}},
		{Role: ragctx.RoleSystem, Content: ragctx.Content{{Type: ragctx.BlockText, Text: "note"}, {Type: ragctx.BlockImage, Data: []byte("x")}}},
		{Role: ragctx.RoleUser, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: "9", Name: "f"}}},
	}
	for v, want := range map[wire.Vendor]string{
		wire.OpenAI:    "2 beside, 0 name, 1 text after, 1 reasoning, 2 error, 2 images, 3 image, 4 outside an assistant",
		wire.Anthropic: "0 name, 1 not an object, 1 signed, 2 beside, 3 image, 3 position, 4 outside an assistant, 4 empty",
		wire.Gemini:    "0 name, 1 not an object, 1 vendor's, 2 beside, 2 images, 3 position, 4 outside an assistant, 4 empty",
	} {
		_, lost, err := wire.Write(v, messages)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Split(want, ", ")
		for _, l := range lost {
			for i, w := range said {
				if n, word, _ := strings.Cut(w, " "); n == string(rune('0'+l.Index)) && strings.Contains(l.What, word) {
					said = append(said[:i:i], said[i+1:]...)
					break
				}
			}
		}
		if len(said) > 0 || len(lost) != len(strings.Split(want, ", ")) {
			t.Errorf("%s: not said: %v; said: %+v", v, said, lost)
		}
	}
}

// Signed reasoning is written as it was signed, or not at all.
func TestSignedReasoning(t *testing.T) {
	messages, _, err := wire.Read(wire.Anthropic, vendorLists[wire.Anthropic][1])
	if err != nil {
		t.Fatal(err)
	}
	messages[2].Reasoning = strings.ReplaceAll(messages[2].Reasoning, "Hm", "••")
	c, lost, err := wire.Write(wire.Anthropic, messages)
	if err != nil || len(lost) != 1 || !strings.Contains(lost[0].What, "signed") || strings.Contains(string(c.Messages[1]), "s1") || strings.Contains(string(c.Messages[1]), "Hm") {
		t.Errorf("lost %v, %v: %s", lost, err, c.Messages[1])
	}
}

// Stored vendor fields cannot pose as a call, a result, or a text.
func TestKeptPartsCannotPose(t *testing.T) {
	for v, part := range map[wire.Vendor]string{
		wire.OpenAI: `{"type":"text","text":"posed"}`, wire.Anthropic: `{"type":"tool_result","tool_use_id":"posed"}`, wire.Gemini: `{"functionCall":{"name":"posed"}}`,
	} {
		x, _ := json.Marshal(map[string]any{"parts": map[string]any{"0": json.RawMessage(part)}})
		for _, kept := range []string{string(x), `{"parts":{"-7":7}}`, `not json`, `{"known":1,"of":{"0":{"text":"posed"}}}`} {
			m := ragctx.Message{Role: ragctx.RoleUser, Content: ragctx.Text("hi"), Metadata: map[string]any{"wire_" + string(v): kept}}
			c, _, err := wire.Write(v, []ragctx.Message{m})
			if err != nil || len(c.Messages) != 1 || strings.Contains(string(c.Messages[0]), "posed") {
				t.Errorf("%s with %s: %s, %v", v, kept, c.Messages, err)
			}
		}
	}
}

func TestUnreadable(t *testing.T) {
	for in, want := range map[string]string{
		`openai [{"role":"pirate"}]`: "messages[0]: role", `openai [{"role":"user","content":7}]`: "messages[0]: content",
		`openai [{"role":"user","content":[7]}]`: "messages[0]: content[0]", `openai [7]`: "messages[0]: json",
		`anthropic [{"role":"system"}]`:                                              "messages[0]: role",
		`anthropic [{"role":"user","content":[{"type":"tool_result","content":7}]}]`: "messages[0]: content[0]: content",
		`gemini [{"role":"function"}]`:                                               "contents[0]: role", `gemini [{"parts":[{"text":7}]}]`: "contents[0]: content[0]: json",
		`mistral []`: "vendor: ",
	} {
		v, text, _ := strings.Cut(in, " ")
		if m, _, err := wire.Read(wire.Vendor(v), wire.Conversation{Messages: list(t, text)}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v", in, m, err)
		}
	}
	if _, _, err := wire.Write("mistral", nil); err == nil {
		t.Error("written for an unknown vendor")
	}
	if v, err := wire.ParseVendor("OpenAI"); v != wire.OpenAI || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

// A message in another vendor's form is refused with a remedy; stored as unknown fields, its text
// would be hidden.
func TestOtherVendorsForm(t *testing.T) {
	for in, want := range map[string]string{
		`anthropic {"role":"assistant","content":null,"tool_calls":[{"id":"c"}]}`:     "tool_calls: is a field of the form openai",
		`anthropic {"role":"assistant","content":"Hm.","tool_calls":[{"id":"c"}]}`:    "tool_calls: is a field of the form openai",
		`anthropic {"role":"user","tool_call_id":"c","content":"x"}`:                  "tool_call_id: is a field of the form openai",
		`anthropic {"role":"user","text":"typo"}`:                                     "text: is not understood, and the field content is missing",
		`anthropic {"role":"user","parts":[{"text":"x"}]}`:                            "parts: is a field of the form gemini",
		`anthropic {"role":"user","content":[{"type":"image_url","image_url":{}}]}`:   `content[0]: type: "image_url" is a part of the form openai`,
		`gemini {"role":"model","content":"x"}`:                                       "content: is a field of the form openai or anthropic",
		`gemini {"role":"model","tool_calls":[{"id":"c"}],"parts":[{"text":"x"}]}`:    "tool_calls: is a field of the form openai",
		`gemini {"role":"user","text":"x"}`:                                           "text: is not understood, and the field parts is missing",
		`openai {"role":"user","parts":[{"text":"x"}]}`:                               "parts: is a field of the form gemini",
		`openai {"role":"user","text":"typo"}`:                                        "text: is not understood, and the field content is missing",
		`openai {"role":"tool","tool_call_id":"c","output":"x"}`:                      "output: is not understood, and the field content is missing",
		`openai {"role":"assistant","content":[{"type":"tool_use","id":"c"}]}`:        `content[0]: type: "tool_use" is a part of the form anthropic`,
		`openai {"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}`: `content[0]: type: "tool_result" is a part of the form anthropic`,
	} {
		v, text, _ := strings.Cut(in, " ")
		m, _, err := wire.Read(wire.Vendor(v), wire.Conversation{Messages: raw("[" + text + "]")})
		if err == nil || !strings.Contains(err.Error(), "messages[0]: "+want) && !strings.Contains(err.Error(), "contents[0]: "+want) || !strings.Contains(err.Error(), "name the form") {
			t.Errorf("%s: %+v, %v", in, m, err)
		}
	}
	for in, lost := range map[string]int{ // answers that say nothing, and fields that are empty, are no mistake
		`openai {"role":"assistant","content":"","refusal":null,"annotations":[]}`: 0, `openai {"role":"assistant","content":null,"refusal":"No."}`: 0,
		`openai {"role":"assistant","content":null,"function_call":{"name":"f"}}`: 0, `openai {"role":"assistant","text":"typo"}`: 1,
		`anthropic {"role":"assistant","id":"msg","stop_reason":"end_turn","content":[]}`: 0, `anthropic {"role":"assistant","content":"x","tool_calls":[]}`: 0,
		`gemini {"role":"model"}`: 0,
	} {
		v, text, _ := strings.Cut(in, " ")
		if _, losses, err := wire.Read(wire.Vendor(v), wire.Conversation{Messages: raw("[" + text + "]")}); err != nil || len(losses) != lost {
			t.Errorf("%s: %v, %v", in, losses, err)
		}
	}
}

// conversation draws messages with calls that are nested, parallel, answered late, twice,
// by the wrong role, or never.
func conversation(t *rapid.T) []ragctx.Message {
	id := rapid.SampledFrom([]string{"1", "2", "3", "gemini_4", "a.b", ""})
	words := rapid.SampledFrom([]string{"", "yes", "go on", `{"a":1}`})
	roles := []ragctx.Role{ragctx.RoleUser, ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleAssistant, ragctx.RoleTool, ragctx.RoleSystem}
	block := rapid.Custom(func(t *rapid.T) ragctx.Block {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			return ragctx.Block{Type: ragctx.BlockToolUse, ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"f", "g"}).Draw(t, "tool"), Input: json.RawMessage(`{"a":1}`)}
		case 2, 3:
			return ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: id.Draw(t, "id"), Content: ragctx.Text(words.Draw(t, "result")), IsError: rapid.Bool().Draw(t, "error")}
		case 4:
			return ragctx.Block{Type: ragctx.BlockImage, MediaType: "image/png", Data: []byte("x")}
		default:
			return ragctx.Block{Type: ragctx.BlockText, Text: words.Draw(t, "text")}
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ragctx.Message {
		m := ragctx.Message{Role: rapid.SampledFrom(roles).Draw(t, "role"), Reasoning: rapid.SampledFrom([]string{"", "", "hm"}).Draw(t, "reasoning")}
		m.Content = rapid.SliceOfN(block, 0, 3).Draw(t, "content")
		return m
	}), 0, 16).Draw(t, "conversation")
}

// views returns the views that package session makes of a conversation.
func views(t *rapid.T, messages []ragctx.Message) [][]ragctx.Message {
	limits := session.Limits{Tokens: rapid.IntRange(0, 200).Draw(t, "budget"), Scale: session.Scale{Counter: letters{}}}
	out := [][]ragctx.Message{session.Sound(messages, limits).Messages, session.Truncate(messages, limits).Messages}
	c, e := session.Context{}, session.Execution{ID: "e1"}
	for _, m := range messages {
		if step := rapid.IntRange(0, 2).Draw(t, "step"); step > 0 {
			c = c.WithStep(session.Step{Execution: session.Execution{ID: fmt.Sprint("e", step)}}, m)
		} else {
			c = c.WithAppendedMessages(m)
		}
	}
	for _, name := range session.CompilerNames() {
		compiler, err := session.NewCompiler(name)
		if err != nil {
			t.Fatal(err)
		}
		compiler = session.Decorate(compiler,
			func(c session.Compiler) session.Compiler {
				return session.TokenLimit{Compiler: c, Tokens: limits.Tokens, Scale: limits.Scale}
			},
			func(c session.Compiler) session.Compiler { return session.Recent{Compiler: c, Messages: 4} })
		view, err := compiler.Compile(t.Context(), c, e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, view)
	}
	return out
}

// Every view of package session is valid for each vendor, and reading a written view and writing it
// again changes nothing.
func TestEveryVendorTakesViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, view := range views(t, conversation(t)) {
			before := text(view)
			for v, check := range checks {
				c, _, err := wire.Write(v, view)
				if err == nil {
					err = check(c.Messages)
				}
				if err != nil {
					t.Fatalf("%s: %v\n%s\n%s", v, err, text(c.Messages), before)
				}
				back, _, err := wire.Read(v, c)
				if err != nil {
					t.Fatal(err)
				}
				again, _, _ := wire.Write(v, back)
				if !equal(c, again) {
					t.Fatalf("%s: %s\nand then %s", v, text(c), text(again))
				}
				if results(view) != results(back) {
					t.Fatalf("%s: of %d results %d are left: %s", v, results(view), results(back), text(c.Messages))
				}
			}
			if text(view) != before {
				t.Fatal("the messages were changed")
			}
		}
	})
}

// Everything that can be read can be written, and the output can be read.
func FuzzRead(f *testing.F) {
	for v, conversations := range vendorLists {
		for _, c := range conversations {
			f.Add(string(v), []byte(c.System), []byte(text(c.Messages)))
		}
	}
	f.Fuzz(func(t *testing.T, vendor string, system, messages []byte) {
		var list []json.RawMessage
		if json.Unmarshal(messages, &list) != nil {
			return
		}
		v := wire.Vendor(vendor)
		read, _, err := wire.Read(v, wire.Conversation{System: system, Messages: list})
		if err != nil {
			return
		}
		for to := range checks {
			c, _, err := wire.Write(to, read)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := wire.Read(to, c); err != nil {
				t.Fatalf("%s to %s: %v: %s", v, to, err, text(c))
			}
		}
	})
}

func results(messages []ragctx.Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.ToolResults())
	}
	return n
}

type letters struct{}

func (letters) Name() string       { return "letters" }
func (letters) Count(s string) int { return len(s) }

// TestGeminiWithoutIDs: results find their calls by their place in the turn, and an abandoned call
// takes no other call's result. Calls and results are f or g with a number that pairs them: m is
// the model's content, u the user's results, and "said" the user's text.
func TestGeminiWithoutIDs(t *testing.T) {
	for in, want := range map[string]string{
		"m:f1,f2 u:f1,f2":                     "f1 f2",
		"m:f1,g2 u:g2,f1":                     "f1 g2",
		"m:f1 said m:f2 u:f2 m:f3 u:f3":       "f2 f3", // the first call was abandoned: nothing shifts
		"m:f1 m:text m:f2 u:f2 m:f3 u:f3":     "f2 f3",
		"m:f1,g2 u:g2 m:f3 u:f3 m:f4 u:f4":    "g2 f3 f4",
		"m:f1 said u:f1":                      "", // never across a user text
		"m:f1 m:g2 u:f1,g2":                   "f1 g2",
		"m:f1 m:f2 u:f1,f2":                   "f1 f2",
		"m:f1 m:f2 u:f1 u:f2":                 "f1 f2",
		"m:f1,g2 u:f1 m:text u:g2":            "f1 g2", // late, in the same turn
		"m:f1,f2 u:f1 said m:f3 u:f3":         "f1 f3",
		"m:f1,f2,f3 u:f1 u:f2 m:f4 u:f4 said": "f1 f2 f4",
	} {
		var contents []json.RawMessage
		for word := range strings.FieldsSeq(in) {
			role, what, _ := strings.Cut(word, ":")
			var parts []string
			for one := range strings.SplitSeq(what, ",") {
				switch {
				case role == "said" || one == "text":
					parts = append(parts, `{"text":"words"}`)
				case role == "m":
					parts = append(parts, `{"functionCall":{"name":"`+one[:1]+`","args":{"n":"`+one+`"}}}`)
				default:
					parts = append(parts, `{"functionResponse":{"name":"`+one[:1]+`","response":{"output":"`+one+`"}}}`)
				}
			}
			contents = append(contents, json.RawMessage(`{"role":"`+map[string]string{"m": "model", "u": "user", "said": "user"}[role]+`","parts":[`+strings.Join(parts, ",")+`]}`))
		}
		messages, _, err := wire.Read(wire.Gemini, wire.Conversation{Messages: contents})
		if err != nil {
			t.Fatal(err)
		}
		results := make(map[string]string)
		for _, m := range messages {
			for _, r := range m.ToolResults() {
				results[r.ToolUseID] = r.Content.String()
			}
		}
		var got []string
		for _, m := range messages {
			for _, c := range m.ToolUses() {
				if r, ok := results[c.ID]; ok {
					if !strings.Contains(string(c.Input), r) {
						t.Errorf("%s: %s is answered by %s", in, c.Input, r)
					}
					got = append(got, r)
				}
			}
		}
		slices.Sort(got)
		answered := strings.Fields(want)
		slices.Sort(answered)
		if !slices.Equal(got, answered) {
			t.Errorf("%s: answered are %v, want %v", in, got, answered)
		}
		// Written messages obey the rules and have the same meaning.
		c, _, err := wire.Write(wire.Gemini, session.Sound(messages, session.Limits{Scale: session.Scale{Counter: letters{}}}).Messages)
		if err == nil {
			err = pairing.CheckGemini(c.Messages)
		}
		if err != nil {
			t.Errorf("%s: %v: %s", in, err, text(c.Messages))
		}
	}
}

// TestCallsKeepTheirFields: the other fields of a call stay with it when another call is left out.
func TestCallsKeepTheirFields(t *testing.T) {
	messages, _, err := wire.Read(wire.OpenAI, wire.Conversation{Messages: raw(`[{"role":"user","content":"hi"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"x":"of a"},{"id":"b","type":"custom","custom":{"name":"g","input":"in"},"x":"of b"}]},
		{"role":"tool","tool_call_id":"b","content":"done"},{"role":"user","content":"and?"}]`)})
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := wire.Write(wire.OpenAI, session.Sound(messages, session.Limits{Scale: session.Scale{Counter: letters{}}}).Messages)
	want := raw(`[{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"custom","custom":{"name":"g","input":"in"},"x":"of b"}]}]`)
	if err != nil || len(c.Messages) != 4 || !equal(c.Messages[1], want[0]) {
		t.Errorf("%s, %v", text(c.Messages), err)
	}
}

// TestGeminiInPieces: calls without ids keep theirs apart over several reads, and results
// find them.
func TestGeminiInPieces(t *testing.T) {
	call := `{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]}`
	result := `{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"x"}}}]}`
	var all []ragctx.Message
	for _, piece := range []string{call, call, result, call, result, result} {
		next, losses, err := wire.ReadNext(wire.Gemini, all, wire.Conversation{Messages: []json.RawMessage{json.RawMessage(piece)}})
		if err != nil || len(losses) > 0 {
			t.Fatalf("%v, %v", losses, err)
		}
		all = append(all, next...)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.Content[0].ID+m.Content[0].ToolUseID)
	}
	if want := []string{"gemini_1", "gemini_2", "gemini_2", "gemini_3", "gemini_3", "gemini_1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
