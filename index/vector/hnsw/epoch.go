package hnsw

import "sync/atomic"

// epochs detects when no search can still read a slot that was removed from the graph (epoch-based
// reclamation: Fraser, "Practical lock-freedom", 2004, §5.2.3). Every reader enters the current
// epoch. The next epoch begins only when all readers have left the previous one, so a slot retired
// in epoch e has no readers in epoch e+2.
type epochs struct {
	now     atomic.Uint64
	readers [2]atomic.Int64 // by epoch mod 2
	retired []retiredSlot   // in order of epochs; guarded by Graph.mu
	holds   int             // active holds on reuse; guarded by Graph.mu
}

type retiredSlot struct {
	slot  uint32
	epoch uint64
}

// enter begins a read and returns the epoch to pass to leave.
func (e *epochs) enter() (epoch uint64) {
	for {
		epoch = e.now.Load()
		e.readers[epoch&1].Add(1)
		if e.now.Load() == epoch {
			return epoch
		}
		e.readers[epoch&1].Add(-1) // the next epoch has begun in between
	}
}

// leave ends a read.
func (e *epochs) leave(epoch uint64) { e.readers[epoch&1].Add(-1) }

// retire queues slots for reuse that no list refers to any more and that are not held. Put reuses
// them once every reader that may have seen them has left. The caller holds mu.
func (g *Graph) retire(slots ...uint32) {
	for _, slot := range slots {
		g.epochs.retired = append(g.epochs.retired, retiredSlot{slot, g.epochs.now.Load()})
	}
}

// holdReuse stops the reuse of slots until it has been called with -1 as often as with 1.
func (g *Graph) holdReuse(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epochs.holds += n
}

// reclaim frees the retired slots that have no readers left. The caller holds mu.
func (g *Graph) reclaim() {
	e := &g.epochs
	if len(e.retired) == 0 || e.holds > 0 {
		return
	}
	now := e.now.Load()
	if e.readers[(now+1)&1].Load() == 0 { // every reader has left the previous epoch
		now++
		e.now.Store(now)
	}
	n := 0
	for n < len(e.retired) && e.retired[n].epoch+2 <= now {
		g.free = append(g.free, e.retired[n].slot)
		n++
	}
	e.retired = e.retired[n:]
}
