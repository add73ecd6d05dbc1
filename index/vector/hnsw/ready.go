package hnsw

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// proof is what is left to check of a file.
type proof struct {
	turn   chan struct{} // holds one: somebody checks
	err    error         // nothing is left: this is what came out
	header header
	sums   []uint32
	summed []atomic.Bool // which parts have their sums
	nodes  []uint64      // a bit per slot
}

// ready returns an error if the graph cannot be used. It checks what was read if
// that was not done.
func (g *Graph) ready(ctx context.Context) error {
	for {
		p := g.unproven.Load()
		if p == nil {
			return nil
		}
		if p.err != nil {
			return p.err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case p.turn <- struct{}{}:
		}
		err := error(nil)
		if g.unproven.Load() == p {
			err = g.prove(ctx, p)
		}
		<-p.turn
		if err != nil {
			return err
		}
	}
}

// prove checks what was read. The caller has the turn.
func (g *Graph) prove(ctx context.Context, p *proof) (err error) {
	defer g.catch(&err, debug.SetPanicOnFault(true))
	if err := g.proveAll(ctx, p); err != nil {
		if ctx.Err() != nil {
			return err
		}
		g.fail(err)
		return err
	}
	g.unproven.Store(nil)
	return nil
}

// fail makes g unusable.
func (g *Graph) fail(err error) { g.unproven.Store(&proof{err: err}) }

// failed returns why g is unusable, if it is.
func (g *Graph) failed() error {
	if p := g.unproven.Load(); p != nil {
		return p.err
	}
	return nil
}

// catch is deferred by what reads mapped memory, with what SetPanicOnFault(true)
// returned: that the file cannot be read, because it was cut or the disk fails, is
// damage. It leaves other panics alone.
func (g *Graph) catch(err *error, before bool) {
	debug.SetPanicOnFault(before)
	if g.mapped == nil {
		return
	}
	r := recover()
	if r == nil {
		return
	}
	fault, ok := r.(interface {
		error
		Addr() uintptr
	})
	if !ok || fault.Addr()-uintptr(unsafe.Pointer(unsafe.SliceData(g.mapped))) >= uintptr(len(g.mapped)) {
		panic(r)
	}
	damaged := fmt.Errorf("%w: it cannot be read: %w", ErrDamaged, fault)
	g.fail(damaged)
	if err != nil {
		*err = damaged
	}
}
