package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
)

// Options configures a [Pipeline]. The zero value works.
type Options struct {
	// Counter counts the tokens of reports; nil is o200k_base.
	Counter ragctx.Counter
	Logger  *slog.Logger     // is told of stages that fail; nil logs nothing
	Now     func() time.Time // the clock; nil is the system's
}

// Pipeline is a list of stages. It is safe for concurrent use if its stages are.
type Pipeline struct {
	opts Options

	mu     sync.RWMutex
	stages []Stage // in the order in which they run
}

// New returns a pipeline without stages.
func New(o Options) (*Pipeline, error) {
	if o.Counter == nil {
		c, err := tokens.New("o200k_base")
		if err != nil {
			return nil, err
		}
		o.Counter = c
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Pipeline{opts: o}, nil
}

// Register adds a stage, at any time. A name that is taken is [ragctx.ErrConflict].
func (p *Pipeline) Register(s Stage) error {
	if s == nil || s.Name() == "" {
		return ragctx.Invalid("stage", "has no name; reports need a short and stable one")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.stages, func(o Stage) bool { return o.Name() == s.Name() }) {
		return fmt.Errorf("register stage: %w: there is one with the name %q", ragctx.ErrConflict, ragctx.Clip(s.Name()))
	}
	stages := append(slices.Clone(p.stages), s)
	slices.SortStableFunc(stages, func(a, b Stage) int { return cmp.Compare(a.Priority(), b.Priority()) })
	p.stages = stages
	return nil
}

// Unregister takes a stage out and reports whether it was there.
func (p *Pipeline) Unregister(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.stages)
	p.stages = slices.DeleteFunc(slices.Clone(p.stages), func(s Stage) bool { return s.Name() == name })
	return len(p.stages) < n
}

// Stages returns the stages in the order in which they run.
func (p *Pipeline) Stages() []Stage {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Clone(p.stages)
}

// Report says what a stage did.
type Report struct {
	Stage          string        `json:"stage"`
	Priority       int           `json:"priority"`
	MessagesBefore int           `json:"messages_before"`
	MessagesAfter  int           `json:"messages_after"`
	TokensBefore   int           `json:"tokens_before"`
	TokensAfter    int           `json:"tokens_after"`
	Duration       time.Duration `json:"duration_ns"`
	// Persisted says that the next run begins with what the stage put into the state.
	Persisted bool `json:"persisted,omitempty"`
	// Repeated is how many messages were left out that the stage had added before.
	Repeated int `json:"repeated,omitempty"`
	// Error says why the stage failed, Skipped why it had nothing to do or did not run.
	// Its result does not count in either case.
	Error   string `json:"error,omitempty"`
	Skipped string `json:"skipped,omitempty"`
}

// Result is what a model is to be shown, and how it came about.
type Result struct {
	Messages []ragctx.Message
	Reports  []Report // of all stages, in order
}

// Run takes messages through all stages. The error is that of the context, which is looked at
// between stages, with what there was by then as the result; or a [ClosedError], with reports
// and no messages: those that there were by then must not be shown. The list is a new one,
// and neither the input nor State.Messages is changed but by what stages persist.
func (p *Pipeline) Run(ctx context.Context, s *State, messages []ragctx.Message, b Budget) (Result, error) {
	r := run{pipeline: p, state: s, budget: b, costs: s.Costs, at: messages}
	if r.costs == nil {
		r.costs = newCounted(p.opts.Counter).each
	}
	r.tokens = r.sum()
	stages := p.Stages()
	for i, stage := range stages {
		if err := ctx.Err(); err != nil {
			for _, rest := range stages[i:] {
				r.reports = append(r.reports, Report{Stage: rest.Name(), Priority: rest.Priority(), Skipped: "the request has ended"})
			}
			return r.result(messages), err
		}
		if err := r.apply(ctx, stage); err != nil {
			return Result{Reports: r.reports}, err
		}
	}
	return r.result(messages), ctx.Err()
}

// run is one run of a pipeline.
type run struct {
	pipeline *Pipeline
	state    *State
	budget   Budget
	costs    func([]ragctx.Message) []int
	reports  []Report

	at     []ragctx.Message // what the next stage gets
	tokens int
}

// result returns what there is by now, in a list that is not the one of the caller.
func (r *run) result(given []ragctx.Message) Result {
	if sameList(r.at, given) {
		r.at = slices.Clone(given)
	}
	return Result{r.at, r.reports}
}

// sum returns what the list costs.
func (r *run) sum() int {
	total := 0
	for _, n := range r.costs(r.at) {
		total += n
	}
	return total
}

