package fetch

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Hosts are the allowed hosts. The zero value allows none.
type Hosts struct {
	list []allowedHost
	nets []netip.Prefix
}

// allowedHost is one entry of the list.
type allowedHost struct {
	name string // in ASCII and lower case
	port string // "" means ports 80 and 443
	sub  bool   // matches the subdomains of name
	// asPrivateAddress says that the name may resolve to a private address.
	private bool
}

// ParseHosts parses a list of hosts:
//
//	docs.example.com       on ports 80 and 443
//	docs.example.com:8443  on that port only
//	*.example.com          all subdomains
//	10.1.2.3, [::1]:8080   addresses
//	10.1.0.0/16            addresses that other entries' names may resolve to
//
// Names and addresses that are listed explicitly may be private. They may not be link-local, where
// cloud machines get their credentials, unless the list has the address itself or a network that
// contains it. Subdomains under "*." must have public addresses, or addresses in a listed network.
func ParseHosts(entries []string) (Hosts, error) {
	var h Hosts
	for _, e := range entries {
		e = strings.TrimSpace(e)
		if p, err := netip.ParsePrefix(e); err == nil {
			h.nets = append(h.nets, p.Masked())
			continue
		}
		a, err := parseHost(e)
		if err != nil {
			return Hosts{}, err
		}
		h.list = append(h.list, a)
	}
	return h, nil
}

func parseHost(entry string) (allowedHost, error) {
	bad := ragctx.Invalid("allow_hosts",
		"%q is not a host; use docs.example.com, docs.example.com:8443, *.example.com, an address, or a network such as 10.1.0.0/16",
		ragctx.Clip(entry))
	name, sub := strings.CutPrefix(entry, "*.")
	if ip, err := netip.ParseAddr(name); err == nil && ip.Is6() {
		name = "[" + name + "]"
	}
	u, err := url.Parse("http://" + name)
	if err != nil || name == "" || u.Host != name || u.User != nil || strings.Contains(name, "*") {
		return allowedHost{}, bad
	}
	a := allowedHost{port: u.Port(), sub: sub, private: !sub}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		a.name = ip.WithZone("").String()
	} else if a.name, err = idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), ".")); err != nil || a.name == "" {
		return allowedHost{}, bad
	}
	return a, nil
}

// With returns h extended by the host and port of a URL given by the operator. The name must
// resolve to public addresses, unless it is an address, localhost, or also in h: a copied link
// may lead to an address that its name does not show. An error is an [*Error].
func (h Hosts) With(raw string) (Hosts, error) {
	u, err := parse(raw)
	if err != nil {
		return h, err
	}
	_, err = netip.ParseAddr(u.Hostname())
	a := allowedHost{name: u.Hostname(), port: portOf(u), private: err == nil || u.Hostname() == "localhost"}
	h.list = append(slices.Clip(h.list), a)
	return h, nil
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return defaultPort(u.Scheme)
}

// allows reports whether the host of a URL is allowed.
func (h Hosts) allows(u *url.URL) bool {
	return slices.ContainsFunc(h.list, func(a allowedHost) bool { return a.covers(u.Hostname(), portOf(u)) })
}

func (a allowedHost) covers(name, port string) bool {
	if a.port == "" && port != "80" && port != "443" || a.port != "" && port != a.port {
		return false
	}
	return a.name == name && !a.sub || a.sub && strings.HasSuffix(name, "."+a.name)
}

// allowsAddress reports whether a host may be contacted at an address.
func (h Hosts) allowsAddress(name, port string, ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if httpclient.IsPublic(ip) || slices.ContainsFunc(h.nets, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return true
	}
	return slices.ContainsFunc(h.list, func(a allowedHost) bool {
		return a.private && a.covers(name, port) && (!ip.IsLinkLocalUnicast() || a.name == ip.String())
	})
}
