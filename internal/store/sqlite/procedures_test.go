package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/providers/procedures"
)

func (f *fixture) key(name string) store.ProcedureKey {
	return store.ProcedureKey{Namespace: f.ns, Name: name}
}

func body(step string) ragctx.ProcedureBody {
	return procedures.TrimBody(ragctx.ProcedureBody{Trigger: "Do " + step, Steps: []string{step}})
}

// must fails the test on an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestProcedureLife(t *testing.T) {
	f := fresh(t)
	k := f.key("deploy")
	if _, err := f.PublishProcedure(t.Context(), k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("publish of nothing: %v", err)
	}
	p := must(f.PutProcedureDraft(t.Context(), k, body("one")))(t)
	if p.Draft == nil || p.Draft.State != ragctx.ProcedureDraft || p.Canonical != 0 || len(p.Versions) != 0 {
		t.Fatalf("draft: %+v", p)
	}
	p = must(f.PublishProcedure(t.Context(), k))(t)
	if p.Draft != nil || p.Canonical != 1 || p.Versions[0].Steps[0] != "one" || !p.Versions[0].Canonical {
		t.Fatalf("published: %+v", p)
	}
	if _, err := f.PublishProcedure(t.Context(), k); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("publish without a draft: %v", err)
	}
	must(f.PutProcedureDraft(t.Context(), k, body("two")))(t)
	p = must(f.Procedure(t.Context(), k))(t)
	if v, _ := p.Version(0); v.Steps[0] != "one" {
		t.Errorf("a draft changed what is published: %+v", v)
	}
	for _, step := range []string{"two", "three"} {
		must(f.PutProcedureDraft(t.Context(), k, body(step)))(t)
		must(f.PublishProcedure(t.Context(), k))(t)
	}
	p = must(f.RollbackProcedure(t.Context(), k, 2))(t)
	var states []ragctx.ProcedureState
	for _, v := range p.Versions {
		states = append(states, v.State)
	}
	if diff := cmp.Diff([]ragctx.ProcedureState{ragctx.ProcedureSuperseded, ragctx.ProcedurePublished, ragctx.ProcedurePublished},
		states); diff != "" || p.Canonical != 2 {
		t.Errorf("rolled back to %d: %s", p.Canonical, diff)
	}
	for version, want := range map[int]error{2: ragctx.ErrConflict, 3: ragctx.ErrConflict, 4: ragctx.ErrNotFound, 0: ragctx.ErrNotFound} {
		if _, err := f.RollbackProcedure(t.Context(), k, version); !errors.Is(err, want) {
			t.Errorf("rollback to %d: %v", version, err)
		}
	}
	must(f.UnpublishProcedure(t.Context(), k))(t)
	if _, err := f.UnpublishProcedure(t.Context(), k); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("unpublish twice: %v", err)
	}
	must(f.PutProcedureDraft(t.Context(), k, body("four")))(t)
	if p = must(f.PublishProcedure(t.Context(), k))(t); p.Canonical != 4 {
		t.Errorf("the number of a version was used again: %d", p.Canonical)
	}
	var ops []ragctx.ChangeOp
	for _, c := range must(f.ProcedureHistory(t.Context(), k))(t) {
		ops = append(ops, c.Op)
	}
	want := []ragctx.ChangeOp{
		ragctx.OpDrafted, ragctx.OpPublished, ragctx.OpDrafted, ragctx.OpDrafted, ragctx.OpPublished,
		ragctx.OpDrafted, ragctx.OpPublished,
		ragctx.OpRolledBack, ragctx.OpUnpublished, ragctx.OpDrafted, ragctx.OpPublished,
	}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Error(diff)
	}
}

func TestProcedureDraftDeleted(t *testing.T) {
	f := fresh(t)
	k := f.key("deploy")
	if err := f.DeleteProcedureDraft(t.Context(), k); err != nil {
		t.Error(err)
	}
	must(f.PutProcedureDraft(t.Context(), k, body("one")))(t)
	if err := f.DeleteProcedureDraft(t.Context(), k); err != nil {
		t.Error(err)
	}
	if _, err := f.Procedure(t.Context(), k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a procedure without anything: %v", err)
	}
}

