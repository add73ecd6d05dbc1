package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/llm"
)

// TestRequests compares the requests with the reference of the service.
func TestRequests(t *testing.T) {
	for want, r := range map[string]llm.Request{
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":2048}`: ask("hi"),
		`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}],
			"max_tokens":7,"temperature":0,"response_format":{"type":"json_object"}}`: {
			System: "Be brief.", Messages: []llm.Message{{Text: "a"}, {Role: ragctx.RoleAssistant, Text: "b"}, {Role: ragctx.RoleUser, Text: "c"}},
			MaxTokens: 7, Temperature: new(0.0), JSON: true,
		},
	} {
		f := &fake{script: says(fine)}
		c, _ := newClient(t, f, llm.Options{})
		got, err := c.Generate(t.Context(), r)
		if d := cmp.Diff(llm.Response{Text: "Hello.", Finish: llm.FinishStop, Usage: llm.Usage{PromptTokens: 10, CompletionTokens: 5}}, got); err != nil || d != "" {
			t.Errorf("%v\n%s", err, d)
		}
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(wanted, f.served()[0]); d != "" {
			t.Errorf("request (-want +got):\n%s", d)
		}
	}
}

func TestPaths(t *testing.T) {
	for given, want := range map[string]string{
		"": "/v1/chat/completions", "/": "/v1/chat/completions", "/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions",
		"/openai/v1": "/openai/v1/chat/completions", "/x/chat/completions": "/x/chat/completions",
	} {
		f := &fake{script: says(fine)}
		c, _ := newClient(t, f, llm.Options{URL: given})
		if _, err := c.Generate(t.Context(), ask("hi")); err != nil || f.paths[0] != want {
			t.Errorf("%q: asked %v, want %s; %v", given, f.paths, want, err)
		}
	}
}

// TestDialects: a rejected field is omitted from the second request, and from all later ones once
// that was accepted.
func TestDialects(t *testing.T) {
	refuse := func(fields map[string]string) *fake {
		return &fake{script: func(w http.ResponseWriter, _ int, body map[string]any) {
			for field, said := range fields {
				if body[field] != nil {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"error":{"message":%q}}`, said)
					return
				}
			}
			io.WriteString(w, fine)
		}}
	}
	r := ask("hi")
	r.JSON, r.Temperature = true, new(0.0)
	for name, tt := range map[string]struct {
		fields  map[string]string
		refused int
	}{
		"everything":   {nil, 0},
		"no JSON mode": {map[string]string{"response_format": "'response_format.type' must be 'json_schema' or 'text'"}, 1},
		"says nothing": {map[string]string{"response_format": ""}, 1},
		"one that thinks": {map[string]string{
			"max_tokens":  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			"temperature": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := refuse(tt.fields)
			c, _ := newClient(t, f, llm.Options{})
			for range 3 {
				if _, err := c.Generate(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(f.served()); n != 3+tt.refused {
				t.Errorf("%d requests for 3 calls", n)
			}
		})
	}
	// A request that is rejected in every form does not change the dialect.
	long := true
	f := &fake{script: func(w http.ResponseWriter, _ int, _ map[string]any) {
		if long {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"maximum context length exceeded"}}`)
			return
		}
		io.WriteString(w, fine)
	}}
	c, _ := newClient(t, f, llm.Options{})
	if _, err := c.Generate(t.Context(), r); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "context length") {
		t.Error(err)
	}
	long = false
	if _, err := c.Generate(t.Context(), r); err != nil || f.served()[len(f.served())-1]["response_format"] == nil {
		t.Errorf("%v, %v", err, f.served())
	}
}

