package view_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// key is the session of most tests.
var key = session.Key{Namespace: "default", User: "ada", ID: "s"}

// world is a service over a storage of its own.
type world struct {
	*view.Service

	t       testing.TB
	storage session.Storage
	notes   stage.Notes

	mu   sync.Mutex
	told []ragctx.Event
}

// onDisk opens a database for the sessions of a test.
func onDisk(t testing.TB) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), store.DatabaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// newWorld makes the session in memory.
func newWorld(t testing.TB, o view.Options) *world {
	t.Helper()
	w := &world{t: t, storage: o.Storage, notes: o.Notes}
	if w.storage == nil {
		w.storage = session.NewMemory(session.Options{})
	}
	if w.notes == nil {
		w.notes = new(stage.MemoryNotes)
	}
	o.Storage, o.Notes = w.storage, w.notes
	o.Publish = func(_ context.Context, k session.Key, events ...ragctx.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if k != key {
			t.Errorf("events of %v", k)
		}
		w.told = append(w.told, events...)
	}
	var err error
	if w.Service, err = view.New(o); err != nil {
		t.Fatal(err)
	}
	w.create(w.storage, key)
	return w
}

func (w *world) create(s session.Storage, k session.Key) {
	w.t.Helper()
	_, err := s.Create(w.t.Context(), k, session.Archive{}, "")
	w.must(err)
}

func (w *world) setLayer(l stage.Layer) {
	w.t.Helper()
	w.edited(w.Change(w.t.Context(), key, view.Changes{Layer: &l}, session.Condition{}))
}

// edited checks the result of a change.
func (w *world) edited(at session.Version, err error) {
	w.t.Helper()
	w.must(err)
	if _, now, err := w.storage.Read(w.t.Context(), key, session.Query{}); err != nil || now != at {
		w.t.Errorf("the session is at %v instead of %v, %v", now, at, err)
	}
}

func navigate(s session.Storage, k session.Key, id string) error {
	_, err := s.Update(context.Background(), k, session.Update{Leaf: &id}, session.Condition{})
	return err
}

func compactions(s session.Storage) ([]session.Compaction, error) {
	a, _, err := s.Read(context.Background(), key, session.Query{Compactions: true})
	return a.Compactions, err
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// events returns the types of the events published since the last call.
func (w *world) events() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.told {
		out = append(out, string(e.Type))
	}
	w.told = nil
	return out
}

func (w *world) say(texts ...string) []ragctx.Message {
	w.t.Helper()
	out := make([]ragctx.Message, len(texts))
	for i, text := range texts {
		out[i] = ragctx.TextMessage(ragctx.RoleUser, text)
		if i%2 == 1 {
			out[i].Role = ragctx.RoleAssistant
		}
	}
	out, _, err := w.Append(w.t.Context(), key, view.AppendOptions{}, out...)
	w.must(err)
	return out
}

// talk returns a conversation of so many exchanges, with calls of tools.
func talk(from, exchanges, words int) (out []ragctx.Message) {
	for i := from; i < from+exchanges; i++ {
		call := fmt.Sprintf("c%d", i)
		out = append(
			out,
			ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Question %d: why does the build of target %d fail? %s", i, i, strings.Repeat("please ", words))),
			ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: call, Name: "run", Input: []byte(`{"command":"make build"}`)}}},
			ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: call, Content: ragctx.Text(fmt.Sprintf("error: no rule for target %d. %s", i, strings.Repeat("line ", words)))}}},
			ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("We decided to use rule %d. %s", i, strings.Repeat("so ", words))),
		)
	}
	return out
}

func (w *world) append(messages ...ragctx.Message) {
	w.t.Helper()
	_, _, err := w.Append(w.t.Context(), key, view.AppendOptions{}, messages...)
	w.must(err)
}

func (w *world) view(o view.ViewOptions) view.View {
	w.t.Helper()
	v, err := w.View(w.t.Context(), key, o)
	w.must(err)
	acceptable(w.t, v.Messages)
	return v
}

func (w *world) compiled(o view.CompileOptions) []ragctx.Message {
	w.t.Helper()
	c, err := w.Compile(w.t.Context(), key, o)
	w.must(err)
	acceptable(w.t, c.Messages)
	return c.Messages
}

func texts(messages []ragctx.Message) string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Content.String()
	}
	return strings.Join(out, "|")
}

