package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
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

// maxBatch bounds how long one commit can take, and so how long the next
// write waits: about 5 ms of work.
const maxBatch = 5 * time.Millisecond

// writer is the one goroutine that writes. It commits what is waiting in one
// transaction (group commit: one fsync for many writers), each job in a
// savepoint of its own, so that a failed job takes no other with it.
type writer struct {
	db    *sql.DB
	queue [priorities]chan *job
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once
}

type job struct {
	ctx  context.Context //nolint:containedctx // the job travels to the writer together with its caller's context
	run  func(context.Context, *sql.Tx) error
	err  error
	done chan struct{}
}

func startWriter(db *sql.DB) *writer {
	w := &writer{db: db, stop: make(chan struct{}), done: make(chan struct{})}
	for p := range w.queue {
		w.queue[p] = make(chan *job, 64)
	}
	go w.loop()
	return w
}

// do runs fn in a transaction and returns once it is durable. fn may run at
// most once; when ctx ends before fn began, it does not run.
func (w *writer) do(ctx context.Context, p Priority, fn func(context.Context, *sql.Tx) error) error {
	j := &job{ctx: ctx, run: fn, done: make(chan struct{})}
	select {
	case <-w.stop:
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	default:
	}
	select {
	case w.queue[p] <- j:
	case <-ctx.Done():
		return ctx.Err()
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

func (w *writer) loop() {
	defer close(w.done)
	for {
		j := w.next(true)
		if j == nil {
			return
		}
		w.commit(j)
	}
}

// next takes the most urgent waiting job. With block it waits for one, and
// returns nil only when the writer is closed and nothing is left.
func (w *writer) next(block bool) *job {
	for p := range w.queue {
		select {
		case j := <-w.queue[p]:
			return j
		default:
		}
	}
	if !block {
		return nil
	}
	select {
	case j := <-w.queue[High]:
		return j
	case j := <-w.queue[Low]:
		return j
	case <-w.stop:
		return w.next(false)
	}
}

// commit runs first and whatever else is waiting in one transaction.
func (w *writer) commit(first *job) {
	// Not a caller's context: one caller going away must not undo the others.
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		first.finish(err)
		return
	}
	var jobs []*job
	start := time.Now()
	for j := first; j != nil; j = w.next(false) {
		if err := w.attempt(ctx, tx, j); err != nil {
			j.finish(err)
		} else {
			jobs = append(jobs, j)
		}
		if time.Since(start) > maxBatch {
			break
		}
	}
	err = tx.Commit()
	if err != nil {
		err = errors.Join(fmt.Errorf("commit: %w", err), ignoreDone(tx.Rollback()))
	}
	for _, j := range jobs {
		j.finish(err)
	}
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// attempt runs one job inside a savepoint.
func (w *writer) attempt(ctx context.Context, tx *sql.Tx, j *job) (err error) {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store: write panicked: %v", p)
		}
		end := "RELEASE job"
		if err != nil {
			end = "ROLLBACK TO job; RELEASE job"
		}
		if _, eerr := tx.ExecContext(ctx, end); eerr != nil {
			err = errors.Join(err, eerr)
		}
	}()
	return j.run(ctx, tx)
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
