package view_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

// said draws messages as agents send them, and some as they should not: calls side by side,
// results that are late, missing, or of nothing.
func said(t *rapid.T, n int) []ragctx.Message {
	long := strings.Repeat("a long thing to say about it ", rapid.IntRange(0, 12).Draw(t, "long"))
	out := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Please do %d. %s", n, long))}
	for i := range rapid.IntRange(0, 3).Draw(t, "steps") {
		call := ragctx.Message{Role: ragctx.RoleAssistant}
		var results []ragctx.Message
		for j := range rapid.IntRange(1, 3).Draw(t, "calls") {
			id := fmt.Sprintf("c%d-%d-%d", n, i, j)
			call.Content = append(call.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: id, Name: "f", Input: []byte(`{"x":1}`)})
			if rapid.IntRange(0, 9).Draw(t, "answered") > 0 {
				results = append(results, ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text("it failed. " + long)}}})
			}
		}
		out = append(append(out, call), results...)
	}
	if rapid.IntRange(0, 9).Draw(t, "orphan") == 0 {
		out = append(out, ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "none", Content: ragctx.Text("nobody asked")}}})
	}
	if rapid.Bool().Draw(t, "final") {
		out = append(out, ragctx.TextMessage(ragctx.RoleAssistant, "It is done. "+long))
	}
	return out
}

// mostOperations bounds the operations on a random session.
func mostOperations() int {
	if testing.Short() {
		return 4
	}
	return 12
}

// TestKeptIsAsStored: after any operation a view from the cache equals a view from the storage, all
// vendors accept it, and it keeps the newest instruction; reading changes no message, and undoing
// restores the earlier view.
func TestKeptIsAsStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		storage, notes := session.NewMemory(session.Options{}), new(stage.MemoryNotes)
		settings := view.Settings{Observation: view.ObservationSettings{MinMessages: 3, ReflectionThreshold: 2}}
		open := func(keep int) *view.Service {
			s, err := view.New(view.Options{Storage: storage, Notes: notes, Settings: settings, CacheBytes: keep})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		kept, fresh := open(0), open(-1)
		ctx := context.Background()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := storage.Create(ctx, key, session.Archive{}, "")
		must(err)
		show := func(s *view.Service, raw bool) []ragctx.Message {
			c, err := s.Compile(ctx, key, view.CompileOptions{Raw: raw})
			must(err)
			return c.Messages
		}
		for n := range rapid.IntRange(1, mostOperations()).Draw(t, "operations") {
			before := show(fresh, true)
			switch rapid.SampledFrom([]string{"say", "say", "say", "view", "view", "compact", "undo", "observe", "layer", "back"}).Draw(t, "operation") {
			case "say":
				_, _, err := kept.Append(ctx, key, view.AppendOptions{}, said(t, n)...)
				must(err)
				continue
			case "view":
				budget := stage.Budget{Tokens: rapid.IntRange(50, 2000).Draw(t, "tokens"), Window: rapid.IntRange(200, 4000).Draw(t, "window")}
				v, err := kept.View(ctx, key, view.ViewOptions{Budget: budget})
				must(err)
				acceptable(t, v.Messages)
				if at := session.LastInstruction(before); at >= 0 && !slices.ContainsFunc(v.Messages, func(m ragctx.Message) bool { return m.ID == before[at].ID }) {
					t.Fatalf("the newest instruction %q is not in %s", before[at].Content, texts(v.Messages))
				}
			case "compact":
				out, err := kept.Compact(ctx, key, view.CompactOptions{Window: 1000})
				if !errors.Is(err, ragctx.ErrConflict) { // another layer
					must(err)
				}
				if out.Stored != nil && texts(out.Messages) != texts(show(kept, false)) {
					t.Fatalf("compacted to %s, shown is %s", texts(out.Messages), texts(show(kept, false)))
				}
			case "undo":
				if _, _, err := kept.Undo(ctx, key, session.Condition{}); !errors.Is(err, ragctx.ErrNotFound) {
					must(err)
				}
			case "observe":
				_, err := kept.Observe(ctx, key)
				must(err)
			case "layer":
				layer := rapid.SampledFrom([]stage.Layer{"", stage.LayerCompaction, stage.LayerObservation, stage.LayerNone}).Draw(t, "layer")
				_, err := kept.Change(ctx, key, view.Changes{Layer: &layer}, session.Condition{})
				must(err)
			case "back":
				if len(before) > 0 {
					must(navigate(storage, key, before[rapid.IntRange(0, len(before)-1).Draw(t, "to")].ID))
				}
				continue
			}
			if d := cmp.Diff(texts(before), texts(show(kept, true))); d != "" {
				t.Fatalf("what was said has changed: %s", d)
			}
			a, b := show(kept, false), show(fresh, false)
			if d := cmp.Diff(b, a, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("(-stored +kept):\n%s", d)
			}
			acceptable(t, a)
		}
		for {
			if _, _, err := kept.Undo(ctx, key, session.Condition{}); err != nil {
				break
			}
		}
		if d := cmp.Diff(texts(show(fresh, true)), texts(show(kept, false))); d != "" {
			t.Fatalf("all undone: %s", d)
		}
	})
}

// vendorChecks are the rules of vendors, which share no code with the writers.
var vendorChecks = map[wire.Vendor]func([]json.RawMessage) error{
	wire.OpenAI: pairing.CheckOpenAI, wire.Anthropic: pairing.CheckAnthropic, wire.Gemini: pairing.CheckGemini,
}

// acceptable fails for a list that a vendor would refuse.
func acceptable(t interface{ Fatalf(string, ...any) }, messages []ragctx.Message) {
	for vendor, check := range vendorChecks {
		c, _, err := wire.Write(vendor, messages)
		if err == nil {
			err = check(c.Messages)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", vendor, err, texts(messages))
		}
	}
}
