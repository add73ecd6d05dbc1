package resolve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// maxAbandoned bounds the calls of one provider that overran their deadline and
// still run. A provider that never returns would otherwise cost a goroutine per
// query.
const maxAbandoned = 32

var (
	errPanicked = errors.New("panicked")
	errTimeout  = errors.New("timed out")
	errStuck    = errors.New("has too many calls that did not return in time")
)

// entry is a registered provider.
type entry struct {
	Registered
	name       string
	failClosed bool
	abandoned  atomic.Int32
}

// outcome is what came of asking one provider.
type outcome struct {
	result ragctx.ContextResult
	err    error
	took   time.Duration
}

// failedClosed is the failure of a provider that the request cannot do without.
// The cause is for the log.
type failedClosed struct{ name string }

func (e failedClosed) Error() string {
	return fmt.Sprintf("required context provider '%s' failed closed", e.name)
}

func (failedClosed) Unwrap() error { return ragctx.ErrProvider }

// ask queries all providers in parallel and waits for each until its deadline,
// in registration order.
func (r *Resolver) ask(ctx context.Context, q ragctx.ContextQuery, entries []*entry) ([]outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	calls := make([]*call, len(entries))
	for i, e := range entries {
		calls[i] = r.start(ctx, e, q)
	}
	out := make([]outcome, len(entries))
	for i, e := range entries {
		out[i] = calls[i].wait()
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("resolve context: %w", err)
		}
		if err := out[i].err; err != nil {
			r.opts.Logger.WarnContext(ctx, "context provider failed", "provider", e.name, "error", err)
			if e.failClosed {
				return nil, failedClosed{e.name}
			}
		}
	}
	return out, nil
}

// call is one query to one provider. Whoever is first to settle it, the
// provider's goroutine or the one that waits, decides whether its result counts;
// a late result is thrown away and nothing is shared with it.
type call struct {
	ctx     context.Context
	cancel  context.CancelFunc
	entry   *entry
	now     func() time.Time
	started time.Time
	settled atomic.Bool
	done    chan outcome
}

func (r *Resolver) start(ctx context.Context, e *entry, q ragctx.ContextQuery) *call {
	c := &call{entry: e, now: r.opts.Now, started: r.opts.Now(), done: make(chan outcome, 1)}
	c.ctx, c.cancel = context.WithTimeout(ctx, e.Timeout)
	if e.abandoned.Load() >= maxAbandoned {
		c.settled.Store(true)
		c.done <- outcome{err: errStuck}
		return c
	}
	go func() {
		o := r.query(c.ctx, e, q)
		if c.settled.CompareAndSwap(false, true) {
			c.done <- o
			return
		}
		e.abandoned.Add(-1)
	}()
	return c
}

// wait returns the outcome, or a timeout as soon as the call's context ends.
func (c *call) wait() outcome {
	defer c.cancel()
	var o outcome
	select {
	case o = <-c.done:
	case <-c.ctx.Done():
		c.entry.abandoned.Add(1)
		if c.settled.CompareAndSwap(false, true) {
			o = outcome{err: c.ctx.Err()}
			break
		}
		c.entry.abandoned.Add(-1)
		o = <-c.done // it was just in time
	}
	o.took = c.now().Sub(c.started)
	if errors.Is(o.err, context.DeadlineExceeded) {
		o.err = fmt.Errorf("%w after %v", errTimeout, c.entry.Timeout)
	}
	if o.err != nil {
		o.result = ragctx.ContextResult{}
	}
	return o
}

// query calls the provider and turns a panic into an error.
func (r *Resolver) query(ctx context.Context, e *entry, q ragctx.ContextQuery) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			r.opts.Logger.ErrorContext(ctx, "context provider panicked",
				"provider", e.name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o = outcome{err: errPanicked}
		}
	}()
	o.result, o.err = e.Provider.Query(ctx, q)
	return o
}

// publicText says what failed without what only the log should hold: the text
// of errors that were made for the caller, and of nothing else.
func publicText(err error) string {
	if err == nil {
		return ""
	}
	code, _ := ragctx.CodeOf(err)
	switch {
	case errors.Is(err, errTimeout), errors.Is(err, errPanicked), errors.Is(err, errStuck), code != "internal":
		return err.Error()
	default:
		return "failed; the log has the cause"
	}
}
