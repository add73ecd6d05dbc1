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

// PolicyBuffer moves messages into a buffer, which is then summarized ([compact.Buffering]). It
// applies only to stored sessions.
const PolicyBuffer compact.Policy = "buffer"

// CompactOptions configure a compaction. The zero value selects the settings of the service. With
// [PolicyBuffer], which has its own limits and always checks them, only Strategy and Tokenizer
// apply; other options are [ragctx.ErrInvalid].
type CompactOptions struct {
	// Policy is adaptive, a3s or buffer. The default is adaptive, or buffer for a session with that
	// layer.
	Policy   compact.Policy
	Strategy compact.Strategy
	// Window is the model's context window in tokens. Fixed is the part for system prompt and
	// tools. Used is the usage that the model reported for its last call; 0 means that the messages
	// are counted. For a stored session Used is ignored if no answer of the model follows the
	// newest record.
	Window, Fixed, Used int
	KeepFirst, KeepLast int
	Threshold           float64
	// IfDue compacts only if Used reaches the threshold; otherwise the session is always compacted.
	IfDue bool
	// Execution is the current execution; its traces belong to the conversation.
	Execution session.Execution
	// Tokenizer is one of [tokens.Names]; "" selects [DefaultTokenizer].
	Tokenizer string
	// When is the condition of compacting a stored session. It is checked even if nothing is stored.
	When session.Condition
}

// Compacted is the result of a compaction.
type Compacted struct {
	compact.Result

	// Stored is the stored record, or nil. Version is the new version of the session, or zero if
	// nothing was stored.
	Stored  *session.Compaction
	Version session.Version
	// Moved and Summarized are the changes by the buffer policy, if any.
	Moved      *ragctx.MessagesMovedToBuffer
	Summarized *ragctx.MessageBufferSummarized
}

// Compact shortens the view of a session and stores the record. If nothing can be gained it does
// nothing, and Reason says why. It returns [ragctx.ErrConflict] for a session with another layer of
// compression.
func (s *Service) Compact(ctx context.Context, k session.Key, o CompactOptions) (Compacted, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return Compacted{}, err
	}
	c, err := s.compactor(o)
	if err != nil {
		return Compacted{}, err
	}
	unlock, err := s.workLocks.lock(ctx, k)
	if err != nil {
		return Compacted{}, err
	}
	defer unlock()
	l, err := s.loadIf(ctx, k, o.When)
	if err != nil {
		return Compacted{}, err
	}
	if o.Policy == "" && l.layer == stage.LayerBuffer {
		o.Policy = PolicyBuffer
	}
	if err := l.checkLayer(o.Policy); err != nil {
		return Compacted{}, err
	}
	if o.Policy == PolicyBuffer {
		if err := o.validateForBuffer(); err != nil {
			return Compacted{}, err
		}
		_, out, err := s.buffer(ctx, k, l, c.scale, o.Strategy, o.When)
		return out, err
	}
	begin := l.base(false)
	messages, err := begin.compile(ctx, CompileOptions{Execution: o.Execution})
	if err != nil {
		return Compacted{}, err
	}
	var out Compacted
	c.costs, c.options.Used = l.branchCosts(c.scale).costs, l.effectiveUsage(o.Used)
	events := compactionEvents{service: s, key: k, options: c.by.Options()}
	c.watch = events.hooks(ctx)
	c.original = begin.original(messages)
	if out.Result, err = c.compact(ctx, k.ID, messages, messages, begin.records); err != nil || out.Record == nil {
		return out, err
	}
	stored, err := l.compaction(*out.Record, messages, out.Messages)
	if err == nil {
		stored, l, err = s.record(ctx, k, l, stored, o.When)
	}
	if err != nil {
		return out, err
	}
	events.publishDone(ctx)
	out.Stored, out.Version = &stored, l.version
	return out, nil
}

// CompactMessages compacts messages of the caller with their records, oldest first. It stores
// nothing and publishes no events.
func (s *Service) CompactMessages(ctx context.Context, messages []ragctx.Message, records []compact.Record,
	o CompactOptions,
) (compact.Result, error) {
	if o.Policy == PolicyBuffer {
		return compact.Result{}, ragctx.Invalid("policy", "is buffer, which applies only to stored sessions; use adaptive or a3s")
	}
	c, err := s.compactor(o)
	if err != nil {
		return compact.Result{}, err
	}
	return c.compact(ctx, "", messages, compact.Apply(messages, records), records)
}

// Undo removes the newest record of a session, made by a compaction, a stage or the buffer policy, and
// returns it with the new version. The next view is the same as before that record. It returns
// [ragctx.ErrConflict] for an unrecorded buffer change.
func (s *Service) Undo(
	ctx context.Context, k session.Key, when session.Condition,
) (undone session.Compaction, at session.Version, err error) {
	k, err = s.opts.Admit(ctx, k)
	if err != nil {
		return undone, at, err
	}
	unlock, err := s.workLocks.lock(ctx, k)
	if err != nil {
		return undone, at, err
	}
	defer unlock()
	a, at, err := s.opts.Storage.Read(ctx, k, session.Query{Messages: session.BranchMessages, Compactions: true})
	if errors.Is(err, ragctx.ErrNotFound) {
		return undone, at, cmp.Or(when.Check(k, nil), err)
	}
	if err == nil {
		err = when.Check(k, &at)
	}
	if err != nil {
		return undone, at, err
	}
	l := newBranch(a, at)
	if err := l.checkUndoable(k); err != nil {
		return undone, at, err
	}
	n := len(a.Compactions)
	if n == 0 {
		return undone, at, fmt.Errorf("undo a compaction: the session has no compactions: %w", ragctx.ErrNotFound)
	}
	undone = a.Compactions[n-1]
	if buffer := l.records.all[n-1].buffer; buffer != nil {
		err := s.undoBuffer(ctx, k, buffer, when)
		if over := l.layer != stage.LayerBuffer && errors.Is(err, errMovedAway); err != nil && !over {
			return undone, at, err
		}
		when = session.Condition{} // it has been met
	}
	at, err = s.opts.Storage.Update(ctx, k, session.Update{RemoveCompactions: []string{undone.ID}}, when)
	if err == nil {
		s.cache.update(k, at, func(l *branch) *branch { return l.undone(at, undone.ID) })
	}
	return undone, at, err
}