// apply has a stage change the list. The error is that of a stage that failed closed.
func (r *run) apply(ctx context.Context, stage Stage) (err error) {
	rep := Report{Stage: stage.Name(), Priority: stage.Priority(), MessagesBefore: len(r.at), TokensBefore: r.tokens}
	before := *r.state
	start := r.pipeline.opts.Now()
	given := r.at
	_, own := stage.(interface{ ours() })
	if !own {
		given = slices.Clone(r.at) // others may change it although they must not
	}
	out, err := safely(ctx, stage, r.state, given, r.budget)
	rep.Duration = r.pipeline.opts.Now().Sub(start)
	if err != nil {
		*r.state = before
	}
	skipped, isSkipped := errors.AsType[Skipped](err)
	switch {
	case isSkipped:
		rep.Skipped = skipped.Error()
	case err != nil:
		rep.Error = err.Error()
		r.pipeline.opts.Logger.WarnContext(ctx, "stage failed", "stage", stage.Name(), "closed", closed(stage), "session_id", r.state.SessionID, "error", err)
	case out != nil:
		if !own {
			out, rep.Repeated = once(r.at, out)
		}
		r.at = out
		r.tokens = r.sum()
	}
	if !own {
		r.state.Original = nil // what a stage was not shown, it could not hide
	}
	rep.Persisted = !sameList(before.Messages, r.state.Messages)
	if rep.Repeated > 0 && rep.Persisted {
		r.state.Messages, _ = once(before.Messages, r.state.Messages)
	}
	if rep.Persisted && r.state.Kept != nil {
		r.state.Kept(rep.Stage, before.Messages)
	}
	rep.MessagesAfter, rep.TokensAfter = len(r.at), r.tokens
	r.reports = append(r.reports, rep)
	switch {
	case rep.Error == "" || !closed(stage):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &ClosedError{Stage: rep.Stage, Err: err}
}

// safely applies a stage; one that panics has failed.
func safely(ctx context.Context, stage Stage, s *State, messages []ragctx.Message, b Budget) (out []ragctx.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("the stage panicked: %v", p)
		}
	}()
	return stage.Apply(ctx, s, messages, b)
}

// sameList reports whether two lists are one in memory.
func sameList(a, b []ragctx.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// once returns what a stage made of messages without the texts that it added although
// they were there, and how many these are. What it made of a message is not added, also if
// it says the same as another one now.
func once(before, after []ragctx.Message) (out []ragctx.Message, repeated int) {
	have, was := make(map[text]int), make(map[string]ragctx.Message)
	for _, m := range before {
		if t, ok := textOf(m); ok {
			have[t]++
		}
		if m.ID != "" {
			was[m.ID] = m
		}
	}
	seen, made := make(map[text]int), make([]bool, len(after))
	for i, m := range after {
		of, known := was[m.ID]
		if !known {
			continue
		}
		delete(was, m.ID) // or it is there twice
		made[i] = true
		if t, ok := textOf(m); ok {
			if old, same := textOf(of); same && old == t {
				seen[t]++
			}
		}
	}
	for i, m := range after {
		if made[i] {
			out = append(out, m)
			continue
		}
		t, ok := textOf(m)
		if seen[t]++; ok && have[t] > 0 && seen[t] > have[t] {
			repeated++
			continue
		}
		out = append(out, m)
	}
	if repeated == 0 {
		return after, 0
	}
	return out, repeated
}

// text is a message that is nothing but text.
type text struct {
	role       ragctx.Role
	name, text string
}

func textOf(m ragctx.Message) (text, bool) {
	if len(m.Content) != 1 || m.Content[0].Type != ragctx.BlockText {
		return text{}, false
	}
	return text{m.Role, m.Name, m.Content[0].Text}, true
}

// counted are what messages cost, counted once for each content.
type counted struct {
	scale session.Scale
	known map[identity]int
}

// identity tells messages apart that share their content in memory or do not.
type identity struct {
	first           *ragctx.Block
	blocks          int
	name, reasoning string
}

func newCounted(c ragctx.Counter) counted {
	return counted{session.Scale{Counter: c}, make(map[identity]int)}
}

func (c counted) each(messages []ragctx.Message) []int {
	out := make([]int, len(messages))
	for i, m := range messages {
		out[i] = c.message(m)
	}
	return out
}

func (c counted) message(m ragctx.Message) int {
	if len(m.Content) == 0 {
		return c.scale.Message(m)
	}
	id := identity{&m.Content[0], len(m.Content), m.Name, m.Reasoning}
	n, ok := c.known[id]
	if !ok {
		n = c.scale.Message(m)
		c.known[id] = n
	}
	return n
}
