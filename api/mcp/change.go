package mcp

import (
	"cmp"
	"context"
	"net/http"

	"github.com/ragctx/ragctx"
)

// Change is a call of a tool that needs more than the role read, done or refused.
type Change struct {
	Tool      string
	Namespace string // as the call asked for it; "" if it was refused before that was known
	Target    string // the id of what it is about; "" if neither the call nor its answer names one
	Status    int    // as REST would have answered: 200, or that of the error
	Erased    bool   // the target was erased
}

// naming is implemented by arguments and answers that name what a change is about.
type naming interface{ target() string }

// erasing is implemented by arguments that can ask for an erasure.
type erasing interface{ erases() bool }

func (a memoryAddArguments) target() string    { return a.ID }
func (a memoryAddAnswer) target() string       { return a.ID }
func (a memoryForgetArguments) target() string { return a.ID }
func (a memoryForgetArguments) erases() bool   { return a.Erase }
func (a ingestArguments) target() string       { return a.ID }
func (a ingestAnswer) target() string          { return cmp.Or(a.ID, a.JobID) }

// settle fills in what became of a call.
func (c *Change) settle(ctx context.Context, in, out any, err error) {
	c.Target = ragctx.Clip(cmp.Or(targetOf(in), targetOf(out)))
	c.Status = http.StatusOK
	if err != nil {
		_, c.Status = ragctx.CodeOf(cmp.Or(ctx.Err(), err))
		return
	}
	e, ok := in.(erasing)
	c.Erased = ok && e.erases()
}

func targetOf(v any) string {
	if n, ok := v.(naming); ok {
		return n.target()
	}
	return ""
}
