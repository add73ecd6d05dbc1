package sqlite

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

// logLimits are lengths of the write-ahead log in pages of 4 KiB. From copy on, the log is copied
// into the database file concurrently with the writer. From reset on, the writer pauses briefly so
// that the copy completes and the log restarts; the longer the log, the longer the pause may wait
// for readers. From full on, it waits up to pauseLong.
type logLimits struct{ copy, reset, full int }

func defaultLimits() logLimits { return logLimits{copy: 1000, reset: 32_000, full: 128_000} }

// The writer's shortest and longest pause, and the idle time after which a long log is truncated.
const (
	pauseShort = 5 * time.Millisecond
	pauseLong  = 5 * time.Second
	logIdle    = 10 * time.Second
)

// logRetained is the number of bytes of a restarted log that stay allocated on the disk.
const logRetained = 256 << 20

// checkpointer keeps the write-ahead log short without blocking the writer: SQLite's own
// checkpoints run within a commit. A log cannot restart while a reader uses it, so it grows with
// the longest read.
type checkpointer struct {
	db *sql.DB // one connection
	// file is the database file. It is closed after all connections: closing it releases SQLite's
	// file locks, which belong to the whole process.
	file  *os.File
	write *writer
	wake  chan struct{}   // signals a commit
	life  context.Context //nolint:containedctx // ends with the goroutine
	end   context.CancelFunc
	wg    sync.WaitGroup

	full    func() bool // reports a full disk
	mu      sync.Mutex  // held while the log is copied or truncated
	limits  logLimits
	triedAt int // log length at the last attempt to restart it
}

// logState is SQLite's report on its log, in pages.
type logState struct{ blocked, pages, copied int }

func newCheckpointer(db *sql.DB, file *os.File) *checkpointer {
	c := &checkpointer{db: db, file: file, limits: defaultLimits(), wake: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// start follows the commits of a writer.
func (c *checkpointer) start(w *writer) {
	c.write = w
	c.wg.Go(c.loop)
}

// committed signals that the log may have grown.
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
			c.maintain()
			idle.Reset(logIdle)
		case <-idle.C:
			c.truncate()
		}
	}
}

// maintain checkpoints as the length of the log requires. A failed attempt is repeated after the next
// commit: data in the log is as safe as in the file.
func (c *checkpointer) maintain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.pragma("NOOP")
	if err == nil && c.full() && s.pages > 0 { // the disk is full: reuse the log's space
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
	if s.pages < c.triedAt {
		c.triedAt = 0 // the log has restarted
	}
	if s.pages < c.triedAt+c.limits.reset {
		return
	}
	c.triedAt = s.pages
	wait := pauseLong
	if s.pages < c.limits.full {
		wait = pauseShort << (s.pages/c.limits.reset - 1)
	}
	_, _ = c.reset("RESTART", wait)
}

// restart restarts the log so that the next writes need no more disk space.
func (c *checkpointer) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.reset("RESTART", pauseLong/10)
}

// truncate truncates a long log after idle time.
func (c *checkpointer) truncate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, err := c.pragma("PASSIVE"); err == nil && s.pages >= c.limits.copy {
		_, _ = c.reset("TRUNCATE", pauseShort)
	}
}

// empty copies the whole log and truncates it. It fails if long reads that began before do not end.
func (c *checkpointer) empty(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// copyAll copies the current contents of the log into the file, concurrently with the writer. If
// readers block it for too long, it calls empty.
func (c *checkpointer) copyAll(ctx context.Context) error {
	held := -1
	for range copyTries {
		s, err := c.passive()
		if err != nil {
			return err
		}
		if s.pages >= 0 { // otherwise another process is copying and the state is unknown
			if held < 0 {
				held = s.pages
			}
			if s.copied >= held || s.pages < held { // a shorter log has restarted, so it was copied completely
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

// copyTries limits the attempts of copyAll before it pauses the writer.
const copyTries = 20

func (c *checkpointer) passive() (logState, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pragma("PASSIVE")
}

// readFile reads whole pages from the database file while no checkpoint runs.
func (c *checkpointer) readFile(to []byte, at int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.file.ReadAt(to, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// reset restarts the log while the writer pauses.
func (c *checkpointer) reset(mode string, wait time.Duration) (s logState, err error) {
	for range 2 { // the second pass is short and shortens the pause
		if _, err := c.pragma("PASSIVE"); err != nil {
			return s, err
		}
	}
	ran := c.write.pauseWrites(func() {
		if _, err = c.db.ExecContext(c.life, fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())); err == nil {
			s, err = c.pragma(mode)
		}
	})
	if !ran {
		err = fmt.Errorf("store: %w", ragctx.ErrClosed)
	}
	return s, err
}

// pragma runs a checkpoint in the given mode. After a failed write it copies nothing: the next
// opening recovers from the log.
func (c *checkpointer) pragma(mode string) (logState, error) {
	var s logState
	if err := c.write.broken.Load(); err != nil && mode != "NOOP" {
		return s, *err
	}
	err := c.db.QueryRowContext(c.life, "PRAGMA wal_checkpoint("+mode+")").Scan(&s.blocked, &s.pages, &s.copied)
	if err != nil {
		c.write.checkSync(err)
	}
	return s, err
}

func (c *checkpointer) close() error {
	c.end()
	c.wg.Wait()
	return c.db.Close()
}
