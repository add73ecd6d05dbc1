package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/ragctx/ragctx"
)

// anthropic is the form of Anthropic's messages. The system prompt is a separate field, and all
// results of a message's calls stand at the start of the next user message.
type anthropic struct{}

var (
	anthropicMessage  = shape{"role": nil, "content": nil}
	anthropicImage    = shape{"type": nil, "source": {"type": nil, "media_type": nil, "data": nil}}
	anthropicCall     = shape{"type": nil, "id": nil, "name": nil, "input": nil}
	anthropicResult   = shape{"type": nil, "tool_use_id": nil, "content": nil, "is_error": nil}
	anthropicThinking = shape{"type": nil, "thinking": nil}
	invalidIDChars    = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
)

func (anthropic) normalizeID(id string) string {
	return invalidIDChars.ReplaceAllString(cmp.Or(id, "call"), "_")
}

func (anthropic) read(c Conversation, _ []ragctx.Message, l *losses) ([]ragctx.Message, error) {
	var out []ragctx.Message
	if len(c.System) > 0 {
		m, x := ragctx.Message{Role: ragctx.RoleSystem}, extra{}
		if err := x.readContent(c.System, &m, Anthropic, anthropicReader(-1, l)); err != nil {
			return nil, fmt.Errorf("system: %w", err)
		}
		x.put(&m, Anthropic)
		out = append(out, m)
	}
	for i, raw := range c.Messages {
		m, err := readAnthropic(raw, i, l)
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		out = append(out, m)
	}
	return out, nil
}

