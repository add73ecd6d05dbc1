// Package llm generates text with a large language model: to extract memories, to summarize, to
// name.
//
// The contract is [Generator]. [Client] implements it for services with OpenAI's API,
//
//	POST {base}/chat/completions  {model, messages, max_tokens, temperature, response_format}
//	                              {choices: [{message: {content}, finish_reason}], usage}
//
// which OpenAI, Azure, vLLM, llama.cpp, LM Studio and Ollama (below /v1) serve.
//
// A model is never required: every user of a [Generator] also works without one. A circuit breaker
// pauses requests to a service that is down (package httpclient), and a daily token limit covers
// all callers.
//
// Answers are untrusted: they are read up to a limit and treated as foreign text. Prompts go only
// to the service. No error and no log contains a prompt, an answer or the key.
package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ragctx/ragctx"
)

// Generator generates text. Implementations are safe for concurrent use.
type Generator interface {
	// Generate returns the model's answer to r. It returns soon after ctx is done.
	//
	// [ragctx.ErrUnavailable], which includes [ErrDailyLimit], says that a later call may succeed. After
	// [ragctx.ErrInvalid] and [ragctx.ErrDenied] it will not.
	//
	// With [ErrTruncated] the response has the partial text. With any error it has the usage, if known,
	// because the tokens were paid for.
	Generate(ctx context.Context, r Request) (Response, error)
}

// GeneratorFunc adapts a function to [Generator].
type GeneratorFunc func(context.Context, Request) (Response, error)

// Generate implements [Generator].
func (f GeneratorFunc) Generate(ctx context.Context, r Request) (Response, error) { return f(ctx, r) }

var (
	// ErrTruncated is the error of an answer that was truncated at its token limit.
	ErrTruncated = errors.New("the model's answer was truncated at the token limit")
	// ErrRefused says that the model refused to answer or the service withheld the answer.
	ErrRefused = errors.New("the model refused to answer")
	// ErrDailyLimit is the error of a request that was not sent because of the daily token limit. It
	// matches [ragctx.ErrUnavailable].
	ErrDailyLimit = fmt.Errorf("%w: the daily token limit is used up", ragctx.ErrUnavailable)
)

// Request is the input of a model.
type Request struct {
	// Model is the model that answers; empty is [Options].Model.
	Model string
	// System is the system prompt; it may be empty.
	System string
	// Messages are the conversation to continue. At least one is required.
	Messages []Message
	// MaxTokens is the token limit of the answer, including reasoning; 0 means 2,048.
	MaxTokens int
	// Temperature is 0 to 2; nil is the service's default. It is omitted for models that reject it.
	Temperature *float64
	// JSON asks for one JSON object. The messages must ask for it in words, too: OpenAI requires
	// that, and services without a JSON mode get only the words. The answer may still be anything.
	JSON bool
}

// Message is one message of a request. The default role is user.
type Message struct {
	Role ragctx.Role
	Text string
}

// Response is a model's answer.
type Response struct {
	// Text is the answer without surrounding white space and leading reasoning. It is empty only
	// with an error.
	Text   string
	Finish Finish
	Usage  Usage
}

// Finish is the reason for which an answer ended.
type Finish string

// The reasons. A missing or unknown reason is FinishOther.
const (
	FinishStop   Finish = "stop"
	FinishLength Finish = "length" // with [ErrTruncated]
	FinishFilter Finish = "filter" // with [ErrRefused]
	FinishOther  Finish = "other"
)

// Usage is the token count of a request.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	// Estimated says that the numbers are estimated from the length of the texts, because the
	// service reported none or implausible ones.
	Estimated bool `json:"estimated,omitempty"`
}

// Total returns the sum of both counts.
func (u Usage) Total() int64 { return int64(u.PromptTokens) + int64(u.CompletionTokens) }

// Limits of a request.
const (
	MaxRequestBytes = 4 << 20 // total of all texts
	MaxMessages     = 1000
)

// maxTokens exceeds the tokens of any request.
const maxTokens = 1 << 26

// validate checks r against the documented limits.
func (r *Request) validate() error {
	if len(r.Messages) == 0 {
		return ragctx.Invalid("messages", "are missing; send at least one")
	}
	if len(r.Messages) > MaxMessages {
		return ragctx.TooLarge("messages", "are %d; the limit is %d", len(r.Messages), MaxMessages)
	}
	size := len(r.System)
	for i, m := range r.Messages {
		size += len(m.Text)
		switch m.Role {
		case "", ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleSystem, ragctx.RoleDeveloper:
		case ragctx.RoleTool:
			return ragctx.Invalid(fmt.Sprintf("messages[%d].role", i),
				"is tool, which requires a preceding call; put the text into a user message")
		default:
			return ragctx.Invalid(fmt.Sprintf("messages[%d].role", i),
				"%q is not a role; use user, assistant or system", ragctx.Clip(string(m.Role)))
		}
		if strings.TrimSpace(m.Text) == "" {
			return ragctx.Invalid(fmt.Sprintf("messages[%d]", i), "is empty; leave it out")
		}
	}
	if size > MaxRequestBytes {
		return ragctx.TooLarge("messages", "have %d bytes; the limit is %d: shorten them", size, MaxRequestBytes)
	}
	return r.validateNumbers()
}

func (r *Request) validateNumbers() error {
	switch {
	case r.MaxTokens < 0 || r.MaxTokens > maxTokens:
		return ragctx.Invalid("max_tokens", "is %d; use 1 to %d, or 0 for the default", r.MaxTokens, maxTokens)
	case r.Temperature != nil && (math.IsNaN(*r.Temperature) || *r.Temperature < 0 || *r.Temperature > 2):
		return ragctx.Invalid("temperature", "is %v; use 0 to 2", *r.Temperature)
	}
	return nil
}

// promptTokens estimates the prompt tokens. It errs on the high side.
func (r *Request) promptTokens() int {
	n := estimate(r.System)
	for _, m := range r.Messages {
		n += estimate(m.Text) + 4 // for the role and the separator
	}
	return n
}

// estimate returns the approximate number of tokens of a text. Vocabularies have about four bytes
// per token in English and three in most other languages.
func estimate(text string) int { return (len(text) + 2) / 3 }
