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

// extra is what a vendor's message has that a [ragctx.Message] has no place for. It is kept
// in the metadata as JSON in a string, which no storage changes.
type extra struct {
	// Fields are those of the message.
	Fields map[string]any `json:"fields,omitempty"`
	// Parts are parts of a kind that is not known, by their place in the list.
	Parts map[int]json.RawMessage `json:"parts,omitempty"`
	// Of are fields of parts that are known, and of calls where they are a list of their
	// own, by the number of the part among those known. Known is how many there were: once
	// a part is gone, nothing says whose fields these are.
	Of    map[int]map[string]any `json:"of,omitempty"`
	Calls map[int]map[string]any `json:"calls,omitempty"`
	Known int                    `json:"known,omitempty"`
	// List says that a single text was a list of one part, and Lists which results were.
	List  bool  `json:"list,omitempty"`
	Lists []int `json:"lists,omitempty"`
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

func key(v Vendor) string { return "wire_" + string(v) }

func extraOf(m ragctx.Message, v Vendor) extra {
	var x extra
	if text, ok := m.Metadata[key(v)].(string); ok && unmarshal([]byte(text), &x) != nil {
		return extra{}
	}
	return x
}

// put keeps an extra in a message, if there is something to keep.
func (x extra) put(m *ragctx.Message, v Vendor) {
	if len(x.Fields)+len(x.Parts)+len(x.Of)+len(x.Calls)+len(x.Lists)+len(x.Thoughts) == 0 && !x.List {
		return
	}
	b, err := json.Marshal(x)
	if err != nil {
		return // it was JSON before
	}
	m.Metadata = maps.Clone(m.Metadata)
	if m.Metadata == nil {
		m.Metadata = make(map[string]any, 1)
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

// note keeps the fields of the nth part that are not understood.
func note(of *map[int]map[string]any, n int, fields object) {
	if len(fields) == 0 {
		return
	}
	if *of == nil {
		*of = make(map[int]map[string]any)
	}
	(*of)[n] = fields
}

// keep notes a part of a kind that is not known, at its place.
func (x *extra) keep(at int, raw json.RawMessage) {
	if x.Parts == nil {
		x.Parts = make(map[int]json.RawMessage)
	}
	x.Parts[at] = raw
}

// restore returns parts with what was kept of them. understood tells what this package
// makes itself, which nothing that was kept may pose as.
func (x extra) restore(parts, thoughts []object, understood func(json.RawMessage) bool) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		if len(parts) == x.Known {
			fill(p, x.Of[i])
		}
		out[i] = p
	}
	more := make(map[int]any, len(x.Parts)+len(thoughts))
	for at, raw := range x.Parts {
		if !understood(raw) {
			more[at] = raw
		}
	}
	for i, t := range thoughts {
		more[x.Thoughts[i].At] = t
	}
	for _, at := range slices.Sorted(maps.Keys(more)) {
		out = slices.Insert(out, min(max(at, 0), len(out)), more[at])
	}
	return out
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
