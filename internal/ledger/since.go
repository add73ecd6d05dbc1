package ledger

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
)

// Words for the lower bound of a source.
const (
	SinceClusterStart   = "cluster_start"
	SinceLastTaskEnd    = "last_task_end"
	SinceLastAgentStart = "last_agent_start"
)

// Since is the lower bound of a source: one of the words above, an RFC 3339 time, a date, or
// decimal Unix time in milliseconds. "" is no bound.
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

// sinceLayouts are the accepted time formats. Times without a zone are UTC.
var sinceLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateTime, time.DateOnly}

// parse returns the bound if it is a time.
func (s Since) parse() (ms int64, ok bool) {
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
	if _, ok := s.parse(); ok {
		return nil
	}
	of := ""
	if topic != "" {
		of = " of topic " + ragctx.Clip(topic)
	}
	return ragctx.Invalid(at, "%q%s is neither a known word nor a time; use cluster_start, last_task_end, last_agent_start, "+
		"a time such as 2026-03-01T12:00:00Z, or milliseconds since 1970", ragctx.Clip(string(s)), of)
}

// Times are the values of the words of [Since] in Unix milliseconds. 0 is unknown: an unknown
// cluster start is no bound, the others then default to the cluster's start.
type Times struct {
	ClusterStart, LastTaskEnd int64
	// LastAgentStart is the agent's previous start, not the start that the context is for.
	LastAgentStart int64
}

// lowerBound returns the inclusive lower bound in Unix milliseconds; 0 is no bound.
func (s Since) lowerBound(t Times) int64 {
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
	ms, _ := s.parse()
	return max(ms, 0)
}