// Views follow new messages, and changes by other clients.
func TestCompileFollows(t *testing.T) {
	w := newWorld(t, view.Options{})
	want := func(want string) {
		t.Helper()
		if got := texts(w.compiled(view.CompileOptions{})); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	want("")
	said := w.say("a", "b", "c")
	want("a|b|c")
	w.say("d")
	want("a|b|c|d")
	_, _, err := w.storage.Append(t.Context(), key, session.SectionMessages,
		[]ragctx.Message{ragctx.TextMessage(ragctx.RoleAssistant, "e")}, session.Condition{})
	w.must(err)
	want("a|b|c|d|e")
	w.must(navigate(w.storage, key, said[1].ID))
	want("a|b")
	w.say("x")
	want("a|b|x")
	if got := texts(w.compiled(view.CompileOptions{Leaf: said[2].ID})); got != "a|b|c" {
		t.Errorf("the other branch: %s", got)
	}
	w.must(w.storage.Delete(t.Context(), key, session.Condition{}))
	if _, err := w.Compile(t.Context(), key, view.CompileOptions{}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	w.create(w.storage, key)
	want("")
}

// Only traces of the current execution; one call has two traces; the user's message and
// the answer have none.
func TestSteps(t *testing.T) {
	w := newWorld(t, view.Options{})
	first, second := session.Execution{ID: "e1", AgentID: "a"}, session.Execution{ID: "e2"}
	ask := talk(0, 1, 1)
	step := func(e session.Execution, final bool, m ...ragctx.Message) []ragctx.Message {
		t.Helper()
		out, _, err := w.Append(t.Context(), key, view.AppendOptions{Step: session.Step{Execution: e, ID: "step", Final: final, ToolExecutions: map[string]string{"c0": "run-1"}}}, m...)
		w.must(err)
		return out
	}
	w.append(ask[0])
	if out := step(first, false, ask[1:3]...); !out[0].IsTrace() || !out[1].IsTrace() || out[1].Metadata[ragctx.MetaToolExecutionID] != "run-1" || out[0].Metadata[ragctx.MetaAgentID] != "a" {
		t.Errorf("%+v", out)
	}
	if out := step(first, true, ask[3]); out[0].Metadata[ragctx.MetaIsTrace] != nil || out[0].ExecutionID() != "e1" {
		t.Errorf("%+v", out)
	}
	for e, want := range map[session.Execution]int{{}: 2, first: 4, second: 2} {
		if got := w.compiled(view.CompileOptions{Execution: e}); len(got) != want {
			t.Errorf("%v: %d messages, want %d", e, len(got), want)
		}
	}
	if _, _, err := w.Append(t.Context(), key, view.AppendOptions{Section: session.SectionBuffer, Step: session.Step{ID: "x"}}, ask[0]); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("a step into the buffer: %v", err)
	}
	if out, _, err := w.Append(t.Context(), key, view.AppendOptions{Step: session.Step{ID: "x"}}); err != nil || len(out) != 0 {
		t.Errorf("an empty step: %v, %v", out, err)
	}
}

// Compactions persist, are published, merge, and can be undone.
func TestCompactAndUndo(t *testing.T) {
	for name, storage := range map[string]session.Storage{"memory": nil, "sqlite": onDisk(t).Sessions(session.Options{})} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, view.Options{Storage: storage})
			w.append(talk(0, 40, 60)...)
			whole := w.compiled(view.CompileOptions{})
			window := stage.Budget{Window: 12_000}
			v := w.view(view.ViewOptions{Budget: window})
			if got := w.events(); !slices.Equal(got, []string{"context_warning", "context_compacting", "context_compacted"}) {
				t.Errorf("told %v", got)
			}
			if strings.Count(texts(v.Messages), compact.Marker) != 1 || len(v.Records) != 1 || len(v.Messages) >= len(whole) {
				t.Fatalf("%d messages, %d records", len(v.Messages), len(v.Records))
			}
			again := w.view(view.ViewOptions{Budget: window})
			if texts(again.Messages) != texts(v.Messages) || len(again.Records) != 0 || len(w.events()) != 0 {
				t.Errorf("not the same again: %d and %d messages", len(v.Messages), len(again.Messages))
			}
			if got := texts(w.compiled(view.CompileOptions{})); got != texts(v.Messages) {
				t.Error("compile shows something else")
			}
			if got := w.compiled(view.CompileOptions{Raw: true}); texts(got) != texts(whole) {
				t.Error("raw is not what was said")
			}
			w.append(talk(40, 30, 60)...)
			second, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 12_000})
			w.must(err)
			if second.Stored == nil || len(second.Record.Supersedes) != 1 {
				t.Fatalf("the second compaction does not merge the first: %+v", second.Record)
			}
			if n := strings.Count(texts(w.compiled(view.CompileOptions{})), compact.Marker); n != 1 {
				t.Errorf("%d summaries", n)
			}
			for range 2 {
				_, _, err := w.Undo(t.Context(), key, session.Condition{})
				w.must(err)
			}
			if got := w.compiled(view.CompileOptions{}); len(got) != 280 {
				t.Errorf("undone: %d messages", len(got))
			}
			if _, _, err := w.Undo(t.Context(), key, session.Condition{}); !errors.Is(err, ragctx.ErrNotFound) {
				t.Errorf("nothing to undo: %v", err)
			}
		})
	}
}

