package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// jobs runs the jobs of a data directory: for each kind one goroutine that takes
// the next one from the store, where they are queued.
type jobs struct {
	store *store.Store
	log   *slog.Logger
	now   func() time.Time
	keep  time.Duration
	kinds map[string]*jobKind

	// What can fail for want of space goes through these.
	writes jobWrites
	put    func(ctx context.Context, namespace string, d docs.Document, root string) (store.Put, error)

	life context.Context //nolint:containedctx // ends the jobs with the engine
	end  context.CancelFunc
	wg   sync.WaitGroup

	// pick is held while a job goes from the queue to its runner, so that
	// cancelling meets it in the one or with the other.
	pick sync.Mutex

	mu       sync.Mutex
	started  bool
	closed   bool
	running  map[string]*runningJob
	watchers map[string]map[chan struct{}]bool

	ended endedJobs

	// spools are the jobs that are taken in by this process at the moment;
	// spooling is held while one becomes known and while others are looked for.
	spooling sync.RWMutex
	spools   sync.Map // N to true
}

// jobWrites are the writes of jobs that take room. It is an interface so that
// tests can have a full disk.
type jobWrites interface {
	AddItems(ctx context.Context, job int64, items []store.JobItem) error
	SettleItems(ctx context.Context, job int64, items []store.JobItem) error
	QueueJob(ctx context.Context, n int64, t store.Tally) error
	SaveJob(ctx context.Context, j store.Job) error
}

type jobKind struct {
	name string
	run  func(context.Context, *runningJob) error
	wake chan struct{}
}

func newJobs(e *Engine) *jobs {
	s, o := e.store, e.opts
	js := &jobs{
		store: s, writes: s, put: e.PutDocument, log: o.Logger, now: o.Now, keep: cmp.Or(o.KeepJobs, DefaultKeepJobs), kinds: make(map[string]*jobKind),
		running: make(map[string]*runningJob), watchers: make(map[string]map[chan struct{}]bool),
	}
	js.life, js.end = context.WithCancel(context.Background())
	return js
}

// start begins to run what is queued. It does nothing the second time.
func (s *jobs) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.closed {
		return
	}
	s.started = true
	for _, k := range s.kinds {
		s.wg.Go(func() { s.work(k) })
	}
	s.wg.Go(s.janitor)
}

// close ends what runs; it goes on when the directory is opened again.
func (s *jobs) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.wg.Wait()
}

func (s *jobs) wake(kind string) {
	if k := s.kinds[kind]; k != nil {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// work runs the jobs of a kind.
func (s *jobs) work(k *jobKind) {
	for s.life.Err() == nil {
		r, err := s.next(k)
		if err != nil && s.life.Err() != nil {
			return
		}
		if err != nil {
			s.log.Error("look for jobs", "kind", k.name, "error", err)
			s.pause(retryWriteIn)
			continue
		}
		if r != nil {
			s.run(k, r)
			continue
		}
		select {
		case <-k.wake:
		case <-s.life.Done():
		}
	}
}

// pause waits, but not beyond the end.
func (s *jobs) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.life.Done():
	}
}

func (s *jobs) next(k *jobKind) (*runningJob, error) {
	s.pick.Lock()
	defer s.pick.Unlock()
	j, ok, err := s.store.NextJob(s.life, k.name)
	if err != nil || !ok {
		return nil, err
	}
	r := &runningJob{jobs: s, ended: make(chan struct{}), began: time.Now()}
	j.State, j.Heartbeat = store.JobRunning, s.now()
	if j.Started.IsZero() {
		j.Started = j.Heartbeat
	}
	r.job = j
	r.done, _ = Job{Job: j}.Done()
	r.ctx, r.cancel = context.WithCancel(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[j.ID] = r
	return r, nil
}

// find returns a job that runs here, or nil.
func (s *jobs) find(id string) *runningJob {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// cancel tells a running job to end, or takes it out of the queue. It returns
// the job if that runs.
func (s *jobs) cancel(ctx context.Context, id string) (*runningJob, error) {
	s.pick.Lock()
	defer s.pick.Unlock()
	if r := s.find(id); r != nil {
		r.stop()
		return r, nil
	}
	waited, err := s.store.CancelWaiting(ctx, id)
	if waited {
		s.ended.add(store.JobCancelled)
	}
	s.changed(id)
	return nil, err
}

// run runs a job to its end, or to that of the engine.
func (s *jobs) run(k *jobKind, r *runningJob) {
	id := r.snapshot().ID
	var beats sync.WaitGroup
	beating, stop := context.WithCancel(s.life)
	beats.Go(func() { r.beat(beating) })
	err := s.attempt(k, r)
	stop()
	beats.Wait()
	if err == nil || r.stopped() || s.life.Err() == nil {
		s.finish(r, err)
	} else { // to be continued after the next opening
		_ = r.save(context.WithoutCancel(s.life)) // but for the progress nothing is lost
	}
	r.cancel()
	s.mu.Lock()
	delete(s.running, id)
	s.mu.Unlock()
	close(r.ended)
	s.changed(id)
}

// attempt calls the kind's func; a panic is an error.
func (s *jobs) attempt(k *jobKind, r *runningJob) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("job panicked", "job", r.snapshot().ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("job panicked: %v", p)
		}
	}()
	if err := r.save(r.ctx); err != nil {
		return err
	}
	return k.run(r.ctx, r)
}

// finish stores how a job ended. As long as that cannot be stored, the job has
// not ended, and none of its kind begins.
func (s *jobs) finish(r *runningJob, err error) {
	state, text := store.JobDone, ""
	switch {
	case err == nil:
	case r.stopped():
		state = store.JobCancelled
	default:
		state, text = store.JobFailed, publicError(err)
		s.log.Error("job failed", "job", r.snapshot().ID, "error", err)
	}
	end := r.snapshot().Job
	end.State, end.Error, end.Stage, end.Finished = state, text, "", s.now()
	for {
		err := s.writes.SaveJob(context.WithoutCancel(s.life), end)
		if err == nil && state == store.JobCancelled {
			err = s.store.DropItems(context.WithoutCancel(s.life), end.N, store.ItemPending)
		}
		if err == nil || errors.Is(err, ragctx.ErrConflict) {
			break
		}
		if s.life.Err() != nil {
			return
		}
		s.log.Error("store the end of a job", "job", end.ID, "error", err)
		s.pause(retryWriteIn)
	}
	s.ended.add(state)
	r.update(func(j *store.Job) { *j = end })
}

// janitor removes what is too old, and what was never accepted.
func (s *jobs) janitor() {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if err := s.prune(s.life); err != nil && s.life.Err() == nil {
			s.log.Warn("remove old jobs", "error", err)
		}
		select {
		case <-tick.C:
		case <-s.life.Done():
			return
		}
	}
}

func (s *jobs) prune(ctx context.Context) error {
	old, err := s.expired(ctx)
	if err != nil {
		return err
	}
	for _, n := range old {
		if err := s.store.DropJob(ctx, n); err != nil {
			return err
		}
	}
	return s.store.PruneAnswers(ctx, s.now().Add(-KeepAnswers))
}

// expired returns the jobs that can go.
func (s *jobs) expired(ctx context.Context) ([]int64, error) {
	s.spooling.Lock()
	defer s.spooling.Unlock()
	ended, spooling, err := s.store.ExpiredJobs(ctx, s.now().Add(-s.keep))
	for _, n := range spooling {
		if _, ours := s.spools.Load(n); !ours {
			ended = append(ended, n)
		}
	}
	return ended, err
}
