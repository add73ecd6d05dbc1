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
		OperationID: "metrics", Method: http.MethodGet, Path: metricsPath, Tags: []string{"system"}, Summary: "Metrics for Prometheus",
		Description: "The text format of Prometheus, version 0.0.4. Sizes are those of indexes that are open; counters begin with the process. " +
			"Names of namespaces and users are not among the labels.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The metrics.", Content: map[string]*huma.MediaType{expositionType: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, s.metrics)
}

// metrics answers also when the database does not: then is the time to look at them.
func (s *Server) metrics(ctx context.Context, _ *struct{}) (*metricsOutput, error) {
	if err := access.From(ctx).RequireUnbound(); err != nil {
		return nil, err
	}
	var e exposition
	e.gauge("ragctx_build_info", "What is running; the value is 1.", series{labels{"version", s.opts.Version, "go_version", runtime.Version()}, 1})
	writeFailures(&e, s.engine.Metrics().StoreFailures())
	writeIndexes(&e, s.engine.Metrics().Indexes())
	writeSearches(&e, s.engine.Metrics().VectorSearches)
	jobs, err := s.engine.Metrics().Jobs(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "jobs could not be counted for the metrics", "error", err)
	}
	writeJobs(&e, jobs, err == nil)
	writePacks(&e, s.engine.Metrics().Packs())
	writeLedger(&e, s.engine.Metrics().Ledger())
	s.requests.write(&e)
	s.writeOverload(&e)
	writeAnswers(&e, s.engine.Metrics().Answers())
	queries, documents := s.engine.Metrics().EmbedderCalls()
	writeEmbedder(&e, queries, documents)
	writeEvents(&e, s.engine.Metrics().Events())
	writeProcess(&e)
	return &metricsOutput{expositionType, e.buf.Bytes()}, nil
}

// writeOverload tells what bounds requests and how many were refused for it.
func (s *Server) writeOverload(e *exposition) {
	active, limit, waiting := s.gate.state()
	e.gauge("ragctx_requests_computing", "Requests that compute now.", series{nil, float64(active)})
	e.gauge("ragctx_requests_computing_limit", "Requests that may compute at a time, as processors allow.", series{nil, float64(limit)})
	e.gauge("ragctx_requests_waiting", "Requests that wait for others to end.", series{nil, float64(waiting)})
	e.counter("ragctx_requests_refused_total", "Requests that were told to come again: processors, as too many compute; memory, as large bodies take it.",
		series{labels{"reason", "processors"}, float64(s.gate.refused.Load())}, series{labels{"reason", "memory"}, float64(s.bodies.refused.Load())})
}

// writeFailures has a series for each kind of failure, also before there is any.
func writeFailures(e *exposition, failures []*ragctx.RepairError) {
	var all []series
	for _, kind := range []string{ragctx.RepairWrites, ragctx.RepairDatabase} {
		there := 0.0
		if slices.ContainsFunc(failures, func(f *ragctx.RepairError) bool { return f.Kind == kind }) {
			there = 1
		}
		all = append(all, series{labels{"kind", kind}, there})
	}
	e.gauge("ragctx_store_failed", "1 from when the store cannot write any more, or its database is damaged, until the server is restarted.", all...)
}

// kinds are the kinds of items, each of which has series of its own.
var kinds = []store.Kind{store.Documents, store.Memories}

// legSizes is the sum of legs of one kind of item and one implementation.
type legSizes struct {
	kind store.Kind
	impl string
	index.PartStats
}

