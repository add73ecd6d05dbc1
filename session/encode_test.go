package session_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// same compares as JSON does: raw values by meaning, and nothing like an empty list.
var same = cmp.Options{
	cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a)+len(b) > 0 }, cmp.Comparer(func(a, b json.RawMessage) bool {
		var x, y any
		return bytes.Equal(a, b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
	})),
	cmpopts.EquateEmpty(),
}

// anyMessage draws a message of any shape that one can be written in.
func anyMessage() *rapid.Generator[ragctx.Message] {
	text := rapid.SampledFrom([]string{"", "a", "two\nlines", "<&> \"”", "漢字", "{}"})
	meta := rapid.MapOfN(rapid.SampledFrom([]string{"is_trace", "execution_id", "", "k"}), rapid.SampledFrom([]any{true, "x", 1.5, nil, []any{"a"}, map[string]any{"b": false}}), 0, 3)
	input := rapid.SampledFrom([]string{`{}`, `{"a":[1,{"b":"<"}]}`, `"{\"a\":1}"`, `[]`, `null`, `7`})
	return rapid.Custom(func(t *rapid.T) ragctx.Message {
		block := func(depth int) ragctx.Block {
			switch rapid.SampledFrom([]ragctx.BlockType{ragctx.BlockText, ragctx.BlockImage, ragctx.BlockToolUse, ragctx.BlockToolResult}).Draw(t, "type") {
			case ragctx.BlockImage:
				return ragctx.Block{Type: ragctx.BlockImage, MediaType: "image/png", Data: []byte("\x89PNG")}
			case ragctx.BlockToolUse:
				return ragctx.Block{Type: ragctx.BlockToolUse, ID: text.Draw(t, "id"), Name: text.Draw(t, "tool"), Input: json.RawMessage(input.Draw(t, "input"))}
			case ragctx.BlockToolResult:
				r := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: text.Draw(t, "id"), Name: text.Draw(t, "tool"), IsError: rapid.Bool().Draw(t, "error")}
				if n := rapid.IntRange(0, 2).Draw(t, "results"); depth == 0 {
					for range n {
						r.Content = append(r.Content, ragctx.Block{Type: ragctx.BlockText, Text: text.Draw(t, "result")})
					}
				}
				return r
			default:
				return ragctx.Block{Type: ragctx.BlockText, Text: text.Draw(t, "text")}
			}
		}
		m := ragctx.Message{
			ID: text.Draw(t, "id"), ParentID: text.Draw(t, "parent"), Name: text.Draw(t, "name"), Reasoning: text.Draw(t, "reasoning"),
			Role:     rapid.SampledFrom([]ragctx.Role{ragctx.RoleSystem, ragctx.RoleDeveloper, ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleTool}).Draw(t, "role"),
			Metadata: meta.Draw(t, "metadata"),
		}
		if rapid.Bool().Draw(t, "dated") {
			m.CreatedAt = time.Unix(rapid.Int64Range(0, 1e10).Draw(t, "at"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC()
		}
		for range rapid.IntRange(0, 4).Draw(t, "blocks") {
			m.Content = append(m.Content, block(0))
		}
		return m
	})
}

// Parse∘serialise = identity, for whole contexts: id and createdAt survive.
func TestContextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strict := rapid.Bool().Draw(t, "strict")
		c := session.Context{}.WithSystemPrompt(rapid.String().Draw(t, "prompt")).WithMetadataKey("k", rapid.String().Draw(t, "value")).
			WithResponseFormat(rapid.SampledFrom([]session.ResponseFormat{
				{}, {Type: session.FormatText}, {Type: session.FormatJSONSchema, Name: "n", Schema: json.RawMessage(`{"type":"object"}`), Strict: &strict},
			}).Draw(t, "format"))
		s := session.Store{}.WithParameters(map[string]any{"p": 1.0})
		for _, name := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-z0]{0,3}`), rapid.ID[string]).Draw(t, "sections") {
			s = s.Set(session.Section{Name: name, Messages: rapid.SliceOfN(anyMessage(), 0, 4).Draw(t, "messages")})
		}
		c = c.WithStore(s)
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back session.Context
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		compareContexts(t, c, back)
	})
}

func compareContexts(t interface{ Fatalf(string, ...any) }, want, got session.Context) {
	for name, pair := range map[string][2]any{
		"sections":   {want.Store().Sections(), got.Store().Sections()},
		"parameters": {want.Store().Parameters(), got.Store().Parameters()},
		"metadata":   {want.Metadata(), got.Metadata()},
		"prompt":     {want.SystemPrompt(), got.SystemPrompt()},
		"format":     {want.ResponseFormat(), got.ResponseFormat()},
	} {
		if d := cmp.Diff(pair[0], pair[1], same); d != "" {
			t.Fatalf("%s (-written +read):\n%s", name, d)
		}
	}
}

// The exact keys.
func TestContextKeys(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	strict := false
	for name, c := range map[string]struct {
		c    session.Context
		want string
	}{
		"empty": {session.Context{}, `{"metadata":{},"systemPrompt":"","responseFormat":{},"messageStore":{"sections":[],"parameters":{}}}`},
		"full": {
			session.Context{}.WithSystemPrompt("p").WithMetadataKey("k", "v").
				WithResponseFormat(session.ResponseFormat{Type: session.FormatJSONSchema, Schema: json.RawMessage(`{}`), Name: "n", Strict: &strict}).
				WithMessages([]ragctx.Message{{ID: "i", CreatedAt: at, ParentID: "p", Role: ragctx.RoleUser, Name: "ada", Content: ragctx.Text("hi"), Metadata: map[string]any{"a": 1}}}),
			`{"metadata":{"k":"v"},"systemPrompt":"p","responseFormat":{"type":"json_schema","schema":{},"name":"n","strict":false},"messageStore":{"sections":[{"name":"messages","messages":[` +
				`{"id":"i","createdAt":"2026-01-02T02:04:05Z","parentId":"p","role":"user","name":"ada","content":"hi","_metadata":{"a":1}}]}],"parameters":{}}}`,
		},
	} {
		if b, err := json.Marshal(c.c); string(b) != c.want || err != nil {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

func TestMessageForms(t *testing.T) {
	for in, want := range map[string]string{
		"uhi":       `{"role":"user","content":"hi"}`,
		"a!1":       `{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":"{\"x\": 1}"}]}`,
		"alook!1":   `{"role":"assistant","content":"look!1"}`,
		"alook+!1":  `{"role":"assistant","content":"look","tool_calls":[{"id":"1","name":"f","arguments":"{\"x\": 1}"}]}`,
		"t?1":       `{"role":"tool","content":"ok","tool_result":{"content":"ok","call_id":"1","tool_name":"","is_error":false}}`,
		"ua+b":      `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
		"a!1+after": `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":"{\"x\": 1}"},{"type":"text","text":"after"}]}`,
		// several results in one message, which the keys have no place for
		"u?1+?2": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"},{"type":"tool_result","tool_use_id":"2","content":"ok"}]}`,
	} {
		if b, err := session.EncodeMessage(talk(t, in)[0]); string(b) != want || err != nil {
			t.Errorf("%s: %s, %v", in, b, err)
		}
	}
}