// TestSkillsAsOf asks what agents were shown at earlier times.
func TestSkillsAsOf(t *testing.T) {
	f := fresh(t)
	k := f.key("deploy")
	var at []time.Time
	step := func(p ragctx.Procedure, err error) {
		at = append(at, must(p, err)(t).Updated)
	}
	must(f.PutProcedureDraft(t.Context(), k, body("one")))(t)
	step(f.PublishProcedure(t.Context(), k))
	must(f.PutProcedureDraft(t.Context(), k, body("two")))(t)
	step(f.PublishProcedure(t.Context(), k))
	step(f.UnpublishProcedure(t.Context(), k))
	step(f.RollbackProcedure(t.Context(), k, 1))
	for i, want := range []int{1, 2, 0, 1} {
		got := 0
		for _, s := range must(f.Skills(t.Context(), f.ns, at[i]))(t) {
			got = s.Version
		}
		if got != want {
			t.Errorf("after step %d: version %d, want %d", i, got, want)
		}
	}
}

// procedureModel is a procedure as the documentation has it.
type procedureModel struct {
	draft     string
	versions  []string // what each number said
	gone      []bool   // superseded
	canonical int
}

// TestProcedureModel compares the store with the model over random operations: what
// was published never changes, and a rollback supersedes all that is later.
func TestProcedureModel(t *testing.T) {
	f := fresh(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		k, m := f.key("deploy"), &procedureModel{}
		k.Namespace = must(f.Namespace(t.Context(), fmt.Sprint("n", runs), true))(t)
		rt.Repeat(map[string]func(*rapid.T){
			"draft": func(rt *rapid.T) {
				m.draft = rapid.StringMatching(`[a-z]{1,8}`).Draw(rt, "step")
				must(f.PutProcedureDraft(t.Context(), k, body(m.draft)))(t)
			},
			"discard": func(*rapid.T) {
				if err := f.DeleteProcedureDraft(t.Context(), k); err != nil {
					rt.Fatal(err)
				}
				m.draft = ""
			},
			"publish": func(*rapid.T) {
				_, err := f.PublishProcedure(t.Context(), k)
				if (err == nil) != (m.draft != "") {
					rt.Fatalf("publish: %v", err)
				}
				if err == nil {
					m.versions, m.gone = append(m.versions, m.draft), append(m.gone, false)
					m.canonical, m.draft = len(m.versions), ""
				}
			},
			"unpublish": func(*rapid.T) {
				_, err := f.UnpublishProcedure(t.Context(), k)
				if (err == nil) != (m.canonical > 0) {
					rt.Fatalf("unpublish: %v", err)
				}
				m.canonical = 0
			},
			"roll back": func(rt *rapid.T) {
				n := rapid.IntRange(0, len(m.versions)+1).Draw(rt, "version")
				may := n > 0 && n <= len(m.versions) && !m.gone[n-1] && n != m.canonical
				_, err := f.RollbackProcedure(t.Context(), k, n)
				if (err == nil) != may {
					rt.Fatalf("rollback to %d: %v", n, err)
				}
				if may {
					m.canonical = n
					for i := n; i < len(m.gone); i++ {
						m.gone[i] = true
					}
				}
			},
			"": func(rt *rapid.T) { m.compare(t, rt, f, k) },
		})
	})
}

func (m *procedureModel) compare(t *testing.T, rt *rapid.T, f *fixture, k store.ProcedureKey) {
	p, err := f.Procedure(t.Context(), k)
	if m.draft == "" && len(m.versions) == 0 {
		if !errors.Is(err, ragctx.ErrNotFound) {
			rt.Fatalf("%+v, %v", p, err)
		}
		return
	}
	if err != nil || p.Canonical != m.canonical || len(p.Versions) != len(m.versions) || (p.Draft != nil) != (m.draft != "") {
		rt.Fatalf("%+v, %v; want %+v", p, err, m)
	}
	if p.Draft != nil && p.Draft.Steps[0] != m.draft {
		rt.Fatalf("draft %+v; want %+v", p.Draft, m)
	}
	for _, v := range p.Versions {
		if i := v.Number - 1; v.Steps[0] != m.versions[i] || (v.State == ragctx.ProcedureSuperseded) != m.gone[i] ||
			v.Canonical != (v.Number == m.canonical) {
			rt.Fatalf("version %+v; want %+v", v, m)
		}
	}
	if k.Namespace%5 != 0 { // often enough
		return
	}
	list := must(f.ListProcedures(t.Context(), k.Namespace, store.ProcedureFilter{}))(t)
	i := slices.IndexFunc(list, func(l ragctx.ProcedureEntry) bool { return l.Name == k.Name })
	if i < 0 || list[i].Canonical != m.canonical || list[i].Draft != (m.draft != "") || list[i].Versions != len(m.versions) {
		rt.Fatalf("listed %+v; want %+v", list, m)
	}
}

