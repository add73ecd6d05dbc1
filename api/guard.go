package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// CheckListener rejects addresses that other machines can reach, with [ragctx.ErrDenied], unless
// requests need a key and are encrypted.
func (s *Server) CheckListener(a net.Addr) error {
	switch {
	case isLocal(a):
		return nil
	case !s.asksForKeys():
		return fmt.Errorf("%w: %s is not a loopback address, and without API keys every client that reaches it "+
			"is admin; make a key with \"ragctx keys create\", or listen on 127.0.0.1 or [::1]", ragctx.ErrDenied, a)
	case s.opts.TLS == nil && !s.opts.InsecureHTTP:
		return fmt.Errorf("%w: %s is not a loopback address, and without TLS keys and texts can be read in "+
			"transit; give a certificate (--tls-cert, --tls-key), or say --insecure-http if a reverse proxy "+
			"terminates TLS, or listen on 127.0.0.1 or [::1]", ragctx.ErrDenied, a)
	}
	return nil
}

// isLocal reports whether only this machine can reach an address.
func isLocal(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// fetchSite is the header in which a browser sends the origin relation of a page (Fetch Metadata).
const fetchSite = "Sec-Fetch-Site"

// guard rejects requests from web pages of other sites. DNS rebinding shows in the Host header, a
// cross-origin request in the Origin header.
func (s *Server) guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !s.allowsHost(hostname(r.Host)) {
			return denied("header.Host", r.Host, "call the server as localhost, 127.0.0.1 or [::1], or name this "+
				"host in allow_server_hosts")
		}
		origins := r.Header.Values(echo.HeaderOrigin)
		for _, origin := range origins {
			if !s.ownPage(r, origin) && (inConsole(r.URL.Path) || !s.allowsOrigin(origin)) {
				return denied("header.Origin", origin, "only pages of this machine and of allow_origins may call "+
					"the server")
			}
		}
		// Browsers send no Origin for embedded resources and links.
		if site := r.Header.Get(fetchSite); len(origins) == 0 && (site == "cross-site" || site == "same-site") {
			return denied("header."+fetchSite, site, "pages of other sites may not call the server")
		}
		if len(s.opts.AllowOrigins) > 0 {
			c.Response().Header().Add(echo.HeaderVary, echo.HeaderOrigin)
		}
		if len(origins) == 1 && slices.Contains(s.opts.AllowOrigins, strings.ToLower(origins[0])) && s.shares(c, origins[0]) {
			return nil
		}
		return next(c)
	}
}

// allowsHost reports whether the server may be called by a host name. If keys are required, any
// name is safe, because a page has no key.
func (s *Server) allowsHost(host string) bool {
	if isLoopback(host) || slices.Contains(s.opts.AllowHosts, strings.ToLower(host)) {
		return true
	}
	return len(s.opts.AllowHosts) == 0 && s.asksForKeys()
}

func (s *Server) allowsOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && isLoopback(u.Hostname()) || slices.Contains(s.opts.AllowOrigins,
		strings.ToLower(origin))
}

// CORS headers for allowed origins.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsSent    = "Authorization, X-API-Key, Content-Type, Idempotency-Key, If-Match, If-None-Match, " +
		"Last-Event-ID, X-Request-Id, " + corsAgents
	corsSeen    = "ETag, Idempotency-Replayed, Location, Retry-After, X-Request-Id, Mcp-Session-Id, Mcp-Protocol-Version"
	corsAgents  = "Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Ragctx-Namespace, Ragctx-User, Ragctx-Agent, Ragctx-Session"
	corsSeconds = "600"
)

// shares adds the CORS headers to an answer. It reports whether the request was a preflight, which
// it answers.
func (s *Server) shares(c echo.Context, origin string) bool {
	r, h := c.Request(), c.Response().Header()
	h.Set(echo.HeaderAccessControlAllowOrigin, origin)
	h.Set(echo.HeaderAccessControlExposeHeaders, corsSeen)
	if r.Method != http.MethodOptions || r.Header.Get(echo.HeaderAccessControlRequestMethod) == "" {
		return false
	}
	h.Set(echo.HeaderAccessControlAllowMethods, corsMethods)
	h.Set(echo.HeaderAccessControlAllowHeaders, corsSent)
	h.Set(echo.HeaderAccessControlMaxAge, corsSeconds)
	c.Response().WriteHeader(http.StatusNoContent)
	return true
}

func denied(location, value, remedy string) *Problem {
	code, status := ragctx.CodeOf(ragctx.ErrDenied)
	return newProblem(status, string(code), "the request comes from a host or origin that is not allowed",
		Fault{Location: location, Message: fmt.Sprintf("is %q; %s", ragctx.Clip(value), remedy)})
}

// hostname returns a Host header without its port and brackets.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
