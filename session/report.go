package session

import "context"

type versionReportKey struct{}

// WithVersionReport returns a context that makes [Storage] methods store the version that they
// create in *at. A caller that read the version afterwards could see later changes of other
// clients. Each change overwrites *at; do not use it for concurrent changes.
func WithVersionReport(ctx context.Context, at *Version) context.Context {
	return context.WithValue(ctx, versionReportKey{}, at)
}

// Report stores a version where the context requests it. Implementations of [Storage] call it when
// a change is durable.
func (v Version) Report(ctx context.Context) {
	if at, ok := ctx.Value(versionReportKey{}).(*Version); ok {
		*at = v
	}
}
