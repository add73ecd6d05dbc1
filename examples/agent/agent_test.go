package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The protocols, each with the rules that a model's server has by its documentation.
var protocols = map[string]vendor{"openai": openAIRules{}, "anthropic": anthropicRules{}}

// The window of the test's models is a few turns wide.
const (
	window = 6000
	answer = 500
)

// task is what the model does in a turn: it looks which files there are and reads one
// beside it, reads another and one that is not there, and answers.
func task(n, step int) (string, []Call) {
	read := func(name string) Call {
		return Call{Name: "read_file", Input: object{"path": name}.json()}
	}
	file := func(i int) string { return fmt.Sprintf("notes/%d.md", i%files) }
	switch step {
	case 0:
		return "I look first.", []Call{{Name: "list_files", Input: json.RawMessage(`{}`)}, read(file(n))}
	case 1:
		return "", []Call{read(file(n + 1)), read("notes/missing.md")}
	}
	return fmt.Sprintf("Answer %d: the notes say so.", n), nil
}

const files = 7

// workspace makes the files that the model reads, each of about 500 tokens.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o750); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		var b strings.Builder
		for line := range 40 {
			fmt.Fprintf(&b, "%d.%d The service %d-%d listens on port %d and keeps its state.\n", i, line, i, line, 8000+100*i+line)
		}
		if err := os.WriteFile(filepath.Join(dir, "notes", fmt.Sprintf("%d.md", i)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// question is what the user says in a turn.
func question(n int) string {
	return fmt.Sprintf("Task %d: compare note %d with the next one. Who carries the pager?", n, n)
}

// serve serves an engine as "ragctx serve" does, with a document that answers.
func serve(t *testing.T, o engine.Options) (*engine.Engine, string) {
	t.Helper()
	o.Dir = t.TempDir()
	eng, err := engine.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "oncall.md", Text: "# On call\n\nThe platform team carries the pager.\n"}, ""); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.New(eng, api.Options{}).Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng, "http://" + ln.Addr().String()
}

// newAgent returns an agent of the example with a scripted model.
func newAgent(t *testing.T, protocol, server string, m *scripted) *Agent {
	t.Helper()
	files, err := os.OpenRoot(workspace(t))
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	t.Cleanup(func() { transport.CloseIdleConnections(); _ = files.Close() })
	caller := Caller{Client: &http.Client{Transport: transport}, Pause: time.Millisecond}
	t.Setenv("OPENAI_API_KEY", "key")
	t.Setenv("ANTHROPIC_API_KEY", "key")
	model, err := newModel(caller, protocol, m.url, "m")
	if err != nil {
		t.Fatal(err)
	}
	return &Agent{
		Session: &Session{Caller: caller, URL: server, ID: talkKey.ID, User: talkKey.User, Format: protocol},
		Model:   model, System: system, Tools: fileTools(files.FS()), Window: window, Answer: answer,
	}
}

// turns has the agent do tasks.
func turns(t *testing.T, a *Agent, m *scripted, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		m.expect(n)
		got, err := a.Turn(t.Context(), question(n))
		if want, _ := task(n, -1); err != nil || got != want {
			t.Fatalf("turn %d: %q, %v", n, got, err)
		}
	}
}

// create makes the session with a layer of compression of its own.
func create(t *testing.T, a *Agent, layer stage.Layer) {
	t.Helper()
	s := a.Session
	if err := s.send(t.Context(), "/v1/sessions", object{"id": s.ID, "user_id": s.User, "layer": layer}, &struct{}{}); err != nil {
		t.Fatal(err)
	}
}

// talkKey is the session of the test.
var talkKey = session.Key{User: "ann", ID: "talk/1"}

// compacting are the events of the session that tell of compaction.
var compacting = events.Filter{Session: talkKey.ID, Types: []ragctx.EventType{ragctx.EventContextCompacting, ragctx.EventContextCompacted}}

// told returns the types of the first two of them.
func told(t *testing.T, eng *engine.Engine, after uint64) (types []ragctx.EventType) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ev, err := range eng.Events().Follow(ctx, compacting, after) {
		if err != nil {
			t.Fatal(err)
		}
		if types = append(types, ev.Type); len(types) == 2 {
			break
		}
	}
	return types
}

