package ledger

import (
	"context"
	"encoding/json"
)

// TotalRole is the key of the sum over all roles in the result of [TokensByRole].
const TotalRole = "_total"

// Usage is the token usage and cost of models.
type Usage struct {
	InputTokens         int64   `json:"input_tokens"`
	OutputTokens        int64   `json:"output_tokens"`
	CacheReadTokens     int64   `json:"cache_read_tokens"`
	CacheCreationTokens int64   `json:"cache_creation_tokens"`
	CostUSD             float64 `json:"cost_usd"`
	// Count is the number of messages added up.
	Count int `json:"count"`
}

func (u *Usage) add(o Usage) {
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CacheReadTokens += o.CacheReadTokens
	u.CacheCreationTokens += o.CacheCreationTokens
	u.CostUSD += o.CostUSD
	u.Count++
}

// TokensByRole sums a cluster's [TopicTokenUsage] messages by the role in their data, "unknown"
// without a role. Data has Zeroshot's keys role, inputTokens, outputTokens, cacheReadInputTokens,
// cacheCreationInputTokens and totalCostUsd; damaged data counts as 0. The result is empty without
// such messages.
func TokensByRole(ctx context.Context, log Log, f Filter) (map[string]Usage, error) {
	f.Topics = []string{TopicTokenUsage}
	sums := make(map[string]Usage)
	for m, err := range Pages(ctx, log, Query{Filter: f}) {
		if err != nil {
			return nil, err
		}
		role, u := usageOf(m)
		for _, r := range []string{role, TotalRole} {
			sum := sums[r]
			sum.add(u)
			sums[r] = sum
		}
	}
	return sums, nil
}

func usageOf(m Message) (role string, u Usage) {
	var d struct {
		Role          string  `json:"role"`
		Input         int64   `json:"inputTokens"`
		Output        int64   `json:"outputTokens"`
		CacheRead     int64   `json:"cacheReadInputTokens"`
		CacheCreation int64   `json:"cacheCreationInputTokens"`
		Cost          float64 `json:"totalCostUsd"`
	}
	if json.Unmarshal(m.Data, &d) != nil || d.Role == "" || d.Role == TotalRole {
		d.Role = "unknown"
	}
	return d.Role, Usage{
		InputTokens: d.Input, OutputTokens: d.Output, CacheReadTokens: d.CacheRead,
		CacheCreationTokens: d.CacheCreation, CostUSD: d.Cost,
	}
}
