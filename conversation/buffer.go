package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/compact"
	"github.com/ragctx/ragctx/pipeline"
	"github.com/ragctx/ragctx/session"
)

// SectionSummarized has what the buffer policy has summarised. It is beside the branch
// that is shown, so that nothing that was said is lost.
const SectionSummarized = "summarized"

// MetaThrough is the key of the metadata of a buffer's summary that names the last message
// that it stands for. The branch to that one is all that was summarised.
const MetaThrough = "summarized_through"

// MetaSummarized and MetaSummarizedTokens are the keys of how many messages such a summary
// stands for, and what they cost by the tokenizer of the call that made it.
const (
	MetaSummarized       = "summarized_messages"
	MetaSummarizedTokens = "summarized_tokens"
)

// buffer does what the buffer policy has to do after a step, and returns the branch as it
// is then.
func (s *Service) buffer(ctx context.Context, k session.Key, l *loaded, c scale, by compact.Strategy) (*loaded, Compacted, error) {
	with := s.compaction(c.Counter)
	with.Strategy = by
	policy, err := compact.NewBuffering(compact.BufferOptions{Cost: c.message, Options: with})
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
	} else if err := s.store(ctx, k, moved(l, did.Sections, c)); err != nil {
		return l, Compacted{}, err
	}
	if len(did.Warnings) > 0 {
		full := did.Sections.Buffer
		if did.Summarized != nil {
			full = did.Summarized.Buffer
		}
		s.opts.Tell(ctx, k, ragctx.Event{Type: ragctx.EventContextWarning, Data: policy.Failed(k.ID, c.size(full).Tokens, did.Warnings)})
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

// unsummarized returns the branch with what the buffer policy has summarised in the place of
// its summary.
func (s *Service) unsummarized(ctx context.Context, k session.Key, l *loaded) (*loaded, error) {
	at := slices.IndexFunc(l.entries, func(e session.Entry) bool { return throughOf(e) != "" })
	if at < 0 {
		return l, nil
	}
	said, err := s.opts.Storage.Path(ctx, k, throughOf(l.entries[at]))
	if errors.Is(err, ragctx.ErrNotFound) { // it was removed
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was summarised: %w", err)
	}
	for i := range said {
		said[i].Section = session.SectionSummary // as it is shown in that place
	}
	out := *l
	out.tables = new(tables) // those of the branch would hold on to what was summarised
	out.entries = slices.Concat(l.entries[:at], said, l.entries[at+1:])
	out.store = session.StoreOf(out.entries)
	return &out, nil
}

// throughOf returns the last message that a summary of the buffer policy stands for; "" is
// none.
func throughOf(e session.Entry) string {
	if e.Section != session.SectionSummary {
		return ""
	}
	through, _ := e.Message.Metadata[MetaThrough].(string)
	return through
}

// summarizedBy returns how many messages a summary of the buffer policy stands for, and what
// they cost.
func summarizedBy(e session.Entry) (messages, tokens int) {
	if throughOf(e) == "" {
		return 0, 0
	}
	return number(e.Message.Metadata[MetaSummarized]), number(e.Message.Metadata[MetaSummarizedTokens])
}

// number returns a number of metadata, which was read from JSON or was not yet written.
func number(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return 0
}

// irreversible is the error that the newest change of a session may be one of the buffer
// policy, nil where it is none: what is in the buffer does not tell who put it there, nor when.
func (l *loaded) irreversible(k session.Key) error {
	moved := func(e session.Entry) bool { return e.Section == session.SectionBuffer || throughOf(e) != "" }
	if l.layer != pipeline.LayerBuffer || !slices.ContainsFunc(l.entries, moved) {
		return nil
	}
	return &ragctx.FieldError{Field: "session_id", Kind: ragctx.ErrConflict, Problem: fmt.Sprintf("the session %q has a buffer, or a summary of one, and what its layer moves there cannot be undone; "+
		"what was summarised is in the section %s, and is shown with raw. To take an older record back, change the layer first", ragctx.Clip(k.ID), SectionSummarized)}
}

// size returns what messages cost.
func (c scale) size(messages []ragctx.Message) compact.Size {
	out := compact.Size{Messages: len(messages)}
	for _, m := range messages {
		out.Tokens += c.message(m)
	}
	return out
}
