package api

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/trace"
)

type metricsOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

const metricsPath = "/metrics"

func (s *Server) metricsRoutes() {
	register(s, huma.Operation{
		OperationID: "metrics", Method: http.MethodGet, Path: metricsPath, Tags: []string{administrationGroup},
		Summary: "Metrics for Prometheus",
		Description: "Metrics in the Prometheus text format 0.0.4. Sizes cover open indexes; counters start with " +
			"the process. Labels never contain names of namespaces or users.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The metrics.", Content: map[string]*huma.MediaType{expositionType: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, s.metrics)
}

// metrics answers even without the database, since failures are when metrics matter.
func (s *Server) metrics(ctx context.Context, _ *struct{}) (*metricsOutput, error) {
	if err := access.From(ctx).RequireUnbound(); err != nil {
		return nil, err
	}
	var e exposition
	e.gauge("ragctx_build_info", "Version of the running server; the value is 1.",
		series{labels{"version", s.opts.Version, "go_version", runtime.Version()}, 1})
	writeFailures(&e, s.engine.Metrics().StoreFailures())
	writeIndexes(&e, s.engine.Metrics().Indexes(ctx))
	writeSearches(&e, s.engine.Metrics().VectorSearches)
	jobs, err := s.engine.Metrics().Jobs(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "cannot count jobs for the metrics", "error", err)
	}
	writeJobs(&e, jobs, err == nil)
	writePacks(&e, s.engine.Metrics().Packs())
	writeLedger(&e, s.engine.Metrics().Ledger())
	s.requests.write(&e)
	s.writeOverload(&e)
	writeAnswers(&e, s.engine.Metrics().Answers())
	queries, documents := s.engine.Metrics().EmbedderCalls()
	writeEmbedder(&e, queries, documents)
	e.gauge("ragctx_embedder_waiting_chunks", "About how many chunks are still to be embedded in the background.",
		series{nil, float64(s.engine.Indexes().EmbedderInfo().Waiting)})
	writeEvents(&e, s.engine.Metrics().Events())
	writeProcess(&e)
	return &metricsOutput{expositionType, e.buf.Bytes()}, nil
}

// writeOverload writes the limits on concurrent requests and the number of refusals.
func (s *Server) writeOverload(e *exposition) {
	active, limit, waiting := s.gate.state()
	e.gauge("ragctx_requests_computing", "Requests being computed.", series{nil, float64(active)})
	e.gauge("ragctx_requests_computing_limit", "Maximum number of requests computed concurrently, by number of "+
		"processors.", series{nil, float64(limit)})
	e.gauge("ragctx_requests_waiting", "Requests waiting for a free slot.", series{nil, float64(waiting)})
	e.counter("ragctx_requests_refused_total", "Requests rejected with a retry hint: processors, too many "+
		"concurrent requests; memory, too many large bodies.",
		series{labels{"reason", "processors"}, float64(s.gate.refused.Load())}, series{
			labels{"reason", "memory"},
			float64(s.bodies.refused.Load()),
		})
}

// writeFailures writes a series for each kind of failure, including kinds without failures.
func writeFailures(e *exposition, failures []*ragctx.RepairError) {
	var all []series
	for _, kind := range []string{ragctx.RepairWrites, ragctx.RepairDatabase} {
		there := 0.0
		if slices.ContainsFunc(failures, func(f *ragctx.RepairError) bool { return f.Kind == kind }) {
			there = 1
		}
		all = append(all, series{labels{"kind", kind}, there})
	}
	e.gauge("ragctx_store_failed", "1 after the store has become read-only or damaged, until a restart.", all...)
}

// kinds are the kinds of items; each has series of its own.
var kinds = []store.Kind{store.KindDocuments, store.KindMemories}

// partSizes sums the parts of open indexes for one kind of item and one implementation.
type partSizes struct {
	kind store.Kind
	impl string
	index.PartStats
}

// sum adds up parts of indexes by kind and implementation, and skips missing ones.
func sum(open []engine.IndexHealth, leg func(index.Health) index.PartStats) (out []partSizes) {
	for _, i := range open {
		l := leg(i.Health)
		if l.Kind == "" {
			continue
		}
		at := slices.IndexFunc(out, func(o partSizes) bool { return o.kind == i.ID.Kind && o.impl == l.Kind })
		if at < 0 {
			at, out = len(out), append(out, partSizes{kind: i.ID.Kind, impl: l.Kind})
		}
		o := &out[at]
		o.Chunks, o.Pending, o.Bytes = o.Chunks+l.Chunks, o.Pending+l.Pending, o.Bytes+l.Bytes
		o.Words.Chunks, o.Words.Bytes = o.Words.Chunks+l.Words.Chunks, o.Words.Bytes+l.Words.Bytes
		o.Graph.Linked, o.Graph.Waiting = o.Graph.Linked+l.Graph.Linked, o.Graph.Waiting+l.Graph.Waiting
		o.Graph.Deleted, o.Graph.Bytes = o.Graph.Deleted+l.Graph.Deleted, o.Graph.Bytes+l.Graph.Bytes
	}
	slices.SortFunc(out, func(a, b partSizes) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.impl, b.impl))
	})
	return out
}