// A reported usage predates the compaction. Until the model answers again, the same
// request compacts nothing more, also in another process.
func TestUsageIsOfTheLastCall(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.append(talk(0, 12, 60)...)
	full := view.ViewOptions{Budget: stage.Budget{Window: 32_000}, Used: 30_000}
	first := w.view(full)
	if len(first.Records) != 1 {
		t.Fatalf("%d records of a window that is full", len(first.Records))
	}
	same := func(when string) {
		t.Helper()
		w.Forget(nil)
		if v := w.view(full); len(v.Records) > 0 || !strings.HasPrefix(texts(v.Messages), texts(first.Messages)) {
			t.Errorf("%s: %d messages are %d, %d records", when, len(first.Messages), len(v.Messages), len(v.Records))
		}
	}
	same("sent again")
	w.say("The model was down. Once more, please.")
	same("after a word of the user")
	out, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 32_000, Used: 30_000, IfDue: true})
	w.must(err)
	if out.Stored != nil {
		t.Error("compact is due by a figure of before")
	}
	w.say("Go on.", "Here is what I found.")
	if v := w.view(full); len(v.Records) != 1 {
		t.Errorf("%d records after a call that fills the window again", len(v.Records))
	}
}

// A compaction that does nothing publishes only that the threshold is reached.
func TestNoOpIsNotTold(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.say("hello")
	out, err := w.Compact(t.Context(), key, view.CompactOptions{Used: 190_000})
	w.must(err)
	if got := w.events(); out.Record != nil || out.Reason == "" || !slices.Equal(got, []string{"context_warning"}) {
		t.Errorf("%v, told %v", out.Reason, got)
	}
	out, err = w.Compact(t.Context(), key, view.CompactOptions{IfDue: true})
	w.must(err)
	if got := w.events(); out.Record != nil || !strings.Contains(out.Reason, "threshold") || got != nil {
		t.Errorf("not due: %v, told %v", out.Reason, got)
	}
}

// refusing is a storage that takes no records.
type refusing struct {
	session.Storage

	with error
}

func (r refusing) Update(context.Context, session.Key, session.Update, session.Condition) (session.Version, error) {
	return session.Version{}, r.with
}

// The result of a compaction is published when it is stored, and not if that fails or the session
// is gone: the summary has contents of the session.
func TestCompactionIsToldWhenStored(t *testing.T) {
	window := stage.Budget{Window: 12_000}
	for name, with := range map[string]error{"full": ragctx.ErrTooLarge, "down": ragctx.ErrUnavailable} {
		w := newWorld(t, view.Options{Storage: refusing{session.NewMemory(session.Options{}), with}})
		w.append(talk(0, 40, 60)...)
		if _, err := w.View(t.Context(), key, view.ViewOptions{Budget: window}); (err == nil) != errors.Is(with, ragctx.ErrTooLarge) {
			t.Errorf("%s: view: %v", name, err)
		}
		if out, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 12_000}); !errors.Is(err, with) || out.Stored != nil {
			t.Errorf("%s: compact: %v", name, err)
		}
		if got := w.events(); slices.Contains(got, "context_compacted") {
			t.Errorf("%s: told %v", name, got)
		}
	}
	storage := session.NewMemory(session.Options{})
	w := newWorld(t, view.Options{Storage: storage, Generator: llm.GeneratorFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		return llm.Response{}, cmp.Or(storage.Delete(ctx, key, session.Condition{}), ragctx.ErrUnavailable)
	})})
	w.append(talk(0, 40, 60)...)
	if _, err := w.View(t.Context(), key, view.ViewOptions{Budget: window}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a session that is gone: %v", err)
	}
	if got := w.events(); !slices.Equal(got, []string{"context_warning", "context_compacting"}) {
		t.Errorf("gone: told %v", got)
	}
}

