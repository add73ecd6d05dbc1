package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
)

// reader reads one part of a content. It returns a nil shape for an unknown part type.
type reader func(o object, raw json.RawMessage) (ragctx.Block, shape, error)

// textShape is the shape of a text part, which OpenAI and Anthropic share.
var textShape = shape{"type": nil, "text": nil}

// readContent reads a content, a text or a list of parts, into a message.
func (x *extra) readContent(raw json.RawMessage, m *ragctx.Message, v Vendor, read reader) error {
	raw = bytes.TrimSpace(raw)
	if isAbsent(raw) || string(raw) == `""` {
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
		return ragctx.Invalid("content", "is neither a text nor a list of parts; send either")
	}
	if err := x.readParts(parts, m, v, read); err != nil {
		return err
	}
	x.List = len(m.Content) == 0 || len(m.Content) == 1 && m.Content[0].Type == ragctx.BlockText
	return nil
}

// isAbsent reports whether a value is missing or null.
func isAbsent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readParts reads a list of parts into a message. Parts of unknown types become vendor blocks.
func (x *extra) readParts(parts []json.RawMessage, m *ragctx.Message, v Vendor, read reader) error {
	for at, raw := range parts {
		var o object
		if err := unmarshal(raw, &o); err != nil || o == nil {
			return ragctx.Invalid(fmt.Sprintf("content[%d]", at),
				"is not an object; send an object with a type and the fields of that type")
		}
		b, known, err := read(o, raw)
		switch {
		case err != nil:
			return fmt.Errorf("content[%d]: %w", at, err)
		case known == nil:
			m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockVendor, Form: string(v), Part: raw})
		case b.Type == "":
			x.addThought(m, at, b.Text, known.rest(o))
		default:
			keepFields(&b, v, known.rest(o))
			m.Content = append(m.Content, b)
		}
	}
	return nil
}

// understands returns a function that reports whether a reader knows a part.
func understands(read reader) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var o object
		if unmarshal(raw, &o) != nil {
			return true // must not be written
		}
		_, known, err := read(o, raw)
		return known != nil || err != nil
	}
}

// textOf returns a field of an object as a string, or "".
func textOf(o object, field string) string {
	s, _ := o[field].(string)
	return s
}

// objectOf returns a field of an object as an object, or nil.
func objectOf(o object, field string) object {
	inner, _ := o[field].(object)
	return inner
}

// split separates the results of a content from the other blocks.
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

// foldToolText moves other blocks of a tool message into its last result, because a separate
// message would read as the user's. Without a result the blocks are dropped.
func foldToolText(m *indexed, l *losses) {
	results, rest := split(m.Content)
	switch {
	case m.Role != ragctx.RoleTool || len(rest) == 0:
		return
	case len(results) == 0:
		l.add(m.index, "text of a tool message without a result")
	default:
		last := &results[len(results)-1]
		last.Content = slices.Concat(last.Content, rest)
		l.add(m.index, "text beside a tool result, which becomes part of the result")
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
	l.add(index, "the input of a call that is not an object, which becomes the field input of an object")
	return marshal(object{"input": b.Input})
}
