package memory_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/providers/memory"
)

var (
	secretText  = regexp.MustCompile(`sk-[0-9a-f]{8,}`)
	contextText = regexp.MustCompile(`(?s)<context.*?</context>`)
)

// redact recognizes one form of secret.
func redact(s string) (string, bool) {
	return secretText.ReplaceAllString(s, "[redacted]"), secretText.MatchString(s)
}

// scripted is a service with a scripted model.
type scripted struct {
	handle func(w http.ResponseWriter)

	mu    sync.Mutex
	asked []string // the user's messages
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Messages []struct{ Content string } }
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	for _, m := range body.Messages[1:] {
		s.asked = append(s.asked, m.Content)
	}
	s.mu.Unlock()
	s.handle(w)
}

// answer returns a handler that answers with a model's text.
func answer(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"content": text}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 100, "completion_tokens": 20},
		})
	}
}

func newAsker(t *testing.T, handle func(http.ResponseWriter), o memory.ExtractOptions) (*memory.FactExtractor, *scripted) {
	t.Helper()
	return patientAsker(t, handle, o, time.Minute)
}

// patientAsker returns an extractor with a longer timeout.
func patientAsker(t *testing.T, handle func(http.ResponseWriter), o memory.ExtractOptions,
	patience time.Duration,
) (*memory.FactExtractor, *scripted) {
	t.Helper()
	s := &scripted{handle: handle}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client, err := llm.New(llm.Options{
		URL: server.URL, Model: "m", Timeout: patience,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if o.Clean == nil {
		o.Clean = func(s string) string { return contextText.ReplaceAllString(s, "") }
	}
	a, err := memory.NewFactExtractor(client, redact, o)
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

// said returns a turn of ann.
func said(prompt, response string) ragctx.Turn {
	return ragctx.Turn{
		UserID: "ann", SessionID: "s", Prompt: prompt, Response: response,
		Occurred: time.Date(2026, 3, 2, 14, 5, 0, 0, time.UTC),
	}
}

// item returns a valid item for the turn editor.
func item(change map[string]any) map[string]any {
	m := map[string]any{
		"memory_type": "semantic", "content": "The user prefers Helix as the editor for Go code.", "importance": 0.8, "confidence": 0.9,
		"tags": []string{"editor"}, "source": "preference", "scope": "user", "reason": "changes which commands are shown",
		"supersedes": []string{}, "conflicts_with": []string{},
	}
	for k, v := range change {
		if v == nil {
			delete(m, k)
			continue
		}
		m[k] = v
	}
	return m
}

var editor = said("For Go code I use Helix now, it is my editor of choice. Please note that.", "Noted. Vim is popular as well.")

func items(list ...map[string]any) string {
	b, err := json.Marshal(map[string]any{"items": list})
	if err != nil {
		panic(err)
	}
	return string(b)
}
