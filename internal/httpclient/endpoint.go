package httpclient

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/ragctx/ragctx"
)

// ParseEndpoint parses and checks the URL of a service and its key, which may be empty. Its errors are
// about the fields url and key. They do not repeat the URL, which may contain secrets.
func ParseEndpoint(raw, key string) (*url.URL, error) {
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c >= 0x7f {
			return nil, ragctx.Invalid("key", "has a space, a line break or another invalid character; copy the key again")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, ragctx.Invalid("url", "is not a URL such as https://service.example.com")
	case u.User != nil:
		return nil, ragctx.Invalid("url", "holds a user or password; put the secret into the key")
	case key != "" && u.Scheme == "http" && !isPrivateHost(u.Hostname()):
		return nil, ragctx.Invalid("url", "is plain http, which would reveal the key on the way to %s; use https", u.Host)
	case Permit(u.Hostname()) != nil:
		return nil, ragctx.Invalid("url",
			"is not on this machine, and ragctx is offline; name a service at localhost, or leave offline out")
	}
	u.Fragment = ""
	return u, nil
}

// isPrivateHost reports whether a host is this machine or in a private network.
func isPrivateHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	if !strings.Contains(host, ".") {
		return true // only a local resolver knows a name without a dot
	}
	for _, suffix := range [...]string{".local", ".internal", ".svc", ".localhost"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}
