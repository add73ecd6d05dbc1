package hnsw

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// verification is the pending verification of a file, or its failure.
type verification struct {
	turn         chan struct{} // holds one element while a goroutine verifies
	err          error         // the final result; no work is left
	header       header
	sums         []uint32
	sumsVerified []atomic.Bool // the parts with verified checksums
	nodes        []uint64      // one bit per slot
}

// ready returns an error if the graph cannot be used. It verifies the file first if that is still
// pending.
func (g *Graph) ready(ctx context.Context) error {
	for {
		p := g.unverified.Load()
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
		if g.unverified.Load() == p {
			err = g.verify(ctx, p)
		}
		<-p.turn
		if err != nil {
			return err
		}
	}
}

// verify verifies the file. The caller holds turn.
func (g *Graph) verify(ctx context.Context, p *verification) (err error) {
	defer g.catch(&err, debug.SetPanicOnFault(true))
	if err := g.verifyAll(ctx, p); err != nil {
		if ctx.Err() != nil {
			return err
		}
		g.fail(err)
		return err
	}
	g.unverified.Store(nil)
	return nil
}

// fail makes g unusable.
func (g *Graph) fail(err error) { g.unverified.Store(&verification{err: err}) }

// failed returns the error that made g unusable, or nil.
func (g *Graph) failed() error {
	if p := g.unverified.Load(); p != nil {
		return p.err
	}
	return nil
}

// catch is deferred by functions that read mapped memory, with the result of SetPanicOnFault(true).
// It turns a read fault in the file (truncated, or a disk failure) into ErrDamaged and re-panics on
// anything else.
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
