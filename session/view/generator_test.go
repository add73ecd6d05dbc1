package view_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// failures are the ways in which a model fails.
var failures = map[string]func(context.Context) (string, error){
	"down":    func(context.Context) (string, error) { return "", ragctx.ErrUnavailable },
	"refused": func(context.Context) (string, error) { return "", llm.ErrRefused },
	"empty":   func(context.Context) (string, error) { return "", nil },
	"garbage": func(context.Context) (string, error) { return "lorem ipsum", nil },
	"slow":    func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
}

// failing returns a world with a model that fails in the given way, and a long conversation in a
// layer.
func failing(t *testing.T, says func(context.Context) (string, error), layer stage.Layer) *world {
	t.Helper()
	model := llm.GeneratorFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		text, err := says(ctx)
		return llm.Response{Text: text}, err
	})
	w := newWorld(t, view.Options{
		Generator: model, Observer: model,
		Settings: view.Settings{Compaction: view.CompactionSettings{Timeout: time.Millisecond}},
	})
	w.setLayer(layer)
	w.append(talk(0, 60, 60)...)
	return w
}

// warned returns the published warnings about failed strategies, by event type.
func (w *world) warned() map[ragctx.EventType][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[ragctx.EventType][]string)
	for _, e := range w.told {
		switch d := e.Data.(type) {
		case ragctx.ContextWarning:
			out[e.Type] = append(out[e.Type], d.Warnings...)
		case ragctx.ContextCompacted:
			out[e.Type] = append(out[e.Type], d.Warnings...)
		}
	}
	return out
}

// A model that is down, slow, empty or incoherent costs only its summary: messages stay, the
// failure is published, and extraction takes over, in every layer.
func TestModelsFailDuringACall(t *testing.T) {
	window := view.ViewOptions{Budget: stage.Budget{Window: 12_000}}
	for layer, tells := range map[stage.Layer]ragctx.EventType{
		stage.AnyLayer: ragctx.EventContextCompacted, stage.LayerCompaction: ragctx.EventContextCompacted, stage.LayerBuffer: ragctx.EventContextWarning,
	} {
		for name, says := range failures {
			w := failing(t, says, layer)
			whole := texts(w.compiled(view.CompileOptions{Raw: true}))
			v := w.view(window)
			if !slices.ContainsFunc(v.Messages, func(m ragctx.Message) bool { text, ok := compact.SummaryText(m); return ok && text != "" }) {
				t.Errorf("%q, %s: there is no summary", layer, name)
			}
			warned := w.warned()[tells]
			if len(warned) != 1 || !strings.HasPrefix(warned[0], "llm: ") || strings.Contains(warned[0], "lorem") {
				t.Errorf("%q, %s: told %q", layer, name, warned)
			}
			if got := texts(w.compiled(view.CompileOptions{Raw: true})); got != whole {
				t.Errorf("%q, %s: what was said has changed", layer, name)
			}
			if again := w.view(window); texts(again.Messages) != texts(v.Messages) || len(again.Records) > 0 {
				t.Errorf("%q, %s: summarised anew", layer, name)
			}
		}
	}
}

// If a model fails to note a long turn, the note is extracted and the failure published. The
// extracted note replaces no messages: the conversation is compacted instead.
func TestModelsFailToObserve(t *testing.T) {
	for name, says := range failures {
		if name == "slow" {
			continue // for a minute; package pipeline waits less
		}
		w := failing(t, says, stage.LayerObservation)
		whole := texts(w.compiled(view.CompileOptions{}))
		w.events()
		seen, err := w.Observe(t.Context(), key)
		w.must(err)
		if seen.Note == nil || len(seen.Warnings) != 1 {
			t.Errorf("%s: %+v", name, seen)
		}
		warned := w.warned()[ragctx.EventContextWarning]
		if len(warned) != 1 || !strings.HasPrefix(warned[0], "llm: ") || strings.Contains(warned[0], "lorem") {
			t.Errorf("%s: told %q", name, warned)
		}
		if got := texts(w.compiled(view.CompileOptions{})); got != whole {
			t.Errorf("%s: what was said has changed", name)
		}
		v := w.view(view.ViewOptions{Budget: stage.Budget{Window: 12_000}})
		if strings.Contains(texts(v.Messages), stage.PrefixMarker) || len(v.Records) != 1 {
			t.Errorf("%s: the note is shown, and there are %d records", name, len(v.Records))
		}
	}
}
