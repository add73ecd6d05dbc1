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
	// Cuts are the messages that are not shown, or not whole, oldest first: because of the
	// limits, or as no provider takes them. Hidden are those of which there are many.
	Cuts   []Cut
	Hidden []Hidden
	// Rules are what the user ruled, decided and dated in messages that are not shown, as it
	// is shown in the place of these; for RulesLeftOut more there was no room.
	Rules        []compact.Rule
	RulesLeftOut int
	// Sections are those of what was compiled, in the order of the store.
	Sections []string
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
	return l.base(o.Raw).limited(ctx, o, l.pricing(scale))
}

// CompileStore returns what a model is shown of a store that the caller has, with the
// compactions of its messages, oldest first.
func (s *Service) CompileStore(ctx context.Context, store session.Store, made []compact.Record, o CompileOptions) (Compiled, error) {
	if o.Leaf != "" {
		return Compiled{}, ragctx.Invalid("leaf", "is of stored sessions; send the messages of the branch")
	}
	scale, err := s.scale(o.Tokenizer)
	if err != nil {
		return Compiled{}, err
	}
	store, was := apart(store)
	l := loaded{store: store, records: records{compactions: made}, tables: new(tables)}
	for _, one := range store.Sections() {
		l.entries = append(l.entries, session.EntriesOf(one.Name, one.Messages)...)
	}
	out, err := l.base(o.Raw).limited(ctx, o, l.pricing(scale))
	out.rename(was)
	return out, err
}

// limited compiles within the limits.
func (b base) limited(ctx context.Context, o CompileOptions, prices *pricing) (Compiled, error) {
	if err := o.validate(); err != nil {
		return Compiled{}, err
	}
	messages, err := b.compile(ctx, o)
	if err != nil {
		return Compiled{}, err
	}
	left, err := b.account(o, messages, nil, prices)
	if err != nil {
		return Compiled{}, err
	}
	out := Compiled{Sections: b.store.Names(), Hidden: left.hidden}
	v := limited{View: session.View{Messages: messages}, costs: prices.costs(messages), places: left.places}
	if o.MaxMessages > 0 {
		v.limit(session.Limits{Tokens: o.MaxMessages, Costs: ones(len(messages))})
	}
	if o.MaxTokens > 0 {
		v.limit(session.Limits{Tokens: o.MaxTokens, Scale: prices.scale.Scale, Costs: v.costs})
	}
	out.Messages, out.Cuts, out.Over = v.Messages, left.limited(v.cuts), v.Over
	for _, n := range v.costs {
		out.Tokens += n
	}
	out.Rules, out.RulesLeftOut = compact.RulesIn(out.Messages)
	return out, nil
}

// limited is a view that gets shorter.
type limited struct {
	session.View

	costs  []int
	places []int // on the branch
	cuts   []Cut
}

// limit has the view be within limits.
func (v *limited) limit(l session.Limits) {
	before, costs, places := v.Messages, v.costs, v.places
	v.View = session.Truncate(before, l)
	v.costs, v.places = make([]int, len(v.Indexes)), make([]int, len(v.Indexes))
	for i, at := range v.Indexes {
		v.costs[i], v.places[i] = costs[at], places[at]
	}
	v.cuts = slices.Grow(v.cuts, len(v.View.Dropped))
	for _, c := range v.View.Dropped {
		m, saved := &before[c.Index], costs[c.Index]
		if c.Partial {
			saved = c.Tokens
			at, _ := slices.BinarySearch(v.Indexes, c.Index)
			v.costs[at] -= saved
		}
		v.cuts = append(v.cuts, Cut{ID: m.ID, Role: m.Role, Partial: c.Partial, Tokens: saved, Reason: c.Reason, place: places[c.Index]})
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
	of      *loaded
	// stage is the one that has put something in the place of the messages up to staged,
	// which is -1 if none has.
	stage  string
	staged int
}

// base returns what a view of the branch begins with.
func (l *loaded) base(raw bool) base {
	b := base{store: l.store, of: l, staged: -1}
	if raw {
		return b
	}
	if l.layer == stage.AnyLayer || l.layer == stage.LayerCompaction || l.layer == stage.LayerObservation {
		b.records = l.undisturbed()
	}
	if i, at := l.newestStage(l.records.stages); i >= 0 {
		b.store, b.stage, b.staged = l.since(l.records.stages[i], at), l.records.stages[i].Stage, at
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
		c, compiler = b.compacted(choiceOf(compiler))
	}
	return compiler.Compile(ctx, c, o.Execution)
}

// original returns what says how messages were said of which a view shows less. Of what a
// stage has changed it knows nothing: that may be there to hide what was said.
func (b base) original(view []ragctx.Message) func(ragctx.Message) ragctx.Message {
	at := sync.OnceValue(func() map[string]int {
		out := make(map[string]int, len(view))
		for i := range view {
			out[view[i].ID] = i
		}
		return out
	})
	ids := finder{of: b.of}
	return func(m ragctx.Message) ragctx.Message {
		i, ok := at()[m.ID]
		if !ok || !equal(view[i], m) {
			return m
		}
		if place := ids.place(m.ID); place > b.staged {
			return b.of.entries[place].Message
		}
		return m
	}
}

// compacted returns the compacted conversation, and what is left to be compiled of it:
// records come before the choice among traces, as a range may begin or end with one.
func (b base) compacted(c choice) (session.Context, session.Compiler) {
	rest := session.Compiler(session.CurrentTrace{})
	if c.traces {
		rest = session.AllSections{}
	}
	return session.Context{}.WithMessages(compact.Apply(b.store.Select(c.sections...).Messages(), b.records)), rest
}
