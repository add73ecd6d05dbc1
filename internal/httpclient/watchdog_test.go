package httpclient

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragctx/ragctx"
)

var errHangs = errors.New("it hangs")

// watched is a server that may hang.
type watched struct {
	*Watchdog

	hangs, pings atomic.Int32 // hangs is not 0 while it hangs
	back         Signal
	log          bytes.Buffer
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	s := &watched{}
	s.Watchdog = NewWatchdog("db", func(ctx context.Context) error {
		s.pings.Add(1)
		if s.hangs.Load() == 0 {
			return nil
		}
		_ = Sleep(ctx, PingTime)
		return errHangs
	}, &s.back, slog.New(slog.NewTextHandler(&s.log, nil)))
	t.Cleanup(s.Close)
	return s
}

// request sends a request that takes a while on a server that does not hang, and returns how long it took.
func (s *watched) request(took time.Duration) (time.Duration, error) {
	began := time.Now()
	err := s.Do(context.Background(), func(ctx context.Context) error {
		if s.hangs.Load() != 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		return Sleep(ctx, took)
	})
	return time.Since(began), err
}

// TestWatchdog has a server hang: the first request ends soon, others at once. It is used again when it answers.
func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWatched(t)
		if _, err := s.request(9500 * time.Millisecond); err != nil || s.log.Len() > 0 {
			t.Errorf("a long request: %v, logged %s", err, &s.log)
		}
		if n := s.pings.Load(); n != 9 {
			t.Errorf("%d pings in 9.5 s", n)
		}
		s.hangs.Store(1)
		for _, want := range []time.Duration{pingAfter + PingTime, 0, 0} {
			took, err := s.request(0)
			if took != want || !errors.Is(err, ErrSilent) || !errors.Is(err, ragctx.ErrUnavailable) {
				t.Errorf("a request took %v, want %v: %v", took, want, err)
			}
		}
		back := s.back.Next()
		time.Sleep(time.Hour)
		select {
		case <-back:
			t.Error("it is back while it hangs")
		default:
		}
		s.hangs.Store(0)
		<-back
		if took, err := s.request(0); took != 0 || err != nil {
			t.Errorf("afterwards a request took %v: %v", took, err)
		}
		if warned, told := strings.Count(s.log.String(), "WARN"), strings.Count(s.log.String(), "answers again"); warned != 1 || told != 1 {
			t.Errorf("logged %s", &s.log)
		}
	})
}

// TestWatchdogOfLostConnection has a connection fail. The server is pinged then, and only if it does not answer, requests are paused.
func TestWatchdogOfLostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWatched(t)
		lose := func() error {
			return s.Do(t.Context(), func(context.Context) error { return &net.OpError{Err: errHangs} })
		}
		if err := lose(); !errors.Is(err, errHangs) {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := s.request(0); err != nil || s.pings.Load() != 1 {
			t.Errorf("%v after %d pings", err, s.pings.Load())
		}
		s.hangs.Store(1)
		_ = lose()
		time.Sleep(PingTime)
		synctest.Wait()
		if _, err := s.request(0); !errors.Is(err, ErrSilent) {
			t.Error(err)
		}
	})
}

// TestWatchdogCloses closes a watchdog, which ends requests.
func TestWatchdogCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWatched(t)
		s.hangs.Store(1)
		time.AfterFunc(time.Millisecond, s.Close)
		if took, err := s.request(0); took != time.Millisecond || err == nil {
			t.Errorf("a request took %v: %v", took, err)
		}
	})
}
