package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// tally compares the counts of the namespace with its lists.
func (f *world) tally(t testing.TB, when string) store.Namespace {
	t.Helper()
	n := must(f.DescribeNamespace(t.Context(), "default"))(t)
	documents := must(f.ListDocuments(t.Context(), f.ns, store.ListOptions{Limit: 1000}))(t)
	memories := must(f.ListMemories(t.Context(), f.ns, store.MemoryFilter{AnyUser: true, Now: t0, Limit: 1000}))(t)
	bytes := 0
	for _, d := range documents {
		bytes += d.Bytes
	}
	for _, m := range memories {
		bytes += len(m.Content)
	}
	if n.Documents != len(documents) || n.Memories != len(memories) || n.TextBytes != int64(bytes) {
		t.Errorf("%s: %+v; listed %d documents and %d memories of %d bytes", when, n, len(documents), len(memories), bytes)
	}
	all := must(f.ListNamespaces(t.Context(), store.NamespaceFilter{Limit: -1}))(t)
	if len(all) != 1 || all[0] != n {
		t.Errorf("%s: described as %+v, listed as %+v", when, n, all)
	}
	return n
}

// testNamespaces creates, describes and lists namespaces.
func testNamespaces(t *testing.T, open Opener) {
	f := fresh(t, open)
	quotas := store.Quotas{Documents: 3, TextBytes: 1000}
	n, err := f.CreateNamespace(t.Context(), "b", quotas)
	if err != nil || n.Name != "b" || n.Created.IsZero() || n.Quotas != quotas {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := f.CreateNamespace(t.Context(), "b", quotas); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := f.Namespace(t.Context(), "a", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a missing namespace: %v", err)
	}
	a, b := must(f.Namespace(t.Context(), "a", true))(t), must(f.Namespace(t.Context(), "b", true))(t)
	if again := must(f.Namespace(t.Context(), "a", false))(t); again != a || a == b || a == f.ns || a <= 0 {
		t.Errorf("ids %d, %d and %d", a, again, b)
	}
	for _, c := range []struct {
		f    store.NamespaceFilter
		want string
	}{
		{store.NamespaceFilter{Limit: -1}, "a b default"},
		{store.NamespaceFilter{Limit: 2}, "a b"},
		{store.NamespaceFilter{After: "a", Limit: -1}, "b default"},
		{store.NamespaceFilter{Among: []string{"default", "z", "a"}, Limit: -1}, "a default"},
	} {
		var got []string
		for _, n := range must(f.ListNamespaces(t.Context(), c.f))(t) {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.f, got, c.want)
		}
	}
	if _, err := f.DescribeNamespace(t.Context(), "z"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a missing namespace was described: %v", err)
	}
	if _, err := f.SetQuotas(t.Context(), "z", quotas); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a missing namespace got quotas: %v", err)
	}
}

// testNamespaceCounts compares counts and lists after random writes, deletions, undos and erasures.
func testNamespaceCounts(t *testing.T, open Opener) {
	f := fresh(t, open)
	r := rand.New(rand.NewPCG(1, 2))
	accept := func(err error) {
		t.Helper()
		if err != nil && !errors.Is(err, ragctx.ErrNotFound) && !errors.Is(err, ragctx.ErrConflict) {
			t.Fatal(err)
		}
	}
	for range 200 {
		id, user := fmt.Sprint("id", r.IntN(5)), fmt.Sprint("user", r.IntN(2))
		text := strings.Repeat("x", 1+r.IntN(9))
		what, err := "", error(nil)
		switch r.IntN(9) {
		case 0, 1:
			what = "a document"
			f.doc(t, id, text, "")
		case 2:
			what = "a deleted document"
			_, err = f.DeleteDocument(t.Context(), f.ns, id)
		case 3:
			what = "an erased document"
			_, err = f.EraseDocument(t.Context(), f.ns, id)
		case 4, 5:
			what = "a memory"
			m := ragctx.Memory{ID: id, UserID: user, Type: ragctx.MemorySemantic, Content: text}
			_, _, _, err = f.ReplaceMemory(t.Context(), f.ns, m, f.content(text, nil), store.Tier{}, 0)
		case 6:
			what = "a deleted memory"
			_, err = f.DeleteMemory(t.Context(), f.ns, id, user, false)
		case 7:
			what = "an undo"
			_, _, err = f.Undo(t.Context(), f.ns, id, user, false)
		case 8:
			what = "an erased memory"
			_, err = f.EraseMemory(t.Context(), f.ns, id, user, false)
		}
		accept(err)
		f.tally(t, "after "+what)
	}
	e, err := f.EraseUser(t.Context(), f.ns, "user1")
	accept(err)
	f.tally(t, "after a user was erased")
	f.secureErase(t, e.Pending)
	if n := f.tally(t, "at the end"); n.Documents == 0 || n.Memories == 0 {
		t.Errorf("nothing is left to count: %+v", n)
	}
}

