package facts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// call is a tool call with its result.
type call struct {
	message     int // of the result
	name, input string
	answer      string
	failed      bool
}

// failure matches the start of a result that reports a failure only in its text.
var failure = pattern(`(?i)^\s*(?:error|fatal|exception|traceback|panic|failed|failure|command failed|` +
	`exit (?:code|status) [1-9]|npm err|permission denied|no such file|.{0,80}command not found)`)

// Lengths of quotations in outcomes, in code points.
const (
	maxError = 160
	maxInput = 160
)

// outcomes returns the facts learned from the tools of a turn: a failed call, and how it succeeded
// in the end.
func outcomes(messages []ragctx.Message) []Fact {
	calls := calls(messages)
	var out []Fact
	last := map[string]*call{} // the last failed call of a tool
	for i := range calls {
		c := &calls[i]
		switch before := last[c.name]; {
		case c.failed:
			last[c.name] = c
		case before != nil && before.input != c.input:
			out = append(out, retried(before, c))
			delete(last, c.name)
		}
	}
	return out
}

// retried states that a tool failed and then succeeded.
func retried(before, after *call) Fact {
	why := firstLine(before.answer)
	content := fmt.Sprintf("The tool %s failed for %s (%s) and succeeded with %s.", before.name,
		sentence.Clip(before.input, maxInput), sentence.Clip(why, maxError),
		sentence.Clip(after.input, maxInput))
	return Fact{
		Kind: ragctx.FactOutcome, Content: content, Subject: before.name, Attribute: "failure", Value: sentence.Clip(after.input, maxInput),
		Confidence: Gate - .1, Importance: .6, Rule: "tool.retried", Reason: "a call of the tool failed and a later one succeeded",
		Span: ragctx.TurnSpan{Message: after.message},
	}
}

// calls returns the tool calls that have results, in order.
func calls(messages []ragctx.Message) []call {
	open := map[string]call{}
	var out []call
	var pending []string // calls with results in plain text
	for i, m := range messages {
		for _, b := range m.Content {
			switch b.Type {
			case ragctx.BlockToolUse:
				open[b.ID] = call{name: b.Name, input: compact(b.Input)}
				pending = append(pending, b.ID)
			case ragctx.BlockToolResult:
				if c, ok := open[b.ToolUseID]; ok {
					c.message, c.answer = i, b.Content.String()
					c.failed = b.IsError || failure().MatchString(c.answer)
					out = append(out, c)
					delete(open, b.ToolUseID)
				}
			case ragctx.BlockImage, ragctx.BlockVendor:
			case ragctx.BlockText:
				if m.Role != ragctx.RoleTool || len(pending) == 0 {
					continue
				}
				if c, ok := open[pending[0]]; ok {
					c.message, c.answer, c.failed = i, b.Text, failure().MatchString(b.Text)
					out = append(out, c)
					delete(open, pending[0])
				}
				pending = pending[1:]
			}
		}
	}
	return out
}

// compact writes the input of a tool on one line. An object with a single text becomes that text.
func compact(input json.RawMessage) string {
	var one map[string]any
	if json.Unmarshal(input, &one) == nil && len(one) == 1 {
		for _, v := range one {
			if s, ok := v.(string); ok {
				return strings.Join(strings.Fields(s), " ")
			}
		}
	}
	return strings.Join(strings.Fields(string(input)), " ")
}

// firstLine returns the line of a result that states the error.
func firstLine(s string) string {
	var last string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if failure().MatchString(line) && !strings.HasPrefix(line, "Traceback") && !strings.HasPrefix(strings.ToLower(line), "exit") {
			return line
		}
		last = line
	}
	return last
}
