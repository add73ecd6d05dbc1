package conversation

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/compact"
	"github.com/ragctx/ragctx/pipeline"
	"github.com/ragctx/ragctx/session"
)

// CompileOptions say which messages a model is shown. The zero value shows what
// [session.DefaultCompiler] does, without limits.
type CompileOptions struct {
	// Compiler is one of [session.CompilerNames]; Sections are those that it is for, where
	// it has a choice.
	Compiler string
	Sections []string
	// Execution is the one whose traces are shown.
	Execution session.Execution
	// Leaf is the id of the message that the branch ends with; "" is the session's leaf.
	Leaf string
	// MaxTokens and MaxMessages bound what is shown, by the rules of [session.Truncate]; 0
	// is no limit.
	MaxTokens, MaxMessages int
	// Raw leaves compactions, and what stages have persisted, out of account.
	// What the buffer policy has summarised is shown in the place of the summary.
	Raw bool
	// Tokenizer is one of [tokens.Names]; "" is [DefaultTokenizer].
	Tokenizer string
}

func (o CompileOptions) validate() error {
	if _, err := session.NewCompiler(o.Compiler, o.Sections...); err != nil {
		return err
	}
	switch {
	case o.MaxTokens < 0 || o.MaxTokens > ragctx.MaxTokensLimit:
		return ragctx.Invalid("max_tokens", "is %d; use 1 to %d, or 0 for no limit", o.MaxTokens, ragctx.MaxTokensLimit)
	case o.MaxMessages < 0:
		return ragctx.Invalid("max_messages", "is %d; use 1 or more, or 0 for no limit", o.MaxMessages)
	}
	return nil
}

// Compiled is what a model is shown.
type Compiled struct {
	Messages []ragctx.Message
	// Tokens is what they cost; Over is by how much that exceeds the limit, which only what
	// must stay can do.
	Tokens, Over int
	// Cuts are the messages that the limits have left out.
	Cuts []Cut
	// Sections are those of what was compiled, in the order of the store.
	Sections []string
}

// Cut is a message that is left out because of a limit.
type Cut struct {
	ID     string         `json:"id,omitempty"`
	Tokens int            `json:"tokens"`
	Reason session.Reason `json:"reason"`
}

// Compile returns what a model is shown of a session.
func (s *Service) Compile(ctx context.Context, k session.Key, o CompileOptions) (Compiled, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return Compiled{}, err
	}
	l, err := s.load(ctx, k, o.Leaf)
	if err != nil {
		return Compiled{}, err
	}
	scale, err := s.scale(o.Tokenizer)
	if err != nil {
		return Compiled{}, err
	}
	if o.Raw {
		if l, err = s.unsummarized(ctx, k, l); err != nil {
			return Compiled{}, err
		}
	}
	return l.base(o.Raw).limited(ctx, o, scale, l.costs(scale))
}

// CompileStore returns what a model is shown of a store that the caller has.
func (s *Service) CompileStore(ctx context.Context, store session.Store, o CompileOptions) (Compiled, error) {
	if o.Leaf != "" {
		return Compiled{}, ragctx.Invalid("leaf", "is of stored sessions; send the messages of the branch")
	}
	scale, err := s.scale(o.Tokenizer)
	if err != nil {
		return Compiled{}, err
	}
	return base{store: store}.limited(ctx, o, scale, scale.each)
}

// limited compiles within the limits.
func (b base) limited(ctx context.Context, o CompileOptions, scale scale, costs func([]ragctx.Message) []int) (Compiled, error) {
	if err := o.validate(); err != nil {
		return Compiled{}, err
	}
	messages, err := b.compile(ctx, o)
	if err != nil {
		return Compiled{}, err
	}
	out := Compiled{Sections: b.store.Names()}
	v := limited{scale: scale, View: session.View{Messages: messages}, costs: costs(messages)}
	if o.MaxMessages > 0 {
		v.limit(o.MaxMessages, ones(len(messages)))
	}
	if o.MaxTokens > 0 {
		v.limit(o.MaxTokens, v.costs)
	}
	out.Messages, out.Cuts, out.Over = v.Messages, v.cuts, v.Over
	for _, n := range v.costs {
		out.Tokens += n
	}
	return out, nil
}

