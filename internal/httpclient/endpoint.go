package httpclient

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/ragctx/ragctx"
)

// Endpoint reads a service's URL that is to be posted to with a key, which may be
// empty. Its errors are about the fields url and key; they do not repeat the URL,
// which may hold what should not be shown.
func Endpoint(raw, key string) (*url.URL, error) {
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c >= 0x7f {
			return nil, ragctx.Invalid("key", "has a space, a line break or another character that no key has")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, ragctx.Invalid("url", "is not a URL such as https://service.example.com")
	case u.User != nil:
		return nil, ragctx.Invalid("url", "holds a user or password; use the key for what is secret")
	case key != "" && u.Scheme == "http" && !nearby(u.Hostname()):
		return nil, ragctx.Invalid("url", "is plain http, which would show the key to everyone on the way to %s; use https", u.Host)
	case Permit(u.Hostname()) != nil:
		return nil, ragctx.Invalid("url", "is not on this machine, and ragctx is offline; name a service at localhost, or leave offline out")
	}
	u.Fragment = ""
	return u, nil
}

// nearby reports whether a host is on this machine or in a network of one's own.
func nearby(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	if !strings.Contains(host, ".") {
		return true // only a local resolver knows such a name
	}
	for _, suffix := range [...]string{".local", ".internal", ".svc", ".localhost"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}
