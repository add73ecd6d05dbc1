package mcp

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// FuzzArguments reads whatever a model sends by the schemas of all tools: it is refused as
// invalid, or within the schema.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", `{"query":"x","limit":3,"max_tokens":null}`, `{"query":["x"]}`, `{"content":"x","tags":["a",1],"importance":1e300}`,
		`{"id":"a","text":"b","metadata":{"a":[[]]}}`, `{"query":"\ud800"}`, `{"id":"x","erase":1}`, `{"limit":-0.0}`,
	} {
		f.Add([]byte(seed))
	}
	var schemas []arguments
	for _, t := range New(nil, Options{}).tools() {
		schemas = append(schemas, arguments{schema: t.def.InputSchema.(*jsonschema.Schema)})
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, a := range schemas {
			var in map[string]any
			err := a.read(raw, &in)
			if err != nil && !errors.Is(err, ragctx.ErrInvalid) {
				t.Errorf("%q: %v", raw, err)
			}
			if n, ok := in["max_tokens"].(float64); err == nil && (!ok || n < minTokens || n > maxTokens) {
				t.Errorf("%q: max_tokens is %v", raw, in["max_tokens"])
			}
		}
	})
}

// FuzzCursor reads whatever is sent as a cursor.
func FuzzCursor(f *testing.F) {
	f.Add(cursor{After: 3, Of: "x"}.String())
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseCursor(text, "x", 100); err == nil && (c.After < 0 || c.After > 100 || c.Of != "x") {
			t.Errorf("%q is %+v", text, c)
		}
	})
}

// FuzzFitText cuts a text into pages: all within their limit, together the text.
func FuzzFitText(f *testing.F) {
	f.Add("one line\nanother \"line\"\n", 10)
	f.Add("縞馬\\ \x00 縞馬縞馬縞馬縞馬縞馬縞馬縞馬縞馬縞馬", 12)
	s := New(nil, Options{})
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if !utf8.ValidString(text) || limit < 1 || limit > 1000 || len(text) > 10_000 {
			t.Skip()
		}
		type page struct{ Text string }
		for rest := text; rest != ""; {
			out, n, err := fitText(s, limit, rest, func(n int) page { return page{rest[:n]} })
			if err != nil {
				return // not even one character
			}
			if b, _ := json.Marshal(out); !utf8.Valid(b) || out.Text != rest[:n] || !utf8.ValidString(out.Text) {
				t.Fatalf("%q: %q", rest, out.Text)
			}
			if cost, _ := s.cost(out); cost > limit {
				t.Fatalf("%d tokens, not %d", cost, limit)
			}
			if n == 0 {
				return // no page, as nothing fits beside the rest of the answer
			}
			rest = rest[n:]
		}
	})
}

// TestWritersNeedTheRole holds that what changes something is for those who may.
func TestWritersNeedTheRole(t *testing.T) {
	for _, tool := range New(nil, Options{}).tools() {
		if want := map[bool]access.Role{true: access.Read, false: access.Write}[tool.def.Annotations.ReadOnlyHint]; tool.role != want {
			t.Errorf("%s needs the role %s", tool.def.Name, tool.role)
		}
	}
}
