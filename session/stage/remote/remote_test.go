package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	provider "github.com/ragctx/ragctx/providers/remote"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/stage/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "0123456789abcdef"

// newStage returns a stage served by h, which receives the decoded request.
func newStage(t *testing.T, o remote.Options, h func(w http.ResponseWriter, r remote.Request)) *remote.Stage {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && o.Secret != "" {
			err = provider.Verify(o.Secret, r.Header.Get(provider.SignatureHeader), body, time.Now())
		}
		var q remote.Request
		if err = errors.Join(err, json.Unmarshal(body, &q)); err != nil {
			t.Error(err)
		}
		h(w, q)
	}))
	t.Cleanup(srv.Close)
	o.Name, o.URL = "crm", srv.URL
	s, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func answer(w http.ResponseWriter, messages []ragctx.Message) {
	_ = json.NewEncoder(w).Encode(remote.Answer{Messages: messages})
}

func talk() []ragctx.Message {
	call := ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: "1", Name: "f", Input: []byte(`{}`)}}}
	result := ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("ok")}}}
	wait := ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: "2", Name: "f", Input: []byte(`{}`)}}}
	return []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleSystem, "Be good."), ragctx.TextMessage(ragctx.RoleDeveloper, "Be brief."), ragctx.TextMessage(ragctx.RoleUser, "hello"), call, result,
		ragctx.TextMessage(ragctx.RoleUser, "go on"), wait,
	}
}

func run(t *testing.T, s stage.Stage, st *stage.State) stage.Result {
	t.Helper()
	p, err := stage.New(stage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Register(s); err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(context.Background(), st, st.Messages, stage.Budget{Tokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestStage(t *testing.T) {
	snapshot := ragctx.TextMessage(ragctx.RoleSystem, "Account: Acme")
	for _, persist := range []bool{true, false} {
		s := newStage(t, remote.Options{Priority: 5, Secret: secret, Persist: persist, NewID: func() string { return "r1" }}, func(w http.ResponseWriter, r remote.Request) {
			if r.Event != remote.EventStage || r.Stage != "crm" || r.RequestID != "r1" || r.SessionID != "s" || r.Phase != session.PhaseSynthesis || r.Budget.Tokens != 100 || r.Deadline.IsZero() {
				t.Errorf("asked %+v", r)
			}
			answer(w, append([]ragctx.Message{r.Messages[0], snapshot}, r.Messages[1:]...))
		})
		st := &stage.State{Scope: stage.Scope{SessionID: "s"}, Phase: session.PhaseSynthesis, Messages: talk()}
		res := run(t, s, st)
		want := append([]ragctx.Message{talk()[0], snapshot}, talk()[1:]...)
		if diff := cmp.Diff(want, res.Messages); diff != "" {
			t.Error(diff)
		}
		if res.Reports[0].Persisted != persist || (len(st.Messages) == len(want)) != persist {
			t.Errorf("persist %v: %+v", persist, res.Reports[0])
		}
	}
}

func TestNothingChanges(t *testing.T) {
	for name, h := range map[string]func(http.ResponseWriter, remote.Request){
		"204":  func(w http.ResponseWriter, _ remote.Request) { w.WriteHeader(http.StatusNoContent) },
		"null": func(w http.ResponseWriter, _ remote.Request) { io.WriteString(w, `{"messages":null}`) },
		"none": func(w http.ResponseWriter, _ remote.Request) { io.WriteString(w, `{}`) },
	} {
		res := run(t, newStage(t, remote.Options{}, h), &stage.State{Messages: talk()})
		if diff := cmp.Diff(talk(), res.Messages); diff != "" || res.Reports[0].Error != "" {
			t.Errorf("%s: %s %+v", name, diff, res.Reports[0])
		}
	}
}

// An invalid answer is rejected.
func TestHostileAnswers(t *testing.T) {
	for name, change := range map[string]func([]ragctx.Message) any{
		"no JSON":      func([]ragctx.Message) any { return "hello" },
		"another role": func([]ragctx.Message) any { return map[string]any{"messages": []any{map[string]any{"role": "root"}}} },
		"no role":      func(m []ragctx.Message) any { return remote.Answer{Messages: append(m, ragctx.Message{})} },
		"another block": func([]ragctx.Message) any {
			return map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "x"}}}}}
		},
		"no system prompt":            func(m []ragctx.Message) any { return remote.Answer{Messages: m[1:]} },
		"no second system prompt":     func(m []ragctx.Message) any { return remote.Answer{Messages: append(m[:1:1], m[2:]...)} },
		"something before the prompt": func(m []ragctx.Message) any { return remote.Answer{Messages: append([]ragctx.Message{m[1]}, m...)} },
		"no instruction":              func(m []ragctx.Message) any { return remote.Answer{Messages: append(m[:5:5], m[6])} },
		"a blank instruction":         func(m []ragctx.Message) any { m[5].Content = ragctx.Text(" "); return remote.Answer{Messages: m} },
		"no newest exchange":          func(m []ragctx.Message) any { return remote.Answer{Messages: m[:6]} },
		"a result without a call":     func(m []ragctx.Message) any { return remote.Answer{Messages: append(m[:3:3], m[4:]...)} },
		"no pending call":             func(m []ragctx.Message) any { return remote.Answer{Messages: m[:6]} },
		"a summary of its own": func(m []ragctx.Message) any {
			return remote.Answer{Messages: append([]ragctx.Message{m[0], ragctx.TextMessage(ragctx.RoleUser, compact.Marker+"\n\nx")}, m[1:]...)}
		},
		"an observation of its own": func(m []ragctx.Message) any {
			return remote.Answer{Messages: append([]ragctx.Message{m[0], ragctx.TextMessage(ragctx.RoleSystem, stage.PrefixMarker)}, m[1:]...)}
		},
		"nothing": func([]ragctx.Message) any { return map[string]any{"messages": []any{}} },
		"too many": func(m []ragctx.Message) any {
			return remote.Answer{Messages: append(m, make([]ragctx.Message, remote.MaxMessages)...)}
		},
		"too long": func(m []ragctx.Message) any {
			return remote.Answer{Messages: append(m, ragctx.TextMessage(ragctx.RoleSystem, strings.Repeat("x", 1<<20)))}
		},
	} {
		s := newStage(t, remote.Options{MaxBytes: 1 << 19, Persist: true}, func(w http.ResponseWriter, r remote.Request) {
			_ = json.NewEncoder(w).Encode(change(r.Messages))
		})
		st := &stage.State{Messages: talk()}
		res := run(t, s, st)
		if diff := cmp.Diff(talk(), res.Messages); diff != "" || res.Reports[0].Error == "" || len(st.Messages) != len(talk()) {
			t.Errorf("%s: %s %+v", name, diff, res.Reports[0])
		}
		if strings.Contains(res.Reports[0].Error, "evil") {
			t.Errorf("%s: the error tells what the service said: %s", name, res.Reports[0].Error)
		}
	}
}

