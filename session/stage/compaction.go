package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// Compaction is the stage that compacts a conversation when it is due, and persists the result with
// its record. It does nothing if the session has observations.
type Compaction struct {
	// Options configure the compaction; window and fixed tokens of the budget override theirs.
	// Counter must not be nil. Without a generator no model is called.
	Options compact.Options
	Hooks   Hooks
}

// Hooks are callbacks of a compaction, in the order in which they are called. Nil hooks are
// skipped.
type Hooks struct {
	// OnDue is called when the threshold is reached.
	OnDue func(State, compact.Usage)
	// OnBegin is called when a view of so many messages can be compacted, before a model is called.
	OnBegin func(s State, u compact.Usage, messages int)
	// OnDone is called with the result, before [State.OnPersist]. A client that stores records
	// publishes events only after storing them.
	OnDone func(State, compact.Usage, compact.Result)
}

// Name implements [Stage].
func (Compaction) Name() string { return "compaction" }

// Priority implements [Stage].
func (Compaction) Priority() int { return CompactionPriority }

// EstimateTokens implements [Stage].
func (Compaction) EstimateTokens(context.Context, *State) int { return 0 }

// Apply implements [Stage].
func (c Compaction) Apply(ctx context.Context, s *State, messages []ragctx.Message, b Budget) ([]ragctx.Message, error) {
	switch {
	case s.Observed || prefixIndex(messages) >= 0:
		return nil, Skipped("the session has observations, which are its layer of compression")
	case s.Layer != AnyLayer && s.Layer != LayerCompaction && s.Layer != LayerObservation:
		return nil, Skipped(fmt.Sprintf("the session's layer of compression is %s", s.Layer))
	}
	o := withBudget(c.Options, b)
	by, err := compact.New(o)
	if err != nil {
		return nil, err
	}
	usage, costs := usageOf(s, messages, o)
	if !o.Due(usage.Used, usage.Most) {
		return nil, Skipped(fmt.Sprintf("%d of %d tokens do not reach the threshold", usage.Used, usage.Most))
	}
	if c.Hooks.OnDue != nil {
		c.Hooks.OnDue(*s, usage)
	}
	conv := compact.Conversation{Messages: messages, Records: s.Records, Costs: costs, Original: s.Original}
	if c.Hooks.OnBegin != nil {
		conv.OnBegin = func(view compact.Size) { c.Hooks.OnBegin(*s, usage, view.Messages) }
	}
	res, err := by.Compact(ctx, conv)
	if err != nil {
		return nil, err
	}
	if c.Hooks.OnDone != nil {
		c.Hooks.OnDone(*s, usage, res)
	}
	if res.Record == nil {
		return nil, Skipped(res.Reason)
	}
	_, after, _ := res.CompactedEvent(usage)
	s.Used = after.Used
	s.Records = append(slices.Clip(s.Records), *res.Record)
	s.Persist(res.Messages)
	return res.Messages, nil
}

// withBudget applies a budget to options.
func withBudget(o compact.Options, b Budget) compact.Options {
	if b.Window > 0 {
		o.Window = b.Window
	}
	o.Fixed = max(b.Fixed, o.Fixed)
	return o
}

// usageOf returns the fill level of the window: the larger of the usage that the model reported and
// the cost of the messages. The model may not have seen all or the newest messages.
func usageOf(s *State, messages []ragctx.Message, o compact.Options) (u compact.Usage, costs []int) {
	u = compact.Usage{SessionID: s.SessionID, Used: o.Fixed, Most: o.Window}
	if u.Most == 0 {
		u.Most = compact.DefaultWindow
	}
	costs = s.costs(session.Scale{Counter: o.Counter}, messages)
	for _, n := range costs {
		u.Used += n
	}
	u.Used = max(u.Used, s.Used)
	return u, costs
}

// prefixIndex returns the index of the observations' prefix, or -1. It looks for the marker, so
// that it finds the prefix after a restart.
func prefixIndex(messages []ragctx.Message) int {
	for i, m := range messages {
		if session.IsRecord(m) && strings.HasPrefix(m.Content[0].Text, PrefixMarker) {
			return i
		}
	}
	return -1
}
