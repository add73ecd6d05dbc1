package session

import "context"

type requestIDKey struct{}

// WithRequestID returns a context that makes the creation of a session idempotent for a request.
// The session stores the id, which must be unique: if a session with this request id exists,
// creating it again succeeds, whatever has happened to the session since. Clients use it to retry
// when they cannot know whether an earlier attempt succeeded. It travels in the context for the
// same reason as [WithCondition].
func WithRequestID(ctx context.Context, request string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, request)
}

// RequestIDOf returns the request id of a context, or "".
func RequestIDOf(ctx context.Context) string {
	request, _ := ctx.Value(requestIDKey{}).(string)
	return request
}
