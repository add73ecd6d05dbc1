package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// foreignFields are those in which another vendor's message says what it says, by the
// vendor whose form lacks them. Kept as they are they would be shown to nobody.
var foreignFields = map[Vendor]map[string]string{
	OpenAI:    {"parts": "gemini"},
	Anthropic: {"tool_calls": "openai", "tool_call_id": "openai", "function_call": "openai", "parts": "gemini"},
	Gemini:    {"tool_calls": "openai", "tool_call_id": "openai", "function_call": "openai", "content": "openai or anthropic"},
}

// foreignKinds are kinds of parts that another vendor has.
var foreignKinds = map[Vendor]map[string]string{
	OpenAI:    {"tool_use": "anthropic", "tool_result": "anthropic", "image": "anthropic"},
	Anthropic: {"image_url": "openai", "input_audio": "openai"},
}

// complete refuses a message with fields that say something in another vendor's form, and
// one that lacks the field that says what is said, while others are left over.
func complete(v Vendor, field string, lacks bool, leftOver object) error {
	names := saying(leftOver)
	for _, name := range names {
		if whose, foreign := foreignFields[v][name]; foreign {
			return ragctx.Invalid(name, "is a field of the form %s, and not of %s; name the form that the message has", whose, v)
		}
	}
	if lacks && len(names) > 0 {
		return ragctx.Invalid(ragctx.Clip(names[0]), "is not understood, and there is no %s, which says what a message says; send that, or name the form that the message has", field)
	}
	return nil
}

// ofOtherKind refuses a part of a kind that only another vendor's form has.
func ofOtherKind(v Vendor, kind string) error {
	if whose, foreign := foreignKinds[v][kind]; foreign {
		return ragctx.Invalid("type", "%q is a part of the form %s, and not of %s; name the form that the message has", kind, whose, v)
	}
	return nil
}

// unspoken lists the fields of an assistant's message of OpenAI's of which nothing is
// understood. It is no mistake: servers of that form have fields of their own.
func (l *losses) unspoken(index int, leftOver object) {
	names := slices.DeleteFunc(saying(leftOver), func(name string) bool {
		return slices.Contains([]string{"refusal", "audio", "function_call", "annotations"}, name)
	})
	if len(names) > 0 {
		l.add(index, "what is said in "+ragctx.Clip(strings.Join(names, ", "))+", which is not understood")
	}
}

// saying returns the names of the fields that are not empty, in order.
func saying(fields object) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if says(fields[name]) {
			names = append(names, name)
		}
	}
	return names
}

// says reports whether a value is something.
func says(v any) bool {
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
