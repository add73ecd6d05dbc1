package view_test

import (
	"context"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// noting is a stage that adds a note after each answer, once, and wants it to last.
type noting struct{ ids bool }

func (noting) Name() string                                     { return "noting" }
func (noting) Priority() int                                    { return 15 }
func (noting) EstimateTokens(context.Context, *stage.State) int { return 0 }

func (n noting) Apply(_ context.Context, s *stage.State, messages []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
	last := messages[len(messages)-1]
	if last.Role != ragctx.RoleAssistant || last.ID == "" || last.Name == "note" {
		return nil, nil
	}
	note := ragctx.TextMessage(ragctx.RoleAssistant, "noted "+last.ID)
	if note.Name = "note"; n.ids {
		note.ID = "note-" + last.ID
	}
	out := append(append([]ragctx.Message{}, messages...), note)
	s.Persist(out)
	return out, nil
}

// TestStagesAndCompaction: a message added by a stage may be at the edge of a compacted range. The
// compaction persists, and the next call does not compact again.
func TestStagesAndCompaction(t *testing.T) {
	const words = " please please please please please please please please please please"
	for _, ids := range []bool{false, true} {
		w := newWorld(t, view.Options{Stages: []stage.Stage{noting{ids}}})
		compactions := 0
		for range 40 {
			_, _, err := w.Append(t.Context(), key, view.AppendOptions{},
				ragctx.TextMessage(ragctx.RoleUser, "Why does it fail?"+words), ragctx.TextMessage(ragctx.RoleAssistant, "We decided to use rules."+words))
			w.must(err)
			for call := range 2 {
				v, err := w.View(t.Context(), key, view.ViewOptions{Budget: stage.Budget{Window: 1200}})
				w.must(err)
				for _, r := range v.Reports {
					if r.Stage != "compaction" || !r.Persisted {
						continue
					}
					if compactions++; call > 0 {
						t.Errorf("ids %v: compacted again, though nothing was said", ids)
					}
				}
			}
		}
		if compactions < 2 || compactions > 20 {
			t.Errorf("ids %v: %d compactions", ids, compactions)
		}
	}
}

// TestCompactingAfterStages: the same holds for a compaction that is asked for.
func TestCompactingAfterStages(t *testing.T) {
	const words = " please please please please please please please please please please"
	for _, ids := range []bool{false, true} {
		w := newWorld(t, view.Options{Stages: []stage.Stage{noting{ids}}})
		for range 30 {
			_, _, err := w.Append(t.Context(), key, view.AppendOptions{},
				ragctx.TextMessage(ragctx.RoleUser, "Why does it fail?"+words), ragctx.TextMessage(ragctx.RoleAssistant, "We decided to use rules."+words))
			w.must(err)
			_, err = w.View(t.Context(), key, view.ViewOptions{})
			w.must(err)
		}
		for keep := 20; keep > 2; keep-- { // whatever is at the edges
			out, err := w.Compact(t.Context(), key, view.CompactOptions{KeepLast: keep, KeepFirst: -1})
			w.must(err)
			if out.Stored == nil {
				continue
			}
			v, err := w.View(t.Context(), key, view.ViewOptions{})
			w.must(err)
			if len(v.Messages) != len(out.Messages) {
				t.Errorf("ids %v, keep %d: %d messages are shown, want %d", ids, keep, len(v.Messages), len(out.Messages))
			}
			_, _, err = w.Undo(t.Context(), key, session.Condition{})
			w.must(err)
		}
	}
}
