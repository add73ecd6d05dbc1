package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session/assemble"
)

// Assembled is a complete model call: context and messages.
type Assembled struct {
	assemble.Result

	// Messages are the messages that the view was made of.
	Messages []ragctx.Message
	// Query is the context query's text, and Context its answer in blocks. Both are empty if no
	// query was made.
	Query   string
	Context resolve.Answer
}

// Assemble builds a model call: context for the query, or for the last user message, and as much of
// the conversation as fits next to it. Nothing is stored. Equal requests have equal answers as long
// as nothing is written, so an agent that calls it before each model call of one execution gets the
// same context. To pin the context across writes, keep the first answer's blocks and send their
// token count ([assemble.Request.KeptTokens]).
func (e *Engine) Assemble(ctx context.Context, r assemble.Request) (Assembled, error) {
	_, counter, err := e.checkAssemble(ctx, r)
	if err != nil {
		return Assembled{}, err
	}
	plan, err := r.Plan(counter)
	if err != nil {
		return Assembled{}, err
	}
	return e.assemble(ctx, r, plan)
}

// checkAssemble validates a request and returns its completed query and token counter.
func (e *core) checkAssemble(
	ctx context.Context, r assemble.Request,
) (q ragctx.ContextQuery, c ragctx.Counter, err error) {
	if err = r.Validate(); err == nil {
		q, err = e.check(ctx, r.Context)
	}
	if err == nil {
		c, err = tokens.New(q.Tokenizer)
	}
	return q, c, err
}

// assemble builds the model call of a validated request as planned.
func (e *core) assemble(ctx context.Context, r assemble.Request, plan assemble.Plan) (_ Assembled, err error) {
	out := Assembled{Messages: r.Messages}
	if plan.Retrieve {
		out.Query = plan.Query.Query
		plan.Query.Now = r.Context.Now // as given by the caller; zero keeps the answer cacheable
		if out.Context, err = e.Context(ctx, plan.Query); err != nil {
			return Assembled{}, err
		}
	}
	var parts [2]assemble.Part
	for i, b := range out.Context.Blocks {
		parts[i] = assemble.Part{Text: b.Text, Tokens: b.Tokens, Instruction: b.Instruction}
	}
	out.Result = plan.Compose(parts[0], parts[1])
	return out, nil
}
