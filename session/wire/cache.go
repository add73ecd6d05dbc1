package wire

import (
	"bytes"
	"encoding/json"
	"slices"
)

// cacheControl is the field that marks a part up to which a prompt is kept.
const cacheControl = "cache_control"

// MaxCacheMarks is how many marks of a cache a call may have, in its tools, its system prompt
// and its messages.
const MaxCacheMarks = 4

// CacheMark is a mark that [Cached] makes.
var CacheMark = json.RawMessage(`{"type":"ephemeral"}`)

// Cached returns a conversation of Anthropic's in which no more marks say where a prompt's
// cache is to hold than a call with these tools may have. Surplus ones go from the oldest
// messages on, and then from the system prompt. No message of the list is changed.
//
// With add, one without marks gets them: behind the system prompt, at the end, before what
// the user said last, and before what they said before that. A context that stands with the
// newest words of the user is another one in the next turn: the third mark is then the
// fourth, so that all before it comes from the cache however long the turn was. In the calls
// of one turn the last one grows with the conversation. What tools have takes the place of
// the last ones of this list.
func Cached(c Conversation, add bool, tools []json.RawMessage) Conversation {
	room := MaxCacheMarks
	for _, t := range tools {
		room -= marks(t)
	}
	c.Messages = slices.Clone(c.Messages)
	of := marks(c.System)
	for _, m := range c.Messages {
		of += marks(m)
	}
	switch {
	case of == 0 && add:
		return marked(c, max(room, 0))
	case of <= room:
		return c
	}
	surplus := of - max(room, 0)
	for i := range c.Messages {
		c.Messages[i] = unmarked(c.Messages[i], &surplus)
	}
	c.System = unmarked(c.System, &surplus)
	return c
}

// marked returns a conversation without marks with at most n of them.
func marked(c Conversation, n int) Conversation {
	if n > 0 && len(c.System) > 0 {
		c.System = mark(c.System)
		n--
	}
	at := []int{len(c.Messages) - 1}
	for i := len(c.Messages) - 1; i > 0 && len(at) < MaxCacheMarks-1; i-- {
		if instructs(c.Messages[i]) {
			at = append(at, i-1)
		}
	}
	for _, i := range at[:min(n, len(at))] {
		if i >= 0 {
			c.Messages[i] = markMessage(c.Messages[i])
		}
	}
	return c
}

// marks returns how many marks a tool, a system prompt or a message has.
func marks(raw json.RawMessage) int {
	if !bytes.Contains(raw, []byte(cacheControl)) {
		return 0
	}
	var v any
	if unmarshal(raw, &v) != nil {
		return 0
	}
	n := 0
	eachMark(v, func(object) { n++ })
	return n
}

// unmarked returns JSON without its first marks, of which n are to go.
func unmarked(raw json.RawMessage, n *int) json.RawMessage {
	var v any
	if *n == 0 || marks(raw) == 0 || unmarshal(raw, &v) != nil {
		return raw
	}
	eachMark(v, func(o object) {
		if *n > 0 {
			delete(o, cacheControl)
			*n--
		}
	})
	return marshal(v)
}

// eachMark calls f for what is marked, in order: parts, and the parts within these. What
// tools are called with is no part.
func eachMark(v any, f func(object)) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			eachMark(one, f)
		}
	case object:
		for _, inside := range []string{"content", "source"} {
			eachMark(v[inside], f)
		}
		if v[cacheControl] != nil {
			f(v)
		}
	}
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
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields["content"] = mark(fields["content"])
	return marshal(fields)
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
		var p map[string]json.RawMessage
		if json.Unmarshal(part, &p) != nil {
			continue
		}
		switch kind := string(p["type"]); {
		case kind == `"thinking"`, kind == `"redacted_thinking"`, kind == `"text"` && string(p["text"]) == `""`:
			continue
		}
		p[cacheControl] = CacheMark
		parts[i] = marshal(p)
		return marshal(parts)
	}
	return content
}
