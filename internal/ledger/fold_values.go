package ledger

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxItem is the length of an item of a list, in characters.
const maxItem = 200

// values reads the fields of a JSON object, numbers as they are written; anything else
// has none.
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

// text returns s cut to limit characters, nil for an empty one.
func text(s string, limit int) any {
	if s == "" {
		return nil
	}
	return cut(s, limit)
}

// cut shortens a text that is longer than limit characters and marks it as cut.
func cut(s string, limit int) string {
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

// oneText returns a value that is a string or a number as one line of at most limit
// characters, nil for any other. An empty string stays one.
func oneText(v any, limit int) any {
	switch v := v.(type) {
	case string:
		if s := cut(strings.Join(strings.Fields(v), " "), limit); s != "" || v == "" {
			return s
		}
	case json.Number:
		return cut(v.String(), limit)
	}
	return nil
}

// firstLine returns the first line of a text that says something, without the marks of
// a Markdown heading, or nil.
func firstLine(s string) any {
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "#")); l != "" {
			return l
		}
	}
	return nil
}

// scalar returns a string, number or bool in its place in a state, nil for any other.
func scalar(v any) any {
	switch v := v.(type) {
	case bool:
		return v
	case json.Number:
		return number(v)
	case string:
		return oneText(v, maxItem)
	}
	return nil
}

// boolean reads a bool, also where it is written as a string.
func boolean(v any) any {
	switch v {
	case true, "true":
		return true
	case false, "false":
		return false
	}
	return nil
}

// number reads a finite number that is not written at great length.
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

// wording returns a function that makes a line of a string, or of the first of these
// fields of an object that is one.
func wording(names ...string) func(any) any {
	return func(v any) any {
		o, ok := v.(map[string]any)
		if !ok {
			return oneText(v, maxItem)
		}
		for _, name := range names {
			if s, _ := oneText(o[name], maxItem).(string); s != "" {
				return s
			}
		}
		return nil
	}
}

// list returns what item makes of the last n items of a list that it makes something
// of, nil for none. An empty string is nothing here.
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

func joined(list []any) string {
	var parts []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// prune takes out of a map what is null or empty, all the way down, and returns nil
// where nothing is left. False, 0 and "" stay.
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

// pruned is [prune] of a section.
func pruned(s Section) Section {
	prune(s)
	return s
}
