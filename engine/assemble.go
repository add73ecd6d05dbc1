package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session/assemble"
)

// Assembled is everything that a model call is made of.
type Assembled struct {
	assemble.Result

	// Messages are what the view is of.
	Messages []ragctx.Message
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
	q, counter, err := e.assembling(ctx, r)
	if err != nil {
		return Assembled{}, err
	}
	plan, err := r.Plan(counter)
	if err != nil {
		return Assembled{}, err
	}
	return e.assemble(ctx, r, plan, q.SessionID)
}

// assembling checks a request, and returns its completed query and who counts.
func (e *Engine) assembling(ctx context.Context, r assemble.Request) (q ragctx.ContextQuery, c ragctx.Counter, err error) {
	if err = r.Validate(); err == nil {
		q, err = e.check(ctx, r.Context)
	}
	if err == nil {
		c, err = tokens.New(q.Tokenizer)
	}
	return q, c, err
}

// assemble puts the call of a checked request together as planned. The providers of a
// session are asked, too.
func (e *Engine) assemble(ctx context.Context, r assemble.Request, plan assemble.Plan, of string) (_ Assembled, err error) {
	out := Assembled{Messages: r.Messages}
	if plan.Ask {
		out.Asked = plan.Query.Query
		plan.Query.Now = r.Context.Now // what the caller said of it
		if out.Context, err = e.contextOf(ctx, plan.Query, of); err != nil {
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
