package view

import (
	"cmp"
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
	} else if out.Stored, err = s.recordBuffer(ctx, k, l, did); err != nil {
		return l, Compacted{}, err
	}
	if len(did.Warnings) > 0 {
		full := did.Sections.Buffer
		if did.Summarized != nil {
			full = did.Summarized.Buffer
		}
		s.opts.Tell(ctx, k, ragctx.Event{Type: ragctx.EventContextWarning, Data: policy.FailureEvent(k.ID, c.size(full).Tokens, did.Warnings)})
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

// recordBuffer stores what the buffer policy has changed. Where there is no room for that the
// change stays, and cannot be undone.
func (s *Service) recordBuffer(ctx context.Context, k session.Key, before *loaded, did compact.Buffered) (*session.Compaction, error) {
	r := BufferRecord{Kind: KindBuffer}
	for _, e := range before.entries {
		r.Before = append(r.Before, BufferPlace{e.Message.ID, e.Section})
	}
	if did.Summarized != nil {
		for _, m := range did.Sections.Summary {
			r.Made = append(r.Made, m.ID)
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode what the buffer was: %w", err)
	}
	now, err := s.load(ctx, k, "")
	if err != nil {
		return nil, err
	}
	c, _, err := s.record(session.WithCondition(ctx, session.Condition{}), k, now, session.Compaction{Record: raw})
	if errors.Is(err, ragctx.ErrTooLarge) {
		s.opts.Logger.WarnContext(ctx, "what the buffer policy did is not kept, and cannot be undone", "session_id", k.ID, "error", err)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("keep what the buffer was: %w", err)
	}
	return &c, nil
}

// errMoved is the kind of an error about messages that are not where a buffer needs them.
var errMoved = fmt.Errorf("%w of branches", ragctx.ErrConflict)

// unbuffer takes back what the newest record says that the buffer policy did.
func (s *Service) unbuffer(ctx context.Context, k session.Key, r *BufferRecord) error {
	var conflict error
	err := s.store(ctx, k, func(a session.Archive) session.Archive {
		var back session.Archive
		if back, conflict = r.restored(a); conflict != nil {
			return a
		}
		return back
	})
	return cmp.Or(conflict, err)
}

// restored returns an archive in which the messages are where they were before. What was said
// since comes after them.
func (r *BufferRecord) restored(a session.Archive) (session.Archive, error) {
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
		return &ragctx.FieldError{Field: "session_id", Kind: errMoved, Problem: fmt.Sprintf("what the layer buffer did last cannot be undone: its message %s was removed or is on another branch. "+
			"Go back to that branch; what was summarised is in the section %s. To take an older record back, change the layer first", ragctx.Clip(id), SectionSummarized)}
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
	return relinked(a, branch, gone), nil
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
// policy of which there is no record, nil where it is none: what is in the buffer does not
// tell who put it there, nor when.
func (l *loaded) irreversible(k session.Key) error {
	if n := len(l.records.all); n > 0 && l.records.all[n-1].buffer != nil {
		return nil
	}
	moved := func(e session.Entry) bool { return e.Section == session.SectionBuffer || throughOf(e) != "" }
	if l.layer != stage.LayerBuffer || !slices.ContainsFunc(l.entries, moved) {
		return nil
	}
	return &ragctx.FieldError{Field: "session_id", Kind: ragctx.ErrConflict, Problem: fmt.Sprintf("the session %q has a buffer, or a summary of one, and no record of who filled it, so that cannot be undone; "+
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
