package ledger

import (
	"bytes"
	"encoding/json"
)

// Replayable reports whether agents may see a message again. The message decides by contextSafe in
// its metadata or data, otherwise by replayPolicy there (context or raw_log_only). By default every
// message is replayable except raw model output.
func Replayable(m Message) bool {
	if mentions(m, "contextSafe") || mentions(m, "replayPolicy") {
		places := []map[string]json.RawMessage{object(m.Metadata), object(m.Data)}
		for _, in := range places {
			switch string(in["contextSafe"]) {
			case "true":
				return true
			case "false":
				return false
			}
		}
		for _, in := range places {
			switch string(in["replayPolicy"]) {
			case `"context"`:
				return true
			case `"raw_log_only"`:
				return false
			}
		}
	}
	return m.Topic != TopicAgentOutput
}

// mentions reports whether a message's JSON mentions a field; it saves the parsing of most messages.
func mentions(m Message, field string) bool {
	return bytes.Contains(m.Metadata, []byte(field)) || bytes.Contains(m.Data, []byte(field))
}

// object decodes the fields of a JSON object. It returns nil for any other JSON.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}