// Every key is optional, and older forms are read.
func TestLenientReading(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                             `{"role":"user","content":""}`,
		`{"content":null,"role":"USER"}`: `{"role":"user","content":""}`,
		`{"content":["a",{"type":"text","text":"b"}]}`:                                                             `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
		`{"metadata":{"a":1,"b":1},"_metadata":{"b":2}}`:                                                           `{"role":"user","content":"","_metadata":{"a":1,"b":2}}`,
		`{"createdAt":"2.1.2026, 03:04:05"}`:                                                                       `{"createdAt":"2026-01-02T03:04:05Z","role":"user","content":""}`,
		`{"metadata":[],"createdAt":"2026-01-02 03:04:05"}`:                                                        `{"createdAt":"2026-01-02T03:04:05Z","role":"user","content":""}`,
		`{"tool_calls":[{"id":"1","name":"f","arguments":[]}]}`:                                                    `{"role":"user","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}]}`,
		`{"tool_calls":[{"id":"1","name":"f","arguments":"{\"a\": 1}"}]}`:                                          `{"role":"user","content":"","tool_calls":[{"id":"1","name":"f","arguments":"{\"a\": 1}"}]}`,
		`{"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`:                   `{"role":"user","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}]}`,
		`{"role":"assistant","metadata":{"tool_calls":[{"id":"1","name":"f"}],"k":1}}`:                             `{"role":"assistant","content":"","_metadata":{"k":1},"tool_calls":[{"id":"1","name":"f","arguments":{}}]}`,
		`{"role":"tool","content":"42","metadata":{"tool_result":{"content":"42","call_id":"1","tool_name":"f"}}}`: `{"role":"tool","content":"42","tool_result":{"content":"42","call_id":"1","tool_name":"f","is_error":false}}`,
		`{"role":"tool","tool_result":{"content":{"t":20},"call_id":"1"}}`:                                         `{"role":"tool","content":"{\"t\":20}","tool_result":{"content":"{\"t\":20}","call_id":"1","tool_name":"","is_error":false}}`,
		`{"metadata":{"tool_calls":"many","tool_result":7}}`:                                                       `{"role":"user","content":"","_metadata":{"tool_calls":"many","tool_result":7}}`,
		`{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]}`:                      `{"role":"user","content":[{"type":"image","media_type":"image/png","data":"eA=="}]}`,
	} {
		m, err := session.DecodeMessage([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if b, err := session.EncodeMessage(m); string(b) != want || err != nil {
			t.Errorf("%s: %s, %v", in, b, err)
		}
	}
	for in, want := range map[string]string{
		`{"role":"pirate"}`:                  "role: ", // unknown roles are rejected
		`{"createdAt":"later"}`:              "createdAt: ",
		`{"content":7}`:                      "content: ",
		`{"content":["a",{"type":"smell"}]}`: "content[1]: type: ",
		`{"content":[{"type":"image_url","image_url":{"url":"https://example.com/x"}}]}`: "content[0]: image_url.url: ",
		`[]`: "json: ",
	} {
		if m, err := session.DecodeMessage([]byte(in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v", in, m, err)
		}
	}
}

func TestLenientContexts(t *testing.T) {
	const bare = `{"metadata":{},"systemPrompt":"","responseFormat":{},"messageStore":{"sections":[],"parameters":{}}}`
	for in, want := range map[string]string{
		`{}`: bare,
		`{"metadata":[],"responseFormat":[],"messageStore":[]}`:                     bare,
		`{"metadata":null,"responseFormat":null,"messageStore":{"parameters":[ ]}}`: bare,
		`{"responseFormat":{"type":"json_schema","schema":null,"json_schema":{"schema":{"a":1},"name":"n","strict":true}}}`: strings.Replace(bare,
			`"responseFormat":{}`, `"responseFormat":{"type":"json_schema","schema":{"a":1},"name":"n","strict":true}`, 1),
		// sections of one name are merged on load
		`{"messageStore":{"sections":[{"name":"x","messages":[{"content":"1"}]},{"name":"y"},{"name":"x","messages":[{"content":"2"}]}]}}`: strings.Replace(bare,
			`"sections":[]`, `"sections":[{"name":"x","messages":[{"role":"user","content":"1"},{"role":"user","content":"2"}]},{"name":"y","messages":[]}]`, 1),
	} {
		var c session.Context
		if err := json.Unmarshal([]byte(in), &c); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if b, err := json.Marshal(c); string(b) != want || err != nil {
			t.Errorf("%s: %s, %v", in, b, err)
		}
	}
	var c session.Context
	err := json.Unmarshal([]byte(`{"messageStore":{"sections":[{"name":"x","messages":[{},{"role":"pirate"}]}]}}`), &c)
	if err == nil || !strings.Contains(err.Error(), "sections[0].messages[1]: role") {
		t.Errorf("a message of nobody: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"responseFormat":{"type":"haiku"}}`), &c); err == nil || !strings.Contains(err.Error(), "responseFormat.type") {
		t.Errorf("a form that is none: %v", err)
	}
}

// The state around a context; fields of the agent's runtime are preserved.
func TestState(t *testing.T) {
	const text = `{"agentId":"a","parentAgentId":"p","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:06Z","context":{"metadata":{},"systemPrompt":"p","responseFormat":{},` +
		`"messageStore":{"sections":[],"parameters":{}}},"llmConfig":{"model":"m"},"executionCount":2,"execution":null}`
	var s session.State
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(s); string(b) != text || err != nil {
		t.Errorf("%s, %v", b, err)
	}
}

// Encoding and decoding a decoded message changes nothing.
func FuzzContext(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"messageStore":{"sections":[{"name":"messages","messages":[{"role":"tool","content":"x","tool_result":{"content":"x","call_id":"1"}}]}]}}`,
		`{"messageStore":{"sections":[{"name":"a","messages":[{"content":["a"],"metadata":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]},{"name":"a"}]}}`,
		`{"responseFormat":{"json_schema":{"name":"n"}},"metadata":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c, again session.Context
		if json.Unmarshal(b, &c) != nil {
			return
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		compareContexts(t, c, again)
	})
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The canonical reader agrees with the general one. Input that differs in a byte is rejected by it,
// or read in the same way.
func TestMessagesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := session.EncodeMessage(anyMessage().Draw(t, "message"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := session.AnyForm(b)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := session.Written(string(b))
		_, calls := want.Metadata["tool_calls"]
		_, result := want.Metadata["tool_result"]
		if !ok && !calls && !result {
			t.Fatalf("is not read: %s", b)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); ok && d != "" {
			t.Fatalf("%s (-any form +as written):\n%s", b, d)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				b = append(b[:at:at], b[at+1:]...)
			case 1:
				b = append(b[:at:at], append([]byte(rapid.SampledFrom([]string{" ", `"`, "\\", "{", "}", "null", "\x00", "\xff", ",", "1"}).Draw(t, "added")), b[at:]...)...)
			default:
				b = append(append(b[:at:at], rapid.Byte().Draw(t, "byte")), b[at+1:]...)
			}
			if len(b) == 0 {
				return
			}
		}
		want, err = session.AnyForm(b)
		got, ok = session.Written(string(b))
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); ok && (err != nil || d != "") {
			t.Fatalf("%s: %v (-any form +as written):\n%s", b, err, d)
		}
	})
}

// A decoded message retains little more memory than its content: the output of a tool appears twice
// in the JSON, and an id is a small part of it.
func TestReadMessagesHoldWhatTheySay(t *testing.T) {
	const number, size = 16, 1 << 20
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // far below
	}
	written, err := session.EncodeMessage(ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{
		{Type: ragctx.BlockToolResult, ToolUseID: "call", Name: "f", Content: ragctx.Text(strings.Repeat("x", size))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	before, read := heap(), make([]ragctx.Message, number)
	for i := range read {
		if read[i], err = session.ReadMessage(string(written)); err != nil {
			t.Fatal(err)
		}
	}
	if held := heap() - before; held > number*size*3/2 {
		t.Errorf("%d texts of %d bytes hold %d", number, size, held)
	}
	runtime.KeepAlive(read)
	runtime.KeepAlive(written)
}
