package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// writer is the only goroutine that writes. It commits waiting jobs in one transaction (group
// commit: one fsync for many writers), each in its own savepoint, so that a failed job does not
// affect the others.
type writer struct {
	db    *sql.DB
	queue [sqlstore.Priorities]chan *job
	pause chan func()
	// committed is called after each commit; broken is the failure that stopped all writing.
	committed func()
	// checkSpace is called before writes that free no space; full reports a full disk.
	checkSpace func(context.Context) error
	diskFull   func()
	stopped    func(*ragctx.RepairError) // called when writing has stopped
	store      *sqlstore.Store
	sums       *rowSums
	state      *stateFile
	broken     atomic.Pointer[error]
	stop       chan struct{}
	done       chan struct{}
	once       sync.Once
}

type job struct {
	sqlstore.Write

	ctx  context.Context //nolint:containedctx // the job travels to the writer together with its caller's context
	run  func(context.Context, *sqlstore.Tx) error
	err  error
	done chan struct{}
}

func startWriter(db *sql.DB, st *sqlstore.Store, sums *rowSums, state *stateFile, committed func()) *writer {
	w := &writer{
		db: db, store: st, sums: sums, state: state, committed: committed, pause: make(chan func()),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	for p := range w.queue {
		w.queue[p] = make(chan *job, 64)
	}
	go w.loop()
	return w
}

// do runs a write and returns once it is durable. The job's function runs at most once; if its
// context ends first, it does not run.
func (w *writer) do(j *job) error {
	p := j.Priority
	select {
	case <-w.stop:
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	default:
	}
	if err := w.broken.Load(); err != nil {
		return *err
	}
	if p&sqlstore.Frees == 0 {
		if err := w.checkSpace(j.ctx); err != nil {
			return err
		}
	}
	select {
	case w.queue[p&^sqlstore.Frees] <- j:
	case <-j.ctx.Done():
		return j.ctx.Err()
	case <-w.stop:
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	select {
	case <-j.done:
		return wrap(j.err)
	case <-w.done: // accepted while closing
		select {
		case <-j.done:
			return wrap(j.err)
		default:
			return fmt.Errorf("store: %w", ragctx.ErrClosed)
		}
	}
}

// urgent reports whether a job of high priority is waiting. A long job of low priority checks it
// and stops early.
func (w *writer) urgent() bool { return len(w.queue[sqlstore.High]) > 0 }

// pauseWrites runs fn between two transactions, and reports whether it ran: not after close.
func (w *writer) pauseWrites(fn func()) bool {
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
		select { // first, since jobs never end under load
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

// wait blocks until a job is available and returns the most urgent one; nil when the writer is
// closed and idle.
func (w *writer) wait() *job {
	for {
		if j := w.next(sqlstore.Priorities); j != nil {
			return j
		}
		select {
		case j := <-w.queue[sqlstore.High]:
			return j
		case j := <-w.queue[sqlstore.Low]:
			return j
		case fn := <-w.pause:
			fn()
		case <-w.stop:
			return w.next(sqlstore.Priorities)
		}
	}
}

// next returns the most urgent waiting job of the first n priorities, or nil.
func (w *writer) next(n sqlstore.Priority) *job {
	for p := range n {
		select {
		case j := <-w.queue[p]:
			return j
		default:
		}
	}
	return nil
}

// more returns the next job of a running batch. Low ones join only while time is left for a whole
// one.
func (w *writer) more(spent time.Duration) *job {
	switch {
	case spent > sqlstore.MaxBatch:
		return nil
	case spent > sqlstore.MaxBatch/2:
		return w.next(sqlstore.High + 1)
	}
	return w.next(sqlstore.Priorities)
}

// commit runs first and the other waiting jobs in one transaction. It rejects jobs queued before an
// earlier commit broke the writer.
func (w *writer) commit(first *job) {
	if err := w.broken.Load(); err != nil {
		first.finish(*err)
		return
	}
	// Not a caller's context: one cancelled caller must not roll back the others.
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		first.finish(err)
		return
	}
	w.sums.undo(0)
	var jobs []*job
	changed := false // the sequence of changes
	start := time.Now()
	for j := first; j != nil && err == nil; j = w.more(time.Since(start)) {
		var failed error
		t := sqlstore.Tx{Tx: tx, Dialect: &dialect}
		if failed, err = w.attempt(ctx, &t, j); failed != nil {
			if noSpace(failed) {
				w.diskFull()
			}
			j.finish(failed)
		} else {
			jobs = append(jobs, j)
			changed = changed || t.Changed
		}
	}
	if changed {
		w.store.Publish()
	}
	written := false
	if err == nil {
		written, err = w.sums.flush(ctx, tx)
	}
	if err == nil {
		err = tx.Commit()
	}
	switch {
	case err != nil:
		err = errors.Join(fmt.Errorf("commit: %w", err), ignoreDone(tx.Rollback()))
		w.checkSync(err)
		if noSpace(err) {
			w.diskFull()
		}
	case written:
		w.state.advance()
	}
	for _, j := range jobs { // before any acknowledgement; also if the state on the disk is unknown
		w.store.Committed(j.Namespace)
	}
	for _, j := range jobs {
		if err == nil && j.Then != nil {
			j.Then()
		}
		j.finish(err)
	}
	w.committed()
}

// checkSync stops all writing if err is a failed fsync. The operating system may have dropped the
// data and report a later sync of the same place as successful. The state on the disk is known only
// after reopening the files and recovering the log. Reads continue.
func (w *writer) checkSync(err error) {
	if !isSyncFailure(err) {
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

// attempt runs one job in a savepoint. Lost is set if the transaction cannot continue: after some
// errors SQLite rolls all of it back, and further statements would run outside of it.
func (w *writer) attempt(ctx context.Context, tx *sqlstore.Tx, j *job) (err, lost error) {
	if err := j.ctx.Err(); err != nil {
		return err, nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT job"); err != nil {
		return err, nil
	}
	mark := w.sums.mark()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store: write panicked: %v", p)
		}
		end := "RELEASE job"
		if err != nil {
			end = "ROLLBACK TO job; RELEASE job"
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