// validateForBuffer rejects options that do not apply to the buffer policy.
func (o CompactOptions) validateForBuffer() error {
	if o.Strategy == compact.Prune {
		return ragctx.Invalid("strategy", "is prune, but the policy buffer summarizes; use auto, llm or extractive")
	}
	for _, one := range [...]struct {
		field string
		set   bool
	}{
		{"window", o.Window != 0},
		{"fixed_tokens", o.Fixed != 0},
		{"used_tokens", o.Used != 0},
		{"keep_first", o.KeepFirst != 0},
		{"keep_last", o.KeepLast != 0},
		{"threshold", o.Threshold != 0},
	} {
		if one.set {
			return ragctx.Invalid(one.field, "does not apply to the policy buffer, which has its own limits; leave it out")
		}
	}
	return nil
}

// checkLayer returns an error if the session's layer of compression excludes a policy.
func (l *branch) checkLayer(by compact.Policy) error {
	wants := stage.LayerCompaction
	if by == PolicyBuffer {
		wants = stage.LayerBuffer
	}
	if l.layer != wants && (l.layer != stage.AnyLayer || wants == stage.LayerBuffer) {
		problem := fmt.Sprintf("the session's layer of compression is %s, but this needs %s; change the layer first "+
			"('ragctx sessions change --layer', or PATCH the session)", cmp.Or(l.layer, "any"), wants)
		return &ragctx.FieldError{Field: "layer", Kind: ragctx.ErrConflict, Problem: problem}
	}
	return nil
}

// compactor performs a compaction with the options of a call.
type compactor struct {
	options CompactOptions
	by      *compact.Compactor
	scale   scale
	costs   func([]ragctx.Message) []int
	watch   stage.Hooks

	original func(ragctx.Message) ragctx.Message
}

func (s *Service) compactor(o CompactOptions) (*compactor, error) {
	if o.Used < 0 || o.Used > ragctx.MaxTokensLimit {
		return nil, ragctx.Invalid("used_tokens", "is %d; use 0 to %d", o.Used, ragctx.MaxTokensLimit)
	}
	scale, err := s.scale(o.Tokenizer)
	if err != nil {
		return nil, err
	}
	with := s.compaction(scale.Counter)
	if with.Policy = o.Policy; o.Policy == PolicyBuffer {
		with.Policy = ""
	}
	with.Strategy, with.Window, with.Fixed = o.Strategy, o.Window, o.Fixed
	with.KeepFirst, with.KeepLast = cmp.Or(o.KeepFirst, with.KeepFirst), cmp.Or(o.KeepLast, with.KeepLast)
	with.Threshold = cmp.Or(o.Threshold, with.Threshold)
	by, err := compact.New(with)
	return &compactor{options: o, by: by, scale: scale, costs: scale.Messages}, err
}

// compact compacts a conversation with the given view, unless it is not due and IfDue is set.
func (c *compactor) compact(ctx context.Context, id string, messages, shown []ragctx.Message,
	records []compact.Record,
) (compact.Result, error) {
	conv := compact.Conversation{Messages: messages, Records: records, Costs: c.costs(messages), Original: c.original}
	size := compact.Size{Messages: len(shown)}
	for _, n := range c.costs(shown) {
		size.Tokens += n
	}
	usage := compact.Usage{SessionID: id, Used: cmp.Or(c.options.Used, c.options.Fixed+size.Tokens), Most: c.by.Options().Window}
	due := c.by.Options().Due(usage.Used, usage.Most)
	if !due && c.options.IfDue {
		reason := fmt.Sprintf("%d of %d tokens do not reach the threshold", usage.Used, usage.Most)
		return compact.Result{Messages: shown, Before: size, After: size, Reason: reason}, ctx.Err()
	}
	if due && c.watch.OnDue != nil {
		c.watch.OnDue(stage.State{}, usage)
	}
	if c.watch.OnBegin != nil {
		conv.OnBegin = func(view compact.Size) { c.watch.OnBegin(stage.State{}, usage, view.Messages) }
	}
	res, err := c.by.Compact(ctx, conv)
	if err == nil && c.watch.OnDone != nil {
		c.watch.OnDone(stage.State{}, usage, res)
	}
	return res, err
}

// warn logs the strategies that failed.
func (s *Service) warn(ctx context.Context, k session.Key, warnings []compact.Warning) {
	for _, w := range warnings {
		s.opts.Logger.WarnContext(ctx, "a summary failed; trying the next strategy", "session_id", k.ID, "strategy",
			w.Strategy, "reason", w.Reason)
	}
}
