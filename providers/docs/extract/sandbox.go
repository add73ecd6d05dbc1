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

// PoolOptions say how a [Pool] runs its processes. Argv is required.
type PoolOptions struct {
	// Argv starts a process that calls [ServeWorker] on its standard input and
	// output: a program's path and its arguments. No shell is involved.
	Argv []string
	// Size is how many processes there are at most, each reading one file at a time;
	// default 2.
	Size int
	// MaxMemory is how many bytes a process may use; default 512 MiB, at least 64 MiB.
	MaxMemory int64
	// Idle is how long an idle process is kept; default one minute.
	Idle time.Duration
	// Env is added to the environment of the processes, which otherwise have only what
	// a program needs to run: they read hostile files, and shall know no secrets.
	Env []string
}

// Pool reads files of formats that need much code in processes of their own. A file
// whose reader hangs, takes too much memory or crashes fails alone; its process
// is killed and replaced. Processes start when they are needed, end when idle for
// a while and on Close, and when the process that started them ends, however it
// ends. A Pool is safe for concurrent use; Close it in the end.
//
// Text needs no process and is read where it is. An archive or a mail is unpacked
// here, within the limits of [Options]; each file in it is then read like any other.
type Pool struct {
	opts  PoolOptions
	slots chan struct{} // one for each process that may run
	ctx   context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup // of Reads that use a process

	mu     sync.Mutex
	closed bool
	idle   []*child // the most recently used last
}

// errClosed says that a pool was closed.
var errClosed = errors.New("the readers of files are shut down")

// minPoolMemory is what a process needs for itself.
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

// Read is [Read] with processes.
func (p *Pool) Read(ctx context.Context, f File, o Options) iter.Seq2[Text, error] {
	o = o.WithDefaults()
	return func(yield func(Text, error) bool) {
		newReading(f, o, yield, p.one).file(ctx, "", f, 0)
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

// enter counts a Read that Close has to wait for.
func (p *Pool) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	p.wg.Add(1)
	return nil
}

// one reads one file in a process. A process that was idle may have died meanwhile:
// then the file is given to a fresh one, once.
func (p *Pool) one(ctx context.Context, f File, o Options) (Text, error) {
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
		c, err := p.take()
		if err != nil {
			return Text{}, fmt.Errorf("cannot be read: its reader does not start: %w", err)
		}
		t, outcome, err := p.ask(ctx, c, f, o)
		if outcome == answered {
			p.release(c)
			return t, err
		}
		if outcome == silent && c.used {
			continue
		}
		return Text{}, err
	}
}

// outcome is what became of a process that was asked.
type outcome int

const (
	answered outcome = iota // it may be asked again
	silent                  // it died without a word
	ended                   // it was killed, or misbehaved
)

// ask gives a file to a process. Unless that answers, it has ended on return.
func (p *Pool) ask(ctx context.Context, c *child, f File, o Options) (Text, outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout+killGrace)
	defer cancel()
	defer context.AfterFunc(ctx, c.kill)()
	defer context.AfterFunc(p.ctx, c.kill)()
	t, err := c.exchange(f, o, p.opts.MaxMemory)
	var refused *Error
	if err == nil || errors.As(err, &refused) {
		return t, answered, err
	}
	code, said := c.end()
	switch {
	case p.ctx.Err() != nil:
		return t, ended, errClosed
	case ctx.Err() != nil:
		return t, ended, ctx.Err() // either the caller's end or the file's
	case code == exitMemory || said.outOfMemory():
		return t, ended, refuse("needs more than %d MiB of memory to read; split it", p.opts.MaxMemory>>20)
	case errors.Is(err, errGarbage):
		return t, ended, refuse("cannot be read: its reader does not answer as it should")
	}
	return t, silent, refuse("is damaged, or of a kind that cannot be read: its reader ended (status %d)", code)
}

// killGrace is how long a process has, after a file's time, to say so itself.
const killGrace = time.Second

// take returns an idle process, or starts one.
func (p *Pool) take() (*child, error) {
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

// release makes a process wait for its next file, or ends it after Close.
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
		p.wg.Add(1) // closed is not set: the process would not be idle
	}
	p.mu.Unlock()
	if i >= 0 {
		c.end()
		p.wg.Done()
	}
}
