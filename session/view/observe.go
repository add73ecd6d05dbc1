package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// Observe writes a note on the messages of the branch since its newest observation. If nothing is
// noted, [stage.Observed].Reason says why.
func (s *Service) Observe(ctx context.Context, k session.Key) (stage.Observed, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return stage.Observed{}, err
	}
	if s.opts.Notes == nil || s.opts.Settings.Observation.Disabled {
		return stage.Observed{Reason: "observation is switched off"}, nil
	}
	unlock, err := s.workLocks.lock(ctx, k)
	if err != nil {
		return stage.Observed{}, err
	}
	defer unlock()
	l, err := s.load(ctx, k, "")
	if err != nil {
		return stage.Observed{}, err
	}
	if reason := l.notObservedReason(); reason != "" {
		return stage.Observed{Reason: reason}, nil
	}
	o := s.opts.Settings.observer()
	o.Generator, o.Now, o.NewID = s.opts.Observer, s.opts.Now, s.opts.NewID
	notes := branchNotes{notes: s.opts.Notes, branch: l}
	observer, err := stage.NewObserver(&notes, o)
	if err != nil {
		return stage.Observed{}, err
	}
	before, err := notes.Notes(ctx, scopeOf(k))
	if err != nil {
		return stage.Observed{}, fmt.Errorf("read observations: %w", err)
	}
	var turn []ragctx.Message
	for _, e := range l.entries[l.observedCount(before):] {
		turn = append(turn, e.Message)
	}
	if len(turn) == 0 {
		return stage.Observed{Reason: "there are no messages since the last observation"}, nil
	}
	out, err := observer.Observe(ctx, scopeOf(k), turn)
	if out.Note != nil { // without a note the session may have been deleted
		s.warnNoteFailed(ctx, k, out.Warnings)
	}
	return out, err
}

// warnNoteFailed reports that a model failed to write a note, which was then extracted.
func (s *Service) warnNoteFailed(ctx context.Context, k session.Key, reasons []string) {
	if len(reasons) == 0 {
		return
	}
	e := ragctx.ContextWarning{SessionID: k.ID}
	for _, reason := range reasons {
		s.warn(ctx, k, []compact.Warning{{Strategy: compact.LLM, Reason: reason}})
		e.Warnings = append(e.Warnings, string(compact.LLM)+": "+reason)
	}
	s.opts.Publish(ctx, k, ragctx.Event{Type: ragctx.EventContextWarning, Data: e})
}

// notObservedReason returns why a session is not observed, or "".
func (l *branch) notObservedReason() string {
	switch {
	case l.layer != stage.LayerObservation:
		return fmt.Sprintf("the session's layer of compression is %s", cmp.Or(l.layer, stage.LayerCompaction))
	case l.hasCompaction():
		return "the conversation was compacted, which is its layer of compression"
	}
	return ""
}

// hasCompaction reports whether the branch has been compacted.
func (l *branch) hasCompaction() bool {
	for _, r := range l.records.compactions {
		if l.has(r.From) && l.has(r.To) {
			return true
		}
	}
	i, _ := l.newestStage(l.records.stages)
	return i >= 0 && slices.ContainsFunc(l.records.stages[i].Messages, func(m stageMessage) bool {
		_, summary := compact.SummaryText(m.madeMessage())
		return summary
	})
}

// observedCount returns the number of messages covered by notes.
func (l *branch) observedCount(notes []stage.Note) int {
	last := -1
	for _, n := range notes {
		last = max(last, l.place(n.Through))
	}
	return last + 1
}

// Observations returns the active observations of a session, oldest first.
func (s *Service) Observations(ctx context.Context, k session.Key) ([]stage.Note, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return nil, err
	}
	if _, _, err := s.opts.Storage.Read(ctx, k, session.Query{}); err != nil || s.opts.Notes == nil {
		return nil, err
	}
	return s.opts.Notes.Notes(ctx, scopeOf(k))
}
