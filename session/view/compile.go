package view

import (
	"context"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// CompileOptions select the messages for a model. The zero value is equivalent to
// [session.DefaultCompiler], without limits.
type CompileOptions struct {
	// Compiler is one of [session.CompilerNames]. Sections are its sections, if it takes any.
	Compiler string
	Sections []string
	// Execution is the current execution; its traces are shown.
	Execution session.Execution
	// Leaf is the id of the last message of the branch; "" selects the session's leaf.
	Leaf string
	// MaxTokens and MaxMessages limit the view by the rules of [session.Truncate]; 0 means no
	// limit.
	MaxTokens, MaxMessages int
	// Raw ignores compactions and persisted results of stages. Summaries of the buffer policy are
	// replaced by the summarized messages.
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

// Compiled is a compiled view.
type Compiled struct {
	Messages []ragctx.Message
	// Tokens is the cost of the messages. Over is the excess over the limit, which only essential
	// messages can cause.
	Tokens, Over int
	// Drop lists the messages that are dropped or shortened, oldest first, because of limits or
	// because providers reject them. DropTotals counts those with reasons that drop many.
	Dropped    []Drop
	DropTotals []DropTotal
	// Rules are the rules, decisions and dates of the user in hidden messages, as shown in their
	// summaries. RulesLeftOut is the number of those that did not fit.
	Rules        []compact.Rule
	RulesLeftOut int
	// Sections are the names of the compiled sections, in the order of the store.
	Sections []string
}

// Compile returns the messages of a session for a model.
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
	return l.base(o.Raw).compileLimited(ctx, o, l.branchCosts(scale))
}

// CompileStore is Compile for a store of the caller, with the compactions of its messages, oldest
// first.
func (s *Service) CompileStore(ctx context.Context, store session.Store, made []compact.Record, o CompileOptions) (Compiled, error) {
	if o.Leaf != "" {
		return Compiled{}, ragctx.Invalid("leaf", "applies only to stored sessions; send the messages of the branch")
	}
	scale, err := s.scale(o.Tokenizer)
	if err != nil {
		return Compiled{}, err
	}
	store, was := uniqueIDs(store)
	l := branch{store: store, records: records{compactions: made}, costs: new(costTables)}
	for _, one := range store.Sections() {
		l.entries = append(l.entries, session.EntriesOf(one.Name, one.Messages)...)
	}
	out, err := l.base(o.Raw).compileLimited(ctx, o, l.branchCosts(scale))
	out.restoreIDs(was)
	return out, err
}

// compileLimited compiles within the limits.
func (b base) compileLimited(ctx context.Context, o CompileOptions, tokenCosts *branchCosts) (Compiled, error) {
	if err := o.validate(); err != nil {
		return Compiled{}, err
	}
	messages, err := b.compile(ctx, o)
	if err != nil {
		return Compiled{}, err
	}
	left, err := b.dropReport(o, messages, nil, tokenCosts)
	if err != nil {
		return Compiled{}, err
	}
	out := Compiled{Sections: b.store.Names(), DropTotals: left.totals}
	v := limitedView{View: session.View{Messages: messages}, costs: tokenCosts.costs(messages), places: left.places}
	if o.MaxMessages > 0 {
		v.limit(session.Limits{Tokens: o.MaxMessages, Costs: ones(len(messages))})
	}
	if o.MaxTokens > 0 {
		v.limit(session.Limits{Tokens: o.MaxTokens, Scale: tokenCosts.scale.Scale, Costs: v.costs})
	}
	out.Messages, out.Dropped, out.Over = v.Messages, left.mergeDropped(v.dropped), v.Over
	for _, n := range v.costs {
		out.Tokens += n
	}
	out.Rules, out.RulesLeftOut = compact.RulesIn(out.Messages)
	return out, nil
}

// limitedView is a view with limits applied one after the other.
type limitedView struct {
	session.View

	costs   []int
	places  []int // indexes on the branch
	dropped []Drop
}

// limit applies a limit to the view.
func (v *limitedView) limit(l session.Limits) {
	before, costs, places := v.Messages, v.costs, v.places
	v.View = session.Truncate(before, l)
	v.costs, v.places = make([]int, len(v.Indexes)), make([]int, len(v.Indexes))
	for i, at := range v.Indexes {
		v.costs[i], v.places[i] = costs[at], places[at]
	}
	v.dropped = slices.Grow(v.dropped, len(v.View.Dropped))
	for _, c := range v.View.Dropped {
		m, saved := &before[c.Index], costs[c.Index]
		if c.Partial {
			saved = c.Tokens
			at, _ := slices.BinarySearch(v.Indexes, c.Index)
			v.costs[at] -= saved
		}
		v.dropped = append(v.dropped, Drop{
			ID: m.ID, Role: m.Role, Partial: c.Partial, Tokens: saved,
			Reason: c.Reason, place: places[c.Index],
		})
	}
}

// ones returns n ones, to measure in messages.
func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// base is the input of a view: sections, and the compactions of their messages.
type base struct {
	store   session.Store
	records []compact.Record
	branch  *branch
	// stage names the stage with a persisted result for the messages up to index staged, which is
	// -1 without such a stage.
	stage  string
	staged int
}

// base returns the input of a view of the branch.
func (l *branch) base(raw bool) base {
	b := base{store: l.store, branch: l, staged: -1}
	if raw {
		return b
	}
	if l.layer == stage.AnyLayer || l.layer == stage.LayerCompaction || l.layer == stage.LayerObservation {
		b.records = l.validCompactions()
	}
	if i, at := l.newestStage(l.records.stages); i >= 0 {
		b.store, b.stage, b.staged = l.stagedStore(l.records.stages[i], at), l.records.stages[i].Stage, at
	}
	return b
}

// validCompactions returns the compactions that no later message has entered. A range that spans
// sections includes the ends of all but its last section, where later messages are appended.
func (l *branch) validCompactions() []compact.Record {
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

// newestStage returns the index of the newest persisted result of a stage on the branch, and the
// index of the newest message that the stage saw, or -1.
func (l *branch) newestStage(stages []stageRecord) (which, at int) {
	for i := range slices.Backward(stages) {
		if at := l.place(stages[i].Through); at >= 0 {
			return i, at
		}
	}
	return -1, -1
}

// compile returns the messages that the compiler selects.
func (b base) compile(ctx context.Context, o CompileOptions) ([]ragctx.Message, error) {
	compiler, err := session.NewCompiler(o.Compiler, o.Sections...)
	if err != nil {
		return nil, err
	}
	c := session.Context{}.WithStore(b.store)
	if len(b.records) > 0 {
		c, compiler = b.compactedContext(choiceOf(compiler))
	}
	return compiler.Compile(ctx, c, o.Execution)
}

// original returns a function that returns the stored form of a message that a view shortens. It
// does not reveal messages changed by a stage, which may have to hide text.
func (b base) original(view []ragctx.Message) func(ragctx.Message) ragctx.Message {
	at := sync.OnceValue(func() map[string]int {
		out := make(map[string]int, len(view))
		for i := range view {
			out[view[i].ID] = i
		}
		return out
	})
	ids := finder{branch: b.branch}
	return func(m ragctx.Message) ragctx.Message {
		i, ok := at()[m.ID]
		if !ok || !equal(view[i], m) {
			return m
		}
		if place := ids.place(m.ID); place > b.staged {
			return b.branch.entries[place].Message
		}
		return m
	}
}

// compactedContext returns the compacted conversation and a compiler for the rest. Records are
// applied before traces are selected, because a range may begin or end with a trace.
func (b base) compactedContext(c choice) (session.Context, session.Compiler) {
	rest := session.Compiler(session.CurrentTrace{})
	if c.traces {
		rest = session.AllSections{}
	}
	return session.Context{}.WithMessages(compact.Apply(b.store.Select(c.sections...).Messages(), b.records)), rest
}
