package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
)

// reader reads one part of a content. It returns no shape for a part of a kind that is
// not known.
type reader func(o object, raw json.RawMessage) (ragctx.Block, shape, error)

// text is the shape of a text, which all vendors but Gemini write alike.
var textShape = shape{"type": nil, "text": nil}

// readContent reads a content that is a text or a list of parts into a message.
func (x *extra) readContent(raw json.RawMessage, m *ragctx.Message, v Vendor, read reader) error {
	raw = bytes.TrimSpace(raw)
	if absent(raw) || string(raw) == `""` {
		return nil
	}
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		m.Content = ragctx.Text(text)
		return err
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return ragctx.Invalid("content", "is neither a text nor a list of parts; send one of them")
	}
	if err := x.readParts(parts, m, v, read); err != nil {
		return err
	}
	x.List = len(m.Content) == 0 || len(m.Content) == 1 && m.Content[0].Type == ragctx.BlockText
	return nil
}

// absent reports whether a value is none.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readParts reads a list of parts into a message, and keeps those of unknown kinds as they are.
func (x *extra) readParts(parts []json.RawMessage, m *ragctx.Message, v Vendor, read reader) error {
	for at, raw := range parts {
		var o object
		if err := unmarshal(raw, &o); err != nil || o == nil {
			return ragctx.Invalid(fmt.Sprintf("content[%d]", at), "is no object; a part has a type and what that has")
		}
		b, known, err := read(o, raw)
		switch {
		case err != nil:
			return fmt.Errorf("content[%d]: %w", at, err)
		case known == nil:
			m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockVendor, Form: string(v), Part: raw})
		case b.Type == "":
			x.think(m, at, b.Text, known.rest(o))
		default:
			keep(&b, v, known.rest(o))
			m.Content = append(m.Content, b)
		}
	}
	return nil
}

// understands returns whether a reader knows a part.
func understands(read reader) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var o object
		if unmarshal(raw, &o) != nil {
			return true // nothing that may be written
		}
		_, known, err := read(o, raw)
		return known != nil || err != nil
	}
}

// textOf returns the field of an object that is a text.
func textOf(o object, field string) string {
	s, _ := o[field].(string)
	return s
}

// objectOf returns the field of an object that is one.
func objectOf(o object, field string) object {
	inner, _ := o[field].(object)
	return inner
}

// split returns the results of a content, and the rest.
func split(c ragctx.Content) (results []ragctx.Block, rest ragctx.Content) {
	for _, b := range c {
		if b.Type == ragctx.BlockToolResult {
			results = append(results, b)
		} else {
			rest = append(rest, b)
		}
	}
	return results, rest
}

// fold puts what a tool says beside its results into the last one of them: as a message of
// its own it would be a user's word. Without a result it is nobody's.
func fold(m *indexed, l *losses) {
	results, rest := split(m.Content)
	switch {
	case m.Role != ragctx.RoleTool || len(rest) == 0:
		return
	case len(results) == 0:
		l.add(m.index, "what a tool says without a result")
	default:
		last := &results[len(results)-1]
		last.Content = slices.Concat(last.Content, rest)
		l.add(m.index, "what a tool says beside its result, which becomes part of it")
	}
	m.Content = results
}

// inputObject returns the input of a call as an object.
func inputObject(b ragctx.Block, index int, l *losses) json.RawMessage {
	if len(b.Input) == 0 {
		return json.RawMessage("{}")
	}
	if isObject(b.Input) {
		return b.Input
	}
	l.add(index, "the input of a call that is no object, which becomes the field input of one")
	return marshal(object{"input": b.Input})
}
