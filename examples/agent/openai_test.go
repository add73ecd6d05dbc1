package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/ragctx/ragctx/session/wire/pairing"
)

// openAIRules are those of chat completions.
type openAIRules struct{}

func (openAIRules) path() string { return "/chat/completions" }

func (openAIRules) hear(r *http.Request, body []byte) (heard, error) {
	var in struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Most     int               `json:"max_completion_tokens"`
	}
	if err := strict(body, &in); err != nil {
		return heard{}, err
	}
	if r.Header.Get("Authorization") != "Bearer key" || in.Model != "m" || in.Most < 1 || len(in.Messages) < 2 {
		return heard{}, fmt.Errorf("model %q, %d messages, an answer of %d tokens, or the key is wrong", in.Model, len(in.Messages), in.Most)
	}
	h := heard{answer: in.Most, messages: len(in.Messages), defined: in.Tools}
	for i, raw := range in.Tools {
		var tool struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		}
		if err := strict(raw, &tool); err != nil || tool.Type != "function" || !toolName.MatchString(tool.Function.Name) || !isSchema(tool.Function.Parameters) {
			return h, fmt.Errorf("tools[%d]: %s: %v", i, raw, err)
		}
		h.tools = append(h.tools, tool.Function.Name)
	}
	for i, raw := range in.Messages {
		if err := h.openAI(i, raw); err != nil {
			return h, fmt.Errorf("messages[%d]: %v", i, err)
		}
	}
	// A user could speak next: no call waits for its result.
	return h, pairing.CheckOpenAI(append(in.Messages, json.RawMessage(`{"role":"user","content":"next"}`)))
}

// openAIFields are what messages of a role may have.
var openAIFields = map[string][]string{
	"system": {"role", "content", "name"}, "developer": {"role", "content", "name"}, "user": {"role", "content", "name"},
	"assistant": {"role", "content", "name", "refusal", "annotations", "audio", "function_call", "tool_calls"},
	"tool":      {"role", "content", "tool_call_id"},
}

// openAI hears one message. System messages stand before all others: the templates of many
// models know them nowhere else.
func (h *heard) openAI(i int, raw json.RawMessage) error {
	var fields map[string]json.RawMessage
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Calls   []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := errors.Join(json.Unmarshal(raw, &fields), json.Unmarshal(raw, &m)); err != nil {
		return err
	}
	for name := range maps.Keys(fields) {
		if !slices.Contains(openAIFields[m.Role], name) {
			return fmt.Errorf("a message of role %q has no field %q", m.Role, name)
		}
	}
	isSystem := m.Role == "system" || m.Role == "developer"
	last := h.last()
	if isSystem && i > 0 && last != "system" && last != "developer" || !isSystem && i == 0 {
		return fmt.Errorf("role %q after %q", m.Role, last)
	}
	texts, err := openAITexts(m.Role, m.Content)
	if err != nil || len(texts)+len(m.Calls) == 0 {
		return fmt.Errorf("a content of %d texts: %v", len(texts), err)
	}
	for _, text := range texts {
		h.said = append(h.said, said{m.Role, text, m.Role == "tool"})
	}
	for _, c := range m.Calls {
		if c.Type != "function" || !toolName.MatchString(c.Function.Name) || !json.Valid([]byte(c.Function.Arguments)) {
			return fmt.Errorf("a call of %q by %q with %q", c.Function.Name, c.Type, c.Function.Arguments)
		}
		h.said = append(h.said, said{m.Role, c.Function.Name + c.Function.Arguments, false})
	}
	return nil
}

// last returns the role of what was said last.
func (h *heard) last() string {
	if len(h.said) == 0 {
		return ""
	}
	return h.said[len(h.said)-1].role
}

// openAITexts returns the texts of a content, which only an assistant that calls may lack.
func openAITexts(role string, content json.RawMessage) ([]string, error) {
	var text string
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	switch {
	case len(content) == 0 || string(content) == "null":
		if role != "assistant" {
			return nil, fmt.Errorf("role %q says nothing", role)
		}
		return nil, nil
	case json.Unmarshal(content, &text) == nil:
		return []string{text}, nil
	}
	if err := strict(content, &parts); err != nil {
		return nil, err
	}
	var texts []string
	for _, p := range parts {
		if p.Type != "text" {
			return nil, fmt.Errorf("a part of type %q", p.Type)
		}
		texts = append(texts, p.Text)
	}
	return texts, nil
}

func (openAIRules) say(text string, calls []Call, n int) any {
	message := object{"role": "assistant", "content": text, "refusal": nil, "annotations": []any{}}
	reason := "stop"
	if len(calls) > 0 {
		var list []object
		for _, c := range calls {
			list = append(list, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Input)}})
		}
		message["tool_calls"], message["content"], reason = list, nil, "tool_calls"
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "model": "m",
		"choices": []object{{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   object{"prompt_tokens": n, "completion_tokens": 10, "total_tokens": n + 10},
	}
}

func (openAIRules) refuse(_ int, kind, text string) any {
	return object{"error": object{"message": text, "type": "invalid_request_error", "param": nil, "code": kind}}
}

func (openAIRules) tooLong(n, limit int) (kind, text string) {
	return "context_length_exceeded", fmt.Sprintf("This model's maximum context length is %d tokens, you asked for %d.", limit, n)
}

// strict reads JSON that has nothing but what is known.
func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// isSchema reports whether JSON is the schema of an object.
func isSchema(b json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(b, &s) == nil && s.Type == "object"
}