// lesson has a turn teach a procedure.
func (f *fixture) lesson(t *testing.T, turn, user, session, name string, known bool) ragctx.ChangeOp {
	t.Helper()
	put := ragctx.Turn{ID: turn, UserID: user, SessionID: session, Prompt: "Qx" + turn + "Xq", Occurred: t0}
	if _, _, _, err := f.PutTurn(t.Context(), f.ns, put, nil, store.Content{}, false); err != nil {
		t.Fatal(err)
	}
	return must(f.StoreProcedure(t.Context(), store.ExtractedProcedure{
		Key:  store.ProcedureKey{Namespace: f.ns, Name: name, ProcedureOwner: ragctx.ProcedureOwner{UserID: user}},
		Body: body("qstep" + turn), By: ragctx.ByTurn, Run: ragctx.ProcedureRun{Turn: turn, Confidence: .8, At: t0}, Existing: known,
	}))(t)
}

func TestStoreProcedure(t *testing.T) {
	f := fresh(t)
	if op := f.lesson(t, "t1", "ada", "s1", "deploy", false); op != ragctx.OpDrafted {
		t.Error(op)
	}
	if op := f.lesson(t, "t1", "ada", "s1", "deploy", true); op != "" {
		t.Errorf("a turn taught twice: %s", op)
	}
	if op := f.lesson(t, "t2", "ada", "s1", "deploy", true); op != ragctx.OpMerged {
		t.Error(op)
	}
	if op := f.lesson(t, "t3", "bob", "s1", "deploy", false); op != ragctx.OpDrafted {
		t.Error(op)
	}
	k := store.ProcedureKey{Namespace: f.ns, Name: "deploy", ProcedureOwner: ragctx.ProcedureOwner{UserID: "ada"}}
	p := must(f.PublishProcedure(t.Context(), k))(t)
	want := []ragctx.ProcedureRun{{Turn: "t1", Confidence: .8, At: t0, Words: true}, {Turn: "t2", Confidence: .8, At: t0}}
	if diff := cmp.Diff(want, p.Versions[0].Sources); diff != "" {
		t.Error(diff)
	}
	_, err := f.StoreProcedure(t.Context(), store.ExtractedProcedure{Key: k, Body: body("x"), Run: ragctx.ProcedureRun{Turn: "t3"}})
	if !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("new under a name that is there: %v", err)
	}
	op, err := f.StoreProcedure(t.Context(), store.ExtractedProcedure{Key: k, Existing: true, Run: ragctx.ProcedureRun{Turn: "never"}})
	if op != "" || err != nil {
		t.Errorf("a turn that is not there: %s, %v", op, err)
	}
}

