package compact

import "github.com/ragctx/ragctx"

// Usage is how full the window of a session is.
type Usage struct {
	SessionID  string
	Used, Most int // tokens
}

// percent returns the share of the window, 0 to 1 and more.
func (u Usage) percent(used int) float64 {
	if u.Most <= 0 {
		return 0
	}
	return float64(used) / float64(u.Most)
}

// Warning returns the event of a session whose usage reached the threshold.
func (o Options) Warning(u Usage) ragctx.ContextWarning {
	return ragctx.ContextWarning{SessionID: u.SessionID, UsedTokens: u.Used, MaxTokens: u.Most, Percent: u.percent(u.Used), Threshold: o.threshold()}
}

// Failed returns the event of a buffer of so many tokens whose summary was not made by the
// first way.
func (b *Buffering) Failed(session string, tokens int, warnings []Warning) ragctx.ContextWarning {
	u := Usage{SessionID: session, Used: tokens, Most: b.opts.BufferTokens}
	return ragctx.ContextWarning{
		SessionID: session, UsedTokens: u.Used, MaxTokens: u.Most, Percent: u.percent(u.Used), Threshold: 1, Warnings: told(warnings),
	}
}

// told returns warnings as events tell them.
func told(warnings []Warning) (out []string) {
	for _, w := range warnings {
		out = append(out, string(w.Strategy)+": "+w.Reason)
	}
	return out
}

// Compacting returns the event of a compaction that begins.
func (o Options) Compacting(u Usage, messages int) ragctx.ContextCompacting {
	return ragctx.ContextCompacting{ContextWarning: o.Warning(u), MessageCount: messages}
}

// Compacted returns the event of a compaction and the usage after it, which is what the
// next decision is based on until a model reports its own. Where nothing was done there is
// no event, and the usage is as before.
func (r Result) Compacted(u Usage) (e ragctx.ContextCompacted, after Usage, ok bool) {
	if r.Record == nil {
		return e, u, false
	}
	saved := r.Before.Tokens - r.After.Tokens
	after = u
	after.Used = max(u.Used-saved, 0)
	return ragctx.ContextCompacted{
		SessionID: u.SessionID, BeforeMessages: r.Before.Messages, AfterMessages: r.After.Messages,
		PercentBefore: u.percent(u.Used), PercentAfter: u.percent(after.Used), TokensSaved: saved,
		Summary: r.Record.Summary, Reason: r.Record.Reason, Strategy: string(r.Record.Strategy), Warnings: told(r.Warnings),
	}, after, true
}
