package wire

import (
	"bytes"
	"encoding/json"
	"slices"
)

// cacheControl is the field that marks the end of a cached prompt prefix.
const cacheControl = "cache_control"

// MaxCacheMarks is the number of cache marks that a call may have in its tools, system prompt and
// messages together.
const MaxCacheMarks = 4

// CacheMark is the mark that [WithCacheMarks] sets.
var CacheMark = json.RawMessage(`{"type":"ephemeral"}`)

// WithCacheMarks returns an Anthropic conversation with at most [MaxCacheMarks] cache marks,
// counting those in tools. It removes surplus marks from the oldest messages first, then from the
// system prompt. It does not change the given messages.
//
// With add, it marks a conversation that has no marks, in this order, as long as marks are
// available: after the system prompt, at the end, before the newest user text, and before the user
// text before that. Retrieved context stands next to the newest user text and changes in the next
// turn. The third mark of this turn is then the fourth mark of the next one, so the whole prefix
// before it is a cache hit, however long the turn was. Within one turn, the mark at the end grows
// with the conversation.
func WithCacheMarks(c Conversation, add bool, tools []json.RawMessage) Conversation {
	available := MaxCacheMarks
	for _, t := range tools {
		available -= countMarks(t)
	}
	c.Messages = slices.Clone(c.Messages)
	total := countMarks(c.System)
	for _, m := range c.Messages {
		total += countMarks(m)
	}
	switch {
	case total == 0 && add:
		return addMarks(c, max(available, 0))
	case total <= available:
		return c
	}
	surplus := total - max(available, 0)
	for i := range c.Messages {
		c.Messages[i] = removeMarks(c.Messages[i], &surplus)
	}
	c.System = removeMarks(c.System, &surplus)
	return c
}

// addMarks adds at most n marks to a conversation without marks.
func addMarks(c Conversation, n int) Conversation {
	if n > 0 && len(c.System) > 0 {
		c.System = markContent(c.System)
		n--
	}
	at := []int{len(c.Messages) - 1}
	for i := len(c.Messages) - 1; i > 0 && len(at) < MaxCacheMarks-1; i-- {
		if isUserText(c.Messages[i]) {
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

// countMarks counts the cache marks of a tool, a system prompt or a message.
func countMarks(raw json.RawMessage) int {
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

// removeMarks removes the first *n marks of raw and decrements *n for each.
func removeMarks(raw json.RawMessage, n *int) json.RawMessage {
	var v any
	if *n == 0 || countMarks(raw) == 0 || unmarshal(raw, &v) != nil {
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

// eachMark calls f for every marked part, nested parts included, in order. It skips the inputs of
// tool calls.
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

// isUserText reports whether a message contains something other than tool results from the user.
func isUserText(raw json.RawMessage) bool {
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
		return true // content is a plain text
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
	fields["content"] = markContent(fields["content"])
	return marshal(fields)
}

// markContent marks the last part of a content that may be marked. Reasoning and empty texts may
// not.
func markContent(content json.RawMessage) json.RawMessage {
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
