package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"

	"github.com/ragctx/ragctx/internal/httpclient"
)

// privateAddressError is the error of a host name that resolves to a private address.
type privateAddressError struct{ name, address string }

// Error implements error.
func (e *privateAddressError) Error() string {
	if ip, err := netip.ParseAddr(e.address); err == nil && ip.Unmap().IsLinkLocalUnicast() {
		return fmt.Sprintf("is at the link-local address %s; to allow it, add a network that contains it to allow_hosts", e.address)
	}
	return fmt.Sprintf("is at the address %s, which is not public; to allow it, add the host %s, or the address, to allow_hosts",
		e.address, e.name)
}

// dialer returns a DialContext function. It checks the address when it is final, right before the
// connection. A nil resolver is the system's.
func (c *Client) dialer(resolver *net.Resolver) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		name, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Timeout: dialTimeout, Resolver: resolver}
		if _, proxy := c.proxies.Load(addr); !proxy {
			d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
				at, err := netip.ParseAddrPort(address)
				if err == nil && c.opts.Hosts.allowsAddress(name, port, at.Addr()) {
					return nil
				}
				return &privateAddressError{name, at.Addr().String()}
			}
		}
		return httpclient.Dial(d)(ctx, network, addr)
	}
}

// proxy returns the environment's proxy for a request. A proxy resolves names itself, so the
// addresses it reaches are not checked.
func (c *Client) proxy(r *http.Request) (*url.URL, error) {
	u, err := httpclient.Proxy(r)
	if err != nil || u == nil {
		return u, err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	if port == "" {
		port = defaultPort(u.Scheme)
	}
	c.proxies.Store(net.JoinHostPort(u.Hostname(), port), true)
	return u, nil
}

// asPrivateAddress returns the error of a connection that was refused because of its address.
func asPrivateAddress(err error) (*privateAddressError, bool) {
	return errors.AsType[*privateAddressError](err)
}
