package ledger

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
)

// Words that a source's since may be, beside a time.
const (
	SinceClusterStart   = "cluster_start"
	SinceLastTaskEnd    = "last_task_end"
	SinceLastAgentStart = "last_agent_start"
)

// Since is the lower bound of a source: one of the words above, a time as RFC 3339
// has it, a date, or Unix time in milliseconds in decimal. "" is no bound.
type Since string

// UnmarshalJSON reads a string or a number.
func (s *Since) UnmarshalJSON(b []byte) error {
	var n json.Number
	if len(b) > 0 && b[0] != '"' {
		if err := json.Unmarshal(b, &n); err != nil {
			return err
		}
		*s = Since(n)
		return nil
	}
	return json.Unmarshal(b, (*string)(s))
}

// sinceLayouts are the forms of a time that are read; those without a zone are UTC.
var sinceLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateTime, time.DateOnly}

// at returns the bound where it is a time.
func (s Since) at() (ms int64, ok bool) {
	if n, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		return n, true
	}
	for _, layout := range sinceLayouts {
		if t, err := time.Parse(layout, string(s)); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

func (s Since) check(at, topic string) error {
	switch s {
	case "", SinceClusterStart, SinceLastTaskEnd, SinceLastAgentStart:
		return nil
	}
	if _, ok := s.at(); ok {
		return nil
	}
	of := ""
	if topic != "" {
		of = " of topic " + ragctx.Clip(topic)
	}
	return ragctx.Invalid(at, "%q%s is neither a known word nor a time; use cluster_start, last_task_end, last_agent_start, "+
		"a time such as 2026-03-01T12:00:00Z, or milliseconds since 1970", ragctx.Clip(string(s)), of)
}

// Times are the moments that the words of [Since] mean, in Unix milliseconds. 0 is not
// known: of the cluster's start it is no bound, the others then are the cluster's start.
type Times struct {
	ClusterStart int64 `json:"cluster_start,omitempty"`
	LastTaskEnd  int64 `json:"last_task_end,omitempty"`
	// LastAgentStart is when the agent was started before, not the start that the
	// context is for.
	LastAgentStart int64 `json:"last_agent_start,omitempty"`
}

// bound returns the earliest time that s means, included; 0 is none, as no message is
// earlier.
func (s Since) bound(t Times) int64 {
	switch s {
	case "":
		return 0
	case SinceClusterStart:
		return max(t.ClusterStart, 0)
	case SinceLastTaskEnd:
		return max(t.LastTaskEnd, t.ClusterStart, 0)
	case SinceLastAgentStart:
		return max(t.LastAgentStart, t.ClusterStart, 0)
	}
	ms, _ := s.at()
	return max(ms, 0)
}
