package resolve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// maxAbandoned bounds the calls of one callee that overran their deadline and
// still run. One that never returns would otherwise cost a goroutine per query.
const maxAbandoned = 32

var (
	errPanicked = errors.New("panicked")
	errTimeout  = errors.New("timed out")
	errStuck    = errors.New("has too many calls that did not return in time")
)

// callee is what an answer depends on without trusting it: it may be slow, never
// return, or panic.
type callee struct {
	name      string
	abandoned atomic.Int32
}

// outcome is what came of a call.
type outcome[T any] struct {
	result T
	err    error
	took   time.Duration
}

// call is one call of a callee. Whoever is first to settle it, the callee's
// goroutine or the one that waits, decides whether its result counts; a late
// result is thrown away and nothing is shared with it.
type call[T any] struct {
	ctx     context.Context
	cancel  context.CancelFunc
	to      *callee
	timeout time.Duration
	now     func() time.Time
	started time.Time
	settled atomic.Bool
	done    chan outcome[T]
}

// start calls fn in a goroutine of its own.
func start[T any](ctx context.Context, o *Options, to *callee, timeout time.Duration, fn func(context.Context) (T, error)) *call[T] {
	c := &call[T]{to: to, timeout: timeout, now: o.Now, started: o.Now(), done: make(chan outcome[T], 1)}
	c.ctx, c.cancel = context.WithTimeout(ctx, timeout)
	if to.abandoned.Load() >= maxAbandoned {
		c.settled.Store(true)
		c.done <- outcome[T]{err: errStuck}
		return c
	}
	go func() {
		res := protect(c.ctx, o.Logger, to.name, fn)
		if c.settled.CompareAndSwap(false, true) {
			c.done <- res
			return
		}
		to.abandoned.Add(-1)
	}()
	return c
}

// wait returns the outcome, or a timeout as soon as the call's context ends.
func (c *call[T]) wait() outcome[T] {
	defer c.cancel()
	var o outcome[T]
	select {
	case o = <-c.done:
	case <-c.ctx.Done():
		c.to.abandoned.Add(1)
		if c.settled.CompareAndSwap(false, true) {
			o.err = c.ctx.Err()
			break
		}
		c.to.abandoned.Add(-1)
		o = <-c.done // it was just in time
	}
	o.took = c.now().Sub(c.started)
	if errors.Is(o.err, context.DeadlineExceeded) {
		o.err = fmt.Errorf("%w after %v", errTimeout, c.timeout)
	}
	if o.err != nil {
		var none T
		o.result = none
	}
	return o
}

// protect turns a panic of fn into an error.
func protect[T any](ctx context.Context, log *slog.Logger, name string, fn func(context.Context) (T, error)) (o outcome[T]) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "call panicked", "callee", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o = outcome[T]{err: errPanicked}
		}
	}()
	o.result, o.err = fn(ctx)
	return o
}