// A model that is down, slow, empty or babbles leaves its work to extraction.
func TestModelsFail(t *testing.T) {
	for name, says := range map[string]func(context.Context) (string, error){
		"down":    func(context.Context) (string, error) { return "", ragctx.ErrUnavailable },
		"empty":   func(context.Context) (string, error) { return "", nil },
		"garbage": func(context.Context) (string, error) { return "lorem ipsum", nil },
		"slow":    func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	} {
		w := newWorld(t, view.Options{Generator: llm.GeneratorFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			text, err := says(ctx)
			return llm.Response{Text: text}, err
		}), Settings: view.Settings{Compaction: view.CompactionSettings{Timeout: time.Millisecond}}})
		w.append(talk(0, 40, 60)...)
		whole := texts(w.compiled(view.CompileOptions{}))
		out, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 12_000})
		w.must(err)
		if out.Record == nil || out.Record.Strategy != compact.Extractive || len(out.Warnings) != 1 {
			t.Errorf("%s: %+v, warnings %v", name, out.Record, out.Warnings)
		}
		last, ok := w.told[len(w.told)-1].Data.(ragctx.ContextCompacted)
		if !ok || len(last.Warnings) != 1 {
			t.Errorf("%s: told %+v", name, w.told)
		}
		if got := texts(w.compiled(view.CompileOptions{Raw: true})); got != whole {
			t.Errorf("%s: what was said has changed", name)
		}
	}
}

// noter is a model that notes one thing of every turn.
var noter = llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: `{"findings":["the rule for shop is missing"]}`}, nil
})

// A session has one layer of compression.
func TestLayers(t *testing.T) {
	w := newWorld(t, view.Options{Settings: observing, Observer: noter})
	w.append(talk(0, 30, 60)...)
	if seen, err := w.Observe(t.Context(), key); err != nil || seen.Note != nil {
		t.Errorf("observed in the default layer: %+v, %v", seen, err)
	}
	w.setLayer(stage.LayerObservation)
	seen, err := w.Observe(t.Context(), key)
	w.must(err)
	if seen.Note == nil {
		t.Fatalf("not observed: %s", seen.Reason)
	}
	window := view.ViewOptions{Budget: stage.Budget{Window: 6000}}
	if v := w.view(view.ViewOptions{}); len(v.Messages) != 120 || len(v.Notes) != 0 {
		t.Errorf("what fits is replaced: %d messages, %d notes", len(v.Messages), len(v.Notes))
	}
	v := w.view(window)
	if !strings.HasPrefix(v.Messages[0].Content.String(), stage.PrefixMarker) || len(v.Notes) != 1 || len(v.Records) != 0 {
		t.Errorf("observed: %s", texts(v.Messages[:1]))
	}
	if _, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 6000}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("compaction beside observations: %v", err)
	}
	if again, err := w.Observe(t.Context(), key); err != nil || again.Note != nil || again.Reason == "" {
		t.Errorf("observed twice: %+v, %v", again, err)
	}
	w.setLayer(stage.LayerCompaction)
	v = w.view(window)
	if len(v.Records) != 1 || len(v.Notes) != 0 || strings.Contains(texts(v.Messages), stage.PrefixMarker) {
		t.Errorf("compaction: %d records, %d notes", len(v.Records), len(v.Notes))
	}
	w.append(talk(30, 3, 1)...)
	if seen, err = w.Observe(t.Context(), key); err != nil || seen.Note != nil {
		t.Errorf("observed beside compactions: %+v, %v", seen, err)
	}
	w.setLayer(stage.LayerNone)
	if v = w.view(window); len(v.Messages) != 132 || len(v.Records) != 0 {
		t.Errorf("no layer: %d messages", len(v.Messages))
	}
	d, err := w.Describe(t.Context(), key)
	w.must(err)
	if d.Layer != stage.LayerNone || d.Parameters[view.ParameterLayer] != nil || d.Observations != 1 || d.Compactions != 1 || d.Messages != 132 {
		t.Errorf("%+v", d)
	}
	if _, err := w.Change(t.Context(), key, view.Changes{Layer: new(stage.Layer("both"))}, session.Condition{}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("an unknown layer: %v", err)
	}
	reserved := view.Changes{Parameters: map[string]any{view.ParameterLayer: "none"}}
	if _, err := w.Change(t.Context(), key, reserved, session.Condition{}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("the layer as a parameter: %v", err)
	}
}

