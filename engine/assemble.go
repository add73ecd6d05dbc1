package engine

import (
	"context"

	"github.com/ragctx/ragctx/assemble"
	"github.com/ragctx/ragctx/resolve"
	"github.com/ragctx/ragctx/tokens"
)

// Assembled is everything that a model call is made of.
type Assembled struct {
	assemble.Result

	// Asked is what was looked for, and Context what was found, in blocks; without any if
	// nothing was looked for.
	Asked   string
	Context resolve.Answer
}

// Assemble puts a model call together: context for the query, or for what the user said
// last, and as much of the conversation as fits beside it. Nothing is stored, and equal
// requests have equal answers as long as nothing is written: agents that call it before
// each call of one execution see the same context. To keep it whatever is written, they
// keep the first answer's blocks and send its tokens ([assemble.Request.KeptTokens]).
func (e *Engine) Assemble(ctx context.Context, r assemble.Request) (Assembled, error) {
	if err := r.Validate(); err != nil {
		return Assembled{}, err
	}
	q, err := e.check(ctx, r.Context)
	if err != nil {
		return Assembled{}, err
	}
	counter, err := tokens.New(q.Tokenizer)
	if err != nil {
		return Assembled{}, err
	}
	plan, err := r.Plan(counter)
	if err != nil {
		return Assembled{}, err
	}
	var out Assembled
	if plan.Ask {
		plan.Query.Messages, out.Asked = r.Messages, plan.Query.Query
		plan.Query.Now = r.Context.Now // what the caller said of it
		if out.Context, err = e.Context(ctx, plan.Query); err != nil {
			return Assembled{}, err
		}
	}
	var parts [2]assemble.Part
	prompt := r.SystemPrompt
	for i, b := range out.Context.Blocks {
		parts[i] = assemble.Part{Text: b.Text, Tokens: b.Tokens, Instruction: b.Instruction}
		if r.Placement == assemble.Prepend {
			prompt = resolve.Prompt(resolve.Prompt(prompt, b.Instruction), b.Text)
		}
	}
	out.Result = plan.Compose(prompt, parts[0], parts[1])
	return out, nil
}
