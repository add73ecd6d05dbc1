package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

func openJobs(t testing.TB) *Store {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "jobs.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *Store) spooled(t testing.TB, id string, items ...store.JobItem) store.Job {
	t.Helper()
	j := store.Job{ID: id, Kind: store.JobDocuments, Namespace: "n", State: store.JobSpooling, Request: []byte("{}")}
	if err := s.CreateJob(t.Context(), &j); err != nil {
		t.Fatal(err)
	}
	if err := s.AddItems(t.Context(), j.N, items); err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJobTotals: the sum that is kept along the way is the one that is counted.
func TestJobTotals(t *testing.T) {
	s := openJobs(t)
	some := rapid.Custom(func(rt *rapid.T) (items []store.JobItem) {
		for n := range rapid.IntRange(1, 30).Draw(rt, "items") {
			i := store.JobItem{
				N: n + 1, Key: "k", Op: store.OpPut, Bytes: rapid.Int64Range(0, 99).Draw(rt, "bytes"), Chunks: rapid.IntRange(0, 9).Draw(rt, "chunks"),
				State: rapid.SampledFrom([]store.ItemState{store.ItemPending, store.ItemDone, store.ItemFailed, store.ItemSkipped}).Draw(rt, "state"),
			}
			if i.State == store.ItemDone {
				i.Status = rapid.SampledFrom([]store.Status{store.Created, store.Replaced, store.Unchanged, store.Deleted}).Draw(rt, "status")
			}
			items = append(items, i)
		}
		return items
	})
	for seed := range 20 {
		var kept store.JobTotals
		items := some.Example(seed)
		for _, i := range items {
			kept.Add(i)
		}
		j := s.spooled(t, fmt.Sprint(seed), items...)
		got, err := s.JobTotals(t.Context(), j.N)
		if err != nil || got != kept {
			t.Fatalf("%+v, %v; kept %+v", got, err, kept)
		}
		if got.Counts.Sum()+got.Pending != got.Items {
			t.Fatalf("%+v does not add up", got)
		}
		if err := s.DeleteJob(t.Context(), j.N); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJobsAreTakenInOrder(t *testing.T) {
	s := openJobs(t)
	one, two := s.spooled(t, "one"), s.spooled(t, "two")
	if _, err := s.Job(t.Context(), "one"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a job that was not accepted is there: %v", err)
	}
	if err := s.CreateJob(t.Context(), &store.Job{ID: "one", State: store.JobSpooling}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("an id twice: %v", err)
	}
	for _, j := range []store.Job{two, one} { // the order of acceptance, not of creation
		if err := s.QueueJob(t.Context(), j.N, store.JobTotals{}); err != nil {
			t.Fatal(err)
		}
	}
	next := func(want string) {
		t.Helper()
		if j, ok, err := s.NextJob(t.Context(), store.JobDocuments); err != nil || !ok || j.ID != want {
			t.Errorf("next is %q, %v, %v; want %q", j.ID, ok, err, want)
		}
	}
	next("two")
	one.State = store.JobRunning // as it was when the process ended
	if err := s.SaveJob(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	next("one")
	one.State, one.Finished = store.JobDone, time.Now()
	if err := s.SaveJob(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	one.State = store.JobRunning
	if err := s.SaveJob(t.Context(), one); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a job that has ended was changed: %v", err)
	}
	next("two")
}

// TestForget: what is erased is not in the jobs and answers either.
func TestActiveJobs(t *testing.T) {
	s := openJobs(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		j := s.spooled(t, id)
		if id == "a" {
			continue // stays spooling
		}
		if err := s.QueueJob(t.Context(), j.N, store.JobTotals{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, state := range []store.JobState{store.JobRunning, store.JobDone} {
		j, _, err := s.NextJob(t.Context(), store.JobDocuments)
		if err != nil {
			t.Fatal(err)
		}
		if j.State = state; s.SaveJob(t.Context(), j) != nil {
			t.Fatal(state)
		}
	}
	if queued, running, err := s.ActiveJobs(t.Context()); queued != 2 || running != 0 || err != nil {
		t.Errorf("%d queued, %d running, %v", queued, running, err)
	}
}

func TestForget(t *testing.T) {
	s := openJobs(t)
	item := func(n int, state store.ItemState) store.JobItem {
		return store.JobItem{N: n, Key: "secret", Op: store.OpPut, State: state, Body: []byte(`{"text":"secret"}`)}
	}
	j := s.spooled(t, "one", item(1, store.ItemPending), item(2, store.ItemFailed), item(3, store.ItemSkipped))
	k := store.RequestKey{Namespace: "n", Route: "POST /", Key: "k"}
	a, err := s.BeginRequest(t.Context(), k, []byte("h"), "seed", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	a.Status, a.Body = 201, []byte("secret")
	if err := s.SaveResponse(t.Context(), k, a); err != nil {
		t.Fatal(err)
	}
	err = s.write.do(t.Context(), high, func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(clearJobItems(ctx, tx, "n", "secret"), deleteResponses(ctx, tx, "n", erasureScope{}))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, pending, err := s.ItemBody(t.Context(), j.N, 1); err != nil || pending {
		t.Errorf("the item is pending, %v", err)
	}
	if items, err := s.JobItems(t.Context(), j.N, store.ItemFilter{Limit: 10, State: store.ItemSkipped}); err != nil || len(items) != 3 {
		t.Errorf("%+v, %v", items, err)
	}
	if _, known, err := s.Response(t.Context(), k, time.Time{}); err != nil || known {
		t.Errorf("the answer is there, %v", err)
	}
}

func TestRequestKeys(t *testing.T) {
	s := openJobs(t)
	k := store.RequestKey{Namespace: "n", Route: "POST /", Key: "k"}
	long := s.now().Add(-time.Hour)
	first, err := s.BeginRequest(t.Context(), k, []byte("h"), "seed", long)
	if err != nil || first.Seed != "seed" || first.Status != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := s.BeginRequest(t.Context(), k, []byte("h"), "other", long); err != nil || again.Seed != "seed" {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := s.BeginRequest(t.Context(), k, []byte("other"), "x", long); !errors.Is(err, store.ErrKeyReused) {
		t.Errorf("another request: %v", err)
	}
	first.Status, first.Header, first.Body = 201, map[string]string{"Location": "/x"}, []byte("body")
	if err := s.SaveResponse(t.Context(), k, first); err != nil {
		t.Fatal(err)
	}
	if a, known, err := s.Response(t.Context(), k,
		long); err != nil || !known || a.Status != 201 || string(a.Body) != "body" || a.Header["Location"] != "/x" {
		t.Errorf("%+v, %v, %v", a, known, err)
	}
	late := s.now().Add(time.Second)
	if a, err := s.BeginRequest(t.Context(), k, []byte("other"), "new", late); err != nil || a.Seed != "new" || a.Status != 0 {
		t.Errorf("a day later: %+v, %v", a, err)
	}
	if err := s.PruneResponses(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if _, known, err := s.Response(t.Context(), k, time.Time{}); err != nil || known {
		t.Errorf("%v, %v", known, err)
	}
}
