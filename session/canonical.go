package session

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// readCanonical reads a message exactly as [EncodeMessage] writes it, which is the usual case when
// reading from storage. It returns false for any other form, which readAnyForm handles. A text that
// makes up most of s shares its memory; shorter texts are copied, so that they do not keep all of s
// alive.
func readCanonical(s string) (m ragctx.Message, ok bool) {
	r := reader{rest: s, size: len(s)}
	r.expect(`{`)
	if r.skip(`"id":`) {
		m.ID = r.text()
		r.expect(`,`)
	}
	if r.skip(`"createdAt":`) {
		at, err := readTime(r.text())
		m.CreatedAt, r.failed = at, r.failed || err != nil
		r.expect(`,`)
	}
	if r.skip(`"parentId":`) {
		m.ParentID = r.text()
		r.expect(`,`)
	}
	r.expect(`"role":`)
	m.Role = r.role()
	if r.skip(`,"name":`) {
		m.Name = r.text()
	}
	r.expect(`,"content":`)
	m.Content = r.content()
	if r.skip(`,"reasoning_content":`) {
		m.Reasoning = r.text()
	}
	if r.skip(`,"_metadata":`) {
		m.Metadata = r.metadata()
	}
	var calls ragctx.Content
	if r.skip(`,"tool_calls":[`) {
		calls = r.calls()
	}
	if r.skip(`,"tool_result":{`) {
		m.Content = withResult(m.Content, calls, r.result())
	} else {
		m.Content = append(m.Content, calls...)
	}
	r.expect(`}`)
	return m, !r.failed && r.rest == ""
}

// reader reads JSON of a known form without white space. After a mismatch failed is set and its
// results are meaningless.
type reader struct {
	rest   string
	size   int // length of the whole input
	failed bool
}

// skip consumes a token if it comes next.
func (r *reader) skip(token string) (ok bool) {
	r.rest, ok = strings.CutPrefix(r.rest, token)
	return ok
}

func (r *reader) expect(token string) { r.failed = !r.skip(token) || r.failed }

// text reads a string.
func (r *reader) text() string {
	end, plain := stringEnd(r.rest)
	if end == 0 {
		r.failed = true
		return ""
	}
	quoted := r.rest[:end]
	if r.rest = r.rest[end:]; plain {
		if 4*end < 3*r.size {
			return strings.Clone(quoted[1 : end-1])
		}
		return quoted[1 : end-1]
	}
	var out string
	r.failed = json.Unmarshal([]byte(quoted), &out) != nil || r.failed
	return out
}

// stringEnd returns the end of the JSON string that s begins with, or 0 if s begins with no string.
// plain reports whether the string contains no escapes.
func stringEnd(s string) (end int, plain bool) {
	if !strings.HasPrefix(s, `"`) {
		return 0, false
	}
	ascii, escaped := true, false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, !escaped && (ascii || utf8.ValidString(s[1:i]))
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return 0, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return 0, false
}

// value reads an object or a list.
func (r *reader) value() []byte {
	depth := 0
	for i := 0; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '"':
			end, _ := stringEnd(r.rest[i:])
			if end == 0 {
				r.failed = true
				return nil
			}
			i += end - 1
		case ' ', '\t', '\n', '\r':
			r.failed = true
			return nil
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			out := []byte(r.rest[:i+1])
			r.rest, r.failed = r.rest[i+1:], r.failed || !json.Valid(out)
			return out
		}
	}
	r.failed = true
	return nil
}

func (r *reader) role() ragctx.Role {
	s := r.text()
	for _, role := range [...]ragctx.Role{ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleTool, ragctx.RoleSystem, ragctx.RoleDeveloper} {
		if s == string(role) {
			return role
		}
	}
	r.failed = true
	return ""
}

// content reads a text, or a list of parts.
func (r *reader) content() ragctx.Content {
	if strings.HasPrefix(r.rest, `"`) {
		return textContent(r.text())
	}
	out, err := readContent(r.value())
	r.failed = r.failed || err != nil
	return out
}

// metadata reads an object. It fails if the object contains calls or a result, as in older forms.
func (r *reader) metadata() map[string]any {
	var out object
	r.failed = json.Unmarshal(r.value(), &out) != nil || r.failed
	_, calls := out["tool_calls"]
	_, result := out["tool_result"]
	r.failed = r.failed || calls || result
	return out
}

// calls reads a list of calls after its opening bracket.
func (r *reader) calls() (out ragctx.Content) {
	for !r.failed {
		r.expect(`{"id":`)
		one := ragctx.Block{Type: ragctx.BlockToolUse, ID: r.text()}
		r.expect(`,"name":`)
		one.Name = r.text()
		r.expect(`,"arguments":`)
		one.Input = r.input()
		r.expect(`}`)
		if out = append(out, one); !r.skip(`,`) {
			break
		}
	}
	r.expect(`]`)
	return out
}

// input reads an object, or an object with white space, which is encoded as a string.
func (r *reader) input() json.RawMessage {
	if strings.HasPrefix(r.rest, `{`) {
		return r.value()
	}
	end, _ := stringEnd(r.rest)
	out, ok := objectInString(json.RawMessage(r.rest[:end]))
	r.rest, r.failed = r.rest[end:], r.failed || !ok
	return out
}

// result reads a result after its opening brace.
func (r *reader) result() ragctx.Block {
	r.expect(`"content":`)
	out := ragctx.Block{Type: ragctx.BlockToolResult, Content: textContent(r.text())}
	r.expect(`,"call_id":`)
	out.ToolUseID = r.text()
	r.expect(`,"tool_name":`)
	out.Name = r.text()
	r.expect(`,"is_error":`)
	if out.IsError = r.skip(`true`); !out.IsError {
		r.expect(`false`)
	}
	r.expect(`}`)
	return out
}

// textContent returns a content with one text, or an empty content for "".
func textContent(s string) ragctx.Content {
	if s == "" {
		return nil
	}
	return ragctx.Text(s)
}

// withResult appends calls and a result to a content. A content that consists only of the result's
// text is dropped.
func withResult(c, calls ragctx.Content, result ragctx.Block) ragctx.Content {
	if c.String() == result.Content.String() && isPlain(c) {
		c = nil
	}
	return append(append(c, calls...), result)
}
