package engine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// TestSearchesAreMeasured asks normally and exactly, with every search done again.
func TestSearchesAreMeasured(t *testing.T) {
	e := openWith(t, engine.Options{Dir: t.TempDir(), RecallMonitor: index.MonitorOptions{Share: 1, PerSecond: 1e9, Load: 1}})
	defer e.Close()
	putMany(t, e, 0, 30)
	ask := func(exact bool) {
		t.Helper()
		q := query("number 7").WithTypes(ragctx.TypeResource)
		q.Exact = exact
		if _, err := e.Context(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	ask(true)
	if m := e.Metrics().VectorSearches(store.KindDocuments); m.Took.Count != 0 || m.Exact.Count != 1 || m.Recall != nil {
		t.Fatalf("an exact search: %+v", m)
	}
	ask(false)
	for end := time.Now().Add(patience); e.Metrics().VectorSearches(store.KindDocuments).Recall == nil; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("not done again: %+v", e.Metrics().VectorSearches(store.KindDocuments))
		}
	}
	m := e.Metrics().VectorSearches(store.KindDocuments)
	if m.Took.Count != 1 || m.Exact.Count != 2 || m.Recall.Value != 1 || m.Recall.Samples != 1 {
		t.Errorf("%+v, %+v", m, m.Recall)
	}
	st, err := e.Indexes().Status(t.Context())
	if err != nil || len(st.Indexes) == 0 || st.Documents.Searches != 1 || st.Memories.Searches != 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	i := st.Indexes[0]
	if i.Namespace != "default" || i.Kind != "documents" || i.Graph == "" || i.Chunks != 30 || i.Live.Exact != 2 || i.Live.Recall.Value != 1 {
		t.Errorf("%+v", i)
	}
	c, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{})
	if err != nil || !c.Sound() {
		t.Fatalf("%+v, %v", c, err)
	}
	if d := c.Indexes[0]; d.Found == nil || d.Found.Recall.Value != 1 || d.VectorIndex.Chunks != 30 || d.VectorIndex.Live.Searches != 1 {
		t.Errorf("doctor: %+v", d)
	}
	if c, err = e.Admin().Doctor(t.Context(), engine.DoctorOptions{Searching: -1}); err != nil || c.Indexes[0].Found != nil {
		t.Errorf("doctor measured in no time: %+v, %v", c.Indexes[0].Found, err)
	}
}

// TestNothingIsMeasured switches it off.
func TestNothingIsMeasured(t *testing.T) {
	e := openWith(t, engine.Options{Dir: t.TempDir(), RecallMonitor: index.MonitorOptions{Share: -1}, AnswerCache: -1})
	putMany(t, e, 0, 5)
	for range 200 {
		if _, err := e.Context(t.Context(), query("number 3")); err != nil {
			t.Fatal(err)
		}
	}
	e.Close()
	if m := e.Metrics().VectorSearches(store.KindDocuments); m.Took.Count != 200 || m.Exact.Count != 0 || m.Skipped != 0 {
		t.Errorf("%+v", m)
	}
}

func TestJobTally(t *testing.T) {
	e := openWith(t, engine.Options{Dir: t.TempDir(), PauseJobs: true})
	defer e.Close()
	first, err := e.Jobs().SubmitCheckup(t.Context(), engine.DoctorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Jobs().SubmitCheckup(t.Context(), engine.DoctorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := e.Metrics().Jobs(t.Context()); n != (engine.JobTally{Queued: 2}) || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := e.Jobs().Cancel(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	e.Jobs().Start()
	if _, err := e.Jobs().Await(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Metrics().Jobs(t.Context()); n != (engine.JobTally{Done: 1, Cancelled: 1}) || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
}
