// Package compat connects the APIs of other programs to the server: each is a package below it, with the
// routes of one API. They call the engine only, so that its walls hold for them.
package compat

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Group is the tag of the operations.
const Group = "compatibility"

// Route is an operation and its handler.
type Route struct {
	Operation huma.Operation
	// Input is the type of the request.
	Input reflect.Type

	mount func(huma.API, huma.Operation, After)
}

// After sees the answer or the error of a handler, and returns the error to answer with.
type After func(ctx context.Context, answer any, err error) error

// Handle returns the route of a handler.
func Handle[I, O any](op huma.Operation, h func(context.Context, *I) (*O, error)) Route {
	return Route{Operation: op, Input: reflect.TypeFor[I](), mount: func(api huma.API, op huma.Operation, after After) {
		huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
			out, err := h(ctx, in)
			if err := after(ctx, out, err); err != nil {
				return nil, err
			}
			return out, nil
		})
	}}
}

// Mount registers the route under an operation that is derived from the route's own.
func (r Route) Mount(api huma.API, op huma.Operation, after After) { r.mount(api, op, after) }
