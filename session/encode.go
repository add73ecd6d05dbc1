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

// contextJSON is the JSON form of a context, with the keys of the systems that ragctx continues:
//
//	{"metadata": {}, "systemPrompt": "", "responseFormat": {},
//	 "messageStore": {"sections": [{"name": "messages", "messages": [...]}], "parameters": {}}}
//
// Every key is optional when reading; an empty list is accepted for an empty map.
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

// UnmarshalJSON implements [json.Unmarshaler]. Sections with the same name are joined.
func (s *Store) UnmarshalJSON(b []byte) error {
	if isNothing(b) {
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

// object is a map that is encoded as {} if it is nil, and accepts an empty list.
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
	if !isNothing(b) {
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

// messageJSON is the JSON form of a message. Metadata is accepted under _metadata and metadata.
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

// EncodeMessage encodes a message with the keys of the systems that ragctx continues: id, createdAt
// in UTC, parentId, role, name, content, _metadata, tool_calls and tool_result.
//
// Content is a string or a list of parts. Calls after all other parts become tool_calls. A single
// plain-text result becomes tool_result, with its text also in content. Content in another order,
// several results, and vendor-specific parts stay in the list as parts of type tool_use,
// tool_result and vendor, so nothing is lost. Arguments with white space are encoded as a JSON
// string to preserve it.
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
		w.Content, err = json.Marshal([]ragctx.Block(quoteInputs(content)))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// split moves calls and a result out of a content if decoding restores their places, and returns
// the remaining content.
func (w *messageJSON) split(c ragctx.Content) ragctx.Content {
	if len(c) == 1 && isResult(c[0]) && len(c[0].Part) == 0 && isPlain(c[0].Content) {
		r := c[0]
		w.Result = &resultJSON{Content: r.Content.String(), CallID: r.ToolUseID, Tool: r.Name, IsError: r.IsError}
		return r.Content
	}
	calls := slices.IndexFunc(c, func(b ragctx.Block) bool { return b.Type == ragctx.BlockToolUse })
	if calls < 0 || slices.ContainsFunc(c[:calls], isResult) || slices.ContainsFunc(c[calls:], notPlainCall) {
		return c
	}
	for _, b := range c[calls:] {
		w.Calls = append(w.Calls, callJSON{b.ID, b.Name, quoteInput(b.Input)})
	}
	return c[:calls]
}

// quoteInputs applies quoteInput to all calls of a content.
func quoteInputs(c ragctx.Content) ragctx.Content {
	c = slices.Clone(c)
	for i := range c {
		c[i].Content = quoteInputs(c[i].Content)
		if c[i].Type == ragctx.BlockToolUse {
			c[i].Input = quoteInput(c[i].Input)
		}
	}
	return c
}

// quoteInput encodes an object as a JSON string if JSON encoding would change its spacing. It also
// quotes a string that could be mistaken for such an encoding.
func quoteInput(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(raw)
	if _, ambiguous := jsonInString(raw); err != nil || !ambiguous && (bytes.Equal(b, raw) || !strings.HasPrefix(compact(raw), "{")) {
		return raw
	}
	if b, err = json.Marshal(string(raw)); err != nil {
		return raw
	}
	return b
}

func isResult(b ragctx.Block) bool { return b.Type == ragctx.BlockToolResult }

// notPlainCall reports whether a block cannot be an element of tool_calls, which requires an input
// object.
func notPlainCall(b ragctx.Block) bool {
	return b.Type != ragctx.BlockToolUse || len(b.Part) > 0 || !strings.HasPrefix(compact(b.Input), "{")
}

// isPlain reports whether a content is empty or a single text.
func isPlain(c ragctx.Content) bool {
	return len(c) == 0 || len(c) == 1 && c[0].IsPlain() && c[0].Text != ""
}

// DecodeMessage decodes the output of [EncodeMessage] and older forms: the key metadata, calls and
// result within the metadata, arguments as JSON strings, and OpenAI's calls and images. A message
// without a role is the user's.
func DecodeMessage(b []byte) (ragctx.Message, error) { return ReadMessage(string(b)) }

// ReadMessage is [DecodeMessage] of a string. Texts of the message may share its memory.
func ReadMessage(s string) (ragctx.Message, error) {
	if m, ok := readCanonical(s); ok {
		return m, nil
	}
	return readAnyForm([]byte(s))
}

// readAnyForm decodes a message in any supported form.
func readAnyForm(b []byte) (ragctx.Message, error) {
	var w struct {
		messageJSON

		Role     string   `json:"role"`
		Metadata object   `json:"_metadata"`
		Older    object   `json:"metadata"`
		Calls    callList `json:"tool_calls"`
		Result   *result  `json:"tool_result"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return ragctx.Message{}, err
	}
	role, err := ragctx.ParseRole(w.Role)
	if err != nil {
		return ragctx.Message{}, err
	}
	m := ragctx.Message{
		ID: w.ID, ParentID: w.ParentID, Role: role, Name: w.Name, Reasoning: w.Reasoning,
		Metadata: overlay(w.Older, w.Metadata),
	}
	if m.CreatedAt, err = readTime(w.CreatedAt); err != nil {
		return ragctx.Message{}, err
	}
	if m.Content, err = readContent(w.Content); err != nil {
		return ragctx.Message{}, err
	}
	calls, res := []ragctx.Block(w.Calls), (*ragctx.Block)(w.Result)
	if len(calls) == 0 && len(m.ToolUses()) == 0 {
		m.Metadata = extract(m.Metadata, "tool_calls", (*callList)(&calls))
	}
	if res == nil && len(m.ToolResults()) == 0 {
		var older result
		if rest := extract(m.Metadata, "tool_result", &older); len(rest) < len(m.Metadata) {
			m.Metadata, res = rest, (*ragctx.Block)(&older)
		}
	}
	if res != nil {
		m.Content = withResult(m.Content, calls, *res)
	} else {
		m.Content = append(m.Content, calls...)
	}
	return m, nil
}

// extract decodes a value of a map into to and returns the map without it. A value that cannot be
// decoded stays in the map.
func extract(m map[string]any, key string, to any) map[string]any {
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

// readTime parses an RFC 3339 time, or a time of an imported conversation by [timeexpr.Dates].
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
	case isNothing(raw) || string(raw) == `""`:
		return nil, nil
	case raw[0] == '"':
		var c ragctx.Content
		return c, json.Unmarshal(raw, &c)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, ragctx.Invalid("content", "is neither a text nor a list of parts; send either")
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

// unquoteInputs reverses quoteInput for a block.
func unquoteInputs(b *ragctx.Block) {
	if input, ok := jsonInString(b.Input); ok && b.Type == ragctx.BlockToolUse {
		b.Input = input
	}
	for i := range b.Content {
		unquoteInputs(&b.Content[i])
	}
}

// readPart reads a part of a content: a block, a text, or an OpenAI image.
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
		unquoteInputs(&p.Block)
		return p.Block, nil
	case "image_url":
		if media, data, ok := dataURL(p.ImageURL.URL); ok {
			return ragctx.Block{Type: ragctx.BlockImage, MediaType: media, Data: data}, nil
		}
		return ragctx.Block{}, ragctx.Invalid("image_url.url", "is not a data URL; send the image itself as data:image/png;base64,…")
	}
	return ragctx.Block{}, ragctx.Invalid("type", "%q is not a type of part; use text, image, tool_use, tool_result or vendor",
		ragctx.Clip(string(p.Type)))
}
