package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/ledger/ledgertest"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// durableLog is a ledger with its store.
type durableLog struct {
	store.Ledger

	store *sqlite.Store
}

func (l durableLog) Close() error {
	_ = l.Ledger.Close()
	return l.store.Close()
}

func openLedger(t testing.TB, dir string, o ledger.Options) ledgertest.Log {
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, store.DatabaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return durableLog{s.Ledger(o), s}
}

func TestLedger(t *testing.T) {
	ledgertest.Test(t, openLedger, ledgertest.Options{Checks: 20})
}

func words(cluster string, n int) []ledger.Message {
	out := make([]ledger.Message, n)
	for i := range out {
		out[i] = ledger.Message{
			Namespace: "default", Cluster: cluster, Topic: "Zt" + cluster, Sender: "Zs" +
				cluster, Text: strings.Repeat("Zx"+cluster+" ", 1+i%3*1000),
			Data: []byte(`{"d":"Zd` + cluster + `"}`), Metadata: []byte(`"Zm` + cluster + `"`),
		}
	}
	return out
}

// An erased cluster is gone at once, from every file in the end, and for good: what
// comes later begins anew. Others stay.
func TestEraseLedger(t *testing.T) {
	f := fresh(t)
	l := f.Ledger(ledger.Options{})
	defer l.Close()
	for range 3 {
		for _, cluster := range []string{"gone", "kept"} {
			if _, err := l.Append(t.Context(), words(cluster, 400)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if e, err := l.Erase(t.Context(), f.ns, "nobody"); err != nil || e != (store.Erased{}) {
		t.Errorf("what never was: %+v, %v", e, err)
	}
	e, err := l.Erase(t.Context(), f.ns, "gone")
	if err != nil || e.Messages != 1200 {
		t.Fatalf("%+v, %v", e, err)
	}
	gone := ledger.Filter{Namespace: "default", Cluster: "gone"}
	if n, err := l.Count(t.Context(), ledger.Query{Filter: gone}); n != 0 || err != nil {
		t.Errorf("%d messages are left, %v", n, err)
	}
	f.scrub(t, e.Pending)
	if n := traces(t, f.path, "gone"); n != 0 {
		t.Errorf("%d traces", n)
	}
	kept := ledger.Filter{Namespace: "default", Cluster: "kept"}
	if n, err := l.Count(t.Context(), ledger.Query{Filter: kept}); n != 1200 || err != nil {
		t.Errorf("%d of another cluster's messages, %v", n, err)
	}
	last, err := ledger.LastSequence(t.Context(), l, kept)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := l.Append(t.Context(), words("gone", 1)); err != nil || m[0].Sequence <= last {
		t.Errorf("a new beginning: %+v, %v", m, err)
	}
	r, err := f.Verify(t.Context(), store.VerifyOptions{Embedder: f.embedder})
	if err != nil || len(r.Findings) != 0 || r.Messages != 1201 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Damaged JSON reads as null and hides nothing else; a checkup names it.
func TestDamagedMessages(t *testing.T) {
	f := fresh(t)
	l := f.Ledger(ledger.Options{})
	defer l.Close()
	stored, err := l.Append(t.Context(), words("team", 4))
	if err != nil {
		t.Fatal(err)
	}
	f.tampered = true
	db, err := sql.Open("sqlite", "file:"+escape(f.path)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		`UPDATE ledger_messages SET data = '{"a":' WHERE seq = ?`,
		`UPDATE ledger_messages SET metadata = 'x' WHERE seq = ?`,
	} {
		if _, err := db.Exec(q, int64(stored[1].Sequence)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`UPDATE ledger_messages SET data = '"' || CAST(x'ff' AS TEXT) || '"' WHERE seq = ?`,
		int64(stored[2].Sequence)); err != nil {
		t.Fatal(err)
	}
	got, err := l.Query(t.Context(), ledger.Query{Filter: ledger.Filter{Namespace: "default", Cluster: "team"}})
	want := slices.Clone(stored)
	want[1].Data, want[1].Metadata, want[2].Data = nil, nil, nil
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	r, err := f.Verify(t.Context(), store.VerifyOptions{})
	if err != nil || len(r.Findings) != 3 || r.Findings[0].Check != "rows" || r.Findings[1].Check != "ledger" ||
		r.Findings[1].Item != fmt.Sprint("message ", stored[1].Sequence) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := l.Append(t.Context(), words("team", 1)); err != nil {
		t.Error(err)
	}
}

// A snapshot has the ledgers; sequence and time go on where it is restored. What is
// being erased is not in it.
func TestLedgerInSnapshot(t *testing.T) {
	f := fresh(t)
	l := f.Ledger(ledger.Options{})
	defer l.Close()
	stored, err := l.Append(t.Context(), words("team", 5))
	if err != nil {
		t.Fatal(err)
	}
	file, info := snapshot(t, f)
	if info.Messages != 5 {
		t.Errorf("%+v", info)
	}
	dir := t.TempDir()
	if _, err := sqlite.Restore(t.Context(), file, dir, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	restored := openLedger(t, dir, ledger.Options{})
	defer restored.Close()
	got, err := restored.Query(t.Context(), ledger.Query{Filter: ledger.Filter{Namespace: "default", Cluster: "team"}})
	if d := cmp.Diff(stored, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	m, err := restored.Append(t.Context(), words("team", 1))
	if err != nil || m[0].Sequence <= stored[4].Sequence || m[0].Timestamp <= stored[4].Timestamp {
		t.Errorf("%+v, %v", m, err)
	}
}

// A stopped cluster that is only read is not written to.
func TestReadingLedgerWritesNothing(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	if _, err := l.Append(t.Context(), words("team", 5)); err != nil {
		t.Fatal(err)
	}
	l.Close()
	name := filepath.Join(dir, store.DatabaseName)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	l = openLedger(t, dir, ledger.Options{})
	f := ledger.Filter{Namespace: "default", Cluster: "team"}
	if n, err := l.Count(t.Context(), ledger.Query{Filter: f}); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, _, err := l.Find(t.Context(), ledger.Query{Filter: ledger.Filter{Namespace: "nobody", Cluster: "x"}}); err != nil {
		t.Error(err)
	}
	l.Close()
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database has changed, %v", err)
	}
}

// Appends, imports and removals are counted; a message's cluster is found by its id, the first one if
// there are copies.
func TestLedgerCounts(t *testing.T) {
	f := fresh(t)
	l := f.Ledger(ledger.Options{Retention: ledger.Retention{Messages: 2}})
	defer l.Close()
	sub, err := l.Subscribe(ledger.Filter{Namespace: "default", Cluster: "slow"})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	outputs := words("outputs", 5)
	for i := range outputs {
		outputs[i].Topic = ledger.TopicAgentOutput
	}
	var stored []ledger.Message
	for _, batch := range [][]ledger.Message{words("slow", ledger.SubscriptionBuffer+1), outputs, words("team", 1)} {
		if stored, err = l.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	moved := stored[0]
	moved.Cluster = "a copy"
	for range 2 {
		if _, err := l.Import(t.Context(), []ledger.Message{moved}); err != nil {
			t.Fatal(err)
		}
	}
	left, err := l.Count(t.Context(), ledger.Query{Filter: ledger.Filter{
		Namespace: "default", Cluster: "outputs",
		Topics: []string{ledger.TopicAgentOutput},
	}})
	if err != nil || left > 2 {
		t.Fatalf("%d outputs are left, %v", left, err)
	}
	got, want := l.Counts(), store.LedgerCounts{
		Appended: ledger.SubscriptionBuffer + 1 + 5 + 1, Imported: 1,
		Trimmed: uint64(5 - left), CutOff: 1,
	}
	if got != want {
		t.Errorf("tally %+v, want %+v", got, want)
	}
	if clusters, err := l.ClustersOf(t.Context(), "default", moved.ID); err != nil || !slices.Equal(clusters, []string{"team", "a copy"}) {
		t.Errorf("the message of %q, %v", clusters, err)
	}
	if _, err := l.Erase(t.Context(), f.ns, "team"); err != nil {
		t.Fatal(err)
	}
	if clusters, err := l.ClustersOf(t.Context(), "default", moved.ID); err != nil || !slices.Equal(clusters, []string{"a copy"}) {
		t.Errorf("after an erasure the message of %q, %v", clusters, err)
	}
	if _, err := l.ClustersOf(t.Context(), "foreign", moved.ID); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("from another namespace: %v", err)
	}
}
