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

// turnDelivery delivers completed turns to turn observers, after the turn was acknowledged: the turns
// of one user in order and one at a time, also across sessions, so that what was said later supersedes what
// was said earlier; the turns of several users in parallel. A pending turn
// is stored with the turn itself, so it is delivered after a restart as well; an observer may then
// receive a turn twice.
type turnDelivery struct {
	store     store.Turns
	observers []turnObserver // in the order of registration
	log       *slog.Logger
	// reportUnsaved is called if a built-in observer could not store its results for a turn.
	reportUnsaved func(ctx context.Context, t ragctx.Turn, operation string, err error)

	life  context.Context //nolint:containedctx // ends deliveries with the engine
	end   context.CancelFunc
	slots chan struct{} // bounds the turns delivered concurrently

	mu       sync.Mutex
	queues   map[store.TurnOrigin][]pendingTurn // queues being processed, see [store.TurnOrigin.Queue]
	sessions map[store.TurnOrigin]int           // undelivered turns by namespace and session
	pending  map[int64]bool                     // rows in queues or in unacked
	queued   int                                // number of undelivered turns
	unacked  []store.PendingTurn                // delivered turns that are not acknowledged yet
	ackDue   bool                               // whether unacked must be written without delay
	acking   bool                               // whether an acknowledgement is being written
	ackTimer *time.Timer                        // acknowledges unacked later; nil if unacked is empty
	idle     *sync.Cond
	closed   bool
	wg       sync.WaitGroup
}

// turnObserver is a registered turn observer.
type turnObserver struct {
	ragctx.TurnObserver

	name    string
	timeout time.Duration
	// wants reports whether a turn is relevant; nil accepts all.
	wants func(ragctx.Turn) bool
	// own is set for observers of this engine. Except for invalid input, they fail only because of
	// the store.
	own bool
}

// retryable reports whether a failed delivery is to be retried: it timed out, or an own observer failed
// for a reason other than an invalid turn.
func (w turnObserver) retryable(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || w.own && err != nil && !errors.Is(err, ragctx.ErrInvalid)
}

// pendingTurn is a turn to be delivered.
type pendingTurn struct {
	row  int64
	from store.TurnOrigin
	// retry is set if a delivery may have been started before.
	retry bool
}

// An observer has deliveryTimeout for a turn. When the engine closes, running and queued deliveries
// have closeGrace.
const (
	deliveryTimeout = 30 * time.Second
	closeGrace      = 2 * time.Second
)

const (
	// maxParallelDeliveries is how many turns are delivered concurrently: an observer that calls a service
	// mostly waits.
	maxParallelDeliveries = 4
	// maxDeliveryAttempts bounds the delivery attempts of a turn, so that one that crashes the process or
	// times out does not do so forever. An attempt ended by Close does not count.
	maxDeliveryAttempts = 3
	// ackBatch is how many delivered turns are acknowledged in one write, and ackDelay how long
	// that write may wait for more. Acknowledging each turn separately would double the fsyncs.
	ackBatch = 64
	ackDelay = time.Second
	// longDelivery is the duration from which an own observer's delivery is acknowledged at once, so
	// that it is not repeated because a later observer times out.
	longDelivery = 100 * time.Millisecond
)

func newTurnDelivery(e *core, observers []turnObserver) *turnDelivery {
	o := &turnDelivery{
		store: e.store, observers: observers, log: e.opts.Logger, reportUnsaved: e.publishUnsaved,
		slots:  make(chan struct{}, maxParallelDeliveries),
		queues: make(map[store.TurnOrigin][]pendingTurn), sessions: make(map[store.TurnOrigin]int),
		pending: make(map[int64]bool),
	}
	o.idle = sync.NewCond(&o.mu)
	o.life, o.end = context.WithCancel(context.Background())
	return o
}

// wants reports whether a turn is to be delivered: it succeeded, belongs to a conversation, and is
// relevant to an observer.
func (o *turnDelivery) wants(t ragctx.Turn) bool {
	return t.Succeeded() && t.SessionID != "" &&
		slices.ContainsFunc(o.observers, func(w turnObserver) bool { return w.interested(t) })
}

func (w turnObserver) interested(t ragctx.Turn) bool { return w.wants == nil || w.wants(t) }

// resume queues the pending turns of the store: turns of an earlier process, and turns to be
// delivered again.
func (o *turnDelivery) resume(ctx context.Context) error {
	o.acknowledge(o.life)
	rows, origins, err := o.store.PendingTurns(ctx)
	if err != nil {
		return err
	}
	for i, row := range rows {
		o.enqueue(pendingTurn{row, origins[i], true})
	}
	return nil
}

