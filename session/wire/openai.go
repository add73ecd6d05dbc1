package wire

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// openAI is the form of chat completions: one message per result, calls in a field of their own,
// system messages among the others.
type openAI struct{}

func (openAI) normalizeID(id string) string { return cmp.Or(id, "call") }

var (
	openAIMessage = shape{"role": nil, "content": nil, "name": nil, "tool_calls": nil, "tool_call_id": nil, "reasoning_content": nil}
	openAICall    = shape{"id": nil, "type": nil, "function": {"name": nil, "arguments": nil}}
	openAICustom  = shape{"id": nil, "custom": {"name": nil, "input": nil}}
	openAIImage   = shape{"type": nil, "image_url": {"url": nil}}
	openAIName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

type openAIWire struct {
	Role       string            `json:"role"`
	Content    json.RawMessage   `json:"content"`
	Name       string            `json:"name"`
	Calls      []json.RawMessage `json:"tool_calls"`
	ToolCallID string            `json:"tool_call_id"`
	Reasoning  string            `json:"reasoning_content"`
}

func (openAI) read(c Conversation, _ []ragctx.Message, l *losses) ([]ragctx.Message, error) {
	out := make([]ragctx.Message, len(c.Messages))
	for i, raw := range c.Messages {
		var err error
		if out[i], err = readOpenAI(raw, i, l); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return out, nil
}

func readOpenAI(raw json.RawMessage, index int, l *losses) (ragctx.Message, error) {
	var w openAIWire
	var o object
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Message{}, err
	}
	if err := unmarshal(raw, &o); err != nil {
		return ragctx.Message{}, err
	}
	role, err := ragctx.ParseRole(w.Role)
	if err != nil {
		return ragctx.Message{}, err
	}
	m, x := ragctx.Message{Role: role, Name: w.Name, Reasoning: w.Reasoning}, extra{Fields: openAIMessage.rest(o)}
	required := role != ragctx.RoleAssistant // an assistant may call a tool, refuse or speak instead
	if err := checkForm(OpenAI, "content", required && isAbsent(w.Content), x.Fields); err != nil {
		return ragctx.Message{}, err
	}
	if err := x.readContent(w.Content, &m, OpenAI, readOpenAIPart); err != nil {
		return ragctx.Message{}, err
	}
	if role == ragctx.RoleAssistant && len(m.Content)+len(w.Calls)+len(w.Reasoning) == 0 {
		l.addUnknownFields(index, x.Fields)
	}
	if role == ragctx.RoleTool {
		m.Content = ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: w.ToolCallID, Content: m.Content}}
		keepFields(&m.Content[0], OpenAI, x.Fields) // they stay with the result wherever it moves
		x.Fields = nil
	}
	for i, raw := range w.Calls {
		b, err := readOpenAICall(raw)
		if err != nil {
			return ragctx.Message{}, fmt.Errorf("tool_calls[%d]: %w", i, err)
		}
		m.Content = append(m.Content, b)
	}
	x.put(&m, OpenAI)
	return m, nil
}

func readOpenAIPart(o object, _ json.RawMessage) (ragctx.Block, shape, error) {
	switch textOf(o, "type") {
	case "text":
		return ragctx.Block{Type: ragctx.BlockText, Text: textOf(o, "text")}, textShape, nil
	case "image_url":
		media, body, ok := strings.Cut(strings.TrimPrefix(textOf(objectOf(o, "image_url"), "url"), "data:"), ";base64,")
		data, err := base64.StdEncoding.DecodeString(body)
		if ok && err == nil && strings.HasPrefix(textOf(objectOf(o, "image_url"), "url"), "data:") {
			return ragctx.Block{Type: ragctx.BlockImage, MediaType: media, Data: data}, openAIImage, nil
		}
	}
	return ragctx.Block{}, nil, foreignPartError(OpenAI, textOf(o, "type"))
}

// readOpenAICall reads a call of any type. Function arguments and custom inputs become the block's
// input; calls of other types keep all their fields unread.
func readOpenAICall(raw json.RawMessage) (ragctx.Block, error) {
	var o object
	if err := unmarshal(raw, &o); err != nil {
		return ragctx.Block{}, err
	}
	kind := cmp.Or(textOf(o, "type"), "function")
	inner := objectOf(o, kind)
	b := ragctx.Block{Type: ragctx.BlockToolUse, ID: textOf(o, "id"), Name: cmp.Or(textOf(inner, "name"), kind)}
	rest := shape{"id": nil}.rest(o)
	switch kind {
	case "function":
		b.Name, b.Input, rest = textOf(inner, "name"), readArguments(inner["arguments"]), openAICall.rest(o)
	case "custom":
		b.Name, b.Input, rest = textOf(inner, "name"), marshal(textOf(inner, "input")), openAICustom.rest(o)
	}
	keepFields(&b, OpenAI, rest)
	return b, nil
}

