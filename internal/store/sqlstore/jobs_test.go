package sqlstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

func openJobs(t testing.TB) *Store {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return OpenFile(t, Options{Now: func() time.Time { return now }})
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
	err = s.write.do(t.Context(), High, func(ctx context.Context, tx *Tx) error {
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
