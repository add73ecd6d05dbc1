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

// maxAbandoned is the maximum number of running calls of one callee that overran their deadline.
// Without it, a callee that never returns would leak a goroutine per query.
const maxAbandoned = 32

var (
	errPanicked = errors.New("panicked")
	errTimeout  = timeoutError{}
	errStuck    = errors.New("has too many calls that did not return in time")
)

// timeoutError is the error of a callee that overran its deadline.
type timeoutError struct{}

func (timeoutError) Error() string { return "timed out" }

func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// callee is an untrusted dependency of an answer: it may be slow, never return, or panic.
type callee struct {
	name      string
	abandoned atomic.Int32
}

// outcome is the result of a call.
type outcome[T any] struct {
	result T
	err    error
	took   time.Duration
}

// call is one call of a callee. It is settled by the callee's return or by the end of the call's
// context, whichever comes first. A late result is discarded, and no memory is shared with it. The
// time of wait does not matter.
type call[T any] struct {
	end     func() // releases the context
	timeout time.Duration
	settled atomic.Bool
	done    chan outcome[T]
}

// start calls fn in a new goroutine and measures the time.
func start[T any](
	ctx context.Context, o *Options, to *callee, timeout time.Duration, fn func(context.Context) (T, error),
) *call[T] {
	c := &call[T]{timeout: timeout, done: make(chan outcome[T], 1)}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	c.end = cancel
	if to.abandoned.Load() >= maxAbandoned {
		c.settled.Store(true)
		c.done <- outcome[T]{err: errStuck}
		return c
	}
	started := o.Now()
	settle := func(res outcome[T]) bool {
		if !c.settled.CompareAndSwap(false, true) {
			return false
		}
		res.took = o.Now().Sub(started)
		c.done <- res
		return true
	}
	abandon := context.AfterFunc(ctx, func() {
		to.abandoned.Add(1)
		if !settle(outcome[T]{err: ctx.Err()}) {
			to.abandoned.Add(-1) // the callee was just in time
		}
	})
	c.end = func() { abandon(); cancel() }
	go func() {
		if !settle(protect(ctx, o.Logger, to.name, fn)) {
			to.abandoned.Add(-1)
		}
	}()
	return c
}

// wait returns the outcome, or a timeout if the call's context ended first.
func (c *call[T]) wait() outcome[T] {
	defer c.end()
	o := <-c.done
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
func protect[T any](
	ctx context.Context, log *slog.Logger, name string, fn func(context.Context) (T, error),
) (o outcome[T]) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "call panicked", "callee", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o = outcome[T]{err: errPanicked}
		}
	}()
	o.result, o.err = fn(ctx)
	return o
}
