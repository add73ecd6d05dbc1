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

// SessionRequest asks for a model call of a stored conversation. The request's messages follow the
// stored ones and are not stored. Its query is asked by the session and its user.
type SessionRequest struct {
	assemble.Request

	// Leaf is the last message of the branch; "" is the session's leaf. Execution selects the
	// execution with visible traces.
	Leaf      string
	Execution session.Execution
	// Used is the token count that the model reported for its last call; 0 counts the messages
	// instead.
	Used int
}

// AssembledSession is a model call of a stored conversation, with the view that its stages made.
type AssembledSession struct {
	Assembled

	Stages view.View
}

// Assemble builds a model call of a stored conversation. Its stages run first (observations,
// compaction, truncation, custom stages) and may store their results; the remaining
// messages are divided as in [Engine.Assemble]. Memories of the session that only repeat visible
// messages are left out. Items shown in the previous call for the same question are kept while
// their rank changes little.
func (e Sessions) Assemble(ctx context.Context, k session.Key, r SessionRequest) (AssembledSession, error) {
	k, err := e.conversationKey(ctx, k)
	if err != nil {
		return AssembledSession{}, err
	}
	r.Request.Context.Namespace, r.Request.Context.UserID, r.Request.Context.SessionID = k.Namespace, k.User, k.ID
	q, counter, err := e.checkAssemble(ctx, r.Request)
	if err != nil {
		return AssembledSession{}, err
	}
	window, fixed := r.Fixed(counter)
	var out AssembledSession
	out.Stages, err = e.Sessions().Views().View(ctx, k, view.ViewOptions{
		Phase: r.Phase, Budget: stage.Budget{Window: window, Fixed: fixed}, Used: r.Used,
		Compile: view.CompileOptions{Leaf: r.Leaf, Execution: r.Execution, Tokenizer: q.Tokenizer},
	})
	if err != nil {
		return AssembledSession{}, err
	}
	r.Messages, r.Costs = slices.Concat(out.Stages.Messages, r.Messages), out.Stages.Costs
	question := r.questionHash()
	previous, generation := e.shownItems.get(k, question)
	if r.Request.Context.Shown == nil {
		r.Request.Context.Shown = previous
	}
	plan, err := r.Plan(counter)
	if err != nil {
		return AssembledSession{}, err
	}
	if plan.Retrieve {
		ids, err := e.repeatedMemories(ctx, k, plan.Query, plan.Preview())
		if err != nil {
			return AssembledSession{}, err
		}
		plan.Query.Exclude = slices.Concat(plan.Query.Exclude, ids)
	}
	out.Assembled, err = e.assemble(ctx, r.Request, plan)
	if err != nil {
		return AssembledSession{}, err
	}
	for _, b := range out.Context.Blocks {
		if b.Name == resolve.Volatile {
			e.shownItems.put(k, question, slices.Clone(b.Items), generation)
		}
	}
	return out, nil
}

// questionHash returns a hash that identifies the question of a call. With context before the
// conversation it is constant, so shown items are kept from question to question.
func (r SessionRequest) questionHash() [sha256.Size]byte {
	text := r.Request.Context.Query
	if i := session.LastInstruction(r.Messages); text == "" && i >= 0 {
		text = r.Messages[i].Content.String()
	}
	if r.Placement == assemble.Prepend {
		text = ""
	}
	return sha256.Sum256([]byte(text))
}
