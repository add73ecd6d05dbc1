// Package api is the HTTP door: a server for an [engine.Engine], and a client
// for that server.
//
// Every route is described in /openapi.json, which a test keeps true. Answers
// are JSON; errors are problems as of RFC 9457 (see [Problem]) that name the
// faulty field by its path, the limit and the remedy.
//
// Without API keys whoever can connect is admin. The server then listens on loopback
// addresses only, and refuses requests whose Host or Origin header names another
// machine. With keys every request but the health checks needs one, whose grant (see
// package access) the engine obeys.
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

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/providers/docs"
)

// DefaultMaxBodyBytes holds a document of the longest text that is accepted,
// with room for its metadata and for the escapes of JSON.
const DefaultMaxBodyBytes = 40 << 20

// Timeouts of a connection. A handler is bounded by its caller's patience.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute // of a whole request
	writeTimeout      = 5 * time.Minute // from the end of the header to the end of the answer
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// Options configures a [Server]. The zero value works.
type Options struct {
	// MaxBodyBytes is the longest request body; 0 is [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// MaxFileBytes is the longest file as a body; 0 is [docs.DefaultMaxConvertBytes].
	MaxFileBytes int64
	// MaxBulkItems and MaxBulkBytes bound the documents of one bulk request and
	// their texts; 0 is [engine.DefaultMaxBulkItems] and [engine.DefaultMaxBulkBytes].
	MaxBulkItems int
	MaxBulkBytes int64
	// BodyMemory is what bodies may take together while their requests are answered; 0 is
	// [DefaultBodyMemory]. Requests beyond it are told to come again.
	BodyMemory int64
	// Large is called when a request begins to read a large body, and what it returns when
	// the request is over; nil for nobody.
	Large func() (done func())
	// AllowHosts are names by which the server may be called, in lower case, besides
	// those of this machine; none is any where requests need keys, and else none.
	AllowHosts []string
	// AllowOrigins are those of web pages that may call the server, such as
	// https://app.example.com in lower case, besides pages of this machine.
	AllowOrigins []string
	// InsecureHTTP lets other machines reach the server without TLS: a reverse proxy
	// in front ends it.
	InsecureHTTP bool
	// Limits bounds what each API key may ask.
	Limits Limits
	// TLS has the server speak HTTPS; nil is HTTP.
	TLS *tls.Config
	// RequireKeys asks for an API key also while there are none. They are asked for
	// anyway as soon as there is one, and where other machines can reach the server.
	RequireKeys bool
	// ShutdownTimeout is how long requests in flight may take to finish once the
	// server is told to stop; 0 is ten seconds.
	ShutdownTimeout time.Duration
	// MCP answers at /mcp, behind all that requests pass here; nil is nothing. It is
	// the Model Context Protocol over streamable HTTP, of which OpenAPI knows nothing.
	MCP http.Handler
	// Version is that of the program, for the OpenAPI document.
	Version string

	NewID func() string // makes request ids; nil is UUID v7
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
	spec   func() []byte // the OpenAPI document, made when it is first asked for

	patterns map[string]string // those of echo, as spec has them

	limits   *limiter
	bodies   *bodyMemory
	gate     *gate
	requests requestTally
	public   atomic.Bool // whether other machines can reach it
	underWay underWay
	patience struct{ header, request time.Duration } // with senders
	learning time.Duration                           // how long what is learnt from a turn is waited for
	stopping chan struct{}                           // closed when the server is told to stop
	stopOnce sync.Once
	sockets  sync.WaitGroup // of WebSockets, which net/http knows nothing of
}

var _ http.Handler = (*Server)(nil)

// New returns a server for eng, which stays the caller's to close.
func New(eng *engine.Engine, o Options) *Server {
	o = o.withDefaults()
	s := &Server{engine: eng, opts: o, log: o.Log, echo: echo.New(), limits: newLimiter(o.Limits), bodies: newBodyMemory(o.BodyMemory, o.Large), gate: newGate(), learning: mem0Learning, stopping: make(chan struct{})}
	s.patience.header, s.patience.request = readHeaderTimeout, readTimeout
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.Pre(s.observe, s.encode, s.guard, s.authenticate, s.limit, checkURL) // in this order: what is refused is logged too
	s.api = humaecho.New(s.echo, s.config())
	s.api.UseMiddleware(s.admit)
	s.routes()
	return s
}

// OpenAPI returns the OpenAPI document of a server of a version, in JSON.
func OpenAPI(version string) []byte { return New(nil, Options{Version: version}).spec() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.echo.ServeHTTP(w, plainPath(r))
}

// Serve answers on ln until ctx ends, and then for as long as
// [Options].ShutdownTimeout until the requests in flight are done; the rest is cut off.
// It closes ln. It returns nil after ctx has ended, and fails at once with
// [ragctx.ErrDenied] if ln is an address that [Server.CheckListener] refuses.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if err := s.CheckListener(ln.Addr()); err != nil {
		return errors.Join(err, ln.Close())
	}
	s.public.Store(!isLocal(ln.Addr())) // before anyone is let in: keys are asked for even if the last one is revoked
	// Requests in flight outlive ctx, but not the shutdown timeout.
	// Who is not authenticated may do nothing, whatever becomes of a context on its way.
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
		if s.opts.TLS != nil {
			failed <- srv.ServeTLS(ln, "", "") // the certificate is in the configuration
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
	if err != nil { // a client that sends the rest of a body whenever it likes must not decide how this ends
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
