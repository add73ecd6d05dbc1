package httpclient

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// Number is a numeric option that must not be negative.
type Number struct {
	Field string
	Value int64
}

// CheckNotNegative returns an error for the first negative number.
func CheckNotNegative(numbers []Number) error {
	for _, n := range numbers {
		if n.Value < 0 {
			return ragctx.Invalid(n.Field, "is negative; leave it out for the default")
		}
	}
	return nil
}

// OneOf joins values for an error message: "a, b or c".
func OneOf[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
