package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Topics with a meaning to the log.
const (
	// TopicAgentOutput carries the verbatim output of agents. Each cluster keeps the newest
	// messages; see [Retention].
	TopicAgentOutput = "AGENT_OUTPUT"
	// TopicOmitted carries the receipt of removed output. Only the log writes it.
	TopicOmitted = "AGENT_OUTPUT_OMITTED"
	// TopicTokenUsage carries the token usage of models; see [TokensByRole].
	TopicTokenUsage = "TOKEN_USAGE"
)

// SenderLedger is the sender of messages that the log writes.
const SenderLedger = "ledger"

// Retention limits the [TopicAgentOutput] messages of each cluster. Once a cluster exceeds a limit,
// the oldest are removed until an eighth of the limit is free, so that not every append removes
// some. The zero value means the defaults.
type Retention struct {
	Messages int // 0 is [DefaultOutputMessages]
	Bytes    int // text, data and metadata; 0 is [DefaultOutputBytes]
}

// The defaults of [Retention].
const (
	DefaultOutputMessages = 8192
	DefaultOutputBytes    = 8 << 20
)

// Exceeded reports whether a cluster's output exceeds a limit.
func (r Retention) Exceeded(messages, size int) bool {
	return messages > cmp.Or(r.Messages, DefaultOutputMessages) || size > cmp.Or(r.Bytes, DefaultOutputBytes)
}

// Reduced reports whether enough output was removed after a limit was exceeded.
func (r Retention) Reduced(messages, size int) bool {
	return messages <= cmp.Or(r.Messages, DefaultOutputMessages)*7/8 && size <= cmp.Or(r.Bytes, DefaultOutputBytes)*7/8
}

// Receipt accounts for removed messages. A cluster has at most one message with a receipt: a new
// receipt continues the previous one and replaces it.
type Receipt struct {
	Topic    string `json:"topic"`
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"`
	// The first and the last removed message.
	FirstSequence  Sequence `json:"first_sequence"`
	LastSequence   Sequence `json:"last_sequence"`
	FirstTimestamp int64    `json:"first_timestamp"`
	LastTimestamp  int64    `json:"last_timestamp"`
	// SHA256 is the head of a hash chain in hexadecimal. A message's head is the hash of the
	// previous head (32 zero bytes at first) followed by the message's [Line]. With an older export
	// a reader can verify the missing messages.
	SHA256 string `json:"sha256"`
}

// Add accounts for one more removed message.
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

// ReceiptOf returns the receipt in a message, the zero receipt if it is missing or damaged: the
// message may have been imported.
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

// Covers reports whether an import must skip an output: it is no later than the last message of the
// receipt.
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

// Line returns a message as one line of JSON, without a line end.
func Line(m Message) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode message %s: %w", m.ID, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
