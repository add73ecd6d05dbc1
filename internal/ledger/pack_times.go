package ledger

import (
	"context"
	"slices"
)

// Values of the field event in the data of [TopicAgentLifecycle] messages. The message's sender is
// the agent.
const (
	EventTaskStarted   = "TASK_STARTED"
	EventTaskCompleted = "TASK_COMPLETED"
	EventTaskFailed    = "TASK_FAILED"
)

// findTimes looks up the times that sources need and the caller did not give.
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
			through = a.Trigger.Sequence // a later start is the one that this context is for
		}
		a.Times.LastAgentStart, err = a.lastEvent(ctx, through, EventTaskStarted)
	}
	return err
}

// lastEvent returns the time of the agent's newest event of these kinds, 0 if it has none.
func (a *assembly) lastEvent(ctx context.Context, through Sequence, events ...string) (int64, error) {
	q := a.query(TopicAgentLifecycle)
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
