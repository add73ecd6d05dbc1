package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
)

// PackRequest requests the context of an agent in a cluster.
type PackRequest struct {
	Namespace string          `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	Cluster   string          `json:"cluster" doc:"cluster whose messages are selected" example:"issue-17"`
	Strategy  json.RawMessage `json:"strategy"`
	Agent     PackAgent       `json:"agent,omitzero" doc:"agent that the context is for"`
	Trigger   *PackTrigger    `json:"trigger,omitempty"`
	Parts     PackParts       `json:"parts,omitzero" doc:"texts at the beginning of the context"`
	Times     PackTimes       `json:"times,omitzero"`
	After     string          `json:"after_sequence,omitempty"`
	Topics    []string        `json:"topics,omitempty"`
	UserID    string          `json:"user_id,omitempty" maxLength:"512"`
	Explain   bool            `json:"explain,omitempty" doc:"count messages for all sources, and add the metrics"`
}

// PackAgent is the agent that a context is for.
type PackAgent struct {
	ID        string `json:"id,omitempty" maxLength:"256" doc:"sender of the agent's messages" example:"worker-1"`
	Role      string `json:"role,omitempty" maxLength:"256" example:"worker"`
	Iteration int    `json:"iteration,omitempty" minimum:"0" doc:"number of the run, for the metrics"`
	Isolated  bool   `json:"isolated,omitempty" doc:"the agent runs on another platform than the agents before it"`
}

// PackTrigger references a message by its sequence, or contains it.
type PackTrigger struct {
	Sequence string          `json:"sequence,omitempty"`
	ID       string          `json:"id,omitempty"`
	Topic    string          `json:"topic,omitempty"`
	Sender   string          `json:"sender,omitempty"`
	Text     string          `json:"text,omitempty"`
	Data     json.RawMessage `json:"data,omitempty" doc:"any JSON"`
}

// PackTimes are times that a source's since may refer to.
type PackTimes struct {
	ClusterStart   time.Time `json:"cluster_start,omitzero" doc:"start of the cluster"`
	LastTaskEnd    time.Time `json:"last_task_end,omitzero" doc:"end of the last task"`
	LastAgentStart time.Time `json:"last_agent_start,omitzero" doc:"previous start of the agent"`
}

func (p PackTimes) times() (out ledger.Times, err error) {
	for _, t := range [...]struct {
		field string
		time  time.Time
		to    *int64
	}{
		{"times.cluster_start", p.ClusterStart, &out.ClusterStart},
		{"times.last_task_end", p.LastTaskEnd, &out.LastTaskEnd},
		{"times.last_agent_start", p.LastAgentStart, &out.LastAgentStart},
	} {
		if *t.to, err = millisOf(t.field, t.time); err != nil {
			return out, err
		}
	}
	return out, nil
}

// PackParts are texts of the caller. Empty ones are omitted.
type PackParts struct {
	Header               string          `json:"header,omitempty"`
	Instructions         string          `json:"instructions,omitempty"`
	RepoTooling          string          `json:"repo_tooling,omitempty"`
	CommandProofs        string          `json:"command_proofs,omitempty"`
	QueuedGuidance       []string        `json:"queued_guidance,omitempty" doc:"guidance for this context only"`
	LegacyOutputSchema   string          `json:"legacy_output_schema,omitempty"`
	RequiredQualityGates string          `json:"required_quality_gates,omitempty"`
	JSONSchema           json.RawMessage `json:"json_schema,omitempty" doc:"JSON schema of the agent's output"`
}

// Request converts the request for the engine, and returns warnings about its strategy.
func (r PackRequest) Request() (ledger.PackRequest, []ledger.Warning, error) {
	strategy, warnings, err := ledger.ParseStrategy(r.Strategy)
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok && f.Field != "strategy" {
		f.Field = "strategy." + f.Field
	}
	if err != nil {
		return ledger.PackRequest{}, nil, err
	}
	out := ledger.PackRequest{
		Namespace: r.Namespace, Cluster: r.Cluster, Strategy: strategy, Agent: ledger.Agent(r.Agent),
		Parts:  ledger.Parts(r.Parts),
		Topics: r.Topics, UserID: r.UserID, Explain: r.Explain,
	}
	if out.Times, err = r.Times.times(); err != nil {
		return out, nil, err
	}
	if out.After, err = sequenceOf("after_sequence", r.After); err != nil {
		return out, nil, err
	}
	if t := r.Trigger; t != nil {
		out.Trigger = ledger.Trigger{ID: t.ID, Topic: t.Topic, Sender: t.Sender, Text: t.Text, Data: t.Data}
		if out.Trigger.Sequence, err = sequenceOf("trigger.sequence", t.Sequence); err != nil {
			return out, nil, err
		}
		if out.Trigger.IsZero() {
			return out, nil, ragctx.Invalid("trigger", "is empty; send the sequence of a message, or a topic and "+
				"a text, or leave it out")
		}
	}
	return out, warnings, nil
}

// PackAnswer is the context of an agent.
type PackAnswer struct {
	Context    string                `json:"context" doc:"text for the agent"`
	Tokens     int                   `json:"tokens" doc:"estimate: a quarter of the characters"`
	Budget     budget.Budget         `json:"budget"`
	MaxChars   budget.Guard          `json:"max_chars" doc:"effect of the limit of 500,000 characters"`
	Decisions  []budget.Decision     `json:"decisions" nullable:"false" doc:"decision on each part, in order"`
	Sources    []ledger.SourceReport `json:"sources" nullable:"false"`
	Warnings   []ledger.Warning      `json:"warnings" nullable:"false"`
	Note       string                `json:"note,omitempty" doc:"reason why no source contributed"`
	ThroughSeq ledger.Sequence       `json:"through_sequence" doc:"newest message at the time"`
	Metrics    *ledger.Metrics       `json:"metrics,omitempty" doc:"metrics without text, on request"`
}

// newPackAnswer returns the answer to a request, with the warnings about its strategy.
func newPackAnswer(p engine.Packed, warnings []ledger.Warning, explain bool) PackAnswer {
	out := PackAnswer{
		Context: p.Context, Tokens: p.Metrics.Total.EstimatedTokens, Budget: p.Budget, MaxChars: p.MaxChars,
		Decisions: p.Decisions,
		Sources:   p.Sources, Warnings: append(warnings, p.Warnings...), Note: p.Note, ThroughSeq: p.Through,
	}
	if out.Warnings == nil {
		out.Warnings = []ledger.Warning{}
	}
	if explain {
		out.Metrics = &p.Metrics
	}
	return out
}

// clusterState is the state of a cluster's work.
type clusterState struct {
	State json.RawMessage `json:"state"`
	Text  string          `json:"text" doc:"the state in a few lines of text"`
}

// newClusterState converts a state for the answer.
func newClusterState(s ledger.State) (clusterState, error) {
	raw, err := s.MarshalJSON()
	return clusterState{State: raw, Text: s.Summary()}, err
}

type (
	packInput          struct{ Body PackRequest }
	packOutput         struct{ Body PackAnswer }
	clusterStateOutput struct{ Body clusterState }
)

func (s *Server) packRoutes() {
	register(s, huma.Operation{
		OperationID: "pack", Method: http.MethodPost, Path: "/v1/packs", Tags: []string{teamsGroup},
		Summary: "Build the context of an agent",
		Description: "Builds a context from the messages of a cluster, documents and memories within a token " +
			"budget. Required parts are always included; others by priority if they fit, in full or in compact " +
			"form. Every part has a decision with its reason. If no source contributes, a note gives the reason.",
	}, s.pack)
	register(s, huma.Operation{
		OperationID: "get-cluster-state", Method: http.MethodGet, Path: clusterVerb("state"), Tags: []string{teamsGroup},
		Summary: "Get the state of a cluster",
		Description: "Computed from all messages of the cluster; nothing is written. ragctx also publishes each " +
			"new state as a message of the topic STATE_SNAPSHOT.",
	}, s.clusterState)
}

func (s *Server) pack(ctx context.Context, in *packInput) (*packOutput, error) {
	r, warnings, err := in.Body.Request()
	if err != nil {
		return nil, err
	}
	p, err := s.engine.Ledger().Pack(ctx, r)
	if err != nil {
		return nil, err
	}
	return &packOutput{newPackAnswer(p, warnings, in.Body.Explain)}, nil
}

func (s *Server) clusterState(ctx context.Context, in *ClusterKey) (*clusterStateOutput, error) {
	state, err := s.engine.Ledger().State(ctx, in.Namespace, in.Cluster)
	if err != nil {
		return nil, err
	}
	out, err := newClusterState(state)
	return &clusterStateOutput{out}, err
}

// writePacks writes the metrics of contexts.
func writePacks(e *exposition, t engine.PackTally) {
	e.counter("ragctx_packs_total", "Contexts built for agents.", series{nil, float64(t.Packs)})
	e.counter("ragctx_packs_empty_total", "Contexts without content from any source.", series{nil, float64(t.Empty)})
	e.counter("ragctx_packs_over_budget_total", "Contexts whose required parts exceeded their budget.",
		series{nil, float64(t.OverBudget)})
	e.counter("ragctx_packs_cut_total", "Contexts truncated at the character limit.", series{nil, float64(t.Cut)})
	e.counter("ragctx_packs_tokens_total", "Estimated tokens of contexts.", series{nil, float64(t.Tokens)})
	var parts []series
	for _, outcome := range []string{
		"full", "compact", string(budget.ReasonEmpty), string(budget.ReasonBudget),
		string(budget.ReasonMaxChars),
	} {
		parts = append(parts, series{labels{"outcome", outcome}, float64(t.Parts[outcome])})
	}
	e.counter("ragctx_pack_parts_total", "Parts of contexts by decision.", parts...)
}

func writeLedger(e *exposition, t store.LedgerCounts) {
	e.counter("ragctx_ledger_messages_total", "Messages stored in ledgers: appended, including by "+
		"ragctx itself, or imported.",
		series{labels{"origin", "appended"}, float64(t.Appended)}, series{labels{"origin", "imported"}, float64(t.Imported)})
	e.counter("ragctx_ledger_trimmed_total", "Agent outputs removed by the retention limit of their ledger.",
		series{nil, float64(t.Trimmed)})
	e.gauge("ragctx_ledger_subscriptions", "Open streams of ledgers.", series{nil, float64(t.Subscriptions)})
	e.counter("ragctx_ledger_subscriptions_cut_total", "Streams that fell behind and continue from the store.",
		series{nil, float64(t.CutOff)})
}
