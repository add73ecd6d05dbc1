package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
)

// entry is a registered provider.
type entry struct {
	Registered
	callee

	failClosed bool
}

// reply is the result of querying one provider.
type reply = outcome[ragctx.ContextResult]

// failedClosed is the failure of a provider that the request depends on. The cause is only logged.
type failedClosed struct{ name string }

func (e failedClosed) Error() string {
	return fmt.Sprintf("required context provider '%s' failed closed", e.name)
}

func (failedClosed) Unwrap() error { return ragctx.ErrProvider }

// ask queries all providers in parallel and waits for each until its deadline, in registration
// order.
func (r *Resolver) ask(ctx context.Context, q ragctx.ContextQuery, entries []*entry) ([]reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	calls := make([]*call[ragctx.ContextResult], len(entries))
	for i, e := range entries {
		calls[i] = start(ctx, &r.opts, &e.callee, e.Timeout, func(ctx context.Context) (ragctx.ContextResult, error) {
			return e.Provider.Query(ctx, q)
		})
	}
	out := make([]reply, len(entries))
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

// publicText returns the error text for clients. It omits texts that were not written for them.
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
