package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// ViewOptions describe a model call.
type ViewOptions struct {
	Phase  session.Phase
	Budget stage.Budget
	// Compile configures the input of the stages. Its limits apply to truncation if they are below
	// the settings' limits. On a branch other than the session's leaf nothing is persisted.
	Compile CompileOptions
	// Used is the token usage that the model reported for its last call; 0 means that the messages
	// are counted. It is ignored if no answer of the model follows the newest record.
	Used int
}

func (o ViewOptions) validate() error {
	if err := o.Phase.Validate(); err != nil {
		return err
	}
	if o.Used < 0 || o.Used > ragctx.MaxTokensLimit {
		return ragctx.Invalid("used_tokens", "is %d; use 0 to %d", o.Used, ragctx.MaxTokensLimit)
	}
	for field, n := range map[string]int{"tokens": o.Budget.Tokens, "window": o.Budget.Window, "fixed": o.Budget.Fixed} {
		if n < 0 || n > ragctx.MaxTokensLimit {
			return ragctx.Invalid("budget."+field, "is %d; use 0 to %d", n, ragctx.MaxTokensLimit)
		}
	}
	return o.Compile.validate()
}

// View is the result for one model call.
type View struct {
	Messages []ragctx.Message
	Costs    []int // of the messages, in tokens of the tokenizer
	Reports  []stage.Report
	// Drop and DropTotals describe the messages of the branch that are not shown completely. The
	// reports describe what each stage did.
	Dropped    []Drop
	DropTotals []DropTotal
	// Rules are the rules, decisions and dates of the user in hidden messages, as shown in their
	// summaries. RulesLeftOut is the number of those that did not fit.
	Rules        []compact.Rule
	RulesLeftOut int
	// Notes are the active observations, oldest first; the newest may not be shown yet.
	Notes []stage.Note
	// Layer is the session's layer of compression. Records are the compactions and stage results
	// stored by this call.
	Layer   stage.Layer
	Records []session.Compaction
	// Used is the fill level of the window: the reported usage minus compacted tokens; 0 means
	// unknown.
	Used int
	// Path has the ids of the branch, from its root to its leaf.
	Path []string
}

// View runs the stages on a session: observation, compaction, truncation, and the stages of [Options].
// It stores the results that they persist, which [Service.Undo] can undo. A failed stage is
// skipped, and a failed model is replaced by extraction.
func (s *Service) View(ctx context.Context, k session.Key, o ViewOptions) (View, error) {
	if err := o.validate(); err != nil {
		return View{}, err
	}
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return View{}, err
	}
	unlock, err := s.workLocks.lock(ctx, k)
	if err != nil {
		return View{}, err
	}
	defer unlock()
	scale, err := s.scale(o.Compile.Tokenizer)
	if err != nil {
		return View{}, err
	}
	l, err := s.load(ctx, k, o.Compile.Leaf)
	if err != nil {
		return View{}, err
	}
	var made []session.Compaction
	if l.layer == stage.LayerBuffer && o.Compile.Leaf == "" {
		var result Compacted
		if l, result, err = s.buffer(ctx, k, l, scale, "", session.Condition{}); err != nil {
			return View{}, err
		}
		if result.Stored != nil {
			made = append(made, *result.Stored)
		}
	}
	if o.Compile.Raw {
		if l, err = s.unsummarized(ctx, k, l); err != nil {
			return View{}, err
		}
	}
	v := viewRun{service: s, key: k, branch: l, scale: scale, options: o, made: made}
	return v.run(ctx)
}

// viewRun is one run of the stages.
type viewRun struct {
	service *Service
	key     session.Key
	branch  *branch
	scale   scale
	options ViewOptions

	notes         branchNotes
	events        compactionEvents
	storedRecords int // number of compaction records that are stored
	made          []session.Compaction
	err           error // error of storing a record
}

