package compact

import "github.com/ragctx/ragctx"

// Usage is the fill level of a session's context window.
type Usage struct {
	SessionID  string
	Used, Most int // tokens
}

// percent returns the share of the window that is used; it can exceed 1.
func (u Usage) percent(used int) float64 {
	if u.Most <= 0 {
		return 0
	}
	return float64(used) / float64(u.Most)
}

// WarningEvent returns the event of a session with a usage at or above the threshold.
func (o Options) WarningEvent(u Usage) ragctx.ContextWarning {
	return ragctx.ContextWarning{
		SessionID: u.SessionID, UsedTokens: u.Used, MaxTokens: u.Most,
		Percent: u.percent(u.Used), Threshold: o.threshold(),
	}
}

// FailureEvent returns the event of a buffer of the given size for which the preferred strategy
// failed.
func (b *Buffering) FailureEvent(session string, tokens int, warnings []Warning) ragctx.ContextWarning {
	u := Usage{SessionID: session, Used: tokens, Most: b.opts.BufferTokens}
	return ragctx.ContextWarning{
		SessionID: session, UsedTokens: u.Used, MaxTokens: u.Most, Percent: u.percent(u.Used), Threshold: 1,
		Warnings: warningTexts(warnings),
	}
}

// warningTexts formats warnings for events.
func warningTexts(warnings []Warning) (out []string) {
	for _, w := range warnings {
		out = append(out, string(w.Strategy)+": "+w.Reason)
	}
	return out
}

// CompactingEvent returns the event of a starting compaction.
func (o Options) CompactingEvent(u Usage, messages int) ragctx.ContextCompacting {
	return ragctx.ContextCompacting{ContextWarning: o.WarningEvent(u), MessageCount: messages}
}

// CompactedEvent returns the event of a compaction and the estimated usage after it, which is valid
// until the model reports its own. If nothing was done it returns false and the unchanged usage.
func (r Result) CompactedEvent(u Usage) (e ragctx.ContextCompacted, after Usage, ok bool) {
	if r.Record == nil {
		return e, u, false
	}
	saved := r.Before.Tokens - r.After.Tokens
	after = u
	after.Used = max(u.Used-saved, 0)
	return ragctx.ContextCompacted{
		SessionID: u.SessionID, BeforeMessages: r.Before.Messages, AfterMessages: r.After.Messages,
		PercentBefore: u.percent(u.Used), PercentAfter: u.percent(after.Used), TokensSaved: saved,
		Summary: r.Record.Summary, Reason: r.Record.Reason, Strategy: string(r.Record.Strategy), Warnings: warningTexts(r.Warnings),
	}, after, true
}