func TestServiceFails(t *testing.T) {
	end := make(chan struct{})
	for name, h := range map[string]func(http.ResponseWriter, remote.Request){
		"500":  func(w http.ResponseWriter, _ remote.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"slow": func(http.ResponseWriter, remote.Request) { <-end },
	} {
		s := newStage(t, remote.Options{Timeout: 10 * time.Millisecond, Breaker: httpclient.BreakerOptions{After: 2}}, h)
		if name == "slow" {
			t.Cleanup(func() { close(end) }) // before its server is closed
		}
		for range 3 {
			res := run(t, s, &stage.State{Messages: talk()})
			if len(res.Messages) != len(talk()) || res.Reports[0].Error == "" {
				t.Errorf("%s: %+v", name, res.Reports)
			}
		}
		if state, _ := s.Breaker(); state != httpclient.Open {
			t.Errorf("%s: the breaker is %s", name, state)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := remote.Options{Name: "x", URL: "http://127.0.0.1:1/"}
	for field, change := range map[string]func(*remote.Options){
		"name": func(o *remote.Options) { o.Name = "A b" }, "url": func(o *remote.Options) { o.URL = "ftp://x" }, "timeout": func(o *remote.Options) { o.Timeout = time.Hour },
		"secret": func(o *remote.Options) { o.Secret = "short" }, "max_bytes": func(o *remote.Options) { o.MaxBytes = -1 },
	} {
		o := good
		change(&o)
		_, err := remote.New(o)
		if fe, ok := errors.AsType[*ragctx.FieldError](err); !ok || fe.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
