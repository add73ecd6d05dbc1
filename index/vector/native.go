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
)

const kindNative = "native"

// graphUnits is how many units a leg has at least for a graph to be made. Comparing
// with 5,000 rows takes half a millisecond, and ten thousand small collections cost
// no memory but their rows.
const graphUnits = 5000

var _ index.Dense = (*Native)(nil)

// exact is a leg that compares with every row, and shows its state.
type exact interface {
	index.Dense
	// current returns the state as of now, with a reference of the caller's.
	current() (*storedView, error)
	usable(ctx context.Context) error
	// change publishes the state after a checked batch, whose vectors have these
	// lengths.
	change(seq uint64, upserts []index.VectorUnit, lengths []float64, deletes []uint64) error
	// keepUp does what changes are followed by.
	keepUp(ctx context.Context)
	// failed returns the error of an operation, and notes what it says of the rows.
	failed(op string, err error) error
}

// Native is a dense leg that finds the nearest units by a graph over compressed
// vectors, and scores them by the vectors themselves. Its rows are those of an
// exact leg, a [Stored] or a [Flat] one; the graph is a cache beside them. It
// decides only which rows are looked at: scores are those of the exact leg, bit
// for bit. Where it cannot be relied on all rows are compared: while there is none,
// where it finds fewer units than there are, and where it fails; then it is made
// again from the rows, in the background. Small legs have none.
//
// # Changes
//
// New vectors go into the graph first, then the view of the rows is published,
// then what is gone leaves the graph. So a search finds in the graph whatever its
// view has, unless the writer has overtaken it; that is noticed, and it searches
// again among what was deleted, too.
//
// # Files
//
// Beside the files of the rows there is a checkpoint of the graph, named "graph-",
// 16 hexadecimal digits and ".hnsw". It says which segments it knows. On open it is
// compared with the rows in the background; until that has been done all rows are
// compared.
type Native struct {
	rows   exact
	opts   Options
	graphs *graphs

	write sync.Mutex // held while rows and graph change
	accel atomic.Pointer[accelerator]

	saving    chan struct{} // holds a token while the files of the graph change; guards:
	file      string        // the one in use, "" for none
	number    uint64        // the highest that was given to one
	fileSize  atomic.Int64
	saveAfter atomic.Int64 // in nanoseconds since 1970

	mu       sync.Mutex // guards closed and resting, and the start of background work
	closed   bool
	resting  *time.Timer
	quiet    atomic.Bool // nothing has changed for a while
	tending  atomic.Bool
	failures atomic.Int64
	retry    atomic.Int64 // after a failure: no new graph before, in nanoseconds since 1970

	background sync.WaitGroup
	stop       context.CancelFunc
	life       context.Context //nolint:containedctx // ends background work with the leg
}

// newNative returns a leg over rows, which it owns from now on.
func newNative(rows exact, o Options) *Native {
	n := &Native{rows: rows, opts: o, graphs: o.graphs, saving: make(chan struct{}, 1)}
	n.life, n.stop = context.WithCancel(context.Background())
	n.open()
	n.disturb()
	n.wake()
	return n
}

// Apply implements [index.Dense]. Errors are those of the rows; what goes wrong
// with the graph costs the graph.
func (n *Native) Apply(ctx context.Context, seq uint64, upserts []index.VectorUnit, deletes []uint64) error {
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
	n.rows.keepUp(ctx)
	n.disturb()
	n.wake()
	return nil
}

// change applies a checked batch to graph and rows.
func (n *Native) change(seq uint64, upserts []index.VectorUnit, lengths []float64, deletes []uint64) error {
	n.write.Lock()
	defer n.write.Unlock()
	a := n.acquire()
	if a == nil {
		return n.rows.change(seq, upserts, lengths, deletes)
	}
	defer a.release()
	err := guard(func() error { return a.putAll(upserts, lengths, stride(n.opts.Dimensions)) })
	if err != nil {
		n.fail(a, err)
	}
	if err := n.rows.change(seq, upserts, lengths, deletes); err != nil {
		return err
	}
	err = guard(func() error {
		for _, id := range gone(upserts, lengths, deletes) {
			a.Delete(id)
		}
		return nil
	})
	if err != nil {
		n.fail(a, err)
	}
	a.settle()
	return nil
}

