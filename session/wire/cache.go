package wire

import (
	"bytes"
	"encoding/json"
	"slices"
)

// cacheControl marks a part up to which a prompt is kept.
const cacheControl = `"cache_control":`

// Cached returns a conversation of Anthropic's with marks where a prompt's cache is to
// hold, of which a call may have four: behind the system prompt, before what the user said
// last, before what they said before that, and at the end. A context that stands with the
// newest words of the user is another one in the next turn: the second mark is then the
// third, so that all before it comes from the cache however long the turn was. In the calls
// of one turn the last one grows with the conversation.
//
// A conversation that has marks already is returned as it is. No message of the list is
// changed.
func Cached(c Conversation) Conversation {
	marked := func(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(cacheControl)) }
	if marked(c.System) || slices.ContainsFunc(c.Messages, marked) {
		return c
	}
	c.System = mark(c.System)
	c.Messages = slices.Clone(c.Messages)
	at := []int{len(c.Messages) - 1}
	for i := len(c.Messages) - 1; i > 0 && len(at) < 3; i-- {
		if instructs(c.Messages[i]) {
			at = append(at, i-1)
		}
	}
	slices.Sort(at)
	for _, i := range slices.Compact(at) {
		if i >= 0 {
			c.Messages[i] = markMessage(c.Messages[i])
		}
	}
	return c
}

// instructs reports whether a user says something in a message.
func instructs(raw json.RawMessage) bool {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Role != "user" {
		return false
	}
	var parts []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return true // a text
	}
	for _, p := range parts {
		if p.Type != "tool_result" {
			return true
		}
	}
	return false
}

// markMessage marks the last part of a message.
func markMessage(raw json.RawMessage) json.RawMessage {
	var fields struct {
		Role    json.RawMessage `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields.Content = mark(fields.Content)
	return marshal(object{"role": fields.Role, "content": fields.Content})
}

// mark marks the last part of a content that can be: what a model thinks cannot.
func mark(content json.RawMessage) json.RawMessage {
	var parts []json.RawMessage
	var text string
	switch {
	case len(content) == 0:
		return content
	case json.Unmarshal(content, &text) == nil:
		parts = []json.RawMessage{marshal(object{"type": "text", "text": text})}
	case json.Unmarshal(content, &parts) != nil:
		return content
	}
	for i, part := range slices.Backward(parts) {
		var p struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(part, &p) != nil || p.Type == "thinking" || p.Type == "redacted_thinking" || p.Type == "text" && p.Text == "" {
			continue
		}
		end := bytes.LastIndexByte(part, '}')
		parts[i] = slices.Concat(part[:end], []byte(`,`+cacheControl+`{"type":"ephemeral"}}`))
		return marshal(parts)
	}
	return content
}
