package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// dial opens a connection on which a test writes what it likes.
func (f *fixture) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// TestUnreadableRequests checks that requests that net/http refuses are answered with problems.
func TestUnreadableRequests(t *testing.T) {
	f := start(t, Options{})
	for request, status := range map[string]int{
		"GET /v1/documents/a%zz HTTP/1.1\r\nHost: localhost\r\n\r\n":                                400,
		"GET /healthz HTTP/1.1\r\n\r\n":                                                             400,
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n":                              400,
		"GET /healthz HTTP/7.0\r\nHost: localhost\r\n\r\n":                                          505,
		"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: smoke\r\n\r\n":             501,
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<21) + "\r\n\r\n": 431,
	} {
		conn := f.dial(t)
		_, _ = conn.Write([]byte(request)) // the server may close the connection before it has read everything
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%.60q: %v", request, err)
			continue
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status {
			t.Errorf("%.60q: %d, %v", request, resp.StatusCode, err)
		}
		answer{resp.StatusCode, resp.Header, string(body)}.problem(t)
	}
}

// TestSlowClients opens connections that send a byte now and then. The server ends them, and answers
// others meanwhile.
func TestSlowClients(t *testing.T) {
	f := start(t, Options{}, func(s *Server) { s.patience.header, s.patience.request = time.Second, 2*time.Second })
	const clients = 50
	for _, tc := range []struct{ name, head, drip, answer string }{
		{"headers", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "X", "^(HTTP/1.1 40[08] |$)"},
		{"bodies", "POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", " ", "^HTTP/1.1 408 "},
		{"chunks", "POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", "^HTTP/1.1 408 "},
		{"nothing", "", "", "^$"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel() // each takes as long as the server's patience
			var slow sync.WaitGroup
			for range clients {
				conn := f.dial(t)
				slow.Go(func() {
					got := drip(conn, tc.head, tc.drip)
					if ok, _ := regexp.MatchString(tc.answer, got); !ok {
						t.Errorf("answer %q, want %q", got, tc.answer)
					}
				})
			}
			ended := make(chan struct{})
			go func() { slow.Wait(); close(ended) }()
			for answered := 0; ; answered++ {
				if a := f.call(t, "GET", "/v1/namespaces", ""); a.status != http.StatusOK {
					t.Fatalf("status %d", a.status)
				}
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
}

// drip sends a head and then a little again and again until the server ends the connection. It
// returns what was answered.
func drip(conn net.Conn, head, little string) string {
	_, _ = io.WriteString(conn, head)
	answer := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(conn)
		answer <- string(b)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case a := <-answer:
			return a
		case <-tick.C:
			_, _ = io.WriteString(conn, little) // fails once the connection is closed
		}
	}
}

// TestBrokenRequests sends what is no request, or half of one.
func TestBrokenRequests(t *testing.T) {
	f := start(t, Options{})
	const (
		get     = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
		post    = "POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
	)
	for _, tc := range []struct{ name, send, want string }{
		{"oversized header", get + "X-Big: " + strings.Repeat("x", 2*maxHeaderBytes) + "\r\n\r\n", "HTTP/1.1 431 "},
		{"many headers", get + strings.Repeat("X-A: b\r\n", maxHeaderBytes/4) + "\r\n", "HTTP/1.1 431 "},
		{"long path", "GET /" + strings.Repeat("x", 2*maxHeaderBytes) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 431 "},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		{"two hosts", get + "Host: localhost\r\n\r\n", "HTTP/1.1 400 "},
		{"space in a header's name", get + "X y: z\r\n\r\n", "HTTP/1.1 400 "},
		{"no version", "GET /healthz\r\n\r\n", "HTTP/1.1 400 "},
		{"unknown version", "GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n", "HTTP/1.1 505 "},
		{"HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 "},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 64) + "\r\n\r\n", "HTTP/1.1 400 "},
		{"garbage", strings.Repeat("\xff\x00", 100) + "\r\n\r\n", "HTTP/1.1 400 "},
		{"HTTP/1.0", "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", "HTTP/1.0 200 "},
		{"HTTP/1.0 without a host", "GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.0 403 "},
		{"chunk of no size", chunked + "zz\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 400 "},
		{"chunk of a huge size", chunked + "fffffffffffffffff\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 400 "},
		{"chunk of a negative size", chunked + "-2\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 400 "},
		{"chunk longer than it says", chunked + "1\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 400 "},
		{"chunks without an end", chunked + "2\r\n{}\r\n", "HTTP/1.1 400 "},
		{"long chunk extension", chunked + "2;" + strings.Repeat("x", 64<<10) + "\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 400 "},
		{"unknown coding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 501 "},
		{"two lengths", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "HTTP/1.1 400 "},
		{"negative length", post + "Content-Length: -2\r\n\r\n{}", "HTTP/1.1 400 "},
		{"length of letters", post + "Content-Length: two\r\n\r\n{}", "HTTP/1.1 400 "},
		{"body shorter than it says", post + "Content-Length: 50\r\n\r\n{}", "HTTP/1.1 400 "},
		{"body longer than it says", post + "Content-Length: 2\r\n\r\n{}{}{}", "HTTP/1.1 422 "},
		{"upgrade to nothing", get + "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n", "HTTP/1.1 200 "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn := f.dial(t)
			if _, err := io.WriteString(conn, tc.send); err == nil {
				_ = conn.CloseWrite()
			}
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, tc.want) {
				t.Errorf("answer %q, %v; want %q", line, err, tc.want)
			}
			if a := f.call(t, "GET", "/healthz", ""); a.status != http.StatusOK {
				t.Errorf("then status %d", a.status)
			}
		})
	}
}

// TestPipelining sends requests without waiting for answers, which come in order.
func TestPipelining(t *testing.T) {
	f := start(t, Options{})
	conn := f.dial(t)
	const requests = 100
	var all strings.Builder
	for i := range requests {
		fmt.Fprintf(&all, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r-%d\r\n\r\n", i)
	}
	go func() { _, _ = io.WriteString(conn, all.String()) }()
	r := bufio.NewReader(conn)
	for i := range requests {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if got := resp.Header.Get("X-Request-Id"); err != nil || resp.StatusCode != http.StatusOK || got != fmt.Sprintf("r-%d", i) {
			t.Fatalf("answer %d: status %d of %q, %v", i, resp.StatusCode, got, err)
		}
	}
}

// TestHalfClosed sends requests of whose connections the sending side is closed at once.
func TestHalfClosed(t *testing.T) {
	f := start(t, Options{})
	for range 100 {
		conn := f.dial(t)
		_, _ = io.WriteString(conn, "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"query\":\"x\"}")
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // whether it is answered is open: the caller may have gone
	}
	if a := f.call(t, "GET", "/readyz", ""); a.status != http.StatusOK {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	if strings.Contains(f.log.String(), "panic") {
		t.Errorf("log:\n%s", f.log)
	}
}
