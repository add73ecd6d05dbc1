package session

import "context"

type onceKey struct{}

// Once returns a context in which methods of a [Storage] that make a session do so once for a
// request, which is named as no other one ever is, for the session keeps the name: a session
// that was made for it is as if it had just been made, whatever became of it since. That is
// for who cannot know whether an earlier attempt was carried out. It travels in the context
// as conditions do, see [If].
func Once(ctx context.Context, request string) context.Context {
	return context.WithValue(ctx, onceKey{}, request)
}

// OnceOf returns the request of a context, "" if it has none.
func OnceOf(ctx context.Context) string {
	request, _ := ctx.Value(onceKey{}).(string)
	return request
}
