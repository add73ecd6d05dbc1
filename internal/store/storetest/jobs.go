package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// spooled creates a job that is not accepted yet.
func (f *world) spooled(t testing.TB, id string, items ...store.JobItem) store.Job {
	t.Helper()
	j := store.Job{ID: id, Kind: store.JobDocuments, Namespace: "default", State: store.JobSpooling, Request: []byte("{}")}
	if err := f.CreateJob(t.Context(), &j); err != nil {
		t.Fatal(err)
	}
	if err := f.AddItems(t.Context(), j.N, items); err != nil {
		t.Fatal(err)
	}
	return j
}

// queued creates a job that waits to run.
func (f *world) queued(t testing.TB, id string, items ...store.JobItem) store.Job {
	t.Helper()
	j := f.spooled(t, id, items...)
	var sum store.JobTotals
	for _, i := range items {
		sum.Add(i)
	}
	if err := f.QueueJob(t.Context(), j.N, sum); err != nil {
		t.Fatal(err)
	}
	return must(f.Job(t.Context(), id))(t)
}

// testJobTotals compares the totals of a job with the sum of its items.
func testJobTotals(t *testing.T, open Opener) {
	f := fresh(t, open)
	some := rapid.Custom(func(rt *rapid.T) (items []store.JobItem) {
		for n := range rapid.IntRange(1, 30).Draw(rt, "items") {
			i := store.JobItem{
				N: n + 1, Key: "k", Op: store.OpPut, Bytes: rapid.Int64Range(0, 99).Draw(rt,
					"bytes"), Chunks: rapid.IntRange(0, 9).Draw(rt, "chunks"),
				State: rapid.SampledFrom([]store.ItemState{
					store.ItemPending, store.ItemDone, store.ItemFailed,
					store.ItemSkipped,
				}).Draw(rt, "state"),
			}
			if i.State == store.ItemDone {
				i.Status = rapid.SampledFrom([]store.Status{
					store.Created, store.Replaced, store.Unchanged,
					store.Deleted,
				}).Draw(rt, "status")
			}
			items = append(items, i)
		}
		return items
	})
	for seed := range 20 {
		var want store.JobTotals
		items := some.Example(seed)
		for _, i := range items {
			want.Add(i)
		}
		j := f.spooled(t, fmt.Sprint(seed), items...)
		got, err := f.JobTotals(t.Context(), j.N)
		if err != nil || got != want {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
		if got.Counts.Sum()+got.Pending != got.Items {
			t.Fatalf("%+v does not add up", got)
		}
		if err := f.DeleteJob(t.Context(), j.N); err != nil {
			t.Fatal(err)
		}
	}
}

// testJobOrder checks that jobs run in the order of their acceptance, after the job that was running.
func testJobOrder(t *testing.T, open Opener) {
	f := fresh(t, open)
	one, two := f.spooled(t, "one"), f.spooled(t, "two")
	if _, err := f.Job(t.Context(), "one"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a job that was not accepted is there: %v", err)
	}
	again := store.Job{ID: "one", State: store.JobSpooling}
	if err := f.CreateJob(t.Context(), &again); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("an id twice: %v", err)
	}
	for _, j := range []store.Job{two, one} { // the order of acceptance, not of creation
		if err := f.QueueJob(t.Context(), j.N, store.JobTotals{}); err != nil {
			t.Fatal(err)
		}
	}
	next := func(want string) {
		t.Helper()
		if j, ok, err := f.NextJob(t.Context(), store.JobDocuments); err != nil || !ok || j.ID != want {
			t.Errorf("next is %q, %v, %v; want %q", j.ID, ok, err, want)
		}
	}
	next("two")
	one.State = store.JobRunning // as it was when the process ended
	if err := f.SaveJob(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	next("one")
	one.State, one.Finished = store.JobDone, time.Now()
	if err := f.SaveJob(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	one.State = store.JobRunning
	if err := f.SaveJob(t.Context(), one); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a job that has ended was changed: %v", err)
	}
	next("two")
}

func testActiveJobs(t *testing.T, open Opener) {
	f := fresh(t, open)
	for _, id := range []string{"a", "b", "c", "d"} {
		j := f.spooled(t, id)
		if id == "a" {
			continue // stays spooling
		}
		if err := f.QueueJob(t.Context(), j.N, store.JobTotals{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, state := range []store.JobState{store.JobRunning, store.JobDone} {
		j, _, err := f.NextJob(t.Context(), store.JobDocuments)
		if err != nil {
			t.Fatal(err)
		}
		if j.State = state; f.SaveJob(t.Context(), j) != nil {
			t.Fatal(state)
		}
	}
	if queued, running, err := f.ActiveJobs(t.Context()); queued != 2 || running != 0 || err != nil {
		t.Errorf("%d queued, %d running, %v", queued, running, err)
	}
}

// testJobs lists, cancels, retries and deletes jobs.
func testJobs(t *testing.T, open Opener) {
	f := fresh(t, open)
	item := func(n int, key string) store.JobItem {
		return store.JobItem{
			N: n, Key: key, Op: store.OpPut, State: store.ItemPending, Bytes: 5,
			Body: []byte("body of " + key),
		}
	}
	f.spooled(t, "spooling")
	one := f.queued(t, "one", item(1, "a"), item(2, "b"), item(3, "a"), item(4, "c"))
	two := f.queued(t, "two", item(1, "d"))
	if one.State != store.JobQueued || one.Items != 4 || one.TotalBytes != 20 || one.Created.IsZero() ||
		string(one.Request) != "{}" {
		t.Errorf("a queued job: %+v", one)
	}
	folder := store.Job{ID: "folder", Kind: "folder", State: store.JobQueued}
	if err := f.CreateJob(t.Context(), &folder); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    store.JobFilter
		want string
	}{
		{store.JobFilter{}, "folder two one"},
		{store.JobFilter{Limit: 1}, "folder"},
		{store.JobFilter{Before: two.N}, "one"},
		{store.JobFilter{Kind: "folder"}, "folder"},
		{store.JobFilter{State: store.JobQueued, Namespace: "default"}, "two one"},
		{store.JobFilter{State: store.JobDone}, ""},
		{store.JobFilter{Among: []string{"default", "other"}}, "two one"},
		{store.JobFilter{Named: true}, "two one"},
	} {
		if c.f.Limit == 0 {
			c.f.Limit = 10
		}
		var got []string
		for _, j := range must(f.Jobs(t.Context(), c.f))(t) {
			got = append(got, j.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.f, got, c.want)
		}
	}

	documents, all, err := f.PendingDocuments(t.Context(), "default", []string{"a", "d", "z"})
	if err != nil || all || len(documents) != 2 || !documents["a"] || !documents["d"] {
		t.Errorf("pending documents %v, all %v, %v", documents, all, err)
	}
	for _, c := range []struct {
		id   string
		want bool
	}{{"two", true}, {"two", false}, {"unknown", false}} {
		if done, err := f.CancelQueued(t.Context(), c.id); done != c.want || err != nil {
			t.Errorf("%s was cancelled: %v, %v", c.id, done, err)
		}
	}

	// Of the failed items the first is superseded by the third, which is done.
	done := func(n int, state store.ItemState, status store.Status) store.JobItem {
		return store.JobItem{N: n, State: state, Status: status, Error: string(state), Chunks: 2}
	}
	if err := f.SaveOutcomes(t.Context(), one.N, []store.JobItem{
		done(1, store.ItemFailed, ""), done(2, store.ItemFailed, ""), done(3, store.ItemDone, store.Created),
	}); err != nil {
		t.Fatal(err)
	}
	bodies := func() (pending []int) {
		for n := range 5 {
			if body, ok, err := f.ItemBody(t.Context(), one.N, n); err != nil {
				t.Fatal(err)
			} else if ok && strings.HasPrefix(string(body), "body of ") {
				pending = append(pending, n)
			}
		}
		return pending
	}
	if got := bodies(); !slices.Equal(got, []int{4}) {
		t.Errorf("pending items %v", got)
	}
	if _, err := f.RetryJob(t.Context(), "one"); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a queued job was retried: %v", err)
	}
	one.State, one.Finished, one.Error = store.JobFailed, t0, "the disk is full"
	if err := f.SaveJob(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	ended, spooling, err := f.ExpiredJobs(t.Context(), t0.Add(time.Second))
	if err != nil || !slices.Equal(ended, []int64{one.N}) || len(spooling) != 1 {
		t.Errorf("expired jobs %v, spooling %v, %v", ended, spooling, err)
	}
	again, err := f.RetryJob(t.Context(), "one")
	if err != nil || again.State != store.JobQueued || again.Error != "" ||
		again.Counts != (store.JobCounts{Created: 1, Skipped: 1}) {
		t.Errorf("retried: %+v, %v", again, err)
	}
	if got := bodies(); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("pending items after a retry %v", got)
	}
	items, err := f.JobItems(t.Context(), one.N, store.ItemFilter{After: 2, Limit: 1, State: store.ItemDone})
	if err != nil || len(items) != 1 || items[0].N != 3 || items[0].Key != "a" || items[0].Chunks != 2 ||
		items[0].Body != nil {
		t.Errorf("items %+v, %v", items, err)
	}
	if err := f.DeleteItems(t.Context(), one.N, store.ItemPending); err != nil {
		t.Fatal(err)
	}
	if sum, err := f.JobTotals(t.Context(), one.N); err != nil || sum.Items != 2 || sum.Pending != 0 {
		t.Errorf("totals %+v, %v", sum, err)
	}
	if err := f.DeleteJob(t.Context(), one.N); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Job(t.Context(), "one"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a deleted job: %v", err)
	}
}
