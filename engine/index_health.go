package engine

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// recallMonitors are the recall monitors: they measure the vector searches of each kind of item, over all
// namespaces since the data directory was opened.
type recallMonitors map[store.Kind]*index.RecallMonitor

// newRecallMonitors halves the limits. A query searches both kinds concurrently; with a shared limit the
// faster search would take all of it.
func newRecallMonitors(o index.MonitorOptions) recallMonitors {
	o.PerSecond = cmp.Or(o.PerSecond, index.DefaultMonitorPerSecond) / 2
	o.Load = cmp.Or(o.Load, index.DefaultMonitorLoad) / 2
	return recallMonitors{store.KindDocuments: index.NewRecallMonitor(o), store.KindMemories: index.NewRecallMonitor(o)}
}

// IndexHealth is the health of an open index.
type IndexHealth struct {
	ID store.Collection
	index.Health
}

// Indexes describes the open indexes, in no order. An index is open from the first use of its
// namespace until it is idle for a while; describing it is not a use. One that cannot be described
// has failed.
func (e Metrics) Indexes(ctx context.Context) (open []IndexHealth) {
	e.collections.EachOpen(func(id store.Collection, i index.Index) {
		v, err := i.Health(ctx)
		if err != nil {
			v.Keyword.State, v.Vector.State = index.Failed, index.Failed
		}
		open = append(open, IndexHealth{id, v})
	})
	return open
}

// VectorSearches returns the measurements of vector searches of a kind of item since the data
// directory was opened.
func (e Metrics) VectorSearches(k store.Kind) index.Measurements {
	return e.recallMonitors[k].Measurements()
}

// VectorIndexStatus describes the vector index of a collection, and its searches since it was opened.
type VectorIndexStatus struct {
	Graph   string      `json:"graph" doc:"the kind of vector index"`
	State   index.State `json:"state" doc:"ready; behind while it is being filled; failed"`
	Chunks  int         `json:"units" doc:"chunks that have a vector in it"`
	Pending int         `json:"pending" doc:"chunks not yet written to its files"`
	Bytes   int64       `json:"bytes" doc:"of its files"`

	Linked     int   `json:"linked" doc:"vectors linked in the graph"`
	Waiting    int   `json:"waiting" doc:"vectors scanned until they are linked"`
	Deleted    int   `json:"deleted" doc:"deleted vectors that still occupy the graph"`
	GraphBytes int64 `json:"graph_bytes" doc:"of memory that the graph takes"`

	Live index.SearchReport `json:"live" doc:"searches of this index since it was opened"`
}

func newVectorIndexStatus(v index.Health) VectorIndexStatus {
	d := v.Vector
	return VectorIndexStatus{
		Graph: d.Kind, State: d.State, Chunks: d.Chunks, Pending: d.Pending, Bytes: d.Bytes,
		Linked: d.Graph.Linked, Waiting: d.Graph.Waiting, Deleted: d.Graph.Deleted, GraphBytes: d.Graph.Bytes,
		Live: v.Searches.Report(),
	}
}

// VectorStatus describes the vector indexes and their searches.
type VectorStatus struct {
	Documents index.SearchReport `json:"documents" doc:"searches of documents in all namespaces since the data directory was opened"`
	Memories  index.SearchReport `json:"memories" doc:"the same of memories"`
	Indexes   []IndexStatus      `json:"indexes" nullable:"false" doc:"that are open, by namespace and kind"`
}

// IndexStatus is the vector index of one collection.
type IndexStatus struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind" enum:"documents,memories"`
	VectorIndexStatus
}

// Status describes the vector indexes of all namespaces, without searching.
func (e Indexes) Status(ctx context.Context) (VectorStatus, error) {
	if err := access.From(ctx).RequireUnbound(); err != nil {
		return VectorStatus{}, err
	}
	s := VectorStatus{
		Documents: e.Metrics().VectorSearches(store.KindDocuments).Report(),
		Memories:  e.Metrics().VectorSearches(store.KindMemories).Report(),
		Indexes:   []IndexStatus{},
	}
	names, err := e.namespaceNames(ctx)
	if err != nil {
		return s, err
	}
	for _, i := range e.Metrics().Indexes(ctx) {
		s.Indexes = append(s.Indexes, IndexStatus{names[i.ID.Namespace], i.ID.Kind.String(), newVectorIndexStatus(i.Health)})
	}
	slices.SortFunc(s.Indexes, func(a, b IndexStatus) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind))
	})
	return s, nil
}

// namespaceNames returns the names of namespaces by id.
func (e *core) namespaceNames(ctx context.Context) (map[int64]string, error) {
	names, err := e.Admin().NamespaceNames(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]string, len(names))
	for _, name := range names {
		ns, err := e.namespace(ctx, name, false)
		if err != nil {
			return nil, err
		}
		of[ns] = name
	}
	return of, nil
}

// JobTally counts queued and running jobs, and those that have ended since the data directory was
// opened.
type JobTally struct {
	Queued    int    `json:"queued"`
	Running   int    `json:"running"`
	Done      uint64 `json:"done" doc:"since the start"`
	Failed    uint64 `json:"failed" doc:"since the start"`
	Cancelled uint64 `json:"cancelled" doc:"since the start"`
}

// Jobs returns the counters of jobs.
func (e Metrics) Jobs(ctx context.Context) (t JobTally, err error) {
	t.Queued, t.Running, err = e.store.ActiveJobs(ctx)
	ended := &e.jobs.ended
	t.Done, t.Failed, t.Cancelled = ended.done.Load(), ended.failed.Load(), ended.cancelled.Load()
	return t, err
}

// endedJobs counts ended jobs by outcome.
type endedJobs struct{ done, failed, cancelled atomic.Uint64 }

func (c *endedJobs) add(s store.JobState) {
	switch s {
	case store.JobDone:
		c.done.Add(1)
	case store.JobFailed:
		c.failed.Add(1)
	case store.JobCancelled:
		c.cancelled.Add(1)
	default: // has not ended
	}
}