// observed waits until the newest message of the session is part of a note.
func observed(t *testing.T, eng *engine.Engine) {
	t.Helper()
	a, _, err := eng.Sessions().Storage().Read(t.Context(), talkKey, session.Query{})
	for deadline := time.Now().Add(2 * time.Minute); err == nil; time.Sleep(time.Millisecond) {
		var notes []stage.Note
		notes, err = eng.Sessions().Notes().Notes(t.Context(), stage.Scope{UserID: talkKey.User, SessionID: talkKey.ID})
		if n := len(notes); n > 0 && notes[n-1].Through == a.Leaf {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is no note on the turn: %+v", notes)
		}
	}
	t.Fatal(err)
}

// TestCompaction: over turns that are more than the window holds, the model is sent what
// its vendor allows and no more than it takes. Of what is not shown any more there is one
// summary, with what the user wanted at first, and the server tells of it. There is
// context, and the turns are remembered.
func TestCompaction(t *testing.T) {
	for protocol, rules := range protocols {
		t.Run(protocol, func(t *testing.T) {
			eng, server := serve(t, engine.Options{})
			begin, err := eng.Events().Last(t.Context(), compacting)
			if err != nil {
				t.Fatal(err)
			}
			m := newScripted(t, rules, window, task)
			a := newAgent(t, protocol, server, m)
			create(t, a, stage.LayerCompaction)
			turns(t, a, m, 1, 6)
			heard := m.requests()
			first, last := heard[0].all(), heard[len(heard)-1].all()
			if len(heard) != 6*3 || strings.Contains(first, compact.Marker) || strings.Count(last, compact.Marker) != 1 || !strings.Contains(last, "Task 1: compare") {
				t.Errorf("%d requests, of which the last is\n%s", len(heard), last)
			}
			if !strings.Contains(first, "platform team carries the pager") || !strings.Contains(last, "platform team carries the pager") {
				t.Errorf("there is no context in\n%s\nor\n%s", first, last)
			}
			if got := told(t, eng, begin); !slices.Equal(got, compacting.Types) {
				t.Errorf("the events are %v", got)
			}
			q := ragctx.ContextQuery{Query: "Answer 3: the notes say so.", UserID: "ann", ContextTypes: []ragctx.ContextType{ragctx.TypeMemory}}
			if found, err := eng.Search(t.Context(), q); err != nil || len(found.Items) == 0 {
				t.Errorf("%d memories of the turns, %v", len(found.Items), err)
			}
		})
	}
}

// TestObservation: a model's notes on long turns take the place of their messages once these
// do not fit any more.
func TestObservation(t *testing.T) {
	for protocol, rules := range protocols {
		t.Run(protocol, func(t *testing.T) {
			o := engine.Options{Observer: llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: `{"findings":["the notes say so"]}`}, nil
			})}
			o.Conversation.Observation.MinMessages = 5
			eng, server := serve(t, o)
			m := newScripted(t, rules, window, task)
			a := newAgent(t, protocol, server, m)
			create(t, a, stage.LayerObservation)
			for n := range 5 {
				turns(t, a, m, n+1, n+1)
				observed(t, eng)
			}
			heard := m.requests()
			last := heard[len(heard)-1].all()
			if strings.Count(last, stage.PrefixMarker) != 1 || strings.Contains(last, compact.Marker) || !strings.Contains(last, "Task 1: compare") {
				t.Errorf("the last request is\n%s", last)
			}
		})
	}
}

// TestTrouble: what passes is tried again, and where the model counts more than ragctx
// does, it is sent less.
func TestTrouble(t *testing.T) {
	for protocol, rules := range protocols {
		t.Run(protocol, func(t *testing.T) {
			_, server := serve(t, engine.Options{})
			m := newScripted(t, rules, window*3/4, task) // less than the agent believes
			a := newAgent(t, protocol, server, m)
			m.trouble = []http.Header{{"Status": {"429"}, "Retry-After": {"0"}}, {"Status": {"529"}}}
			turns(t, a, m, 1, 4)
			if len(m.trouble) > 0 || len(m.requests()) != 4*3 {
				t.Errorf("%d requests, %v is left", len(m.requests()), m.trouble)
			}
			m.trouble = []http.Header{{"Status": {"401"}}}
			if _, err := a.Turn(t.Context(), question(5)); err == nil || !strings.Contains(err.Error(), "401") {
				t.Errorf("a wrong key: %v", err)
			}
			turns(t, a, m, 6, 6) // and the conversation goes on
		})
	}
}

