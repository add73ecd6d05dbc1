package engine

import (
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/trace"
)

// answerTally counts answers to questions for contexts and searches.
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
	// Failed are those that there was an error instead of, Degraded those that a signal
	// or a provider is missing from, Empty others that have no items, Full the rest.
	Full, Degraded, Empty, Failed uint64
	// Stages says how long each stage took, in the order of [trace.Stages].
	Stages []trace.Durations
	// Cache says how many contexts were given again.
	Cache AnswerCacheTally
}

// AnswerTally returns what was counted.
func (e *Engine) AnswerTally() AnswerTally {
	t := &e.answers
	return AnswerTally{t.full.Load(), t.degraded.Load(), t.empty.Load(), t.failed.Load(), t.stages.Durations(), e.recall.tally()}
}

// embedderCalls counts what embedders were asked.
type embedderCalls struct{ queries, documents callTally }

type callTally struct {
	texts, failed atomic.Uint64
	took          trace.Histogram
}

func (t *callTally) add(texts int, began time.Time, err error) {
	t.took.Add(time.Since(began))
	if err != nil {
		t.failed.Add(1)
		return
	}
	t.texts.Add(uint64(texts)) //nolint:gosec // not negative
}

func (t *callTally) read() EmbedderCalls {
	return EmbedderCalls{t.texts.Load(), t.failed.Load(), t.took.Durations()}
}

// EmbedderCalls counts calls of embedders for one purpose since the data directory was
// opened. Of a service each is one or more requests; see [embed.Usage].
type EmbedderCalls struct {
	Texts  uint64 // embedded
	Failed uint64 // calls, also because the caller went away
	Took   trace.Durations
}

// EmbedderCalls returns what was counted: of questions and of what is stored.
func (e *Engine) EmbedderCalls() (queries, documents EmbedderCalls) {
	return e.embedding.queries.read(), e.embedding.documents.read()
}

// EventTally counts the events that were told since the data directory was opened, by
// type. Before anybody asks for events, none are.
func (e *Engine) EventTally() map[ragctx.EventType]uint64 { return e.events.Told() }
