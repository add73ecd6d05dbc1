package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// A context is written with the keys of the systems that ragctx continues:
//
//	{"metadata": {}, "systemPrompt": "", "responseFormat": {},
//	 "messageStore": {"sections": [{"name": "messages", "messages": [...]}], "parameters": {}}}
//
// All may be absent when it is read; an empty list stands for an empty map.
type contextJSON struct {
	Metadata       object         `json:"metadata"`
	SystemPrompt   string         `json:"systemPrompt"`
	ResponseFormat ResponseFormat `json:"responseFormat"`
	Store          Store          `json:"messageStore"`
}

type storeJSON struct {
	Sections   []sectionJSON `json:"sections"`
	Parameters object        `json:"parameters"`
}

type sectionJSON struct {
	Name     string            `json:"name"`
	Messages []json.RawMessage `json:"messages"`
}

// MarshalJSON implements [json.Marshaler].
func (c Context) MarshalJSON() ([]byte, error) {
	return json.Marshal(contextJSON{Metadata: c.metadata, SystemPrompt: c.system, ResponseFormat: c.format, Store: c.store})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Context) UnmarshalJSON(b []byte) error {
	var w contextJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*c = Context{store: w.Store, metadata: w.Metadata, system: w.SystemPrompt, format: w.ResponseFormat}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (s Store) MarshalJSON() ([]byte, error) {
	w := storeJSON{Sections: make([]sectionJSON, len(s.sections)), Parameters: s.parameters}
	for i, one := range s.sections {
		w.Sections[i] = sectionJSON{one.name, make([]json.RawMessage, len(one.log.messages))}
		for j, m := range one.log.messages {
			var err error
			if w.Sections[i].Messages[j], err = EncodeMessage(m); err != nil {
				return nil, fmt.Errorf("sections[%d].messages[%d]: %w", i, j, err)
			}
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler]. Sections of one name are joined.
func (s *Store) UnmarshalJSON(b []byte) error {
	if nothing(b) {
		*s = Store{}
		return nil
	}
	var w storeJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	out := Store{parameters: w.Parameters}
	for i, one := range w.Sections {
		messages := make([]ragctx.Message, len(one.Messages))
		for j, raw := range one.Messages {
			var err error
			if messages[j], err = DecodeMessage(raw); err != nil {
				return fmt.Errorf("sections[%d].messages[%d]: %w", i, j, err)
			}
		}
		out = out.put(section{one.Name, out.log(one.Name).append(messages)})
	}
	*s = out
	return nil
}

// object is a map that is written as one if it is empty, and read from an empty list.
type object map[string]any

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any(o))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *object) UnmarshalJSON(b []byte) error {
	var m ragctx.Metadata
	if !nothing(b) {
		if err := json.Unmarshal(b, &m); err != nil {
			return err
		}
	}
	if len(m) == 0 {
		m = nil
	}
	*o = object(m)
	return nil
}

// messageJSON is a message as it is written. Metadata is read under both its names.
type messageJSON struct {
	ID        string          `json:"id,omitempty"`
	CreatedAt string          `json:"createdAt,omitempty"`
	ParentID  string          `json:"parentId,omitempty"`
	Role      ragctx.Role     `json:"role"`
	Name      string          `json:"name,omitempty"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content,omitempty"`
	Metadata  ragctx.Metadata `json:"_metadata,omitempty"`
	Calls     []callJSON      `json:"tool_calls,omitempty"`
	Result    *resultJSON     `json:"tool_result,omitempty"`
}

type callJSON struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type resultJSON struct {
	Content string `json:"content"`
	CallID  string `json:"call_id"`
	Tool    string `json:"tool_name"`
	IsError bool   `json:"is_error"`
}

// EncodeMessage writes a message with the keys of the systems that ragctx continues: id,
// createdAt in UTC, parentId, role, name, content, _metadata, tool_calls and tool_result.
//
// Content is a string, or a list of parts. Calls that come after all else are tool_calls,
// and a result that is alone and plain text is tool_result, its text also the content.
// Content of any other order, several results, and what only a vendor's form has stand in
// the list as they are, as parts of type tool_use, tool_result and vendor: nothing is lost.
// Arguments that are spaced are JSON in a string, so that their white space stays.
func EncodeMessage(m ragctx.Message) ([]byte, error) {
	w := messageJSON{ID: m.ID, ParentID: m.ParentID, Role: m.Role, Name: m.Name, Reasoning: m.Reasoning, Metadata: m.Metadata}
	if !m.CreatedAt.IsZero() {
		at, err := m.CreatedAt.UTC().MarshalText()
		if err != nil {
			return nil, ragctx.Invalid("createdAt", "%v; use a year from 0 to 9999", err)
		}
		w.CreatedAt = string(at)
	}
	content := w.split(m.Content)
	var err error
	switch {
	case len(content) == 0:
		w.Content = []byte(`""`)
	case len(content) == 1 && content[0].IsPlain() && content[0].Text != "":
		w.Content, err = json.Marshal(content[0].Text)
	default:
		w.Content, err = json.Marshal([]ragctx.Block(spaced(content)))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// split takes calls and a result out of a content where reading puts them back into
// their places, and returns what stays.
func (w *messageJSON) split(c ragctx.Content) ragctx.Content {
	if len(c) == 1 && isResult(c[0]) && len(c[0].Part) == 0 && plain(c[0].Content) {
		r := c[0]
		w.Result = &resultJSON{Content: r.Content.String(), CallID: r.ToolUseID, Tool: r.Name, IsError: r.IsError}
		return r.Content
	}
	calls := slices.IndexFunc(c, func(b ragctx.Block) bool { return b.Type == ragctx.BlockToolUse })
	if calls < 0 || slices.ContainsFunc(c[:calls], isResult) || slices.ContainsFunc(c[calls:], unsplittable) {
		return c
	}
	for _, b := range c[calls:] {
		w.Calls = append(w.Calls, callJSON{b.ID, b.Name, spacedInput(b.Input)})
	}
	return c[:calls]
}

// spaced returns a content whose inputs are as spacedInput returns them.
func spaced(c ragctx.Content) ragctx.Content {
	c = slices.Clone(c)
	for i := range c {
		c[i].Content = spaced(c[i].Content)
		if c[i].Type == ragctx.BlockToolUse {
			c[i].Input = spacedInput(c[i].Input)
		}
	}
	return c
}

// spacedInput returns an object that writing it as JSON would change as a string of it, and
// so a string that could be taken for such a one.
func spacedInput(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(raw)
	if _, ambiguous := jsonIn(raw); err != nil || !ambiguous && (bytes.Equal(b, raw) || !strings.HasPrefix(compact(raw), "{")) {
		return raw
	}
	if b, err = json.Marshal(string(raw)); err != nil {
		return raw
	}
	return b
}

func isResult(b ragctx.Block) bool { return b.Type == ragctx.BlockToolResult }

// unsplittable reports whether a block is no call that tool_calls can have: the input
// there is an object.
func unsplittable(b ragctx.Block) bool {
	return b.Type != ragctx.BlockToolUse || len(b.Part) > 0 || !strings.HasPrefix(compact(b.Input), "{")
}

// plain reports whether a content is nothing, or one text.
func plain(c ragctx.Content) bool {
	return len(c) == 0 || len(c) == 1 && c[0].IsPlain() && c[0].Text != ""
}

// DecodeMessage reads what [EncodeMessage] writes, and older forms: metadata under that
// name, calls and result within it, arguments that are JSON in a string, calls and images
// in the form of OpenAI. What has no role is a user's.
func DecodeMessage(b []byte) (ragctx.Message, error) { return ReadMessage(string(b)) }

// ReadMessage is [DecodeMessage] of a string, of which texts of the message may be parts.
func ReadMessage(s string) (ragctx.Message, error) {
	if m, ok := written(s); ok {
		return m, nil
	}
	return anyForm([]byte(s))
}

// anyForm reads a message of any form.
func anyForm(b []byte) (ragctx.Message, error) {
	var w struct {
		messageJSON

		Role     string  `json:"role"`
		Metadata object  `json:"_metadata"`
		Older    object  `json:"metadata"`
		Calls    anyCall `json:"tool_calls"`
		Result   *result `json:"tool_result"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return ragctx.Message{}, err
	}
	role, err := ragctx.ParseRole(w.Role)
	if err != nil {
		return ragctx.Message{}, err
	}
	m := ragctx.Message{ID: w.ID, ParentID: w.ParentID, Role: role, Name: w.Name, Reasoning: w.Reasoning, Metadata: overlay(w.Older, w.Metadata)}
	if m.CreatedAt, err = readTime(w.CreatedAt); err != nil {
		return ragctx.Message{}, err
	}
	if m.Content, err = readContent(w.Content); err != nil {
		return ragctx.Message{}, err
	}
	calls, res := []ragctx.Block(w.Calls), (*ragctx.Block)(w.Result)
	if len(calls) == 0 && len(m.ToolUses()) == 0 {
		m.Metadata = moveOut(m.Metadata, "tool_calls", (*anyCall)(&calls))
	}
	if res == nil && len(m.ToolResults()) == 0 {
		var older result
		if rest := moveOut(m.Metadata, "tool_result", &older); len(rest) < len(m.Metadata) {
			m.Metadata, res = rest, (*ragctx.Block)(&older)
		}
	}
	if res != nil {
		m.Content = answered(m.Content, calls, *res)
	} else {
		m.Content = append(m.Content, calls...)
	}
	return m, nil
}

// moveOut reads a value of a map into what it is for, and returns the map without it. One
// that cannot be read stays where it is.
func moveOut(m map[string]any, key string, to any) map[string]any {
	v, ok := m[key]
	if !ok {
		return m
	}
	raw, err := json.Marshal(v)
	if err != nil || json.Unmarshal(raw, to) != nil {
		return m
	}
	m = maps.Clone(m)
	delete(m, key)
	if len(m) == 0 {
		return nil
	}
	return m
}

// readTime reads a time as it is written here, or as [timeexpr.Dates] reads that of a
// conversation from elsewhere.
func readTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = timeexpr.Dates{}.Parse(s)
	}
	if err != nil {
		return time.Time{}, ragctx.Invalid("createdAt", "%q %v", ragctx.Clip(s), err)
	}
	return t.UTC(), nil
}

// readContent reads a text or a list of parts.
func readContent(raw json.RawMessage) (ragctx.Content, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case nothing(raw) || string(raw) == `""`:
		return nil, nil
	case raw[0] == '"':
		var c ragctx.Content
		return c, json.Unmarshal(raw, &c)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, ragctx.Invalid("content", "is neither a text nor a list of parts; send one of them")
	}
	out := make(ragctx.Content, len(parts))
	for i, p := range parts {
		var err error
		if out[i], err = readPart(p); err != nil {
			return nil, fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return out, nil
}

// unspaced puts the inputs of a block back that spacedInput has written.
func unspaced(b *ragctx.Block) {
	if input, ok := jsonIn(b.Input); ok && b.Type == ragctx.BlockToolUse {
		b.Input = input
	}
	for i := range b.Content {
		unspaced(&b.Content[i])
	}
}

// readPart reads a part of a content: a block, a text, or an image as OpenAI has it.
func readPart(raw json.RawMessage) (ragctx.Block, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return ragctx.Block{Type: ragctx.BlockText, Text: text}, nil
	}
	var p struct {
		ragctx.Block

		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return ragctx.Block{}, err
	}
	switch p.Type {
	case ragctx.BlockText, ragctx.BlockImage, ragctx.BlockToolUse, ragctx.BlockToolResult, ragctx.BlockVendor:
		unspaced(&p.Block)
		return p.Block, nil
	case "image_url":
		if media, data, ok := dataURL(p.ImageURL.URL); ok {
			return ragctx.Block{Type: ragctx.BlockImage, MediaType: media, Data: data}, nil
		}
		return ragctx.Block{}, ragctx.Invalid("image_url.url", "is not a data URL; send the image itself as data:image/png;base64,…")
	}
	return ragctx.Block{}, ragctx.Invalid("type", "%q is not a type of part; use text, image, tool_use, tool_result or vendor", ragctx.Clip(string(p.Type)))
}
