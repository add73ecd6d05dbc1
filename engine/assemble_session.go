package engine

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// SessionRequest asks for a model call of a stored conversation. The request's messages
// follow the stored ones and are not stored; its query is for the session's user, and sees
// the memories of all their sessions unless it names one.
type SessionRequest struct {
	assemble.Request

	// Leaf is the message that the branch ends with; "" is the session's. Execution is the
	// one whose traces are shown.
	Leaf      string
	Execution session.Execution
	// Used is what the model said that its last call cost, in tokens; 0 has the messages
	// counted.
	Used int
}

// AssembledSession is a model call of a stored conversation, and what its stages did.
type AssembledSession struct {
	Assembled

	Stages view.View
}

// AssembleSession puts a model call together of a stored conversation: its stages run
// (observations, compaction, truncation, those of the operator), which stores what they
// want to last, and what they leave is divided as [Engine.Assemble] does. Memories of the
// session that only repeat what is shown of it are left out. What the calls of one question
// were shown stays while its rank changes little.
func (e *Engine) AssembleSession(ctx context.Context, k session.Key, r SessionRequest) (AssembledSession, error) {
	k, err := e.conversation(ctx, k)
	if err != nil {
		return AssembledSession{}, err
	}
	r.Request.Context.Namespace, r.Request.Context.UserID = k.Namespace, k.User
	q, counter, err := e.assembling(ctx, r.Request)
	if err != nil {
		return AssembledSession{}, err
	}
	window, fixed := r.Fixed(counter)
	var out AssembledSession
	out.Stages, err = e.Conversations().View(ctx, k, view.ViewOptions{
		Phase: stage.Phase(r.Phase), Budget: stage.Budget{Window: window, Fixed: fixed}, Used: r.Used,
		Compile: view.CompileOptions{Leaf: r.Leaf, Execution: r.Execution, Tokenizer: q.Tokenizer},
	})
	if err != nil {
		return AssembledSession{}, err
	}
	r.Messages, r.Costs = slices.Concat(out.Stages.Messages, r.Messages), out.Stages.Costs
	question := r.question()
	before, began := e.shown.get(k, question)
	if r.Request.Context.Shown == nil {
		r.Request.Context.Shown = before
	}
	plan, err := r.Plan(counter)
	if err != nil {
		return AssembledSession{}, err
	}
	if plan.Ask {
		ids, err := e.said(ctx, k, plan.Query, plan.Shown())
		if err != nil {
			return AssembledSession{}, err
		}
		plan.Query.Exclude = slices.Concat(plan.Query.Exclude, ids)
	}
	out.Assembled, err = e.assemble(ctx, r.Request, plan, k.ID)
	if err != nil {
		return AssembledSession{}, err
	}
	for _, b := range out.Context.Blocks {
		if b.Name == resolve.Volatile {
			e.shown.put(k, question, slices.Clone(b.Items), began)
		}
	}
	return out, nil
}

// question tells calls apart whose context is another one. What is shown before the
// conversation stays from question to question.
func (r SessionRequest) question() [sha256.Size]byte {
	text := r.Request.Context.Query
	if i := session.LastInstruction(r.Messages); text == "" && i >= 0 {
		text = r.Messages[i].Content.String()
	}
	if r.Placement == assemble.Prepend {
		text = ""
	}
	return sha256.Sum256([]byte(text))
}
