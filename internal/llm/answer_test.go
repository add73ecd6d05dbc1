package llm

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAnswers reads answers in the forms that services give.
func TestAnswers(t *testing.T) {
	for body, want := range map[string]Response{
		`{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`: {"a", FinishStop, Usage{1, 2, false}},
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}]}`:                        {"ab", FinishOther, Usage{}},
		`{"choices":[{"message":{"content":"  a\n"},"finish_reason":null}],"usage":{"prompt_tokens":1.0}}`:                                      {"a", FinishOther, Usage{1, 0, false}},
		`{"choices":[{"message":{"content":"<think>so {\"a\"}\n</think>\n\na"},"finish_reason":"eos"}]}`:                                        {"a", FinishStop, Usage{}},
		`{"choices":[{"message":{"content":"a <think> b"},"finish_reason":"tool_calls"},{"message":null}]}`:                                     {"a <think> b", FinishOther, Usage{}},
	} {
		if got, err := readAnswer([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// TestHostileAnswers: an invalid answer is an error that quotes nothing of it.
func TestHostileAnswers(t *testing.T) {
	for body, want := range map[string]string{
		``:                             "not JSON",
		`null`:                         "no choices",
		`[]`:                           "not of type",
		`{}`:                           "no choices",
		`{"choices":null}`:             "no choices",
		`{"choices":[]}`:               "no choices",
		`{"choices":{}}`:               "choices is not of type",
		`{"choices":[null]}`:           "no message",
		`{"choices":[{}]}`:             "no message",
		`{"choices":[{"message":{}}]}`: "empty",
		`{"choices":[{"message":{"content":null}}]}`:                                    "empty",
		`{"choices":[{"message":{"content":" \n"}}]}`:                                   "empty",
		`{"choices":[{"message":{"content":7}}]}`:                                       "not of type",
		`{"choices":[{"message":{"content":{"text":"pr1vate"}}}]}`:                      "not of type",
		`{"choices":[{"message":{"content":"pr1vate"},"finish_reason":3}]}`:             "not of type",
		`{"choices":[{"message":{"content":"pr1vate"}}],"usage":{"prompt_tokens":NaN}}`: "not JSON",
		`{"choices":[{"message":{"content":"pr1vate"`:                                   "not JSON",
		`{"choices":[{"message":{"content":"<think>pr1vate"}}]}`:                        "empty",
		`{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]}`:    "content filter",
		`{"choices":[{"message":{"content":"x","refusal":"pr1vate"}}]}`:                 "refused",
		`{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`:            "truncated",
		`{"error":"pr1vate"}`: "an error",
	} {
		_, err := readAnswer([]byte(body))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pr1vate") {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// FuzzAnswer: whatever a service says, there is a short error or a text, and the
// usage is no nonsense.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"<think>b"}]},"finish_reason":"length"}],"usage":[]}`))
	f.Add([]byte(`{"error":{"message":"x"},"usage":{"prompt_tokens":-1e400}}`))
	f.Add([]byte(`{"choices":[{"message":{"refusal":""}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := readAnswer(body)
		u := r.Usage
		if u.PromptTokens < 0 || u.CompletionTokens < 0 || u.PromptTokens > maxTokens || u.CompletionTokens > maxTokens || u.Estimated {
			t.Errorf("%+v", u)
		}
		if !utf8.ValidString(r.Text) || r.Text != strings.TrimSpace(r.Text) {
			t.Errorf("%q", r.Text)
		}
		switch {
		case err == nil && r.Text == "":
			t.Error("neither text nor error")
		case err != nil && len(err.Error()) > 300:
			t.Errorf("an error of %d bytes", len(err.Error()))
		case err != nil && r.Text != "" && !errors.Is(err, ErrTruncated):
			t.Errorf("%q beside %v", r.Text, err)
		}
	})
}