// Observations of another branch are not shown.
func TestObservationsOfABranch(t *testing.T) {
	w := newWorld(t, view.Options{Settings: observing, Observer: noter})
	w.setLayer(stage.LayerObservation)
	first := w.say("a", "b")
	w.append(talk(0, 3, 5)...)
	if seen, err := w.Observe(t.Context(), key); err != nil || seen.Note == nil {
		t.Fatalf("%+v, %v", seen, err)
	}
	w.must(navigate(w.storage, key, first[1].ID))
	w.say("elsewhere")
	if v := w.view(view.ViewOptions{}); texts(v.Messages) != "a|b|elsewhere" {
		t.Error(texts(v.Messages))
	}
}

// Overflow goes to the buffer in order, and the buffer becomes a summary;
// nothing that was said is lost.
func TestBuffer(t *testing.T) {
	for name, storage := range map[string]session.Storage{"memory": nil, "sqlite": onDisk(t).Sessions(session.Options{})} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, view.Options{Storage: storage})
			w.setLayer(stage.LayerBuffer)
			w.append(talk(0, 30, 60)...)
			raw := view.CompileOptions{Raw: true}
			whole := texts(w.compiled(view.CompileOptions{}))
			if _, _, err := w.Undo(t.Context(), key, session.Condition{}); !errors.Is(err, ragctx.ErrNotFound) {
				t.Errorf("nothing to undo: %v", err)
			}
			v := w.view(view.ViewOptions{})
			if len(v.Records) != 1 {
				t.Errorf("%d records of what was moved", len(v.Records))
			}
			if got := w.events(); !slices.Equal(got, []string{"messages_moved_to_buffer"}) {
				t.Errorf("told %v", got)
			}
			if texts(v.Messages) != whole {
				t.Error("the buffer is not shown before the messages")
			}
			w.append(talk(30, 40, 60)...)
			whole = texts(w.compiled(view.CompileOptions{}))
			v = w.view(view.ViewOptions{})
			if got := texts(w.compiled(raw)); got != whole {
				t.Errorf("raw is not what was said: %d bytes, want %d", len(got), len(whole))
			}
			if got := w.events(); !slices.Equal(got, []string{"messages_moved_to_buffer", "message_buffer_summarized"}) {
				t.Errorf("told %v", got)
			}
			if _, ok := compact.SummaryText(v.Messages[0]); !ok || !strings.Contains(v.Messages[len(v.Messages)-1].Content.String(), "rule 69") {
				t.Errorf("%d messages: %.60s", len(v.Messages), texts(v.Messages))
			}
			d, err := w.Describe(t.Context(), key)
			w.must(err)
			if d.Messages != 281 {
				t.Errorf("%d messages are stored: %+v", d.Messages, d.Sections)
			}
			w.append(talk(70, 60, 60)...)
			whole = texts(w.compiled(raw))
			if strings.Contains(whole, compact.Marker) {
				t.Error("raw shows a summary")
			}
			v = w.view(view.ViewOptions{})
			if got := texts(w.compiled(raw)); got != whole {
				t.Errorf("raw is not what was said: %d bytes, want %d", len(got), len(whole))
			}
			raw.MaxMessages = 3
			if got := w.compiled(raw); len(got) == 0 || len(got) > 3 {
				t.Errorf("raw within limits: %d messages", len(got))
			}
			if v := w.view(view.ViewOptions{Compile: view.CompileOptions{Raw: true}}); texts(v.Messages) != whole {
				t.Error("a raw view is not what was said")
			}
			if n := strings.Count(texts(v.Messages), compact.Marker); n != 1 {
				t.Errorf("%d summaries", n)
			}
			if again := w.view(view.ViewOptions{}); texts(again.Messages) != texts(v.Messages) {
				t.Error("not the same again")
			}
		})
	}
}