func (v *viewRun) run(ctx context.Context) (View, error) {
	begin := v.branch.base(v.options.Compile.Raw)
	messages, err := begin.compile(ctx, v.options.Compile)
	if err != nil {
		return View{}, err
	}
	v.notes = branchNotes{notes: v.service.opts.Notes, branch: v.branch}
	stages, err := v.stages(ctx)
	if err != nil {
		return View{}, err
	}
	tokenCosts := v.branch.branchCosts(v.scale)
	given := begin.given(messages, tokenCosts)
	state := stage.State{
		Scope: scopeOf(v.key), Phase: v.options.Phase, Layer: v.branch.layer, Used: v.branch.effectiveUsage(v.options.Used),
		Records: begin.records, Messages: messages, Costs: tokenCosts.costs,
		Original: begin.original(messages),
	}
	v.storedRecords = len(begin.records)
	if v.options.Compile.Leaf == "" {
		state.OnPersist = func(stage string, before []ragctx.Message) { v.persist(ctx, stage, before, &state) }
	}
	res, err := stages.Run(ctx, &state, messages, v.options.Budget)
	if err = cmp.Or(err, v.err); err != nil {
		return View{}, err
	}
	begin.records = state.Records
	left, err := begin.dropReport(v.options.Compile, res.Messages, given, tokenCosts)
	if err != nil {
		return View{}, err
	}
	out := View{
		Messages: res.Messages, Costs: tokenCosts.costs(res.Messages), Reports: res.Reports, Dropped: left.dropped, DropTotals: left.totals,
		Layer: v.branch.layer, Records: v.made, Used: state.Used, Path: v.branch.path(),
	}
	out.Rules, out.RulesLeftOut = compact.RulesIn(res.Messages)
	if state.Observed {
		out.Notes = v.notes.read
	}
	return out, nil
}

// stages returns the pipeline of this run.
func (v *viewRun) stages(ctx context.Context) (*stage.Pipeline, error) {
	set := v.service.opts.Settings
	b := stage.BuiltinOptions{
		Extra:       v.service.opts.Stages,
		MaxMessages: smallerLimit(set.Truncate.MaxMessages, v.options.Compile.MaxMessages),
		MaxTokens:   smallerLimit(set.Truncate.MaxTokens, v.options.Compile.MaxTokens),
	}
	if v.service.opts.Notes != nil && v.service.opts.Observer != nil && !set.Observation.Disabled {
		b.Observations = &stage.Observation{Notes: &v.notes, Options: v.service.compaction(v.scale.Counter), Steady: true}
	}
	if !set.Compaction.Disabled && v.options.Compile.Leaf == "" {
		o := v.service.compaction(v.scale.Counter)
		v.events = compactionEvents{service: v.service, key: v.key, options: o}
		b.Compaction, b.Hooks = &o, v.events.hooks(ctx)
	}
	return stage.Builtin(stage.Options{Counter: v.scale.Counter, Logger: v.service.opts.Logger, Now: v.service.opts.Now}, b)
}

// persist stores the persisted result of a stage.
func (v *viewRun) persist(ctx context.Context, name string, before []ragctx.Message, s *stage.State) {
	var c session.Compaction
	var err error
	compacted := len(s.Records) > v.storedRecords
	switch {
	case v.err != nil || name == (stage.Observation{}).Name(): // derived from notes in each run
		return
	case compacted:
		v.storedRecords = len(s.Records)
		c, err = v.branch.compaction(s.Records[v.storedRecords-1], before, s.Messages)
	case same(before, s.Messages) || v.branch.leaf() == "":
		return
	default:
		c, err = v.branch.stageRecord(name, s.Messages)
	}
	if err == nil {
		c, v.branch, err = v.service.record(ctx, v.key, v.branch, c, session.Condition{})
	}
	if errors.Is(err, ragctx.ErrTooLarge) { // the view does not need the record
		v.service.opts.Logger.WarnContext(ctx, "the result of a stage is too large to be stored", "stage", name,
			"session_id", v.key.ID, "error", err)
		return
	}
	if err != nil {
		v.err = fmt.Errorf("store the result of the stage %s: %w", name, err)
		return
	}
	v.made = append(v.made, c)
	if compacted {
		v.events.publishDone(ctx)
	}
}

// record stores a record of a branch under a condition and updates the cache. It returns the branch
// with the record, at the new version.
func (s *Service) record(
	ctx context.Context, k session.Key, from *branch, c session.Compaction, when session.Condition,
) (session.Compaction, *branch, error) {
	c = session.Options{Now: s.opts.Now, NewID: s.opts.NewID}.CompleteCompaction(c)
	one := parseRecord(c)
	superseded := from.prunable(one)
	at, err := s.opts.Storage.Update(ctx, k, session.Update{AddCompaction: &c, RemoveCompactions: superseded}, when)
	if err != nil {
		return c, from, err
	}
	s.cache.update(k, at, func(l *branch) *branch { return l.recorded(at, one, superseded) })
	return c, from.recorded(at, one, superseded), nil
}

// smallerLimit returns the smaller of two limits; 0 means no limit.
func smallerLimit(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// scopeOf returns the scope of a session's notes.
func scopeOf(k session.Key) stage.Scope {
	return stage.Scope{Namespace: k.Namespace, UserID: k.User, SessionID: k.ID}
}
