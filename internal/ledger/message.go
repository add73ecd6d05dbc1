package ledger

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
)

// Broadcast is the receiver of a message that names none: every listener.
const Broadcast = "broadcast"

// Sequence numbers the messages of a log: strictly increasing and never reused, even after an
// erasure. All clusters of a log share the numbers, so a cluster's numbers have gaps. In JSON it is
// a decimal string, since many JSON readers keep only 53 bits of a number. 0 precedes every
// message.
type Sequence uint64

// String returns the number in decimal.
func (s Sequence) String() string { return strconv.FormatUint(uint64(s), 10) }

// MarshalText implements [encoding.TextMarshaler].
func (s Sequence) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Sequence) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 10, 63)
	if err != nil {
		return ragctx.Invalid("sequence",
			"%q is not a sequence number; give a decimal number from 0 to 9223372036854775807, as messages have it", ragctx.Clip(string(b)))
	}
	*s = Sequence(n)
	return nil
}

// Message is one message of a ledger. It never changes once appended.
type Message struct {
	// ID is "msg_" and 32 hexadecimal digits; Sequence is the message's place in the log. The log
	// assigns both; see [Log].
	ID       string   `json:"id"`
	Sequence Sequence `json:"sequence"`
	// Timestamp is Unix time in milliseconds, strictly increasing within a cluster.
	Timestamp int64 `json:"timestamp"`

	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	Topic     string `json:"topic"`
	Sender    string `json:"sender"`
	Receiver  string `json:"receiver"`

	Text string `json:"text,omitempty"`
	// Data and Metadata are any JSON, or nil. A log returns nil for damaged JSON. Readers must not
	// modify them.
	Data     json.RawMessage `json:"data,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Time returns the timestamp as a time in UTC.
func (m Message) Time() time.Time { return time.UnixMilli(m.Timestamp).UTC() }

// Size returns the bytes of the message's text, data and metadata.
func (m Message) Size() int { return len(m.Text) + len(m.Data) + len(m.Metadata) }
