package ledger

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxItem is the length limit of a list item in characters.
const maxItem = 200

// values decodes the fields of a JSON object, with numbers as written. It returns nil for any other
// JSON.
func values(raw json.RawMessage) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out map[string]any
	if dec.Decode(&out) != nil {
		return nil
	}
	return out
}

func stamp(m Message) any { return json.Number(strconv.FormatInt(m.Timestamp, 10)) }

// text returns s cut to limit characters, nil if s is empty.
func text(s string, limit int) any {
	if s == "" {
		return nil
	}
	return truncate(s, limit)
}

// truncate shortens a text to limit characters and marks the cut with "...".
func truncate(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit-3 {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// singleLine returns a string or a number as one line of at most limit characters, nil for other
// values. An empty string stays empty.
func singleLine(v any, limit int) any {
	switch v := v.(type) {
	case string:
		if s := truncate(strings.Join(strings.Fields(v), " "), limit); s != "" || v == "" {
			return s
		}
	case json.Number:
		return truncate(v.String(), limit)
	}
	return nil
}

// firstLine returns the first non-blank line of a text without Markdown heading marks, or nil.
func firstLine(s string) any {
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "#")); l != "" {
			return l
		}
	}
	return nil
}

// scalar returns the form of a string, number or bool in a state, nil for other values.
func scalar(v any) any {
	switch v := v.(type) {
	case bool:
		return v
	case json.Number:
		return number(v)
	case string:
		return singleLine(v, maxItem)
	}
	return nil
}

// boolean reads a bool or the strings "true" and "false".
func boolean(v any) any {
	switch v {
	case true, "true":
		return true
	case false, "false":
		return false
	}
	return nil
}

// number returns a finite number of at most maxItem digits, nil for other values.
func number(v any) any {
	n, ok := v.(json.Number)
	if !ok || len(n) > maxItem {
		return nil
	}
	if f, err := n.Float64(); err != nil || math.IsInf(f, 0) {
		return nil
	}
	return n
}

// textOf returns a function that reads one line from a string, or from the first non-empty of the
// named fields of an object.
func textOf(names ...string) func(any) any {
	return func(v any) any {
		o, ok := v.(map[string]any)
		if !ok {
			return singleLine(v, maxItem)
		}
		for _, name := range names {
			if s, _ := singleLine(o[name], maxItem).(string); s != "" {
				return s
			}
		}
		return nil
	}
}

// list converts the items of a list and returns the last n non-empty results, nil if all are empty.
func list(v any, n int, item func(any) any) any {
	all, _ := v.([]any)
	var out []any
	for _, v := range all {
		if got := item(v); got != nil && got != "" {
			out = append(out, got)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out[max(0, len(out)-n):]
}

func joinStrings(list []any) string {
	var parts []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// prune removes null and empty values from a map recursively. It returns nil if the map ends up
// empty. False, 0 and "" stay.
func prune(m map[string]any) any {
	for key, v := range m {
		switch in := v.(type) {
		case nil:
			delete(m, key)
		case []any:
			if len(in) == 0 {
				delete(m, key)
			}
		case map[string]any:
			if prune(in) == nil {
				delete(m, key)
			}
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// pruned applies [prune] to a section.
func pruned(s Section) Section {
	prune(s)
	return s
}