// testQuotas checks that a write over a quota fails with the figures and stores nothing, and that writes
// that do not grow the namespace succeed.
func testQuotas(t *testing.T, open Opener) {
	f := fresh(t, open)
	put := func(id, text string) error {
		p := Prepare(t, id, text)
		_, err := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks))
		return err
	}
	note := func(id, text string) error {
		m := ragctx.Memory{ID: id, Type: ragctx.MemorySemantic, Content: text}
		_, _, _, err := f.ReplaceMemory(t.Context(), f.ns, m, f.content(text, nil), store.Tier{}, 0)
		return err
	}
	limit := func(q store.Quotas) {
		if n, err := f.SetQuotas(t.Context(), "default", q); err != nil || n.Quotas != q {
			t.Fatalf("%+v, %v", n, err)
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if code, status := ragctx.CodeOf(err); code != "quota_exceeded" || status != 403 ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%v; want it to name %q", err, what)
		}
	}
	limit(store.Quotas{Documents: 2, Memories: 1, TextBytes: 100})
	for id, text := range map[string]string{"a": strings.Repeat("a", 40), "b": strings.Repeat("b", 40)} {
		if err := put(id, text); err != nil {
			t.Fatal(err)
		}
	}
	refused("may hold 2 documents, holds 2 and would hold 3", put("c", "c"))
	refused("may hold 100 bytes of text, holds 80 and would hold 101", put("a", strings.Repeat("a", 61)))
	if err := note("m", "twenty bytes of text"); err != nil {
		t.Fatal(err)
	}
	refused("may hold 1 memories", note("n", "n"))
	if _, _, _, err := f.PutTurn(t.Context(), f.ns, ragctx.Turn{ID: "t"},
		&ragctx.Memory{ID: "t", Type: ragctx.MemoryEpisodic, Content: "t"}, f.content("t", nil), false); err == nil {
		t.Error("a turn's episode went beyond the quota")
	}
	if _, err := f.Turn(t.Context(), f.ns, "t", "", true); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the turn of a refused episode: %v", err)
	}
	f.tally(t, "refused")

	limit(store.Quotas{Documents: 1, TextBytes: 10}) // less than is stored
	if err := put("a", "short"); err != nil {
		t.Errorf("a document that shrinks: %v", err)
	}
	refused("documents", put("c", "c"))
	for _, id := range []string{"a", "b"} {
		if _, err := f.DeleteDocument(t.Context(), f.ns, id); err != nil {
			t.Fatal(err)
		}
	}
	limit(store.Quotas{Documents: 1})
	if err := put("c", strings.Repeat("c", 1000)); err != nil {
		t.Errorf("after there was room: %v", err)
	}
	f.tally(t, "at the end")
}

// testEraseNamespace checks that a namespace is erased with its contents, and that writes with its old id
// fail.
func testEraseNamespace(t *testing.T, open Opener) {
	f := fresh(t, open)
	fill := func() map[string]error {
		p := Prepare(t, "d", "text")
		m := ragctx.Memory{ID: "m", UserID: "ada", Type: ragctx.MemorySemantic, Content: "text"}
		_, document := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks))
		_, _, _, memory := f.ReplaceMemory(t.Context(), f.ns, m, f.content("text", nil), store.Tier{}, 0)
		_, _, _, turn := f.putTurn(t, ragctx.Turn{ID: "t", Prompt: "text"}, true)
		m.ID = "q"
		quarantined := f.PutInQuarantine(t.Context(), f.ns, m, "a reason")
		_, provider := f.AddSessionProvider(t.Context(), store.SessionKey{Namespace: f.ns, Session: "s"}, "p", 3)
		_, draft := f.PutProcedureDraft(t.Context(), f.key("deploy"), body("one"))
		return map[string]error{
			"document": document, "memory": memory, "turn": turn, "quarantine": quarantined, "provider": provider,
			"draft": draft,
		}
	}
	for what, err := range fill() {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	around := func(note func() error) error { return note() }
	e, err := f.EraseNamespace(t.Context(), "default", around)
	if err != nil || e.Documents != 1 || e.Memories != 2 || e.Turns != 1 || e.Procedures != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	for what, err := range fill() {
		if !errors.Is(err, ragctx.ErrConflict) {
			t.Errorf("a %s with the old id: %v", what, err)
		}
	}
	pending, err := f.PendingErasures(t.Context())
	if err != nil || len(pending) != 1 || len(pending[0].Removed) != 2 || len(pending[0].UpTo) != 0 {
		t.Errorf("pending %+v, %v", pending, err)
	}
	f.secureErase(t, e.Pending)
	if all, err := f.ListNamespaces(t.Context(), store.NamespaceFilter{Limit: -1}); err != nil || len(all) != 0 {
		t.Errorf("namespaces %v, %v", all, err)
	}
	if _, err := f.Namespace(t.Context(), "default", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the erased namespace: %v", err)
	}
	if again := must(f.Namespace(t.Context(), "default", true))(t); again == f.ns {
		t.Errorf("the id %d was used again", again)
	}
	if err := f.Catalog(t.Context(), f.documents(), func(index.Batch) error { return nil }); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the catalog of the erased namespace: %v", err)
	}
	if _, err := f.EraseNamespace(t.Context(), "missing", around); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a missing namespace was erased: %v", err)
	}
}
