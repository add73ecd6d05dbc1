package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/ragctx/ragctx/session/wire/pairing"
)

// anthropicRules are those of Anthropic's messages.
type anthropicRules struct{}

func (anthropicRules) path() string { return "/messages" }

// toolName is what names of tools are, to both vendors.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// mark is where a prompt cache may begin.
type mark struct {
	Type string `json:"type"`
}

// part is a block of a content.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Of      string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
	Cache   *mark           `json:"cache_control"`
}

// partFields are what parts of a type have.
var partFields = map[string][]string{
	"text": {"type", "text", "cache_control"}, "tool_use": {"type", "id", "name", "input", "cache_control"},
	"tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}

func (anthropicRules) hear(r *http.Request, body []byte) (heard, error) {
	var in struct {
		Model    string            `json:"model"`
		Most     int               `json:"max_tokens"`
		System   json.RawMessage   `json:"system"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Choice   *mark             `json:"tool_choice"`
	}
	if err := strict(body, &in); err != nil {
		return heard{}, err
	}
	if r.Header.Get("X-Api-Key") != "key" || r.Header.Get("Anthropic-Version") != "2023-06-01" || in.Model != "m" || in.Most < 1 || len(in.Messages) < 1 {
		return heard{}, fmt.Errorf("model %q, %d messages, an answer of %d tokens, or a header is wrong", in.Model, len(in.Messages), in.Most)
	}
	h := heard{answer: in.Most, messages: len(in.Messages), defined: in.Tools}
	marks := 0
	if err := h.anthropicTools(in.Tools, &marks); err != nil {
		return h, err
	}
	if in.Choice != nil && in.Choice.Type == "none" {
		h.tools = nil
	}
	if len(in.System) > 0 {
		if err := h.anthropic("system", in.System, len(in.Tools) > 0, &marks); err != nil {
			return h, fmt.Errorf("system: %v", err)
		}
	}
	role := ""
	for i, raw := range in.Messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := strict(raw, &m); err != nil {
			return h, fmt.Errorf("messages[%d]: %v", i, err)
		}
		if m.Role != "user" && m.Role != "assistant" || i == 0 && m.Role != "user" {
			return h, fmt.Errorf("messages[%d]: role %q", i, m.Role)
		}
		if err := h.anthropic(m.Role, m.Content, len(in.Tools) > 0, &marks); err != nil {
			return h, fmt.Errorf("messages[%d]: %v", i, err)
		}
		role = m.Role
	}
	if role != "user" || marks > 4 {
		return h, fmt.Errorf("the last message is of role %q; %d cache marks, and 4 may be", role, marks)
	}
	// The model could speak next: no call waits for its result.
	return h, pairing.CheckAnthropic(append(in.Messages, json.RawMessage(`{"role":"assistant","content":"next"}`)))
}

func (h *heard) anthropicTools(tools []json.RawMessage, marks *int) error {
	for i, raw := range tools {
		var tool struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Cache       *mark           `json:"cache_control"`
		}
		if err := strict(raw, &tool); err != nil || !toolName.MatchString(tool.Name) || !isSchema(tool.Schema) || slices.Contains(h.tools, tool.Name) {
			return fmt.Errorf("tools[%d]: %s: %v", i, raw, err)
		}
		if tool.Cache != nil {
			*marks++
		}
		h.tools = append(h.tools, tool.Name)
	}
	return nil
}

// anthropic hears a content. Parts of tools need definitions of tools.
func (h *heard) anthropic(role string, content json.RawMessage, tools bool, marks *int) error {
	var text string
	if json.Unmarshal(content, &text) == nil {
		if text == "" {
			return errors.New("an empty text")
		}
		h.said = append(h.said, said{role, text, false})
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(content, &parts); err != nil || len(parts) == 0 {
		return fmt.Errorf("%d parts: %v", len(parts), err)
	}
	for i, raw := range parts {
		var p part
		var fields map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(raw, &p), json.Unmarshal(raw, &fields)); err != nil {
			return fmt.Errorf("parts[%d]: %v", i, err)
		}
		for name := range fields {
			if !slices.Contains(partFields[p.Type], name) {
				return fmt.Errorf("parts[%d]: a part of type %q has no field %q", i, p.Type, name)
			}
		}
		if p.Cache != nil {
			*marks++
		}
		if p.Cache != nil && p.Cache.Type != "ephemeral" || p.Type != "text" && (!tools || role == "system") {
			return fmt.Errorf("parts[%d]: a part of type %q in %s, with tools: %v", i, p.Type, role, tools)
		}
		if err := h.anthropicPart(role, p); err != nil {
			return fmt.Errorf("parts[%d]: %v", i, err)
		}
	}
	return nil
}

func (h *heard) anthropicPart(role string, p part) error {
	switch p.Type {
	case "text":
		if p.Text == "" {
			return errors.New("an empty text")
		}
		h.said = append(h.said, said{role, p.Text, false})
	case "tool_use":
		var input map[string]any
		if err := json.Unmarshal(p.Input, &input); err != nil || !toolName.MatchString(p.Name) {
			return fmt.Errorf("a call of %q with %s: %v", p.Name, p.Input, err)
		}
		h.said = append(h.said, said{role, p.Name + string(p.Input), false})
	case "tool_result":
		var text string
		var inner []part
		if json.Unmarshal(p.Content, &text) != nil {
			if err := json.Unmarshal(p.Content, &inner); err != nil {
				return err
			}
		}
		for _, in := range inner {
			text += in.Text
		}
		h.said = append(h.said, said{role, text, true})
	}
	return nil
}

func (anthropicRules) say(text string, calls []Call, n int) any {
	reason := "end_turn"
	var content []object
	if text != "" {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, c := range calls {
		content, reason = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Input}), "tool_use"
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason, "stop_sequence": nil,
		"usage": object{"input_tokens": n / 2, "cache_creation_input_tokens": 0, "cache_read_input_tokens": n - n/2, "output_tokens": 10},
	}
}

func (anthropicRules) refuse(_ int, kind, text string) any {
	return object{"type": "error", "error": object{"type": kind, "message": text}}
}

func (anthropicRules) tooLong(n, limit int) (kind, text string) {
	return "invalid_request_error", fmt.Sprintf("prompt is too long: %d tokens > %d maximum", n, limit)
}