// The buffer policy summarizes with the requested strategy, and rejects options that do not apply.
func TestBufferStrategy(t *testing.T) {
	asked := 0
	w := newWorld(t, view.Options{Generator: llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
		asked++
		return llm.Response{}, ragctx.ErrUnavailable
	})})
	w.setLayer(stage.LayerBuffer)
	w.append(talk(0, 70, 60)...)
	before := texts(w.compiled(view.CompileOptions{}))
	for field, o := range map[string]view.CompactOptions{
		"strategy": {Strategy: compact.Prune}, "window": {Window: 1}, "fixed_tokens": {Fixed: 1}, "used_tokens": {Used: 1},
		"keep_first": {KeepFirst: 1}, "keep_last": {KeepLast: -1}, "threshold": {Threshold: .5},
	} {
		for _, o.Policy = range []compact.Policy{"", view.PolicyBuffer} { // the former is the policy of the layer
			_, err := w.Compact(t.Context(), key, o)
			if f, ok := errors.AsType[*ragctx.FieldError](err); !ok || f.Field != field || !errors.Is(err, ragctx.ErrInvalid) {
				t.Errorf("%q: %s: %v", o.Policy, field, err)
			}
		}
	}
	if texts(w.compiled(view.CompileOptions{})) != before {
		t.Error("something was done that was refused")
	}
	out, err := w.Compact(t.Context(), key, view.CompactOptions{Strategy: compact.Extractive, IfDue: true})
	if w.must(err); out.Summarized == nil || asked != 0 {
		t.Errorf("summarised: %v; the model was asked %d times", out.Summarized != nil, asked)
	}
}

// An unrecorded buffer change cannot be attributed or dated: the error says so, and how to undo the
// record.
func TestUndoBesideABuffer(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.append(talk(0, 30, 60)...)
	made, err := w.Compact(t.Context(), key, view.CompactOptions{})
	w.must(err)
	w.setLayer(stage.LayerBuffer)
	w.edited(w.Edit(t.Context(), key, session.SectionBuffer, []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "put here by hand")}, session.Condition{}))
	_, _, err = w.Undo(t.Context(), key, session.Condition{})
	if f, ok := errors.AsType[*ragctx.FieldError](err); !ok || f.Field != "session_id" || !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("undone: %v", err)
	}
	w.setLayer(stage.AnyLayer)
	if undone, _, err := w.Undo(t.Context(), key, session.Condition{}); err != nil || undone.ID != made.Stored.ID {
		t.Errorf("undone %+v, %v", undone, err)
	}
}

// If the model fails, the buffer is summarized by extraction and the failure published.
func TestBufferModelFails(t *testing.T) {
	w := newWorld(t, view.Options{Generator: llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, ragctx.ErrUnavailable
	})})
	w.setLayer(stage.LayerBuffer)
	w.append(talk(0, 70, 60)...)
	v := w.view(view.ViewOptions{})
	if _, ok := compact.SummaryText(v.Messages[0]); !ok {
		t.Fatalf("no summary: %.60s", texts(v.Messages))
	}
	first, ok := w.told[0].Data.(ragctx.ContextWarning)
	if !ok || len(first.Warnings) != 1 || !strings.HasPrefix(first.Warnings[0], "llm: ") || first.UsedTokens <= first.MaxTokens || first.SessionID != key.ID {
		t.Errorf("told %+v", w.told[0])
	}
	if got := w.events(); !slices.Equal(got, []string{"context_warning", "messages_moved_to_buffer", "message_buffer_summarized"}) {
		t.Errorf("told %v", got)
	}
}

// adds is a stage that adds a message where it is not yet.
type adds struct {
	text    string
	persist bool
}

func (a adds) Name() string                                     { return "adds" }
func (a adds) Priority() int                                    { return 5 }
func (a adds) EstimateTokens(context.Context, *stage.State) int { panic("asked") }
func (a adds) Apply(_ context.Context, s *stage.State, messages []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
	if slices.ContainsFunc(messages, func(m ragctx.Message) bool { return m.Content.String() == a.text }) {
		return nil, nil
	}
	out := slices.Insert(slices.Clone(messages), 0, ragctx.TextMessage(ragctx.RoleSystem, a.text))
	if a.persist {
		s.Persist(out)
	}
	return out, nil
}

// A persisted result of a stage is in the next view, once, and can be undone like a compaction.
func TestStagesPersist(t *testing.T) {
	w := newWorld(t, view.Options{Stages: []stage.Stage{adds{"be brief", true}}})
	w.say("a", "b")
	v := w.view(view.ViewOptions{})
	if texts(v.Messages) != "be brief|a|b" || len(v.Records) != 1 || strings.Contains(string(v.Records[0].Record), `"content":"a"`) {
		t.Fatalf("%s, %s", texts(v.Messages), v.Records)
	}
	w.say("c")
	if v = w.view(view.ViewOptions{}); texts(v.Messages) != "be brief|a|b|c" || len(v.Records) != 0 {
		t.Errorf("%s, %d records", texts(v.Messages), len(v.Records))
	}
	if got := texts(w.compiled(view.CompileOptions{})); got != "be brief|a|b|c" {
		t.Error(got)
	}
	_, _, err := w.Undo(t.Context(), key, session.Condition{})
	w.must(err)
	if got := texts(w.compiled(view.CompileOptions{})); got != "a|b|c" {
		t.Errorf("undone: %s", got)
	}
}

