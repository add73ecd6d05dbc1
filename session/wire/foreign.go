package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// foreignFields lists, for each vendor, the content fields of other vendors' messages. Storing such
// a field as unknown would hide its text from the model.
var foreignFields = map[Vendor]map[string]string{
	OpenAI:    {"parts": "gemini"},
	Anthropic: {"tool_calls": "openai", "tool_call_id": "openai", "function_call": "openai", "parts": "gemini"},
	Gemini:    {"tool_calls": "openai", "tool_call_id": "openai", "function_call": "openai", "content": "openai or anthropic"},
}

// foreignKinds lists, for each vendor, the part types of other vendors.
var foreignKinds = map[Vendor]map[string]string{
	OpenAI:    {"tool_use": "anthropic", "tool_result": "anthropic", "image": "anthropic"},
	Anthropic: {"image_url": "openai", "input_audio": "openai"},
}

// checkForm rejects a message with content fields of another vendor. It also rejects a message that
// lacks its content field while it has other fields that are not understood.
func checkForm(v Vendor, field string, lacks bool, leftOver object) error {
	names := nonEmptyFields(leftOver)
	for _, name := range names {
		if whose, foreign := foreignFields[v][name]; foreign {
			return ragctx.Invalid(name, "is a field of the form %s, and not of %s; name the form that the message has", whose, v)
		}
	}
	if lacks && len(names) > 0 {
		return ragctx.Invalid(ragctx.Clip(names[0]), "is not understood, and the field %s is missing; "+
			"send %s, or name the form that the message has", field, field)
	}
	return nil
}

// foreignPartError rejects a part type that only another vendor has.
func foreignPartError(v Vendor, kind string) error {
	if whose, foreign := foreignKinds[v][kind]; foreign {
		return ragctx.Invalid("type", "%q is a part of the form %s, and not of %s; name the form that the message has", kind, whose, v)
	}
	return nil
}

// addUnknownFields records the unknown fields of an OpenAI assistant message without content as a
// loss. They are no error, because OpenAI-compatible servers add fields of their own.
func (l *losses) addUnknownFields(index int, leftOver object) {
	names := slices.DeleteFunc(nonEmptyFields(leftOver), func(name string) bool {
		return slices.Contains([]string{"refusal", "audio", "function_call", "annotations"}, name)
	})
	if len(names) > 0 {
		l.add(index, "the fields "+ragctx.Clip(strings.Join(names, ", "))+", which are not understood")
	}
}

// nonEmptyFields returns the sorted names of the fields that are not empty.
func nonEmptyFields(fields object) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if isNonEmpty(fields[name]) {
			names = append(names, name)
		}
	}
	return names
}

// isNonEmpty reports whether a value is neither null nor empty.
func isNonEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case object:
		return len(v) > 0
	}
	return true
}
