package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/assemble"
)

// call is a model call that is to be put together, in the form in which it came.
type call interface {
	request() api.AssembleRequest
	// answer returns what the model is to be sent, in the same form.
	answer(a api.AssembleAnswer) (any, error)
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
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return nil, ragctx.Invalid("input", "is no request for /v1/assemble: %v (a request for a chat API has a model)", err)
	}
	return ownCall{r}, nil
}

func (c ownCall) request() api.AssembleRequest { return c.AssembleRequest }

func (c ownCall) answer(a api.AssembleAnswer) (any, error) {
	out := struct {
		SystemPrompt string               `json:"system_prompt,omitempty"`
		Messages     []json.RawMessage    `json:"messages"`
		Blocks       []api.AssembledBlock `json:"blocks,omitempty"`
	}{SystemPrompt: a.SystemPrompt, Messages: a.Messages}
	if c.Placement == string(assemble.Blocks) {
		out.Blocks = a.Blocks
	}
	return out, nil
}

// chatCall is a request for a chat API, or its messages alone.
type chatCall struct {
	fields map[string]json.RawMessage
	bare   bool // only the messages are wanted
	sent   []chatMessage
	// prompt is the system prompt, which the API takes as the field system or as the first
	// message: head is that one.
	prompt string
	apart  bool
	head   json.RawMessage
	read   api.AssembleRequest
}

// chatMessage is a message of a chat API: with calls and results of tools beside its
// content, or among the blocks of it.
type chatMessage struct {
	raw json.RawMessage
	ragctx.Message
}

func readChat(fields map[string]json.RawMessage, bare bool) (call, error) {
	c := &chatCall{fields: fields, bare: bare}
	var raw []json.RawMessage
	if err := json.Unmarshal(fields["messages"], &raw); err != nil {
		return nil, ragctx.Invalid("messages", "are no list of messages: %v", err)
	}
	for i, r := range raw {
		m, err := readMessage(r)
		if err != nil {
			return nil, ragctx.Invalid(fmt.Sprintf("messages[%d]", i), "is no message: %v", err)
		}
		c.sent = append(c.sent, chatMessage{r, m})
	}
	if err := c.takePrompt(); err != nil {
		return nil, err
	}
	if err := c.readLimits(); err != nil {
		return nil, err
	}
	c.read.SystemPrompt = c.prompt
	for _, m := range c.sent {
		c.read.Messages.Messages = append(c.read.Messages.Messages, m.Message)
	}
	return c, nil
}

// takePrompt takes the system prompt from where it is.
func (c *chatCall) takePrompt() error {
	if system, ok := c.fields["system"]; ok {
		c.apart = true
		if err := json.Unmarshal(system, &c.prompt); err != nil {
			return ragctx.Invalid("system", "is no text; send the system prompt as a string")
		}
		return nil
	}
	if len(c.sent) == 0 {
		return nil
	}
	if first := c.sent[0]; first.Role == ragctx.RoleSystem || first.Role == ragctx.RoleDeveloper {
		c.head, c.prompt, c.sent = first.raw, first.Content.String(), c.sent[1:]
	}
	return nil
}

