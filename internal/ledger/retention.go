package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Topics of which a log knows something.
const (
	// TopicAgentOutput has what agents put out, word for word. Of each cluster the
	// newest are kept; see [Retention].
	TopicAgentOutput = "AGENT_OUTPUT"
	// TopicOmitted has the receipt for what was not kept. Only the log writes it.
	TopicOmitted = "AGENT_OUTPUT_OMITTED"
	// TopicTokenUsage has what models were paid for; see [TokensByRole].
	TopicTokenUsage = "TOKEN_USAGE"
)

// SenderLedger is the sender of what a log writes itself.
const SenderLedger = "ledger"

// Retention bounds what is kept of [TopicAgentOutput] in each cluster: the newest
// messages within both limits. Once they exceed one of them, the oldest go until an
// eighth of it is free, so that not every append has some to remove. The zero value
// has the defaults.
type Retention struct {
	Messages int // 0 is [DefaultOutputMessages]
	Bytes    int // of text, data and metadata; 0 is [DefaultOutputBytes]
}

// The defaults of [Retention].
const (
	DefaultOutputMessages = 8192
	DefaultOutputBytes    = 8 << 20
)

// Exceeded reports whether so many messages of so many bytes are too many.
func (r Retention) Exceeded(messages, size int) bool {
	return messages > cmp.Or(r.Messages, DefaultOutputMessages) || size > cmp.Or(r.Bytes, DefaultOutputBytes)
}

// Enough reports whether so many messages of so many bytes may stay once the limits
// were exceeded.
func (r Retention) Enough(messages, size int) bool {
	return messages <= cmp.Or(r.Messages, DefaultOutputMessages)*7/8 && size <= cmp.Or(r.Bytes, DefaultOutputBytes)*7/8
}

// Receipt accounts for messages that were not kept. A cluster has at most one message
// with a receipt: a new one takes the place of the one before and goes on from it.
type Receipt struct {
	Topic    string `json:"topic"`
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"`
	// The first and the last of them.
	FirstSequence  Sequence `json:"first_sequence"`
	LastSequence   Sequence `json:"last_sequence"`
	FirstTimestamp int64    `json:"first_timestamp"`
	LastTimestamp  int64    `json:"last_timestamp"`
	// SHA256 is the head of a chain, in hexadecimal: that of a message is the hash of
	// the head before, 32 zero bytes at first, followed by the message's [Line].
	// Whoever has an older export can thus check what is missing.
	SHA256 string `json:"sha256"`
}

// Add accounts for one more message.
func (r *Receipt) Add(m Message) error {
	line, err := Line(m)
	if err != nil {
		return err
	}
	var head [sha256.Size]byte
	if r.Messages == 0 {
		r.Topic, r.FirstSequence, r.FirstTimestamp = m.Topic, m.Sequence, m.Timestamp
	} else if _, err := hex.Decode(head[:], []byte(r.SHA256)); err != nil {
		return fmt.Errorf("read receipt: %w", err)
	}
	head = sha256.Sum256(append(head[:], line...))
	r.SHA256 = hex.EncodeToString(head[:])
	r.Messages++
	r.Bytes += int64(m.Size())
	r.LastSequence, r.LastTimestamp = m.Sequence, m.Timestamp
	return nil
}

// ReceiptOf returns the receipt that a message carries; that of nothing if it is
// damaged or there is none: it may have been imported.
func ReceiptOf(m Message) Receipt {
	var r Receipt
	if json.Unmarshal(m.Data, &r) != nil || r.Messages < 1 || r.Messages > 1<<53 || r.Bytes < 0 || r.Bytes > 1<<53 {
		return Receipt{}
	}
	if head, err := hex.DecodeString(r.SHA256); err != nil || len(head) != sha256.Size {
		return Receipt{}
	}
	return r
}

// Covers reports whether an output that is imported is not to be kept: it is not later
// than the last one that the receipt accounts for, if it is not one of them.
func (r Receipt) Covers(m Message) bool {
	return m.Topic == TopicAgentOutput && m.Timestamp != 0 && m.Timestamp <= r.LastTimestamp
}

// Message returns the message that carries the receipt in a cluster.
func (r Receipt) Message(namespace, cluster string) (Message, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Message{}, fmt.Errorf("encode receipt: %w", err)
	}
	return Message{
		Namespace: namespace, Cluster: cluster, Topic: TopicOmitted, Sender: SenderLedger, Receiver: Broadcast,
		Text: fmt.Sprintf("%d messages of %s (%d bytes) are not kept", r.Messages, r.Topic, r.Bytes),
		Data: data, Metadata: json.RawMessage(`{"contextSafe":false}`),
	}, nil
}

// Line returns a message as one line of JSON, without its end.
func Line(m Message) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode message %s: %w", m.ID, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
