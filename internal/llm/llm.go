// Package llm asks a large language model for text: to extract what is worth
// remembering, to summarise, to name.
//
// The contract is [Generator]; [Client] is one over services of OpenAI's shape,
//
//	POST {base}/chat/completions  {model, messages, max_tokens, temperature, stop, response_format}
//	                              {choices: [{message: {content}, finish_reason}], usage}
//
// which OpenAI, Azure, vLLM, llama.cpp, LM Studio and Ollama (below /v1) serve.
//
// A model is never needed: whoever has a [Generator] also has a way without one.
// A service that is down is left alone for a while (package outbound), and a cap of
// tokens per day holds whatever asks.
//
// What comes back is not trusted: an answer is read up to a limit, and is text
// that somebody else wrote. What is asked goes to the service and nowhere else; no
// error and no log holds any of it, or of what the model said, or the key.
package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ragctx/ragctx"
)

// Generator writes text. Implementations are safe for concurrent use.
type Generator interface {
	// Generate returns the model's answer to r. It returns soon after ctx is done.
	//
	// [ragctx.ErrUnavailable] says that it may help to ask later, [ErrSpent] among
	// them; [ragctx.ErrInvalid] and [ragctx.ErrDenied] that it will not.
	//
	// With [ErrCut] the response holds what there is of the text. With any error it
	// has the usage, as far as that is known: it was paid for.
	Generate(ctx context.Context, r Request) (Response, error)
}

// GeneratorFunc is a function as a [Generator].
type GeneratorFunc func(context.Context, Request) (Response, error)

// Generate implements [Generator].
func (f GeneratorFunc) Generate(ctx context.Context, r Request) (Response, error) { return f(ctx, r) }

var (
	// ErrCut is the error of an answer that ended because it was as long as it may be.
	ErrCut = errors.New("the model's answer was cut off at the most tokens")
	// ErrRefused is the error of a model that would not answer, or of a service that
	// withheld the answer.
	ErrRefused = errors.New("the model refused to answer")
	// ErrSpent is the error of a request that was not sent because the tokens of the
	// day are spent. It matches [ragctx.ErrUnavailable].
	ErrSpent = fmt.Errorf("%w: the tokens of the day are spent", ragctx.ErrUnavailable)
)

// Request is what a model is asked.
type Request struct {
	// System tells the model what to do; it may be empty.
	System string
	// Messages are the conversation that is to be continued, at least one.
	Messages []Message
	// MaxTokens bounds the answer, with what the model thinks before it; 0 is the
	// client's [Options].MaxTokens.
	MaxTokens int
	// Temperature is 0 to 2; nil is the service's. Models that have none are asked
	// without it.
	Temperature *float64
	// JSON asks for one JSON object. The messages must ask for it in words, too:
	// OpenAI wants that, and services without such a mode are asked in words only. It
	// is a wish: the answer can be anything.
	JSON bool
	// Stop lists up to [MaxStops] texts before which the answer ends.
	Stop []string
}

// Message is one message of a request. Role is user, unless it says otherwise.
type Message struct {
	Role ragctx.Role
	Text string
}

// Response is what a model answered.
type Response struct {
	// Text is the answer without white space around it and without what the model
	// thought aloud before it. It is empty only beside an error.
	Text   string
	Finish Finish
	Usage  Usage
}

// Finish says why an answer ended.
type Finish string

// The reasons. A service that states none, or one of its own, gives FinishOther.
const (
	FinishStop   Finish = "stop"
	FinishLength Finish = "length" // with [ErrCut]
	FinishFilter Finish = "filter" // with [ErrRefused]
	FinishOther  Finish = "other"
)

// Usage is what a request cost.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	// Estimated says that the service did not count, or not credibly, so that the
	// numbers are made from the length of the texts.
	Estimated bool `json:"estimated,omitempty"`
}

// Total returns all tokens.
func (u Usage) Total() int64 { return int64(u.PromptTokens) + int64(u.CompletionTokens) }

// Limits of a request.
const (
	MaxRequestBytes = 4 << 20 // of all texts
	MaxMessages     = 1000
	MaxStops        = 4
)

// maxTokens is more than any request has.
const maxTokens = 1 << 26

// validate checks r against the documented limits.
func (r *Request) validate() error {
	if len(r.Messages) == 0 {
		return ragctx.Invalid("messages", "are missing; there is nothing to answer")
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
			return ragctx.Invalid(fmt.Sprintf("messages[%d].role", i), "is tool, which wants a call before it; put the text into a message of the user")
		default:
			return ragctx.Invalid(fmt.Sprintf("messages[%d].role", i), "%q is not a role; use user, assistant or system", ragctx.Clip(string(m.Role)))
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
	case len(r.Stop) > MaxStops:
		return ragctx.Invalid("stop", "lists %d texts; the limit is %d", len(r.Stop), MaxStops)
	}
	for i, s := range r.Stop {
		if s == "" {
			return ragctx.Invalid(fmt.Sprintf("stop[%d]", i), "is empty; leave it out")
		}
	}
	return nil
}

// promptTokens estimates the tokens of what is asked, rather too many than too few.
func (r *Request) promptTokens() int {
	n := estimate(r.System)
	for _, m := range r.Messages {
		n += estimate(m.Text) + 4 // for the role and what parts messages
	}
	return n
}

// estimate returns about how many tokens a text has: vocabularies make one of four
// bytes of English, and one of three of most other texts.
func estimate(text string) int { return (len(text) + 2) / 3 }
