package fetch

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ragctx/ragctx/internal/httpclient"
)

func TestCanonical(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTP://Example.COM":                    "http://example.com/",
		"https://example.com:443/a#b":           "https://example.com/a",
		"http://example.com:443/":               "http://example.com:443/",
		"https://example.com./a/./b/../c":       "https://example.com/a/c",
		"https://example.com/a//b/":             "https://example.com/a//b/",
		"https://example.com/a%2Fb?q=%20#x":     "https://example.com/a%2Fb?q=%20",
		"https://example.com?":                  "https://example.com/",
		"https://b\u00fccher.example/\u00e4":    "https://xn--bcher-kva.example/%C3%A4",
		" https://[::1]:8080/ ":                 "https://[::1]:8080/",
		"https://example.com/../../etc/passwd":  "https://example.com/etc/passwd",
		"https://example.com/a b":               "https://example.com/a%20b",
		"https://[fe80::1%25eth0]/":             "https://[fe80::1]/",
		"https://example.com/x?redirect=//evil": "https://example.com/x?redirect=//evil",
	} {
		got, err := Canonical(raw)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", raw, got, err, want)
		}
		if again, err := Canonical(got); err == nil && again != got {
			t.Errorf("%q: %q again is %q", raw, got, again)
		}
	}
	for _, raw := range []string{
		"", "example.com", "ftp://example.com/", "http://", "http:///a", "file:///etc/passwd", "http://a b/", "http://\x00/",
		"https://user:secret@example.com/", "http://*/", "http://example.com/" + strings.Repeat("a", 512), "http://example.com:port/",
	} {
		if got, err := Canonical(raw); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
}

func TestHosts(t *testing.T) {
	h, err := ParseHosts([]string{
		"docs.example.com", "*.example.org", "api.example.com:8443", " B\u00fccher.example",
		"::1", "[::2]:80", "10.0.0.1", "*.corp.example:81", "10.2.0.0/16",
	})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]bool{
		"https://docs.example.com/":       true,
		"http://docs.example.com/":        true,
		"https://docs.example.com:8443/":  false,
		"https://xdocs.example.com/":      false,
		"https://docs.example.com.evil/":  false,
		"https://a.example.org/":          true,
		"https://a.b.example.org/":        true,
		"https://example.org/":            false,
		"https://evilexample.org/":        false,
		"https://api.example.com:8443/":   true,
		"https://api.example.com/":        false,
		"https://xn--bcher-kva.example/":  true,
		"http://[::1]/":                   true,
		"http://[::2]/":                   true,
		"https://[::2]/":                  false,
		"http://10.0.0.1/":                true,
		"http://10.2.0.1/":                false, // a network allows no host
		"http://wiki.corp.example:81/":    true,
		"http://wiki.corp.example/":       false,
		"https://docs.example.com.:443/x": true,
	} {
		u, err := parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.allows(u); got != want {
			t.Errorf("%s: allowed is %v", raw, got)
		}
	}
	for _, bad := range []string{
		"", "*", "*.", "a b", "http://a.example", "a.example/", "*.*.example", "a.example:x",
		"a@b.example", "1.2.3.4/99",
	} {
		if _, err := ParseHosts([]string{bad}); err == nil || !strings.Contains(err.Error(), "allow_hosts") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	with, err := Hosts{}.With("https://docs.example.com:444/a")
	if err != nil || !with.allows(&url.URL{Scheme: "https", Host: "docs.example.com:444"}) ||
		with.allows(&url.URL{Scheme: "https", Host: "docs.example.com"}) {
		t.Errorf("named: %+v, %v", with, err)
	}
}

func TestPublic(t *testing.T) {
	for _, ip := range []string{"1.1.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::101:101"} {
		if !httpclient.IsPublic(netip.MustParseAddr(ip)) {
			t.Errorf("%s is not public", ip)
		}
	}
	for _, ip := range []string{
		"127.0.0.1", "127.8.0.1", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "224.0.0.1",
		"255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254",
		"ff02::1", "2001:db8::1",
		"2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2001::1", "fec0::1", "::127.0.0.1", "::8.8.8.8",
		"::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8",
	} {
		if httpclient.IsPublic(netip.MustParseAddr(ip)) {
			t.Errorf("%s is public", ip)
		}
	}
	// The same address in IPv6's clothes.
	if (Hosts{}).allowsAddress("a.example", "80", netip.MustParseAddr("::ffff:127.0.0.1")) {
		t.Error("a mapped loopback address is reached")
	}
}

