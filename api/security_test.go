package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

func TestWhereItMayListen(t *testing.T) {
	public, local := &net.TCPAddr{IP: net.IPv4zero}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	f := startPaused(t, Options{})
	check := func(want bool, o Options) {
		t.Helper()
		s := New(f.eng, o)
		if err := s.CheckListener(local); err != nil {
			t.Error(err)
		}
		if err := s.CheckListener(public); (err == nil) != want || err != nil && !errors.Is(err, ragctx.ErrDenied) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	check(false, Options{})
	check(false, Options{InsecureHTTP: true})
	check(false, Options{TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
	check(true, Options{RequireKeys: true, InsecureHTTP: true})
	if _, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Read}); err != nil {
		t.Fatal(err)
	}
	check(false, Options{})
	check(true, Options{InsecureHTTP: true})
	check(true, Options{TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
}

func TestHostsAndOriginsThatAreAllowed(t *testing.T) {
	f := startPaused(t, Options{AllowHosts: []string{"ctx.example.com"}, AllowOrigins: []string{"https://app.example.com"}})
	for header, status := range map[string]int{
		"Host: ctx.example.com:80": 200, "Host: CTX.example.com": 200, "Host: other.example.com": 403, "Host: localhost": 200,
		"Sec-Fetch-Site: cross-site": 403, "Sec-Fetch-Site: same-site": 403, "Sec-Fetch-Site: none": 200, "Sec-Fetch-Site: same-origin": 200,
		"Origin: https://app.example.com": 200, "Origin: http://app.example.com": 403, "Origin: https://app.example.com.evil.example": 403,
	} {
		if a := f.call(t, "GET", "/healthz", "", header); a.status != status {
			t.Errorf("%s: %d, want %d", header, a.status, status)
		}
	}
	a := f.call(t, "GET", "/v1/namespaces", "", "Origin: https://app.example.com")
	if a.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || !slices.Contains(a.header.Values("Vary"), "Origin") {
		t.Errorf("headers %v", a.header)
	}
	a = f.call(t, "OPTIONS", "/v1/context", "", "Origin: https://app.example.com", "Access-Control-Request-Method: POST")
	if a.status != 204 || a.header.Get("Access-Control-Allow-Methods") == "" || a.header.Get("Access-Control-Allow-Headers") == "" {
		t.Errorf("the browser's question: %d %v", a.status, a.header)
	}
	for header, parts := range map[string][]string{
		"Access-Control-Allow-Headers":  {"Authorization", "Mcp-Session-Id", "Mcp-Protocol-Version", "Ragctx-User"},
		"Access-Control-Expose-Headers": {"Etag", "Mcp-Session-Id"},
	} {
		for _, part := range parts {
			if !strings.Contains(strings.ToLower(a.header.Get(header)), strings.ToLower(part)) {
				t.Errorf("%s: %q lacks %s", header, a.header.Get(header), part)
			}
		}
	}
	if a := f.call(t, "GET", "/healthz", "", "Origin: http://localhost"); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a page that is not named sees answers")
	}
	if _, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Read}); err != nil {
		t.Fatal(err)
	}
	if a := f.call(t, "GET", "/healthz", "", "Host: other.example.com"); a.status != 403 {
		t.Errorf("with keys and a list of hosts: %d", a.status)
	}
	open := New(f.eng, Options{})
	if !open.allowsHost("other.example.com") {
		t.Error("with keys and without a list, a host is refused")
	}
}

func TestLimiter(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(Limits{Rate: 2, Burst: 3, Concurrent: 2})
	l.now = func() time.Time { return now }
	enter := func(key string) (func(), time.Duration) { leave, again, _ := l.enter(key); return leave, again }
	one, _ := enter("a")
	two, _ := enter("a")
	if leave, again := enter("a"); leave != nil || again <= 0 {
		t.Error("a third request at a time")
	}
	if leave, _ := enter("b"); leave == nil {
		t.Error("one key's requests count for another")
	}
	one()
	two()
	three, _ := enter("a")
	three()
	leave, again := enter("a")
	if leave != nil || again != time.Second/2 {
		t.Errorf("a fourth request at once: again in %s", again)
	}
	now = now.Add(again)
	if leave, _ := enter("a"); leave == nil {
		t.Error("refused after the time that it was told to wait")
	}
	now = now.Add(time.Hour)
	for range 3 {
		leave, _ := enter("a")
		if leave == nil {
			t.Fatal("no burst after a pause")
		}
		leave()
	}
	if leave, _ := enter("a"); leave != nil {
		t.Error("a pause gives more than a burst")
	}
}

func TestLimitsOverHTTP(t *testing.T) {
	f := startPaused(t, Options{Limits: Limits{Rate: .001, Burst: 2}})
	made, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	key := "X-API-Key: " + made.Text
	for i, want := range []int{200, 200, 429, 429} {
		a := f.call(t, "GET", "/v1/namespaces", "", key)
		if a.status != want {
			t.Fatalf("request %d: %d, want %d", i, a.status, want)
		}
		if want == 429 && (a.header.Get("Retry-After") == "" || a.problem(t).Code != "rate_limited") {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
	if a := f.call(t, "GET", "/healthz", ""); a.status != 200 {
		t.Errorf("the health check: %d", a.status)
	}
}

// TestTLS serves HTTPS, and clients believe the certificate that was announced alone.
func TestTLS(t *testing.T) {
	cert := selfSigned(t)
	f := startPaused(t, Options{})
	s := New(f.eng, Options{TLS: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := serveUntil(t, s, ln)
	defer stop()
	url := "https://" + ln.Addr().String()
	sum := sha256.Sum256(cert.Certificate[0])
	for pin, ok := range map[string]bool{hex.EncodeToString(sum[:]): true, hex.EncodeToString(make([]byte, 32)): false, "": false} {
		c := NewClientWith(url, ClientOptions{Certificate: pin})
		if err := c.Healthz(t.Context()); (err == nil) != ok {
			t.Errorf("pin %q: %v", pin, err)
		}
		c.Close()
	}

	plain := NewClient("http://" + ln.Addr().String())
	defer plain.Close()
	if p, ok := errors.AsType[*Problem](plain.Healthz(t.Context())); !ok || p.Status != http.StatusBadRequest ||
		!strings.Contains(p.Detail, "https://") || p.RequestID == "" {
		t.Errorf("a request without TLS is answered with %+v", p)
	}
}

func serveUntil(t *testing.T, s *Server, ln net.Listener) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	return func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestRevokedKeysEndTheirStreams: who reads a stream when the key goes hears no more.
func TestRevokedKeysEndTheirStreams(t *testing.T) {
	f := startPaused(t, Options{})
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	made, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "r", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/events", "/v1/clusters/c/stream"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", made.Text)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, resp, err)
		}
		if _, err := f.eng.Keys().Revoke(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil { // it ends, or the test runs out of time
			t.Logf("%s ended with %v", path, err)
		}
		_ = resp.Body.Close()
		if made, err = f.eng.Keys().Create(t.Context(), access.Key{Name: "r", Role: access.Read}); err != nil {
			t.Fatal(err)
		}
	}
}
