package mcp

import (
	"cmp"
	"context"
	"net/http"

	"github.com/ragctx/ragctx"
)

// Change is a completed or refused call of a tool that needs more than the role read.
type Change struct {
	Tool      string
	Namespace string // requested namespace; "" if the call was refused earlier
	Target    string // id of the changed object; "" if neither call nor answer has one
	Status    int    // status that REST would have answered
	Erased    bool   // the target was erased
}

// targeted is implemented by arguments and answers with the id of the changed object.
type targeted interface{ target() string }

// erasing is implemented by arguments that can request an erasure.
type erasing interface{ erases() bool }

func (a memoryAddArguments) target() string    { return a.ID }
func (a memoryAddAnswer) target() string       { return a.ID }
func (a memoryForgetArguments) target() string { return a.ID }
func (a memoryForgetArguments) erases() bool   { return a.Erase }
func (a ingestArguments) target() string       { return a.ID }
func (a ingestAnswer) target() string          { return cmp.Or(a.ID, a.JobID) }

// settle records the result of a call.
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
	if n, ok := v.(targeted); ok {
		return n.target()
	}
	return ""
}
