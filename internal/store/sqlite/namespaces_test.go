package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// tally compares what a namespace says that it holds with what there is.
func (f *fixture) tally(t *testing.T, when string) store.Namespace {
	t.Helper()
	n, err := f.DescribeNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]int{
		`count(*) FROM items WHERE kind = 1 AND`: n.Documents, `count(*) FROM items WHERE kind = 2 AND`: n.Memories,
		`coalesce(sum(bytes), 0) FROM items WHERE`: int(n.TextBytes),
	} {
		q := fmt.Sprintf(`SELECT %s superseded IS NULL AND namespace = %d`, what, f.ns)
		if want := count(t, f.path, q); got != want {
			t.Errorf("%s: %d, want %d: %s", when, got, want, what)
		}
	}
	return n
}

// TestNamespaceCounts: the counts are true after any writes, deletions and erasures.
func TestNamespaceCounts(t *testing.T) {
	f := fresh(t)
	f.populate(t, rand.New(rand.NewPCG(1, 2)), 12)
	for i := range 6 {
		m := ragctx.Memory{ID: fmt.Sprint("m", i%4), UserID: fmt.Sprint("u", i%2), Type: ragctx.MemorySemantic, Content: strings.Repeat("x", i+1)}
		_, _, _, err := f.PutMemory(t.Context(), f.ns, m, f.content(m.Content, nil), store.Tier{})
		if err != nil && !errors.Is(err, ragctx.ErrConflict) {
			t.Fatal(err)
		}
	}
	f.tally(t, "written")
	if _, err := f.DeleteMemory(t.Context(), f.ns, "m1", "u1", false); err != nil {
		t.Fatal(err)
	}
	f.tally(t, "deleted")
	if _, _, err := f.Undo(t.Context(), f.ns, "m1", "u1", false); err != nil {
		t.Fatal(err)
	}
	f.tally(t, "undone")
	e, err := f.EraseUser(t.Context(), f.ns, "u1")
	if err != nil {
		t.Fatal(err)
	}
	f.scrub(t, e.Pending)
	if n := f.tally(t, "erased"); n.Documents == 0 || n.Memories != 2 {
		t.Errorf("%+v", n)
	}
}

// TestQuotas: what would be too much is refused, with figures, and nothing of it is
// there; what does not grow goes through.
func TestQuotas(t *testing.T) {
	f := fresh(t)
	put := func(id, text string) error {
		p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: text}, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks))
		return err
	}
	note := func(id, text string) error {
		m := ragctx.Memory{ID: id, Type: ragctx.MemorySemantic, Content: text}
		_, _, _, err := f.PutMemory(t.Context(), f.ns, m, f.content(text, nil), store.Tier{})
		return err
	}
	limit := func(q store.Quotas) {
		if n, err := f.SetQuotas(t.Context(), "default", q); err != nil || n.Quotas != q {
			t.Fatalf("%+v, %v", n, err)
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if code, status := ragctx.CodeOf(err); code != "quota_exceeded" || status != 403 || !strings.Contains(err.Error(), what) {
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
	refused("may hold 1 memories", note("n", ""+"n"))
	if _, _, _, err := f.PutTurn(t.Context(), f.ns, ragctx.Turn{ID: "t"},
		&ragctx.Memory{ID: "t", Type: ragctx.MemoryEpisodic, Content: "t"}, f.content("t", nil), false); err == nil {
		t.Error("a turn's episode went beyond the quota")
	}
	if n := count(t, f.path, `SELECT count(*) FROM turns`); n != 0 {
		t.Errorf("%d turns of a refused one", n)
	}
	f.tally(t, "refused")

	limit(store.Quotas{Documents: 1, TextBytes: 10}) // less than there is
	if err := put("a", "short"); err != nil {
		t.Errorf("what shrinks: %v", err)
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
	f.tally(t, "in the end")
}

// TestEraseNamespace checks that everything is erased and that writers with the old id are rejected.
func TestEraseNamespace(t *testing.T) {
	const token = "Zqspace"
	f := fresh(t)
	l := f.Ledger(ledger.Options{})
	defer l.Close()
	fill := func() []error {
		p, err := docs.Prepare(ragctx.Document{ExternalID: token, Text: token}, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := ragctx.Memory{ID: token, UserID: token, Type: ragctx.MemorySemantic, Content: token}
		_, put := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks))
		_, _, _, noted := f.PutMemory(t.Context(), f.ns, m, f.content(token, nil), store.Tier{})
		turn := ragctx.Turn{ID: token + "2", Prompt: token}
		_, _, _, told := f.PutTurn(t.Context(), f.ns, turn, &ragctx.Memory{ID: turn.ID, Type: ragctx.MemoryEpisodic, Content: token},
			f.content(token, nil), true)
		m.ID = token + "3"
		aside := f.PutInQuarantine(t.Context(), f.ns, m, token)
		_, added := f.AddSessionProvider(t.Context(), store.SessionKey{Namespace: f.ns, Session: token}, token, 3)
		return []error{put, noted, told, aside, added}
	}
	if err := errors.Join(fill()...); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), words(token, 30)); err != nil {
		t.Fatal(err)
	}
	if err := f.SetSetting(t.Context(), fmt.Sprintf("ranking/%d/documents", f.ns), token); err != nil {
		t.Fatal(err)
	}
	if err := f.CreateJob(t.Context(), &store.Job{
		ID: token, Kind: token, Namespace: "default",
		State: store.JobQueued, Request: []byte(`"` + token + `"`),
	}); err != nil {
		t.Fatal(err)
	}
	e, err := f.EraseNamespace(t.Context(), "default", func(note func() error) error { return note() })
	if err != nil || e.Documents != 1 || e.Memories != 2 || e.Turns != 1 || e.Messages != 30 {
		t.Errorf("%+v, %v", e, err)
	}
	for i, err := range fill() {
		if !errors.Is(err, ragctx.ErrConflict) {
			t.Errorf("writer %d with the old id: %v", i, err)
		}
	}
	pending, err := f.PendingErasures(t.Context())
	if err != nil || len(pending) != 1 || len(pending[0].Removed) != 2 || len(pending[0].UpTo) != 0 {
		t.Errorf("pending %+v, %v", pending, err)
	}
	f.scrub(t, e.Pending)
	if n := traces(t, f.path, token); n != 0 {
		t.Errorf("%d traces", n)
	}
	if names, err := f.ListNamespaces(t.Context(), store.NamespaceFilter{Limit: -1}); err != nil || len(names) != 0 {
		t.Errorf("namespaces %v, %v", names, err)
	}
	if _, err := l.Append(t.Context(), words("c", 1)); err != nil { // makes a new one
		t.Fatal(err)
	}
	again, err := f.Namespace(t.Context(), "default", false)
	if err != nil || again == f.ns {
		t.Errorf("namespace %d, %v", again, err)
	}
}

// TestEraseNamespaceResumes checks that the next opening completes a recorded erasure.
func TestEraseNamespaceResumes(t *testing.T) {
	f := fresh(t)
	f.populate(t, rand.New(rand.NewPCG(1, 2)), 5)
	cut := errors.New("cut off")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.EraseNamespace(ctx, "default", func(note func() error) error {
		defer cancel()
		return errors.Join(note(), cut)
	})
	if !errors.Is(err, cut) {
		t.Fatal(err)
	}
	if _, err := f.Namespace(t.Context(), "default", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, f.path)
	if err := f.AwaitCollection(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.scrub(t, 1)
	if n := traces(t, f.path, "Zq"); n != 0 {
		t.Errorf("%d traces", n)
	}
}
