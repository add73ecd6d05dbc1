package ledger

import (
	"context"
	"slices"
)

// Events of [TopicAgentLifecycle], as the field event of a message's data; its sender is
// the agent.
const (
	EventTaskStarted   = "TASK_STARTED"
	EventTaskCompleted = "TASK_COMPLETED"
	EventTaskFailed    = "TASK_FAILED"
)

// findTimes looks in the log for times that sources need and the caller did not give.
func (a *assembly) findTimes(ctx context.Context) (err error) {
	needs := func(word Since) bool {
		return slices.ContainsFunc(a.Strategy.Sources, func(s Source) bool { return s.Since == word })
	}
	if a.Agent.ID == "" || a.through == 0 {
		return nil
	}
	if needs(SinceLastTaskEnd) && a.Times.LastTaskEnd == 0 {
		if a.Times.LastTaskEnd, err = a.lastEvent(ctx, a.through, EventTaskCompleted, EventTaskFailed); err != nil {
			return err
		}
	}
	if needs(SinceLastAgentStart) && a.Times.LastAgentStart == 0 {
		through := a.through
		if a.Trigger.Sequence > 0 {
			through = a.Trigger.Sequence // a start after it is the one that the context is for
		}
		a.Times.LastAgentStart, err = a.lastEvent(ctx, through, EventTaskStarted)
	}
	return err
}

// lastEvent returns when the agent last published one of the events, 0 for never.
func (a *assembly) lastEvent(ctx context.Context, through Sequence, events ...string) (int64, error) {
	q := a.all(TopicAgentLifecycle)
	q.Sender, q.Newest, q.Limit, q.ThroughSeq = a.Agent.ID, true, 64, through
	for looked := 0; looked < MaxSourceMessages && q.ThroughSeq > 0; looked += q.Limit {
		page, err := a.Log.Query(ctx, q)
		if err != nil {
			return 0, err
		}
		for _, m := range page {
			if event, _ := values(m.Data)["event"].(string); slices.Contains(events, event) {
				return m.Timestamp, nil
			}
		}
		if len(page) < q.Limit {
			return 0, nil
		}
		q.ThroughSeq = page[len(page)-1].Sequence - 1
	}
	return 0, nil
}
