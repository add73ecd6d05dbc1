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

// PolicyBuffer is the policy that moves messages into a buffer, which becomes a summary
// ([compact.Buffering]). It is for stored sessions.
const PolicyBuffer compact.Policy = "buffer"

// CompactOptions say how a conversation is compacted. The zero value has the settings of
// the service. Of [PolicyBuffer], which has limits of its own and always looks at them,
// Strategy and Tokenizer count, and what says where to cut is [ragctx.ErrInvalid].
type CompactOptions struct {
	// Policy is adaptive, a3s or buffer; "" is adaptive, but buffer for a session with that layer.
	Policy   compact.Policy
	Strategy compact.Strategy
	// Window is the model's, in tokens; Fixed of it are system prompt and tools. Used is
	// what the model said that its last call cost; 0 has the messages counted. Of a stored
	// session it does not count where no answer of the model has come after the newest record.
	Window, Fixed, Used int
	KeepFirst, KeepLast int
	Threshold           float64
	// IfDue compacts only when Used reaches the threshold; else it is done in any case.
	IfDue bool
	// Execution is the one whose traces are part of the conversation.
	Execution session.Execution
	// Tokenizer is one of [tokens.Names]; "" is [DefaultTokenizer].
	Tokenizer string
}

// Compacted is what came of a compaction.
type Compacted struct {
	compact.Result

	// Stored is the record in the session; nil if there is none.
	Stored *session.Compaction
	// Moved and Summarized are what the buffer policy did, where it did something.
	Moved      *ragctx.MessagesMovedToBuffer
	Summarized *ragctx.MessageBufferSummarized
}

// Compact makes what is shown of a session shorter, and stores the record of it. Where
// nothing can be gained it does nothing, and Reason says why. A session that has another
// layer of compression is an [ragctx.ErrConflict].
func (s *Service) Compact(ctx context.Context, k session.Key, o CompactOptions) (Compacted, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return Compacted{}, err
	}
	c, err := s.compactor(o)
	if err != nil {
		return Compacted{}, err
	}
	give, err := s.work.take(ctx, k)
	if err != nil {
		return Compacted{}, err
	}
	defer give()
	l, err := s.load(ctx, k, "")
	if err != nil {
		return Compacted{}, err
	}
	if o.Policy == "" && l.layer == stage.LayerBuffer {
		o.Policy = PolicyBuffer
	}
	if err := l.compactable(o.Policy); err != nil {
		return Compacted{}, err
	}
	if o.Policy == PolicyBuffer {
		if err := o.buffers(); err != nil {
			return Compacted{}, err
		}
		_, out, err := s.buffer(ctx, k, l, c.scale, o.Strategy)
		return out, err
	}
	begin := l.base(false)
	messages, err := begin.compile(ctx, CompileOptions{Execution: o.Execution})
	if err != nil {
		return Compacted{}, err
	}
	var out Compacted
	c.costs, c.options.Used = l.pricing(c.scale).costs, l.used(o.Used)
	tells := telling{service: s, key: k, options: c.by.Options()}
	c.watch = tells.watch(ctx)
	c.original = begin.original(messages)
	if out.Result, err = c.compact(ctx, k.ID, messages, messages, begin.records); err != nil || out.Record == nil {
		return out, err
	}
	stored, err := l.compaction(*out.Record, messages, out.Messages)
	if err == nil {
		stored, _, err = s.record(ctx, k, l, stored)
	}
	if err != nil {
		return out, err
	}
	tells.stored(ctx)
	out.Stored = &stored
	return out, nil
}

// CompactMessages compacts messages that the caller has, with the records so far, oldest
// first. Nothing is stored, and nobody is told.
func (s *Service) CompactMessages(ctx context.Context, messages []ragctx.Message, records []compact.Record, o CompactOptions) (compact.Result, error) {
	if o.Policy == PolicyBuffer {
		return compact.Result{}, ragctx.Invalid("policy", "buffer is for stored sessions; use adaptive or a3s")
	}
	c, err := s.compactor(o)
	if err != nil {
		return compact.Result{}, err
	}
	return c.compact(ctx, "", messages, compact.Apply(messages, records), records)
}

// Undo removes the newest record of a session, of a compaction, of what a stage has persisted
// or of what the buffer policy has moved, and returns it: the next view is what it was before.
// A buffer of which there is no record is an [ragctx.ErrConflict].
func (s *Service) Undo(ctx context.Context, k session.Key) (session.Compaction, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return session.Compaction{}, err
	}
	give, err := s.work.take(ctx, k)
	if err != nil {
		return session.Compaction{}, err
	}
	defer give()
	l, err := s.load(ctx, k, "")
	if err == nil {
		err = l.irreversible(k)
	}
	if err != nil {
		return session.Compaction{}, err
	}
	if n := len(l.records.all); n > 0 && l.records.all[n-1].buffer != nil {
		err := s.unbuffer(ctx, k, l.records.all[n-1].buffer)
		if over := l.layer != stage.LayerBuffer && errors.Is(err, errMoved); err != nil && !over {
			return session.Compaction{}, err
		}
		ctx = session.WithCondition(ctx, session.Condition{}) // what was wanted was there
	}
	c, err := s.opts.Storage.UndoCompaction(ctx, k)
	if err == nil {
		s.followed(ctx, k, func(l *loaded, v session.Version) *loaded { return l.undone(v, c.ID) })
	}
	return c, err
}

// buffers refuses what the buffer policy would not do.
func (o CompactOptions) buffers() error {
	if o.Strategy == compact.Prune {
		return ragctx.Invalid("strategy", "is prune, and the policy buffer summarises; use auto, llm or extractive")
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
			return ragctx.Invalid(one.field, "means nothing to the policy buffer, which has limits of its own; leave it out")
		}
	}
	return nil
}

// compactable reports whether a session may be compacted: a session has one layer of
// compression.
func (l *loaded) compactable(by compact.Policy) error {
	wants := stage.LayerCompaction
	if by == PolicyBuffer {
		wants = stage.LayerBuffer
	}
	if l.layer != wants && (l.layer != stage.AnyLayer || wants == stage.LayerBuffer) {
		problem := fmt.Sprintf("the session's layer of compression is %s, and this is %s; change the layer first "+
			"('ragctx sessions change --layer', or PATCH the session)", cmp.Or(l.layer, "any"), wants)
		return &ragctx.FieldError{Field: "layer", Kind: ragctx.ErrConflict, Problem: problem}
	}
	return nil
}

// compactor compacts by the options of a call.
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
	return &compactor{options: o, by: by, scale: scale, costs: scale.each}, err
}

// compact compacts a conversation that is shown so, or does not where it is not due and has
// to be.
func (c *compactor) compact(ctx context.Context, id string, messages, shown []ragctx.Message, records []compact.Record) (compact.Result, error) {
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

// warn logs the ways of summarising that failed.
func (s *Service) warn(ctx context.Context, k session.Key, warnings []compact.Warning) {
	for _, w := range warnings {
		s.opts.Logger.WarnContext(ctx, "a summary failed, and the next way is taken", "session_id", k.ID, "strategy", w.Strategy, "reason", w.Reason)
	}
}
