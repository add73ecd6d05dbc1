// Package request has the parts of requests that several groups of routes share.
package request

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// Metadata preserves numbers as written, because a float64 cannot hold every id.
type Metadata map[string]any

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Metadata) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return dec.Decode((*map[string]any)(m))
}

// Messages are the messages of a conversation. They decode into their real types; the types below
// only describe them.
type Messages []ragctx.Message

// Schema implements [huma.SchemaProvider].
func (Messages) Schema(r huma.Registry) *huma.Schema {
	limit := memory.MaxMessages
	return &huma.Schema{
		Type: huma.TypeArray, MaxItems: &limit,
		Items: r.Schema(reflect.TypeFor[Message](), true, ""),
	}
}

// Message describes a [ragctx.Message].
type Message struct {
	ID        string         `json:"id,omitempty" maxLength:"512"`
	ParentID  string         `json:"parent_id,omitempty" maxLength:"512"`
	CreatedAt time.Time      `json:"created_at,omitzero"`
	Role      string         `json:"role,omitempty" enum:"system,developer,user,assistant,tool" default:"user" doc:"role, case-insensitive"`
	Name      string         `json:"name,omitempty" maxLength:"512" doc:"name of the speaker"`
	Content   content        `json:"content" required:"false"`
	Reasoning string         `json:"reasoning_content,omitempty" doc:"visible reasoning; never extracted into memories"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// content is a string or a list of blocks.
type content struct{}

// Schema implements [huma.SchemaProvider].
func (content) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString},
		{Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[block](), true, "")},
	}}
}

type block struct {
	Type      string          `json:"type" enum:"text,image,tool_use,tool_result,vendor"`
	Text      string          `json:"text,omitempty" doc:"for text"`
	MediaType string          `json:"media_type,omitempty" doc:"for an image"`
	Data      []byte          `json:"data,omitempty" doc:"for an image"`
	ID        string          `json:"id,omitempty" doc:"for a tool use"`
	Name      string          `json:"name,omitempty" doc:"for a tool use"`
	Input     json.RawMessage `json:"input,omitempty" doc:"for a tool use"`
	ToolUseID string          `json:"tool_use_id,omitempty" doc:"for a tool result"`
	Content   content         `json:"content" required:"false" doc:"for a tool result"`
	IsError   bool            `json:"is_error,omitempty" doc:"for a tool result"`
	Form      string          `json:"form,omitempty" enum:"openai,anthropic,gemini" doc:"vendor whose format part uses"`
	Part      map[string]any  `json:"part,omitempty"`
}
