package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Defaults of [PoolOptions].
const (
	DefaultPoolSize   = 2
	DefaultPoolMemory = 512 << 20
	DefaultPoolIdle   = time.Minute
)

// PoolOptions configure the processes of a [Pool]. Argv is required.
type PoolOptions struct {
	// Argv starts a process that calls [ServeWorker] on its standard input and output: a program's
	// path and its arguments. No shell is used.
	Argv []string
	// Size is the maximum number of processes, each reading one file at a time; default 2.
	Size int
	// MaxMemory bounds the memory of a process in bytes; default 512 MiB, at least 64 MiB.
	MaxMemory int64
	// Idle is how long an idle process is kept; default one minute.
	Idle time.Duration
	// Env is added to the environment of the processes. Otherwise they get only the variables that
	// a program needs to run, because they read hostile files and must not know secrets.
	Env []string
}

// Pool reads files of isolated formats in separate processes. A file whose reader hangs, takes too
// much memory or crashes fails alone; its process is killed and replaced. Processes start on
// demand. They end when idle, on Close, and when the parent process ends for any reason. A Pool is
// safe for concurrent use; the caller must Close it.
//
// Plain text is read in the calling process. An archive or a mail is unpacked there, too, within
// the limits of [Options]; each member is then read like any other file.
type Pool struct {
	opts  PoolOptions
	slots chan struct{} // one for each process that may run
	ctx   context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup // Reads that use a process

	mu     sync.Mutex
	closed bool
	idle   []*child // the most recently used last
}

// errClosed reports that the pool was closed.
var errClosed = errors.New("the file readers are shut down")

// minPoolMemory is the memory that a process needs for itself.
const minPoolMemory = 64 << 20

// NewPool returns a pool. No process runs until the first Read that needs one.
func NewPool(o PoolOptions) (*Pool, error) {
	if len(o.Argv) == 0 {
		return nil, errors.New("extract: PoolOptions.Argv is empty; name the program that serves as a worker")
	}
	o.Argv = slices.Clone(o.Argv)
	o.Size = cmp.Or(max(o.Size, 0), DefaultPoolSize)
	o.MaxMemory = max(cmp.Or(max(o.MaxMemory, 0), DefaultPoolMemory), minPoolMemory)
	o.Idle = cmp.Or(max(o.Idle, 0), DefaultPoolIdle)
	ctx, stop := context.WithCancel(context.Background())
	return &Pool{opts: o, slots: make(chan struct{}, o.Size), ctx: ctx, stop: stop}, nil
}

// Read is [Read] with isolated formats read in processes of the pool.
func (p *Pool) Read(ctx context.Context, f File, o Options) iter.Seq2[Text, error] {
	o = o.withDefaults()
	return func(yield func(Text, error) bool) {
		newReading(f, o, yield, p.readOne).file(ctx, "", f, 0)
	}
}

// Close ends all processes and waits for them. Reads under way fail.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	p.stop()
	for _, c := range idle {
		c.timer.Stop()
		c.end()
	}
	p.wg.Wait()
	return nil
}

// enter registers a Read that Close has to wait for.
func (p *Pool) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	p.wg.Add(1)
	return nil
}

// readOne reads one file in a process. An idle process may have died in the meantime; the file is
// then retried with another process.
func (p *Pool) readOne(ctx context.Context, f File, o Options) (Text, error) {
	if err := p.enter(); err != nil {
		return Text{}, err
	}
	defer p.wg.Done()
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return Text{}, ctx.Err()
	case <-p.ctx.Done():
		return Text{}, errClosed
	}
	defer func() { <-p.slots }()
	for {
		c, err := p.acquire()
		if err != nil {
			return Text{}, fmt.Errorf("cannot be read: its reader process does not start: %w", err)
		}
		t, outcome, err := p.ask(ctx, c, f, o)
		if outcome == outcomeAnswered {
			p.release(c)
			return t, err
		}
		if outcome == outcomeDied && c.used {
			continue
		}
		return Text{}, err
	}
}

// outcome is the state of a process after a request.
type outcome int

const (
	outcomeAnswered outcome = iota // it can take the next request
	outcomeDied                    // it ended without an answer
	outcomeKilled                  // it was killed, or misbehaved
)

// ask sends a file to a process. Unless the outcome is outcomeAnswered, the process has ended on
// return.
func (p *Pool) ask(ctx context.Context, c *child, f File, o Options) (Text, outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout+killGrace)
	defer cancel()
	defer context.AfterFunc(ctx, c.kill)()
	defer context.AfterFunc(p.ctx, c.kill)()
	t, err := c.exchange(f, o, p.opts.MaxMemory)
	var refused *Error
	if err == nil || errors.As(err, &refused) {
		return t, outcomeAnswered, err
	}
	code, stderr := c.end()
	switch {
	case p.ctx.Err() != nil:
		return t, outcomeKilled, errClosed
	case ctx.Err() != nil:
		return t, outcomeKilled, ctx.Err() // the caller's context or the file's timeout
	case code == exitMemory || stderr.outOfMemory():
		return t, outcomeKilled, refuse("needs more than %d MiB of memory to read; split it", p.opts.MaxMemory>>20)
	case errors.Is(err, errMalformed):
		return t, outcomeKilled, refuse("cannot be read: its reader process sent a malformed response")
	}
	return t, outcomeDied, refuse("is damaged, or of a kind that cannot be read: "+
		"its reader process ended (status %d)", code)
}

// killGrace is how long a process has, after a file's timeout, to report the timeout itself.
const killGrace = time.Second

// acquire returns an idle process, or starts one.
func (p *Pool) acquire() (*child, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		c.timer.Stop()
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return startChild(p.opts)
}

// release makes a process idle, or ends it after Close.
func (p *Pool) release(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.end()
		return
	}
	c.used = true
	p.idle = append(p.idle, c)
	c.timer = time.AfterFunc(p.opts.Idle, func() { p.expire(c) })
}

// expire ends a process that is still idle.
func (p *Pool) expire(c *child) {
	p.mu.Lock()
	i := slices.Index(p.idle, c)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		p.wg.Add(1) // closed is not set, or the process would not be idle
	}
	p.mu.Unlock()
	if i >= 0 {
		c.end()
		p.wg.Done()
	}
}
