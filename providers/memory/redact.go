package memory

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// Redacted counts the secrets removed from a text by kind; package redact defines the kinds.
type Redacted map[string]int

func (r Redacted) text(s string) string {
	out, found := redact.Redact(s)
	for _, f := range found {
		r[f.Kind]++
	}
	return out
}

// RedactTurn returns a copy of a turn without secrets: in messages, in inputs and results of tools,
// and in reasoning. Names, ids, tags and metadata belong to the caller and stay. It does not change
// t.
func RedactTurn(t ragctx.Turn) (ragctx.Turn, Redacted) {
	r := make(Redacted)
	t.Prompt, t.Response = r.text(t.Prompt), r.text(t.Response)
	t.Messages = slices.Clone(t.Messages)
	for i := range t.Messages {
		m := &t.Messages[i]
		m.Reasoning = r.text(m.Reasoning)
		m.Content = r.content(m.Content)
	}
	return t, r
}

func (r Redacted) content(c ragctx.Content) ragctx.Content {
	c = slices.Clone(c)
	for i := range c {
		b := &c[i]
		b.Text = r.text(b.Text)
		b.Content = r.content(b.Content)
		b.Input = r.json(b.Input)
	}
	return c
}

// json redacts the strings of a JSON text. Invalid JSON, and a text without secrets, stays
// unchanged.
func (r Redacted) json(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return text
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	found := make(Redacted)
	v = found.value("", v)
	if len(found) == 0 {
		return text
	}
	for k, n := range found {
		r[k] += n
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return out
}

// value redacts a JSON value. Its key counts, too: a value under "password" is a secret.
func (r Redacted) value(key string, v any) any {
	switch v := v.(type) {
	case string:
		return r.keyed(key, v)
	case []any:
		for i := range v {
			v[i] = r.value(key, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = r.value(k, v[k])
		}
	}
	return v
}

func (r Redacted) keyed(key, s string) string {
	if out := r.text(s); out != s || key == "" {
		return out
	}
	head := key + ": "
	out, found := redact.Redact(head + s)
	if len(found) == 0 || found[0].Start < len(head) {
		return s
	}
	for _, f := range found {
		r[f.Kind]++
	}
	return out[len(head):]
}

// RedactText returns a text without secrets.
func RedactText(s string) (string, Redacted) {
	r := make(Redacted)
	return r.text(s), r
}
