package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
)

// extra is what a vendor's message has beside its parts that a [ragctx.Message] has no place
// for. It is kept in the metadata as JSON in a string, which no storage changes.
type extra struct {
	// Fields are those of the message.
	Fields map[string]any `json:"fields,omitempty"`
	// List says that a single text was a list of one part, Bare that Gemini's system prompt was
	// a text.
	List bool `json:"list,omitempty"`
	Bare bool `json:"bare,omitempty"`
	// Thoughts are signed parts of the message's reasoning, of which Digest tells whether
	// it is still what was signed.
	Thoughts []thought `json:"thoughts,omitempty"`
	Digest   string    `json:"digest,omitempty"`
}

// thought is a part of the reasoning: so many bytes of it, at a place among all parts.
type thought struct {
	At     int            `json:"at"`
	Length int            `json:"length"`
	Fields map[string]any `json:"fields,omitempty"`
}

// key returns the key of metadata under which an extra is.
func key(v Vendor) string { return "wire_" + string(v) }

// Kept returns what vendors' messages had that a message has no place for, as the JSON in
// which it is kept.
func Kept(m ragctx.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, v := range []Vendor{OpenAI, Anthropic, Gemini} {
		if text, ok := m.Metadata[key(v)].(string); ok {
			out = append(out, json.RawMessage(text))
		}
	}
	return out
}

// Rewritten returns a message whose [Kept] fields are other ones.
func Rewritten(m ragctx.Message, rewrite func(json.RawMessage) json.RawMessage) ragctx.Message {
	for _, v := range []Vendor{OpenAI, Anthropic, Gemini} {
		if text, ok := m.Metadata[key(v)].(string); ok {
			m.Metadata = maps.Clone(m.Metadata)
			m.Metadata[key(v)] = string(rewrite(json.RawMessage(text)))
		}
	}
	return m
}

func extraOf(m ragctx.Message, v Vendor) extra {
	var x extra
	if text, ok := m.Metadata[key(v)].(string); ok && unmarshal([]byte(text), &x) != nil {
		return extra{}
	}
	return x
}

// put keeps an extra in a message, if there is something to keep.
func (x extra) put(m *ragctx.Message, v Vendor) {
	if len(x.Fields)+len(x.Thoughts) == 0 && !x.List && !x.Bare {
		return
	}
	b, err := json.Marshal(x)
	if err != nil {
		return // it was JSON before
	}
	m.Metadata = maps.Clone(m.Metadata)
	if m.Metadata == nil {
		m.Metadata = make(ragctx.Metadata, 1)
	}
	m.Metadata[key(v)] = string(b)
}

// object is a JSON object that is being made.
type object = map[string]any

// shape says which fields of an object are understood, those of objects within it
// included. A nil shape is understood whole.
type shape map[string]shape

// rest returns the fields of an object that are not understood.
func (s shape) rest(o object) object {
	var out object
	for k, v := range o {
		sub, known := s[k]
		inner, isObject := v.(object)
		switch {
		case known && (sub == nil || !isObject):
			continue
		case known:
			if inner = sub.rest(inner); len(inner) == 0 {
				continue
			}
			v = inner
		}
		if out == nil {
			out = make(object)
		}
		out[k] = v
	}
	return out
}

// fill adds the fields that an object lacks.
func fill(to, from object) {
	for k, v := range from {
		have, ok := to[k]
		if !ok {
			to[k] = v
			continue
		}
		a, isObject := have.(object)
		if b, ok := v.(object); ok && isObject {
			fill(a, b)
		}
	}
}

// keep notes the fields of a block that are not understood.
func keep(b *ragctx.Block, v Vendor, fields object) {
	if len(fields) > 0 {
		b.Form, b.Part = string(v), marshal(fields)
	}
}

// partOf returns the fields of a block that only a vendor's form has.
func partOf(b ragctx.Block, v Vendor) object {
	var o object
	if b.Form != string(v) || len(b.Part) == 0 || unmarshal(b.Part, &o) != nil {
		return nil
	}
	return o
}

// whole returns the part of a vendor's own kind that a block is. understood tells what this
// package makes itself, which nothing that was kept may pose as.
func whole(b ragctx.Block, v Vendor, understood func(json.RawMessage) bool) (raw any, ok bool) {
	if b.Type != ragctx.BlockVendor || b.Form != string(v) || understood(b.Part) {
		return nil, false
	}
	return b.Part, true
}

// inserted returns parts with thoughts at their places among all parts.
func (x extra) inserted(parts []any, thoughts []object) []any {
	for i, t := range thoughts {
		parts = slices.Insert(parts, min(max(x.Thoughts[i].At, 0), len(parts)), any(t))
	}
	return parts
}

// think adds a signed part of the reasoning.
func (x *extra) think(m *ragctx.Message, at int, text string, fields object) {
	m.Reasoning += text
	x.Thoughts = append(x.Thoughts, thought{at, len(text), fields})
	x.Digest = digest(m.Reasoning)
}

// thoughts returns the signed parts of a message's reasoning, and whether the reasoning is
// what was signed.
func (x extra) thoughts(m ragctx.Message) (texts []string, ok bool) {
	rest := m.Reasoning
	if x.Digest != digest(rest) {
		return nil, false
	}
	for _, t := range x.Thoughts {
		if t.Length < 0 || t.Length > len(rest) {
			return nil, false
		}
		texts, rest = append(texts, rest[:t.Length]), rest[t.Length:]
	}
	return texts, rest == ""
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// unmarshal reads JSON with numbers as they are written.
func unmarshal(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}

// marshal writes what is made of strings, numbers and JSON that was read.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// isObject reports whether JSON is an object.
func isObject(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}
