package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// runningJob is a running job and its progress. Its methods are safe for concurrent use.
type runningJob struct {
	jobs   *jobs
	ctx    context.Context //nolint:containedctx // the job's own life
	cancel context.CancelFunc
	ended  chan struct{} // closed once the job has ended or was interrupted

	began time.Time // when this process started it
	done  float64   // completed fraction at that time

	mu        sync.Mutex
	job       store.Job
	at        string // see [Job.Current]
	cancelled bool   // cancelled by its owner
	saving    sync.Mutex
}

// request decodes the request that the job was submitted with.
func (r *runningJob) request(into any) error {
	return decodeRequest(r.snapshot(), into)
}

func decodeRequest(j Job, into any) error {
	if err := json.Unmarshal(j.Request, into); err != nil {
		return fmt.Errorf("read the job's request: %w", err)
	}
	return nil
}

// update changes the progress and notifies the watchers. The next heartbeat stores it.
func (r *runningJob) update(change func(*store.Job)) {
	r.mu.Lock()
	change(&r.job)
	id := r.job.ID
	r.mu.Unlock()
	r.jobs.changed(id)
}

// stage sets the current stage.
func (r *runningJob) stage(s string) { r.update(func(j *store.Job) { j.Stage = s }) }

// setAt sets the item just processed. Watchers see it with the next update.
func (r *runningJob) setAt(at string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
}

// result sets the job's result, which the next heartbeat or the end stores.
func (r *runningJob) result(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the job's result: %w", err)
	}
	r.update(func(j *store.Job) { j.Result = b })
	return nil
}

// snapshot returns the current state of the job.
func (r *runningJob) snapshot() Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := Job{Job: r.job}
	if j.State == store.JobRunning {
		j.Current = r.at
		j.ETASeconds = eta(j, r.done, time.Since(r.began))
	}
	return j
}

// eta returns the remaining seconds of a job that advanced from the fraction from to its present
// one in took; nil if that is too little to extrapolate.
func eta(j Job, from float64, took time.Duration) *float64 {
	at, ok := j.Done()
	if !ok || took < time.Second || at-from < 0.001 {
		return nil
	}
	left := math.Round(took.Seconds()*(1-at)/(at-from)*10) / 10
	return &left
}

// stop cancels the job for its owner.
func (r *runningJob) stop() {
	r.mu.Lock()
	r.cancelled = true
	r.mu.Unlock()
	r.cancel()
}

func (r *runningJob) isCancelled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancelled
}

// heartbeat stores the progress periodically.
func (r *runningJob) heartbeat(ctx context.Context) {
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.update(func(j *store.Job) { j.Heartbeat = r.jobs.now() })
			if err := r.save(ctx); err != nil && ctx.Err() == nil {
				r.jobs.log.WarnContext(ctx, "storing the progress of a job failed", "job", r.snapshot().ID, "error",
					err)
			}
		}
	}
}

// save stores the progress.
func (r *runningJob) save(ctx context.Context) error {
	r.saving.Lock() // an older state must not be stored after a newer one
	defer r.saving.Unlock()
	return r.jobs.writes.SaveJob(ctx, r.snapshot().Job)
}

// changed notifies the watchers of a job.
func (s *jobs) changed(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.watchers[id] {
		select {
		case c <- struct{}{}:
		default: // a notification is pending
		}
	}
}

// watch yields the job and its updates until it has ended.
func (s *jobs) watch(ctx context.Context, id string, yield func(Job, error) bool) error {
	updates := make(chan struct{}, 1)
	if err := s.listen(id, updates); err != nil {
		return err
	}
	defer s.unlisten(id, updates)
	for {
		j, err := s.get(ctx, id)
		if err != nil {
			return err
		}
		if !yield(j, nil) || j.State.Ended() {
			return nil
		}
		if err := s.await(ctx, id, updates); err != nil {
			return err
		}
	}
}

func (s *jobs) listen(id string, updates chan struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("engine: %w", ragctx.ErrClosed)
	}
	if s.watchers[id] == nil {
		s.watchers[id] = make(map[chan struct{}]bool)
	}
	s.watchers[id][updates] = true
	return nil
}

func (s *jobs) unlisten(id string, updates chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.watchers[id], updates); len(s.watchers[id]) == 0 {
		delete(s.watchers, id)
	}
}

// await returns once the job has changed and watchInterval has passed, or it has ended.
func (s *jobs) await(ctx context.Context, id string, updates <-chan struct{}) error {
	timer := time.NewTimer(watchInterval)
	defer timer.Stop()
	waited, changed := false, false
	for {
		select {
		case <-updates:
			changed = true
		case <-timer.C:
			waited = true
		case <-ctx.Done():
			return ctx.Err()
		case <-s.life.Done():
			return fmt.Errorf("engine: %w", ragctx.ErrClosed)
		}
		switch {
		case !changed:
		case waited:
			return nil
		default:
			if j, err := s.get(ctx, id); err != nil || j.State.Ended() {
				return err
			}
		}
	}
}

func (s *jobs) get(ctx context.Context, id string) (Job, error) {
	if r := s.find(id); r != nil {
		return r.snapshot(), nil
	}
	j, err := s.store.Job(ctx, id)
	return Job{Job: j}, err
}
