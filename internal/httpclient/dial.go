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

// ErrOffline is the error of a connection that was not made because this process is
// offline. It matches [ragctx.ErrDenied].
var ErrOffline = fmt.Errorf("%w: ragctx is offline, so that it connects to nothing but this machine", ragctx.ErrDenied)

// offline is of the whole process, and never unset: what holds for all connections
// must not depend on each client being told.
var offline atomic.Bool

// GoOffline has this process connect to nothing but loopback addresses from now on.
// There is no way back. Names are not even looked up, but for localhost, and proxies not
// used: they would carry it on.
func GoOffline() { offline.Store(true) }

// Permit returns an [ErrOffline] about a host, which is a name or an address, that this
// process may not connect to.
func Permit(host string) error {
	if !offline.Load() || OnThisMachine(host) {
		return nil
	}
	return fmt.Errorf("%w: not to %s", ErrOffline, ragctx.Clip(host))
}

// OnThisMachine reports whether what is sent to a host stays on this machine. Names are
// not resolved.
func OnThisMachine(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// Dial makes the connections of every client of this module, by d, as
// [http.Transport].DialContext does. A test fails for whoever connects in another way.
func Dial(d net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		if err := Permit(host); err != nil {
			return nil, err
		}
		if offline.Load() && strings.EqualFold(host, "localhost") {
			return local(ctx, d, network, port) // whatever the resolver takes it for
		}
		return d.DialContext(ctx, network, addr)
	}
}

// local connects to a port of this machine.
func local(ctx context.Context, d net.Dialer, network, port string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		if six, err := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err == nil {
			return six, nil
		}
	}
	return conn, err
}

// Proxy is the proxy of the environment for a request; none while this process is
// offline.
func Proxy(r *http.Request) (*url.URL, error) {
	if offline.Load() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}
