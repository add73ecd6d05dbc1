package session

import (
	"bytes"
	"encoding/json"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/wire"
)

// Token overheads of a message in addition to its texts. Providers wrap messages, calls and results
// in undocumented tokens; these values are at the upper end of observations.
const (
	MessageOverhead = 4 // role and separators of each message
	PartOverhead    = 4 // type and separators of each additional part
	CallOverhead    = 8 // id and frame of a tool call or a tool result; a long id costs more
	ToolOverhead    = 8 // frame of a tool definition
)

// Scale measures the token costs of messages with its counter. Without a counter messages cost
// nothing, for views that need no costs.
type Scale struct{ Counter ragctx.Counter }

// Message returns the cost of a message: its texts, name and reasoning, the ids, names and inputs
// of its calls, the contents of its results, vendor-specific fields (see [Scale.JSON]), an estimate
// for each image, and the overheads above.
func (s Scale) Message(m ragctx.Message) int {
	if s.Counter == nil {
		return 0
	}
	total := MessageOverhead + s.Counter.Count(m.Name) + s.Counter.Count(m.Reasoning) + s.content(m.Content)
	for _, fields := range wire.VendorFields(m) {
		total += s.JSON(fields)
	}
	return total
}

// Messages returns the cost of each message.
func (s Scale) Messages(messages []ragctx.Message) []int {
	out := make([]int, len(messages))
	for i, m := range messages {
		out[i] = s.Message(m)
	}
	return out
}

// Tools returns the cost of tool definitions as compact JSON.
func (s Scale) Tools(definitions []json.RawMessage) int {
	total := 0
	for _, d := range definitions {
		total += ToolOverhead + s.Counter.Count(compact(d))
	}
	return total
}

func (s Scale) content(c ragctx.Content) int {
	total, parts := 0, 0
	for _, b := range c {
		total += s.JSON(b.Part)
		switch b.Type {
		case ragctx.BlockToolUse:
			total += s.call(b.ID) + s.Counter.Count(b.Name) + s.Counter.Count(string(b.Input))
		case ragctx.BlockToolResult:
			total += s.call(b.ToolUseID) + s.Counter.Count(b.Name) + s.content(b.Content)
		case ragctx.BlockImage:
			total += imageTokens(bytes.NewReader(b.Data))
			parts++
		case ragctx.BlockText:
			total += s.Counter.Count(b.Text)
			parts++
		default: // a vendor-specific part
			parts++
		}
	}
	return total + PartOverhead*max(parts-1, 0)
}

// call returns the overhead of a call or a result.
func (s Scale) call(id string) int {
	const frame = 6 // the frame without an id
	return max(CallOverhead, frame+s.Counter.Count(id))
}

// compact returns JSON without white space; invalid JSON stays unchanged.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
