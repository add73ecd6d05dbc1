package httpclient

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/ragctx/ragctx"
)

// ErrOffline is the error of a connection that was refused because this process is offline. It
// matches [ragctx.ErrDenied].
var ErrOffline = fmt.Errorf("%w: ragctx is offline and connects only to this machine", ragctx.ErrDenied)

// offline applies to the whole process and is never unset, so that no client can miss the setting.
var offline atomic.Bool

// GoOffline restricts this process to loopback connections, permanently. Names other than localhost
// are not resolved, and proxies are not used, because both would send data to other machines.
func GoOffline() { offline.Store(true) }

// Permit returns [ErrOffline] if this process may not connect to host, which is a name or an
// address.
func Permit(host string) error {
	if !offline.Load() || IsLoopback(host) {
		return nil
	}
	return fmt.Errorf("%w: %s is refused", ErrOffline, ragctx.Clip(host))
}

// IsLoopback reports whether host is localhost or a loopback address. It does not resolve names.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// Unresolved returns a host as it is, for clients that would resolve it before they call the function of [Dial].
func Unresolved(_ context.Context, host string) ([]string, error) { return []string{host}, nil }

// Dial returns a DialContext function for [http.Transport] that uses d and enforces [GoOffline].
// Every connection of this module is made by it; a test enforces that.
func Dial(d net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if network == "unix" { // a socket of this machine
			return d.DialContext(ctx, network, addr)
		}
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		if err := Permit(host); err != nil {
			return nil, err
		}
		if offline.Load() && strings.EqualFold(host, "localhost") {
			return dialLoopback(ctx, d, network, port) // not resolved: the resolver may return other addresses
		}
		return d.DialContext(ctx, network, addr)
	}
}

// dialLoopback connects to a port of this machine.
func dialLoopback(ctx context.Context, d net.Dialer, network, port string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		if six, err := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err == nil {
			return six, nil
		}
	}
	return conn, err
}

// Proxy returns the environment's proxy for a request, or nil while this process is offline.
func Proxy(r *http.Request) (*url.URL, error) {
	if offline.Load() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}