// limited is a view that gets shorter.
type limited struct {
	session.View

	scale scale
	costs []int
	cuts  []Cut
}

// limit has the view be at most most, by costs.
func (v *limited) limit(most int, by []int) {
	before, costs := v.Messages, v.costs
	v.View = session.Truncate(before, session.Limits{Tokens: most, Scale: v.scale.Scale, Costs: by})
	v.costs = make([]int, len(v.Kept))
	for i, at := range v.Kept {
		v.costs[i] = costs[at]
	}
	v.cuts = slices.Grow(v.cuts, len(v.View.Cuts))
	for _, c := range v.View.Cuts {
		v.cuts = append(v.cuts, Cut{ID: before[c.Index].ID, Tokens: costs[c.Index], Reason: c.Reason})
	}
}

// ones returns n times 1: messages as a measure.
func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// base is what a view begins with: sections, and the compactions of what is in them.
type base struct {
	store   session.Store
	records []compact.Record
}

// base returns what a view of the branch begins with.
func (l *loaded) base(raw bool) base {
	b := base{store: l.store}
	if raw {
		return b
	}
	if l.layer == pipeline.AnyLayer || l.layer == pipeline.LayerCompaction {
		b.records = l.undisturbed()
	}
	if i, at := l.newestStage(l.records.stages); i >= 0 {
		b.store = l.since(l.records.stages[i], at)
	}
	return b
}

// undisturbed returns the compactions in whose ranges nothing was said since they were made:
// a range that begins in one section and ends in another has the end of the former in it.
func (l *loaded) undisturbed() []compact.Record {
	rank := make(map[string]int)
	for i, name := range l.store.Select(session.InferenceOrder()...).Names() {
		rank[name] = i + 1
	}
	if len(rank) < 2 {
		return l.records.compactions
	}
	return slices.DeleteFunc(slices.Clone(l.records.compactions), func(r compact.Record) bool {
		from, to, since := l.place(r.From), l.place(r.To), l.place(r.Through)
		if from < 0 || to < 0 || since < 0 {
			return false
		}
		first, last := rank[l.entries[from].Section], rank[l.entries[to].Section]
		return slices.ContainsFunc(l.entries[since+1:], func(e session.Entry) bool {
			return first <= rank[e.Section] && rank[e.Section] < last
		})
	})
}

// newestStage returns which one of what stages have persisted the branch begins with, and
// where the newest message is that it saw; -1 is none.
func (l *loaded) newestStage(stages []StageRecord) (which, at int) {
	for i := range slices.Backward(stages) {
		if at := l.place(stages[i].Through); at >= 0 {
			return i, at
		}
	}
	return -1, -1
}

// compile returns the messages that a compiler chooses.
func (b base) compile(ctx context.Context, o CompileOptions) ([]ragctx.Message, error) {
	compiler, err := session.NewCompiler(o.Compiler, o.Sections...)
	if err != nil {
		return nil, err
	}
	c := session.Context{}.WithStore(b.store)
	if len(b.records) > 0 {
		c, compiler = b.compacted(compiler)
	}
	return compiler.Compile(ctx, c, o.Execution)
}

// compacted returns the compacted conversation, and what is left to be compiled of it:
// records come before the choice among traces, as a range may begin or end with one.
func (b base) compacted(compiler session.Compiler) (session.Context, session.Compiler) {
	store, rest := b.store, session.Compiler(session.AllSections{})
	switch c := compiler.(type) {
	case session.CurrentTrace:
		store, rest = store.Select(c.Sections...), session.CurrentTrace{}
	case session.SelectedSections:
		if len(c.Names) == 0 {
			c.Names = []string{session.SectionMessages}
		}
		store = store.Select(c.Names...)
	}
	return session.Context{}.WithMessages(compact.Apply(store.Messages(), b.records)), rest
}
