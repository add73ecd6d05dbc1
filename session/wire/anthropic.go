package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/ragctx/ragctx"
)

// anthropic is the form of messages: the system prompt beside them, and all results of a
// message's calls at the start of the next one, which is the user's.
type anthropic struct{}

var (
	anthropicMessage  = shape{"role": nil, "content": nil}
	anthropicImage    = shape{"type": nil, "source": {"type": nil, "media_type": nil, "data": nil}}
	anthropicCall     = shape{"type": nil, "id": nil, "name": nil, "input": nil}
	anthropicResult   = shape{"type": nil, "tool_use_id": nil, "content": nil, "is_error": nil}
	anthropicThinking = shape{"type": nil, "thinking": nil}
	idSigns           = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
)

func (anthropic) renamed(id string) string {
	return idSigns.ReplaceAllString(cmp.Or(id, "call"), "_")
}

func (anthropic) read(c Conversation, _ []ragctx.Message, l *losses) ([]ragctx.Message, error) {
	var out []ragctx.Message
	if len(c.System) > 0 {
		m, x := ragctx.Message{Role: ragctx.RoleSystem}, extra{}
		if err := x.readContent(c.System, &m, anthropicReader(&x, -1, l)); err != nil {
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
		return ragctx.Message{}, ragctx.Invalid("role", "%q is not a role of messages; use user or assistant, and system beside the messages", ragctx.Clip(string(w.Role)))
	}
	m, x := ragctx.Message{Role: w.Role}, extra{Fields: anthropicMessage.rest(o)}
	if err := complete(Anthropic, "content", absent(w.Content), x.Fields); err != nil {
		return ragctx.Message{}, err
	}
	if err := x.readContent(w.Content, &m, anthropicReader(&x, index, l)); err != nil {
		return ragctx.Message{}, err
	}
	x.put(&m, Anthropic)
	return m, nil
}

// anthropicReader reads the parts of one message, and notes in x which results are lists.
func anthropicReader(x *extra, index int, l *losses) reader {
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
			b, err := readAnthropicResult(x, raw, index, l)
			return b, anthropicResult, err
		case "thinking":
			return ragctx.Block{Text: textOf(o, "thinking")}, anthropicThinking, nil
		}
		return ragctx.Block{}, nil, ofOtherKind(Anthropic, textOf(o, "type"))
	}
}

func readAnthropicResult(x *extra, raw json.RawMessage, index int, l *losses) (ragctx.Block, error) {
	var w struct {
		ID      string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Block{}, err
	}
	var inner ragctx.Message
	var kept extra
	if err := kept.readContent(w.Content, &inner, anthropicReader(&extra{}, index, l)); err != nil {
		return ragctx.Block{}, err
	}
	if kept.List {
		x.Lists = append(x.Lists, x.Known)
	}
	if len(kept.Parts)+len(kept.Of)+len(kept.Thoughts) > 0 {
		l.add(index, "parts of a result, or fields of them, that are neither texts nor images")
	}
	return ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: w.ID, Content: inner.Content, IsError: w.IsError}, nil
}

// understoodByAnthropic is what of the parts this package makes itself.
func understoodByAnthropic(raw json.RawMessage) bool {
	return understands(anthropicReader(&extra{}, 0, &losses{}))(raw)
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
			parts := x.restore(anthropicParts(m, x, l), nil, understoodByAnthropic)
			plain = plain && len(system) == 0 && len(parts) == 1 && !x.List
			system = append(system, parts...)
			if i > 0 && !isSystem(messages[i-1].Message) {
				l.add(m.index, "where a system message stands")
			}
			continue
		}
		parts := x.restore(anthropicParts(m, x, l), anthropicThoughts(m, x, l), understoodByAnthropic)
		if len(parts) == 0 {
			l.add(m.index, "a message that says nothing")
			continue
		}
		turns = addTurn(turns, newTurn(m, parts, x))
	}
	if len(system) > 0 {
		c.System = marshal(system)
		if o, ok := system[0].(object); ok && plain {
			c.System = marshal(o["text"])
		}
	}
	for _, t := range turns {
		parts := slices.Concat(t.results, t.rest)
		o := object{"role": anthropicRole(t.m.Role), "content": parts}
		if first, ok := parts[0].(object); ok && len(parts) == 1 && first["type"] == "text" && !t.list {
			o["content"] = first["text"]
		}
		fill(o, t.fields)
		c.Messages = append(c.Messages, marshal(o))
	}
	return c
}

// turn is a message that is being made. Results come before the rest of its parts.
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

// addTurn adds a turn. Results go into the turn that begins with results before it, if
// there is one: all results of a message's calls are in one.
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

// anthropicParts returns a content's parts, results first. Texts that are empty are none.
func anthropicParts(m indexed, x extra, l *losses) []object {
	var parts []object
	results, rest := split(m.Content)
	for i, r := range results {
		parts = append(parts, anthropicResultPart(r, slices.Contains(x.Lists, i), m.index, l))
	}
	for _, b := range rest {
		switch b.Type {
		case ragctx.BlockImage:
			if m.Role != ragctx.RoleUser {
				l.add(m.index, "an image that no user shows")
				continue
			}
			parts = append(parts, anthropicImagePart(b))
		case ragctx.BlockToolUse:
			if m.Role != ragctx.RoleAssistant {
				l.add(m.index, "a call by somebody who is no assistant")
				continue
			}
			parts = append(parts, object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": inputObject(b, m.index, l)})
		default:
			if b.Text != "" {
				parts = append(parts, object{"type": "text", "text": b.Text})
			}
		}
	}
	return parts
}

func anthropicImagePart(b ragctx.Block) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": b.MediaType, "data": b.Data}}
}

func anthropicResultPart(r ragctx.Block, list bool, index int, l *losses) object {
	o := object{"type": "tool_result", "tool_use_id": r.ToolUseID}
	if r.IsError {
		o["is_error"] = true
	}
	var parts []object
	for _, b := range r.Content {
		switch b.Type {
		case ragctx.BlockText:
			if b.Text != "" {
				parts = append(parts, object{"type": "text", "text": b.Text})
			}
		case ragctx.BlockImage:
			parts = append(parts, anthropicImagePart(b))
		default:
			l.add(index, "calls and results within a result")
		}
	}
	switch {
	case len(parts) == 1 && parts[0]["type"] == "text" && !list:
		o["content"] = parts[0]["text"]
	case len(parts) > 0:
		o["content"] = parts
	}
	return o
}

// anthropicThoughts returns the reasoning in the parts that were signed. Reasoning that was
// not, or not as it is, nobody takes.
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