// readLimits reads the tools and the tokens of the answer.
func (c *chatCall) readLimits() error {
	if tools, ok := c.fields["tools"]; ok {
		if err := json.Unmarshal(tools, &c.read.Tools); err != nil {
			return ragctx.Invalid("tools", "are no list: %v", err)
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
	messages, err := c.shown(a)
	if err != nil {
		return nil, err
	}
	if a.SystemPrompt != "" && !c.apart {
		first, err := c.first(a.SystemPrompt)
		if err != nil {
			return nil, err
		}
		messages = slices.Insert(messages, 0, first)
	}
	if c.bare {
		return messages, nil
	}
	out := make(map[string]any, len(c.fields))
	for name, value := range c.fields {
		out[name] = value
	}
	out["messages"] = messages
	if c.apart {
		out["system"] = a.SystemPrompt
	}
	return out, nil
}

// first returns the message that has the system prompt, with whatever else it had.
func (c *chatCall) first(prompt string) (json.RawMessage, error) {
	fields := map[string]any{"role": ragctx.RoleSystem}
	if c.head != nil {
		if err := json.Unmarshal(c.head, &fields); err != nil {
			return nil, fmt.Errorf("system message: %w", err)
		}
	}
	fields["content"] = prompt
	return rawJSON(fields)
}

// rawJSON writes JSON without escapes that only browsers need.
func rawJSON(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}

// shown returns the messages of the answer as they were sent, without the calls that it
// left out of them.
func (c *chatCall) shown(a api.AssembleAnswer) ([]json.RawMessage, error) {
	gone, partial := make(map[int]bool), make(map[int]bool)
	for _, d := range a.Dropped {
		gone[d.Index] = gone[d.Index] || !d.Partial
		partial[d.Index] = true
	}
	out := []json.RawMessage{}
	for i, m := range c.sent {
		switch {
		case gone[i]:
		case len(out) >= len(a.Messages):
			return nil, fmt.Errorf("the answer has %d messages, and lists too few as left out", len(a.Messages))
		case !partial[i]:
			out = append(out, m.raw)
		default:
			cut, err := m.without(a.Messages[len(out)])
			if err != nil {
				return nil, err
			}
			out = append(out, cut)
		}
	}
	return out, nil
}

// without returns the message with no more than the view shows of it.
func (m chatMessage) without(view json.RawMessage) (json.RawMessage, error) {
	var kept ragctx.Message
	if err := json.Unmarshal(view, &kept); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(m.raw, &fields); err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	if fields["tool_calls"] == nil {
		return view, nil
	}
	var calls []json.RawMessage
	if err := json.Unmarshal(fields["tool_calls"], &calls); err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	calls = slices.DeleteFunc(calls, func(raw json.RawMessage) bool {
		var tool chatTool
		return json.Unmarshal(raw, &tool) != nil ||
			!slices.ContainsFunc(kept.ToolUses(), func(b ragctx.Block) bool { return b.ID == tool.ID })
	})
	delete(fields, "tool_calls")
	if len(calls) > 0 {
		b, err := rawJSON(calls)
		if err != nil {
			return nil, err
		}
		fields["tool_calls"] = b
	}
	return rawJSON(fields)
}

// chatTool is a call of a tool.
type chatTool struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// block returns the call as a block.
func (t chatTool) block() ragctx.Block {
	input := json.RawMessage(t.Function.Arguments)
	if !json.Valid(input) {
		input, _ = json.Marshal(t.Function.Arguments) // a model wrote it; a string can be encoded
	}
	return ragctx.Block{Type: ragctx.BlockToolUse, ID: t.ID, Name: t.Function.Name, Input: input}
}

// readMessage reads a message of a chat API, or one of ours.
func readMessage(raw json.RawMessage) (ragctx.Message, error) {
	var beside struct {
		Role    ragctx.Role     `json:"role"`
		Name    string          `json:"name"`
		Content json.RawMessage `json:"content"`
		Calls   []chatTool      `json:"tool_calls"`
		Of      string          `json:"tool_call_id"`
	}
	if err := json.Unmarshal(raw, &beside); err != nil {
		return ragctx.Message{}, err
	}
	m := ragctx.Message{Role: beside.Role, Name: beside.Name}
	if m.Role == "" {
		m.Role = ragctx.RoleUser
	}
	var err error
	if m.Content, err = readContent(beside.Content); err != nil {
		return m, err
	}
	for _, t := range beside.Calls {
		m.Content = append(m.Content, t.block())
	}
	if beside.Of != "" {
		m.Content = ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: beside.Of, Content: m.Content}}
	}
	return m, nil
}

// readContent reads a text, or parts. A part of a kind that is unknown here counts as
// what it is in JSON.
func readContent(raw json.RawMessage) (ragctx.Content, error) {
	var parts []json.RawMessage
	switch firstByte(raw) {
	case 0, 'n':
		return nil, nil
	case '"':
		var c ragctx.Content
		err := json.Unmarshal(raw, &c)
		return c, err
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	out := make(ragctx.Content, len(parts))
	for i, part := range parts {
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(part, &kind); err != nil {
			return nil, err
		}
		switch kind.Type {
		case "text", "image", "tool_use", "tool_result":
			var one ragctx.Content
			if err := json.Unmarshal(slices.Concat([]byte("["), part, []byte("]")), &one); err != nil {
				return nil, err
			}
			out[i] = one[0]
		case "image_url", "input_image":
			out[i] = ragctx.Block{Type: ragctx.BlockImage}
		default:
			out[i] = ragctx.Block{Type: ragctx.BlockText, Text: string(part)}
		}
	}
	return out, nil
}
