package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// jobStore is the queue of jobs in the database.
type jobStore interface {
	store.Jobs
	store.JobItems
	store.JobUpkeep
	store.Requests
}

// jobs runs the jobs of a data directory: one goroutine for each kind takes jobs from the queue in
// the store.
type jobs struct {
	store jobStore
	log   *slog.Logger
	now   func() time.Time
	kinds map[string]*jobKind

	// Writes that can fail on a full disk go through these, so that tests can replace them.
	writes jobWrites
	put    func(ctx context.Context, namespace string, d ragctx.Document, root string) (store.Put, error)

	life context.Context //nolint:containedctx // ends the jobs with the engine
	end  context.CancelFunc
	wg   sync.WaitGroup

	// pickMu is held while a job moves from the queue to its runner, so that a cancellation finds it
	// in one of them.
	pickMu sync.Mutex

	mu       sync.Mutex
	started  bool
	closed   bool
	running  map[string]*runningJob
	watchers map[string]map[chan struct{}]bool

	ended endedJobs

	// receiving has the jobs that this process receives items for. receivingMu is held while one is
	// registered, and while abandoned ones are looked for.
	receivingMu sync.RWMutex
	receiving   sync.Map // from job number to true
}

// jobWrites are the writes of jobs that need disk space. Tests replace them to simulate a full
// disk.
type jobWrites interface {
	AddItems(ctx context.Context, job int64, items []store.JobItem) error
	SaveOutcomes(ctx context.Context, job int64, items []store.JobItem) error
	QueueJob(ctx context.Context, n int64, t store.JobTotals) error
	SaveJob(ctx context.Context, j store.Job) error
}

type jobKind struct {
	name string
	run  func(context.Context, *runningJob) error
	wake chan struct{}
}

func newJobs(e *core) *jobs {
	s, o := e.store, e.opts
	js := &jobs{
		store: s, writes: s, put: e.Documents().Put, log: o.Logger, now: o.Now,
		kinds:   make(map[string]*jobKind),
		running: make(map[string]*runningJob), watchers: make(map[string]map[chan struct{}]bool),
	}
	js.life, js.end = context.WithCancel(context.Background())
	return js
}

// start starts the runners. Further calls do nothing.
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

// close interrupts the running jobs; they continue when the directory is opened again.
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
			s.log.Error("reading the job queue failed", "kind", k.name, "error", err)
			s.pause(retryDelay)
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

// pause waits for d or until the engine closes.
func (s *jobs) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.life.Done():
	}
}

func (s *jobs) next(k *jobKind) (*runningJob, error) {
	s.pickMu.Lock()
	defer s.pickMu.Unlock()
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

// find returns a job that runs in this process, or nil.
func (s *jobs) find(id string) *runningJob {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// cancel stops a running job or removes it from the queue. It returns the job if it runs.
func (s *jobs) cancel(ctx context.Context, id string) (*runningJob, error) {
	s.pickMu.Lock()
	defer s.pickMu.Unlock()
	if r := s.find(id); r != nil {
		r.stop()
		return r, nil
	}
	wasQueued, err := s.store.CancelQueued(ctx, id)
	if wasQueued {
		s.ended.add(store.JobCancelled)
	}
	s.changed(id)
	return nil, err
}

// run runs a job until it ends or the engine closes.
func (s *jobs) run(k *jobKind, r *runningJob) {
	id := r.snapshot().ID
	var beats sync.WaitGroup
	beating, stop := context.WithCancel(s.life)
	beats.Go(func() { r.heartbeat(beating) })
	err := s.attempt(k, r)
	stop()
	beats.Wait()
	if err == nil || r.isCancelled() || s.life.Err() == nil {
		s.finish(r, err)
	} else { // continued after the next opening
		_ = r.save(context.WithoutCancel(s.life)) // only progress is lost
	}
	r.cancel()
	s.mu.Lock()
	delete(s.running, id)
	s.mu.Unlock()
	close(r.ended)
	s.changed(id)
}

// attempt calls the kind's run function; a panic becomes an error.
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

// finish stores how a job ended. Until that is stored, the job has not ended, and no other of its
// kind starts.
func (s *jobs) finish(r *runningJob, err error) {
	state, text := store.JobDone, ""
	switch {
	case err == nil:
	case r.isCancelled():
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
			err = s.store.DeleteItems(context.WithoutCancel(s.life), end.N, store.ItemPending)
		}
		if err == nil || errors.Is(err, ragctx.ErrConflict) {
			break
		}
		if s.life.Err() != nil {
			return
		}
		s.log.Error("storing the end of a job failed", "job", end.ID, "error", err)
		s.pause(retryDelay)
	}
	s.ended.add(state)
	r.update(func(j *store.Job) { *j = end })
}

// janitor removes expired jobs and answers, and items of jobs that were never accepted.
func (s *jobs) janitor() {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if err := s.prune(s.life); err != nil && s.life.Err() == nil {
			s.log.Warn("removing expired jobs failed", "error", err)
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
		if err := s.store.DeleteJob(ctx, n); err != nil {
			return err
		}
	}
	return s.store.PruneResponses(ctx, s.now().Add(-KeepAnswers))
}

// received notes that no more items of a job are received. It waits while expired compares the jobs of the store with
// those that are received: a job accepted in between would seem to be nobody's.
func (s *jobs) received(n int64) {
	s.receivingMu.RLock()
	defer s.receivingMu.RUnlock()
	s.receiving.Delete(n)
}

// expired returns the jobs to remove.
func (s *jobs) expired(ctx context.Context) ([]int64, error) {
	s.receivingMu.Lock()
	defer s.receivingMu.Unlock()
	ended, receiving, err := s.store.ExpiredJobs(ctx, s.now().Add(-KeepJobs))
	for _, n := range receiving {
		if _, ours := s.receiving.Load(n); !ours {
			ended = append(ended, n)
		}
	}
	return ended, err
}
