package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// consolePath is the path of the console and of all of its pages.
const consolePath = "/console"

// mountConsole mounts the console. It reaches the server as any client does, with a key and without a
// socket.
func (s *Server) mountConsole() {
	if s.opts.Console == nil {
		return
	}
	console := echo.WrapHandler(s.opts.Console(s.clientWith))
	for _, path := range []string{consolePath, consolePath + "/*"} {
		s.echo.Match([]string{http.MethodGet, http.MethodHead, http.MethodPost}, path, console)
	}
	s.echo.GET("/", func(c echo.Context) error {
		if !wantsPage(c.Request()) {
			return echo.ErrNotFound
		}
		return c.Redirect(http.StatusSeeOther, consolePath)
	})
}

// isConsole reports whether the console answers a request. It finds the caller by itself.
func (s *Server) isConsole(r *http.Request) bool {
	return s.opts.Console != nil && (inConsole(r.URL.Path) || wantsPage(r))
}

func inConsole(path string) bool {
	return path == consolePath || strings.HasPrefix(path, consolePath+"/")
}

// wantsPage reports whether a browser requests the first page of the server.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// ownPage reports whether a page of the console sends a request to the console. Elsewhere the origins of
// the settings decide.
func (s *Server) ownPage(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && s.isConsole(r) && strings.EqualFold(u.Host, r.Host)
}

// clientWith returns a client of this server for one page. Its requests carry a key; "" sends no key.
func (s *Server) clientWith(key string) *Client {
	return newClient("http://127.0.0.1", withKey{inside{server: func() *Server { return s }}, key, new(atomic.Bool)})
}

// withKey sends a key and the id of the outer request with every request. The limits of the key count the
// requests of a page as one.
type withKey struct {
	inside

	key     string
	counted *atomic.Bool // the limits have let a request of the page pass
}

// countedKey is the context key of requests that the limits do not count again.
type countedKey struct{}

// isCounted reports whether the limits have counted the page that sends a request.
func isCounted(ctx context.Context) bool { return ctx.Value(countedKey{}) != nil }

// RoundTrip implements [http.RoundTripper].
func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if k.counted.Load() {
		ctx = context.WithValue(ctx, countedKey{}, true)
	}
	r = r.Clone(ctx)
	if k.key != "" {
		r.Header.Set(echo.HeaderAuthorization, "Bearer "+k.key)
	}
	if id := ragctx.RequestID(r.Context()); id != "" {
		r.Header.Set(echo.HeaderXRequestID, id)
	}
	resp, err := k.inside.RoundTrip(r)
	if err == nil && resp.StatusCode != http.StatusTooManyRequests {
		k.counted.Store(true)
	}
	return resp, err
}
