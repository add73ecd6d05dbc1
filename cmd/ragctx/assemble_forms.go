package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/wire"
)

// call is a model call to assemble, in the form of its input.
type call interface {
	request() api.AssembleRequest
	// answer returns the request for the model, in the form of the input.
	answer(a api.AssembleAnswer) (any, error)
}

// readCall reads a call in any of the forms.
func readCall(body []byte) (call, error) {
	switch first := firstByte(body); {
	case first == '[':
		return readChat(map[string]json.RawMessage{"messages": body}, true)
	case first != '{':
		return nil, ragctx.Invalid("input", "is neither a JSON object nor a list of messages")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, ragctx.Invalid("input", "is not valid JSON: %v", err)
	}
	if fields["model"] == nil && fields["contents"] == nil {
		return readRequest(body)
	}
	return readChat(fields, false)
}

func firstByte(b []byte) byte {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) > 0 {
		return b[0]
	}
	return 0
}

// ownCall is a request for /v1/assemble.
type ownCall struct{ api.AssembleRequest }

func readRequest(body []byte) (call, error) {
	var r api.AssembleRequest
	if err := decodeStrictly(body, &r); err != nil {
		return nil, ragctx.Invalid("input", "is no request for /v1/assemble: %v (a request for a chat API has a model)", err)
	}
	return ownCall{r}, nil
}

// decodeStrictly reads an object and rejects unknown fields.
func decodeStrictly(body []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func (c ownCall) request() api.AssembleRequest { return c.AssembleRequest }

func (c ownCall) answer(a api.AssembleAnswer) (any, error) { return modelInputOf(a, c.Placement), nil }

// modelInput is the part of an answer that goes to the model.
type modelInput struct {
	SystemPrompt string               `json:"system_prompt,omitempty"`
	System       json.RawMessage      `json:"system,omitempty"`
	Messages     []json.RawMessage    `json:"messages"`
	Blocks       []api.AssembledBlock `json:"blocks,omitempty"`
}

// modelInputOf returns the part of an answer that goes to the model. Blocks are included only if the
// messages do not contain them.
func modelInputOf(a api.AssembleAnswer, placement string) modelInput {
	out := modelInput{SystemPrompt: a.SystemPrompt, System: a.System, Messages: a.Messages}
	if placement == string(assemble.Blocks) {
		out.Blocks = a.Blocks
	}
	return out
}

// chatCall is a request for a chat API, or its messages alone.
type chatCall struct {
	fields map[string]json.RawMessage
	bare   bool // answer with the messages alone
	read   api.AssembleRequest
	// messages and system are the names of these fields.
	messages, system string
	head             json.RawMessage // the message with the system prompt, in ragctx's own form
}

func readChat(fields map[string]json.RawMessage, bare bool) (call, error) {
	c := &chatCall{fields: fields, bare: bare, messages: "messages", system: "system"}
	if fields["contents"] != nil {
		c.messages, c.system, c.read.Format = "contents", "systemInstruction", string(wire.Gemini)
		if fields["system_instruction"] != nil {
			c.system = "system_instruction" // the spelling of Google's client for Python
		}
	}
	if err := json.Unmarshal(fields[c.messages], &c.read.Messages); err != nil {
		return nil, ragctx.Invalid(c.messages, "are no list of messages: %v", err)
	}
	c.read.System = fields[c.system]
	noMarks := false
	c.read.CacheControl = &noMarks
	c.read.Format = cmp.Or(c.read.Format, formOf(c.read.System, c.read.Messages))
	if c.read.Format == "" {
		c.takePrompt()
	}
	return c, c.readLimits()
}

// formOf returns the vendor form of messages. OpenAI puts calls and results of tools beside the
// content; Anthropic and ragctx ("") put them among its parts, and only ragctx has system messages
// and messages of tools.
func formOf(system json.RawMessage, messages []json.RawMessage) string {
	if system != nil {
		return string(wire.Anthropic)
	}
	among, others := false, false
	for _, raw := range messages {
		var m struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		}
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		others = others || m.Role != "user" && m.Role != "assistant"
		parts, _ := m.Content.([]any)
		for _, part := range parts {
			fields, _ := part.(map[string]any)
			among = among || fields["type"] == "tool_use" || fields["type"] == "tool_result"
		}
	}
	switch {
	case !among:
		return string(wire.OpenAI)
	case others:
		return ""
	}
	return string(wire.Anthropic)
}

// takePrompt takes the system prompt from the first message.
func (c *chatCall) takePrompt() {
	var first ragctx.Message
	if len(c.read.Messages) == 0 || json.Unmarshal(c.read.Messages[0], &first) != nil {
		return
	}
	if first.Role == ragctx.RoleSystem || first.Role == ragctx.RoleDeveloper {
		c.head, c.read.SystemPrompt, c.read.Messages = c.read.Messages[0], first.Content.String(), c.read.Messages[1:]
	}
}

// readLimits reads the tools and the tokens of the answer. Any other object or list in the request,
// such as a schema of the answer, counts like a tool.
func (c *chatCall) readLimits() error {
	if tools, ok := c.fields["tools"]; ok {
		if err := json.Unmarshal(tools, &c.read.Tools); err != nil {
			return ragctx.Invalid("tools", "are no list: %v", err)
		}
	}
	for name, value := range c.fields {
		first := firstByte(value)
		if (first == '{' || first == '[') && name != c.messages && name != c.system && name != "tools" {
			c.read.Tools = append(c.read.Tools, value)
		}
	}
	for _, name := range []string{"max_completion_tokens", "max_tokens"} {
		if n, ok := c.fields[name]; ok && c.read.Budget.ReserveOutput == 0 {
			if err := json.Unmarshal(n, &c.read.Budget.ReserveOutput); err != nil {
				return ragctx.Invalid(name, "is no whole number: %s", ragctx.Clip(string(n)))
			}
		}
	}
	return nil
}

func (c *chatCall) request() api.AssembleRequest { return c.read }

func (c *chatCall) answer(a api.AssembleAnswer) (any, error) {
	messages := a.Messages
	if a.SystemPrompt != "" {
		first, err := c.first(a.SystemPrompt)
		if err != nil {
			return nil, err
		}
		messages = append([]json.RawMessage{first}, messages...)
	}
	if c.bare {
		return messages, nil
	}
	out := make(map[string]any, len(c.fields)+1)
	for name, value := range maps.All(c.fields) {
		out[name] = value
	}
	out[c.messages] = messages
	if a.System != nil {
		out[c.system] = a.System
	}
	return out, nil
}

// first returns the message with the system prompt, and with the other fields that the message had.
func (c *chatCall) first(prompt string) (json.RawMessage, error) {
	fields := map[string]any{"role": ragctx.RoleSystem}
	if c.head != nil {
		if err := json.Unmarshal(c.head, &fields); err != nil {
			return nil, fmt.Errorf("system message: %w", err)
		}
	}
	fields["content"] = prompt
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(fields)
	return buf.Bytes(), err
}
