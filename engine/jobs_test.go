package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

func paused(o *engine.Options) { o.PauseJobs = true }

// spool accepts a job; each line is "id=text", or "-id" to delete.
func (f *fixture) spool(lines ...string) engine.Job {
	f.t.Helper()
	s, err := f.Jobs().QueueDocuments(f.t.Context(), engine.DocumentQueueOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer s.Close()
	for n, line := range lines {
		id, text, put := strings.Cut(line, "=")
		if put {
			err = s.Put(f.t.Context(), n+1, ragctx.Document{ExternalID: id, Text: text}, engine.Origin{})
		} else {
			err = s.Delete(f.t.Context(), n+1, strings.TrimPrefix(id, "-"))
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	j, err := s.Accept(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return j
}

func (f *fixture) await(id string) engine.Job {
	f.t.Helper()
	j, err := f.Jobs().Await(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return j
}

func (f *fixture) items(id string, state store.ItemState) []store.JobItem {
	f.t.Helper()
	items, err := f.Jobs().Items(f.t.Context(), id, store.ItemFilter{State: state})
	if err != nil {
		f.t.Fatal(err)
	}
	return items
}

func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("d%04d=Number w%d stands here.", i, i)
	}
	return lines
}

func TestBulk(t *testing.T) {
	f := open(t, spelling)
	f.put("old", "alpha")
	f.put("same", "beta")
	f.put("gone", "gamma")
	j := f.spool("new=delta", "old=epsilon", "same=beta", "-gone", "-never", "bad= ", "=no id")
	if j.ID == "" || j.Items != 7 || j.Counts.Failed != 2 {
		t.Errorf("accepted: %+v", j)
	}
	j = f.await(j.ID)
	want := store.JobCounts{Created: 1, Replaced: 1, Unchanged: 2, Deleted: 1, Failed: 2}
	if j.State != store.JobDone || j.Counts != want || j.Finished.IsZero() || j.Started.IsZero() || j.Heartbeat.IsZero() || j.Stage != "" {
		t.Errorf("ended: %+v", j)
	}
	failed := f.items(j.ID, store.ItemFailed)
	if len(failed) != 2 || failed[0].N != 6 || failed[0].Field != "text" || !strings.Contains(failed[0].Error, "empty") || failed[1].Field != "id" {
		t.Errorf("failed: %+v", failed)
	}
	if got := f.ids(); !slices.Equal(got, []string{"new", "old", "same"}) {
		t.Errorf("ids %v", got)
	}
	if len(f.found(query("delta"))) != 1 || len(f.found(query("gamma"))) != 0 {
		t.Error("what a job did is not what is found")
	}
	if _, err := f.Jobs().Retry(t.Context(), j.ID); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("retry of what cannot be done: %v", err)
	}
	if _, err := f.Jobs().Cancel(t.Context(), j.ID); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("cancel of what has ended: %v", err)
	}
	if _, err := f.Jobs().Get(t.Context(), "nope"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("unknown job: %v", err)
	}
}

// TestJobsAndTheLastWins: whatever the order of puts and deletes in several jobs,
// the last word on each document counts.
func TestJobsAndTheLastWins(t *testing.T) {
	f := open(t)
	line := rapid.Custom(func(rt *rapid.T) string {
		id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
		return rapid.SampledFrom([]string{"-" + id, id + "=one", id + "=two", id + "=three"}).Draw(rt, "line")
	})
	jobs := rapid.SliceOfN(rapid.SliceOfN(line, 1, 12), 1, 3)
	for seed := range 12 {
		var last engine.Job
		model := make(map[string]string)
		for _, lines := range jobs.Example(seed) {
			for _, l := range lines {
				id, text, _ := strings.Cut(strings.TrimPrefix(l, "-"), "=")
				model[id] = text
			}
			last = f.spool(lines...)
		}
		if j := f.await(last.ID); j.Counts.Sum() != j.Items || j.Counts.Failed > 0 {
			t.Fatalf("seed %d: %+v", seed, j)
		}
		for id, text := range model {
			_, got, err := f.Documents().Get(t.Context(), "", id, 0)
			if text == "" && !errors.Is(err, ragctx.ErrNotFound) || text != "" && got != text {
				t.Fatalf("seed %d: %s is %q, %v; want %q", seed, id, got, err, text)
			}
		}
	}
}

// gate lets n documents through and blocks the next ones until it is opened.
type gate struct {
	left    atomic.Int64
	open    chan struct{}
	blocked chan struct{} // has a value once something is blocked
	once    sync.Once
}

func newGate(n int) *gate {
	g := &gate{open: make(chan struct{}), blocked: make(chan struct{})}
	g.left.Store(int64(n))
	return g
}

func (g *gate) put(string) error {
	if g.left.Add(-1) < 0 {
		g.once.Do(func() { close(g.blocked) })
		<-g.open
	}
	return nil
}

func TestJobGoesOnAfterARestart(t *testing.T) {
	f := open(t, paused)
	g := newGate(20)
	f.Inject(engine.Faults{Put: g.put})
	f.Jobs().Start()
	j := f.spool(numbered(100)...)
	<-g.blocked
	crash := filepath.Join(t.TempDir(), "crash") // what a process that is killed now leaves behind
	if err := os.CopyFS(crash, os.DirFS(f.opts.Dir)); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(10 * time.Millisecond) // Close has begun, or not: both must do
		close(g.open)
	}()
	f.opts.PauseJobs = false
	f.reopen()
	check := func(f *fixture) {
		t.Helper()
		done := f.await(j.ID)
		if done.State != store.JobDone || done.Counts.Created+done.Counts.Unchanged != 100 || done.Counts.Sum() != done.Items {
			t.Errorf("%+v", done)
		}
		if got := f.ids(); len(got) != 100 {
			t.Errorf("%d documents", len(got))
		}
	}
	check(f)
	check(open(t, func(o *engine.Options) { o.Dir = crash }))
}