func writeIndexes(e *exposition, open []engine.IndexHealth) {
	var indexes, units []series
	for _, k := range kinds {
		n, has := 0, 0
		for _, i := range open {
			if i.ID.Kind == k {
				n, has = n+1, has+i.Chunks
			}
		}
		indexes = append(indexes, series{labels{"kind", k.String()}, float64(n)})
		units = append(units, series{labels{"kind", k.String()}, float64(has)})
	}
	e.gauge("ragctx_indexes_open", "Open indexes, one per namespace and kind of item in use.", indexes...)
	e.gauge("ragctx_units", "Chunks of documents and memories in open indexes, earlier versions included.", units...)
	e.gauge("ragctx_legs", "Keyword and vector indexes that are open, by state: ready, behind during a backfill, "+
		"failed.", partStates(open)...)

	e.sizes("graph", sum(open, func(v index.Health) index.PartStats { return v.Vector }), vectorSizes)
	e.sizes("implementation", sum(open, func(v index.Health) index.PartStats { return v.Keyword }), keywordSizes)
}

// sizeFamily is a family of sizes.
type sizeFamily struct {
	name, help string
	of         func(index.PartStats) float64
}

var vectorSizes = []sizeFamily{
	{"ragctx_vector_units", "Vectors in open indexes.", func(l index.PartStats) float64 { return float64(l.Chunks) }},
	{
		"ragctx_vector_pending_units", "Vectors not yet written to the index files.",
		func(l index.PartStats) float64 { return float64(l.Pending) },
	},
	{
		"ragctx_vector_bytes", "Size of the files of the vector indexes.",
		func(l index.PartStats) float64 { return float64(l.Bytes) },
	},
	{
		"ragctx_vector_linked_units", "Vectors linked in a graph.",
		func(l index.PartStats) float64 { return float64(l.Graph.Linked) },
	},
	{
		"ragctx_vector_waiting_units", "Vectors not yet in a graph, which are scanned.",
		func(l index.PartStats) float64 { return float64(l.Graph.Waiting) },
	},
	{
		"ragctx_vector_deleted_units", "Deleted vectors that still occupy space in a graph.",
		func(l index.PartStats) float64 { return float64(l.Graph.Deleted) },
	},
	{
		"ragctx_vector_graph_bytes", "Memory used by the graphs.",
		func(l index.PartStats) float64 { return float64(l.Graph.Bytes) },
	},
}

