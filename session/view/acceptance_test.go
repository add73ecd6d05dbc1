package view_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// "disabled/below threshold ⇒ false": nothing is compacted, stored or published.
func TestCompactionDisabledOrNotDue(t *testing.T) {
	for name, c := range map[string]struct {
		settings view.CompactionSettings
		window   int
		told     []string
	}{
		"disabled":            {view.CompactionSettings{Disabled: true}, 4000, nil},
		"below the threshold": {view.CompactionSettings{}, 400_000, nil},
		"due":                 {view.CompactionSettings{}, 12_000, []string{"context_warning", "context_compacting", "context_compacted"}},
	} {
		w := newWorld(t, view.Options{Settings: view.Settings{Compaction: c.settings}})
		w.append(talk(0, 40, 60)...)
		v := w.view(view.ViewOptions{Budget: stage.Budget{Window: c.window}})
		kept, err := compactions(w.storage)
		w.must(err)
		if want := c.told != nil; (len(v.Records) > 0) != want || (len(kept) > 0) != want || strings.Contains(texts(v.Messages), compact.Marker) != want {
			t.Errorf("%s: %d records, %d stored", name, len(v.Records), len(kept))
		}
		if got := w.events(); !slices.Equal(got, c.told) {
			t.Errorf("%s: told %v", name, got)
		}
	}
}

// "unknown session ⇒ error", and nothing is created or published.
func TestCompactingAnUnknownSession(t *testing.T) {
	w := newWorld(t, view.Options{})
	other := session.Key{Namespace: key.Namespace, User: key.User, ID: "unknown"}
	_, compacted := w.Compact(t.Context(), other, view.CompactOptions{})
	_, viewed := w.View(t.Context(), other, view.ViewOptions{})
	_, _, undone := w.Undo(t.Context(), other, session.Condition{})
	for what, err := range map[string]error{"compact": compacted, "view": viewed, "undo": undone} {
		if !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if has, err := session.Has(t.Context(), w.storage, other); has || err != nil {
		t.Errorf("it was made: %v", err)
	}
	if got := w.events(); got != nil {
		t.Errorf("told %v", got)
	}
}

// Usage is never shared between sessions: that one is full, or was compacted,
// changes nothing of another.
func TestUsageIsOfASession(t *testing.T) {
	storage := session.NewMemory(session.Options{})
	w := newWorld(t, view.Options{Storage: storage})
	other := session.Key{Namespace: key.Namespace, User: key.User, ID: "other"}
	quiet, err := view.New(view.Options{Storage: storage})
	w.must(err)
	w.create(storage, other)
	_, _, err = quiet.Append(t.Context(), other, view.AppendOptions{}, talk(0, 40, 60)...)
	w.must(err)
	show := func() string {
		v, err := quiet.View(t.Context(), other, view.ViewOptions{Budget: stage.Budget{Window: 100_000}})
		w.must(err)
		if len(v.Records) > 0 || v.Used != 0 {
			t.Errorf("%d records, %d used", len(v.Records), v.Used)
		}
		return texts(v.Messages)
	}
	w.append(talk(0, 40, 60)...)
	whole := show()
	full := w.view(view.ViewOptions{Budget: stage.Budget{Window: 100_000}, Used: 99_000})
	if len(full.Records) != 1 {
		t.Errorf("%d records of the one that is full", len(full.Records))
	}
	if show() != whole {
		t.Error("the other one is shown otherwise")
	}
}

// Truncation is a view and writes nothing back; compactions and persisted results of
// stages last.
func TestWhatIsWrittenBack(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.append(talk(0, 40, 60)...)
	whole := texts(w.compiled(view.CompileOptions{}))
	if v := w.view(view.ViewOptions{Budget: stage.Budget{Tokens: 1000}}); len(v.Messages) >= 160 || len(v.Records) > 0 {
		t.Errorf("truncated to %d messages, %d records", len(v.Messages), len(v.Records))
	}
	if texts(w.compiled(view.CompileOptions{})) != whole {
		t.Error("truncation has lasted")
	}
	v := w.view(view.ViewOptions{Budget: stage.Budget{Window: 12_000}})
	if got := texts(w.compiled(view.CompileOptions{})); len(v.Records) != 1 || got != texts(v.Messages) || got == whole {
		t.Error("compaction has not lasted")
	}
}

// ending is a stage that cancels the request at its end.
type ending struct {
	adds

	end context.CancelFunc
}

func (e ending) Apply(ctx context.Context, s *stage.State, messages []ragctx.Message, b stage.Budget) ([]ragctx.Message, error) {
	defer e.end()
	return e.adds.Apply(ctx, s, messages, b)
}

// Cancellation is checked between stages; later stages do not run.
func TestCancellationBetweenStages(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, view.Options{Stages: []stage.Stage{ending{adds{"be brief", false}, cancel}}})
	w.append(talk(0, 40, 60)...)
	if _, err := w.View(ctx, key, view.ViewOptions{Budget: stage.Budget{Window: 12_000}}); !errors.Is(err, context.Canceled) {
		t.Errorf("the request has ended: %v", err)
	}
	kept, err := compactions(w.storage)
	if err != nil || len(kept) != 0 || w.events() != nil {
		t.Errorf("a later stage has run: %d records, %v", len(kept), err)
	}
}
