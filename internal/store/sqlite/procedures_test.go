package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/session"
)

func draft(t *testing.T, f *fixture, name, step string) store.ProcedureKey {
	t.Helper()
	k := store.ProcedureKey{Namespace: f.ns, Name: name}
	if _, err := f.PutProcedureDraft(t.Context(), k, ragctx.ProcedureBody{Trigger: "Do " + step, Steps: []string{step}}); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestErasedProceduresLeaveNoTrace checks that the files contain nothing of erased procedures.
func TestErasedProceduresLeaveNoTrace(t *testing.T) {
	f := fresh(t)
	gone := draft(t, f, "gone", "qgoneq")
	if _, err := f.PublishProcedure(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	draft(t, f, "here", "qhereq")
	for _, turn := range []string{"t1", "t2"} {
		put := ragctx.Turn{ID: turn, UserID: "ada", SessionID: turn, Prompt: "Prompt of " + turn, Occurred: t0}
		_, _, _, err := f.PutTurn(t.Context(), f.ns, put, nil, store.Content{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.StoreProcedure(t.Context(), store.ExtractedProcedure{
			Key:  store.ProcedureKey{Namespace: f.ns, Name: "of " + turn, ProcedureOwner: ragctx.ProcedureOwner{UserID: "ada"}},
			Body: ragctx.ProcedureBody{Trigger: "Do it", Steps: []string{"qstep" + turn}}, By: ragctx.ByTurn,
			Run: ragctx.ProcedureRun{Turn: turn, Confidence: .8, At: t0},
		}); err != nil {
			t.Fatal(err)
		}
	}
	f.doc(t, "a", "qdocq", "")
	if _, err := f.EraseProcedure(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	e, err := f.EraseSession(t.Context(), f.ns, "t1", "", true, session.Condition{})
	if err != nil {
		t.Fatal(err)
	}
	f.scrub(t, e.Pending)
	for token, want := range map[string]bool{"qgoneq": false, "qstept1": false, "qhereq": true, "qstept2": true, "qdocq": true} {
		if n := traces(t, f.path, token); (n > 0) != want {
			t.Errorf("%d traces of %s", n, token)
		}
	}
}

func TestSnapshotHasProcedures(t *testing.T) {
	f := fresh(t)
	k := draft(t, f, "deploy", "one")
	want, err := f.PublishProcedure(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := snapshot(t, f)
	dir := t.TempDir()
	if _, err := sqlite.Restore(t.Context(), file, dir, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	g := open(t, filepath.Join(dir, store.DatabaseName))
	got, err := g.Procedure(t.Context(), store.ProcedureKey{Namespace: g.ns, Name: "deploy"})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
