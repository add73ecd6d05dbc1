package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/trace"
)

type contextKey int

const (
	operationKey contextKey = iota
	seedKey
	changeKey
)

// requestID returns the id of the request that ctx belongs to.
func requestID(ctx context.Context) string { return ragctx.RequestID(ctx) }

const maxRequestID = 128

// validRequestID reports whether a caller's request id is safe to log and return.
func validRequestID(id string) bool {
	return id != "" && len(id) <= maxRequestID && strings.IndexFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.:/+=@", r))
	}) < 0
}

// observe gives every request an id, a log line, and an answer even if its handler panics.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !validRequestID(id) {
			id = s.opts.NewID()
		}
		ctx := ragctx.WithRequestID(c.Request().Context(), id)
		if parent, ok := trace.ParseParent(c.Request().Header.Get("Traceparent")); ok {
			ctx = trace.WithParent(ctx, parent)
		}
		c.SetRequest(c.Request().WithContext(ctx))
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		c.Response().Header().Set("Cache-Control", "no-store")
		err := s.recovered(c, next)
		if err != nil {
			s.handleError(err, c)
		}
		took := time.Since(start)
		s.requests.add(c, took)
		s.access(c, took)
		return nil
	}
}

// recovered calls next and turns a panic into an error.
func (s *Server) recovered(c echo.Context, next echo.HandlerFunc) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler { //nolint:errorlint // this very value, as net/http compares it
			panic(p) // the caller must notice that the answer is cut
		}
		ctx := c.Request().Context()
		s.log.LogAttrs(ctx, slog.LevelError, "request panicked",
			slog.String("request_id", requestID(ctx)), keyAttr(ctx), slog.Any("panic", p), slog.String("stack",
				string(debug.Stack())))
		if c.Response().Committed {
			panic(http.ErrAbortHandler)
		}
		problem := newProblem(http.StatusInternalServerError, "internal",
			"internal error; the server's log has it under this request id")
		problem.cause = fmt.Errorf("internal error: %v\n%s", p, debug.Stack()) // a caller in this process has no log
		err = problem
	}()
	return next(c)
}

// access logs a request with the id of its API key. Health checks and metrics are logged only at
// debug level.
func (s *Server) access(c echo.Context, took time.Duration) {
	r, level := c.Request(), slog.LevelInfo
	if c.Path() == "/healthz" || c.Path() == "/readyz" || c.Path() == metricsPath {
		level = slog.LevelDebug
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	s.log.LogAttrs(r.Context(), level, "request",
		slog.String("request_id", requestID(r.Context())), keyAttr(r.Context()), slog.String("method", r.Method),
		slog.String("route", s.routeOf(c)), slog.String("path", clipPath(askedPath(r))),
		slog.Int("status", c.Response().Status), slog.Int64("bytes", c.Response().Size),
		slog.Float64("took_ms", float64(took.Microseconds())/1000))
}

// routeOf returns the route of a request as documented, even if the request was refused before
// routing.
func (s *Server) routeOf(c echo.Context) string {
	if c.Path() == "" {
		s.echo.Router().Find(c.Request().Method, c.Request().URL.Path, c)
	}
	return cmp.Or(s.patterns[c.Path()], noRoute)
}

// askedPath returns the path as the client sent it. The path for echo's routing has the part after
// an id moved before it.
func askedPath(r *http.Request) string {
	sent, _, _ := strings.Cut(r.RequestURI, "?")
	plain, err := url.PathUnescape(sent)
	if err != nil || !strings.HasPrefix(plain, "/") {
		return r.URL.Path // request with an absolute URL, or from this process
	}
	return plain
}

// keyAttr returns the id of the request's API key, or an empty attribute.
func keyAttr(ctx context.Context) slog.Attr {
	if key := access.From(ctx).Key; key != "" {
		return slog.String("key", key)
	}
	return slog.Attr{}
}

// clipPath limits the length of a path in the log; ids are at most 512 bytes.
func clipPath(p string) string {
	const limit = 600
	if len(p) <= limit {
		return p
	}
	return strings.ToValidUTF8(p[:limit], "") + "…"
}
