package vector

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector/hnsw"
	"github.com/ragctx/ragctx/index/vector/kernel"
)

const kindNative = "native"

// minGraphChunks is the minimum number of chunks for a graph. Comparing with 5,000 rows takes half a
// millisecond, and ten thousand small collections then cost no memory beyond their rows.
const minGraphChunks = 5000

var _ index.VectorIndex = (*native)(nil)

// exactIndex is a vector index that compares with every row and exposes its state.
type exactIndex interface {
	index.VectorIndex
	// current returns the current state with a reference for the caller.
	current() (*storedView, error)
	usable(ctx context.Context) error
	// change applies a validated batch with the given vector lengths and publishes the new state.
	change(seq uint64, upserts []index.VectorChunk, lengths []float64, deletes []uint64) error
	// flushIfDue does the work that follows changes: it starts a flush if enough is pending.
	flushIfDue(ctx context.Context)
	// failed returns the error of an operation and records damage to the rows.
	failed(op string, err error) error
}

// native is a vector index that finds the nearest chunks with a graph over compressed vectors and
// scores them by the full vectors. Its rows are in an exact index, a [stored] or a [flat]; the
// graph is a cache of them. The graph only selects the rows to score: scores are bit-identical to
// those of the exact index. All rows are compared when the graph cannot be relied on: while there
// is no graph, when it finds fewer chunks than exist, and after it fails. It is then rebuilt from
// the rows in the background. Small indexes have no graph.
//
// # Changes
//
// New vectors go into the graph first, then the view of the rows is published, then deleted vectors
// leave the graph. So a search finds everything in the graph that its view has, unless the writer
// has overtaken it. The search detects that and repeats, including deleted vectors.
//
// # Files
//
// In addition to the files of the rows there is a checkpoint of the graph, named "graph-", 16
// hexadecimal digits and ".hnsw". It lists the segments it contains. After opening, the graph is
// reconciled with the rows in the background; until then all rows are compared.
type native struct {
	rows   exactIndex
	opts   Options
	graphs *graphFactory

	write sync.Mutex // held while rows and graph change
	accel atomic.Pointer[accelerator]

	saving    chan struct{} // holds a token while the graph's files change; guards:
	file      string        // the graph file in use, or ""
	number    uint64        // the highest graph file number used
	fileSize  atomic.Int64
	saveAfter atomic.Int64 // no save before this time, in Unix nanoseconds

	mu          sync.Mutex // guards closed and quietTimer, and the start of background work
	closed      bool
	quietTimer  *time.Timer
	quiet       atomic.Bool // no change for quietAfter
	maintaining atomic.Bool
	failures    atomic.Int64
	retry       atomic.Int64 // after a failure: no new graph before this time, in Unix nanoseconds

	background sync.WaitGroup
	stop       context.CancelFunc
	ctx        context.Context //nolint:containedctx // ends background work with the index
}

// newNative returns an index over rows, which it then owns.
func newNative(rows exactIndex, o Options) *native {
	n := &native{rows: rows, opts: o, graphs: o.graphs, saving: make(chan struct{}, 1)}
	n.ctx, n.stop = context.WithCancel(context.Background())
	n.open()
	n.noteChange()
	n.wake()
	return n
}

// Apply implements [index.VectorIndex]. It returns only errors of the rows; an error of the graph drops
// the graph.
func (n *native) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
	if err := n.rows.usable(ctx); err != nil {
		return err
	}
	lengths, err := norms(upserts, n.opts.Dimensions)
	if err != nil {
		return err
	}
	if err := n.change(seq, upserts, lengths, deletes); err != nil {
		return n.rows.failed("apply", err)
	}
	n.rows.flushIfDue(ctx)
	n.noteChange()
	n.wake()
	return nil
}

// change applies a validated batch to graph and rows.
func (n *native) change(seq uint64, upserts []index.VectorChunk, lengths []float64, deletes []uint64) error {
	n.write.Lock()
	defer n.write.Unlock()
	a := n.acquire()
	if a == nil {
		return n.rows.change(seq, upserts, lengths, deletes)
	}
	defer a.release()
	err := guard(func() error { return a.putAll(upserts, lengths, n.opts.Dimensions) })
	if err != nil {
		n.fail(a, err)
	}
	if err := n.rows.change(seq, upserts, lengths, deletes); err != nil {
		return err
	}
	err = guard(func() error {
		for _, id := range withoutVector(upserts, lengths, deletes) {
			a.Delete(id)
		}
		return nil
	})
	if err != nil {
		n.fail(a, err)
	}
	a.markSynced()
	return nil
}