var keywordSizes = []sizeFamily{
	{
		"ragctx_keyword_units", "Texts in open keyword indexes.",
		func(l index.PartStats) float64 { return float64(l.Chunks) },
	},
	{
		"ragctx_keyword_pending_units", "Texts not yet written to the index files.",
		func(l index.PartStats) float64 { return float64(l.Pending) },
	},
	{
		"ragctx_keyword_bytes", "Size of the files of the keyword indexes.",
		func(l index.PartStats) float64 { return float64(l.Bytes) },
	},
	{
		"ragctx_keyword_memory_units", "Texts whose terms are in memory; searches of others read files.",
		func(l index.PartStats) float64 { return float64(l.Words.Chunks) },
	},
	{
		"ragctx_keyword_memory_bytes", "Memory used by these terms.",
		func(l index.PartStats) float64 { return float64(l.Words.Bytes) },
	},
}

// sizes writes families with a series for each kind of item and implementation.
func (e *exposition) sizes(implementation string, legs []partSizes, families []sizeFamily) {
	for _, f := range families {
		var all []series
		for _, l := range legs {
			all = append(all, series{labels{"kind", l.kind.String(), implementation, l.impl}, f.of(l.PartStats)})
		}
		e.gauge(f.name, f.help, all...)
	}
}

// partStates counts the parts of open indexes by state. Every state has a series, even with count 0,
// so that alerts can refer to it.
func partStates(open []engine.IndexHealth) (out []series) {
	for _, k := range kinds {
		for _, leg := range []string{"keyword", "vector"} {
			for _, state := range []index.State{index.Ready, index.Behind, index.Failed} {
				n := 0
				for _, i := range open {
					st := i.Keyword.State
					if leg == "vector" {
						st = i.Vector.State
					}
					if i.ID.Kind == k && st == state {
						n++
					}
				}
				out = append(out, series{labels{"kind", k.String(), "leg", leg, "state", string(state)}, float64(n)})
			}
		}
	}
	return out
}

func writeSearches(e *exposition, measured func(store.Kind) index.Measurements) {
	var searches, recall, low, high, samples, skipped []series
	var took []durations
	for _, k := range kinds {
		m, kind := measured(k), labels{"kind", k.String()}
		for _, d := range []durations{
			{labels{"kind", k.String(), "exact", "false"}, m.Took}, {labels{"kind", k.String(), "exact", "true"}, m.Exact},
		} {
			took = append(took, d)
			searches = append(searches, series{d.labels, float64(d.Count)})
		}
		n := 0
		if r := m.Recall; r != nil {
			n = r.Samples
			recall = append(recall, series{kind, r.Value})
			low, high = append(low, series{kind, r.Low}), append(high, series{kind, r.High})
		}
		samples = append(samples, series{kind, float64(n)})
		skipped = append(skipped, series{kind, float64(m.Skipped)})
	}
	e.counter("ragctx_vector_searches_total", "Searches of vector indexes. Exact ones were requested by a query "+
		"or repeat a sampled search.", searches...)
	e.histogram("ragctx_vector_search_duration_seconds", "Duration of vector searches, a part of the query time.", took...)
	e.gauge("ragctx_vector_recall_at_10", "Share of the true ten nearest vectors found by sampled searches, over "+
		"the newest 1,000 samples.", recall...)
	e.gauge("ragctx_vector_recall_at_10_low", "Lower end of the 95 % confidence interval of ragctx_vector_recall_at_10.", low...)
	e.gauge("ragctx_vector_recall_at_10_high", "Upper end of the 95 % confidence interval of ragctx_vector_recall_at_10.", high...)
	e.gauge("ragctx_vector_recall_samples", "Number of samples behind ragctx_vector_recall_at_10.", samples...)
	e.counter("ragctx_vector_recall_skipped_total", "Sampled searches that were not compared.", skipped...)
}

func writeJobs(e *exposition, t engine.JobTally, known bool) {
	if known {
		e.gauge("ragctx_jobs", "Jobs that have not ended, by state.",
			series{labels{"state", string(store.JobQueued)}, float64(t.Queued)}, series{labels{
				"state",
				string(store.JobRunning),
			}, float64(t.Running)})
	}
	e.counter("ragctx_jobs_ended_total", "Ended jobs, by result.",
		series{labels{"state", string(store.JobDone)}, float64(t.Done)},
		series{labels{"state", string(store.JobFailed)}, float64(t.Failed)},
		series{labels{"state", string(store.JobCancelled)}, float64(t.Cancelled)})
}

