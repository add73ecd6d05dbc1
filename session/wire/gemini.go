package wire

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// gemini is the form of contents: the system prompt beside them, and all results of a
// content's calls in the next one, by the names of the tools; ids may be missing.
type gemini struct{}

// noID begins the ids that calls without one get.
const noID = "gemini_"

var (
	geminiContent  = shape{"role": nil, "parts": nil}
	geminiText     = shape{"text": nil}
	geminiThought  = shape{"text": nil, "thought": nil}
	geminiImage    = shape{"inlineData": {"mimeType": nil, "data": nil}}
	geminiCall     = shape{"functionCall": {"id": nil, "name": nil, "args": nil}}
	geminiResponse = shape{"functionResponse": {"id": nil, "name": nil, "response": nil}}
)

func (gemini) renamed(id string) string { return cmp.Or(id, noID) }

type geminiWire struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

func (gemini) read(c Conversation, before []ragctx.Message, _ *losses) ([]ragctx.Message, error) {
	var out []ragctx.Message
	if len(c.System) > 0 {
		m, err := readGeminiSystem(c.System)
		if err != nil {
			return nil, fmt.Errorf("systemInstruction: %w", err)
		}
		out = append(out, m)
	}
	for i, raw := range c.Messages {
		m, err := readGemini(raw, "")
		if err != nil {
			return nil, fmt.Errorf("contents[%d]: %w", i, err)
		}
		out = append(out, m)
	}
	identify(before, out)
	return out, nil
}

// readGeminiSystem reads a system prompt, which Google's clients also take as a text.
func readGeminiSystem(raw json.RawMessage) (ragctx.Message, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return readGemini(raw, ragctx.RoleSystem)
	}
	m := ragctx.TextMessage(ragctx.RoleSystem, text)
	extra{Bare: true}.put(&m, Gemini)
	return m, nil
}

func readGemini(raw json.RawMessage, role ragctx.Role) (ragctx.Message, error) {
	var w geminiWire
	var o object
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Message{}, err
	}
	if err := unmarshal(raw, &o); err != nil {
		return ragctx.Message{}, err
	}
	x := extra{Fields: geminiContent.rest(o)}
	if err := complete(Gemini, "parts", w.Parts == nil, x.Fields); err != nil {
		return ragctx.Message{}, err
	}
	switch {
	case role == ragctx.RoleSystem:
		if w.Role != "" {
			x.Fields = object{"role": w.Role}
		}
	case w.Role == "user" || w.Role == "":
		role = ragctx.RoleUser
	case w.Role == "model":
		role = ragctx.RoleAssistant
	default:
		return ragctx.Message{}, ragctx.Invalid("role", "%q is not a role of contents; use user or model, and systemInstruction beside the contents", ragctx.Clip(w.Role))
	}
	m := ragctx.Message{Role: role}
	if err := x.readParts(w.Parts, &m, Gemini, readGeminiPart); err != nil {
		return ragctx.Message{}, err
	}
	x.put(&m, Gemini)
	return m, nil
}

// snakeNames are the fields of parts that Google's client for Python writes in snake_case, by
// how they are written there.
var snakeNames = map[string]string{"inline_data": "inlineData", "function_call": "functionCall", "function_response": "functionResponse"}

// fromSnake renames the fields of a part that are in snake_case. An empty object stays where
// each was, which is kept with what is not understood and so says how to write it.
func fromSnake(o object) (renamed bool) {
	for snake, name := range snakeNames {
		inner, ok := o[snake].(object)
		if !ok || o[name] != nil {
			continue
		}
		if mime, ok := inner["mime_type"]; ok && snake == "inline_data" {
			delete(inner, "mime_type")
			inner["mimeType"] = mime
		}
		o[name], o[snake], renamed = inner, object{}, true
	}
	return renamed
}

// toSnake renames the fields of a part that were in snake_case.
func toSnake(o object) {
	for snake, name := range snakeNames {
		inner, ok := o[name].(object)
		if mark, marked := o[snake].(object); !ok || !marked || len(mark) > 0 {
			continue
		}
		if mime, ok := inner["mimeType"]; ok && snake == "inline_data" {
			delete(inner, "mimeType")
			inner["mime_type"] = mime
		}
		delete(o, name)
		o[snake] = inner
	}
}

func readGeminiPart(o object, raw json.RawMessage) (ragctx.Block, shape, error) {
	if fromSnake(o) {
		raw = marshal(o)
	}
	var w struct {
		Text    *string
		Thought bool
		Inline  *struct {
			Media string `json:"mimeType"`
			Data  string `json:"data"`
		} `json:"inlineData"`
		Call *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return ragctx.Block{}, nil, err
	}
	switch {
	case w.Text != nil && *w.Text == "": // it only carries a signature
		return ragctx.Block{}, nil, nil
	case w.Text != nil && w.Thought:
		return ragctx.Block{Text: *w.Text}, geminiThought, nil
	case w.Text != nil:
		return ragctx.Block{Type: ragctx.BlockText, Text: *w.Text}, geminiText, nil
	case w.Inline != nil:
		b := ragctx.Block{Type: ragctx.BlockImage, MediaType: w.Inline.Media}
		var err error
		b.Data, err = base64.StdEncoding.DecodeString(w.Inline.Data)
		if err == nil && strings.HasPrefix(b.MediaType, "image/") { // and not in the alphabet of URLs
			return b, geminiImage, nil
		}
	case w.Call != nil:
		b := ragctx.Block{Type: ragctx.BlockToolUse, ID: w.Call.ID, Name: w.Call.Name}
		if !absent(w.Call.Args) {
			b.Input = w.Call.Args
		}
		return b, geminiCall, nil
	case w.Response != nil:
		b := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: w.Response.ID, Name: w.Response.Name}
		b.Content, b.IsError = readResponse(w.Response.Response)
		return b, geminiResponse, nil
	}
	return ragctx.Block{}, nil, nil
}

