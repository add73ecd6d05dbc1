package memory

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/redact"
)

// Redacted counts the secrets removed from a text by kind; package redact defines the kinds.
type Redacted map[string]int

// RedactTurn returns a copy of a turn without secrets: in messages, in inputs and results of tools,
// and in reasoning. A secret found once is redacted everywhere in the turn. What a message
// is about tells whether the next one gives a secret; before is the text before the turn. Names, ids, tags and
// metadata belong to the caller and stay. It does not change t.
func RedactTurn(t ragctx.Turn, before string) (ragctx.Turn, Redacted) {
	r := redactor{count: make(Redacted), values: make(map[string]string), topic: redact.Head(before)}
	t = r.turn(t)
	if len(r.values) > 0 {
		r.repeats = redact.NewRepeats(r.values)
		t = r.turn(t)
	}
	return t, r.count
}

// MayAnswer reports whether a turn begins with a message that may give a secret that the turn before asked for.
func MayAnswer(t ragctx.Turn) bool {
	for _, m := range t.Transcript() {
		return m.Role == ragctx.RoleUser && redact.IsShort(m.Content.String())
	}
	return false
}

// redactor redacts a turn in two passes: it finds secrets, and then redacts what repeats them.
type redactor struct {
	count   Redacted
	values  map[string]string // the secrets found, and their kinds
	before  string            // the message before
	topic   string            // the words for the secret that the text before is about, or ""
	repeats *redact.Repeats   // what redacts the values again, or nil in the first pass
}

func (r *redactor) turn(t ragctx.Turn) ragctx.Turn {
	t.Prompt = r.message(t.Prompt)
	t.Response = r.message(t.Response)
	t.Messages = slices.Clone(t.Messages)
	for i := range t.Messages {
		m := &t.Messages[i]
		m.Reasoning = r.text(m.Reasoning)
		m.Content = r.content(m.Content, r.message)
	}
	return t
}

// message redacts the text of a message, which may give the secret that the ones before are about.
func (r *redactor) message(s string) string {
	if s == "" || r.repeats != nil {
		return r.text(s)
	}
	out := s
	if r.topic != "" {
		out = r.after(r.topic, s)
	}
	out = r.text(out) // a topic does not hide what the message gives by itself
	r.topic = redact.Head(r.before + "\n" + out)
	r.before = out
	return out
}

func (r *redactor) text(s string) string {
	if r.repeats != nil {
		out, found := r.repeats.Redact(s)
		r.note("", found)
		return out
	}
	out, found := redact.Redact(s)
	r.note(s, found)
	return out
}

// note counts findings, and keeps the values found in s.
func (r *redactor) note(s string, found []redact.Finding) {
	for _, f := range found {
		r.count[f.Kind]++
		if s != "" {
			r.values[s[f.Start:f.End]] = f.Kind
		}
	}
}

// after redacts s as it is after head, such as the name of a field.
func (r *redactor) after(head, s string) string {
	out, found := redact.Redact(head + s)
	if len(found) == 0 || found[0].Start < len(head) {
		return s
	}
	r.note(head+s, found)
	return out[len(head):]
}

// content redacts blocks, and their texts by text.
func (r *redactor) content(c ragctx.Content, text func(string) string) ragctx.Content {
	c = slices.Clone(c)
	for i := range c {
		b := &c[i]
		b.Text = text(b.Text)
		b.Content = r.content(b.Content, r.text)
		b.Input = r.json(b.Input)
	}
	return c
}

// json redacts the strings of a JSON text. Invalid JSON, and a text without secrets, stays
// unchanged.
func (r *redactor) json(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return text
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	changed := false
	v = r.value("", v, &changed)
	if !changed {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return out
}

// value redacts a JSON value. Its key counts, too: a value under "password" is a secret.
func (r *redactor) value(key string, v any, changed *bool) any {
	switch v := v.(type) {
	case string:
		out := r.keyed(key, v)
		*changed = *changed || out != v
		return out
	case json.Number:
		if out := r.keyed(key, v.String()); out != v.String() {
			*changed = true
			return out
		}
	case []any:
		for i := range v {
			v[i] = r.value(key, v[i], changed)
		}
	case map[string]any:
		for k := range v {
			v[k] = r.value(k, v[k], changed)
		}
	}
	return v
}

func (r *redactor) keyed(key, s string) string {
	out := r.text(s)
	if out == s && key != "" && r.repeats == nil {
		out = r.after(key+": ", s)
	}
	return out
}

// RedactMessage returns a message of a ledger without secrets in its text, data and metadata.
func RedactMessage(m ledger.Message) ledger.Message {
	r := redactor{count: make(Redacted), values: make(map[string]string)}
	m.Text, m.Data, m.Metadata = r.text(m.Text), r.json(m.Data), r.json(m.Metadata)
	return m
}

// RedactText returns a text without secrets.
func RedactText(s string) (string, Redacted) {
	r := redactor{count: make(Redacted), values: make(map[string]string)}
	return r.text(s), r.count
}