func readAnthropic(raw json.RawMessage, index int, l *losses) (ragctx.Message, error) {
	var w struct {
		Role    ragctx.Role     `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	var o object
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Message{}, err
	}
	if err := unmarshal(raw, &o); err != nil {
		return ragctx.Message{}, err
	}
	if w.Role != ragctx.RoleUser && w.Role != ragctx.RoleAssistant {
		return ragctx.Message{}, ragctx.Invalid("role", "%q is not a role of messages; "+
			"use user or assistant, and the field system for the system prompt", ragctx.Clip(string(w.Role)))
	}
	m, x := ragctx.Message{Role: w.Role}, extra{Fields: anthropicMessage.rest(o)}
	if err := checkForm(Anthropic, "content", isAbsent(w.Content), x.Fields); err != nil {
		return ragctx.Message{}, err
	}
	if err := x.readContent(w.Content, &m, Anthropic, anthropicReader(index, l)); err != nil {
		return ragctx.Message{}, err
	}
	x.put(&m, Anthropic)
	return m, nil
}

// anthropicReader reads the parts of one message.
func anthropicReader(index int, l *losses) reader {
	return func(o object, raw json.RawMessage) (ragctx.Block, shape, error) {
		switch textOf(o, "type") {
		case "text":
			return ragctx.Block{Type: ragctx.BlockText, Text: textOf(o, "text")}, textShape, nil
		case "image":
			var w struct {
				Source struct {
					Type  string `json:"type"`
					Media string `json:"media_type"`
					Data  []byte `json:"data"`
				} `json:"source"`
			}
			err := json.Unmarshal(raw, &w)
			if err == nil && w.Source.Type != "base64" {
				return ragctx.Block{}, nil, nil // by URL, or a file
			}
			return ragctx.Block{Type: ragctx.BlockImage, MediaType: w.Source.Media, Data: w.Source.Data}, anthropicImage, err
		case "tool_use":
			var b ragctx.Block
			err := json.Unmarshal(raw, &b)
			return ragctx.Block{Type: ragctx.BlockToolUse, ID: b.ID, Name: b.Name, Input: b.Input}, anthropicCall, err
		case "tool_result":
			b, err := readAnthropicResult(o, raw, index, l)
			return b, anthropicResult, err
		case "thinking":
			return ragctx.Block{Text: textOf(o, "thinking")}, anthropicThinking, nil
		}
		return ragctx.Block{}, nil, foreignPartError(Anthropic, textOf(o, "type"))
	}
}

// readAnthropicResult reads a tool result. If its content was a list of one text, it records that
// in o under listField.
func readAnthropicResult(o object, raw json.RawMessage, index int, l *losses) (ragctx.Block, error) {
	var w struct {
		ID      string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Block{}, err
	}
	var inner ragctx.Message
	var content extra
	if err := content.readContent(w.Content, &inner, Anthropic, anthropicReader(index, l)); err != nil {
		return ragctx.Block{}, err
	}
	if content.List {
		o[listField] = true
	}
	if len(content.Thoughts) > 0 {
		l.add(index, "thinking within a result")
	}
	return ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: w.ID, Content: inner.Content, IsError: w.IsError}, nil
}

// listField marks a stored result with a text that was a list of one part.
const listField = "ragctx_list"

// anthropicUnderstands reports whether this package writes such parts from blocks of its own.
func anthropicUnderstands(raw json.RawMessage) bool {
	return understands(anthropicReader(0, &losses{}))(raw)
}

func (anthropic) write(messages []indexed, l *losses) Conversation {
	var c Conversation
	var system []any
	var turns []turn
	plain := true
	for i, m := range messages {
		x := extraOf(m.Message, Anthropic)
		if m.Name != "" {
			l.add(m.index, "the name of the speaker")
		}
		if isSystem(m.Message) {
			parts := anthropicParts(m, l)
			plain = plain && len(system) == 0 && len(parts) == 1 && !x.List
			system = append(system, parts...)
			if i > 0 && !isSystem(messages[i-1].Message) {
				l.add(m.index, "the position of a system message")
			}
			continue
		}
		parts := x.insertThoughts(anthropicParts(m, l), anthropicThoughts(m, x, l))
		if len(parts) == 0 {
			l.add(m.index, "an empty message")
			continue
		}
		turns = addTurn(turns, newTurn(m, parts, x))
	}
	if len(system) > 0 {
		c.System = marshal(system)
		if plain && isBare(system[0]) {
			c.System = marshal(system[0].(object)["text"])
		}
	}
	for _, t := range turns {
		parts := slices.Concat(t.results, t.rest)
		o := object{"role": anthropicRole(t.m.Role), "content": parts}
		if len(parts) == 1 && !t.list && isBare(parts[0]) {
			o["content"] = parts[0].(object)["text"]
		}
		fill(o, t.fields)
		c.Messages = append(c.Messages, marshal(o))
	}
	return c
}

// turn is a message under construction. Results come before its other parts.
type turn struct {
	m             indexed
	results, rest []any
	fields        object
	list          bool
}

func newTurn(m indexed, parts []any, x extra) turn {
	n := len(m.ToolResults())
	return turn{m: m, results: parts[:n:n], rest: parts[n:], fields: x.Fields, list: x.List}
}

// addTurn appends a turn. Results join a preceding turn that begins with results, because all
// results of a message's calls belong in one message.
func addTurn(turns []turn, t turn) []turn {
	if n := len(turns); n > 0 && len(t.results) > 0 && len(turns[n-1].results) > 0 {
		last := &turns[n-1]
		last.results, last.rest = append(last.results, t.results...), append(last.rest, t.rest...)
		return turns
	}
	return append(turns, t)
}

func anthropicRole(r ragctx.Role) string {
	if r == ragctx.RoleAssistant {
		return "assistant"
	}
	return "user"
}

// anthropicParts returns a content's parts, results first. Empty texts are dropped.
func anthropicParts(m indexed, l *losses) []any {
	var parts []any
	results, rest := split(m.Content)
	for _, r := range results {
		parts = append(parts, anthropicResultPart(r, m.index, l))
	}
	for _, b := range rest {
		if raw, ok := vendorPart(b, Anthropic, anthropicUnderstands); ok {
			parts = append(parts, raw)
			continue
		}
		var o object
		switch {
		case b.Type == ragctx.BlockImage && m.Role != ragctx.RoleUser:
			l.add(m.index, "an image outside a user message")
		case b.Type == ragctx.BlockToolUse && m.Role != ragctx.RoleAssistant:
			l.add(m.index, "a tool call outside an assistant message")
		case b.Type == ragctx.BlockToolUse:
			o = object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": inputObject(b, m.index, l)}
		default:
			o = anthropicPart(b)
		}
		if o != nil {
			fill(o, vendorFields(b, Anthropic))
			parts = append(parts, o)
		}
	}
	return parts
}

// anthropicPart returns a text or image part, or nil for other blocks.
func anthropicPart(b ragctx.Block) object {
	switch {
	case b.Type == ragctx.BlockImage:
		return object{"type": "image", "source": object{"type": "base64", "media_type": b.MediaType, "data": b.Data}}
	case b.Type == ragctx.BlockText && b.Text != "":
		return object{"type": "text", "text": b.Text}
	}
	return nil
}

func anthropicResultPart(r ragctx.Block, index int, l *losses) object {
	o := object{"type": "tool_result", "tool_use_id": r.ToolUseID}
	if r.IsError {
		o["is_error"] = true
	}
	var parts []any
	for _, b := range r.Content {
		if raw, ok := vendorPart(b, Anthropic, anthropicUnderstands); ok {
			parts = append(parts, raw)
			continue
		}
		if part := anthropicPart(b); part != nil {
			fill(part, vendorFields(b, Anthropic))
			parts = append(parts, part)
		} else if b.Type != ragctx.BlockText {
			l.add(index, "calls and results within a result")
		}
	}
	fields := vendorFields(r, Anthropic)
	list := fields[listField] != nil
	delete(fields, listField)
	switch {
	case len(parts) == 1 && !list && isBare(parts[0]):
		o["content"] = parts[0].(object)["text"]
	case len(parts) > 0:
		o["content"] = parts
	}
	fill(o, fields)
	return o
}

// isBare reports whether a part is a text without further fields.
func isBare(part any) bool {
	o, ok := part.(object)
	return ok && o["type"] == "text" && len(o) == len(textShape)
}

// anthropicThoughts returns the signed parts of the reasoning. Unsigned or changed reasoning is
// dropped as a loss, because the API rejects it.
func anthropicThoughts(m indexed, x extra, l *losses) []object {
	if m.Reasoning == "" && len(x.Thoughts) == 0 {
		return nil
	}
	texts, ok := x.thoughts(m.Message)
	if !ok {
		l.add(m.index, "reasoning that the vendor has not signed")
		return nil
	}
	out := make([]object, len(texts))
	for i, text := range texts {
		out[i] = object{"type": "thinking", "thinking": text}
		fill(out[i], x.Thoughts[i].Fields)
	}
	return out
}
