package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// observer delivers completed turns to turn observers, after the turn was acknowledged: the turns
// transcriptEntries one conversation in order and one at a time, several conversations in parallel. A pending turn
// is stored with the turn itself, so it is delivered after a restart as well; an observer may then
// receive a turn twice.
type observer struct {
	store    *store.Store
	watchers []watcher // in the order of registration
	log      *slog.Logger
	// publishUnsaved is called if a built-in observer could not store its results for a turn.
	reportUnsaved func(ctx context.Context, t ragctx.Turn, operation string, err error)

	life context.Context //nolint:containedctx // ends what providers do with the engine
	end  context.CancelFunc
	slot chan struct{} // bounds the conversations processed concurrently

	mu      sync.Mutex
	threads map[string][]toTell // authorizedSessions being processed, with their queued turns
	waiting map[int64]bool      // rows in threads or in done
	open    int                 // number of queued turns in threads
	done    []store.Untold      // delivered turns that are not acknowledged yet
	due     bool                // whether done must be acknowledged without delay
	noting  bool                // whether an acknowledgement is being written
	later   *time.Timer         // acknowledges done later; nil if done is empty
	idle    *sync.Cond
	closed  bool
	wg      sync.WaitGroup
}

// watcher is a registered turn observer.
type watcher struct {
	ragctx.TurnObserver

	name    string
	timeout time.Duration
	// wants reports whether a turn is relevant; nil accepts all.
	wants func(ragctx.Turn) bool
	// own is set for observers of this engine. Except for invalid input, they fail only because of
	// the store.
	own bool
}

// again reports whether a failed delivery is to be retried: it timed out, or an own observer failed
// for a reason other than an invalid turn.
func (w watcher) again(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || w.own && err != nil && !errors.Is(err, ragctx.ErrInvalid)
}

// toTell is a turn to be delivered.
type toTell struct {
	row int64
	// again is set if a delivery may have been started before.
	again bool
}

// An observer has tellTimeout for a turn. When the engine closes, running and queued deliveries
// have closeGrace.
const (
	deliveryTimeout = 30 * time.Second
	closeGrace  = 2 * time.Second
)

const (
	// tellThreads is how many conversations are processed concurrently: an observer that calls a
	// service mostly waits.
	tellThreads = 4
	// tellAttempts bounds the delivery attempts of a turn, so that one that crashes the process or
	// times out does not do so forever. An attempt ended by Close does not count.
	tellAttempts = 3
	// noteMost is how many delivered turns are acknowledged in one write, and noteRest how long
	// that write may wait for more. Acknowledging each turn separately would double the fsyncs.
	noteMost = 64
	noteRest = time.Second
	// tellLong is the duration from which an own observer's delivery is acknowledged at once, so
	// that it is not repeated because a later observer times out.
	tellLong = 100 * time.Millisecond
)

func newObserver(e *Engine, watchers []watcher) *observer {
	o := &observer{
		store: e.store, watchers: watchers, log: e.opts.Logger, reportUnsaved: e.publishUnsaved, slot: make(chan struct{}, tellThreads),
		threads: make(map[string][]toTell), waiting: make(map[int64]bool),
	}
	o.idle = sync.NewCond(&o.mu)
	o.life, o.end = context.WithCancel(context.Background())
	return o
}

// wants reports whether a turn is to be delivered: it succeeded, belongs to a conversation, and is
// relevant to an observer.
func (o *observer) wants(t ragctx.Turn) bool {
	return t.Succeeded() && t.SessionID != "" && slices.ContainsFunc(o.watchers, func(w watcher) bool { return w.interested(t) })
}

func (w watcher) interested(t ragctx.Turn) bool { return w.wants == nil || w.wants(t) }

// resume queues the pending turns of the store: those of an earlier process, and those to be
// delivered again.
func (o *observer) resume(ctx context.Context) error {
	o.note(o.life)
	rows, threads, err := o.store.UntoldRows(ctx)
	if err != nil {
		return err
	}
	for i, row := range rows {
		o.queue(threads[i], toTell{row, true})
	}
	return nil
}

