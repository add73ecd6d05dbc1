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

// openAI is the form of chat completions: one message for each result, calls beside the
// content, system messages among the others.
type openAI struct{}

func (openAI) renamed(id string) string { return cmp.Or(id, "call") }

var (
	openAIMessage = shape{"role": nil, "content": nil, "name": nil, "tool_calls": nil, "tool_call_id": nil, "reasoning_content": nil}
	openAICall    = shape{"id": nil, "type": nil, "function": {"name": nil, "arguments": nil}}
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
	required := role != ragctx.RoleAssistant // who may call a tool, refuse or speak instead
	if err := complete(OpenAI, "content", required && absent(w.Content), x.Fields); err != nil {
		return ragctx.Message{}, err
	}
	if err := x.readContent(w.Content, &m, readOpenAIPart); err != nil {
		return ragctx.Message{}, err
	}
	if role == ragctx.RoleAssistant && len(m.Content)+len(x.Parts)+len(w.Calls)+len(w.Reasoning) == 0 {
		l.unspoken(index, x.Fields)
	}
	if role == ragctx.RoleTool {
		m.Content = ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: w.ToolCallID, Content: m.Content}}
	}
	for i, raw := range w.Calls {
		b, rest, err := readOpenAICall(raw)
		if err != nil {
			return ragctx.Message{}, fmt.Errorf("tool_calls[%d]: %w", i, err)
		}
		note(&x.Calls, i, rest)
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
	return ragctx.Block{}, nil, ofOtherKind(OpenAI, textOf(o, "type"))
}

func readOpenAICall(raw json.RawMessage) (ragctx.Block, object, error) {
	var w struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	var o object
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Block{}, nil, err
	}
	if err := unmarshal(raw, &o); err != nil {
		return ragctx.Block{}, nil, err
	}
	if w.Type != "function" && w.Type != "" {
		return ragctx.Block{}, nil, ragctx.Invalid("type", "%q is not a type of call that can be kept; use function", ragctx.Clip(w.Type))
	}
	return ragctx.Block{Type: ragctx.BlockToolUse, ID: w.ID, Name: w.Function.Name, Input: readArguments(w.Function.Arguments)}, openAICall.rest(o), nil
}

// readArguments reads arguments as they were written, where they are JSON. What is none,
// and a string, becomes a string of it.
func readArguments(text string) json.RawMessage {
	if json.Valid([]byte(text)) && !strings.HasPrefix(strings.TrimSpace(text), `"`) {
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
			if len(m.Content) == 1 {
				fill(o, x.Fields)
			}
			c.Messages = append(c.Messages, marshal(o))
		}
		if len(rest) > 0 || len(results) == 0 && m.Role != ragctx.RoleTool {
			c.Messages = append(c.Messages, marshal(openAIOther(m, rest, x, l)))
		}
	}
	return c
}

// openAIResult returns the content of a result, which has texts alone.
func openAIResult(r ragctx.Block, x extra, index int, l *losses) any {
	if r.IsError {
		l.add(index, "that a result is an error")
	}
	texts := slices.DeleteFunc(slices.Clone(r.Content), func(b ragctx.Block) bool { return b.Type != ragctx.BlockText })
	if len(texts) < len(r.Content) {
		l.add(index, "images in a result")
	}
	if len(texts) == 0 && !x.List {
		return ""
	}
	return openAIContent(openAIParts(ragctx.RoleUser, texts, index, l), x)
}

// openAIOther returns a message that is no result.
func openAIOther(m indexed, rest ragctx.Content, x extra, l *losses) object {
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
	calls := openAICalls(m, rest, x, l)
	if len(calls) > 0 {
		o["tool_calls"] = calls
	}
	if o["content"] == "" && len(calls)+len(x.Fields) > 0 && m.Role == ragctx.RoleAssistant {
		o["content"] = nil // a call, a refusal or a voice says it
	}
	fill(o, x.Fields)
	return o
}

// openAIParts returns the parts of a content that are no calls. Only users show images.
func openAIParts(role ragctx.Role, c ragctx.Content, index int, l *losses) []object {
	var parts []object
	called := false
	for _, b := range c {
		switch b.Type {
		case ragctx.BlockText:
			parts = append(parts, object{"type": "text", "text": b.Text})
			if called {
				l.add(index, "that a text comes after a call")
			}
		case ragctx.BlockImage:
			if role != ragctx.RoleUser {
				l.add(index, "an image that no user shows")
				continue
			}
			url := "data:" + b.MediaType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
			parts = append(parts, object{"type": "image_url", "image_url": object{"url": url}})
		default:
			called = true
		}
	}
	return parts
}

func openAIContent(parts []object, x extra) any {
	list := x.restore(parts, nil, understands(readOpenAIPart))
	switch {
	case len(list) == 0 && !x.List:
		return ""
	case len(list) == 1 && len(parts) == 1 && parts[0]["type"] == "text" && !x.List:
		return parts[0]["text"]
	}
	return list
}

func openAICalls(m indexed, c ragctx.Content, x extra, l *losses) []object {
	var calls []object
	for _, b := range c {
		if b.Type != ragctx.BlockToolUse {
			continue
		}
		if m.Role != ragctx.RoleAssistant {
			l.add(m.index, "a call by somebody who is no assistant")
			continue
		}
		var text string
		if json.Unmarshal(b.Input, &text) != nil || len(b.Input) == 0 {
			text = string(b.Input)
		}
		if len(b.Input) == 0 {
			text = "{}"
		}
		o := object{"id": b.ID, "type": "function", "function": object{"name": b.Name, "arguments": text}}
		fill(o, x.Calls[len(calls)])
		calls = append(calls, o)
	}
	return calls
}
