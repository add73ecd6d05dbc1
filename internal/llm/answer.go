package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
)

// answer is the decoded part of a service's response. Usage is decoded separately, because a bad
// usage must not cost a text that was paid for.
type answer struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message *struct {
		Content content `json:"content"`
		Refusal *string `json:"refusal"`
	} `json:"message"`
	Finish *string `json:"finish_reason"`
}

// content is a text, or the concatenated parts of type text of a list.
type content string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*string)(c)) // null leaves it empty
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			text.WriteString(p.Text)
		}
	}
	*c = content(text.String())
	return nil
}

// errReported is the error of a response with status 200 that reports an error.
var errReported = errors.New("the service answered with an error instead of a text")

// readAnswer reads the first choice of a response. Usage is zero if the service did not report it.
// An error that matches [ErrTruncated] comes with the partial text.
func readAnswer(body []byte) (Response, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return Response{}, answerError(err)
	}
	r := Response{Usage: readUsage(a.Usage)}
	switch {
	case len(a.Choices) == 0 && len(a.Error) > 0 && string(a.Error) != "null":
		return r, errReported
	case len(a.Choices) == 0:
		return r, errors.New("the answer has no choices")
	case a.Choices[0].Message == nil:
		return r, errors.New("the answer's choice has no message")
	}
	first := a.Choices[0]
	r.Finish = finish(first.Finish)
	if r.Finish == FinishFilter {
		return r, fmt.Errorf("%w: the service's content filter withheld the answer", ErrRefused)
	}
	if first.Message.Refusal != nil && strings.TrimSpace(*first.Message.Refusal) != "" {
		return r, ErrRefused
	}
	r.Text = strings.TrimSpace(withoutReasoning(string(first.Message.Content)))
	switch {
	case r.Finish == FinishLength:
		return r, ErrTruncated
	case r.Text == "":
		return r, errors.New("the model's answer is empty")
	}
	return r, nil
}

// withoutReasoning returns a text without a leading <think> block, which some servers include. If the block
// does not end, the result is empty.
func withoutReasoning(text string) string {
	thought, opened := strings.CutPrefix(strings.TrimSpace(text), "<think>")
	if !opened {
		return text
	}
	_, said, _ := strings.Cut(thought, "</think>")
	return said
}

func finish(reason *string) Finish {
	if reason == nil {
		return FinishOther
	}
	switch *reason {
	case "stop", "eos", "end_turn", "stop_sequence":
		return FinishStop
	case "length", "max_tokens":
		return FinishLength
	case "content_filter":
		return FinishFilter
	}
	return FinishOther
}

// readUsage returns the usage that the service reported, or zero if it is missing or impossible.
func readUsage(raw json.RawMessage) Usage {
	var counted struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &counted) != nil {
		return Usage{}
	}
	for _, n := range [...]float64{counted.Prompt, counted.Completion} {
		if n < 0 || n > maxTokens {
			return Usage{}
		}
	}
	if counted.Prompt == 0 {
		return Usage{} // every request has prompt tokens
	}
	return Usage{PromptTokens: int(counted.Prompt), CompletionTokens: int(counted.Completion)}
}

// answerError describes an error in a response's JSON. Of the contents it shows only the name of a
// field.
func answerError(err error) error {
	what := "it is not JSON"
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what = fmt.Sprintf("%s is not of type %s", ragctx.Clip(e.Field), e.Type)
	}
	return fmt.Errorf("the answer does not have OpenAI's shape: %s", what)
}
