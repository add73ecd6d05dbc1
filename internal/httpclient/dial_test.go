package httpclient

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

// goOffline is GoOffline for one test.
func goOffline(t *testing.T) {
	GoOffline()
	t.Cleanup(func() { offline.Store(false) })
}

// TestOffline: while offline nothing but this machine is connected to, whatever a name
// may resolve to and whatever proxy the environment names.
func TestOffline(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	d := net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: nil}}
	goOffline(t)
	for _, host := range []string{"localhost", "LOCALHOST", "127.0.0.1", "::ffff:127.0.0.1"} {
		conn, err := Dial(d)(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		conn.Close()
	}
	for _, host := range []string{
		"example.com", "localhost.example.com", "localhost.", "192.0.2.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "::", "fe80::1%lo", "127.0.0.1.nip.io", "",
	} {
		if _, err := Dial(d)(t.Context(), "tcp", net.JoinHostPort(host, port)); !errors.Is(err, ErrOffline) || !errors.Is(err, ragctx.ErrDenied) {
			t.Errorf("%q: %v", host, err)
		}
	}
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	r := &http.Request{URL: &url.URL{Scheme: "https", Host: "example.com"}}
	if u, err := Proxy(r); u != nil || err != nil {
		t.Errorf("proxy %v, %v", u, err)
	}
}

// TestOfflineClients: a service elsewhere is refused when it is named, not at the first
// question, and one on this machine is asked.
func TestOfflineClients(t *testing.T) {
	goOffline(t)
	if _, err := ParseEndpoint("https://service.example.com/v1", "key"); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "offline") {
		t.Errorf("%v", err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) }))
	defer s.Close()
	u, err := ParseEndpoint(s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{URL: u})
	defer c.Close()
	if _, err := c.Post(t.Context(), request()); err != nil {
		t.Error(err)
	}
}
