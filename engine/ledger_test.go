package engine_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
)

func clusterMessages(cluster string, texts ...string) []ledger.Message {
	out := make([]ledger.Message, len(texts))
	for i, text := range texts {
		out[i] = ledger.Message{Cluster: cluster, Topic: "X", Sender: "worker", Text: text}
	}
	return out
}

// A request that comes again after its answer was lost finds its own work.
func TestAppendOnce(t *testing.T) {
	f := open(t)
	first, err := f.Ledger().AppendOnce(t.Context(), "seed", clusterMessages("team", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Ledger().AppendOnce(t.Context(), "", clusterMessages("team", "c")); err != nil {
		t.Fatal(err)
	}
	again, err := f.Ledger().AppendOnce(t.Context(), "seed", clusterMessages("team", "a", "b"))
	if d := cmp.Diff(first, again); d != "" || err != nil {
		t.Errorf("again: %v\n%s", err, d)
	}
	if _, err := f.Ledger().AppendOnce(t.Context(), "seed", clusterMessages("team", "a", "b", "c")); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("more with the same seed: %v", err)
	}
	taken := clusterMessages("team", "c")
	taken[0].ID = first[1].ID
	if m, err := f.Ledger().AppendOnce(t.Context(), "another", taken); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("an id of another message was taken for it: %+v, %v", m, err)
	}
	if _, err := f.Ledger().Append(t.Context(), taken); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("an id that is taken: %v", err)
	}
	found, err := f.Ledger().Messages(t.Context(), ledger.Query{Filter: ledger.Filter{Cluster: "team"}})
	if len(found) != 3 || err != nil || found[0].Namespace != ragctx.DefaultNamespace {
		t.Errorf("%+v, %v", found, err)
	}
}

// Ledgers outlive the process; subscribers and followers end with it.
func TestLedgerReopened(t *testing.T) {
	f := open(t)
	stored, err := f.Ledger().Append(t.Context(), clusterMessages("team", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	eng, ended := f.Engine, make(chan error)
	go func() {
		var last error
		for _, err := range eng.Ledger().Follow(t.Context(), ledger.Filter{Cluster: "team"}, stored[0].Sequence) {
			ended <- err
			last = err
		}
		ended <- last
	}()
	if err := <-ended; err != nil { // it has begun
		t.Fatal(err)
	}
	f.reopen()
	if err := <-ended; !errors.Is(err, ragctx.ErrClosed) {
		t.Errorf("following ended with %v", err)
	}
	<-ended
	more, err := f.Ledger().Append(t.Context(), clusterMessages("team", "c"))
	if err != nil || more[0].Sequence <= stored[1].Sequence || more[0].Timestamp <= stored[1].Timestamp {
		t.Errorf("%+v, %v", more, err)
	}
	found, err := f.Ledger().Messages(t.Context(), ledger.Query{Filter: ledger.Filter{Cluster: "team"}})
	if d := cmp.Diff(slices.Concat(stored, more), found); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if r, err := f.Admin().Doctor(t.Context(), engine.DoctorOptions{Searching: -1}); err != nil || !r.Sound() || r.Store.Messages != 3 {
		t.Errorf("%+v, %v", r.Store, err)
	}
}

// Erasing a cluster leaves no byte of it in any file of the directory.
func TestEraseCluster(t *testing.T) {
	f := open(t)
	const token = "Zqcluster"
	for range 20 {
		m := clusterMessages(token, strings.Repeat(token+" ", 50), token)
		m[0].Sender, m[0].Topic, m[0].Data = token, token, []byte(`"`+token+`"`)
		if _, err := f.Ledger().Append(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := f.Ledger().Erase(t.Context(), "nowhere", token); err != nil || e.Messages != 0 {
		t.Errorf("of another namespace: %+v, %v", e, err)
	}
	if e, err := f.Ledger().Erase(t.Context(), "", token); err != nil || e.Messages != 40 {
		t.Errorf("%+v, %v", e, err)
	}
	if n := tracesIn(t, f.opts.Dir, token); len(n) != 0 {
		t.Errorf("traces in %v", n)
	}
	if _, err := f.Ledger().Cluster(t.Context(), "", token); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the cluster: %v", err)
	}
}

// TestLedgerHasNoSecrets: the text and the data of a message are stored without secrets, once for a repeated
// request, and as they are if the engine keeps secrets.
func TestLedgerHasNoSecrets(t *testing.T) {
	for _, keep := range []bool{false, true} {
		f := open(t, func(o *engine.Options) { o.KeepSecrets = keep })
		m := ledger.Message{
			Cluster: "c", Topic: "notes", Sender: "a", Receiver: "b", Text: "The database password is hunter2!x.",
			Data: json.RawMessage(`{"host":"db1","password":"hunter2!x"}`),
		}
		for range 2 {
			stored, err := f.Ledger().AppendOnce(t.Context(), "seed", []ledger.Message{m})
			if err != nil || len(stored) != 1 {
				t.Fatal(stored, err)
			}
			all := stored[0].Text + string(stored[0].Data)
			if strings.Contains(all, "hunter2") != keep || !strings.Contains(all, "db1") {
				t.Errorf("keep %v: %s", keep, all)
			}
		}
	}
}