// sum adds up legs, by kind and implementation. Those that are not there count for
// nothing.
func sum(open []engine.IndexHealth, leg func(index.Health) index.PartStats) (out []legSizes) {
	for _, i := range open {
		l := leg(i.Health)
		if l.Kind == "" {
			continue
		}
		at := slices.IndexFunc(out, func(o legSizes) bool { return o.kind == i.ID.Kind && o.impl == l.Kind })
		if at < 0 {
			at, out = len(out), append(out, legSizes{kind: i.ID.Kind, impl: l.Kind})
		}
		o := &out[at]
		o.Chunks, o.Pending, o.Bytes = o.Chunks+l.Chunks, o.Pending+l.Pending, o.Bytes+l.Bytes
		o.Words.Chunks, o.Words.Bytes = o.Words.Chunks+l.Words.Chunks, o.Words.Bytes+l.Words.Bytes
		o.Graph.Linked, o.Graph.Waiting = o.Graph.Linked+l.Graph.Linked, o.Graph.Waiting+l.Graph.Waiting
		o.Graph.Deleted, o.Graph.Bytes = o.Graph.Deleted+l.Graph.Deleted, o.Graph.Bytes+l.Graph.Bytes
	}
	slices.SortFunc(out, func(a, b legSizes) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.impl, b.impl)) })
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
	e.gauge("ragctx_indexes_open", "Indexes that are open, one for each namespace and kind of item that is in use.", indexes...)
	e.gauge("ragctx_units", "Chunks of documents and pieces of memories in open indexes, earlier versions included.", units...)
	e.gauge("ragctx_legs", "Legs of open indexes by state: ready, behind while they are fed, failed.", legStates(open)...)

	e.legs("graph", sum(open, func(v index.Health) index.PartStats { return v.Vector }), vectorSizes)
	e.legs("implementation", sum(open, func(v index.Health) index.PartStats { return v.Keyword }), keywordSizes)
}

// legSize is one family about the sizes of legs.
type legSize struct {
	name, help string
	of         func(index.PartStats) float64
}

var vectorSizes = []legSize{
	{"ragctx_vector_units", "Vectors in open indexes.", func(l index.PartStats) float64 { return float64(l.Chunks) }},
	{"ragctx_vector_pending_units", "Vectors that the index's files do not have yet.", func(l index.PartStats) float64 { return float64(l.Pending) }},
	{"ragctx_vector_bytes", "Size of the files of the vector legs.", func(l index.PartStats) float64 { return float64(l.Bytes) }},
	{"ragctx_vector_linked_units", "Vectors that have their place in a graph.", func(l index.PartStats) float64 { return float64(l.Graph.Linked) }},
	{"ragctx_vector_waiting_units", "Vectors that are scanned until they have one.", func(l index.PartStats) float64 { return float64(l.Graph.Waiting) }},
	{"ragctx_vector_deleted_units", "Vectors that are gone and take up room in a graph.", func(l index.PartStats) float64 { return float64(l.Graph.Deleted) }},
	{"ragctx_vector_graph_bytes", "Memory of the graphs.", func(l index.PartStats) float64 { return float64(l.Graph.Bytes) }},
}

var keywordSizes = []legSize{
	{"ragctx_keyword_units", "Texts in the keyword legs of open indexes.", func(l index.PartStats) float64 { return float64(l.Chunks) }},
	{"ragctx_keyword_pending_units", "Texts that the index's files do not have yet.", func(l index.PartStats) float64 { return float64(l.Pending) }},
	{"ragctx_keyword_bytes", "Size of the files of the keyword legs.", func(l index.PartStats) float64 { return float64(l.Bytes) }},
	{"ragctx_keyword_memory_units", "Texts whose words are in memory; searches of others read files.", func(l index.PartStats) float64 { return float64(l.Words.Chunks) }},
	{"ragctx_keyword_memory_bytes", "Memory that these words take.", func(l index.PartStats) float64 { return float64(l.Words.Bytes) }},
}

// legs writes families with a series for each kind of item and implementation.
func (e *exposition) legs(implementation string, legs []legSizes, families []legSize) {
	for _, f := range families {
		var all []series
		for _, l := range legs {
			all = append(all, series{labels{"kind", l.kind.String(), implementation, l.impl}, f.of(l.PartStats)})
		}
		e.gauge(f.name, f.help, all...)
	}
}

// legStates counts legs by state, those of which there are none as well: what is
// alerted on should be there before it happens.
func legStates(open []engine.IndexHealth) (out []series) {
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
	e.counter("ragctx_vector_searches_total", "Searches of vector legs; exact ones were asked for by a query or repeat a sampled search.", searches...)
	e.histogram("ragctx_vector_search_duration_seconds", "Time of searches of vector legs, which is a part of a query's.", took...)
	e.gauge("ragctx_vector_recall_at_10", "Share of the ten nearest vectors that sampled searches found, over the newest 1,000 samples.", recall...)
	e.gauge("ragctx_vector_recall_at_10_low", "Lower end of the 95 % confidence interval of ragctx_vector_recall_at_10.", low...)
	e.gauge("ragctx_vector_recall_at_10_high", "Upper end of the 95 % confidence interval of ragctx_vector_recall_at_10.", high...)
	e.gauge("ragctx_vector_recall_samples", "Samples behind ragctx_vector_recall_at_10.", samples...)
	e.counter("ragctx_vector_recall_skipped_total", "Searches that were chosen as samples and not compared.", skipped...)
}

