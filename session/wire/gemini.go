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

// gemini is the form of Gemini's contents. The system prompt is a separate field, and all results
// of a content's calls stand in the next content, by tool name. Call ids may be missing.
type gemini struct{}

// noID is the prefix of the ids given to calls without one.
const noID = "gemini_"

var (
	geminiContent  = shape{"role": nil, "parts": nil}
	geminiText     = shape{"text": nil}
	geminiThought  = shape{"text": nil, "thought": nil}
	geminiImage    = shape{"inlineData": {"mimeType": nil, "data": nil}}
	geminiCall     = shape{"functionCall": {"id": nil, "name": nil, "args": nil}}
	geminiResponse = shape{"functionResponse": {"id": nil, "name": nil, "response": nil}}
)

func (gemini) normalizeID(id string) string { return cmp.Or(id, noID) }

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

// readGeminiSystem reads a system prompt. Google's clients also accept a plain text.
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
	if err := checkForm(Gemini, "parts", w.Parts == nil, x.Fields); err != nil {
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
		return ragctx.Message{}, ragctx.Invalid("role", "%q is not a role of contents; "+
			"use user or model, and the field systemInstruction for the system prompt", ragctx.Clip(w.Role))
	}
	m := ragctx.Message{Role: role}
	if err := x.readParts(w.Parts, &m, Gemini, readGeminiPart); err != nil {
		return ragctx.Message{}, err
	}
	x.put(&m, Gemini)
	return m, nil
}

// snakeNames maps the field names that Google's Python client writes to the names in the API.
var snakeNames = map[string]string{"inline_data": "inlineData", "function_call": "functionCall", "function_response": "functionResponse"}

// fromSnake renames snake_case fields of a part. It leaves an empty object under the old name,
// which is stored with the unknown fields; toSnake restores the name from it.
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

// toSnake restores the snake_case names that fromSnake replaced.
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
	case w.Text != nil && *w.Text == "": // carries only a signature
		return ragctx.Block{}, nil, nil
	case w.Text != nil && w.Thought:
		return ragctx.Block{Text: *w.Text}, geminiThought, nil
	case w.Text != nil:
		return ragctx.Block{Type: ragctx.BlockText, Text: *w.Text}, geminiText, nil
	case w.Inline != nil:
		b := ragctx.Block{Type: ragctx.BlockImage, MediaType: w.Inline.Media}
		var err error
		b.Data, err = base64.StdEncoding.DecodeString(w.Inline.Data)
		if err == nil && strings.HasPrefix(b.MediaType, "image/") { // excludes data in the URL alphabet
			return b, geminiImage, nil
		}
	case w.Call != nil:
		b := ragctx.Block{Type: ragctx.BlockToolUse, ID: w.Call.ID, Name: w.Call.Name}
		if !isAbsent(w.Call.Args) {
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

// readResponse reads a tool's response. If output or error is its only field and a text, as the API
// documents, that text is the result; otherwise the whole object is.
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

// response returns a tool result as an object.
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

func geminiUnderstands(raw json.RawMessage) bool { return understands(readGeminiPart)(raw) }

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
				l.add(m.index, "the position of a system message")
			}
			continue
		}
		parts := x.insertThoughts(geminiParts(m, l), geminiThoughts(m, x, l))
		if len(parts) == 0 {
			l.add(m.index, "an empty message")
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

// addCalls appends a turn like addTurn. A turn with calls absorbs the model turns right before it,
// because calls must follow a user turn or a result turn.
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
		if raw, ok := vendorPart(b, Gemini, geminiUnderstands); ok {
			parts = append(parts, raw)
			continue
		}
		switch {
		case b.Type == ragctx.BlockImage:
			parts = append(parts, geminiPart(b, object{"inlineData": object{"mimeType": b.MediaType, "data": b.Data}}))
		case b.Type == ragctx.BlockToolUse && m.Role != ragctx.RoleAssistant:
			l.add(m.index, "a tool call outside an assistant message")
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

// geminiPart returns a part with the block's stored fields, in the original letter case.
func geminiPart(b ragctx.Block, o object) object {
	fill(o, vendorFields(b, Gemini))
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