func TestCancelJob(t *testing.T) {
	f := open(t, paused)
	g := newGate(20)
	f.Inject(engine.Faults{Put: g.put})
	f.Jobs().Start()
	running, waiting := f.spool(numbered(100)...), f.spool("x=alpha")
	<-g.blocked
	if j, err := f.Jobs().Cancel(t.Context(), waiting.ID); err != nil || j.State != store.JobCancelled {
		t.Errorf("waiting: %+v, %v", j, err)
	}
	go func() {
		for !f.Cancelled(running.ID) {
			time.Sleep(time.Millisecond)
		}
		close(g.open)
	}()
	j, err := f.Jobs().Cancel(t.Context(), running.ID)
	if err != nil || j.State != store.JobCancelled || j.Counts.Created < 20 || j.Counts.Created > 40 {
		t.Errorf("running: %+v, %v", j, err)
	}
	if got := f.ids(); len(got) != j.Counts.Created {
		t.Errorf("%d documents, %d reported", len(got), j.Counts.Created)
	}
	if left := f.items(j.ID, store.ItemPending); len(left) > 0 {
		t.Errorf("%d items are pending", len(left))
	}
	if again, err := f.Jobs().Cancel(t.Context(), running.ID); err != nil || again.State != store.JobCancelled {
		t.Errorf("again: %+v, %v", again, err)
	}
	f.reopen()
	if j, err := f.Jobs().Get(t.Context(), running.ID); err != nil || j.State != store.JobCancelled {
		t.Errorf("after a restart: %+v, %v", j, err)
	}
}

// TestRetry: only what failed is done again, and nothing that a later item of
// the job has overtaken.
func TestRetry(t *testing.T) {
	f := open(t, paused)
	var broken atomic.Bool
	broken.Store(true)
	f.Inject(engine.Faults{Put: func(id string) error {
		switch {
		case !broken.Load():
			return nil
		case id == "d0500":
			return errors.New("no luck with /secret/path")
		case id == "twice" && broken.Load():
			broken.Store(false)
			return errors.New("once")
		}
		return nil
	}})
	f.Jobs().Start()
	lines := append(numbered(1000), "twice=first", "twice=second")
	broken.Store(true)
	j := f.await(f.spool(lines...).ID)
	if j.State != store.JobDone || j.Counts.Created != 1000 || j.Counts.Failed != 2 {
		t.Fatalf("%+v", j)
	}
	failed := f.items(j.ID, store.ItemFailed)
	if len(failed) != 2 || failed[0].N != 501 || failed[0].Key != "d0500" || strings.Contains(failed[0].Error, "secret") {
		t.Errorf("%+v", failed)
	}
	broken.Store(false)
	again, err := f.Jobs().Retry(t.Context(), j.ID)
	if err != nil || again.State != store.JobQueued || again.ID != j.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	j = f.await(j.ID)
	if j.Counts.Created != 1001 || j.Counts.Failed != 0 || j.Counts.Skipped != 1 || j.Items != 1002 {
		t.Errorf("%+v", j)
	}
	if _, text, err := f.Documents().Get(t.Context(), "", "twice", 0); err != nil || text != "second" {
		t.Errorf("twice is %q, %v", text, err)
	}
}

