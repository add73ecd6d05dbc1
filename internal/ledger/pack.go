package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// Reader is what contexts are built from: a [Log], as far as it is read.
type Reader interface {
	Query(ctx context.Context, q Query) ([]Message, error)
	Find(ctx context.Context, q Query) (Message, bool, error)
	Count(ctx context.Context, q Query) (int, error)
}

// PackRequest asks for the context of an agent.
type PackRequest struct {
	Namespace string
	Cluster   string
	Agent     Agent
	Strategy  Strategy
	Trigger   Trigger
	Parts     Parts
	// Times are what since can mean; those that are not known are looked for in the
	// log, see [TopicAgentLifecycle].
	Times Times
	// After leaves out messages up to it, for an agent that has them in its
	// conversation already: [Pack.Through] of the context before.
	After Sequence
	// Topics are those that agents publish, for warnings; nil is not known.
	Topics []string
	// UserID is whose documents and memories are found beside everyone's.
	UserID string
	// Explain counts messages also for sources that have some.
	Explain bool
}

// Agent is who the context is for.
type Agent struct {
	ID   string
	Role string // of a "validator" is made known what cannot be validated
	// Iteration is the number of the agent's run, for the metrics.
	Iteration int
	// Isolated says that the agent runs on another platform than those before it:
	// what could not be validated there for that reason may be possible here.
	Isolated bool
}

// Trigger is the message that an agent was started by. It is shown at the end, in
// full, and not among the sources. Sequence or ID alone names a message of the log.
type Trigger struct {
	Sequence Sequence
	ID       string
	Topic    string
	Sender   string
	Text     string
	Data     json.RawMessage
}

// IsZero reports whether there is no trigger.
func (t Trigger) IsZero() bool { return t.Sequence == 0 && t.ID == "" && t.Topic == "" && t.Text == "" }

// Parts are texts that a context begins with, as they are. Those that are empty are
// left out.
type Parts struct {
	Header               string
	Instructions         string
	RepoTooling          string
	CommandProofs        string
	QueuedGuidance       []string // for this context only
	LegacyOutputSchema   string
	RequiredQualityGates string
	JSONSchema           json.RawMessage
}

// Pack is the context of an agent.
type Pack struct {
	Context string
	budget.Selection
	// Sources say for each source of the strategy what became of it.
	Sources  []SourceReport
	Warnings []Warning
	// Note says why the context has nothing of any source; "" where it has.
	Note string
	// Through is the newest message that was there.
	Through Sequence
	Trigger Trigger
}

// SourceReport says what a source contributed. The counts of messages are of those in
// the cluster with the topic and sender of the source.
type SourceReport struct {
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Topic string `json:"topic,omitempty"`
	// Since is the earliest time, included, in Unix milliseconds; 0 is no bound.
	Since int64 `json:"since,omitempty"`
	// Stored and InRange count all messages and those since then. They are -1 where
	// nobody asked for them and the source has some.
	Stored  int `json:"stored"`
	InRange int `json:"in_range"`
	// Withheld are those that were met and may not be shown again, see [Replayable].
	Withheld int `json:"withheld"`
	// Selected are the messages that the source offers, or the items found.
	Selected int `json:"selected"`
	// Capped says that there were more than may be looked at.
	Capped bool `json:"capped,omitempty"`
	// Reason says why nothing was selected.
	Reason string `json:"reason,omitempty"`
}

// Retrieved is what was found in documents or memories.
type Retrieved struct {
	Text  string // rendered, safe to show
	Items int
	Note  string // why nothing was found
}

// Builder builds contexts. It is safe for concurrent use.
type Builder struct {
	Log Reader
	// Retrieve finds documents and memories; nil is an error for strategies that have
	// them as sources.
	Retrieve func(ctx context.Context, q ragctx.ContextQuery) (Retrieved, error)
}

