package ledger

import (
	"context"
	"encoding/json"
)

// TotalRole is the key of the sum over all roles in what [TokensByRole] returns.
const TotalRole = "_total"

// Usage is what models were paid for.
type Usage struct {
	InputTokens         int64   `json:"input_tokens"`
	OutputTokens        int64   `json:"output_tokens"`
	CacheReadTokens     int64   `json:"cache_read_tokens"`
	CacheCreationTokens int64   `json:"cache_creation_tokens"`
	CostUSD             float64 `json:"cost_usd"`
	// Count is how many messages say so.
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

// TokensByRole adds up the messages of [TopicTokenUsage] of a cluster by the role
// that their data names, "unknown" if it names none. Data has the Zeroshot keys role,
// inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens and
// totalCostUsd; what is damaged counts as 0. It is empty where there are none.
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
	return d.Role, Usage{InputTokens: d.Input, OutputTokens: d.Output, CacheReadTokens: d.CacheRead, CacheCreationTokens: d.CacheCreation, CostUSD: d.Cost}
}
