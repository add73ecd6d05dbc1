package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// Priority orders waiting writes.
type Priority int

// The priorities: a turn, which someone waits for, goes before ingest.
const (
	High Priority = iota
	Low
	priorities
)

// frees marks what makes room: it goes through where the disk is full.
const frees Priority = 1 << 4

// maxBatch bounds how long one commit can take, and so how long the next
// write waits: about 5 ms of work.
const maxBatch = 5 * time.Millisecond

// writer is the one goroutine that writes. It commits what is waiting in one
// transaction (group commit: one fsync for many writers), each job in a
// savepoint of its own, so that a failed job takes no other with it.
type writer struct {
	db       *sql.DB
	openings *openings
	queue    [priorities]chan *job
	pause    chan func()
	// committed is called after each commit; broken keeps the failure after which
	// nothing more is written.
	committed func()
	// mayWrite is asked on behalf of what makes no room; full is told that the disk is.
	mayWrite func(context.Context) error
	full     func()
	stopped  func(*ragctx.RepairError) // is told when nothing more is written
	commits  commits
	sums     *rowSums
	state    *stateFile
	broken   atomic.Pointer[error]
	stop     chan struct{}
	done     chan struct{}
	once     sync.Once
}

type job struct {
	ctx  context.Context //nolint:containedctx // the job travels to the writer together with its caller's context
	run  func(context.Context, *sql.Tx) error
	in   int64  // the namespace that answers may differ in afterwards; or everywhere, nowhere
	then func() // called once what run did is durable, in the order of the writes
	err  error
	done chan struct{}
}

