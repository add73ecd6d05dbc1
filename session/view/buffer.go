package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// SectionSummarized holds the messages that the buffer policy has summarized. They are not on the
// shown branch, but nothing is lost.
const SectionSummarized = "summarized"

// MetaThrough is the metadata key of a buffer's summary with the id of the last summarized message.
// The branch to that message has all summarized messages.
const MetaThrough = "summarized_through"

// MetaSummarized and MetaSummarizedTokens are the metadata keys with the number and the token cost
// of the summarized messages, in the tokenizer of the call.
const (
	MetaSummarized       = "summarized_messages"
	MetaSummarizedTokens = "summarized_tokens"
)

// buffer applies the buffer policy after a step, and returns the resulting branch.
func (s *Service) buffer(
	ctx context.Context, k session.Key, l *branch, c scale, by compact.Strategy, when session.Condition,
) (*branch, Compacted, error) {
	with := s.compaction(c.Counter)
	with.Strategy = by
	policy, err := compact.NewBuffering(compact.BufferOptions{Cost: c.Message, Options: with})
	if err != nil {
		return l, Compacted{}, err
	}
	before := compact.Sections{
		Summary: l.store.Section(session.SectionSummary).Messages,
		Buffer:  l.store.Section(session.SectionBuffer).Messages, Messages: l.store.Section(session.SectionMessages).Messages,
	}
	result, err := policy.After(ctx, before)
	if err != nil {
		return l, Compacted{}, err
	}
	s.warn(ctx, k, result.Warnings)
	out := Compacted{Moved: result.Moved, Summarized: result.Summarized}
	out.Warnings, out.Usage = result.Warnings, result.Usage
	if result.Moved == nil && result.Summarized == nil {
		out.Reason = "neither the messages nor the buffer exceed their limits"
	} else if out.Stored, out.Version, err = s.moveBuffer(ctx, k, l, result, c, when); err != nil {
		return l, Compacted{}, err
	}
	if len(result.Warnings) > 0 {
		full := result.Sections.Buffer
		if result.Summarized != nil {
			full = result.Summarized.Buffer
		}
		s.opts.Publish(ctx, k, ragctx.Event{
			Type: ragctx.EventContextWarning,
			Data: policy.FailureEvent(k.ID, c.size(full).Tokens, result.Warnings),
		})
	}
	if result.Moved != nil {
		s.opts.Publish(ctx, k, ragctx.Event{Type: ragctx.EventMessagesMovedToBuffer, Data: *result.Moved})
	}
	if result.Summarized != nil {
		s.opts.Publish(ctx, k, ragctx.Event{Type: ragctx.EventMessageBufferSummarized, Data: *result.Summarized})
	}
	if l, err = s.load(ctx, k, ""); err != nil {
		return l, Compacted{}, err
	}
	out.Messages = l.store.Select(session.InferenceOrder()...).Messages()
	out.Before, out.After = c.size(slices.Concat(before.Summary, before.Buffer, before.Messages)), c.size(out.Messages)
	return l, out, nil
}