// TestFailures: each fault of the service is an error of its kind, after as many requests as may
// help.
func TestFailures(t *testing.T) {
	status := func(n int) func(http.ResponseWriter, int, map[string]any) {
		return func(w http.ResponseWriter, _ int, _ map[string]any) { w.WriteHeader(n) }
	}
	for name, tt := range map[string]struct {
		script func(http.ResponseWriter, int, map[string]any)
		tries  int
		kind   error
		says   string
	}{
		"busy":         {status(429), 3, ragctx.ErrUnavailable, "429"},
		"broken":       {status(503), 3, ragctx.ErrUnavailable, "503"},
		"server error": {status(500), 2, ragctx.ErrUnavailable, "500"},
		"denied":       {status(401), 1, ragctx.ErrDenied, "401"},
		"no such":      {status(404), 1, ragctx.ErrInvalid, "404"},
		"cut off":      {func(http.ResponseWriter, int, map[string]any) { panic(http.ErrAbortHandler) }, 3, ragctx.ErrUnavailable, "no complete response"},
		"half": {func(w http.ResponseWriter, _ int, _ map[string]any) {
			w.Header().Set("Content-Length", "99")
			io.WriteString(w, "{")
		}, 3, ragctx.ErrUnavailable, "no complete response"},
		"endless": {func(w http.ResponseWriter, _ int, _ map[string]any) {
			for range 10 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
					return
				}
			}
		}, 1, nil, "more than 4194304 bytes"},
		"empty":    {says(""), 1, nil, "not JSON"},
		"web page": {says("<html>busy</html>"), 1, nil, "not JSON"},
		"refusal":  {says(`{"choices":[{"message":{"content":null,"refusal":"I can't help with that."},"finish_reason":"stop"}]}`), 1, llm.ErrRefused, "refused"},
		"reported": {says(`{"error":{"message":"upstream is gone","code":502}}`), 1, nil, "upstream is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{script: tt.script}
			c, _ := newClient(t, f, llm.Options{})
			_, err := c.Generate(t.Context(), ask("pr1vate"))
			if err == nil || tt.kind != nil && !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), "ask m at 127.0.0.1:") {
				t.Errorf("%v, want %v with %q", err, tt.kind, tt.says)
			}
			if n := len(f.served()); n != tt.tries {
				t.Errorf("%d requests, want %d", n, tt.tries)
			}
		})
	}
}

// TestSlow: a slow attempt counts as the service's failure, a canceled one does not.
func TestSlow(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	f := &fake{script: func(http.ResponseWriter, int, map[string]any) { <-release }}
	c, _ := newClient(t, f, llm.Options{Timeout: 20 * time.Millisecond, Retries: -1})
	if _, err := c.Generate(t.Context(), ask("hi")); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("its own time: %v", err)
	}
	c, _ = newClient(t, f, llm.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	before := len(f.served())
	done := make(chan llm.Response)
	for range 3 { // one waits for its turn behind the others
		go func() {
			out, err := c.Generate(ctx, ask("hi"))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the caller's time: %v", err)
			}
			done <- out
		}()
	}
	for range 3 {
		if out := <-done; out.Usage.Total() > 0 && !out.Usage.Estimated {
			t.Errorf("%+v", out)
		}
	}
	if state, _ := c.Breaker(); state != httpclient.Closed || len(f.served()) > before+2 {
		t.Errorf("%s after %d requests", state, len(f.served())-before)
	}
}

