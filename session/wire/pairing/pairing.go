// Package pairing checks the vendors' rules for pairing tool calls with their results. It follows
// the vendors' documentation and shares no code with the packages that write conversations, so that
// it can test them.
//
// A list may end before all calls of its last message are answered: the client adds the missing
// results next.
package pairing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
)

type openAICall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function toolName `json:"function"`
	Custom   toolName `json:"custom"`
}

// isNamed reports whether a call names its tool. Calls of unknown types need no name.
func (c openAICall) isNamed() bool {
	return c.Function.Name+c.Custom.Name != "" || c.Type != "function" && c.Type != "custom"
}

type toolName struct {
	Name string `json:"name"`
}

// CheckOpenAI checks messages of chat completions: "An assistant message with 'tool_calls'
// must be followed by tool messages responding to each 'tool_call_id'", and "messages with
// role 'tool' must be a response to a preceding message with 'tool_calls'".
func CheckOpenAI(messages []json.RawMessage) error {
	var open map[string]bool // calls that tool messages may answer at this point
	for i, raw := range messages {
		var m struct {
			Role   string       `json:"role"`
			Calls  []openAICall `json:"tool_calls"`
			CallID string       `json:"tool_call_id"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		if m.Role == "tool" {
			if !open[m.CallID] {
				return fmt.Errorf("messages[%d]: the result of %q answers no call right before it", i, m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: role %q, but calls before it have no result: %v", i, m.Role, open)
		}
		open = make(map[string]bool)
		for _, c := range m.Calls {
			if m.Role != "assistant" || c.ID == "" || open[c.ID] || !c.isNamed() {
				return fmt.Errorf("messages[%d]: role %q calls %+v; a call needs an assistant, a name and a unique id", i, m.Role, c)
			}
			open[c.ID] = true
		}
	}
	return nil
}

// anthropicID matches valid ids of calls.
var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

type anthropicBlock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
	Text      string `json:"text"`
}

// CheckAnthropic checks Anthropic's messages. Consecutive messages of a role count as one;
// "tool_use ids must be unique"; "each tool_use block must have a corresponding tool_result block
// in the next message", where results come first, and each result answers a call of the preceding
// message. No message is empty.
func CheckAnthropic(messages []json.RawMessage) error {
	turns, err := anthropicTurns(messages)
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	open := make(map[string]bool)
	for i, t := range turns {
		next := make(map[string]bool)
		others := 0
		for _, b := range t.blocks {
			switch b.Type {
			case "tool_result":
				if t.role != "user" || others > 0 || !open[b.ToolUseID] {
					return fmt.Errorf("turn %d: the result of %q has no call in the turn before it, or follows another part",
						i, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
				continue
			case "tool_use":
				if t.role != "assistant" || seen[b.ID] || !anthropicID.MatchString(b.ID) {
					return fmt.Errorf("turn %d: role %q calls with the id %q; "+
						"a call needs an assistant and a unique id of letters and digits", i, t.role, b.ID)
				}
				seen[b.ID], next[b.ID] = true, true
			case "text":
				if b.Text == "" {
					return fmt.Errorf("turn %d: an empty text", i)
				}
			}
			others++
		}
		if len(open) > 0 && (i < len(turns)-1 || others > 0) {
			return fmt.Errorf("turn %d: calls before it have no result: %v", i, open)
		}
		if len(next) > 0 {
			open = next
		}
	}
	return nil
}

type anthropicTurn struct {
	role   string
	blocks []anthropicBlock
}

// anthropicTurns joins consecutive messages of a role.
func anthropicTurns(messages []json.RawMessage) ([]anthropicTurn, error) {
	var turns []anthropicTurn
	for i, raw := range messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		if m.Role != "user" && m.Role != "assistant" {
			return nil, fmt.Errorf("messages[%d]: role %q", i, m.Role)
		}
		var blocks []anthropicBlock
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			blocks = []anthropicBlock{{Type: "text", Text: text}}
		} else if err := json.Unmarshal(m.Content, &blocks); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		if len(blocks) == 0 {
			return nil, fmt.Errorf("messages[%d]: no content", i)
		}
		if n := len(turns); n > 0 && turns[n-1].role == m.Role {
			turns[n-1].blocks = append(turns[n-1].blocks, blocks...)
			continue
		}
		turns = append(turns, anthropicTurn{m.Role, blocks})
	}
	return turns, nil
}

// geminiPart is a part in the API's format, or in the snake_case of Google's Python client.
type geminiPart struct {
	Call          *geminiFunction `json:"functionCall"`
	Response      *geminiFunction `json:"functionResponse"`
	SnakeCall     *geminiFunction `json:"function_call"`
	SnakeResponse *geminiFunction `json:"function_response"`
}

type geminiFunction struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CheckGemini checks Gemini's contents: "function call turn comes immediately after a user turn or
// after a function response turn", "the number of function response parts should be equal to number
// of function call parts of the function call turn", and responses have the names and any ids of
// their calls. The first turn may be of any role.
func CheckGemini(contents []json.RawMessage) error {
	var open []geminiFunction
	before := "user"
	for i, raw := range contents {
		var c struct {
			Role  string       `json:"role"`
			Parts []geminiPart `json:"parts"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		if c.Role != "user" && c.Role != "model" || len(c.Parts) == 0 {
			return fmt.Errorf("contents[%d]: role %q with %d parts", i, c.Role, len(c.Parts))
		}
		var calls []geminiFunction
		responses := 0
		for _, p := range c.Parts {
			call, response := cmp.Or(p.Call, p.SnakeCall), cmp.Or(p.Response, p.SnakeResponse)
			switch {
			case call != nil:
				calls = append(calls, *call)
			case response != nil:
				at := matching(open, *response)
				if c.Role != "user" || at < 0 {
					return fmt.Errorf("contents[%d]: the response of %q answers no call right before it", i, response.Name)
				}
				open = append(open[:at:at], open[at+1:]...)
				responses++
			}
		}
		last := i == len(contents)-1
		if len(open) > 0 && !(last && responses == len(c.Parts)) {
			return fmt.Errorf("contents[%d]: %d calls before it have no response", i, len(open))
		}
		if len(calls) > 0 {
			if c.Role != "model" || before != "user" {
				return fmt.Errorf("contents[%d]: a call by %q after %q", i, c.Role, before)
			}
			open = calls
		}
		before = c.Role
	}
	return nil
}

// matching returns the index of the call that a response answers, or -1.
func matching(open []geminiFunction, r geminiFunction) int {
	for i, c := range open {
		if c.Name == r.Name && (c.ID == r.ID || c.ID == "" || r.ID == "") {
			return i
		}
	}
	return -1
}
