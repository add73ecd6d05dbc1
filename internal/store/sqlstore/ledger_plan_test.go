package sqlstore

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/ledger"
)

// TestLedgerIndexesAreUsed asks SQLite how it goes about queries of ledgers: each finds
// its rows by an index that has them in the order of the answer, without sorting.
func TestLedgerIndexesAreUsed(t *testing.T) {
	s := openJobs(t)
	topic := ledger.Filter{Topics: []string{"a"}}
	for want, queries := range map[string][]ledger.Query{
		"ledger_messages_ledger (ledger=?)": {
			{},
			{Newest: true, Limit: 1},
			{Filter: ledger.Filter{Topics: []string{"a", "b"}}},
		},
		"ledger_messages_ledger (ledger=? AND rowid>?)": {
			{AfterSeq: 5, Limit: 256},
			{Since: 5, Limit: 5},
			{After: 5, Newest: true},
		},
		"ledger_messages_ledger (ledger=? AND rowid>? AND rowid<?)":         {{AfterSeq: 5, Until: 7}, {Since: 5, ThroughSeq: 9}},
		"ledger_messages_topic (ledger=? AND topic=?)":                      {{Filter: topic}, {Filter: topic, Newest: true, Limit: 1}},
		"ledger_messages_topic (ledger=? AND topic=? AND rowid>?)":          {{Filter: topic, AfterSeq: 5}, {Filter: topic, Since: 5, Limit: 5}},
		"ledger_messages_sender (ledger=? AND sender=?)":                    {{Filter: ledger.Filter{Sender: "a"}, Newest: true, Limit: 5}},
		"ledger_messages_id (ledger=? AND id=?)":                            {{ID: ledger.NewID("1")}},
		"ledger_messages_at (ledger=? AND at>?)":                            {{Since: 5}},
		"ledger_messages_at (ledger=? AND at<?)":                            {{Until: 5}},
		"ledger_messages_topic (ledger=? AND topic=? AND rowid>? AND rowid": {{Filter: topic, Since: 5, Until: 9}},
	} {
		for _, q := range queries {
			text, args := selectQuery(q)
			plan := s.planOf(t, text, args...)
			if !strings.Contains(plan, want) || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN ledger_messages") {
				t.Errorf("%+v does not use %s:\n%s", q, want, plan)
			}
		}
	}
}
