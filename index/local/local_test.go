package local_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
	"github.com/ragctx/ragctx/index/local"
)

func TestLocal(t *testing.T) {
	indextest.TestEngine(t, func(t *testing.T) func() index.Opener {
		dir := t.TempDir()
		return func() index.Opener { return local.Opener{Dir: dir} }
	})
}

// TestRemote runs the suite against engines behind a socket with a delay of 3 ms each way.
func TestRemote(t *testing.T) {
	indextest.TestEngine(t, func(t *testing.T) func() index.Opener {
		s := serve(t)
		return func() index.Opener { return client{addr: s.addr, attempts: 1, timeout: 10 * time.Second} }
	})
}

// TestFailingRemote runs the suite while every third call fails, each time in another way.
func TestFailingRemote(t *testing.T) {
	indextest.TestEngine(t, func(t *testing.T) func() index.Opener {
		s := serve(t)
		var calls atomic.Int64
		wrong := func() fault {
			n := calls.Add(1)
			if n%3 > 0 {
				return fine
			}
			return []fault{refused, cut, stalled}[n/3%3]
		}
		s.fault.Store(&wrong)
		return func() index.Opener { return client{addr: s.addr, attempts: 8, timeout: 250 * time.Millisecond} }
	})
}

// TestErrorsOfRemote checks that a call that fails says which, and that a cancelled one ends.
func TestErrorsOfRemote(t *testing.T) {
	s := serve(t)
	c := client{addr: s.addr, attempts: 1, timeout: 50 * time.Millisecond}
	e, err := c.Open(t.Context(), index.Opening{Collection: index.Collection{Namespace: 1, Kind: "documents"}, Feed: new(pushed)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	q := index.Query{Text: "walnut", K: 1}
	for _, wrong := range []fault{refused, cut, stalled} {
		every := func() fault { return wrong }
		s.fault.Store(&every)
		_, err := index.Index{Engine: e}.Search(t.Context(), q)
		if !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), "retrieve") {
			t.Errorf("fault %d: %v", wrong, err)
		}
	}
	c.timeout = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.do(ctx, call{Method: "size"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stalled call ends with %v", err)
	}
	s.fault.Store(nil)
	if _, err := (index.Index{Engine: e}).Search(t.Context(), q); err != nil {
		t.Error(err)
	}
}