// Build builds a context. It reads one state of the log.
func (b *Builder) Build(ctx context.Context, r PackRequest) (Pack, error) {
	a := assembly{Builder: b, PackRequest: r}
	if err := a.begin(ctx); err != nil {
		return Pack{}, err
	}
	cands := a.static()
	for i := range r.Strategy.Sources {
		cands = append(cands, a.source(ctx, i))
	}
	skip, err := a.skipHints(ctx)
	if err != nil {
		return Pack{}, err
	}
	cands = append(cands, fixed("validatorSkip", skip)...)
	cands = append(cands, a.triggering()...)
	for i := range cands {
		cands[i].Order = i
	}
	sel := budget.Select(cands, budget.Options{MaxTokens: r.Strategy.Budget(), MaxChars: MaxContextChars, RequiredMayExceed: true})
	if a.err != nil {
		return Pack{}, a.err
	}
	p := Pack{
		Context: sel.Text(), Selection: sel, Sources: a.reports, Warnings: r.Strategy.Warnings(r.Topics), Through: a.through, Trigger: a.Trigger,
	}
	if p.Warnings == nil {
		p.Warnings = []Warning{}
	}
	p.Note = p.note()
	return p, nil
}

// note says why nothing of any source is in the context.
func (p Pack) note() string {
	var why []string
	for _, s := range p.Sources {
		if s.Selected > 0 {
			why = append(why, s.ID+": "+string(p.reason(s.ID)))
			if p.reason(s.ID) == "" {
				return ""
			}
			continue
		}
		why = append(why, s.ID+": "+s.Reason)
	}
	if len(why) == 0 {
		return "the strategy has no sources"
	}
	return "no source contributed: " + strings.Join(why, "; ")
}

func (p Pack) reason(id string) budget.Reason {
	for _, d := range p.Decisions {
		if d.ID == id {
			return d.Reason
		}
	}
	return ""
}

// assembly is a context that is being built.
type assembly struct {
	*Builder
	PackRequest

	through Sequence // the newest message of the cluster; 0 is none
	reports []SourceReport
	err     error // of a text that was rendered late
}

func (a *assembly) begin(ctx context.Context) error {
	if err := a.Strategy.Check(); err != nil {
		return err
	}
	if err := a.Parts.check(); err != nil {
		return err
	}
	newest, ok, err := a.Log.Find(ctx, a.all())
	if err != nil {
		return err
	}
	if ok {
		a.through = newest.Sequence
	}
	if err := a.findTrigger(ctx); err != nil {
		return err
	}
	a.reports = make([]SourceReport, len(a.Strategy.Sources))
	return a.findTimes(ctx)
}

// all asks for every message of the cluster.
func (a *assembly) all(topics ...string) Query {
	return Query{Filter: Filter{Namespace: a.Namespace, Cluster: a.Cluster, Topics: topics}, ThroughSeq: a.through}
}

// findTrigger fills in a trigger that is only named.
func (a *assembly) findTrigger(ctx context.Context) error {
	t := &a.Trigger
	q, what := a.all(), "message "+ragctx.Clip(t.ID)
	switch {
	case t.Sequence > 0:
		q.AfterSeq, q.ThroughSeq = t.Sequence-1, t.Sequence
		what = "message of sequence " + t.Sequence.String()
	case t.ID != "" && t.Topic == "":
		q.ID, q.ThroughSeq = t.ID, 0
	default:
		return nil
	}
	m, ok, err := a.Log.Find(ctx, q)
	if err == nil && !ok {
		err = fmt.Errorf("trigger: %w: the cluster has no %s", ragctx.ErrNotFound, what)
	}
	if ok {
		*t = Trigger{Sequence: m.Sequence, ID: m.ID, Topic: m.Topic, Sender: m.Sender, Text: m.Text, Data: m.Data}
	}
	return err
}

// isTrigger reports whether the message is shown as the trigger.
func (a *assembly) isTrigger(m Message) bool {
	return a.Trigger.ID != "" && m.ID == a.Trigger.ID || a.Trigger.Sequence != 0 && m.Sequence == a.Trigger.Sequence
}
