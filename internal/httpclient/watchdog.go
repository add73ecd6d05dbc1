package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

const (
	// pingAfter is how long a request may take before the server is pinged, and pinged again.
	pingAfter = time.Second
	// PingTime is how long a server may take to answer a ping.
	PingTime = 2 * time.Second
)

// Watchdog ends the requests to a server that hangs or is away, so that not each of them waits in vain. A request that takes long,
// or a connection that fails, is no proof of that: the server is pinged then. If it does not answer, its requests fail at once
// until it answers a ping. The zero value does not work.
type Watchdog struct {
	ping func(context.Context) error
	back *Signal
	log  *slog.Logger
	life context.Context //nolint:containedctx // ends with Close
	end  context.CancelFunc

	mu      sync.Mutex
	pinging bool
	answers context.Context //nolint:containedctx // ends when the server does not answer
	silence context.CancelFunc
}

// NewWatchdog returns a watchdog of a server. ping succeeds if the server gives any answer, and fails otherwise, after [PingTime] at
// the latest. back is sent when the server answers again. Several watchdogs may share it.
func NewWatchdog(server string, ping func(context.Context) error, back *Signal, log *slog.Logger) *Watchdog {
	w := &Watchdog{ping: ping, back: back, log: log.With("server", server)}
	w.life, w.end = context.WithCancel(context.Background())
	w.answers, w.silence = context.WithCancel(w.life)
	return w
}

// Close ends all requests, and the pings.
func (w *Watchdog) Close() { w.end() }

// ErrSilent is the error of requests to a server that does not answer. It matches [ragctx.ErrUnavailable].
var ErrSilent = fmt.Errorf("%w: the server does not answer; requests to it are paused until it does", ragctx.ErrUnavailable)

// IsAway reports whether an error says that a server was not reached, did not answer in time, or closed the connection.
func IsAway(err error) bool {
	_, lost := errors.AsType[net.Error](err)
	return lost || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrSilent)
}

// Do calls send with a context that also ends when the server does not answer. The error is [ErrSilent] then, and [ragctx.ErrClosed] after
// [Watchdog.Close].
func (w *Watchdog) Do(ctx context.Context, send func(context.Context) error) error {
	w.mu.Lock()
	answers := w.answers
	w.mu.Unlock()
	switch {
	case w.life.Err() != nil:
		return ragctx.ErrClosed
	case answers.Err() != nil:
		return ErrSilent
	}
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(answers, cancel)()
	var long *time.Timer
	long = time.AfterFunc(time.Hour, func() {
		if sending.Err() == nil {
			w.Check()
			long.Reset(pingAfter)
		}
	})
	long.Reset(pingAfter)
	defer long.Stop()
	err := send(sending)
	switch _, lost := errors.AsType[*net.OpError](err); {
	case err != nil && ctx.Err() == nil && answers.Err() != nil:
		return ErrSilent
	case lost && ctx.Err() == nil:
		w.Check()
	}
	return err
}

// Check pings the server in the background, until it answers.
func (w *Watchdog) Check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pinging || w.life.Err() != nil {
		return
	}
	w.pinging = true
	go func() {
		err := w.ping(w.life)
		if err != nil && w.life.Err() == nil {
			w.silence()
			w.log.Warn("the server does not answer; requests to it are paused", "error", err)
			for err != nil && Sleep(w.life, pingAfter) == nil {
				err = w.ping(w.life)
			}
			if err == nil {
				w.log.Info("the server answers again")
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pinging = false
		if w.answers.Err() != nil && w.life.Err() == nil {
			w.answers, w.silence = context.WithCancel(w.life)
			w.back.send()
		}
	}()
}

// Signal wakes all waiting goroutines. The zero value works.
type Signal struct {
	mu   sync.Mutex
	next chan struct{}
}

// Next returns a channel that is closed when the signal is sent next.
func (s *Signal) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

func (s *Signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
