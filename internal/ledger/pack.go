package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// Reader is the part of a [Log] that contexts are built from.
type Reader interface {
	Query(ctx context.Context, q Query) ([]Message, error)
	Find(ctx context.Context, q Query) (Message, bool, error)
	Count(ctx context.Context, q Query) (int, error)
}

// PackRequest asks for an agent's context.
type PackRequest struct {
	Namespace string
	Cluster   string
	Agent     Agent
	Strategy  Strategy
	Trigger   Trigger
	Parts     Parts
	// Times are the values of the words of [Since]. Missing ones are looked up in the log, see
	// [TopicAgentLifecycle].
	Times Times
	// After leaves out the messages up to it. Set it to [Pack.Through] of the previous context if
	// the agent's conversation already contains them.
	After Sequence
	// Topics are the topics that agents publish, for warnings; nil is unknown.
	Topics []string
	// UserID adds the user's own documents and memories to the shared ones.
	UserID string
	// Explain counts messages for every source, not only for empty ones.
	Explain bool
}

// Agent describes the agent that reads the context.
type Agent struct {
	ID   string
	Role string // a "validator" also gets the criteria that cannot be validated
	// Iteration is the number of the agent's run, for the metrics.
	Iteration int
	// Isolated means that the agent runs on another platform than the agents before it. Validations
	// that failed because of the platform may be possible here.
	Isolated bool
}

// Trigger is the message that started the agent. It is shown in full at the end and left out of the
// sources. Sequence or ID alone names a message of the log.
type Trigger struct {
	Sequence Sequence
	ID       string
	Topic    string
	Sender   string
	Text     string
	Data     json.RawMessage
}

// IsZero reports whether the trigger is empty.
func (t Trigger) IsZero() bool { return t.Sequence == 0 && t.ID == "" && t.Topic == "" && t.Text == "" }

// Parts are texts at the beginning of a context, shown unchanged. Empty ones are left out.
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

// Pack is an agent's context.
type Pack struct {
	Context string
	budget.Selection
	// Sources report the outcome of each source of the strategy.
	Sources  []SourceReport
	Warnings []Warning
	// Note explains why no source contributed to the context; "" if one did.
	Note string
	// Through is the sequence of the newest message when the context was built.
	Through Sequence
	Trigger Trigger
}

// SourceReport describes the contribution of a source. Its counts cover the cluster's messages with
// the source's topic and sender.
type SourceReport struct {
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Topic string `json:"topic,omitempty"`
	// Since is the inclusive lower bound; the zero time is no bound.
	Since time.Time `json:"since,omitzero"`
	// Stored counts all messages, InRange the messages since Since. Both are -1 if the source
	// contributed and no explanation was requested.
	Stored  int `json:"stored"`
	InRange int `json:"in_range"`
	// Withheld counts the messages that must not be replayed, see [Replayable].
	Withheld int `json:"withheld"`
	// Selected counts the messages or items that the source offers.
	Selected int `json:"selected"`
	// Capped means that more messages exist than the source may read.
	Capped bool `json:"capped,omitempty"`
	// Reason explains why nothing was selected.
	Reason string `json:"reason,omitempty"`
}

// Retrieved is the result of a search in documents or memories.
type Retrieved struct {
	Text  string // rendered, safe to show
	Items int
	Note  string // why nothing was found
}

// Builder builds contexts. It is safe for concurrent use.
type Builder struct {
	Log Reader
	// Retrieve searches documents and memories. If it is nil, strategies with such sources fail.
	Retrieve func(ctx context.Context, q ragctx.ContextQuery) (Retrieved, error)
}

// Build builds a context from one state of the log.
func (b *Builder) Build(ctx context.Context, r PackRequest) (Pack, error) {
	a := assembly{Builder: b, PackRequest: r}
	if err := a.begin(ctx); err != nil {
		return Pack{}, err
	}
	cands := a.parts()
	for i := range r.Strategy.Sources {
		cands = append(cands, a.source(ctx, i))
	}
	skip, err := a.skipHints(ctx)
	if err != nil {
		return Pack{}, err
	}
	cands = append(cands, requiredPart("validatorSkip", skip)...)
	cands = append(cands, a.triggerPart()...)
	for i := range cands {
		cands[i].Order = i
	}
	sel := budget.Select(cands, budget.Options{MaxTokens: r.Strategy.Budget(), MaxChars: MaxContextChars, RequiredMayExceed: true})
	if a.err != nil {
		return Pack{}, a.err
	}
	p := Pack{
		Context: sel.Text(), Selection: sel, Sources: a.reports, Warnings: r.Strategy.Warnings(r.Topics),
		Through: a.through, Trigger: a.Trigger,
	}
	if p.Warnings == nil {
		p.Warnings = []Warning{}
	}
	p.Note = p.note()
	return p, nil
}

// note explains why no source contributed to the context.
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

// assembly is a context under construction.
type assembly struct {
	*Builder
	PackRequest

	through Sequence // the cluster's newest message; 0 if it is empty
	reports []SourceReport
	err     error // of a text rendered during selection
}

func (a *assembly) begin(ctx context.Context) error {
	if err := a.Strategy.Check(); err != nil {
		return err
	}
	if err := a.Parts.check(); err != nil {
		return err
	}
	newest, ok, err := a.Log.Find(ctx, a.query())
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

// query returns a query of all messages of the cluster with these topics.
func (a *assembly) query(topics ...string) Query {
	return Query{Filter: Filter{Namespace: a.Namespace, Cluster: a.Cluster, Topics: topics}, ThroughSeq: a.through}
}

// findTrigger loads a trigger that only names a message.
func (a *assembly) findTrigger(ctx context.Context) error {
	t := &a.Trigger
	q, what := a.query(), "message "+ragctx.Clip(t.ID)
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

// isTrigger reports whether a message is the trigger.
func (a *assembly) isTrigger(m Message) bool {
	return a.Trigger.ID != "" && m.ID == a.Trigger.ID || a.Trigger.Sequence != 0 && m.Sequence == a.Trigger.Sequence
}
