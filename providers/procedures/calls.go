package procedures

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// call is a tool call of a turn.
type call struct {
	tool   string
	args   []arg
	failed bool
	result string
	cut    bool // the result was truncated
}

// arg is one value of a call's input. Nested values have the joined keys.
type arg struct{ key, value string }

// Bounds of the parts of a call that are read.
const (
	maxArgs        = 12
	maxArgBytes    = 2 << 10
	maxResultBytes = 256 << 10
	maxToolRunes   = 64
)

// callsOf returns the tool calls of a turn in order.
func callsOf(t ragctx.Turn, clean func(string) string) []call {
	var calls []call
	byID := make(map[string]int)
	for _, m := range t.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case ragctx.BlockToolUse:
				if b.ID != "" {
					byID[b.ID] = len(calls)
				}
				calls = append(calls, call{tool: toolName(b.Name), args: argsOf(b.Input, clean)})
			case ragctx.BlockToolResult:
				if i, ok := byID[b.ToolUseID]; ok {
					text := b.Content.String()
					calls[i].result, calls[i].cut = text[:min(len(text), maxResultBytes)], len(text) > maxResultBytes
					calls[i].failed = b.IsError || failure.MatchString(text)
				}
			default:
			}
		}
	}
	return calls
}

// countCalls returns how many tool calls a turn has.
func countCalls(t ragctx.Turn) (n int) {
	for _, m := range t.Messages {
		n += len(m.ToolUses())
	}
	return n
}

// failure matches the beginning of a failed call's result.
var failure = regexp.MustCompile(`(?i)^\s*(error\b|fatal\b|traceback \(|panic:|command failed|exit(ed with)?( code|` +
	` status)?:? ?[1-9]|\{"(error|is_error)":\s*("|true|\{))`)

// toolName returns a tool's name without characters that names may not contain.
func toolName(s string) string {
	n := 0
	s = strings.Map(func(r rune) rune {
		if n++; n > maxToolRunes {
			return -1
		}
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("_-.:/", r):
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "tool"
	}
	return s
}

// argsOf returns the values of an input, in the order of their keys.
func argsOf(input json.RawMessage, clean func(string) string) []arg {
	v := decoded(input)
	if s, ok := v.(string); ok { // some agents send JSON inside a string
		if inner := decoded([]byte(s)); inner != nil {
			if _, object := inner.(map[string]any); object {
				v = inner
			}
		}
	}
	var out []arg
	flatten(v, "", &out)
	for i, a := range out {
		out[i].key = keyName(a.key)
		out[i].value = cleanValue(a, clean)
	}
	return out
}

func decoded(b []byte) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

func flatten(v any, key string, out *[]arg) {
	if len(*out) >= maxArgs {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			inner := k
			if key != "" {
				inner = key + "." + k
			}
			flatten(v[k], inner, out)
		}
	case []any:
		for _, e := range v {
			flatten(e, key, out)
		}
	case string:
		*out = append(*out, arg{key, v})
	case json.Number:
		*out = append(*out, arg{key, v.String()})
	case bool:
		*out = append(*out, arg{key, map[bool]string{true: "true", false: "false"}[v]})
	}
}

// keyName returns a key in the form of a placeholder name.
func keyName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), 40)]
}

// secretKey matches names of arguments with secret values.
var secretKey = regexp.MustCompile(`(?i)(passw|passphrase|secret|token|api[_-]?key|auth|credential|private[_-]?key|cookie|\bpin\b)`)

// cleanValue returns a value without secrets, taking its key into account. A long value becomes a
// placeholder: it is data, not procedure.
func cleanValue(a arg, clean func(string) string) string {
	if secretKey.MatchString(a.key) || len(a.value) > maxArgBytes {
		return placeholder(a.key)
	}
	value, ok := strings.CutPrefix(clean(a.key+"="+a.value), a.key+"=")
	if !ok {
		return placeholder(a.key)
	}
	return value
}

// placeholder returns the placeholder of a value.
func placeholder(key string) string {
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		key = key[i+1:]
	}
	if key == "" {
		key = "value"
	}
	return "{" + strings.ToLower(key) + "}"
}
