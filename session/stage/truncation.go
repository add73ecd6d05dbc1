package stage

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Truncation is the stage that limits the messages by number, then by tokens. It persists nothing,
// because later iterations must be able to show the dropped messages. It cuts in steps
// ([session.Limits].Steady), and shortens the newest tool results.
type Truncation struct {
	// MaxMessages and MaxTokens are the limits; 0 means no limit. The smaller of MaxTokens and the
	// budget applies.
	MaxMessages, MaxTokens int
	Counter                ragctx.Counter // must not be nil
}

// Name implements [Stage].
func (Truncation) Name() string { return "truncation" }

// Priority implements [Stage].
func (Truncation) Priority() int { return TruncationPriority }

// EstimateTokens implements [Stage].
func (Truncation) EstimateTokens(context.Context, *State) int { return 0 }

// Apply implements [Stage].
func (t Truncation) Apply(_ context.Context, s *State, messages []ragctx.Message, b Budget) ([]ragctx.Message, error) {
	scale, out := session.Scale{Counter: t.Counter}, messages
	if t.MaxMessages > 0 {
		ones := make([]int, len(out))
		for i := range ones {
			ones[i] = 1
		}
		out = session.Truncate(out, session.Limits{Tokens: t.MaxMessages, Costs: ones, Steady: true}).Messages
	}
	most := b.Tokens
	if t.MaxTokens > 0 && (most == 0 || t.MaxTokens < most) {
		most = t.MaxTokens
	}
	switch {
	case most > 0:
		out = session.Truncate(out, session.Limits{Tokens: most, Scale: scale, Costs: s.costs(scale, out), Steady: true}).Messages
	case t.MaxMessages <= 0:
		out = session.Sound(out, session.Limits{}).Messages
	}
	if out == nil {
		out = []ragctx.Message{} // nil would leave the messages unchanged
	}
	return out, nil
}
