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

// observer tells providers about completed turns, after the turn's caller has its
// acknowledgement: the turns of a conversation one at a time and in order, several
// conversations side by side. What is to be told is noted with the turn, so that it
// is told after a restart, too; then a provider may hear of a turn twice.
type observer struct {
	store    *store.Store
	watchers []watcher // in the order of registration
	log      *slog.Logger
	// unsaved is told of turns of which what a watcher of the engine's own makes could
	// not be stored.
	unsaved func(ctx context.Context, t ragctx.Turn, operation string, err error)

	life context.Context //nolint:containedctx // ends what providers do with the engine
	end  context.CancelFunc
	slot chan struct{} // bounds the conversations at work

	mu      sync.Mutex
	threads map[string][]toTell // conversations at work, and what waits in them
	waiting map[int64]bool      // rows that are in threads, or in done
	open    int                 // how many are in threads
	done    []store.Untold      // told, which is not noted yet
	due     bool                // done is to be noted at once
	noting  bool                // what was done is being noted
	later   *time.Timer         // notes what is done; nil if nothing is
	idle    *sync.Cond
	closed  bool
	wg      sync.WaitGroup
}

// watcher is a provider that wants to know.
type watcher struct {
	ragctx.TurnObserver

	name    string
	timeout time.Duration
	// wants reports whether a turn can be of interest; nil for all.
	wants func(ragctx.Turn) bool
	// own says that it is of this engine: what it fails on, but for invalid input, is
	// its store.
	own bool
}

// again reports whether a watcher that failed is to be told again: it ran out of time,
// or nothing is known to be wrong with the turn.
func (w watcher) again(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || w.own && err != nil && !errors.Is(err, ragctx.ErrInvalid)
}

// toTell is a turn of which providers are to be told.
type toTell struct {
	row int64
	// again says that telling it may have been begun before.
	again bool
}

// A provider has tellTimeout for a turn. When the engine closes, those that are
// still at it, and what is queued, have closeGrace.
const (
	tellTimeout = 30 * time.Second
	closeGrace  = 2 * time.Second
)

const (
	// tellThreads is how many conversations are told of at a time: a provider that asks
	// a service mostly waits.
	tellThreads = 4
	// tellAttempts is how often telling a turn is begun: one that ends the process, or
	// that a provider has no time for, is not to do so for ever. The end of the engine
	// is nobody's failure.
	tellAttempts = 3
	// noteMost is how many turns are noted as told in one write, and noteRest how long
	// that may wait for more of them. Who tells of each turn by itself has the disk do as
	// much as the turn did.
	noteMost = 64
	noteRest = time.Second
	// tellLong is how long a watcher of the engine's own takes that is not to be told
	// twice because a later one had no time for it.
	tellLong = 100 * time.Millisecond
)

func newObserver(e *Engine, watchers []watcher) *observer {
	o := &observer{
		store: e.store, watchers: watchers, log: e.opts.Logger, unsaved: e.unsaved, slot: make(chan struct{}, tellThreads),
		threads: make(map[string][]toTell), waiting: make(map[int64]bool),
	}
	o.idle = sync.NewCond(&o.mu)
	o.life, o.end = context.WithCancel(context.Background())
	return o
}

// wants reports whether providers are to be told of a turn: one that succeeded and
// belongs to a conversation.
func (o *observer) wants(t ragctx.Turn) bool {
	return t.Succeeded() && t.SessionID != "" && slices.ContainsFunc(o.watchers, func(w watcher) bool { return w.interested(t) })
}

func (w watcher) interested(t ragctx.Turn) bool { return w.wants == nil || w.wants(t) }

// resume takes up what is noted and not told: of an earlier process, or what is to be
// told again.
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

// completed queues a turn that was noted.
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

// work tells what waits in a conversation, until there is nothing more.
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

// take returns what is next in a conversation. When there is nothing, or the engine
// closes, the conversation is no longer at work.
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

// told ends the telling of a turn. What is done is noted soon, together, or at once if
// there is much of it, or somebody else's provider would hear of it twice.
func (o *observer) told(t toTell) {
	o.mu.Lock()
	o.open--
	if !slices.ContainsFunc(o.done, func(u store.Untold) bool { return u.Row == t.row }) {
		delete(o.waiting, t.row)
	}
	due := o.due && o.open == 0 || len(o.done) >= noteMost
	if !due && len(o.done) > 0 && o.later == nil && !o.closed {
		o.wg.Add(1) // close waits for one that has begun
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

// tell tells a turn. What cannot be read or noted is left for the next opening.
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
	var heard []string // who was told, which is not noted
	for i, w := range o.watchers {
		if slices.Contains(u.Told, w.name) || u.Only != "" && u.Only != w.name || !w.interested(u.Turn) {
			continue
		}
		begun := time.Now()
		err := o.tellOne(w, u.Turn)
		if o.life.Err() != nil {
			return o.life.Err() // it may not have come to its end
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
	case !again: // else this attempt is counted
		return o.store.TellAgain(o.life, u.Row)
	}
	return nil
}

// finished leaves a turn of which all have been told to be noted: with others, in one
// write. A crash before that has them told again.
func (o *observer) finished(u store.Untold) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, u)
	o.due = o.due || slices.ContainsFunc(o.watchers, func(w watcher) bool { return !w.own && w.interested(u.Turn) })
}

// note notes what is done. What is to be told again since it was told is taken up. What
// cannot be noted now is noted with what comes next.
func (o *observer) note(ctx context.Context) {
	o.mu.Lock()
	for o.noting { // by another, who may have part of it
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

// noLater calls off what is to be noted later. The caller holds mu.
func (o *observer) noLater() {
	if o.later != nil && o.later.Stop() {
		o.wg.Done()
	}
	o.later = nil
}

// tellOne tells a provider. What it panics on is not told it again.
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
			o.unsaved(ctx, t, "learn for "+w.name, err)
		}
	}
	return err
}

// settle waits until nothing is queued, and that is noted.
func (o *observer) settle(ctx context.Context) error {
	return o.untilNoted(ctx, func() bool { return len(o.threads) == 0 })
}

// settleThread waits until nothing of a conversation is queued, and that is noted.
func (o *observer) settleThread(ctx context.Context, thread string) error {
	return o.untilNoted(ctx, func() bool { _, working := o.threads[thread]; return !working })
}

// untilNoted is until for what is to be told again as well, which shows when it is noted
// what was told.
func (o *observer) untilNoted(ctx context.Context, done func() bool) error {
	for {
		if err := o.until(ctx, done); err != nil {
			return err
		}
		o.note(o.life) // whoever waits: it is not told again because that one went away
		o.mu.Lock()
		over := done()
		o.mu.Unlock()
		if over {
			return ctx.Err()
		}
	}
}

// until waits until done, which is asked under the lock whenever a conversation has
// nothing more, reports true.
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

// close gives what is queued a moment. What it does not come to is told after the
// next opening.
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
