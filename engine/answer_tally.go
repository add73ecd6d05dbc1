package engine

import (
	"sync/atomic"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/trace"
)

// answerTally counts the answers to context and search queries.
type answerTally struct {
	full, degraded, empty, failed atomic.Uint64
	stages                        trace.Histograms
}

func (t *answerTally) add(trace *trace.Trace, items int, degraded []string, err error) {
	t.stages.Add(trace)
	switch {
	case err != nil:
		t.failed.Add(1)
	case len(degraded) > 0:
		t.degraded.Add(1)
	case items == 0:
		t.empty.Add(1)
	default:
		t.full.Add(1)
	}
}

// AnswerTally counts the answers of [Engine.Context] and [Engine.Search] since the data
// directory was opened.
type AnswerTally struct {
	// Failed counts queries that returned an error, Degraded those with a missing signal or
	// provider, Empty the other answers without items, Full the rest.
	Full, Degraded, Empty, Failed uint64
	// Stages has the duration of each stage, in the order of [trace.Stages].
	Stages []trace.Durations
	// Cache counts lookups in the answer cache.
	Cache AnswerCacheTally
}

// Answers returns the counters of answers.
func (e Metrics) Answers() AnswerTally {
	t := &e.answers
	return AnswerTally{
		t.full.Load(), t.degraded.Load(), t.empty.Load(), t.failed.Load(), t.stages.Durations(),
		e.answerCache.tally(),
	}
}

// EmbedderCalls returns the counters of embedder calls for queries and for stored texts.
func (e Metrics) EmbedderCalls() (queries, documents retrieve.CallCounts) {
	return e.embedderCalls.Queries.Read(), e.embedderCalls.Documents.Read()
}

// Events counts the events published since the data directory was opened, by type. Events are
// only published after the first subscription.
func (e Metrics) Events() map[ragctx.EventType]uint64 { return e.events.Published() }