// readResponse reads what a tool returned: the text of its output or its error, which is
// what the vendor says these fields are, and otherwise the whole object.
func readResponse(raw json.RawMessage) (c ragctx.Content, isError bool) {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil || len(o) == 0 {
		return ragctx.Text("{}"), false
	}
	_, isError = o["error"]
	if len(o) == 1 {
		for _, field := range []string{"output", "error"} {
			var text string
			if v, ok := o[field]; ok && json.Unmarshal(v, &text) == nil && string(v) != "null" && !isObject([]byte(text)) {
				return ragctx.Text(text), isError
			}
		}
	}
	return ragctx.Text(string(raw)), isError
}

// response returns what a tool returned as an object.
func response(r ragctx.Block) any {
	var o map[string]json.RawMessage
	text := r.Content.String()
	if json.Unmarshal([]byte(text), &o) == nil && o != nil {
		if _, says := o["error"]; says == r.IsError {
			return json.RawMessage(text)
		}
	}
	if r.IsError {
		return object{"error": text}
	}
	return object{"output": text}
}

func understoodByGemini(raw json.RawMessage) bool { return understands(readGeminiPart)(raw) }

func (gemini) write(messages []indexed, l *losses) Conversation {
	var c Conversation
	var system []any
	var systemFields object
	var turns []turn
	bare := false
	for i, m := range messages {
		x := extraOf(m.Message, Gemini)
		if m.Name != "" {
			l.add(m.index, "the name of the speaker")
		}
		if isSystem(m.Message) {
			system, systemFields = append(system, geminiParts(m, l)...), x.Fields
			bare = x.Bare && len(system) == 1
			if i > 0 && !isSystem(messages[i-1].Message) {
				l.add(m.index, "where a system message stands")
			}
			continue
		}
		parts := x.inserted(geminiParts(m, l), geminiThoughts(m, x, l))
		if len(parts) == 0 {
			l.add(m.index, "a message that says nothing")
			continue
		}
		turns = addCalls(turns, newTurn(m, parts, x))
	}
	if len(system) > 0 {
		o := object{"parts": system}
		fill(o, systemFields)
		c.System = marshal(o)
		if only, ok := system[0].(object); ok && bare && len(only) == 1 {
			c.System = marshal(only["text"])
		}
	}
	for _, t := range turns {
		role := "user"
		if t.m.Role == ragctx.RoleAssistant {
			role = "model"
		}
		o := object{"role": role, "parts": slices.Concat(t.results, t.rest)}
		fill(o, t.fields)
		c.Messages = append(c.Messages, marshal(o))
	}
	return c
}

// addCalls adds a turn as addTurn does. A turn that calls takes in those of the model right
// before it: calls come right after what a user says or a tool returns.
func addCalls(turns []turn, t turn) []turn {
	model := func(t turn) bool { return t.m.Role == ragctx.RoleAssistant }
	calls := func(t turn) bool { return model(t) && len(t.m.ToolUses()) > 0 }
	first := len(turns)
	for first > 0 && calls(t) && model(turns[first-1]) && !calls(turns[first-1]) {
		first--
	}
	var before []any
	for _, other := range turns[first:] {
		before = append(before, other.rest...)
	}
	t.rest = append(before, t.rest...)
	return addTurn(turns[:first], t)
}

func geminiParts(m indexed, l *losses) []any {
	var parts []any
	results, rest := split(m.Content)
	for _, r := range results {
		if len(r.Content) > count(r.Content, ragctx.BlockText) {
			l.add(m.index, "images in a result")
		}
		o := object{"name": r.Name, "response": response(r)}
		if !strings.HasPrefix(r.ToolUseID, noID) {
			o["id"] = r.ToolUseID
		}
		parts = append(parts, geminiPart(r, object{"functionResponse": o}))
	}
	for _, b := range rest {
		if raw, ok := whole(b, Gemini, understoodByGemini); ok {
			parts = append(parts, raw)
			continue
		}
		switch {
		case b.Type == ragctx.BlockImage:
			parts = append(parts, geminiPart(b, object{"inlineData": object{"mimeType": b.MediaType, "data": b.Data}}))
		case b.Type == ragctx.BlockToolUse && m.Role != ragctx.RoleAssistant:
			l.add(m.index, "a call by somebody who is no assistant")
		case b.Type == ragctx.BlockToolUse:
			o := object{"name": b.Name}
			if len(b.Input) > 0 {
				o["args"] = inputObject(b, m.index, l)
			}
			if !strings.HasPrefix(b.ID, noID) {
				o["id"] = b.ID
			}
			parts = append(parts, geminiPart(b, object{"functionCall": o}))
		case b.Type == ragctx.BlockText && b.Text != "":
			parts = append(parts, geminiPart(b, object{"text": b.Text}))
		}
	}
	return parts
}

// geminiPart returns a part with the fields that were kept of it, in the case in which it was.
func geminiPart(b ragctx.Block, o object) object {
	fill(o, partOf(b, Gemini))
	toSnake(o)
	return o
}

func geminiThoughts(m indexed, x extra, l *losses) []object {
	if m.Reasoning == "" && len(x.Thoughts) == 0 {
		return nil
	}
	texts, ok := x.thoughts(m.Message)
	if !ok {
		l.add(m.index, "reasoning that is not the vendor's")
		return nil
	}
	out := make([]object, len(texts))
	for i, text := range texts {
		out[i] = object{"text": text, "thought": true}
		fill(out[i], x.Thoughts[i].Fields)
	}
	return out
}