// nameserver answers every question for an address with those given, one after
// the other, the last one for ever.
func nameserver(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var asked atomic.Int64
	go func() {
		for b := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				k := min(int(asked.Add(1)), len(addresses)) - 1
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(addresses[k]).As4()},
				}}
			}
			if out, err := m.Pack(); err == nil {
				conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestInside: a name that leads into one's own network is asked only if the
// setting names it.
func TestInside(t *testing.T) {
	var asked atomic.Int64
	s := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	port := s.url[strings.LastIndexByte(s.url, ':')+1:]
	page := "http://rebind.example:" + port + "/"
	for _, c := range []struct {
		setting []string
		want    string // in the error
	}{
		{nil, "is at the address 127.0.0.1, which is not public; to allow it, add the host rebind.example"},
		{[]string{"*.example:" + port}, "127.0.0.1, which is not public"},
		{[]string{"rebind.example"}, "127.0.0.1, which is not public"}, // on its own ports only
		{[]string{"rebind.example:" + port}, ""},
		{[]string{"*.example:" + port, "127.0.0.0/8"}, ""},
	} {
		hosts, err := ParseHosts(c.setting)
		if err != nil {
			t.Fatal(err)
		}
		if hosts, err = hosts.With(page); err != nil {
			t.Fatal(err)
		}
		client := New(Options{Hosts: hosts, IgnoreRobots: true})
		client.http.Transport.(*http.Transport).DialContext = client.dialer(nameserver(t, "127.0.0.1"))
		asked.Store(0)
		_, err = client.Get(t.Context(), page, "")
		client.Close()
		if c.want == "" {
			if err != nil || asked.Load() != 1 {
				t.Errorf("%q: %v", c.setting, err)
			}
			continue
		}
		reason(t, err, c.want)
		if asked.Load() != 0 {
			t.Errorf("%q: was asked", c.setting)
		}
	}
}

// TestRebinding: the address of the connection is checked, not one that was looked up before.
func TestRebinding(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("was asked") })
	port := s.url[strings.LastIndexByte(s.url, ':')+1:]
	hosts, err := Hosts{}.With("http://rebind.example:" + port)
	if err != nil {
		t.Fatal(err)
	}
	client := New(Options{Hosts: hosts, IgnoreRobots: true})
	defer client.Close()
	r := nameserver(t, "1.1.1.1", "127.0.0.1")
	if ips, err := r.LookupNetIP(t.Context(), "ip4", "rebind.example"); err != nil || !httpclient.IsPublic(ips[0]) {
		t.Fatalf("%v, %v", ips, err)
	}
	client.http.Transport.(*http.Transport).DialContext = client.dialer(r)
	_, err = client.Get(t.Context(), "http://rebind.example:"+port+"/", "")
	reason(t, err, "127.0.0.1, which is not public")
}

// TestNamed: a host that is given by address, or as localhost, is allowed.
func TestNamed(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	for raw, want := range map[string]bool{"http://127.0.0.1/": true, "http://localhost/": true, "http://router.example/": false} {
		u, _ := parse(raw)
		h, err := Hosts{}.With(raw)
		if err != nil || h.allowsAddress(u.Hostname(), portOf(u), loopback) != want {
			t.Errorf("%s: reached is not %v (%v)", raw, want, err)
		}
	}
	h, _ := Hosts{}.With("http://127.0.0.1:8080/")
	if h.allowsAddress("127.0.0.1", "22", loopback) {
		t.Error("another port is reached")
	}
}

// TestLinkLocalReason: the remedy is one that helps.
func TestLinkLocalReason(t *testing.T) {
	for address, want := range map[string]string{
		"169.254.169.254": "add a network",
		"fe80::1%eth0":    "add a network", "10.0.0.1": "add the host wiki",
	} {
		if got := (&privateAddressError{"wiki", address}).Error(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// TestLinkLocal: a name does not lead to the local link because it is in the list.
func TestLinkLocal(t *testing.T) {
	for _, x := range []struct {
		entries, name, ip string
		want              bool
	}{
		{"wiki.example", "wiki.example", "10.0.0.1", true},
		{"wiki.example", "wiki.example", "169.254.169.254", false},
		{"wiki.example", "wiki.example", "::ffff:169.254.169.254", false},
		{"wiki.example", "wiki.example", "fe80::1%eth0", false},
		{"wiki.example,169.254.0.0/16", "wiki.example", "169.254.1.2", true},
		{"wiki.example,fe80::/10", "wiki.example", "fe80::1%eth0", true},
		{"169.254.1.2", "169.254.1.2", "169.254.1.2", true},
		{"wiki.example,169.254.1.2", "wiki.example", "169.254.1.2", false},
		{"[fe80::1]", "fe80::1", "fe80::1%eth0", true},
	} {
		h, err := ParseHosts(strings.Split(x.entries, ","))
		if err != nil {
			t.Fatal(err)
		}
		if got := h.allowsAddress(x.name, "80", netip.MustParseAddr(x.ip)); got != x.want {
			t.Errorf("%s at %s by %s: %v", x.name, x.ip, x.entries, got)
		}
	}
}