// TestEraseProcedures erases by turn, session and user: what came from there goes with
// all its traces, what others did is to be learnt again.
func TestEraseProcedures(t *testing.T) {
	f := fresh(t)
	f.lesson(t, "t1", "ada", "s1", "deploy", false)
	f.lesson(t, "t2", "ada", "s2", "deploy", true)
	f.lesson(t, "t3", "bob", "s3", "deploy", false)
	f.lesson(t, "t4", "", "s4", "check", false)
	ada := store.ProcedureKey{Namespace: f.ns, Name: "deploy", ProcedureOwner: ragctx.ProcedureOwner{UserID: "ada"}}
	bob := store.ProcedureKey{Namespace: f.ns, Name: "deploy", ProcedureOwner: ragctx.ProcedureOwner{UserID: "bob"}}
	must(f.PublishProcedure(t.Context(), ada))(t)
	must(f.PutProcedureDraft(t.Context(), ada, body("edited qstept1")))(t) // inherits where it is from

	e := must(f.EraseSession(t.Context(), f.ns, "s1", "", true))(t)
	if e.Procedures != 2 {
		t.Errorf("%+v", e)
	}
	if _, err := f.Procedure(t.Context(), ada); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("ada's: %v", err)
	}
	rows, _, err := f.PendingTurns(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatalf("to be told again: %v, %v", rows, err)
	}
	if u, _, err := f.PendingTurn(t.Context(), rows[0]); err != nil || u.Turn.ID != "t2" || u.Only != store.ProcedureObserver {
		t.Errorf("%+v, %v", u, err)
	}
	if p := must(f.Procedure(t.Context(), bob))(t); p.Draft == nil {
		t.Error("bob's is gone")
	}
	e = must(f.EraseUser(t.Context(), f.ns, "bob"))(t)
	if _, err := f.Procedure(t.Context(), bob); !errors.Is(err, ragctx.ErrNotFound) || e.Procedures != 1 {
		t.Errorf("bob's: %v, %+v", err, e)
	}
	e = must(f.EraseMemory(t.Context(), f.ns, "t4", "", true))(t)
	if e.Procedures != 1 || e.Turns != 1 {
		t.Errorf("by the turn: %+v", e)
	}
	f.scrub(t, e.Pending)
	for _, token := range []string{"qstept1", "qstept3", "qstept4"} {
		if n := traces(t, f.path, token); n > 0 {
			t.Errorf("%d traces of %s", n, token)
		}
	}
}

func TestEraseProcedure(t *testing.T) {
	f := fresh(t)
	must(f.PutProcedureDraft(t.Context(), f.key("gone"), body("qgoneq")))(t)
	must(f.PutProcedureDraft(t.Context(), f.key("here"), body("qhereq")))(t)
	must(f.PublishProcedure(t.Context(), f.key("gone")))(t)
	f.doc(t, "a", "qdocq", "")
	e := must(f.EraseProcedure(t.Context(), f.key("gone")))(t)
	if e.Procedures != 1 || e.Documents != 0 {
		t.Errorf("%+v", e)
	}
	f.scrub(t, e.Pending)
	for token, want := range map[string]bool{"qgoneq": false, "qhereq": true, "qdocq": true} {
		if n := traces(t, f.path, token); (n > 0) != want {
			t.Errorf("%d traces of %s", n, token)
		}
	}
	if e := must(f.EraseProcedure(t.Context(), f.key("gone")))(t); e.Pending != 0 {
		t.Errorf("again: %+v", e)
	}
}

func TestUnreviewedDraftsAreBounded(t *testing.T) {
	f := fresh(t)
	must(f.PutProcedureDraft(t.Context(), f.key("by-hand"), body("x")))(t)
	for i := range 203 {
		f.lesson(t, fmt.Sprint("t", i), "", "s", fmt.Sprint("p", i), false)
	}
	list := must(f.ListProcedures(t.Context(), f.ns, store.ProcedureFilter{}))(t)
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.Name
	}
	if len(list) != 201 || !slices.Contains(names, "by-hand") || !slices.Contains(names, "p202") || slices.Contains(names, "p0") {
		t.Errorf("%d: %s", len(list), strings.Join(names, " "))
	}
}

func TestSnapshotHasProcedures(t *testing.T) {
	f := fresh(t)
	must(f.PutProcedureDraft(t.Context(), f.key("deploy"), body("one")))(t)
	want := must(f.PublishProcedure(t.Context(), f.key("deploy")))(t)
	file := filepath.Join(t.TempDir(), "copy")
	must(f.Snapshot(t.Context(), file, store.SnapshotOptions{}))(t)
	dir := t.TempDir()
	must(sqlite.Restore(t.Context(), file, dir, store.RestoreOptions{}))(t)
	g := open(t, filepath.Join(dir, store.DatabaseName))
	if diff := cmp.Diff(want, must(g.Procedure(t.Context(), g.key("deploy")))(t)); diff != "" {
		t.Error(diff)
	}
}
