package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
)

// Large bodies share what memory there is: one that finds none is told to come again, one
// that can never have enough is told so, and small ones are answered all the while.
func TestBodyMemoryShared(t *testing.T) {
	f := start(t, Options{BodyMemory: 64 << 20}, func(s *Server) { s.bodies.patience = 50 * time.Millisecond })
	ask := func(bytes int, header ...string) answer {
		return f.call(t, http.MethodPost, "/v1/search", `{"query": "`+strings.Repeat("x", bytes)+`"}`, header...)
	}
	const large = 6 << 20
	for _, framing := range []string{
		fmt.Sprintf("Content-Length: %d\r\n\r\n", large),
		"Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", large/2, strings.Repeat(" ", large/2)),
	} {
		// A body that meets the memory of the request before it is refused itself, and is sent again.
		deadline := time.Now().Add(2 * time.Minute)
		var stalled *net.TCPConn
		var got answer
		for got.status != http.StatusServiceUnavailable && time.Now().Before(deadline) {
			if stalled != nil {
				_ = stalled.Close()
			}
			stalled = f.dial(t)
			_, _ = io.WriteString(stalled, "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+framing)
			for tries := 0; got.status != http.StatusServiceUnavailable && tries < 20; tries++ {
				time.Sleep(10 * time.Millisecond) // until the stalled body has its memory
				got = ask(large)
			}
		}
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "memory") {
			t.Fatalf("beside a stalled body: status %d, Retry-After %q, %s", got.status, got.header.Get("Retry-After"), got.body)
		}
		if got := ask(100); got.status != http.StatusOK {
			t.Errorf("a small body beside a stalled one: status %d, %s", got.status, got.body)
		}
		_ = stalled.Close()
		for got = ask(large); got.status != http.StatusUnprocessableEntity && time.Now().Before(deadline); got = ask(large) {
			time.Sleep(10 * time.Millisecond) // until the server sees that the caller has gone
		}
		if got.status != http.StatusUnprocessableEntity { // the query is too long, as ever
			t.Errorf("after the stalled body: status %d, %s", got.status, got.body)
		}
	}
	if got := ask(10 << 20); got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.body, "GOMEMLIMIT") {
		t.Errorf("a body beyond the memory for all: status %d, %s", got.status, got.body)
	}
}

// Who declares a body and does not send it takes no memory from others, and a question waits
// for nobody's body.
func TestBodyMemoryOfWhatCame(t *testing.T) {
	f := start(t, Options{BodyMemory: 16 << 20})
	head := fmt.Sprintf("POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", smallBody)
	for range 100 {
		_, _ = io.WriteString(f.dial(t), head)
	}
	for _, bytes := range []int{10, 20 << 10} {
		got := f.call(t, http.MethodPost, "/v1/search", `{"query": "`+strings.Repeat("x", bytes)+`"}`)
		if got.status == http.StatusServiceUnavailable {
			t.Errorf("a body of %d bytes beside some that do not arrive: %s", bytes, got.body)
		}
	}
	small := f.bodies.small
	if !small.TryAcquire(4 << 20) {
		t.Fatal("bodies that do not arrive take memory")
	}
	defer small.Release(4 << 20)
	if got := f.call(t, http.MethodPost, "/v1/search", `{"query": "what"}`); got.status != http.StatusOK {
		t.Errorf("a question where bodies take all memory: status %d, %s", got.status, got.body)
	}
}

// A body whose length is not declared is as long as one whose length is.
func TestBodyMemoryUndeclared(t *testing.T) {
	m := newBodyMemory(20<<20, nil)
	longest := m.maxLarge / otherBodyFactor
	for size, fits := range map[int64]bool{longest - 1: true, longest: true, longest + 1: false, 2 * longest: false} {
		held := m.reserve("search")
		got, err := readReserved(t.Context(), held, bytes.NewReader(make([]byte, size)), -1, 1<<30)
		if fits && int64(len(got)) != size || !fits && !errors.Is(err, ragctx.ErrTooLarge) {
			t.Errorf("a body of %d bytes where %d fit: %d are read, %v", size, longest, len(got), err)
		}
		held.release()
	}
}

// What is reserved is given back, whatever becomes of a body, and a body is read whole
// whether its length is declared or not.
func TestBodyMemoryBalance(t *testing.T) {
	m := newBodyMemory(64<<20, nil)
	m.patience = time.Millisecond
	const limit = 8 << 20
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1)) //nolint:gosec // a test draws again what it drew
			size := r.IntN(limit >> r.IntN(12))
			text := make([]byte, size)
			declared := int64(size)
			if i%2 == 0 {
				declared = -1
			}
			held := m.reserve("search")
			defer held.release()
			got, err := readReserved(t.Context(), held, bytes.NewReader(text), declared, limit)
			switch p, busy := errors.AsType[*Problem](err); {
			case busy && p.Status != http.StatusServiceUnavailable:
				t.Errorf("a body of %d bytes: %v", size, err)
			case errors.Is(err, ragctx.ErrTooLarge):
				if int64(size)*otherBodyFactor*2 < m.maxLarge {
					t.Errorf("a body of %d bytes is too large: %v", size, err)
				}
			case err == nil && len(got) != size:
				t.Errorf("%d bytes of %d are read", len(got), size)
			}
		})
	}
	all.Wait()
	if !m.small.TryAcquire(16<<20) || !m.large.TryAcquire(48<<20) {
		t.Error("not all of the memory was given back")
	}
}