// turnStored queues a newly stored turn.
func (o *turnDelivery) turnStored(ns int64, t ragctx.Turn, row int64) {
	if o.wants(t) {
		o.enqueue(pendingTurn{row, store.TurnOrigin{Namespace: ns, User: t.UserID, Session: t.SessionID}, false})
	}
}

func (o *turnDelivery) enqueue(t pendingTurn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.pending[t.row] {
		return
	}
	o.pending[t.row] = true
	o.queued++
	o.sessions[sessionOf(t.from)]++
	key := t.from.Queue()
	queue, working := o.queues[key]
	o.queues[key] = append(queue, t)
	if !working {
		o.wg.Go(func() { o.work(key) })
	}
}

// sessionOf returns the namespace and session of an origin.
func sessionOf(from store.TurnOrigin) store.TurnOrigin {
	from.User = ""
	return from
}

// leave counts a turn as delivered or dropped. The caller holds mu.
func (o *turnDelivery) leave(t pendingTurn) {
	o.queued--
	key := sessionOf(t.from)
	if o.sessions[key]--; o.sessions[key] == 0 {
		delete(o.sessions, key)
		o.idle.Broadcast()
	}
}

// work delivers the turns of a queue until it is empty.
func (o *turnDelivery) work(key store.TurnOrigin) {
	for {
		select {
		case o.slots <- struct{}{}:
		case <-o.life.Done():
			o.next(key)
			return
		}
		t, more := o.next(key)
		if more {
			o.deliver(t)
			o.delivered(t)
		}
		<-o.slots
		if !more {
			return
		}
	}
}

// next returns the next turn of a queue. If the queue is empty, or the engine is closing, it removes
// the queue.
func (o *turnDelivery) next(key store.TurnOrigin) (t pendingTurn, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	queue := o.queues[key]
	if len(queue) == 0 || o.life.Err() != nil {
		for _, t := range queue {
			delete(o.pending, t.row)
			o.leave(t)
		}
		delete(o.queues, key)
		o.idle.Broadcast()
		return t, false
	}
	o.queues[key] = queue[1:]
	return queue[0], true
}

// delivered completes the delivery of a turn. Acknowledgements are batched, but written at once if there
// are many, or if a repeated delivery would reach a provider outside the engine.
func (o *turnDelivery) delivered(t pendingTurn) {
	o.mu.Lock()
	o.leave(t)
	if !slices.ContainsFunc(o.unacked, func(u store.PendingTurn) bool { return u.Row == t.row }) {
		delete(o.pending, t.row)
	}
	due := o.ackDue && o.queued == 0 || len(o.unacked) >= ackBatch
	if !due && len(o.unacked) > 0 && o.ackTimer == nil && !o.closed {
		o.wg.Add(1) // close waits for a timer that has started
		o.ackTimer = time.AfterFunc(ackDelay, func() {
			defer o.wg.Done()
			o.acknowledge(o.life)
		})
	}
	o.mu.Unlock()
	if due {
		o.acknowledge(o.life)
	}
}

// deliver delivers a turn. A turn that cannot be read or acknowledged is delivered after the next
// opening.
func (o *turnDelivery) deliver(t pendingTurn) {
	u, ok, err := o.store.PendingTurn(o.life, t.row)
	if err == nil && ok {
		err = o.deliverAll(u, t.retry)
	}
	if err != nil && o.life.Err() == nil {
		o.log.Warn("delivering a turn to observers failed; it is retried at the next start", "error", err)
	}
}

