package session

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/ragctx/ragctx"
)

// callList is a list of calls in ragctx's or OpenAI's format.
type callList []ragctx.Block

// UnmarshalJSON implements [json.Unmarshaler].
func (c *callList) UnmarshalJSON(b []byte) error {
	var list []struct {
		callJSON

		Function callJSON `json:"function"`
	}
	if !isNothing(b) {
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
	}
	*c = nil
	for _, one := range list {
		call := one.callJSON
		if one.Function.Name != "" {
			call.Name, call.Arguments = one.Function.Name, one.Function.Arguments
		}
		*c = append(*c, ragctx.Block{Type: ragctx.BlockToolUse, ID: call.ID, Name: call.Name, Input: arguments(call.Arguments)})
	}
	return nil
}

// arguments reads the input of a call: an object, or an object encoded as a string. A missing input
// is {}.
func arguments(raw json.RawMessage) json.RawMessage {
	if inner, ok := objectInString(raw); ok {
		return inner
	}
	if isNothing(raw) || string(raw) == `""` {
		return json.RawMessage("{}")
	}
	return json.RawMessage(compact(raw))
}

// objectInString returns the object that a JSON string encodes, with its original spacing.
func objectInString(raw json.RawMessage) (inner json.RawMessage, ok bool) {
	inner, ok = jsonInString(raw)
	return inner, ok && !strings.HasPrefix(string(inner), `"`)
}

// jsonInString returns the object or string that a JSON string encodes.
func jsonInString(raw json.RawMessage) (inner json.RawMessage, ok bool) {
	var text string
	if !strings.HasPrefix(string(raw), `"`) || json.Unmarshal(raw, &text) != nil {
		return nil, false
	}
	begins := strings.TrimSpace(text)
	return json.RawMessage(text), (strings.HasPrefix(begins, "{") || strings.HasPrefix(text, `"`)) && json.Valid([]byte(text))
}

// result is a tool result in ragctx's format, or with any JSON as content.
type result ragctx.Block

// UnmarshalJSON implements [json.Unmarshaler].
func (r *result) UnmarshalJSON(b []byte) error {
	var w struct {
		resultJSON

		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	content, err := readContent(w.Content)
	if err != nil {
		content = ragctx.Text(compact(w.Content)) // an arbitrary value returned by a tool
	}
	*r = result{Type: ragctx.BlockToolResult, ToolUseID: w.CallID, Name: w.Tool, Content: content, IsError: w.IsError}
	return nil
}

// dataURL decodes a base64 data URL.
func dataURL(url string) (media string, data []byte, ok bool) {
	head, body, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || !strings.HasPrefix(url, "data:") {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return head, data, err == nil
}