func writeAnswers(e *exposition, t engine.AnswerTally) {
	e.counter("ragctx_answers_total", "Contexts and searches by result: full; degraded, without a signal or a "+
		"provider; empty; failed.",
		series{labels{"result", "full"}, float64(t.Full)}, series{labels{"result", "degraded"}, float64(t.Degraded)},
		series{labels{"result", "empty"}, float64(t.Empty)}, series{labels{"result", "failed"}, float64(t.Failed)})
	e.counter("ragctx_answer_cache_total", "Contexts that the answer cache could serve (hit) or not (miss).",
		series{labels{"result", "hit"}, float64(t.Cache.Hits)}, series{labels{"result", "miss"}, float64(t.Cache.Misses)})
	e.gauge("ragctx_answer_cache_bytes", "Memory of the answer cache.", series{nil, float64(t.Cache.Bytes)})
	var took []durations
	for i, stage := range trace.Stages() {
		took = append(took, durations{labels{"stage", stage}, t.Stages[i]})
	}
	e.histogram("ragctx_answer_stage_duration_seconds",
		"Duration of the stages of an answer, summed over documents and memories, which are searched "+
			"concurrently; engine is a whole context.", took...)
}

func writeEmbedder(e *exposition, queries, documents retrieve.CallCounts) {
	var calls, failed, texts []series
	var took []durations
	for _, p := range []struct {
		purpose string
		retrieve.CallCounts
	}{{"queries", queries}, {"documents", documents}} {
		l := labels{"purpose", p.purpose}
		calls, failed = append(calls, series{l, float64(p.Took.Count)}), append(failed, series{l, float64(p.Failed)})
		texts, took = append(texts, series{l, float64(p.Texts)}), append(took, durations{l, p.Took})
	}
	e.counter("ragctx_embedder_calls_total", "Calls of the embedder; a repeated question may need none.", calls...)
	e.counter("ragctx_embedder_failures_total", "Failed calls of the embedder, including cancelled ones.", failed...)
	e.counter("ragctx_embedder_texts_total", "Texts embedded by the embedder.", texts...)
	e.histogram("ragctx_embedder_call_duration_seconds", "Duration of calls of the embedder.", took...)
}

// writeEvents writes a series for each event type, even with count 0.
func writeEvents(e *exposition, told map[ragctx.EventType]uint64) {
	var all []series
	for _, t := range ragctx.EventTypes() {
		if t != ragctx.EventEventsLost { // sent to a single reader
			all = append(all, series{labels{"type", string(t)}, float64(told[t])})
		}
	}
	e.counter("ragctx_events_total", "Events published; none before the first subscription.", all...)
}

// writeProcess uses the names of Prometheus's own client libraries.
func writeProcess(e *exposition) {
	if rss, ok := residentBytes(); ok {
		e.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", series{nil, rss})
	}
	read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(read)
	for i, name := range []string{"go_memstats_heap_alloc_bytes", "go_memstats_sys_bytes"} {
		if read[i].Value.Kind() == metrics.KindUint64 {
			help := []string{"Bytes of heap objects, live or not yet swept.", "Bytes obtained from the system."}[i]
			e.gauge(name, help, series{nil, float64(read[i].Value.Uint64())})
		}
	}
	e.gauge("go_goroutines", "Number of goroutines.", series{nil, float64(runtime.NumGoroutine())})
}

// residentBytes returns the resident memory of this process, or false if the system has no file for
// it.
func residentBytes() (float64, bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[1], 10, 63)
	if err != nil || pages > math.MaxInt64/uint64(os.Getpagesize()) { //nolint:gosec // pages have a size
		return 0, false
	}
	return float64(pages) * float64(os.Getpagesize()), true
}
