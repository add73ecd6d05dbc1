package reference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type schema struct {
	Type                 typeNames
	Format, Description  string
	Ref                  string `json:"$ref"`
	Items                *schema
	Properties           map[string]schema
	Required             []string
	Enum                 []any
	Default              any
	Examples             []any
	Minimum, Maximum     *float64
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	OneOf                []schema
	AnyOf                []schema
}

// typeNames is one name or a list of them.
type typeNames []string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *typeNames) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// schemas returns the page of all schemas.
func schemas(all map[string]schema) []byte {
	var w writer
	w.line("# Schemas")
	w.line("Fields are optional unless they are marked as required.")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		w.line("## %s", name)
		if s.Description != "" {
			w.line("%s", s.Description)
		}
		if len(s.Properties) == 0 {
			w.line("%s", sentence("Is "+s.kind()+s.limits()))
			continue
		}
		w.table("field", "type", "")
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			f, shown := s.Properties[field], "`"+field+"`"
			if slices.Contains(s.Required, field) {
				shown += " (required)"
			}
			w.row(shown, f.kind(), f.Description+f.limits())
		}
	}
	return w.Bytes()
}

// kind returns the type of a value for people.
func (s schema) kind() string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return fmt.Sprintf("[%s](%s#%s)", name, schemasPage, anchor(name))
	}
	if choices := slices.Concat(s.OneOf, s.AnyOf); len(choices) > 0 {
		var kinds []string
		for _, c := range choices {
			kinds = append(kinds, c.kind())
		}
		return strings.Join(kinds, " or ")
	}
	var kinds []string
	for _, t := range s.Type {
		switch {
		case t == "array" && s.Items != nil:
			t = "list of " + s.Items.kind()
		case t == "string" && s.Format == "date-time":
			t = "time"
		case t == "string" && s.Format == "binary":
			t = "bytes"
		case t == "string":
			t = "text"
		}
		kinds = append(kinds, t)
	}
	if len(kinds) == 0 {
		return "any JSON"
	}
	return strings.Join(kinds, " or ")
}

// limits returns the constraints and the default of a value.
func (s schema) limits() string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		var names []string
		for _, v := range s.Enum {
			names = append(names, fmt.Sprintf("`%v`", v))
		}
		say("one of %s", strings.Join(names, ", "))
	}
	if s.Minimum != nil {
		say("at least %v", number(*s.Minimum))
	}
	if s.Maximum != nil {
		say("at most %v", number(*s.Maximum))
	}
	if s.MinLength != nil {
		say("at least %d characters", *s.MinLength)
	}
	if s.MaxLength != nil {
		say("at most %d characters", *s.MaxLength)
	}
	if s.MinItems != nil {
		say("at least %d items", *s.MinItems)
	}
	if s.MaxItems != nil {
		say("at most %d items", *s.MaxItems)
	}
	if s.Default != nil {
		say("default `%v`", s.Default)
	}
	if len(s.Examples) > 0 {
		b, _ := json.Marshal(s.Examples[0]) // came from JSON: cannot fail
		say("such as `%s`", strings.Trim(string(b), `"`))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// number formats a limit without an exponent.
func number(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", f), ".00") }
