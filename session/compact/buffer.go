package compact

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/session"
)

// Defaults of [BufferOptions], in tokens.
const (
	DefaultMessageTokens       = 4096
	DefaultBufferTokens        = 8192
	DefaultBufferSummaryTokens = 512
)

// BufferOptions configure when messages move into a buffer and when a buffer is summarized, as in
// Cognesy's instructor. The zero value is valid. Sections may reach their limits but not exceed
// them.
type BufferOptions struct {
	// MessageTokens, BufferTokens and SummaryTokens limit the cost of the sections; 0 selects the
	// default. Rules of the user may cost an additional quarter of the buffer.
	MessageTokens, BufferTokens, SummaryTokens int
	// Cost returns the token cost of a message; nil uses Options.Counter.
	Cost func(ragctx.Message) int
	// Options configure summaries. Only Counter, Generator, Timeout, Strategy, Window, Now and
	// NewID apply.
	Options Options
}

// Buffering moves messages into a buffer and summarizes it. It is stateless.
type Buffering struct {
	opts BufferOptions
	by   *Compactor
}

// NewBuffering returns the policy. Invalid options are [ragctx.ErrInvalid].
func NewBuffering(o BufferOptions) (*Buffering, error) {
	for _, n := range [...]struct {
		field string
		value int
	}{{"message_tokens", o.MessageTokens}, {"buffer_tokens", o.BufferTokens}, {"summary_tokens", o.SummaryTokens}} {
		if n.value < 0 || n.value > ragctx.MaxTokensLimit {
			return nil, ragctx.Invalid(n.field, "is %d; use 1 to %d", n.value, ragctx.MaxTokensLimit)
		}
	}
	by, err := New(o.Options)
	if err != nil {
		return nil, err
	}
	for _, n := range [...]struct {
		value    *int
		standard int
	}{{&o.MessageTokens, DefaultMessageTokens}, {&o.BufferTokens, DefaultBufferTokens}, {&o.SummaryTokens, DefaultBufferSummaryTokens}} {
		if *n.value == 0 {
			*n.value = n.standard
		}
	}
	if o.Cost == nil {
		o.Cost = by.scale().Message
	}
	return &Buffering{opts: o, by: by}, nil
}

// Sections are the three parts of a conversation, in the order in which a model is shown them.
type Sections struct{ Summary, Buffer, Messages []ragctx.Message }

// Buffered is the result of [Buffering.After]. An event that did not happen is nil.
type Buffered struct {
	Sections   Sections
	Moved      *ragctx.MessagesMovedToBuffer
	Summarized *ragctx.MessageBufferSummarized
	Warnings   []Warning
	Usage      llm.Usage
}

// After applies the policy after a step: messages over their limit move into the buffer, and a
// buffer over its limit becomes part of the summary. It fails only if the context ends. The
// input is not changed.
func (b *Buffering) After(ctx context.Context, s Sections) (Buffered, error) {
	s, moved := b.Move(s)
	out, err := b.Summarize(ctx, s)
	out.Moved = moved
	return out, err
}

// Move moves the oldest messages into the buffer if the messages cost more than their limit, and
// keeps the newest that fit. No call is separated from its result. Pending calls and the newest
// exchange stay at any cost. The event is nil if nothing was moved.
func (b *Buffering) Move(s Sections) (Sections, *ragctx.MessagesMovedToBuffer) {
	costs := make([]int, len(s.Messages))
	for i, m := range s.Messages {
		costs[i] = b.opts.Cost(m)
	}
	if total(costs) <= b.opts.MessageTokens {
		return s, nil
	}
	room, full := b.opts.MessageTokens, false
	calls := append(pendingIn(s.Messages), session.NewestExchange(s.Messages)...)
	stays := make([]bool, len(s.Messages))
	for _, g := range slices.Backward(session.Groups(s.Messages)) {
		room -= total(costs[g.From:g.To])
		full = full || room < 0
		waits := slices.ContainsFunc(calls, func(i int) bool { return g.From <= i && i < g.To })
		for i := g.From; i < g.To; i++ {
			stays[i] = !full || waits
		}
	}
	var overflow, keep []ragctx.Message
	for i, m := range s.Messages {
		if stays[i] {
			keep = append(keep, m)
		} else {
			overflow = append(overflow, m)
		}
	}
	if len(overflow) == 0 {
		return s, nil
	}
	s.Buffer, s.Messages = slices.Concat(s.Buffer, overflow), keep
	return s, &ragctx.MessagesMovedToBuffer{Overflow: overflow, Keep: keep}
}

// Summarize replaces the summary and the buffer by a new summary if the buffer exceeds its limit.
// The newest instruction of the user, pending calls and the newest exchange are not summarized: if
// the buffer contains them, as on a branch that ends early, they return to the messages. If no
// summary can be made, the sections stay unchanged, with a warning.
func (b *Buffering) Summarize(ctx context.Context, s Sections) (Buffered, error) {
	out := Buffered{Sections: s}
	cost := 0
	for _, m := range s.Buffer {
		cost += b.opts.Cost(m)
	}
	if cost <= b.opts.BufferTokens {
		return out, ctx.Err()
	}
	buffer, back := summarizable(s)
	material := slices.Concat(s.Summary, buffer)
	if len(buffer) == 0 {
		return out, ctx.Err()
	}
	text, err := b.write(ctx, material, &out)
	if err != nil || text == "" {
		return out, err
	}
	rec := Record{ID: b.by.opts.NewID(), Created: b.by.opts.Now(), Summary: text}
	out.Sections = Sections{Summary: []ragctx.Message{rec.summaryMessage()}, Messages: slices.Concat(back, s.Messages)}
	out.Summarized = &ragctx.MessageBufferSummarized{Summary: text, Buffer: buffer}
	return out, nil
}

// summarizable splits a buffer into the messages that may be summarized and those in use: the
// newest instruction, pending calls and the newest exchange, each with its group.
func summarizable(s Sections) (buffer, back []ragctx.Message) {
	all := slices.Concat(s.Buffer, s.Messages)
	must := append(pendingIn(all), session.NewestExchange(all)...)
	must = append(must, session.LastInstruction(all))
	for _, g := range session.Groups(s.Buffer) {
		if slices.ContainsFunc(must, func(i int) bool { return g.From <= i && i < g.To }) {
			back = append(back, s.Buffer[g.From:g.To]...)
		} else {
			buffer = append(buffer, s.Buffer[g.From:g.To]...)
		}
	}
	return buffer, back
}

// write writes a summary with the first strategy that succeeds.
func (b *Buffering) write(ctx context.Context, material []ragctx.Message, out *Buffered) (string, error) {
	own := Extract(material)
	most := b.opts.SummaryTokens + min(statementTokens(own.statements(), b.by.opts.Counter), b.opts.BufferTokens/4)
	for _, strategy := range b.by.strategies() {
		var res Result
		text, err := b.by.write(ctx, strategy, material, own, most, &res)
		out.Usage.PromptTokens += res.Usage.PromptTokens
		out.Usage.CompletionTokens += res.Usage.CompletionTokens
		if ctx.Err() != nil {
			return "", fmt.Errorf("summarize the buffer: %w", ctx.Err())
		}
		if err == nil {
			return text, nil
		}
		out.Warnings = append(out.Warnings, Warning{Strategy: strategy, Reason: err.Error()})
	}
	return "", nil
}
