package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// waiting returns a job that nobody runs: an ingest whose engine has its jobs paused.
func (f *fixture) waiting(t *testing.T) engine.Job {
	t.Helper()
	j, err := f.client.PutDocuments(t.Context(), "", lines(BulkLine{ID: "a", Text: "alpha"}))
	if err != nil || j.State != store.JobQueued {
		t.Fatalf("%+v, %v", j, err)
	}
	return j
}

// event is a server-sent event.
type event struct {
	name string
	job  engine.Job
}

// watch opens a stream and returns its events as they come.
func (f *fixture) watch(t *testing.T, id string) <-chan event {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/jobs/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", "7")
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // the reader below closes it
	if err != nil {
		t.Fatal(err)
	}
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || ct != "text/event-stream" {
		t.Fatalf("%s, %q", resp.Status, ct)
	}
	out := make(chan event, 100)
	go func() {
		defer close(out)
		defer resp.Body.Close()
		var e event
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			name, value, _ := strings.Cut(sc.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.job); err != nil {
					t.Error(err)
				}
			case "":
				out <- e
			}
		}
	}()
	return out
}

func TestEvents(t *testing.T) {
	f := startPaused(t, Options{})
	j := f.waiting(t)
	events := f.watch(t, j.ID)
	if e := <-events; e.name != "progress" || e.job.ID != j.ID || e.job.State != store.JobQueued {
		t.Errorf("%+v", e)
	}
	f.eng.Jobs().Start()
	var last event
	for last = range events {
	}
	if last.name != "end" || last.job.State != store.JobDone || last.job.Counts.Created != 1 {
		t.Errorf("%+v", last)
	}
	if e, more := <-f.watch(t, j.ID); !more || e.name != "end" {
		t.Errorf("a stream of a job that has ended: %+v", e)
	}
}

// TestEventsEndWithTheServer: streams do not hold up its end.
func TestEventsEndWithTheServer(t *testing.T) {
	f := startPaused(t, Options{ShutdownTimeout: time.Minute})
	j := f.waiting(t)
	events := f.watch(t, j.ID)
	<-events
	waited := make(chan answer, 1)
	go func() {
		waited <- f.call(t, "POST", "/v1/documents:bulk?wait=5m", `{"id":"b","text":"beta"}`, asLines)
	}()
	for len(f.jobs(t)) < 2 {
		time.Sleep(time.Millisecond)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- f.stop() }()
	for range events {
	}
	if a := <-waited; a.status != 202 {
		t.Errorf("a request that waits is answered %d: %s", a.status, a.body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestWatchingClient: a caller who has enough gets away.
func TestWatchingClient(t *testing.T) {
	f := startPaused(t, Options{})
	j := f.waiting(t)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := f.client.WatchJob(ctx, j.ID, func(engine.Job) { cancel() }); err == nil {
		t.Error("no error")
	}
	if got, err := f.client.CancelJob(t.Context(), j.ID); err != nil || got.State != store.JobCancelled {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := f.client.WatchJob(t.Context(), j.ID, func(engine.Job) {}); err != nil || got.State != store.JobCancelled {
		t.Errorf("%+v, %v", got, err)
	}
}
