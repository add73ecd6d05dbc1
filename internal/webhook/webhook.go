// Package webhook sends events to URLs. Each webhook follows the events on its own, so a slow receiver
// delays neither the writers of events nor other receivers.
package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/providers/remote"
)

// Limits of the delivery.
const (
	DefaultTimeout = 10 * time.Second
	// MaxAttempts is how often an event is sent before it is given up. With the pauses between them that
	// takes about an hour.
	MaxAttempts = 20
	firstPause  = time.Second
	longest     = 5 * time.Minute // pause
	closeWithin = 5 * time.Second
)

// Options configures a webhook. Name and URL are required.
type Options struct {
	Name, URL string
	// Secret signs requests as those to providers; see [remote.Sign]. An empty secret disables signing.
	Secret string
	// Filter selects the events. Its Reader is set by the source.
	Filter events.Filter
	// Timeout bounds a request; 0 is [DefaultTimeout].
	Timeout time.Duration
	// AllowPrivate permits addresses that are not public.
	AllowPrivate bool

	Now   func() time.Time                           // the clock; nil is the system's
	Sleep func(context.Context, time.Duration) error // waits, or returns the context's error; nil is the system's
}

// Source has the events. [engine.Events] implements it.
type Source interface {
	Last(ctx context.Context, f events.Filter) (uint64, error)
	Follow(ctx context.Context, f events.Filter, after uint64) iter.Seq2[ragctx.Event, error]
}

// Sender sends the events of a source to webhooks.
type Sender struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

// Start begins to send events. The positions of the webhooks are in a file, so that a receiver learns which
// events it may have missed while no Sender ran.
func Start(ctx context.Context, from Source, file string, log *slog.Logger, hooks []Options) (*Sender, error) {
	ctx, stop := context.WithCancel(ctx)
	s := &Sender{stop: stop}
	if len(hooks) == 0 {
		return s, nil
	}
	at, err := openPositions(file)
	if err != nil {
		stop()
		return nil, err
	}
	var all []*hook
	for i, o := range hooks {
		h, err := newHook(o, from, at, log)
		if err == nil {
			err = h.begin(ctx)
		}
		if err != nil {
			stop()
			return nil, fmt.Errorf("webhook %d: %w", i+1, err)
		}
		all = append(all, h)
	}
	for _, h := range all {
		s.done.Go(func() { h.run(ctx) })
	}
	return s, nil
}

// Close sends the events that wait, for a few seconds at most, and ends the Sender, if it is not nil.
func (s *Sender) Close() {
	if s == nil {
		return
	}
	s.stop()
	s.done.Wait()
}

// hook is a webhook.
type hook struct {
	Options

	from   Source
	client *httpclient.Client
	at     *positions
	log    *slog.Logger

	last uint64 // sequence of the last event that was sent or given up
}

func newHook(o Options, from Source, at *positions, log *slog.Logger) (*hook, error) {
	if o.Name == "" {
		return nil, ragctx.Invalid("name", "is empty; its position is stored under the name")
	}
	if err := ragctx.ValidName("name", o.Name); err != nil {
		return nil, err
	}
	u, err := httpclient.ParseEndpoint(o.URL, "")
	if err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if isPrivate := err == nil && !httpclient.IsPublic(ip.Unmap()) || httpclient.IsLoopback(u.Hostname()); isPrivate && !o.AllowPrivate {
		return nil, ragctx.Invalid("url", "is not on the public Internet; set allow_private to permit that")
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Timeout < 0 {
		return nil, ragctx.Invalid("timeout", "is negative")
	}
	if err := o.Filter.Check(); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = httpclient.Sleep
	}
	client := httpclient.New(httpclient.Options{URL: u, Public: !o.AllowPrivate, Now: o.Now})
	return &hook{Options: o, from: from, client: client, at: at, log: log.With("webhook", o.Name)}, nil
}

// begin finds the position to start from. A new webhook, and one that had sent everything when it was closed,
// start with the next event.
func (h *hook) begin(ctx context.Context) error {
	now, err := h.from.Last(ctx, h.Filter)
	if err != nil {
		return err
	}
	h.last = now
	if p, ok := h.at.get(h.Name); ok && !p.Complete {
		h.last = p.Sequence
	}
	return h.at.save(h.Name, position{Sequence: h.last})
}

// run sends events until ctx ends, and then those that wait.
func (h *hook) run(ctx context.Context) {
	defer h.client.Close()
	for failures := 0; ctx.Err() == nil; {
		before := h.last
		err := h.follow(ctx, ctx)
		if ctx.Err() != nil || errors.Is(err, ragctx.ErrClosed) {
			break
		}
		if h.last != before {
			failures = 0
		}
		if failures++; failures == 1 {
			h.log.Warn("cannot send events, and tries again", "after_sequence", h.last, "error", err)
		}
		failed, isEvent := errors.AsType[*sendError](err)
		if isEvent && failures >= MaxAttempts {
			h.log.Error("gave up an event", "sequence", failed.sequence, "attempts", failures, "error", err)
			h.sent(failed.sequence)
			failures = 0
			continue
		}
		pause := min(firstPause<<min(failures-1, 16), longest)
		if h.Sleep(ctx, pause/2+rand.N(pause/2+1)) != nil {
			break
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	ended, end := context.WithCancel(last)
	end() // following yields only the stored events
	err := h.follow(ended, last)
	_, failed := errors.AsType[*sendError](err)
	complete := !failed && last.Err() == nil
	if err := h.at.save(h.Name, position{Sequence: h.last, Complete: complete}); err != nil {
		h.log.Error("cannot store the position", "error", err)
	}
}

// sendError is the error of an event that could not be sent.
type sendError struct {
	sequence uint64
	err      error
}

// Error implements error.
func (e *sendError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *sendError) Unwrap() error { return e.err }

// follow sends the events after the last one until the first failure. The next call reads them anew, so an
// event that is erased between two attempts is not sent.
func (h *hook) follow(ctx, sending context.Context) error {
	for ev, err := range h.from.Follow(ctx, h.Filter, h.last) {
		if err != nil {
			return err
		}
		if err := h.send(sending, ev); err != nil {
			return &sendError{ev.Seq, err}
		}
		h.sent(ev.Seq)
	}
	return nil
}

// sent stores the position after an event.
func (h *hook) sent(sequence uint64) {
	h.last = sequence
	if err := h.at.set(h.Name, position{Sequence: sequence}, h.Now()); err != nil {
		h.log.Error("cannot store the position", "error", err)
	}
}

func (h *hook) send(ctx context.Context, ev ragctx.Event) error {
	body, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	header := make(http.Header)
	if h.Secret != "" {
		header.Set(remote.SignatureHeader, remote.Sign(h.Secret, body, h.Now()))
	}
	_, err = h.client.Post(ctx, httpclient.Request{
		Body: body, Header: header, AllowEmpty: true, MaxAnswer: -1, Timeout: h.Timeout,
	})
	if status, ok := errors.AsType[*httpclient.StatusError](err); ok && status.Status/100 == 2 {
		return nil
	}
	return err
}
