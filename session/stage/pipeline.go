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

// Options configure a [Pipeline]. The zero value is valid.
type Options struct {
	// Counter counts the tokens for reports; nil selects o200k_base.
	Counter ragctx.Counter
	Logger  *slog.Logger     // receives failures of stages; default: no logging
	Now     func() time.Time // the clock; nil is the system's
}

// Pipeline is a list of stages. It is safe for concurrent use if its stages are.
type Pipeline struct {
	opts Options

	mu     sync.RWMutex
	stages []Stage // in the order of execution
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

// Register adds a stage. It may be called at any time. A duplicate name is [ragctx.ErrConflict].
func (p *Pipeline) Register(s Stage) error {
	if s == nil || s.Name() == "" {
		return ragctx.Invalid("stage", "has no name; give it a short and stable one")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.stages, func(o Stage) bool { return o.Name() == s.Name() }) {
		return fmt.Errorf("register stage: %w: a stage with the name %q exists", ragctx.ErrConflict, ragctx.Clip(s.Name()))
	}
	stages := append(slices.Clone(p.stages), s)
	slices.SortStableFunc(stages, func(a, b Stage) int { return cmp.Compare(a.Priority(), b.Priority()) })
	p.stages = stages
	return nil
}

// Unregister removes a stage and reports whether it existed.
func (p *Pipeline) Unregister(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.stages)
	p.stages = slices.DeleteFunc(slices.Clone(p.stages), func(s Stage) bool { return s.Name() == name })
	return len(p.stages) < n
}

// Stages returns the stages in the order of execution.
func (p *Pipeline) Stages() []Stage {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Clone(p.stages)
}

// Report describes what a stage did.
type Report struct {
	Stage          string        `json:"stage"`
	Priority       int           `json:"priority"`
	MessagesBefore int           `json:"messages_before"`
	MessagesAfter  int           `json:"messages_after"`
	TokensBefore   int           `json:"tokens_before"`
	TokensAfter    int           `json:"tokens_after"`
	Duration       time.Duration `json:"duration_ns"`
	// Persisted means that the stage changed the input of the next run.
	Persisted bool `json:"persisted,omitempty"`
	// Repeated is the number of removed messages that the stage had already added.
	Repeated int `json:"repeated,omitempty"`
	// Error is why the stage failed, Skipped why it had nothing to do or did not run. Its result is
	// discarded in both cases.
	Error   string `json:"error,omitempty"`
	Skipped string `json:"skipped,omitempty"`
}

// Result is the output of a pipeline.
type Result struct {
	Messages []ragctx.Message
	Reports  []Report // of all stages, in order
}

// Run passes messages through all stages. If ctx ends, which is checked between stages, it returns
// the intermediate result with the error of ctx. If a stage fails closed, it returns a
// [ClosedError] with reports but no messages, because the intermediate messages must not be shown.
// The returned list is new; the input and State.Messages change only through Persist.
func (p *Pipeline) Run(ctx context.Context, s *State, messages []ragctx.Message, b Budget) (Result, error) {
	r := run{pipeline: p, state: s, budget: b, costs: s.Costs, messages: messages}
	if r.costs == nil {
		r.costs = newCostCache(p.opts.Counter).each
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

// run is the state of one run.
type run struct {
	pipeline *Pipeline
	state    *State
	budget   Budget
	costs    func([]ragctx.Message) []int
	reports  []Report

	messages []ragctx.Message // input of the next stage
	tokens   int
}

// result returns the current messages in a list that does not belong to the caller.
func (r *run) result(given []ragctx.Message) Result {
	if sameList(r.messages, given) {
		r.messages = slices.Clone(given)
	}
	return Result{r.messages, r.reports}
}

// sum returns the cost of the current messages.
func (r *run) sum() int {
	total := 0
	for _, n := range r.costs(r.messages) {
		total += n
	}
	return total
}

// apply runs a stage. It returns an error only if the stage failed closed.
func (r *run) apply(ctx context.Context, stage Stage) (err error) {
	rep := Report{Stage: stage.Name(), Priority: stage.Priority(), MessagesBefore: len(r.messages), TokensBefore: r.tokens}
	before := *r.state
	start := r.pipeline.opts.Now()
	given := r.messages
	_, own := stage.(interface{ ours() })
	if !own {
		given = slices.Clone(r.messages) // a foreign stage might change the list although it must not
	}
	out, err := applySafely(ctx, stage, r.state, given, r.budget)
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
		r.pipeline.opts.Logger.WarnContext(ctx, "stage failed", "stage", stage.Name(), "closed", failsClosed(stage),
			"session_id", r.state.SessionID, "error", err)
	case out != nil:
		if !own {
			out, rep.Repeated = dropRepeated(r.messages, out)
		}
		r.messages = out
		r.tokens = r.sum()
	}
	if !own {
		r.state.Original = nil // a foreign stage cannot hide text that it was not shown
	}
	rep.Persisted = !sameList(before.Messages, r.state.Messages)
	if rep.Repeated > 0 && rep.Persisted {
		r.state.Messages, _ = dropRepeated(before.Messages, r.state.Messages)
	}
	if rep.Persisted && r.state.OnPersist != nil {
		r.state.OnPersist(rep.Stage, before.Messages)
	}
	rep.MessagesAfter, rep.TokensAfter = len(r.messages), r.tokens
	r.reports = append(r.reports, rep)
	switch {
	case rep.Error == "" || !failsClosed(stage):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &ClosedError{Stage: rep.Stage, Err: err}
}

// applySafely runs a stage and converts a panic to an error.
func applySafely(ctx context.Context, stage Stage, s *State, messages []ragctx.Message, b Budget) (out []ragctx.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("the stage panicked: %v", p)
		}
	}()
	return stage.Apply(ctx, s, messages, b)
}

// sameList reports whether two slices share their memory.
func sameList(a, b []ragctx.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// dropRepeated removes texts that a stage added although they were already there, and returns their
// number. A message that the stage only changed is kept, even if it now equals another one.
func dropRepeated(before, after []ragctx.Message) (out []ragctx.Message, repeated int) {
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
		delete(was, m.ID) // a second message with this id counts as added
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

// text is a message with a single text block.
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

// costCache counts the cost of each content once.
type costCache struct {
	scale session.Scale
	costs map[identity]int
}

// identity identifies a message by the memory of its content.
type identity struct {
	first           *ragctx.Block
	blocks          int
	name, reasoning string
}

func newCostCache(c ragctx.Counter) costCache {
	return costCache{session.Scale{Counter: c}, make(map[identity]int)}
}

func (c costCache) each(messages []ragctx.Message) []int {
	out := make([]int, len(messages))
	for i, m := range messages {
		out[i] = c.message(m)
	}
	return out
}

func (c costCache) message(m ragctx.Message) int {
	if len(m.Content) == 0 {
		return c.scale.Message(m)
	}
	id := identity{&m.Content[0], len(m.Content), m.Name, m.Reasoning}
	n, ok := c.costs[id]
	if !ok {
		n = c.scale.Message(m)
		c.costs[id] = n
	}
	return n
}