// putAll puts the nonzero vectors of a batch, as the rows will have them.
func (a *accelerator) putAll(upserts []index.VectorChunk, lengths []float64, dim int) error {
	row := make([]int16, stride(dim))
	for i, u := range upserts {
		if lengths[i] == 0 {
			continue
		}
		kernel.Encode16(row, u.Vector)
		if err := a.put(u.ID, decoded(row, dim)); err != nil {
			return err
		}
	}
	return nil
}

// withoutVector returns the chunks that a batch leaves without a vector.
func withoutVector(upserts []index.VectorChunk, lengths []float64, deletes []uint64) []uint64 {
	var zeros map[uint64]bool
	for i, u := range upserts { // the last upsert of a chunk counts
		switch {
		case lengths[i] != 0:
			delete(zeros, u.ID)
		case zeros == nil:
			zeros = map[uint64]bool{u.ID: true}
		default:
			zeros[u.ID] = true
		}
	}
	ids := deletes
	for id := range zeros {
		ids = append(slices.Clip(ids), id)
	}
	return ids
}

// acquire returns the graph with a reference for the caller, or nil.
func (n *native) acquire() *accelerator {
	for {
		a := n.accel.Load()
		if a == nil || a.retain() {
			return a
		}
	}
}

// fail drops a graph after an error and has a new one built: at once if its file is damaged, which
// the new graph does not use, otherwise after a delay.
func (n *native) fail(a *accelerator, err error) {
	if !n.accel.CompareAndSwap(a, nil) {
		return
	}
	a.release()
	if errors.Is(err, hnsw.ErrDamaged) {
		n.opts.Logger.Warn("vector graph is damaged and is rebuilt", "dir", n.opts.Dir, "reason", err)
		n.wake()
		return
	}
	n.retryLater(err)
}

// retryLater delays the next attempt to build a graph.
func (n *native) retryLater(err error) {
	failures := n.failures.Add(1)
	wait := min(time.Second<<min(failures-1, 10), maxRetry)
	n.retry.Store(time.Now().Add(wait).UnixNano())
	n.opts.Logger.Error("vector graph failed and will be rebuilt; until then all vectors are compared",
		"dir", n.opts.Dir, "error", err, "wait", wait)
}

// maxRetry is the longest delay between two attempts to build a graph.
const maxRetry = 10 * time.Minute

// Similarity implements [index.VectorIndex] through the rows.
func (n *native) Similarity(v []float32) func(id uint64) (float64, bool) { return n.rows.Similarity(v) }

// Cursor implements [index.VectorIndex].
func (n *native) Cursor() uint64 { return n.rows.Cursor() }

// Flush implements [index.VectorIndex].
func (n *native) Flush(ctx context.Context) error {
	err := n.rows.Flush(ctx)
	n.wake()
	return err
}

// Recovered returns why stored data was discarded on open, or "".
func (n *native) Recovered() string {
	if s, ok := n.rows.(*stored); ok {
		return s.Recovered()
	}
	return ""
}

// Stats implements [index.VectorIndex].
func (n *native) Stats() index.PartStats {
	st := n.rows.Stats()
	if st.Kind == "" {
		return st // closed
	}
	st.Kind = kindNative
	st.Bytes += n.fileSize.Load()
	if a := n.acquire(); a != nil {
		defer a.release()
		g := a.Stats()
		st.Graph = index.GraphStats{
			Linked: g.Live - g.Waiting, Waiting: g.Waiting, Deleted: g.Dead, Bytes: g.Bytes,
			Answers: a.complete.Load(),
		}
	}
	return st
}

// Close ends background work, writes a checkpoint if that is quick, and releases the files. Running
// searches finish on their state. Closing twice is harmless.
func (n *native) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	if n.quietTimer != nil {
		n.quietTimer.Stop()
	}
	n.mu.Unlock()
	n.stop()
	n.background.Wait()
	n.saveOnClose()
	if a := n.accel.Swap(nil); a != nil {
		a.release()
	}
	err := n.rows.Close()
	n.saving <- struct{}{} // not released: a running Compact has ended, and no other can begin
	return err
}
