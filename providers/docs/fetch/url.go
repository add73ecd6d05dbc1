package fetch

import (
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/ragctx/ragctx"
)

// maxURL is the maximum length of a URL, because it is the id of a document.
const maxURL = ragctx.MaxNameBytes

// IsURL reports whether an argument is a URL and not a path.
func IsURL(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	return ok && rest != "" && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Canonical returns the canonical form of a URL: scheme and host in lower case, the host in ASCII,
// no default port, no fragment, and a path without "." and "..". The error is an [*Error].
func Canonical(raw string) (string, error) {
	u, err := parse(raw)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func parse(raw string) (*url.URL, error) {
	bad := func(reason string) (*url.URL, error) {
		return nil, &Error{URL: ragctx.Clip(hideUser(raw)), Reason: reason}
	}
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || !IsURL(raw) || ragctx.ValidText("", raw) != nil:
		return bad("is not a URL such as https://example.com/guide.html")
	case u.User != nil:
		return bad("holds a user or password, which every answer would show; pages that need them cannot be fetched")
	}
	if u.Host, err = canonicalHost(u); err != nil {
		return bad("has an invalid host name or address")
	}
	u.Scheme, u.Fragment, u.RawFragment, u.ForceQuery = strings.ToLower(u.Scheme), "", "", false
	if u.Path == "" {
		u.Path = "/"
	}
	u = new(url.URL).ResolveReference(u) // removes "." and ".."
	if len(u.String()) > maxURL {
		return bad("is longer than 512 bytes, the limit of an id")
	}
	return u, nil
}

// canonicalHost returns a URL's host in lower case and ASCII, with its port unless that is the
// default of the scheme.
func canonicalHost(u *url.URL) (string, error) {
	name, port := strings.TrimSuffix(u.Hostname(), "."), u.Port()
	if ip, err := netip.ParseAddr(name); err == nil {
		if name = ip.WithZone("").String(); ip.Is6() {
			name = "[" + name + "]"
		}
	} else if name, err = idna.Lookup.ToASCII(name); err != nil || name == "" {
		return "", ragctx.ErrInvalid
	}
	if port != "" && port != defaultPort(u.Scheme) {
		name += ":" + port
	}
	return name, nil
}

func defaultPort(scheme string) string {
	if strings.EqualFold(scheme, "https") {
		return "443"
	}
	return "80"
}

// hideUser returns a URL without its user and password.
func hideUser(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if i := strings.LastIndexByte(rest, '@'); ok && i >= 0 {
		return scheme + "://" + rest[i+1:]
	}
	return raw
}
