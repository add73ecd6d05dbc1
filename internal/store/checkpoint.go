package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// logLimits are lengths of the write-ahead log in pages of 4 KiB. From copy on
// what is in it is copied into the database file, beside the writer. From reset
// on the writer pauses for a moment so that the copy gets complete and the log
// starts over, and the longer the log, the longer it waits for those who read
// from it; from full on as long as it takes.
type logLimits struct{ copy, reset, full int }

func defaultLimits() logLimits { return logLimits{copy: 1000, reset: 32_000, full: 128_000} }

// How long the writer pauses at first and at most, and after which time without
// writes a long log is cut off.
const (
	pauseShort = 5 * time.Millisecond
	pauseLong  = 5 * time.Second
	logIdle    = 10 * time.Second
)

// logKept is how many bytes of a log that starts over stay on the disk.
const logKept = 256 << 20

// checkpointer keeps the write-ahead log short without holding up the writer,
// which SQLite would let do the copying within a commit. A log cannot start over
// while someone reads from it, so it grows with the longest read.
type checkpointer struct {
	db *sql.DB // one connection
	// file is the database file. It is closed after all connections: closing it takes
	// SQLite's locks off the file, which belong to the process.
	file  *os.File
	write *writer
	wake  chan struct{}   // something was committed
	life  context.Context //nolint:containedctx // ends with the goroutine
	end   context.CancelFunc
	wg    sync.WaitGroup

	full   func() bool // whether the disk is
	quiet  sync.Mutex  // held while something is copied or cut off
	limits logLimits
	tried  int // length of the log at the last try to reset it
}

// logState is what SQLite says of its log, in pages.
type logState struct{ blocked, pages, copied int }

func newCheckpointer(db *sql.DB, file *os.File) *checkpointer {
	c := &checkpointer{db: db, file: file, limits: defaultLimits(), wake: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// start begins to follow a writer.
func (c *checkpointer) start(w *writer) {
	c.write = w
	c.wg.Go(c.loop)
}

// committed says that the log may have grown.
func (c *checkpointer) committed() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *checkpointer) loop() {
	idle := time.NewTimer(logIdle)
	defer idle.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case <-c.wake:
			c.tend()
			idle.Reset(logIdle)
		case <-idle.C:
			c.truncate()
		}
	}
}

// tend does what the length of the log calls for. What fails is tried again
// after the next commit: the log is as good a place as the file.
func (c *checkpointer) tend() {
	c.quiet.Lock()
	defer c.quiet.Unlock()
	s, err := c.pragma("NOOP")
	if err == nil && c.full() && s.pages > 0 { // what there is of the log has to do
		_, _ = c.reset("RESTART", pauseShort)
		return
	}
	if err != nil || s.pages-s.copied < c.limits.copy {
		return
	}
	s, err = c.pragma("PASSIVE")
	if err != nil || s.pages < c.limits.reset {
		return
	}
	if s.pages < c.tried {
		c.tried = 0 // it has started over
	}
	if s.pages < c.tried+c.limits.reset {
		return
	}
	c.tried = s.pages
	wait := pauseLong
	if s.pages < c.limits.full {
		wait = pauseShort << (s.pages/c.limits.reset - 1)
	}
	_, _ = c.reset("RESTART", wait)
}

// makeRoom lets the log start over, so that what comes next needs no more of the disk.
func (c *checkpointer) makeRoom() {
	c.quiet.Lock()
	defer c.quiet.Unlock()
	_, _ = c.reset("RESTART", pauseLong/10)
}

// truncate cuts a long log off when nobody has written for a while.
func (c *checkpointer) truncate() {
	c.quiet.Lock()
	defer c.quiet.Unlock()
	if s, err := c.pragma("PASSIVE"); err == nil && s.pages >= c.limits.copy {
		_, _ = c.reset("TRUNCATE", pauseShort)
	}
}

// empty copies all of the log and cuts it off. It fails if reads that began
// before do not end for long.
func (c *checkpointer) empty(ctx context.Context) error {
	c.quiet.Lock()
	defer c.quiet.Unlock()
	for range 10 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := c.reset("TRUNCATE", pauseLong/10)
		if err != nil || s.blocked == 0 {
			return err
		}
	}
	return fmt.Errorf("%w: something reads the database for too long", ragctx.ErrUnavailable)
}

// copyAll copies what the log holds now into the file, beside the writer. If those who
// read from it are in the way for long, it does what empty does.
func (c *checkpointer) copyAll(ctx context.Context) error {
	held := -1
	for range copyTries {
		s, err := c.passive()
		if err != nil {
			return err
		}
		if s.pages >= 0 { // else another process copies at this moment, and nothing is known
			if held < 0 {
				held = s.pages
			}
			if s.copied >= held || s.pages < held { // it has started over, so all of it was copied
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pauseShort):
		}
	}
	return c.empty(ctx)
}

// copyTries is how often copyAll tries without holding up the writer.
const copyTries = 20

func (c *checkpointer) passive() (logState, error) {
	c.quiet.Lock()
	defer c.quiet.Unlock()
	return c.pragma("PASSIVE")
}

// readFile reads from the database file while nothing is copied into it: whole pages.
func (c *checkpointer) readFile(to []byte, at int64) (int, error) {
	c.quiet.Lock()
	defer c.quiet.Unlock()
	n, err := c.file.ReadAt(to, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// reset lets the log start over while the writer pauses.
func (c *checkpointer) reset(mode string, wait time.Duration) (s logState, err error) {
	for range 2 { // the second has little to do, and leaves the pause next to nothing
		if _, err := c.pragma("PASSIVE"); err != nil {
			return s, err
		}
	}
	ran := c.write.between(func() {
		if _, err = c.db.ExecContext(c.life, fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())); err == nil {
			s, err = c.pragma(mode)
		}
	})
	if !ran {
		err = fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	return s, err
}

// pragma has the log looked at or copied. Once the disk has failed to keep a write,
// nothing is copied any more: the log is what the next opening recovers from.
func (c *checkpointer) pragma(mode string) (logState, error) {
	var s logState
	if err := c.write.broken.Load(); err != nil && mode != "NOOP" {
		return s, *err
	}
	err := c.db.QueryRowContext(c.life, "PRAGMA wal_checkpoint("+mode+")").Scan(&s.blocked, &s.pages, &s.copied)
	if err != nil {
		c.write.suspect(err)
	}
	return s, err
}

func (c *checkpointer) close() error {
	c.end()
	c.wg.Wait()
	return c.db.Close()
}
