package httpclient

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/ragctx/ragctx"
)

// onlyPublic is a ControlContext function of [net.Dialer]. It refuses an address that is not public when the
// address is final, right before the connection, so that a name cannot lead into a private network.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && IsPublic(at.Addr().Unmap().WithZone("")) {
		return nil
	}
	return fmt.Errorf("%w: its address is not public", ragctx.ErrDenied)
}

// nonPublic lists the non-public networks that [netip.Addr.IsGlobalUnicast] and IsPrivate do not
// cover (RFC 6890 and its registry).
var nonPublic = prefixes(
	"::/96", "::ffff:0:0:0/96", "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

// nat64 contains the public IPv4 Internet as seen from an IPv6-only network.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// IsPublic reports whether an address belongs to the public Internet.
func IsPublic(ip netip.Addr) bool {
	if nat64.Contains(ip) {
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(nonPublic, func(p netip.Prefix) bool { return p.Contains(ip) })
}
