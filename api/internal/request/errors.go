package request

import (
	"errors"
	"strconv"

	"github.com/ragctx/ragctx"
)

// AtIndex adds the index of a list element to the field of err.
func AtIndex(err error, field string, i int) error {
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		return &ragctx.FieldError{Field: field + "[" + strconv.Itoa(i) + "]", Problem: f.Problem, Kind: f.Kind}
	}
	return err
}
