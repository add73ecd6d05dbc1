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

// extra holds the parts of a vendor's message that a [ragctx.Message] has no field for. It is
// stored in the metadata as JSON in a string, which no storage alters.
type extra struct {
	// Fields are the unknown fields of the message.
	Fields map[string]any `json:"fields,omitempty"`
	// List records that a single text was a list of one part. Bare records that Gemini's system
	// prompt was a plain text.
	List bool `json:"list,omitempty"`
	Bare bool `json:"bare,omitempty"`
	// Thoughts are the signed parts of the message's reasoning. Digest detects whether the
	// reasoning has changed since it was signed.
	Thoughts []thought `json:"thoughts,omitempty"`
	Digest   string    `json:"digest,omitempty"`
}

// thought is a part of the reasoning: its length in bytes and its index among all parts.
type thought struct {
	At     int            `json:"at"`
	Length int            `json:"length"`
	Fields map[string]any `json:"fields,omitempty"`
}

// metadataKey returns the metadata key of a vendor's extra.
func metadataKey(v Vendor) string { return "wire_" + string(v) }

// VendorFields returns, as JSON, the parts of vendors' messages that a [ragctx.Message] has no
// field for.
func VendorFields(m ragctx.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, v := range []Vendor{OpenAI, Anthropic, Gemini} {
		if text, ok := m.Metadata[metadataKey(v)].(string); ok {
			out = append(out, json.RawMessage(text))
		}
	}
	return out
}

// RewriteVendorFields returns a copy of a message with rewrite applied to each of its
// [VendorFields].
func RewriteVendorFields(m ragctx.Message, rewrite func(json.RawMessage) json.RawMessage) ragctx.Message {
	for _, v := range []Vendor{OpenAI, Anthropic, Gemini} {
		if text, ok := m.Metadata[metadataKey(v)].(string); ok {
			m.Metadata = maps.Clone(m.Metadata)
			m.Metadata[metadataKey(v)] = string(rewrite(json.RawMessage(text)))
		}
	}
	return m
}

func extraOf(m ragctx.Message, v Vendor) extra {
	var x extra
	if text, ok := m.Metadata[metadataKey(v)].(string); ok && unmarshal([]byte(text), &x) != nil {
		return extra{}
	}
	return x
}

// put stores an extra in the metadata of a message, unless it is empty.
func (x extra) put(m *ragctx.Message, v Vendor) {
	if len(x.Fields)+len(x.Thoughts) == 0 && !x.List && !x.Bare {
		return
	}
	b, err := json.Marshal(x)
	if err != nil {
		return // cannot happen: x was read from JSON
	}
	m.Metadata = maps.Clone(m.Metadata)
	if m.Metadata == nil {
		m.Metadata = make(ragctx.Metadata, 1)
	}
	m.Metadata[metadataKey(v)] = string(b)
}

// object is a JSON object under construction.
type object = map[string]any

// shape lists the understood fields of an object and of its nested objects. A field with a nil
// shape is understood completely.
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

// fill adds the fields that to lacks, including fields of nested objects.
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

// keepFields stores the fields of a block that are not understood.
func keepFields(b *ragctx.Block, v Vendor, fields object) {
	if len(fields) > 0 {
		b.Form, b.Part = string(v), marshal(fields)
	}
}

// vendorFields returns the fields stored in a block for a vendor.
func vendorFields(b ragctx.Block, v Vendor) object {
	var o object
	if b.Form != string(v) || len(b.Part) == 0 || unmarshal(b.Part, &o) != nil {
		return nil
	}
	return o
}

// vendorPart returns the part stored in a vendor block. It rejects parts that the package
// understands: stored data must not pose as a call, a result or a text.
func vendorPart(b ragctx.Block, v Vendor, understood func(json.RawMessage) bool) (raw any, ok bool) {
	if b.Type != ragctx.BlockVendor || b.Form != string(v) || understood(b.Part) {
		return nil, false
	}
	return b.Part, true
}

// insertThoughts inserts thoughts at their indexes among all parts.
func (x extra) insertThoughts(parts []any, thoughts []object) []any {
	for i, t := range thoughts {
		parts = slices.Insert(parts, min(max(x.Thoughts[i].At, 0), len(parts)), any(t))
	}
	return parts
}

// addThought appends a signed part to the reasoning.
func (x *extra) addThought(m *ragctx.Message, at int, text string, fields object) {
	m.Reasoning += text
	x.Thoughts = append(x.Thoughts, thought{at, len(text), fields})
	x.Digest = digest(m.Reasoning)
}

// thoughts splits a message's reasoning into its signed parts. It returns false if the reasoning
// has changed since it was signed.
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

// unmarshal decodes JSON and keeps numbers as written.
func unmarshal(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}

// marshal encodes values made of strings, numbers and decoded JSON.
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