// completed queues a newly stored turn.
func (o *observer) completed(ns int64, t ragctx.Turn, row int64) {
	if o.wants(t) {
		o.queue(store.Thread(ns, t.SessionID), toTell{row, false})
	}
}

func (o *observer) queue(thread string, t toTell) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.waiting[t.row] {
		return
	}
	o.waiting[t.row] = true
	o.open++
	queue, working := o.threads[thread]
	o.threads[thread] = append(queue, t)
	if !working {
		o.wg.Go(func() { o.work(thread) })
	}
}

// work delivers the queued turns of a conversation until its queue is empty.
func (o *observer) work(thread string) {
	for {
		select {
		case o.slot <- struct{}{}:
		case <-o.life.Done():
			o.take(thread)
			return
		}
		t, more := o.take(thread)
		if more {
			o.tell(t)
			o.told(t)
		}
		<-o.slot
		if !more {
			return
		}
	}
}

// take returns the next turn of a conversation. If there is none, or the engine is closing, it
// removes the conversation.
func (o *observer) take(thread string) (t toTell, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	queue := o.threads[thread]
	if len(queue) == 0 || o.life.Err() != nil {
		for _, t := range queue {
			delete(o.waiting, t.row)
			o.open--
		}
		delete(o.threads, thread)
		o.idle.Broadcast()
		return t, false
	}
	o.threads[thread] = queue[1:]
	return queue[0], true
}

// observesTurns completes the delivery of a turn. Acknowledgements are batched, but written at once if there
// are many, or if a repeated delivery would reach a provider outside the engine.
func (o *observer) told(t toTell) {
	o.mu.Lock()
	o.open--
	if !slices.ContainsFunc(o.done, func(u store.Untold) bool { return u.Row == t.row }) {
		delete(o.waiting, t.row)
	}
	due := o.due && o.open == 0 || len(o.done) >= noteMost
	if !due && len(o.done) > 0 && o.later == nil && !o.closed {
		o.wg.Add(1) // close waits for a timer that has started
		o.later = time.AfterFunc(noteRest, func() {
			defer o.wg.Done()
			o.note(o.life)
		})
	}
	o.mu.Unlock()
	if due {
		o.note(o.life)
	}
}

// tell delivers a turn. A turn that cannot be read or acknowledged is delivered after the next
// opening.
func (o *observer) tell(t toTell) {
	u, ok, err := o.store.Untold(o.life, t.row)
	if err == nil && ok {
		err = o.tellAll(u, t.again)
	}
	if err != nil && o.life.Err() == nil {
		o.log.Warn("a turn could not be told to providers; it is tried again with the next start", "error", err)
	}
}

func (o *observer) tellAll(u store.Untold, again bool) (err error) {
	if again {
		if u.Attempts >= tellAttempts {
			o.log.Error("a turn is not told to providers any more: each time the process ended, or they failed", "turn", u.Turn.ID)
			o.finished(u)
			return nil
		}
		if err := o.store.TellAgain(o.life, u.Row); err != nil {
			return err
		}
		defer func() {
			if err != nil && o.life.Err() != nil {
				err = errors.Join(err, o.store.TakeBack(context.WithoutCancel(o.life), u.Row))
			}
		}()
	}
	failed := false
	var heard []string // names of observers that are done, not stored yet
	for i, w := range o.watchers {
		if slices.Contains(u.Told, w.name) || u.Only != "" && u.Only != w.name || !w.interested(u.Turn) {
			continue
		}
		begun := time.Now()
		err := o.tellOne(w, u.Turn)
		if o.life.Err() != nil {
			return o.life.Err() // the delivery may be incomplete
		}
		if w.again(err) {
			failed = true
		} else {
			heard = append(heard, w.name)
		}
		if failed || i < len(o.watchers)-1 && (!w.own || time.Since(begun) >= tellLong) {
			for _, name := range heard {
				if err := o.store.Tell(o.life, u, name); err != nil {
					return err
				}
			}
			heard = nil
		}
	}
	switch {
	case !failed:
		o.finished(u)
	case !again: // otherwise this attempt is already counted
		return o.store.TellAgain(o.life, u.Row)
	}
	return nil
}

