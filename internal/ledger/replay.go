package ledger

import (
	"bytes"
	"encoding/json"
)

// Replayable reports whether a message may be shown to agents again. It says so
// itself, by contextSafe in its metadata or its data, otherwise by replayPolicy there
// (context or raw_log_only). One that says nothing may, but for the raw output of models.
func Replayable(m Message) bool {
	if says(m, "contextSafe") || says(m, "replayPolicy") {
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

// says is whether it is worth reading the JSON of a message for a field.
func says(m Message, field string) bool {
	return bytes.Contains(m.Metadata, []byte(field)) || bytes.Contains(m.Data, []byte(field))
}

// object reads the fields of a JSON object; anything else has none.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}