func startWriter(db *sql.DB, o *openings, sums *rowSums, state *stateFile, committed func()) *writer {
	w := &writer{
		db: db, openings: o, sums: sums, state: state, committed: committed, pause: make(chan func()),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	for p := range w.queue {
		w.queue[p] = make(chan *job, 64)
	}
	go w.loop()
	return w
}

// do runs fn in a transaction and returns once it is durable. fn may run at
// most once; when ctx ends before fn began, it does not run.
func (w *writer) do(ctx context.Context, p Priority, fn func(context.Context, *sql.Tx) error) error {
	return w.submit(p, &job{ctx: ctx, run: fn, done: make(chan struct{})})
}

// doIn is do for what makes no difference to answers outside of a namespace, or to none
// at all ([nowhere]).
func (w *writer) doIn(ctx context.Context, ns int64, p Priority, fn func(context.Context, *sql.Tx) error) error {
	return w.submit(p, &job{ctx: ctx, run: fn, in: ns, done: make(chan struct{})})
}

// doThen is doIn that calls then in the writer's goroutine before it returns, if fn and
// the commit went well. Jobs that follow wait for it, so it must not.
func (w *writer) doThen(ctx context.Context, ns int64, p Priority, fn func(context.Context, *sql.Tx) error, then func()) error {
	return w.submit(p, &job{ctx: ctx, run: fn, in: ns, then: then, done: make(chan struct{})})
}

func (w *writer) submit(p Priority, j *job) error {
	select {
	case <-w.stop:
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	default:
	}
	if err := w.broken.Load(); err != nil {
		return *err
	}
	if p&frees == 0 {
		if err := w.mayWrite(j.ctx); err != nil {
			return err
		}
	}
	select {
	case w.queue[p&^frees] <- j:
	case <-j.ctx.Done():
		return j.ctx.Err()
	case <-w.stop:
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	select {
	case <-j.done:
		return wrap(j.err)
	case <-w.done: // accepted in the very moment of closing
		select {
		case <-j.done:
			return wrap(j.err)
		default:
			return fmt.Errorf("store: %w", ragctx.ErrClosed)
		}
	}
}

// urgent reports whether a job of high priority waits. A long job of low
// priority asks it now and then, and makes itself short.
func (w *writer) urgent() bool { return len(w.queue[High]) > 0 }

// between runs fn while nothing is being written, and reports whether it did:
// not after close.
func (w *writer) between(fn func()) bool {
	done := make(chan struct{})
	select {
	case w.pause <- func() { defer close(done); fn() }:
		<-done
		return true
	case <-w.done:
		return false
	}
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select { // jobs never end under load, so this goes first
		case fn := <-w.pause:
			fn()
		default:
		}
		j := w.wait()
		if j == nil {
			return
		}
		w.commit(j)
	}
}

// wait returns the most urgent job, once there is one; nil when the writer is
// closed and nothing is left.
func (w *writer) wait() *job {
	for {
		if j := w.next(priorities); j != nil {
			return j
		}
		select {
		case j := <-w.queue[High]:
			return j
		case j := <-w.queue[Low]:
			return j
		case fn := <-w.pause:
			fn()
		case <-w.stop:
			return w.next(priorities)
		}
	}
}

// next takes the most urgent waiting job of the first n priorities, if there is one.
func (w *writer) next(n Priority) *job {
	for p := range n {
		select {
		case j := <-w.queue[p]:
			return j
		default:
		}
	}
	return nil
}

// more returns the next job of a batch that has taken some time. Low ones join
// it only while there is time for a whole one.
func (w *writer) more(spent time.Duration) *job {
	switch {
	case spent > maxBatch:
		return nil
	case spent > maxBatch/2:
		return w.next(High + 1)
	}
	return w.next(priorities)
}

// commit runs first and whatever else is waiting in one transaction. What waited
// while an earlier commit broke the writer is refused.
func (w *writer) commit(first *job) {
	if err := w.broken.Load(); err != nil {
		first.finish(*err)
		return
	}
	// Not a caller's context: one caller going away must not undo the others.
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		first.finish(err)
		return
	}
	w.sums.undo(0)
	var jobs []*job
	start := time.Now()
	for j := first; j != nil && err == nil; j = w.more(time.Since(start)) {
		var failed error
		if failed, err = w.attempt(ctx, tx, j); failed != nil {
			if noSpace(failed) {
				w.full()
			}
			j.finish(failed)
		} else {
			jobs = append(jobs, j)
		}
	}
	w.openings.keep()
	changed := false
	if err == nil {
		changed, err = w.sums.flush(ctx, tx)
	}
	if err == nil {
		err = tx.Commit()
	}
	switch {
	case err != nil:
		err = errors.Join(fmt.Errorf("commit: %w", err), ignoreDone(tx.Rollback()))
		w.suspect(err)
		if noSpace(err) {
			w.full()
		}
	case changed:
		w.state.advance()
	}
	for _, j := range jobs { // before anybody hears of it; also where nobody can tell what is on the disk
		w.commits.add(j.in)
	}
	for _, j := range jobs {
		if err == nil && j.then != nil {
			j.then()
		}
		j.finish(err)
	}
	w.committed()
}

// suspect stops all writing if err says that the disk did not keep what it was
// given. The operating system may have dropped it, and may say of a later write
// to the same place that all is well: what is on the disk is only known after
// the files were opened, and the log recovered, anew. Reads go on.
func (w *writer) suspect(err error) {
	if !unsynced(err) {
		return
	}
	stopped := &ragctx.RepairError{Kind: ragctx.RepairWrites, Problem: stoppedProblem, Cause: err}
	if broken := error(stopped); w.broken.CompareAndSwap(nil, &broken) {
		w.stopped(stopped)
	}
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// attempt runs one job inside a savepoint. lost says why the transaction cannot go on:
// SQLite takes all of it back after some errors, and what came next would be outside of it.
func (w *writer) attempt(ctx context.Context, tx *sql.Tx, j *job) (err, lost error) {
	if err := j.ctx.Err(); err != nil {
		return err, nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT job"); err != nil {
		return err, nil
	}
	noted, mark := w.openings.noted, w.sums.mark()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store: write panicked: %v", p)
		}
		end := "RELEASE job"
		if err != nil {
			end, w.openings.noted = "ROLLBACK TO job; RELEASE job", noted
			w.sums.undo(mark)
		}
		if _, lost = tx.ExecContext(ctx, end); lost != nil {
			err = errors.Join(err, lost)
			lost = err
		}
	}()
	return j.run(ctx, tx), nil
}

func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

func (w *writer) close() error {
	w.once.Do(func() { close(w.stop) })
	<-w.done
	return w.db.Close()
}