// Sections are replaced where they are, and other branches stay.
func TestEdit(t *testing.T) {
	w := newWorld(t, view.Options{})
	said := w.say("a", "b", "c")
	w.edited(w.Edit(t.Context(), key, session.SectionSummary, []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "before")}, session.Condition{}))
	want := func(want string) {
		t.Helper()
		if got := texts(w.compiled(view.CompileOptions{})); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	want("before|a|b|c")
	w.must(navigate(w.storage, key, said[1].ID))
	w.say("x")
	want("before|a|b|x")
	w.edited(w.Edit(t.Context(), key, session.SectionSummary, nil, session.Condition{}))
	want("a|b|x")
	if got := texts(w.compiled(view.CompileOptions{Leaf: said[2].ID})); got != "a|b|c" {
		t.Errorf("the other branch: %s", got)
	}
	w.edited(w.Edit(t.Context(), key, "facts", []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "f")}, session.Condition{}))
	if got := texts(w.compiled(view.CompileOptions{Compiler: "all_sections"})); got != "a|b|x|f" {
		t.Error(got)
	}
	w.edited(w.Remove(t.Context(), key, session.SectionMessages, session.Condition{}))
	want("")
	if _, err := w.Remove(t.Context(), key, session.SectionMessages, session.Condition{}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}

// Messages inserted into the range of a compaction are shown, because the summary does not cover
// them.
func TestEditWithinACompaction(t *testing.T) {
	for name, storage := range map[string]session.Storage{"memory": nil, "sqlite": onDisk(t).Sessions(session.Options{})} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, view.Options{Storage: storage, Stages: []stage.Stage{shouting{}}})
			for n := range 30 {
				w.append(exchange(n)...)
			}
			out, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 1000})
			w.must(err)
			if out.Stored == nil {
				t.Fatal(out.Reason)
			}
			w.view(view.ViewOptions{}) // the stage persists
			a, _, err := session.Export(t.Context(), w.storage, key)
			w.must(err)
			section := a.Store().Section(session.SectionMessages).Messages
			news := ragctx.TextMessage(ragctx.RoleUser, "news")
			w.edited(w.Edit(t.Context(), key, session.SectionMessages, slices.Insert(section, 12, news), session.Condition{}))
			if got := w.compiled(view.CompileOptions{}); len(got) != 61 || got[12].Content.String() != "news" {
				t.Errorf("%d messages are shown", len(got))
			}
		})
	}
}

// Messages appended to a section are shown even if a compaction spans this section and the next.
func TestAppendWithinACompaction(t *testing.T) {
	w := newWorld(t, view.Options{})
	_, _, err := w.Append(t.Context(), key, view.AppendOptions{Section: session.SectionBuffer}, slices.Concat(exchange(0), exchange(1), exchange(2))...)
	w.must(err)
	for n := range 30 {
		w.append(exchange(10 + n)...)
	}
	out, err := w.Compact(t.Context(), key, view.CompactOptions{Window: 1000})
	w.must(err)
	if out.Stored == nil || out.Stored.From != "q1" {
		t.Fatalf("%+v", out)
	}
	_, _, err = w.Append(t.Context(), key, view.AppendOptions{Section: session.SectionMessages}, ragctx.TextMessage(ragctx.RoleUser, "go on"))
	w.must(err)
	if got := w.compiled(view.CompileOptions{}); len(got) != len(out.Messages)+1 {
		t.Errorf("%d messages are shown, want %d", len(got), len(out.Messages)+1)
	}
	_, _, err = w.Append(t.Context(), key, view.AppendOptions{Section: session.SectionBuffer}, ragctx.TextMessage(ragctx.RoleUser, "news"))
	w.must(err)
	if got := texts(w.compiled(view.CompileOptions{})); !strings.Contains(got, "news") {
		t.Errorf("shown: %s", got)
	}
}

