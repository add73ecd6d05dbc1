package ledger

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// line is a message in a file: with the names of [Message], of Zeroshot's messages or of Zeroshot's
// table.
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

// ReadLine parses a message of a file. Besides the names of [Message] it accepts the names of
// Zeroshot: cluster_id, content with text and data, content_text and content_data, target_agent_id,
// each also in camel case. JSON stored as a string is decoded; damaged JSON becomes nil. Sequence
// and namespace are ignored: the destination assigns them.
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
	if encoded := first(l.DataSnake, l.DataCamel); encoded != nil {
		m.Data = first(m.Data, unquoteJSON(encoded))
	}
	if l.Cluster == "" { // not written by [Line]
		m.Metadata = unquoteJSON(m.Metadata)
	}
	return m, err
}

func first(a, b json.RawMessage) json.RawMessage {
	if a != nil {
		return a
	}
	return b
}

// unquoteJSON decodes JSON stored in a JSON string. It returns other JSON unchanged.
func unquoteJSON(b json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return b
	}
	if text = strings.TrimSpace(text); !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// readTime parses Unix time in milliseconds or a time in the formats of [timeexpr.Dates]; 0 means
// absent.
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
