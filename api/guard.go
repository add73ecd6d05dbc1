package api

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// CheckListener refuses addresses that other machines can reach, with
// [ragctx.ErrDenied]: there are no API keys, so whoever can connect can read and
// delete everything.
func CheckListener(a net.Addr) error {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%w: %s is not a loopback address, and without API keys everyone who can reach it would be admin; "+
		"listen on 127.0.0.1 or [::1], and put a reverse proxy that authenticates in front", ragctx.ErrDenied, a)
}

// guard lets only this machine's own programs in. A web page whose name was
// made to resolve to this machine (DNS rebinding) shows in the Host header, one
// that sends requests across origins in Origin.
func (s *Server) guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !isLoopback(hostname(r.Host)) {
			return denied("header.Host", r.Host, "call the server as localhost, 127.0.0.1 or [::1]; a reverse proxy must set Host to that")
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || u.Host == "" || !isLoopback(u.Hostname()) {
				return denied("header.Origin", origin, "only pages of this machine may call the server")
			}
		}
		return next(c)
	}
}

func denied(location, value, remedy string) *Problem {
	code, status := ragctx.CodeOf(ragctx.ErrDenied)
	return newProblem(status, string(code), "the request does not come from this machine",
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
