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

// Decorate wraps a compiler, first decorator innermost: each sees what those before it
// made. A compiler put in the place of the result is decorated by none of them.
func Decorate(c Compiler, decorators ...func(Compiler) Compiler) Compiler {
	for _, d := range decorators {
		c = d(c)
	}
	return c
}

// TokenLimit keeps of what another compiler makes the newest messages that fit, as
// [Truncate] does: the first misfit ends it, pairs stay together, and the system messages
// at the start, the newest instruction, pending calls and the newest exchange with tools stay
// in any case, its results cut to what fits.
type TokenLimit struct {
	Compiler Compiler
	// Tokens is the budget; 0 is 8,000.
	Tokens int
	// Scale says what messages cost; without a counter, four bytes are a token.
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
	return shorten(whole, costs, p, Limits{Tokens: l.Tokens, Scale: l.Scale}).Messages, nil
}

// count notes the costs of the messages that matter: those that stay in any case, and the
// newest others until they are more than the budget. All older ones are left out whatever they
// cost, so that the time taken is that of the budget and not of the conversation.
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

// quarters counts a token for each four bytes begun.
type quarters struct{}

func (quarters) Name() string          { return "bytes/4" }
func (quarters) Count(text string) int { return (len(text) + 3) / 4 }

// Recent keeps of what another compiler makes the newest messages, by the rules of
// [TokenLimit] with messages in the place of tokens.
type Recent struct {
	Compiler Compiler
	// Messages is how many; 0 is 20.
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
	return shorten(whole, costs, p, Limits{Tokens: r.Messages}).Messages, nil
}

// Retrieval puts what is found for the newest instruction before what another compiler
// makes, as a system message. Nothing is stored, so that it is looked for each time.
type Retrieval struct {
	Compiler Compiler
	// Retrieve returns a text about a question; "" is nothing, and adds nothing.
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

// Redact rewrites all texts of what another compiler makes: what is said and thought, the
// results of tools, and the strings in the inputs of calls and in what only a vendor has,
// be it of a part or of the message.
type Redact struct {
	Compiler Compiler
	// Text returns what is shown in the place of a text.
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

// input rewrites the strings of JSON. What is no JSON is one text, and becomes a string
// if it was to be rewritten.
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
	if err != nil { // it was JSON, or a string
		return json.RawMessage(`{}`)
	}
	return out
}

// rewrite returns a JSON value with other strings, those of keys included.
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
