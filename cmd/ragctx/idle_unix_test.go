//go:build unix

package main

import (
	"bufio"
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
	// The server accepts the newest connection after all others. From its first answer on it may be
	// idle for longer than a client may take for a header.
	newest := idle[connections-1]
	answers := bufio.NewReader(newest)
	ask := func() {
		t.Helper()
		if _, err := io.WriteString(newest, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("an idle connection is not answered: %v", err)
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("an idle connection is answered with status %d, %v", answer.StatusCode, err)
		}
	}
	ask()
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
	ask()
}