// putAll puts the vectors of a batch that have a direction.
func (a *accelerator) putAll(upserts []index.VectorUnit, lengths []float64, stride int) error {
	unit := make([]float32, stride)
	for i, u := range upserts {
		if lengths[i] == 0 {
			continue
		}
		normalize(unit, u.Vector, lengths[i])
		if err := a.put(u.ID, unit); err != nil {
			return err
		}
	}
	return nil
}

// gone returns the units that a batch leaves without a vector.
func gone(upserts []index.VectorUnit, lengths []float64, deletes []uint64) []uint64 {
	var zeros map[uint64]bool
	for i, u := range upserts { // the last word on a unit counts
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

// acquire returns the graph with a reference of the caller's, nil if there is none.
func (n *Native) acquire() *accelerator {
	for {
		a := n.accel.Load()
		if a == nil || a.retain() {
			return a
		}
	}
}

// fail gives a graph up after an error, and has another one made: at once if its file
// is damaged, which that one has not, else in a while.
func (n *Native) fail(a *accelerator, err error) {
	if !n.accel.CompareAndSwap(a, nil) {
		return
	}
	a.release()
	if errors.Is(err, hnsw.ErrDamaged) {
		n.opts.Logger.Warn("vector graph is made again", "dir", n.opts.Dir, "reason", err)
		n.wake()
		return
	}
	n.later(err)
}

// later puts off the next attempt to make a graph.
func (n *Native) later(err error) {
	failures := n.failures.Add(1)
	wait := min(time.Second<<min(failures-1, 10), maxRetry)
	n.retry.Store(time.Now().Add(wait).UnixNano())
	n.opts.Logger.Error("vector graph failed and is made again; all vectors are compared meanwhile",
		"dir", n.opts.Dir, "error", err, "wait", wait)
}

// maxRetry is the longest time between two attempts to make a graph.
const maxRetry = 10 * time.Minute

// Similarity implements [index.Dense], as the rows do.
func (n *Native) Similarity(v []float32, id uint64) (float64, bool) { return n.rows.Similarity(v, id) }

// Cursor implements [index.Dense].
func (n *Native) Cursor() uint64 { return n.rows.Cursor() }

// Flush implements [index.Dense].
func (n *Native) Flush(ctx context.Context) error {
	err := n.rows.Flush(ctx)
	n.wake()
	return err
}

// Recovered says why what was stored was thrown away on open; "" if it was not.
func (n *Native) Recovered() string {
	if s, ok := n.rows.(*Stored); ok {
		return s.Recovered()
	}
	return ""
}

// Stats implements [index.Dense].
func (n *Native) Stats() index.LegStats {
	st := n.rows.Stats()
	if st.Kind == "" {
		return st // closed
	}
	st.Kind = kindNative
	st.Bytes += n.fileSize.Load()
	if a := n.acquire(); a != nil {
		defer a.release()
		g := a.Stats()
		st.Graph = index.GraphStats{Linked: g.Live - g.Waiting, Waiting: g.Waiting, Deleted: g.Dead, Bytes: g.Bytes, Answers: a.whole.Load()}
	}
	return st
}

// Close ends background work, writes a checkpoint if that takes no time, and lets
// go of the files. Searches under way end on what they have. Closing twice is
// harmless.
func (n *Native) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	if n.resting != nil {
		n.resting.Stop()
	}
	n.mu.Unlock()
	n.stop()
	n.background.Wait()
	n.saveLast()
	if a := n.accel.Swap(nil); a != nil {
		a.release()
	}
	err := n.rows.Close()
	n.saving <- struct{}{} // for good: a Compact that was under way has ended
	return err
}
