package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/wire"
)

// Decorate wraps a compiler with decorators, the first one innermost: each sees the output of those
// before it. A compiler that replaces the result is not decorated.
func Decorate(c Compiler, decorators ...func(Compiler) Compiler) Compiler {
	for _, d := range decorators {
		c = d(c)
	}
	return c
}

// TokenLimit keeps the newest messages of another compiler that fit a budget, by the rules of
// [Truncate]: the first message that does not fit ends the view, and pairs stay together. The
// leading system messages, the newest instruction, pending calls and the newest tool exchange
// always stay; its results are shortened if they must.
type TokenLimit struct {
	Compiler Compiler
	// Tokens is the budget; 0 means 8,000.
	Tokens int
	// Scale measures the messages. Without a counter, four bytes count as a token.
	Scale Scale
}

// Compile implements [Compiler].
func (l TokenLimit) Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	messages, err := l.Compiler.Compile(ctx, c, e)
	if err != nil {
		return nil, err
	}
	if l.Tokens <= 0 {
		l.Tokens = 8000
	}
	if l.Scale.Counter == nil {
		l.Scale.Counter = quarters{}
	}
	whole, costs, p := sound(messages, Limits{})
	l.count(costs, whole.Messages, p)
	for _, cost := range costs {
		whole.Tokens += cost
	}
	return truncateSound(whole, costs, p, Limits{Tokens: l.Tokens, Scale: l.Scale}).Messages, nil
}

// count sets the costs of the messages that matter: the essential ones, and the newest others until
// they exceed the budget. Older messages are dropped at any cost, so the time is proportional to
// the budget and not to the conversation.
func (l TokenLimit) count(costs []int, messages []ragctx.Message, p pairing) {
	clear(costs)
	stay := essential(messages, p)
	total := 0
	for i, m := range slices.Backward(messages) {
		if !stay[i] && total > l.Tokens {
			continue
		}
		if costs[i] = l.Scale.Message(m); !stay[i] {
			total += costs[i]
		}
	}
}

// quarters counts one token for every four bytes, rounded up.
type quarters struct{}

func (quarters) Name() string          { return "bytes/4" }
func (quarters) Count(text string) int { return (len(text) + 3) / 4 }

// Recent keeps the newest messages of another compiler, by the rules of [TokenLimit] with a limit
// in messages.
type Recent struct {
	Compiler Compiler
	// Messages is the limit; 0 means 20.
	Messages int
}

// Compile implements [Compiler].
func (r Recent) Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	messages, err := r.Compiler.Compile(ctx, c, e)
	if err != nil {
		return nil, err
	}
	if r.Messages <= 0 {
		r.Messages = 20
	}
	whole, costs, p := sound(messages, Limits{})
	for i := range costs {
		costs[i] = 1
	}
	whole.Tokens = len(costs)
	return truncateSound(whole, costs, p, Limits{Tokens: r.Messages}).Messages, nil
}

// Retrieval prepends text retrieved for the newest instruction to the output of another compiler,
// as a system message. Nothing is stored, so every call retrieves again.
type Retrieval struct {
	Compiler Compiler
	// Retrieve returns text for a question; "" adds no message.
	Retrieve func(ctx context.Context, question string) (string, error)
}

// Compile implements [Compiler].
func (r Retrieval) Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	messages, err := r.Compiler.Compile(ctx, c, e)
	if err != nil {
		return nil, err
	}
	i := LastInstruction(messages)
	if i < 0 {
		return messages, nil
	}
	text, err := r.Retrieve(ctx, messages[i].Content.String())
	if err != nil {
		return nil, fmt.Errorf("retrieve for the newest instruction: %w", err)
	}
	if text == "" {
		return messages, nil
	}
	return slices.Insert(messages, 0, ragctx.TextMessage(ragctx.RoleSystem, "Relevant documents:\n"+text)), nil
}

// Redact rewrites all texts of another compiler's output: messages, reasoning, tool results, and
// the strings in the inputs of calls and in vendor-specific fields of parts and messages.
type Redact struct {
	Compiler Compiler
	// Text returns the replacement for a text.
	Text func(string) string
}

// Compile implements [Compiler].
func (r Redact) Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	messages, err := r.Compiler.Compile(ctx, c, e)
	if err != nil {
		return nil, err
	}
	out := make([]ragctx.Message, len(messages))
	for i, m := range messages {
		m.Content = r.content(m.Content)
		m = wire.RewriteVendorFields(m, r.input)
		if m.Reasoning != "" {
			m.Reasoning = r.Text(m.Reasoning)
		}
		out[i] = m
	}
	return out, nil
}

func (r Redact) content(c ragctx.Content) ragctx.Content {
	out := slices.Clone(c)
	for i := range out {
		b := &out[i]
		b.Part = r.input(b.Part)
		switch b.Type {
		case ragctx.BlockText:
			b.Text = r.Text(b.Text)
		case ragctx.BlockToolUse:
			b.Input = r.input(b.Input)
		case ragctx.BlockToolResult:
			b.Content = r.content(b.Content)
		default:
		}
	}
	return out
}

// input rewrites the strings of JSON. Invalid JSON is treated as one text and becomes a JSON string
// if it changes.
func (r Redact) input(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		v = string(raw)
	}
	changed := false
	v = rewrite(v, func(s string) string {
		t := r.Text(s)
		changed = changed || t != s
		return t
	})
	if !changed {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil { // cannot happen: v was decoded from JSON
		return json.RawMessage(`{}`)
	}
	return out
}

// rewrite applies text to all strings of a JSON value, keys included.
func rewrite(v any, text func(string) string) any {
	switch v := v.(type) {
	case string:
		return text(v)
	case []any:
		for i := range v {
			v[i] = rewrite(v[i], text)
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[text(key)] = rewrite(value, text)
		}
		return out
	}
	return v
}