// finished adds a completely delivered turn to the next acknowledgement. After a crash before that,
// it is delivered again.
func (o *observer) finished(u store.Untold) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, u)
	o.due = o.due || slices.ContainsFunc(o.watchers, func(w watcher) bool { return !w.own && w.interested(u.Turn) })
}

// recordStates acknowledges the delivered turns. Turns marked for another delivery in the meantime are
// queued again. If the write fails, the next one includes them.
func (o *observer) note(ctx context.Context) {
	o.mu.Lock()
	for o.noting { // wait for a concurrent write, which may include some of these
		o.idle.Wait()
	}
	done := o.done
	o.done, o.due, o.noting = nil, false, len(done) > 0
	o.noLater()
	o.mu.Unlock()
	if len(done) == 0 {
		return
	}
	again, err := o.store.AllTold(ctx, done)
	o.mu.Lock()
	o.noting = false
	if err != nil {
		o.done = append(done, o.done...)
	} else {
		for _, u := range done {
			delete(o.waiting, u.Row)
		}
	}
	o.idle.Broadcast()
	o.mu.Unlock()
	if err == nil && again {
		err = o.resume(ctx)
	}
	if err != nil && ctx.Err() == nil {
		o.log.Warn("it was not noted which turns providers were told of; they may be told again", "error", err)
	}
}

// noLater stops the timer of the next acknowledgement. The caller holds mu.
func (o *observer) noLater() {
	if o.later != nil && o.later.Stop() {
		o.wg.Done()
	}
	o.later = nil
}

// tellOne delivers a turn to one observer. A turn on which it panics is not delivered to it again.
func (o *observer) tellOne(w watcher, t ragctx.Turn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			o.log.Error("provider panicked on a completed turn", "provider", w.name, "turn", t.ID, "panic", p)
			err = nil
		}
	}()
	ctx, cancel := context.WithTimeout(o.life, w.timeout)
	defer cancel()
	if err = w.OnTurnComplete(ctx, t); err != nil {
		o.log.Warn("provider failed on a completed turn", "provider", w.name, "turn", t.ID, "error", err)
		if w.own && w.again(err) && o.life.Err() == nil {
			o.reportUnsaved(ctx, t, "learn for "+w.name, err)
		}
	}
	return err
}

// storeOutcomes waits until no turn is queued and all are acknowledged.
func (o *observer) settle(ctx context.Context) error {
	return o.untilNoted(ctx, func() bool { return len(o.threads) == 0 })
}

// settleThread waits until no turn of a conversation is queued and its turns are acknowledged.
func (o *observer) settleThread(ctx context.Context, thread string) error {
	return o.untilNoted(ctx, func() bool { _, working := o.threads[thread]; return !working })
}

// untilNoted is until, followed by an acknowledgement, which may reveal turns to be delivered
// again; it repeats until done holds after it.
func (o *observer) untilNoted(ctx context.Context, done func() bool) error {
	for {
		if err := o.until(ctx, done); err != nil {
			return err
		}
		o.note(o.life) // not in the caller's context: a cancelled wait must not cause repeated deliveries
		o.mu.Lock()
		over := done()
		o.mu.Unlock()
		if over {
			return ctx.Err()
		}
	}
}

// until waits until done returns true. done is called under the lock, whenever a conversation has
// become idle.
func (o *observer) until(ctx context.Context, done func() bool) error {
	defer context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.idle.Broadcast()
	})()
	o.mu.Lock()
	defer o.mu.Unlock()
	for !done() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.idle.Wait()
	}
	return nil
}

// close waits up to closeGrace for queued turns. The others are delivered after the next opening.
func (o *observer) close() {
	if o == nil {
		return
	}
	o.mu.Lock()
	o.closed = true
	o.noLater()
	o.mu.Unlock()
	defer time.AfterFunc(closeGrace, o.end).Stop()
	o.wg.Wait()
	o.end()
	o.note(context.Background())
}
