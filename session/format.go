package session

import (
	"encoding/json"

	"github.com/ragctx/ragctx"
)

// FormatType is the kind of answer that a model should give.
type FormatType string

// Supported formats.
const (
	FormatText       FormatType = "text"
	FormatJSONObject FormatType = "json_object"
	FormatJSONSchema FormatType = "json_schema"
)

// ResponseFormat is the required form of a model's answers. The zero value requires nothing.
type ResponseFormat struct {
	Type FormatType
	// Schema is a JSON Schema and Name its name.
	Schema json.RawMessage
	Name   string
	// Strict requires answers to match the schema; nil leaves the choice to the provider.
	Strict *bool
}

// IsEmpty reports whether no format is required.
func (f ResponseFormat) IsEmpty() bool {
	return f.Type == "" && f.Name == "" && len(f.Schema) == 0 && f.Strict == nil
}

// formatJSON is the JSON form of a response format; json_schema is OpenAI's nested form.
type formatJSON struct {
	Type   FormatType      `json:"type,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Name   string          `json:"name,omitempty"`
	Strict *bool           `json:"strict,omitempty"`
	Nested *formatJSON     `json:"json_schema,omitempty"`
}

// MarshalJSON implements [json.Marshaler]. It omits empty fields.
func (f ResponseFormat) MarshalJSON() ([]byte, error) {
	return json.Marshal(formatJSON{Type: f.Type, Schema: f.Schema, Name: f.Name, Strict: f.Strict})
}

// UnmarshalJSON implements [json.Unmarshaler]. It also accepts OpenAI's json_schema with schema,
// name and strict, and an empty list for no format.
func (f *ResponseFormat) UnmarshalJSON(b []byte) error {
	if isNothing(b) {
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
		return ragctx.Invalid("responseFormat.type", "%q is not a response format; use text, json_object or json_schema",
			ragctx.Clip(string(w.Type)))
	}
	out := ResponseFormat{Type: w.Type, Schema: w.Schema, Name: w.Name, Strict: w.Strict}
	if n := w.Nested; n != nil {
		if isNothing(out.Schema) {
			out.Schema = n.Schema
		}
		if out.Name == "" {
			out.Name = n.Name
		}
		if out.Strict == nil {
			out.Strict = n.Strict
		}
	}
	if isNothing(out.Schema) {
		out.Schema = nil
	}
	*f = out
	return nil
}

// isNothing reports whether JSON is absent, null, or an empty list. Languages with one type for
// lists and maps encode an empty map as an empty list.
func isNothing(b json.RawMessage) bool {
	switch compact(b) {
	case "", "null", "[]":
		return true
	}
	return false
}
