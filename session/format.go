package session

import (
	"encoding/json"

	"github.com/ragctx/ragctx"
)

// FormatType says what kind of answer a model should give.
type FormatType string

// The types of answers.
const (
	FormatText       FormatType = "text"
	FormatJSONObject FormatType = "json_object"
	FormatJSONSchema FormatType = "json_schema"
)

// ResponseFormat is the form that a model's answers should have. The zero value asks for
// none.
type ResponseFormat struct {
	Type FormatType
	// Schema is a JSON Schema; Name names it.
	Schema json.RawMessage
	Name   string
	// Strict demands that answers keep to the schema; nil leaves it to the provider.
	Strict *bool
}

// IsEmpty reports whether no form is asked for.
func (f ResponseFormat) IsEmpty() bool {
	return f.Type == "" && f.Name == "" && len(f.Schema) == 0 && f.Strict == nil
}

// formatJSON is a form of answers as it is written, and in schema as OpenAI nests it.
type formatJSON struct {
	Type   FormatType      `json:"type,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Name   string          `json:"name,omitempty"`
	Strict *bool           `json:"strict,omitempty"`
	Nested *formatJSON     `json:"json_schema,omitempty"`
}

// MarshalJSON implements [json.Marshaler]. What is empty is left out.
func (f ResponseFormat) MarshalJSON() ([]byte, error) {
	return json.Marshal(formatJSON{Type: f.Type, Schema: f.Schema, Name: f.Name, Strict: f.Strict})
}

// UnmarshalJSON implements [json.Unmarshaler]. It also reads schema, name and strict
// within json_schema, as OpenAI has them, and an empty list for no form.
func (f *ResponseFormat) UnmarshalJSON(b []byte) error {
	if nothing(b) {
		*f = ResponseFormat{}
		return nil
	}
	var w formatJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	switch w.Type {
	case "", FormatText, FormatJSONObject, FormatJSONSchema:
	default:
		return ragctx.Invalid("responseFormat.type", "%q is not a form of answers; use text, json_object or json_schema", ragctx.Clip(string(w.Type)))
	}
	out := ResponseFormat{Type: w.Type, Schema: w.Schema, Name: w.Name, Strict: w.Strict}
	if n := w.Nested; n != nil {
		if nothing(out.Schema) {
			out.Schema = n.Schema
		}
		if out.Name == "" {
			out.Name = n.Name
		}
		if out.Strict == nil {
			out.Strict = n.Strict
		}
	}
	if nothing(out.Schema) {
		out.Schema = nil
	}
	*f = out
	return nil
}

// nothing reports whether JSON is absent, null, or an empty list, which is how languages
// that have one type for lists and maps write an empty map.
func nothing(b json.RawMessage) bool {
	switch compact(b) {
	case "", "null", "[]":
		return true
	}
	return false
}