// readArguments returns JSON arguments as written. Invalid JSON, and a JSON string, become a JSON
// string of the text. Some clients send the object itself.
func readArguments(v any) json.RawMessage {
	text, ok := v.(string)
	switch {
	case v == nil:
		return nil
	case !ok:
		return marshal(v)
	case json.Valid([]byte(text)) && !strings.HasPrefix(strings.TrimSpace(text), `"`):
		return json.RawMessage(text)
	}
	return marshal(text)
}

func (openAI) write(messages []indexed, l *losses) Conversation {
	var c Conversation
	for _, m := range messages {
		x := extraOf(m.Message, OpenAI)
		results, rest := split(m.Content)
		for _, r := range results {
			o := object{"role": "tool", "tool_call_id": r.ToolUseID, "content": openAIResult(r, x, m.index, l)}
			fill(o, vendorFields(r, OpenAI))
			c.Messages = append(c.Messages, marshal(o))
		}
		if len(rest) > 0 || len(results) == 0 && m.Role != ragctx.RoleTool {
			c.Messages = append(c.Messages, marshal(openAIMessageObject(m, rest, x, l)))
		}
	}
	return c
}

// openAIResult returns the content of a result, which can hold only text.
func openAIResult(r ragctx.Block, x extra, index int, l *losses) any {
	if r.IsError {
		l.add(index, "the error flag of a result")
	}
	texts := slices.DeleteFunc(slices.Clone(r.Content), func(b ragctx.Block) bool {
		return b.Type != ragctx.BlockText && b.Type != ragctx.BlockVendor
	})
	if len(texts) < len(r.Content) {
		l.add(index, "images in a result")
	}
	return openAIContent(openAIParts(ragctx.RoleUser, texts, index, l), x)
}

// openAIMessageObject returns a message that is not a tool result.
func openAIMessageObject(m indexed, rest ragctx.Content, x extra, l *losses) object {
	o := object{"role": string(m.Role), "content": openAIContent(openAIParts(m.Role, rest, m.index, l), x)}
	switch {
	case m.Name == "":
	case openAIName.MatchString(m.Name):
		o["name"] = m.Name
	default:
		l.add(m.index, "the name of the speaker")
	}
	if m.Reasoning != "" {
		l.add(m.index, "reasoning")
	}
	calls := openAICalls(m, rest, l)
	if len(calls) > 0 {
		o["tool_calls"] = calls
	}
	if o["content"] == "" && len(calls)+len(x.Fields) > 0 && m.Role == ragctx.RoleAssistant {
		o["content"] = nil // the call, refusal or audio is the content
	}
	fill(o, x.Fields)
	return o
}

// openAIParts returns the parts of a content except calls. Only user messages may have images.
func openAIParts(role ragctx.Role, c ragctx.Content, index int, l *losses) []any {
	var parts []any
	called := false
	for _, b := range c {
		if raw, ok := vendorPart(b, OpenAI, understands(readOpenAIPart)); ok {
			parts = append(parts, raw)
			continue
		}
		var o object
		switch b.Type {
		case ragctx.BlockText:
			o = object{"type": "text", "text": b.Text}
			if called {
				l.add(index, "the position of a text after a call")
			}
		case ragctx.BlockImage:
			if role != ragctx.RoleUser {
				l.add(index, "an image outside a user message")
				continue
			}
			url := "data:" + b.MediaType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
			o = object{"type": "image_url", "image_url": object{"url": url}}
		case ragctx.BlockToolUse:
			called = true
			continue
		default:
			continue
		}
		fill(o, vendorFields(b, OpenAI))
		parts = append(parts, o)
	}
	return parts
}

func openAIContent(parts []any, x extra) any {
	switch {
	case len(parts) == 0 && !x.List:
		return ""
	case len(parts) == 0:
		return []any{}
	case len(parts) == 1 && !x.List && isBare(parts[0]):
		return parts[0].(object)["text"]
	}
	return parts
}

func openAICalls(m indexed, c ragctx.Content, l *losses) []object {
	var calls []object
	for _, b := range c {
		if b.Type != ragctx.BlockToolUse {
			continue
		}
		if m.Role != ragctx.RoleAssistant {
			l.add(m.index, "a tool call outside an assistant message")
			continue
		}
		calls = append(calls, openAICallObject(b))
	}
	return calls
}

// openAICallObject returns a call of its original type; the default is a function call.
func openAICallObject(b ragctx.Block) object {
	text := cmp.Or(string(b.Input), "{}")
	if strings.HasPrefix(text, `"`) {
		_ = json.Unmarshal(b.Input, &text) // on an error text stays as written
	}
	o, fields := object{"id": b.ID}, vendorFields(b, OpenAI)
	switch fields["type"] {
	case nil:
		o["type"], o["function"] = "function", object{"name": b.Name, "arguments": text}
	case "custom":
		o["custom"] = object{"name": b.Name, "input": text}
	}
	fill(o, fields)
	return o
}
