package fetch

import (
	"net/http"
	"strings"
	"testing"
)

// TestNotationsOfInsideAddresses redirects a page of an allowed site to private addresses, in every
// notation that some URL parser accepts as an address or a file. None of them is requested.
func TestNotationsOfInsideAddresses(t *testing.T) {
	inside := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("what is inside was asked") })
	port := inside.url[strings.LastIndexByte(inside.url, ':'):]
	var to string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
	for _, host := range []string{
		"127.0.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0",
		"0.0.0.0", "127.0.0.1.", "localhost", "LOCALHOST.",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
		"[2002:7f00:1::]", "[0:0:0:0:0:ffff:7f00:1]", "[fe80::1%25lo]",
		"１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "ⓛocalhost", "127.0.0.1%00.example.com", "a@127.0.0.1",
		"example.com@127.0.0.1", "127.0.0.1#@example.com",
		"169.254.169.254", "metadata.google.internal", "localtest.invalid", "%31%32%37.0.0.1",
	} {
		for _, target := range []string{
			"http://" + host + port + "/", "http://" + host + "/",
			"//" + host + port + "/", `http:\\` + host + port + `\`, "http:///" + host + port + "/",
		} {
			to = target
			if p, err := s.Get(t.Context(), s.url+"/start", ""); err == nil {
				t.Errorf("%q leads to %s: %q", target, p.At, p.Data)
			}
		}
	}
	for _, target := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_INFO",
		"data:text/plain,x", "javascript:alert(1)", "dict://127.0.0.1/",
		"unix:///var/run/docker.sock", "http+unix://x/", "jar:http://127.0.0.1!/", "ldap://127.0.0.1/", "http://[", "http://", "\x00",
	} {
		to = target
		if p, err := s.Get(t.Context(), s.url+"/start", ""); err == nil && p.At != s.url+"/start" {
			t.Errorf("%q leads to %s: %q", target, p.At, p.Data)
		}
	}
}
