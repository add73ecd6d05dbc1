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

// Compaction is the stage that compacts a conversation when that is due, and persists the
// result with its record. It does nothing where there are observations.
type Compaction struct {
	// Options say when and how; the budget's window and fixed tokens take the place of
	// theirs. Counter must not be nil. Without a generator nothing is asked.
	Options compact.Options
	Watch   Watch
}

// Watch is told of compactions, in this order. What is nil is not called.
type Watch struct {
	// Due is told that the threshold is reached.
	Due func(State, compact.Usage)
	// Begun is told that there is something to compact in a view of so many messages, which
	// may take a model's time now.
	Begun func(s State, u compact.Usage, messages int)
	// Done is told what came of it, before [State.Kept] is: whoever keeps records and tells
	// others of them does so when that is done.
	Done func(State, compact.Usage, compact.Result)
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
	case s.Observed || prefixAt(messages) >= 0:
		return nil, Skipped("there are observations, which are this session's layer of compression")
	case s.Layer != AnyLayer && s.Layer != LayerCompaction && s.Layer != LayerObservation:
		return nil, Skipped(fmt.Sprintf("the session's layer of compression is %s", s.Layer))
	}
	o := within(c.Options, b)
	by, err := compact.New(o)
	if err != nil {
		return nil, err
	}
	usage, costs := usageOf(s, messages, o)
	if !o.Due(usage.Used, usage.Most) {
		return nil, Skipped(fmt.Sprintf("%d of %d tokens do not reach the threshold", usage.Used, usage.Most))
	}
	if c.Watch.Due != nil {
		c.Watch.Due(*s, usage)
	}
	conv := compact.Conversation{Messages: messages, Records: s.Records, Costs: costs, Original: s.Original}
	if c.Watch.Begun != nil {
		conv.OnBegin = func(view compact.Size) { c.Watch.Begun(*s, usage, view.Messages) }
	}
	res, err := by.Compact(ctx, conv)
	if err != nil {
		return nil, err
	}
	if c.Watch.Done != nil {
		c.Watch.Done(*s, usage, res)
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

// within returns options for a budget.
func within(o compact.Options, b Budget) compact.Options {
	if b.Window > 0 {
		o.Window = b.Window
	}
	o.Fixed = max(b.Fixed, o.Fixed)
	return o
}

// usageOf returns how full the window is: what the model reported or what the messages cost,
// whichever is more. The model may not have been shown all of them, or not the newest.
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

// prefixAt returns where the prefix of observations is, -1 if there is none. It is known
// by its marker, so that it is found again after a restart.
func prefixAt(messages []ragctx.Message) int {
	for i, m := range messages {
		if session.IsRecord(m) && strings.HasPrefix(m.Content[0].Text, PrefixMarker) {
			return i
		}
	}
	return -1
}
