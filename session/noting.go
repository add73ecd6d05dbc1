package session

import "context"

type notingKey struct{}

// Noting returns a context in which methods of a [Storage] that make or change a session put the
// version that it has by that into at: who looks afterwards may see what others have made of
// it. Of several changes in turn the last one counts; at is not for several at a time.
func Noting(ctx context.Context, at *Version) context.Context {
	return context.WithValue(ctx, notingKey{}, at)
}

// Note puts a version where the context wants it. Implementations of [Storage] call it when a
// change is durable.
func (v Version) Note(ctx context.Context) {
	if at, ok := ctx.Value(notingKey{}).(*Version); ok {
		*at = v
	}
}
