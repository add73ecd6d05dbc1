package ledger

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// line is a message as files have it: in the words of [Message], in those of
// Zeroshot's messages, or in those of its table.
type line struct {
	ID        string          `json:"id"`
	Timestamp json.RawMessage `json:"timestamp"`
	Topic     string          `json:"topic"`
	Sender    string          `json:"sender"`
	Receiver  string          `json:"receiver"`
	Metadata  json.RawMessage `json:"metadata"`

	Cluster string          `json:"cluster"`
	Text    string          `json:"text"`
	Data    json.RawMessage `json:"data"`

	ClusterSnake string `json:"cluster_id"`
	ClusterCamel string `json:"clusterId"`
	TargetSnake  string `json:"target_agent_id"`
	TargetCamel  string `json:"targetAgentId"`
	Content      *struct {
		Text string          `json:"text"`
		Data json.RawMessage `json:"data"`
	} `json:"content"`
	TextSnake string          `json:"content_text"`
	TextCamel string          `json:"contentText"`
	DataSnake json.RawMessage `json:"content_data"`
	DataCamel json.RawMessage `json:"contentData"`
}

// ReadLine reads a message of a file. Beside the names of [Message] it knows those of
// Zeroshot: cluster_id, content with text and data, content_text and content_data,
// target_agent_id, each also in camel case. JSON that a table keeps as text is read as
// what it says, and as nothing if it is damaged. Sequence and namespace are not read:
// they are those of where the message goes to.
func ReadLine(b []byte) (Message, error) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return Message{}, ragctx.Invalid("line", "is not a message in JSON: %v", err)
	}
	at, err := readTime(l.Timestamp)
	m := Message{
		ID: l.ID, Timestamp: at, Topic: l.Topic, Sender: l.Sender,
		Cluster:  cmp.Or(l.Cluster, l.ClusterSnake, l.ClusterCamel),
		Receiver: cmp.Or(l.TargetSnake, l.TargetCamel, l.Receiver),
		Text:     cmp.Or(l.Text, l.TextSnake, l.TextCamel),
		Data:     l.Data, Metadata: l.Metadata,
	}
	if l.Content != nil {
		m.Text, m.Data = cmp.Or(m.Text, l.Content.Text), first(m.Data, l.Content.Data)
	}
	if kept := first(l.DataSnake, l.DataCamel); kept != nil {
		m.Data = first(m.Data, unpacked(kept))
	}
	if l.Cluster == "" { // not one of our own lines
		m.Metadata = unpacked(m.Metadata)
	}
	return m, err
}

func first(a, b json.RawMessage) json.RawMessage {
	if a != nil {
		return a
	}
	return b
}

// unpacked returns JSON that is kept in a JSON string; other JSON as it is.
func unpacked(b json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return b
	}
	if text = strings.TrimSpace(text); !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// readTime reads Unix time in milliseconds or a time as [timeexpr.Dates] does; 0 is none.
func readTime(b json.RawMessage) (int64, error) {
	text := strings.Trim(string(b), `"`)
	if text == "" || text == "null" {
		return 0, nil
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return ms, nil
	}
	t, err := timeexpr.Dates{}.Parse(text)
	if err != nil {
		return 0, ragctx.Invalid("timestamp", "%q %v, or as Unix time in milliseconds", ragctx.Clip(text), err)
	}
	return t.UnixMilli(), nil
}
