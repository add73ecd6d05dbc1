package ledger

import (
	"cmp"

	"github.com/ragctx/ragctx/internal/budget"
)

// Metrics describe the composition of a context without any of its text.
type Metrics struct {
	ClusterID   string                   `json:"clusterId"`
	AgentID     string                   `json:"agentId"`
	Role        string                   `json:"role"`
	Iteration   int                      `json:"iteration"`
	TriggeredBy *string                  `json:"triggeredBy"` // the topic
	TriggerFrom *string                  `json:"triggerFrom"` // the sender
	Strategy    StrategyMetrics          `json:"strategy"`
	Budget      BudgetMetrics            `json:"budget"`
	Packs       []PackMetrics            `json:"packs"`
	Sections    map[string]LengthMetrics `json:"sections"` // of included parts
	Total       LengthMetrics            `json:"total"`
	Truncation  TruncationMetrics        `json:"truncation"`
}

// StrategyMetrics describes the requested strategy.
type StrategyMetrics struct {
	MaxTokens    int `json:"maxTokens"`
	SourcesCount int `json:"sourcesCount"`
}

// BudgetMetrics describes the use of the token budget.
type BudgetMetrics struct {
	MaxTokens        int  `json:"maxTokens"`
	RemainingTokens  *int `json:"remainingTokens"`
	OverBudgetTokens int  `json:"overBudgetTokens"`
	FinalTokens      int  `json:"finalTokens"`
}

// PackMetrics describes the outcome of one part.
type PackMetrics struct {
	ID              string          `json:"id"`
	Section         *string         `json:"section"`
	Priority        budget.Priority `json:"priority"`
	Required        bool            `json:"required"`
	Status          budget.Status   `json:"status"`
	Variant         *string         `json:"variant"`
	Chars           int             `json:"chars"`
	EstimatedTokens int             `json:"estimatedTokens"`
	Order           int             `json:"order"`
	Reason          *string         `json:"reason"`
	Truncated       bool            `json:"truncated"`
}

// LengthMetrics is the length of a text.
type LengthMetrics struct {
	Chars           int `json:"chars"`
	EstimatedTokens int `json:"estimatedTokens"`
}

// TruncationMetrics describes the cut at the character limit.
type TruncationMetrics struct {
	MaxContextChars GuardMetrics `json:"maxContextChars"`
}

// GuardMetrics is [budget.Guard] with the JSON names of the metrics.
type GuardMetrics struct {
	Applied     bool `json:"applied"`
	BeforeChars int  `json:"beforeChars"`
	AfterChars  int  `json:"afterChars"`
}

// Measure returns the metrics of a context.
func Measure(r PackRequest, p Pack) Metrics {
	m := Metrics{
		ClusterID: r.Cluster, AgentID: r.Agent.ID, Role: r.Agent.Role, Iteration: r.Agent.Iteration,
		TriggeredBy: orNull(p.Trigger.Topic), TriggerFrom: orNull(p.Trigger.Sender),
		Strategy: StrategyMetrics{r.Strategy.Budget(), len(r.Strategy.Sources)},
		Budget:   BudgetMetrics{p.Budget.MaxTokens, p.Budget.RemainingTokens, p.Budget.OverBudgetTokens, p.Budget.UsedTokens},
		Packs:    []PackMetrics{}, Sections: make(map[string]LengthMetrics),
		Total:      LengthMetrics{Chars: budget.Chars(p.Context), EstimatedTokens: budget.Estimate(p.Context)},
		Truncation: TruncationMetrics{GuardMetrics(p.MaxChars)},
	}
	for _, d := range p.Decisions {
		m.Packs = append(m.Packs, PackMetrics{
			ID: d.ID, Section: orNull(d.Section), Priority: d.Priority, Required: d.Required, Status: d.Status, Variant: orNull(d.Variant),
			Chars: d.Chars, EstimatedTokens: d.Tokens, Order: d.Order, Reason: orNull(string(d.Reason)), Truncated: d.Truncated,
		})
		if d.Status == budget.Included {
			name := cmp.Or(d.Section, d.ID, "unknown")
			chars := m.Sections[name].Chars + d.Chars
			m.Sections[name] = LengthMetrics{chars, (chars + 3) / 4}
		}
	}
	return m
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
