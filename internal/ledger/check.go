package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"
	"unicode"

	"github.com/ragctx/ragctx"
)

// Limits of an append.
const (
	MaxNameBytes    = 256      // cluster, topic, sender or receiver
	MaxMessageBytes = 1 << 20  // text, data and metadata of one message together
	MaxBatch        = 1000     // messages of one append
	MaxBatchBytes   = 32 << 20 // text, data and metadata of all messages together
	MaxDepth        = 512      // nesting of data and metadata
)

// idPrefix begins every message id, before 32 hexadecimal digits.
const idPrefix = "msg_"

// Check validates messages of one cluster before an append. It returns copies with the receiver
// filled in and compact JSON.
func Check(messages []Message, mode Mode) ([]Message, error) {
	if len(messages) > MaxBatch {
		return nil, ragctx.TooLarge("messages", "are %d; the limit of one batch is %d: send several", len(messages), MaxBatch)
	}
	out := make([]Message, len(messages))
	ids := make(map[string]int)
	size := 0
	for i, m := range messages {
		field := func(name string) string { return name }
		if len(messages) > 1 {
			field = func(name string) string { return fmt.Sprintf("messages[%d].%s", i, name) }
		}
		if m.Receiver == "" {
			m.Receiver = Broadcast
		}
		if err := m.check(field); err != nil {
			return nil, err
		}
		if m.Namespace != messages[0].Namespace || m.Cluster != messages[0].Cluster {
			return nil, ragctx.Invalid(field("cluster"),
				"is %q, but the first message has %q; a batch belongs to one cluster: send one batch per cluster",
				ragctx.Clip(m.Cluster), ragctx.Clip(messages[0].Cluster))
		}
		if m.Topic == TopicOmitted && mode != Importing {
			return nil, ragctx.Invalid(field("topic"), "is %q, which the ledger writes itself; use another one", TopicOmitted)
		}
		if size += m.Size(); size > MaxBatchBytes {
			return nil, ragctx.TooLarge("messages", "have more than %d bytes of text, data and metadata; send "+
				"several batches", MaxBatchBytes)
		}
		if first, twice := ids[m.ID]; twice && m.ID != "" {
			return nil, ragctx.Invalid(field("id"), "is also the id of messages[%d]; leave ids out, or give each message its own", first)
		}
		ids[m.ID] = i
		m.Data, m.Metadata = compactJSON(m.Data), compactJSON(m.Metadata)
		out[i] = m
	}
	return out, nil
}

func (m Message) check(field func(string) string) error {
	for _, n := range []struct{ name, value string }{
		{"namespace", m.Namespace}, {"cluster", m.Cluster}, {"topic", m.Topic}, {"sender", m.Sender}, {"receiver", m.Receiver},
	} {
		if err := checkName(field(n.name), n.value); err != nil {
			return err
		}
	}
	if m.ID != "" && !ValidID(m.ID) {
		return badID(field("id"), m.ID)
	}
	if m.Timestamp < 0 {
		return ragctx.Invalid(field("timestamp"), "is %d; give Unix time in milliseconds, or leave it out for now", m.Timestamp)
	}
	if n := m.Size(); n > MaxMessageBytes {
		return ragctx.TooLarge(field("text"), "is, with data and metadata, %d bytes long; the limit of a message is %d: "+
			"store large content elsewhere and refer to it", n, MaxMessageBytes)
	}
	if err := ragctx.ValidText(field("text"), m.Text); err != nil {
		return err
	}
	if err := checkJSON(field("data"), m.Data); err != nil {
		return err
	}
	return checkJSON(field("metadata"), m.Metadata)
}

// checkName checks a required name.
func checkName(field, s string) error {
	limit := MaxNameBytes
	if strings.HasSuffix(field, "namespace") {
		limit = ragctx.MaxNameBytes
	}
	switch {
	case s == "":
		return ragctx.Invalid(field, "is missing; every message names its cluster, topic and sender")
	case len(s) > limit:
		return ragctx.TooLarge(field, "is %d bytes long; the limit is %d", len(s), limit)
	case strings.ContainsFunc(s, unicode.IsControl):
		return ragctx.Invalid(field, "has a control character; use a plain name")
	}
	return ragctx.ValidText(field, s)
}

func checkJSON(field string, b json.RawMessage) error {
	if len(b) == 0 {
		return nil
	}
	if !json.Valid(b) {
		return ragctx.Invalid(field, "is not valid JSON")
	}
	if depth(b) > MaxDepth {
		return ragctx.Invalid(field, "is nested more than %d deep; flatten it", MaxDepth)
	}
	return ragctx.ValidText(field, string(b))
}

// structure yields the characters of valid JSON outside strings, each with its nesting level. Brackets
// count as inside.
func structure(b []byte) iter.Seq2[byte, int] {
	return func(yield func(byte, int) bool) {
		level, inString := 0, false
		for i := 0; i < len(b); i++ {
			c := b[i]
			switch {
			case inString && c == '\\':
				i++
				continue
			case c == '"':
				inString = !inString
				continue
			case inString:
				continue
			case c == '{' || c == '[':
				level++
			}
			if !yield(c, level) {
				return
			}
			if c == '}' || c == ']' {
				level--
			}
		}
	}
}

// depth returns the nesting depth of valid JSON.
func depth(b []byte) (deepest int) {
	for _, level := range structure(b) {
		deepest = max(deepest, level)
	}
	return deepest
}

// compactJSON returns a compact copy of valid JSON, nil for null.
func compactJSON(b json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil || out.String() == "null" {
		return nil
	}
	return out.Bytes()
}

func badID(field, id string) error {
	return ragctx.Invalid(field,
		"%q is not a message id; leave it out, or give \"msg_\" and 32 hexadecimal digits in lower case", ragctx.Clip(id))
}

// ValidID reports whether s is a message id.
func ValidID(s string) bool {
	digits, ok := strings.CutPrefix(s, idPrefix)
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Check reports a missing or invalid namespace or cluster.
func (f Filter) Check() error {
	if err := checkName("namespace", f.Namespace); err != nil {
		return err
	}
	return checkName("cluster", f.Cluster)
}

// Check validates a query.
func (q Query) Check() error {
	if err := q.Filter.Check(); err != nil {
		return err
	}
	if q.ID != "" && !ValidID(q.ID) {
		return badID("id", q.ID)
	}
	for _, n := range []struct {
		field string
		value int64
	}{
		{"since", q.Since},
		{"until", q.Until},
		{"after", q.After},
		{"limit", int64(q.Limit)},
		{"offset", int64(q.Offset)},
		{"max_bytes", int64(q.MaxBytes)},
	} {
		if n.value < 0 {
			return ragctx.Invalid(n.field, "is %d; give 0 or more", n.value)
		}
	}
	for _, s := range []struct {
		field string
		value Sequence
	}{{"after_seq", q.AfterSeq}, {"through_seq", q.ThroughSeq}} {
		if s.value > math.MaxInt64 {
			return ragctx.Invalid(s.field, "is %d; the greatest sequence is %d", s.value, math.MaxInt64)
		}
	}
	return nil
}