// moveBuffer stores a change by the buffer policy with a record of it, and returns the record and the
// new version. If there is no room for the record, the change stays and cannot be undone.
func (s *Service) moveBuffer(
	ctx context.Context, k session.Key, before *branch, result compact.Buffered, c scale, when session.Condition,
) (*session.Compaction, session.Version, error) {
	move := moveToSections(before, result.Sections, c)
	at, err := s.store(ctx, k, when, func(a session.Archive) (session.Archive, error) { return move(a), nil })
	if err != nil {
		return nil, at, err
	}
	r := bufferRecord{Kind: KindBuffer}
	for _, e := range before.entries {
		r.Before = append(r.Before, bufferPlace{e.Message.ID, e.Section})
	}
	if result.Summarized != nil {
		for _, m := range result.Sections.Summary {
			r.Made = append(r.Made, m.ID)
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, at, fmt.Errorf("encode the record of the buffer: %w", err)
	}
	now, err := s.load(ctx, k, "")
	if err != nil {
		return nil, at, err
	}
	stored, now, err := s.record(ctx, k, now, session.Compaction{Record: raw}, session.Condition{})
	if errors.Is(err, ragctx.ErrTooLarge) {
		s.opts.Logger.WarnContext(ctx, "the change of the buffer is too large to be recorded and cannot be undone",
			"session_id", k.ID, "error", err)
		return nil, at, nil
	}
	if err != nil {
		return nil, at, fmt.Errorf("store the record of the buffer: %w", err)
	}
	return &stored, now.version, nil
}

// errMovedAway is the kind of an error about messages that are not where the buffer policy put
// them.
var errMovedAway = fmt.Errorf("%w of branches", ragctx.ErrConflict)

// undoBuffer reverts the newest change by the buffer policy.
func (s *Service) undoBuffer(ctx context.Context, k session.Key, r *bufferRecord, when session.Condition) error {
	_, err := s.store(ctx, k, when, r.restore)
	return err
}

// restore returns an archive with the messages in their previous sections, followed by later
// messages.
func (r *bufferRecord) restore(a session.Archive) (session.Archive, error) {
	at := make(map[string]int, len(a.Entries))
	for i, e := range a.Entries {
		at[e.Message.ID] = i
	}
	a.Entries = slices.Clone(a.Entries)
	known, gone := make(map[string]bool), make(map[string]bool)
	for _, id := range r.Made {
		gone[id] = true
	}
	path := branchOf(a)
	on := make(map[string]bool, len(path))
	for _, e := range path {
		on[e.Message.ID] = true
	}
	elsewhere := func(id string) error {
		problem := fmt.Sprintf("the last change of the buffer cannot be undone: its message %s was removed or is on another branch. "+
			"Go back to that branch; the summarized messages are in the section %s. To undo an older record, change the layer first",
			ragctx.Clip(id), SectionSummarized)
		return &ragctx.FieldError{Field: "session_id", Kind: errMovedAway, Problem: problem}
	}
	for _, id := range r.Made {
		if !on[id] {
			return a, elsewhere(id)
		}
	}
	var branch []session.Entry
	for _, b := range r.Before {
		i, there := at[b.ID]
		if !there || !on[b.ID] && a.Entries[i].Section != SectionSummarized {
			return a, elsewhere(b.ID)
		}
		known[b.ID], a.Entries[i].Section = true, b.Section
		branch = append(branch, a.Entries[i])
	}
	for _, e := range path {
		if !known[e.Message.ID] && !gone[e.Message.ID] {
			branch = append(branch, e)
		}
	}
	return withBranch(a, branch, gone), nil
}

// unsummarized returns the branch with the summary of the buffer policy replaced by the summarized
// messages.
func (s *Service) unsummarized(ctx context.Context, k session.Key, l *branch) (*branch, error) {
	at := slices.IndexFunc(l.entries, func(e session.Entry) bool { return throughOf(e) != "" })
	if at < 0 {
		return l, nil
	}
	said, err := session.Path(ctx, s.opts.Storage, k, throughOf(l.entries[at]))
	if errors.Is(err, ragctx.ErrNotFound) { // it was removed
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the summarized messages: %w", err)
	}
	for i := range said {
		said[i].Section = session.SectionSummary // the section of the summary
	}
	out := *l
	out.costs = new(costTables) // the cost tables of the branch must not retain the summarized messages
	out.entries = slices.Concat(l.entries[:at], said, l.entries[at+1:])
	out.store = session.StoreOf(out.entries)
	return &out, nil
}

// throughOf returns the id of the last message covered by a summary of the buffer policy, or "".
func throughOf(e session.Entry) string {
	if e.Section != session.SectionSummary {
		return ""
	}
	through, _ := e.Message.Metadata[MetaThrough].(string)
	return through
}

// summarizedBy returns the number of messages that a summary of the buffer policy covers, and their
// cost.
func summarizedBy(e session.Entry) (messages, tokens int) {
	if throughOf(e) == "" {
		return 0, 0
	}
	return number(e.Message.Metadata[MetaSummarized]), number(e.Message.Metadata[MetaSummarizedTokens])
}

// number returns a number in metadata, decoded from JSON or not yet encoded.
func number(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return 0
}

// checkUndoable returns an error if the newest change of a session may be an unrecorded one of the
// buffer policy. The contents of a buffer do not show when it was filled.
func (l *branch) checkUndoable(k session.Key) error {
	if n := len(l.records.all); n > 0 && l.records.all[n-1].buffer != nil {
		return nil
	}
	moved := func(e session.Entry) bool { return e.Section == session.SectionBuffer || throughOf(e) != "" }
	if l.layer != stage.LayerBuffer || !slices.ContainsFunc(l.entries, moved) {
		return nil
	}
	problem := fmt.Sprintf("the session %q has a buffer, or a summary of one, but no record of the change, so it cannot be undone; "+
		"the summarized messages are in the section %s, and are shown with raw. To undo an older record, change the layer first",
		ragctx.Clip(k.ID), SectionSummarized)
	return &ragctx.FieldError{Field: "session_id", Kind: ragctx.ErrConflict, Problem: problem}
}

// size returns the size of messages.
func (c scale) size(messages []ragctx.Message) compact.Size {
	out := compact.Size{Messages: len(messages)}
	for _, m := range messages {
		out.Tokens += c.Message(m)
	}
	return out
}