// TestLastCall: a model that goes on calling tools is asked for an answer without.
func TestLastCall(t *testing.T) {
	for protocol, rules := range protocols {
		t.Run(protocol, func(t *testing.T) {
			_, server := serve(t, engine.Options{})
			m := newScripted(t, rules, window, func(int, int) (string, []Call) {
				return "", []Call{{Name: "list_files", Input: json.RawMessage(`{}`)}}
			})
			a := newAgent(t, protocol, server, m)
			a.Calls = 4
			m.expect(1)
			if got, err := a.Turn(t.Context(), question(1)); err != nil || got != "Answer 1, without tools." {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestGoesOn: a turn that was interrupted while a tool ran leaves a conversation that goes
// on, also by another protocol.
func TestGoesOn(t *testing.T) {
	_, server := serve(t, engine.Options{})
	m := newScripted(t, openAIRules{}, window, task)
	a := newAgent(t, "openai", server, m)
	ctx, cancel := context.WithCancel(t.Context())
	whole := a.Tools
	a.Tools = []Tool{whole[0], whole[1]}
	a.Tools[1].Run = func(context.Context, json.RawMessage) (string, error) { cancel(); return "", ctx.Err() }
	m.expect(1)
	if _, err := a.Turn(ctx, question(1)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	a.Tools = whole
	turns(t, a, m, 2, 2)
	m = newScripted(t, anthropicRules{}, window, task)
	b := newAgent(t, "anthropic", server, m)
	turns(t, b, m, 3, 3)
	if first := m.requests()[0].all(); !strings.Contains(first, "Answer 2") || !strings.Contains(first, "Task 1") {
		t.Errorf("the conversation is\n%s", first)
	}
}

// TestRun: the program answers a question, and lines of standard input.
func TestRun(t *testing.T) {
	_, server := serve(t, engine.Options{})
	m := newScripted(t, openAIRules{}, window, task)
	dir := workspace(t)
	t.Setenv("OPENAI_API_KEY", "key")
	args := []string{"-ragctx", server, "-api", m.url, "-model", "m", "-dir", dir, "-session", "s", "-window", strconv.Itoa(window * 2)}
	m.window *= 2
	for n, c := range []struct {
		in   string
		args []string
	}{{"", []string{question(1)}}, {"\n" + question(2) + "\n", nil}} {
		var out strings.Builder
		m.expect(n + 1)
		if err := run(t.Context(), append(args, c.args...), strings.NewReader(c.in), &out); err != nil || !strings.HasPrefix(out.String(), fmt.Sprintf("Answer %d:", n+1)) {
			t.Errorf("%q, %v", out.String(), err)
		}
	}
	for want, wrong := range map[string][]string{
		"name one with -model": {"-model", ""}, "use openai or anthropic": {"-protocol", "smoke"}, "no such file": {"-dir", filepath.Join(dir, "none")},
	} {
		if err := run(t.Context(), append(args, wrong...), strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// TestFiles: tools show files of the directory, and nothing else.
func TestFiles(t *testing.T) {
	dir := workspace(t)
	root, err := os.OpenRoot(filepath.Join(dir, "notes"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes", "long"), bytes.Repeat([]byte("é"), maxFileBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := fileTools(root.FS())
	if list, err := tools[0].Run(t.Context(), nil); err != nil || !strings.HasPrefix(list, "0.md\n1.md") {
		t.Errorf("%q, %v", list, err)
	}
	if text, err := tools[1].Run(t.Context(), json.RawMessage(`{"path":"long"}`)); err != nil || !utf8.ValidString(text) || !strings.HasSuffix(text, "[the file goes on]") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, input := range []string{`{"path":"../secret"}`, `{"path":"/etc/hostname"}`, `{"path":"none"}`, `7`, ``} {
		if text, err := tools[1].Run(t.Context(), json.RawMessage(input)); err == nil {
			t.Errorf("%s: %q", input, text)
		}
	}
}
