package wire

import (
	"cmp"
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
		m, err := readGemini(c.System, ragctx.RoleSystem, nil)
		if err != nil {
			return nil, fmt.Errorf("systemInstruction: %w", err)
		}
		out = append(out, m)
	}
	ids := namesAfter(before)
	for i, raw := range c.Messages {
		m, err := readGemini(raw, "", ids.identify)
		if err != nil {
			return nil, fmt.Errorf("contents[%d]: %w", i, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// names gives ids to calls that have none.
type names struct {
	given int
	open  map[string][]string // by name: the ids given to calls that have no result yet
}

// namesAfter are the names that a conversation goes on with.
func namesAfter(before []ragctx.Message) names {
	n := names{open: make(map[string][]string)}
	for _, m := range before {
		for _, b := range m.Content {
			switch {
			case b.Type == ragctx.BlockToolUse && strings.HasPrefix(b.ID, noID):
				n.given++
				n.open[b.Name] = append(n.open[b.Name], b.ID)
			case b.Type == ragctx.BlockToolResult && strings.HasPrefix(b.ToolUseID, noID):
				n.open[b.Name] = slices.DeleteFunc(n.open[b.Name], func(id string) bool { return id == b.ToolUseID })
			}
		}
	}
	return n
}

// identify gives a call that has no id one, and a result that of the first open call of
// its name.
func (n *names) identify(b *ragctx.Block) {
	switch {
	case b.Type == ragctx.BlockToolUse && b.ID == "":
		n.given++
		b.ID = fmt.Sprintf("%s%d", noID, n.given)
		n.open[b.Name] = append(n.open[b.Name], b.ID)
	case b.Type == ragctx.BlockToolResult && b.ToolUseID == "":
		b.ToolUseID = noID
		if open := n.open[b.Name]; len(open) > 0 {
			b.ToolUseID, n.open[b.Name] = open[0], open[1:]
		}
	}
}

func readGemini(raw json.RawMessage, role ragctx.Role, identify func(*ragctx.Block)) (ragctx.Message, error) {
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
	if err := x.readParts(w.Parts, &m, readGeminiPart); err != nil {
		return ragctx.Message{}, err
	}
	for i := range m.Content {
		if identify != nil {
			identify(&m.Content[i])
		}
	}
	x.put(&m, Gemini)
	return m, nil
}

func readGeminiPart(o object, raw json.RawMessage) (ragctx.Block, shape, error) {
	var w struct {
		Text    *string
		Thought bool
		Inline  *struct {
			Media string `json:"mimeType"`
			Data  []byte `json:"data"`
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
	case w.Inline != nil && strings.HasPrefix(w.Inline.Media, "image/"):
		return ragctx.Block{Type: ragctx.BlockImage, MediaType: w.Inline.Media, Data: w.Inline.Data}, geminiImage, nil
	case w.Call != nil:
		return ragctx.Block{Type: ragctx.BlockToolUse, ID: w.Call.ID, Name: w.Call.Name, Input: w.Call.Args}, geminiCall, nil
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
	for i, m := range messages {
		x := extraOf(m.Message, Gemini)
		if m.Name != "" {
			l.add(m.index, "the name of the speaker")
		}
		if isSystem(m.Message) {
			system, systemFields = append(system, x.restore(geminiParts(m, l), nil, understoodByGemini)...), x.Fields
			if i > 0 && !isSystem(messages[i-1].Message) {
				l.add(m.index, "where a system message stands")
			}
			continue
		}
		parts := x.restore(geminiParts(m, l), geminiThoughts(m, x, l), understoodByGemini)
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

func geminiParts(m indexed, l *losses) []object {
	var parts []object
	results, rest := split(m.Content)
	for _, r := range results {
		if len(r.Content) > count(r.Content, ragctx.BlockText) {
			l.add(m.index, "images in a result")
		}
		o := object{"name": r.Name, "response": response(r)}
		if !strings.HasPrefix(r.ToolUseID, noID) {
			o["id"] = r.ToolUseID
		}
		parts = append(parts, object{"functionResponse": o})
	}
	for _, b := range rest {
		switch b.Type {
		case ragctx.BlockImage:
			parts = append(parts, object{"inlineData": object{"mimeType": b.MediaType, "data": b.Data}})
		case ragctx.BlockToolUse:
			if m.Role != ragctx.RoleAssistant {
				l.add(m.index, "a call by somebody who is no assistant")
				continue
			}
			o := object{"name": b.Name}
			if len(b.Input) > 0 {
				o["args"] = inputObject(b, m.index, l)
			}
			if !strings.HasPrefix(b.ID, noID) {
				o["id"] = b.ID
			}
			parts = append(parts, object{"functionCall": o})
		default:
			if b.Text != "" {
				parts = append(parts, object{"text": b.Text})
			}
		}
	}
	return parts
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
