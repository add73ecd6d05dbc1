package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session/stage"
	stageremote "github.com/ragctx/ragctx/session/stage/remote"
)

// A stage that redacts changes the system prompt and the newest message of the user as well,
// and where it fails nothing goes out: the call fails, and says which stage and what to do.
func TestRedactingStage(t *testing.T) {
	const secret = "hunter2"
	var how atomic.Value
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages json.RawMessage `json:"messages"`
		}
		switch err := json.NewDecoder(r.Body).Decode(&asked); {
		case err != nil:
			t.Error(err)
		case how.Load() == "down":
			w.WriteHeader(http.StatusInternalServerError)
		case how.Load() == "unusable":
			_, _ = w.Write([]byte(`{"messages": [{"role": "user", "content": "` + secret + ` alone"}]}`))
		default:
			_, _ = w.Write([]byte(`{"messages": ` + strings.ReplaceAll(string(asked.Messages), secret, "[hidden]") + `}`))
		}
	}))
	t.Cleanup(service.Close)
	for _, closed := range []bool{true, false} {
		one, err := stageremote.New(stageremote.Options{Name: "redact", URL: service.URL, Priority: 15, Closed: closed})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one.Close)
		f := startWith(t, engine.Options{PauseJobs: true, Stages: []stage.Stage{one}}, Options{})
		f.post(t, "/v1/sessions/s/messages", fields{"format": "openai", "create": true, "messages": []any{
			fields{"role": "system", "content": "The password is " + secret},
			fields{"role": "user", "content": "an older " + secret},
			fields{"role": "assistant", "content": nil, "refusal": secret, "tool_calls": []any{
				fields{"id": "1", "type": "function", "function": fields{"name": "look", "arguments": `{"q":"` + secret + `"}`}},
			}},
			fields{"role": "tool", "tool_call_id": "1", "content": secret},
			fields{"role": "user", "content": "Is it " + secret + "?"},
		}}, http.StatusCreated)
		body := `{"format":"openai"}`
		how.Store("up")
		if got := f.call(t, http.MethodPost, "/v1/sessions/s:assemble", body); got.status != http.StatusOK || strings.Contains(got.body, secret) || !strings.Contains(got.body, "Is it [hidden]?") {
			t.Errorf("closed %v: %d %s", closed, got.status, got.body)
		}
		for _, state := range []string{"down", "unusable"} {
			how.Store(state)
			got := f.call(t, http.MethodPost, "/v1/sessions/s:assemble", body)
			if !closed {
				if got.status != http.StatusOK || !strings.Contains(got.body, secret) {
					t.Errorf("open, %s: %d %s", state, got.status, got.body)
				}
				continue
			}
			if got.status != http.StatusBadGateway || strings.Contains(got.body, secret) ||
				!strings.Contains(got.body, `"stage_failed"`) || !strings.Contains(got.body, `\"redact\"`) || !strings.Contains(got.body, "on_failure") {
				t.Errorf("closed, %s: %d %s", state, got.status, got.body)
			}
		}
	}
}
