package httpclient

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/ragctx/ragctx"
)

// TestOnlyPublic checks addresses, and that a name which leads to this machine is refused after it is resolved.
func TestOnlyPublic(t *testing.T) {
	for address, ok := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true, "127.0.0.1:80": false, "10.1.2.3:80": false, "[::1]:80": false,
		"[::ffff:192.168.0.1]:80": false, "169.254.169.254:80": false, "[fe80::1%eth0]:80": false, "no address": false,
	} {
		if err := onlyPublic(t.Context(), "tcp", address, nil); (err == nil) != ok || err != nil && !errors.Is(err, ragctx.ErrDenied) {
			t.Errorf("%s: %v", address, err)
		}
	}
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(u.Host)
	u.Host = "localhost:" + port // a name that leads to this machine
	for public, want := range map[bool]int{true: 0, false: 1} {
		requests = 0
		c := New(Options{URL: u, Public: public})
		_, err := c.Post(t.Context(), Request{MaxAnswer: 10})
		c.Close()
		if requests != want || (err != nil) != public {
			t.Errorf("public %v: %d requests, %v", public, requests, err)
		}
	}
}
