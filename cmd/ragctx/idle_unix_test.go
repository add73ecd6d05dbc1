//go:build unix

package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ragctx/ragctx/api"
)

// TestIdleConnections holds 10,000 connections to a server, half of which have sent the half of
// a request, while it answers others.
func TestIdleConnections(t *testing.T) {
	const connections = 10_000
	if testing.Short() {
		t.Skip("-short")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < connections+500 {
		t.Skipf("the limit of open files is %d, which is too few for %d connections: ulimit -n", limit.Cur, connections)
	}
	k := &killer{T: t, dir: t.TempDir()}
	s := k.start()
	defer s.kill(k)
	url, err := s.url()
	if err != nil {
		t.Fatal(err)
	}
	var idle [connections]net.Conn
	defer func() {
		for _, c := range idle {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	for i := range idle {
		if idle[i], err = net.Dial("tcp", strings.TrimPrefix(url, "http://")); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		if i%2 == 0 {
			_, _ = io.WriteString(idle[i], "GET /healthz HTTP/1.1\r\nHost: local")
		}
	}
	client := api.NewClient(url)
	defer client.Close()
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 50 {
				if err := client.Healthz(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if _, err := io.WriteString(idle[1], "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(idle[1])
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
		t.Errorf("an idle connection is answered %q, %v; want %d", answer, err, http.StatusOK)
	}
}
