package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/procedures"
	"github.com/ragctx/ragctx/session"
)

func (f *world) key(name string) store.ProcedureKey {
	return store.ProcedureKey{Namespace: f.ns, Name: name}
}

func body(step string) ragctx.ProcedureBody {
	return procedures.TrimBody(ragctx.ProcedureBody{Trigger: "Do " + step, Steps: []string{step}})
}

func testProcedureLife(t *testing.T, open Opener) {
	f := fresh(t, open)
	k := f.key("deploy")
	if _, err := f.PublishProcedure(t.Context(), k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("publish of a missing procedure: %v", err)
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
		t.Errorf("a draft changed the published version: %+v", v)
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
	if diff := cmp.Diff([]ragctx.ProcedureState{
		ragctx.ProcedureSuperseded, ragctx.ProcedurePublished,
		ragctx.ProcedurePublished,
	},
		states); diff != "" || p.Canonical != 2 {
		t.Errorf("rolled back to %d: %s", p.Canonical, diff)
	}
	for version, want := range map[int]error{
		2: ragctx.ErrConflict, 3: ragctx.ErrConflict, 4: ragctx.ErrNotFound,
		0: ragctx.ErrNotFound,
	} {
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

func testProcedureDraftDeleted(t *testing.T, open Opener) {
	f := fresh(t, open)
	k := f.key("deploy")
	if err := f.DeleteProcedureDraft(t.Context(), k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("no procedure: %v", err)
	}
	must(f.PutProcedureDraft(t.Context(), k, body("one")))(t)
	if err := f.DeleteProcedureDraft(t.Context(), k); err != nil {
		t.Error(err)
	}
	if _, err := f.Procedure(t.Context(), k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a procedure without anything: %v", err)
	}
}

// testSkillsAsOf reads the versions that were canonical at earlier times.
func testSkillsAsOf(t *testing.T, open Opener) {
	f := fresh(t, open)
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

// procedureModel is a procedure in plain values.
type procedureModel struct {
	draft     string
	versions  []string // steps by number, from 1
	gone      []bool   // superseded
	canonical int
}

// testProcedureModel compares the store with a model over random operations: published versions never
// change, and a rollback supersedes all later ones.
func testProcedureModel(t *testing.T, open Opener) {
	f := fresh(t, open)
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
				var want error
				if m.draft == "" {
					want = ragctx.ErrNotFound
				}
				if err := f.DeleteProcedureDraft(t.Context(), k); !errors.Is(err, want) {
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

func (m *procedureModel) compare(t *testing.T, rt *rapid.T, f *world, k store.ProcedureKey) {
	p, err := f.Procedure(t.Context(), k)
	if m.draft == "" && len(m.versions) == 0 {
		if !errors.Is(err, ragctx.ErrNotFound) {
			rt.Fatalf("%+v, %v", p, err)
		}
		return
	}
	if err != nil || p.Canonical != m.canonical || len(p.Versions) != len(m.versions) ||
		(p.Draft != nil) != (m.draft != "") {
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
	if k.Namespace%5 != 0 { // listing is slow
		return
	}
	list := must(f.ListProcedures(t.Context(), k.Namespace, store.ProcedureFilter{}))(t)
	i := slices.IndexFunc(list, func(l ragctx.ProcedureEntry) bool { return l.Name == k.Name })
	if i < 0 || list[i].Canonical != m.canonical || list[i].Draft != (m.draft != "") ||
		list[i].Versions != len(m.versions) {
		rt.Fatalf("listed %+v; want %+v", list, m)
	}
}

// lesson stores a procedure extracted from a new turn. Known says whether it exists already.
func (f *world) lesson(t *testing.T, turn, user, session, name string, known bool) ragctx.ChangeOp {
	t.Helper()
	put := ragctx.Turn{ID: turn, UserID: user, SessionID: session, Prompt: "Prompt of " + turn, Occurred: t0}
	if _, _, _, err := f.PutTurn(t.Context(), f.ns, put, nil, store.Content{}, false); err != nil {
		t.Fatal(err)
	}
	return must(f.StoreProcedure(t.Context(), store.ExtractedProcedure{
		Key:  store.ProcedureKey{Namespace: f.ns, Name: name, ProcedureOwner: ragctx.ProcedureOwner{UserID: user}},
		Body: body("step of " + turn), By: ragctx.ByTurn, Run: ragctx.ProcedureRun{
			Turn: turn, Confidence: .8,
			At: t0,
		}, Existing: known,
	}))(t)
}

func testStoreProcedure(t *testing.T, open Opener) {
	f := fresh(t, open)
	if op := f.lesson(t, "t1", "ada", "s1", "deploy", false); op != ragctx.OpDrafted {
		t.Error(op)
	}
	if op := f.lesson(t, "t1", "ada", "s1", "deploy", true); op != "" {
		t.Errorf("the same turn again: %s", op)
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
	_, err := f.StoreProcedure(t.Context(), store.ExtractedProcedure{
		Key: k, Body: body("x"),
		Run: ragctx.ProcedureRun{Turn: "t3"},
	})
	if !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a new procedure under a used name: %v", err)
	}
	op, err := f.StoreProcedure(t.Context(), store.ExtractedProcedure{
		Key: k, Existing: true,
		Run: ragctx.ProcedureRun{Turn: "never"},
	})
	if op != "" || err != nil {
		t.Errorf("a missing turn: %s, %v", op, err)
	}
}

// testEraseProcedures checks that procedures are erased with the turn, session or user that they were
// extracted from, and that other turns of them are queued for another extraction.
func testEraseProcedures(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.lesson(t, "t1", "ada", "s1", "deploy", false)
	f.lesson(t, "t2", "ada", "s2", "deploy", true)
	f.lesson(t, "t3", "bob", "s3", "deploy", false)
	f.lesson(t, "t4", "", "s4", "check", false)
	ada := store.ProcedureKey{Namespace: f.ns, Name: "deploy", ProcedureOwner: ragctx.ProcedureOwner{UserID: "ada"}}
	bob := store.ProcedureKey{Namespace: f.ns, Name: "deploy", ProcedureOwner: ragctx.ProcedureOwner{UserID: "bob"}}
	must(f.PublishProcedure(t.Context(), ada))(t)
	must(f.PutProcedureDraft(t.Context(), ada, body("edited step")))(t) // keeps the sources

	e := must(f.EraseSession(t.Context(), f.ns, "s1", "", true, session.Condition{}))(t)
	if e.Procedures != 2 {
		t.Errorf("%+v", e)
	}
	if _, err := f.Procedure(t.Context(), ada); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("ada's: %v", err)
	}
	rows, _, err := f.PendingTurns(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatalf("turns to deliver again: %v, %v", rows, err)
	}
	if u, _, err := f.PendingTurn(t.Context(), rows[0]); err != nil || u.Turn.ID != "t2" ||
		u.Only != store.ProcedureObserver {
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
}

func testEraseProcedure(t *testing.T, open Opener) {
	f := fresh(t, open)
	must(f.PutProcedureDraft(t.Context(), f.key("gone"), body("one")))(t)
	must(f.PutProcedureDraft(t.Context(), f.key("here"), body("two")))(t)
	must(f.PublishProcedure(t.Context(), f.key("gone")))(t)
	f.doc(t, "gone", "text", "")
	e := must(f.EraseProcedure(t.Context(), f.key("gone")))(t)
	if e.Procedures != 1 || e.Documents != 0 {
		t.Errorf("%+v", e)
	}
	if _, err := f.Procedure(t.Context(), f.key("gone")); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("an erased procedure: %v", err)
	}
	if p := must(f.Procedure(t.Context(), f.key("here")))(t); p.Draft == nil {
		t.Errorf("another procedure: %+v", p)
	}
	if e := must(f.EraseProcedure(t.Context(), f.key("gone")))(t); e.Pending != 0 {
		t.Errorf("again: %+v", e)
	}
}

// testUnreviewedDrafts checks that the number of extracted drafts is limited.
func testUnreviewedDrafts(t *testing.T, open Opener) {
	f := fresh(t, open)
	must(f.PutProcedureDraft(t.Context(), f.key("by-hand"), body("x")))(t)
	for i := range 203 {
		f.lesson(t, fmt.Sprint("t", i), "", "s", fmt.Sprint("p", i), false)
	}
	list := must(f.ListProcedures(t.Context(), f.ns, store.ProcedureFilter{}))(t)
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.Name
	}
	if len(list) != 201 || !slices.Contains(names, "by-hand") || !slices.Contains(names,
		"p202") || slices.Contains(names, "p0") {
		t.Errorf("%d: %s", len(list), strings.Join(names, " "))
	}
}

// testReadProcedures reads versions, the latest procedures of an owner, and the state.
func testReadProcedures(t *testing.T, open Opener) {
	f := fresh(t, open)
	before := f.ProceduresState()
	for _, name := range []string{"one", "two", "three"} {
		must(f.PutProcedureDraft(t.Context(), f.key(name), body("first "+name)))(t)
	}
	if f.ProceduresState() == before {
		t.Error("new procedures left the state as it was")
	}
	k := f.key("one")
	must(f.PublishProcedure(t.Context(), k))(t)
	must(f.PutProcedureDraft(t.Context(), k, body("second one")))(t)
	must(f.PublishProcedure(t.Context(), k))(t)
	for number, want := range map[int]string{0: "second one", 1: "first one", 2: "second one"} {
		if v, err := f.ProcedureVersion(t.Context(), k, number); err != nil || v.Steps[0] != want {
			t.Errorf("version %d: %+v, %v", number, v, err)
		}
	}
	if _, err := f.ProcedureVersion(t.Context(), k, 3); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a missing version: %v", err)
	}
	if _, err := f.ProcedureVersion(t.Context(), f.key("two"), 0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the canonical version of a draft: %v", err)
	}
	var names []string
	for _, p := range must(f.LatestProcedures(t.Context(), f.ns, ragctx.ProcedureOwner{}, 9))(t) {
		names = append(names, p.Name+": "+p.Steps[0])
	}
	if got := strings.Join(names, ", "); got != "three: first three, two: first two, one: second one" {
		t.Errorf("latest procedures %s", got)
	}
	if all := must(f.LatestProcedures(t.Context(), f.ns, ragctx.ProcedureOwner{UserID: "ada"}, 9))(t); len(all) > 0 {
		t.Errorf("procedures of another owner %+v", all)
	}
}
