package conversation

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/compact"
	"github.com/ragctx/ragctx/session"
)

// SectionSummarized has what the buffer policy has summarised. It is beside the branch
// that is shown, so that nothing that was said is lost.
const SectionSummarized = "summarized"

// buffer does what the buffer policy has to do after a step, and returns the branch as it
// is then.
func (s *Service) buffer(ctx context.Context, k session.Key, l *loaded, c scale) (*loaded, Compacted, error) {
	policy, err := compact.NewBuffering(compact.BufferOptions{Cost: c.message, Options: s.compaction(c.Counter)})
	if err != nil {
		return l, Compacted{}, err
	}
	before := compact.Sections{
		Summary: l.store.Section(session.SectionSummary).Messages,
		Buffer:  l.store.Section(session.SectionBuffer).Messages, Messages: l.store.Section(session.SectionMessages).Messages,
	}
	did, err := policy.After(ctx, before)
	if err != nil {
		return l, Compacted{}, err
	}
	s.warn(ctx, k, did.Warnings)
	out := Compacted{Moved: did.Moved, Summarized: did.Summarized}
	out.Warnings, out.Usage = did.Warnings, did.Usage
	if did.Moved == nil && did.Summarized == nil {
		out.Reason = "neither messages nor buffer exceed their limits"
	} else if err := s.store(ctx, k, moved(l, did.Sections)); err != nil {
		return l, Compacted{}, err
	}
	if did.Moved != nil {
		s.opts.Tell(ctx, k, ragctx.Event{Type: ragctx.EventMessagesMovedToBuffer, Data: *did.Moved})
	}
	if did.Summarized != nil {
		s.opts.Tell(ctx, k, ragctx.Event{Type: ragctx.EventMessageBufferSummarized, Data: *did.Summarized})
	}
	if l, err = s.load(ctx, k, ""); err != nil {
		return l, Compacted{}, err
	}
	out.Messages = l.store.Select(session.InferenceOrder()...).Messages()
	out.Before, out.After = c.size(slices.Concat(before.Summary, before.Buffer, before.Messages)), c.size(out.Messages)
	return l, out, nil
}

// size returns what messages cost.
func (c scale) size(messages []ragctx.Message) compact.Size {
	out := compact.Size{Messages: len(messages)}
	for _, m := range messages {
		out.Tokens += c.message(m)
	}
	return out
}