// TestBreaker: a service that is down is not asked for a while.
func TestBreaker(t *testing.T) {
	up := false
	f := &fake{script: func(w http.ResponseWriter, _ int, _ map[string]any) {
		if !up {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		io.WriteString(w, fine)
	}}
	c, clk := newClient(t, f, llm.Options{Retries: -1})
	for range 7 {
		if _, err := c.Generate(t.Context(), ask("hi")); !errors.Is(err, ragctx.ErrUnavailable) {
			t.Error(err)
		}
	}
	if state, until := c.Breaker(); len(f.served()) != 5 || state != httpclient.Open || !until.After(clk.Now()) || c.Today().Tokens != 0 {
		t.Errorf("%d requests, %s until %v, %+v", len(f.served()), state, until, c.Today())
	}
	up = true
	clk.Sleep(t.Context(), time.Minute)
	if _, err := c.Generate(t.Context(), ask("hi")); err != nil {
		t.Error(err)
	}
	if state, _ := c.Breaker(); state != httpclient.Closed {
		t.Error(state)
	}
}

// TestCap: what could exceed the tokens of the day is not sent, and the next day is
// another.
func TestCap(t *testing.T) {
	f := &fake{script: says(fine)}
	c, clk := newClient(t, f, llm.Options{MaxTokensPerDay: 60, UsedToday: llm.DayUsage{Day: "2026-03-01", Tokens: 5}})
	short := ask("hi")
	short.MaxTokens = 20
	calls := 0
	var err error
	for ; err == nil && calls < 10; calls++ {
		_, err = c.Generate(t.Context(), short)
	}
	// Each needs up to 25 and takes 15: 5, 20, 35; then 50 would exceed it.
	if !errors.Is(err, llm.ErrDailyLimit) || !errors.Is(err, ragctx.ErrUnavailable) || len(f.served()) != 3 || calls != 4 {
		t.Errorf("%d requests, %v", len(f.served()), err)
	}
	for _, part := range []string{"50 of 60", "2026-03-02 00:00 UTC", "max_tokens_per_day"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	if got := c.Today(); got != (llm.DayUsage{Day: "2026-03-01", Tokens: 50}) {
		t.Errorf("%+v", got)
	}
	clk.Sleep(t.Context(), 2*time.Hour)
	if _, err := c.Generate(t.Context(), short); err != nil {
		t.Errorf("the next day: %v", err)
	}
	if got := c.Today(); got != (llm.DayUsage{Day: "2026-03-02", Tokens: 15}) {
		t.Errorf("%+v", got)
	}
	stale, _ := newClient(t, f, llm.Options{MaxTokensPerDay: 60, UsedToday: llm.DayUsage{Day: "2026-02-28", Tokens: 60}})
	if _, err := stale.Generate(t.Context(), short); err != nil {
		t.Errorf("what another day spent: %v", err)
	}
}

// TestCapHoldsForAll: however many ask together, and whatever fails, the cap is kept
// union nothing stays held.
func TestCapHoldsForAll(t *testing.T) {
	f := &fake{script: func(w http.ResponseWriter, n int, _ map[string]any) {
		if n%3 == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		io.WriteString(w, fine)
	}}
	c, _ := newClient(t, f, llm.Options{MaxTokensPerDay: 500})
	short := ask("hi")
	short.MaxTokens = 20
	done := make(chan error)
	for range 100 {
		go func() {
			_, err := c.Generate(t.Context(), short)
			done <- err
		}()
	}
	answers := 0
	for range 100 {
		if err := <-done; err == nil {
			answers++
		}
	}
	if used := c.Today().Tokens; used > 500 || used != int64(15*answers) {
		t.Errorf("%d answers, %d tokens", answers, used)
	}
	for { // with nothing under way, all that is left can be used
		if _, err := c.Generate(t.Context(), short); errors.Is(err, llm.ErrDailyLimit) {
			break
		}
	}
	if used := c.Today().Tokens; used < 500-25 || used > 500 {
		t.Errorf("%d tokens", used)
	}
}

// TestUncounted: tokens that the service does not count are estimated.
func TestUncounted(t *testing.T) {
	const text = `{"choices":[{"message":{"content":"twelve bytes"}}]%s}`
	for _, usage := range []string{
		``, `,"usage":null`, `,"usage":{}`, `,"usage":"NaN"`, `,"usage":{"prompt_tokens":"NaN","completion_tokens":1}`, `,"usage":{"prompt_tokens":-3,"completion_tokens":1}`,
		`,"usage":{"prompt_tokens":1e300,"completion_tokens":1}`, `,"usage":{"prompt_tokens":1e999}`, `,"usage":[1]`, `,"usage":{"prompt_tokens":0,"completion_tokens":0}`,
	} {
		f := &fake{script: says(fmt.Sprintf(text, usage))}
		c, _ := newClient(t, f, llm.Options{})
		out, err := c.Generate(t.Context(), ask(strings.Repeat("x", 30)))
		if err != nil || out.Usage != (llm.Usage{PromptTokens: 14, CompletionTokens: 4, Estimated: true}) || out.Finish != llm.FinishOther {
			t.Errorf("%s: %+v, %v", usage, out, err)
		}
		if used := c.Today().Tokens; used != 18 {
			t.Errorf("%d tokens", used)
		}
	}
}

// TestCut: a truncated answer is returned together with the error.
func TestCut(t *testing.T) {
	f := &fake{script: says(`{"choices":[{"message":{"content":"half a sen"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`)}
	c, _ := newClient(t, f, llm.Options{})
	out, err := c.Generate(t.Context(), ask("hi"))
	if d := cmp.Diff(llm.Response{Text: "half a sen", Finish: llm.FinishLength, Usage: llm.Usage{PromptTokens: 3, CompletionTokens: 4}}, out); !errors.Is(err, llm.ErrTruncated) || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestInvalidRequests(t *testing.T) {
	f := &fake{script: func(http.ResponseWriter, int, map[string]any) { t.Error("it was sent") }}
	c, _ := newClient(t, f, llm.Options{})
	for field, r := range map[string]llm.Request{
		"messages":         {System: "x"},
		"messages[0]":      ask(" \n"),
		"messages[0].role": {Messages: []llm.Message{{Role: ragctx.RoleTool, Text: "x"}}},
		"messages[1].role": {Messages: []llm.Message{{Text: "x"}, {Role: "robot", Text: "x"}}},
		"max_tokens":       {Messages: ask("x").Messages, MaxTokens: -1},
		"temperature":      {Messages: ask("x").Messages, Temperature: new(math.NaN())},
	} {
		_, err := c.Generate(t.Context(), r)
		if fe, ok := errors.AsType[*ragctx.FieldError](err); !ok || fe.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := c.Generate(t.Context(), ask(strings.Repeat("x", llm.MaxRequestBytes+1))); !errors.Is(err, ragctx.ErrTooLarge) {
		t.Error(err)
	}
	many := llm.Request{Messages: make([]llm.Message, llm.MaxMessages+1)}
	if _, err := c.Generate(t.Context(), many); !errors.Is(err, ragctx.ErrTooLarge) {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	const local = "http://127.0.0.1:1/v1"
	for _, tt := range []struct {
		field string
		o     llm.Options
	}{
		{"model", llm.Options{}},
		{"model", llm.Options{URL: local}},
		{"model", llm.Options{URL: local, Model: "\xff"}},
		{"key", llm.Options{Model: "m"}},
		{"key", llm.Options{Model: "m", APIKey: secret + "\n"}},
		{"url", llm.Options{Model: "m", URL: "127.0.0.1"}},
		{"url", llm.Options{Model: "m", URL: "http://user:" + secret + "@127.0.0.1/"}},
		{"url", llm.Options{Model: "m", URL: "http://llm.example.com", APIKey: secret}},
		{"max_tokens_per_day", llm.Options{Model: "m", URL: local, MaxTokensPerDay: -1}},
		{"timeout", llm.Options{Model: "m", URL: local, Timeout: -1}},
		{"backoff", llm.Options{Model: "m", URL: local, Backoff: -1}},
	} {
		_, err := llm.New(tt.o)
		if fe, ok := errors.AsType[*ragctx.FieldError](err); !ok || fe.Field != tt.field || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: %v, want an error about %s", tt.o, err, tt.field)
		}
	}
	c, err := llm.New(llm.Options{Model: "m", APIKey: secret})
	if err != nil || c.String() != "m at api.openai.com" {
		t.Errorf("%v, %v", c, err)
	}
}

// TestSecrets: no response, error or log reveals the key, the prompt or the answer.
func TestSecrets(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	var printed []string
	for _, said := range []string{secret, "Bearer " + secret, "invalid key " + secret[:8] + "***"} {
		for _, status := range []int{200, 400, 401, 429, 500} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+secret {
					t.Errorf("authorized by %q", r.Header.Get("Authorization"))
				}
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"error":{"message":%q}}`, said)
			}))
			c, err := llm.New(llm.Options{
				URL: s.URL + "/v1?sig=s1gn4ture", Model: "m", APIKey: secret,
				Sleep: func(context.Context, time.Duration) error { return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Generate(t.Context(), ask("pr1vate"))
			logger.Info("x", "client", c, "error", err)
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				printed = append(printed, fmt.Sprintf(verb, c), fmt.Sprintf(verb, err), fmt.Sprintf(verb, c.Today()))
			}
			c.Close()
			s.Close()
		}
	}
	for _, s := range append(printed, log.String()) {
		for _, part := range []string{"s1gn", "pr1vate", secret[:6], secret[3:9], secret[len(secret)-6:]} {
			if strings.Contains(s, part) {
				t.Fatalf("%q tells %q", s, part)
			}
		}
	}
}
