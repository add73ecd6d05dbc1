package ragctx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Role is the role of a message's speaker.
type Role string

// The roles. A developer message counts as a system message.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// ParseRole reads a role in any letter case; "" is [RoleUser].
func ParseRole(s string) (Role, error) {
	switch r := Role(strings.ToLower(s)); r {
	case RoleSystem, RoleDeveloper, RoleUser, RoleAssistant, RoleTool:
		return r, nil
	case "":
		return RoleUser, nil
	}
	return "", Invalid("role", "%q is not a role; use system, developer, user, assistant or tool", Clip(s))
}

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseRole].
func (r *Role) UnmarshalText(b []byte) error {
	p, err := ParseRole(string(b))
	if err == nil {
		*r = p
	}
	return err
}

// BlockType is the kind of a [Block].
type BlockType string

// The block types.
const (
	BlockText       BlockType = "text"
	BlockImage      BlockType = "image"
	BlockToolUse    BlockType = "tool_use"
	BlockToolResult BlockType = "tool_result"
	// BlockVendor is a block that only one vendor's format has, such as a document, audio or a
	// search result.
	BlockVendor BlockType = "vendor"
)

// Block is one part of a message's content. Type determines which fields are used.
type Block struct {
	Type BlockType `json:"type"`
	// Text of a text block.
	Text string `json:"text,omitempty"`
	// MediaType and Data of an image block.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	// ID, Name and Input of a tool use.
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// ToolUseID, Content and IsError of a tool result. Tool results occur in messages of role user
	// or tool.
	ToolUseID string  `json:"tool_use_id,omitempty"`
	Content   Content `json:"content,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`
	// Form names a vendor's format and Part is a JSON object of that format. For a vendor block
	// Part is the whole block. For other blocks it has the fields without an equivalent above.
	Form string          `json:"form,omitempty"`
	Part json.RawMessage `json:"part,omitempty"`
}

// IsPlain reports whether a block is text without vendor fields.
func (b Block) IsPlain() bool { return b.Type == BlockText && len(b.Part) == 0 }

// Content is a list of blocks. In JSON a single plain text block is a string.
type Content []Block

// Text returns a content with one text block.
func Text(s string) Content { return Content{{Type: BlockText, Text: s}} }

// String returns the texts of the text blocks, one per line. Other blocks are skipped.
func (c Content) String() string {
	if len(c) == 1 && c[0].Type == BlockText {
		return c[0].Text
	}
	var parts []string
	for _, b := range c {
		if b.Type == BlockText && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// MarshalJSON implements [json.Marshaler].
func (c Content) MarshalJSON() ([]byte, error) {
	if len(c) == 1 && c[0].IsPlain() {
		return json.Marshal(c[0].Text)
	}
	if len(c) == 0 {
		return []byte("[]"), nil // for nil, too: null is not a valid content in the schema
	}
	return json.Marshal([]Block(c))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*c = Text(s)
		return nil
	}
	var blocks []Block
	if err := json.Unmarshal(b, &blocks); err != nil {
		return err
	}
	for i, blk := range blocks {
		switch blk.Type {
		case BlockText, BlockImage, BlockToolUse, BlockToolResult, BlockVendor:
		default:
			return Invalid(fmt.Sprintf("content[%d].type", i),
				"%q is not a block type; use text, image, tool_use, tool_result or vendor", Clip(string(blk.Type)))
		}
	}
	*c = blocks
	return nil
}

// Message is one message of a conversation.
type Message struct {
	ID        string    `json:"id,omitempty"`
	ParentID  string    `json:"parent_id,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	Role      Role      `json:"role"`
	// Name is the speaker's name, if there is more than one speaker of a role.
	Name    string  `json:"name,omitempty"`
	Content Content `json:"content"`
	// Reasoning is the model's visible reasoning. It is stored but no memories are made of it.
	Reasoning string   `json:"reasoning_content,omitempty"`
	Metadata  Metadata `json:"metadata,omitempty"`
}

// Metadata holds JSON values. Numbers are float64, except that a number which a float64 would write
// differently, such as an integer beyond 2^53, is a [json.Number].
type Metadata map[string]any

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Metadata) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var read map[string]any
	if err := dec.Decode(&read); err != nil {
		return err
	}
	for key, v := range read {
		read[key] = exact(v)
	}
	*m = read
	return nil
}

// exact converts numbers to float64 where that keeps their spelling.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if b, _ := json.Marshal(f); err == nil && string(b) == v.String() {
			return f
		}
	case map[string]any:
		for key, one := range v {
			v[key] = exact(one)
		}
	case []any:
		for i, one := range v {
			v[i] = exact(one)
		}
	}
	return v
}

// Metadata keys with a defined meaning.
const (
	MetaIsTrace         = "is_trace" // true for an internal step outside the conversation; absent otherwise
	MetaExecutionID     = "execution_id"
	MetaStepID          = "step_id"
	MetaAgentID         = "agent_id"
	MetaToolExecutionID = "tool_execution_id"
)

// TextMessage returns a message with one text block.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Content: Text(text)}
}

// IsTrace reports whether the message is an internal step of an execution.
func (m Message) IsTrace() bool {
	b, _ := m.Metadata[MetaIsTrace].(bool)
	return b
}

// ExecutionID returns the id of the execution that produced the message, or "".
func (m Message) ExecutionID() string {
	s, _ := m.Metadata[MetaExecutionID].(string)
	return s
}

// ToolUses returns the message's tool-use blocks.
func (m Message) ToolUses() []Block { return m.blocks(BlockToolUse) }

// ToolResults returns the message's tool-result blocks.
func (m Message) ToolResults() []Block { return m.blocks(BlockToolResult) }

func (m Message) blocks(t BlockType) []Block {
	var out []Block
	for _, b := range m.Content {
		if b.Type == t {
			out = append(out, b)
		}
	}
	return out
}

// IsEmpty reports whether the message has neither content nor metadata.
func (m Message) IsEmpty() bool {
	if len(m.Metadata) > 0 {
		return false
	}
	for _, b := range m.Content {
		if b.Type != BlockText || b.Text != "" {
			return false
		}
	}
	return true
}