func (o *turnDelivery) deliverAll(u store.PendingTurn, retry bool) (err error) {
	if retry {
		if u.Attempts >= maxDeliveryAttempts {
			o.log.Error("giving up on delivering a turn: every attempt failed or ended with the process", "turn",
				u.Turn.ID)
			o.finished(u)
			return nil
		}
		if err := o.store.CountFailure(o.life, u.Row); err != nil {
			return err
		}
		defer func() {
			if err != nil && o.life.Err() != nil {
				err = errors.Join(err, o.store.UncountFailure(context.WithoutCancel(o.life), u.Row))
			}
		}()
	}
	failed := false
	var done []string // names of observers that are done, not stored yet
	for i, w := range o.observers {
		if slices.Contains(u.Delivered, w.name) || u.Only != "" && u.Only != w.name || !w.interested(u.Turn) {
			continue
		}
		begun := time.Now()
		err := o.deliverTo(w, u.Turn)
		if o.life.Err() != nil {
			return o.life.Err() // the delivery may be incomplete
		}
		if w.retryable(err) {
			failed = true
		} else {
			done = append(done, w.name)
		}
		if failed || i < len(o.observers)-1 && (!w.own || time.Since(begun) >= longDelivery) {
			for _, name := range done {
				if err := o.store.MarkDelivered(o.life, u, name); err != nil {
					return err
				}
			}
			done = nil
		}
	}
	switch {
	case !failed:
		o.finished(u)
	case !retry: // otherwise this attempt is already counted
		return o.store.CountFailure(o.life, u.Row)
	}
	return nil
}

// finished adds a completely delivered turn to the next acknowledgement. After a crash before that,
// it is delivered again.
func (o *turnDelivery) finished(u store.PendingTurn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unacked = append(o.unacked, u)
	o.ackDue = o.ackDue || slices.ContainsFunc(o.observers,
		func(w turnObserver) bool { return !w.own && w.interested(u.Turn) })
}

// acknowledge acknowledges the delivered turns. Turns marked for another delivery in the meantime are
// queued again. If the write fails, the next one includes them.
func (o *turnDelivery) acknowledge(ctx context.Context) {
	o.mu.Lock()
	for o.acking { // wait for a concurrent write, which may include some of these
		o.idle.Wait()
	}
	acked := o.unacked
	o.unacked, o.ackDue, o.acking = nil, false, len(acked) > 0
	o.stopAckTimer()
	o.mu.Unlock()
	if len(acked) == 0 {
		return
	}
	again, err := o.store.FinishTurns(ctx, acked)
	o.mu.Lock()
	o.acking = false
	if err != nil {
		o.unacked = append(acked, o.unacked...)
	} else {
		for _, u := range acked {
			delete(o.pending, u.Row)
		}
	}
	o.idle.Broadcast()
	o.mu.Unlock()
	if err == nil && again {
		err = o.resume(ctx)
	}
	if err != nil && ctx.Err() == nil {
		o.log.Warn("acknowledging delivered turns failed; they may be delivered again", "error", err)
	}
}

// stopAckTimer stops the timer of the next acknowledgement. The caller holds mu.
func (o *turnDelivery) stopAckTimer() {
	if o.ackTimer != nil && o.ackTimer.Stop() {
		o.wg.Done()
	}
	o.ackTimer = nil
}

// deliverTo delivers a turn to one observer. A turn on which it panics is not delivered to it again.
func (o *turnDelivery) deliverTo(w turnObserver, t ragctx.Turn) (err error) {
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
		if w.own && w.retryable(err) && o.life.Err() == nil {
			o.reportUnsaved(ctx, t, "learn for "+w.name, err)
		}
	}
	return err
}

// settle waits until no turn is queued and all are acknowledged.
func (o *turnDelivery) settle(ctx context.Context) error {
	return o.untilAcked(ctx, func() bool { return len(o.queues) == 0 })
}

// settleSession waits until no turn of a session is queued and its turns are acknowledged.
func (o *turnDelivery) settleSession(ctx context.Context, ns int64, session string) error {
	return o.untilAcked(ctx, func() bool { return o.sessions[store.TurnOrigin{Namespace: ns, Session: session}] == 0 })
}

// untilAcked is until, followed by an acknowledgement, which may reveal turns to be delivered
// again; it repeats until done holds after it.
func (o *turnDelivery) untilAcked(ctx context.Context, done func() bool) error {
	for {
		if err := o.until(ctx, done); err != nil {
			return err
		}
		o.acknowledge(o.life) // not in the caller's context: a cancelled wait must not cause repeated deliveries
		o.mu.Lock()
		settled := done()
		o.mu.Unlock()
		if settled {
			return ctx.Err()
		}
	}
}

// until waits until done returns true. done is called under the lock, whenever a queue or a session has
// become idle.
func (o *turnDelivery) until(ctx context.Context, done func() bool) error {
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
func (o *turnDelivery) close() {
	if o == nil {
		return
	}
	o.mu.Lock()
	o.closed = true
	o.stopAckTimer()
	o.mu.Unlock()
	defer time.AfterFunc(closeGrace, o.end).Stop()
	o.wg.Wait()
	o.end()
	o.acknowledge(context.Background())
}
