package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ragctx/ragctx"
)

// arguments validates the arguments of a tool against its published schema, so that the two cannot
// differ. Schemas are flat: values, lists of texts, and free objects.
type arguments struct {
	schema *jsonschema.Schema
	hidden []string // arguments removed from the schema because they are configured
}

// read validates raw and decodes it into in. The error names the argument, the limit and the
// remedy.
func (a arguments) read(raw json.RawMessage, in any) error {
	var given map[string]json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return ragctx.Invalid("arguments", "are not a JSON object")
		}
	}
	if given == nil { // no arguments, or null
		given = make(map[string]json.RawMessage)
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" }) // models send null for absent values
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := a.schema.Properties[name]
		if slices.Contains(a.hidden, name) {
			return ragctx.Invalid(name, "is fixed by the operator; leave it out")
		}
		if p == nil {
			return ragctx.Invalid(ragctx.Clip(name), "is not an argument of this tool; use %s",
				strings.Join(slices.Sorted(maps.Keys(a.schema.Properties)), ", "))
		}
		if err := checkValue(name, given[name], p); err != nil {
			return err
		}
	}
	for _, name := range a.schema.Required {
		if given[name] == nil {
			return ragctx.Invalid(name, "is required: %s", a.schema.Properties[name].Description)
		}
	}
	for name, p := range a.schema.Properties {
		if given[name] == nil && p.Default != nil {
			given[name] = p.Default
		}
	}
	b, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(b, in)
	}
	if err != nil {
		return ragctx.Invalid("arguments", "cannot be read: %v", err)
	}
	return nil
}

// checkValue checks one argument.
func checkValue(name string, raw json.RawMessage, p *jsonschema.Schema) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return ragctx.Invalid(name, "cannot be read: %v", err)
	}
	switch v := v.(type) {
	case string:
		if p.Type == "string" {
			return checkText(name, v, p)
		}
	case float64:
		if p.Type == "number" || p.Type == "integer" && v == float64(int64(v)) {
			return checkNumber(name, v, p)
		}
	case bool:
		if p.Type == "boolean" {
			return nil
		}
	case map[string]any:
		if p.Type == "object" {
			return nil
		}
	case []any:
		if p.Type == "array" {
			return checkList(name, v, p)
		}
	}
	return ragctx.Invalid(name, "is %s; send %s", kindOf(v), called(p.Type))
}

func checkText(name, v string, p *jsonschema.Schema) error {
	n := utf8.RuneCountInString(v)
	switch {
	case p.MinLength != nil && n < *p.MinLength:
		return ragctx.Invalid(name, "is empty: %s", p.Description)
	case p.MaxLength != nil && n > *p.MaxLength:
		return ragctx.Invalid(name, "has %d characters; the limit is %d", n, *p.MaxLength)
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, any(v)):
		return ragctx.Invalid(name, "is %q; use one of %s", ragctx.Clip(v), strings.Trim(fmt.Sprint(p.Enum), "[]"))
	}
	return ragctx.ValidText(name, v)
}

func checkNumber(name string, v float64, p *jsonschema.Schema) error {
	if v < *p.Minimum || v > *p.Maximum {
		return ragctx.Invalid(name, "is %v; use %v to %v", v, *p.Minimum, *p.Maximum)
	}
	return nil
}

func checkList(name string, list []any, p *jsonschema.Schema) error {
	if len(list) > *p.MaxItems {
		return ragctx.Invalid(name, "has %d values; the limit is %d", len(list), *p.MaxItems)
	}
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", name, i)
		text, ok := v.(string)
		if !ok {
			return ragctx.Invalid(at, "is %s; send a text", kindOf(v))
		}
		if err := checkText(at, text, p.Items); err != nil {
			return err
		}
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return "a text"
	case float64:
		if v != float64(int64(v)) {
			return "a number with a fraction"
		}
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "nothing"
}

func called(kind string) string {
	return map[string]string{
		"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "a list of texts", "object": "an object",
	}[kind]
}

// properties are the properties of a schema under construction; its methods set limits.
type properties map[string]*jsonschema.Schema

// between limits a number and sets its default.
func (p properties) between(name string, least, most, fallback float64) {
	p[name].Minimum, p[name].Maximum = &least, &most
	p[name].Default = json.RawMessage(fmt.Sprint(fallback))
}

// text limits the characters of a text; a required text is not empty.
func (p properties) text(name string, most int, required bool) {
	p[name].MaxLength = &most
	if least := 1; required {
		p[name].MinLength = &least
	}
}

// texts limits a list and the texts in it.
func (p properties) texts(name string, most, characters int) {
	least := 1
	p[name].MaxItems, p[name].Items.MaxLength, p[name].Items.MinLength = &most, &characters, &least
}

// oneOf sets the allowed values of a text.
func (p properties) oneOf(name string, values ...any) { p[name].Enum = values }
