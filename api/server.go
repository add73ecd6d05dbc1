// Package api is the HTTP API: a server for an [engine.Engine], and a client for that server.
//
// Every route is described in /openapi.json, which a test verifies. Answers are JSON. Errors are
// problems (RFC 9457, see [Problem]) that name the faulty field by its path, the limit and the
// remedy.
//
// Without API keys every client is admin. The server then listens on loopback addresses only, and
// rejects requests whose Host or Origin header names another machine. With keys, every request but
// the health checks needs one, and the engine enforces its grant (see package access).
package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/api/internal/compat/mem0"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/providers/docs"
)

// DefaultMaxBodyBytes fits a document of the maximum text length with metadata and JSON escapes.
const DefaultMaxBodyBytes = 40 << 20

// Timeouts of a connection. Handlers have no timeout of their own; they run until the caller gives
// up.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute // whole request
	writeTimeout      = 5 * time.Minute // from the end of the request header to the end of the answer
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// Options configures a [Server]. The zero value works.
type Options struct {
	// MaxBodyBytes limits a request body; 0 is [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// MaxFileBytes limits a file as a body; 0 is [docs.DefaultMaxConvertBytes].
	MaxFileBytes int64
	// MaxBulkItems and MaxBulkBytes limit the documents of a bulk request and their total text; 0
	// is [engine.DefaultMaxBulkItems] and [engine.DefaultMaxBulkBytes].
	MaxBulkItems int
	MaxBulkBytes int64
	// BodyMemory limits the memory of all bodies in progress; 0 is [DefaultBodyMemory]. Further
	// requests are refused with a retry hint.
	BodyMemory int64
	// Large is called before a request reads a large body; the returned func is called after the
	// request. It may be nil.
	Large func() (done func())
	// AllowHosts are additional lower-case host names of the server, besides those of this machine.
	// If it is empty, any name is allowed if keys are required, and none otherwise.
	AllowHosts []string
	// AllowOrigins are origins of web pages that may call the server, in lower case, such as
	// https://app.example.com. Pages of this machine are always allowed.
	AllowOrigins []string
	// InsecureHTTP allows other machines to connect without TLS, for a reverse proxy that
	// terminates it.
	InsecureHTTP bool
	// Limits bound the requests of each API key.
	Limits Limits
	// TLS enables HTTPS; nil is HTTP.
	TLS *tls.Config
	// RequireKeys requires API keys even if none exist. Keys are always required once one exists,
	// and if other machines can reach the server.
	RequireKeys bool
	// ShutdownTimeout is how long requests in flight may take after shutdown begins; 0 is ten
	// seconds.
	ShutdownTimeout time.Duration
	// MCP answers at /mcp, after the same checks as other requests; nil disables it. It serves the
	// Model Context Protocol over streamable HTTP, which OpenAPI cannot describe.
	MCP http.Handler
	// Console returns the handler of the console, which answers at /console; nil disables it. The handler
	// reaches the server through clients with the keys of its visitors.
	Console func(client func(key string) *Client) http.Handler
	// Compat names the APIs of other programs that are served, see [Shapes]; nil is all of them.
	Compat []string
	// Version is the program's version, for the OpenAPI document.
	Version string

	NewID func() string // generates request ids; nil is UUID v7
	Log   *slog.Logger
}

func (o Options) withDefaults() Options {
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, DefaultMaxBodyBytes)
	o.MaxFileBytes = cmp.Or(o.MaxFileBytes, docs.DefaultMaxConvertBytes)
	o.BodyMemory = cmp.Or(o.BodyMemory, DefaultBodyMemory)
	o.ShutdownTimeout = cmp.Or(o.ShutdownTimeout, 10*time.Second)
	o.Version = cmp.Or(o.Version, "dev")
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Server serves an engine over HTTP. It is safe for concurrent use.
type Server struct {
	engine *engine.Engine
	opts   Options
	log    *slog.Logger
	echo   *echo.Echo
	api    huma.API
	spec   func() []byte // the OpenAPI document, built on first use

	patterns map[string]string // echo's patterns, mapped to those in spec

	limits         *limiter
	bodies         *bodyMemory
	gate           *gate
	requests       requestTally
	forwarder      forwarder
	public         atomic.Bool // other machines can reach the server
	inProgress     requestsInProgress
	patience       struct{ header, request time.Duration } // timeouts for slow clients
	extractionWait time.Duration                           // maximum wait for the extraction from a turn
	stopping       chan struct{}                           // closed when shutdown begins
	stopOnce       sync.Once
	sockets        sync.WaitGroup // open WebSockets, which net/http does not track
}

var _ http.Handler = (*Server)(nil)

// New returns a server for eng. The caller closes eng.
func New(eng *engine.Engine, o Options) *Server {
	o = o.withDefaults()
	s := &Server{
		engine: eng, opts: o, log: o.Log, echo: echo.New(), limits: newLimiter(o.Limits),
		bodies: newBodyMemory(o.BodyMemory, o.Large), gate: newGate(), extractionWait: mem0.DefaultWait, stopping: make(chan struct{}),
	}
	s.patience.header, s.patience.request = readHeaderTimeout, readTimeout
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.Pre(s.observe, s.encode, s.guard, s.authenticate, s.limit, checkURL, checkMoved) // this order also logs refused requests
	s.echo.Use(s.forward)
	s.api = humaecho.New(s.echo, s.config())
	s.api.UseMiddleware(s.admit)
	s.routes()
	return s
}

// OpenAPI returns the OpenAPI document for a version of the server, in JSON.
func OpenAPI(version string) []byte { return New(nil, Options{Version: version}).spec() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.echo.ServeHTTP(w, plainPath(r))
}

// Serve answers on ln until ctx ends, then waits up to [Options].ShutdownTimeout for requests in
// flight and aborts the rest. It closes ln. It returns nil after ctx has ended, and fails at once
// with [ragctx.ErrDenied] if [Server.CheckListener] rejects the address of ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if err := s.CheckListener(ln.Addr()); err != nil {
		return errors.Join(err, ln.Close())
	}
	s.public.Store(!isLocal(ln.Addr())) // before the first request: keys stay required even if the last one is revoked
	// Requests in flight outlive ctx, but not the shutdown timeout. The empty grant is the default
	// for unauthenticated requests.
	base, cancel := context.WithCancel(access.With(context.WithoutCancel(ctx), access.Grant{}))
	defer cancel()
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: s.patience.header, ReadTimeout: s.patience.request, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		TLSConfig:   s.opts.TLS,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	srv.RegisterOnShutdown(func() { s.stopOnce.Do(func() { close(s.stopping) }) })
	failed := make(chan error, 1)
	go func() {
		ln := problemListener{ln, s.opts.NewID}
		if s.opts.TLS != nil {
			failed <- srv.ServeTLS(ln, "", "") // the configuration has the certificate
			return
		}
		failed <- srv.Serve(ln)
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", errors.Join(err, srv.Close()))
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeout(base, s.opts.ShutdownTimeout)
	defer stop()
	err := srv.Shutdown(grace)
	if err == nil {
		err = s.socketsClosed(grace)
	}
	if err != nil { // a slow client must not affect the result
		s.log.WarnContext(base, "requests in flight were aborted", "after", s.opts.ShutdownTimeout, "error", err)
		err = srv.Close()
	}
	if serveErr := <-failed; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// socketsClosed waits until no WebSocket is open.
func (s *Server) socketsClosed(ctx context.Context) error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.sockets.Wait() // ends at the latest with the context of the requests
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