func writeJobs(e *exposition, t engine.JobTally, known bool) {
	if known {
		e.gauge("ragctx_jobs", "Jobs that have not ended, by state.",
			series{labels{"state", string(store.JobQueued)}, float64(t.Queued)}, series{labels{"state", string(store.JobRunning)}, float64(t.Running)})
	}
	e.counter("ragctx_jobs_ended_total", "Jobs that have ended, by how they did.",
		series{labels{"state", string(store.JobDone)}, float64(t.Done)},
		series{labels{"state", string(store.JobFailed)}, float64(t.Failed)},
		series{labels{"state", string(store.JobCancelled)}, float64(t.Cancelled)})
}

func writeAnswers(e *exposition, t engine.AnswerTally) {
	e.counter("ragctx_answers_total", "Contexts and searches: full; degraded, without a signal or a provider; others that are empty; failed.",
		series{labels{"result", "full"}, float64(t.Full)}, series{labels{"result", "degraded"}, float64(t.Degraded)},
		series{labels{"result", "empty"}, float64(t.Empty)}, series{labels{"result", "failed"}, float64(t.Failed)})
	e.counter("ragctx_answer_cache_total", "Contexts that may have been asked for just before, and were given again (hit) or not (miss).",
		series{labels{"result", "hit"}, float64(t.Cache.Hits)}, series{labels{"result", "miss"}, float64(t.Cache.Misses)})
	e.gauge("ragctx_answer_cache_bytes", "Memory of the answers that are kept.", series{nil, float64(t.Cache.Bytes)})
	var took []durations
	for i, stage := range trace.Stages() {
		took = append(took, durations{labels{"stage", stage}, t.Stages[i]})
	}
	e.histogram("ragctx_answer_stage_duration_seconds",
		"Time of the stages of an answer, summed over documents and memories, which are searched side by side; engine is a whole context.", took...)
}

func writeEmbedder(e *exposition, queries, documents engine.EmbedderCalls) {
	var calls, failed, texts []series
	var took []durations
	for _, p := range []struct {
		purpose string
		engine.EmbedderCalls
	}{{"queries", queries}, {"documents", documents}} {
		l := labels{"purpose", p.purpose}
		calls, failed = append(calls, series{l, float64(p.Took.Count)}), append(failed, series{l, float64(p.Failed)})
		texts, took = append(texts, series{l, float64(p.Texts)}), append(took, durations{l, p.Took})
	}
	e.counter("ragctx_embedder_calls_total", "Calls of the embedder; a question that was asked just now needs none.", calls...)
	e.counter("ragctx_embedder_failures_total", "Calls of the embedder that failed, also because the caller went away.", failed...)
	e.counter("ragctx_embedder_texts_total", "Texts that the embedder embedded.", texts...)
	e.histogram("ragctx_embedder_call_duration_seconds", "Time of calls of the embedder.", took...)
}

// writeEvents has a series for each type, also for those of which there are none.
func writeEvents(e *exposition, told map[ragctx.EventType]uint64) {
	var all []series
	for _, t := range ragctx.EventTypes() {
		if t != ragctx.EventEventsLost { // told to one reader
			all = append(all, series{labels{"type", string(t)}, float64(told[t])})
		}
	}
	e.counter("ragctx_events_total", "Events that were told; none before anybody asked for events.", all...)
}

// writeProcess has the names that Prometheus's own clients have.
func writeProcess(e *exposition) {
	if rss, ok := residentBytes(); ok {
		e.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", series{nil, rss})
	}
	read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(read)
	for i, name := range []string{"go_memstats_heap_alloc_bytes", "go_memstats_sys_bytes"} {
		if read[i].Value.Kind() == metrics.KindUint64 {
			help := []string{"Bytes of heap objects, live or not swept yet.", "Bytes that Go has from the system."}[i]
			e.gauge(name, help, series{nil, float64(read[i].Value.Uint64())})
		}
	}
	e.gauge("go_goroutines", "Number of goroutines.", series{nil, float64(runtime.NumGoroutine())})
}

// residentBytes returns how much memory of this process is resident, and false where
// the system does not say so in a file.
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