func TestCreate(t *testing.T) {
	w := newWorld(t, view.Options{})
	k := session.Key{Namespace: "default", ID: "new"}
	at, err := w.Create(t.Context(), k, view.CreateOptions{Parameters: map[string]any{"a": 1.0}, Layer: stage.LayerNone, Messages: talk(0, 1, 1)})
	w.must(err)
	d, err := w.Describe(t.Context(), k)
	w.must(err)
	if d.Version != at || d.Messages != 4 || d.Layer != stage.LayerNone || d.Parameters["a"] != 1.0 || d.Leaf == "" || d.Branches != 1 {
		t.Errorf("%+v", d)
	}
	if _, err := w.Create(t.Context(), k, view.CreateOptions{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("twice: %v", err)
	}
	_, err = w.Change(t.Context(), k, view.Changes{Parameters: map[string]any{"a": nil, "b": "x"}}, session.Condition{})
	w.must(err)
	if d, err = w.Describe(t.Context(), k); err != nil || d.Parameters["a"] != nil || d.Parameters["b"] != "x" || d.Layer != stage.LayerNone {
		t.Errorf("%+v, %v", d, err)
	}
}

// Limits cut where vendors accept it, and dropped messages are reported.
func TestLimits(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.append(talk(0, 10, 20)...)
	c, err := w.Compile(t.Context(), key, view.CompileOptions{MaxTokens: 300})
	w.must(err)
	if c.Tokens > 300 || len(c.Messages)+len(c.Dropped) != 40 || c.Dropped[0].ID == "" || c.Dropped[0].Tokens == 0 {
		t.Errorf("%d tokens, %d messages, %d cuts", c.Tokens, len(c.Messages), len(c.Dropped))
	}
	acceptable(w.t, c.Messages)
	v := w.view(view.ViewOptions{Compile: view.CompileOptions{MaxMessages: 8}})
	if len(v.Messages) != 8 || len(v.Costs) != 8 || len(v.Path) != 40 {
		t.Errorf("%d messages, %d costs, %d on the path", len(v.Messages), len(v.Costs), len(v.Path))
	}
	for name, o := range map[string]view.CompileOptions{
		"tokens": {MaxTokens: -1}, "messages": {MaxMessages: -1}, "compiler": {Compiler: "x"}, "tokenizer": {Tokenizer: "x"},
	} {
		if _, err := w.Compile(t.Context(), key, o); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.CompileStore(t.Context(), session.Store{}.Append("messages", talk(0, 1, 1)...), nil, view.CompileOptions{MaxTokens: 10}); err != nil {
		t.Error(err)
	}
}

// Calls about one session at the same time leave nothing out and nothing in twice.
func TestAtTheSameTime(t *testing.T) {
	w := newWorld(t, view.Options{Storage: onDisk(t).Sessions(session.Options{})})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 10 {
				if _, _, err := w.Append(context.Background(), key, view.AppendOptions{}, talk(10*i+j, 1, 30)...); err != nil {
					t.Error(err)
				}
				if _, err := w.View(context.Background(), key, view.ViewOptions{Budget: stage.Budget{Window: 3000}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := w.compiled(view.CompileOptions{Raw: true}); len(got) != 160 {
		t.Errorf("%d messages", len(got))
	}
	if v := w.view(view.ViewOptions{}); strings.Count(texts(v.Messages), compact.Marker) > 1 {
		t.Error("more than one summary")
	}
}

// A client that stops waiting for a session does not block it.
func TestGoingAway(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	w := newWorld(t, view.Options{Generator: llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
		close(entered)
		<-leave
		return llm.Response{}, nil
	})})
	w.append(talk(0, 40, 60)...)
	done := make(chan error)
	go func() {
		_, err := w.Compact(context.Background(), key, view.CompactOptions{Window: 12_000})
		done <- err
	}()
	<-entered
	w.say("appended meanwhile")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := w.View(ctx, key, view.ViewOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("did not wait: %v", err)
	}
	close(leave)
	w.must(<-done)
	v := w.view(view.ViewOptions{})
	if !strings.HasSuffix(texts(v.Messages), "|appended meanwhile") || !strings.Contains(texts(v.Messages), compact.Marker) {
		t.Errorf("%d messages", len(v.Messages))
	}
}

// Forgotten sessions are read again, including those being read.
func TestForget(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.say("a")
	w.compiled(view.CompileOptions{})
	w.Forget(func(k session.Key) bool { return k == key })
	if got := texts(w.compiled(view.CompileOptions{})); got != "a" {
		t.Error(got)
	}
}