func TestPanicIsAnItemsError(t *testing.T) {
	f := open(t, paused)
	f.Inject(engine.Faults{Put: func(id string) error {
		if id == "b" {
			panic("at b")
		}
		return nil
	}})
	f.Jobs().Start()
	j := f.await(f.spool("a=alpha", "b=beta", "c=gamma").ID)
	if j.State != store.JobDone || j.Counts.Created != 2 || j.Counts.Failed != 1 {
		t.Errorf("%+v", j)
	}
}

func TestDiskFullWhileSpooling(t *testing.T) {
	f := open(t, paused)
	var adds atomic.Int64
	f.Inject(engine.Faults{Add: func() error {
		if adds.Add(1) == 2 {
			return fmt.Errorf("%w: injected", ragctx.ErrNoSpace)
		}
		return nil
	}})
	s, err := f.Jobs().QueueDocuments(t.Context(), engine.DocumentQueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; err == nil; n++ {
		err = s.Put(t.Context(), n, ragctx.Document{ExternalID: fmt.Sprint(n), Text: "alpha"}, engine.Origin{})
	}
	if !errors.Is(err, ragctx.ErrNoSpace) {
		t.Fatal(err)
	}
	if n, err := f.Spools(t.Context()); err != nil || n != 1 {
		t.Errorf("%d spools, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n, err := f.Spools(t.Context()); err != nil || n != 0 {
		t.Errorf("%d spools are left, %v", n, err)
	}
	if list, err := f.Jobs().List(t.Context(), store.JobFilter{}); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestDiskFullWhileRunning: a full disk fails the job, not its items; the retry processes the rest.
func TestDiskFullWhileRunning(t *testing.T) {
	for name, faults := range map[string]func(full *atomic.Bool) engine.Faults{
		"documents": func(full *atomic.Bool) engine.Faults {
			var n atomic.Int64
			return engine.Faults{Put: func(string) error { return noSpace(full, n.Add(1) > 10) }}
		},
		"outcomes": func(full *atomic.Bool) engine.Faults {
			return engine.Faults{Settle: func() error { return noSpace(full, true) }}
		},
		"and nothing can be said": func(full *atomic.Bool) engine.Faults {
			var saves, n atomic.Int64
			return engine.Faults{
				Put: func(string) error { return noSpace(full, n.Add(1) > 10) },
				Save: func(j store.Job) error {
					return noSpace(full, j.State == store.JobFailed && saves.Add(1) == 1)
				},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, paused)
			var full atomic.Bool
			full.Store(true)
			f.Inject(faults(&full))
			f.Jobs().Start()
			j := f.await(f.spool(numbered(100)...).ID)
			if j.State != store.JobFailed || !strings.Contains(j.Error, "full") || j.Counts.Failed > 0 {
				t.Errorf("%+v", j)
			}
			if left := f.items(j.ID, store.ItemPending); len(left) != 100-j.Counts.Sum() || len(left) == 0 {
				t.Errorf("%d items are pending of %+v", len(left), j)
			}
			full.Store(false)
			if _, err := f.Jobs().Retry(t.Context(), j.ID); err != nil {
				t.Fatal(err)
			}
			if j = f.await(j.ID); j.State != store.JobDone || j.Counts.Sum() != 100 || j.Error != "" || len(f.ids()) != 100 {
				t.Errorf("after the retry: %+v", j)
			}
		})
	}
}

func noSpace(full *atomic.Bool, now bool) error {
	if full.Load() && now {
		return fmt.Errorf("%w: injected", ragctx.ErrNoSpace)
	}
	return nil
}

// TestUnacceptedIsForgotten: a queue whose process ended before accepting it leaves nothing.
func TestUnacceptedIsForgotten(t *testing.T) {
	f := open(t, paused)
	s, err := f.Jobs().QueueDocuments(t.Context(), engine.DocumentQueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 600 {
		if err := s.Put(t.Context(), n+1, ragctx.Document{ExternalID: fmt.Sprint(n), Text: "alpha"}, engine.Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Spools(t.Context()); err != nil || n != 1 {
		t.Fatalf("the janitor took a spool that is under way: %d, %v", n, err)
	}
	f.reopen()
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Spools(t.Context()); err != nil || n != 0 {
		t.Errorf("%d spools, %v", n, err)
	}
	if _, err := s.Accept(t.Context()); err == nil {
		t.Error("a spool outlived its engine")
	}
}

func TestOldJobsArePruned(t *testing.T) {
	f := open(t)
	j := f.await(f.spool("a=alpha", "b= ").ID)
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Jobs().Get(t.Context(), j.ID); err != nil {
		t.Errorf("too early: %v", err)
	}
	f.clock.set(t0.Add(engine.KeepJobs + time.Minute))
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Jobs().Get(t.Context(), j.ID); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("an old job is there: %v", err)
	}
	if len(f.ids()) != 1 {
		t.Error("its documents went with it")
	}
}

func TestSpoolLimits(t *testing.T) {
	f := open(t)
	for name, o := range map[string]engine.DocumentQueueOptions{"items": {MaxItems: 2}, "bytes": {MaxBytes: 10}} {
		s, err := f.Jobs().QueueDocuments(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3 && err == nil; n++ {
			err = s.Put(t.Context(), n, ragctx.Document{ExternalID: fmt.Sprint(n), Text: "alpha"}, engine.Origin{})
		}
		if !errors.Is(err, ragctx.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
	s, err := f.Jobs().QueueDocuments(t.Context(), engine.DocumentQueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Accept(t.Context()); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("nothing: %v", err)
	}
}

func TestWatchJob(t *testing.T) {
	for _, err := range open(t).Jobs().Watch(t.Context(), "none") {
		if !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("no such job: %v", err)
		}
	}
	f := open(t, paused)
	g := newGate(1)
	f.Inject(engine.Faults{Put: g.put})
	f.Jobs().Start()
	j := f.spool(numbered(10)...)
	var last engine.Job
	for now, err := range f.Jobs().Watch(t.Context(), j.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if last.ID == "" {
			if now.ID != j.ID || now.State.Ended() {
				t.Errorf("first: %+v", now)
			}
			<-g.blocked
			close(g.open)
		}
		last = now
	}
	if last.State != store.JobDone || last.Counts.Created != 10 {
		t.Errorf("last: %+v", last)
	}
	f.RegisterJob("endless", nil) // nobody runs it
	waiting, err := f.SubmitJob(t.Context(), "endless", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct {
		ctx  context.Context
		end  func()
		want error
	}{{ctx, cancel, context.Canceled}, {t.Context(), func() { f.Close() }, ragctx.ErrClosed}, {t.Context(), nil, ragctx.ErrClosed}} {
		var seen []store.JobState
		var last error
		for j, err := range f.Jobs().Watch(c.ctx, waiting.ID) {
			if last = err; err == nil {
				seen = append(seen, j.State)
				c.end()
			}
		}
		if !errors.Is(last, c.want) || (c.end != nil) != (len(seen) == 1 && seen[0] == store.JobQueued) {
			t.Errorf("seen %v, last error %v; want %v", seen, last, c.want)
		}
	}
	f.Engine = nil
	f.reopen()
}

// TestAcceptedJobsAreNotPruned: a job that is accepted while old ones are removed stays.
func TestAcceptedJobsAreNotPruned(t *testing.T) {
	f := open(t)
	done := make(chan struct{})
	pruned := make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				pruned <- nil
				return
			default:
			}
			if err := f.Prune(t.Context()); err != nil {
				pruned <- err
				return
			}
		}
	}()
	for range 50 {
		f.await(f.spool("a=alpha").ID)
	}
	close(done)
	if err := <-pruned; err != nil {
		t.Fatal(err)
	}
}
