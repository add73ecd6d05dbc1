package sqlite_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that moves a second whenever it is read.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(time.Second)
	return c.t
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type fixture struct {
	*sqlite.Store

	path     string
	ns       int64
	embedder int64
	tampered bool // something else than the store has changed rows
}

func open(t *testing.T, path string) *fixture {
	t.Helper()
	return openWith(t, path, sqlite.Options{})
}

func openWith(t *testing.T, path string, o sqlite.Options) *fixture {
	t.Helper()
	o.Now = (&clock{t: t0}).now
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Store: s, path: path}
	t.Cleanup(func() {
		r, err := s.Verify(context.Background(), store.VerifyOptions{})
		for _, found := range r.Findings {
			if found.Check == "rows" && err == nil && !f.tampered {
				t.Errorf("at the end of the test: %+v", found)
			}
		}
		s.Close()
	})
	if f.ns, err = s.Namespace(t.Context(), "default", true); err != nil {
		t.Fatal(err)
	}
	if f.embedder, err = s.Embedder(t.Context(), embed.Identity{Name: "test", Dimensions: 2}); err != nil {
		t.Fatal(err)
	}
	return f
}

func fresh(t *testing.T) *fixture {
	return open(t, filepath.Join(t.TempDir(), "a b?#%.db"))
}

func (f *fixture) doc(t *testing.T, id, text, root string) store.Put {
	t.Helper()
	p := prepared(t, id, text)
	put, err := f.PutDocument(t.Context(), f.ns, p, root, f.content(p.Text, p.Chunks))
	if err != nil {
		t.Fatal(err)
	}
	return put
}

func prepared(t *testing.T, id, text string) passage.PreparedDocument {
	t.Helper()
	p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: text}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// content gives every unit a vector that tells its length.
func (f *fixture) content(text string, chunks []chunk.Chunk) store.Content {
	c := store.Content{Text: text, Embedder: f.embedder}
	for _, ch := range chunks {
		c.Chunks = append(c.Chunks, store.Chunk{Chunk: ch, Hash: store.VectorKeyOf(ch.Text), Vector: []float32{float32(len(ch.Text)), 1}})
	}
	return c
}

func (f *fixture) documents() store.Collection {
	return store.Collection{Namespace: f.ns, Kind: store.KindDocuments}
}

// follow returns all changes after seq as one batch.
func (f *fixture) follow(t *testing.T, c store.Collection, seq uint64) index.Batch {
	t.Helper()
	all := index.Batch{Seq: seq}
	for {
		b, err := f.Follow(t.Context(), c, all.Seq, true, f.embedder)
		if err != nil {
			t.Fatal(err)
		}
		if b.Seq == all.Seq {
			return all
		}
		all = index.Batch{
			Seq: b.Seq, Add: append(all.Add, b.Add...),
			Ended: append(all.Ended, b.Ended...), Removed: append(all.Removed, b.Removed...),
		}
	}
}

func TestDocumentVersions(t *testing.T) {
	f := fresh(t)
	if p := f.doc(t, "a", "one", ""); p.Status != store.Created || p.Version != 1 || p.Chunks != 1 {
		t.Errorf("first put: %+v", p)
	}
	if p := f.doc(t, "a", "one", ""); p.Status != store.Unchanged || p.Version != 1 {
		t.Errorf("same again: %+v", p)
	}
	if p := f.doc(t, "a", "two", ""); p.Status != store.Replaced || p.Version != 2 {
		t.Errorf("other content: %+v", p)
	}
	for version, want := range map[int]string{0: "two", 1: "one", 2: "two"} {
		if _, text, err := f.Document(t.Context(), f.ns, "a", version); err != nil || text != want {
			t.Errorf("version %d: %q, %v", version, text, err)
		}
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Document(t.Context(), f.ns, "a", 0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a deleted document: %v", err)
	}
	if _, _, err := f.Document(t.Context(), f.ns, "a", 9); !errors.Is(err, ragctx.ErrNotFound) || err.Error() != `version 9 of document "a": not found` {
		t.Errorf("a version that never was: %v", err)
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a"); !errors.Is(err, ragctx.ErrNotFound) || err.Error() != `document "a": not found` {
		t.Errorf("deleted twice: %v", err)
	}
	if p := f.doc(t, "a", "two", ""); p.Status != store.Created || p.Version != 3 {
		t.Errorf("put after a delete: %+v", p)
	}
}

func TestRootsDoNotTakeFromEachOther(t *testing.T) {
	f := fresh(t)
	f.doc(t, "docs/a", "one", "/x/docs")
	p, err := docs.Prepare(ragctx.Document{ExternalID: "docs/a", Text: "two"}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.PutDocument(t.Context(), f.ns, p, "/y/docs", f.content("two", p.Chunks))
	if !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "/x/docs") || !strings.Contains(err.Error(), "--prefix") {
		t.Errorf("got %v, want a conflict that names the folder and the remedy", err)
	}
}

func TestListDocuments(t *testing.T) {
	f := fresh(t)
	for _, id := range []string{"b/2", "a/1", "b/1", "c%_"} {
		f.doc(t, id, "text of "+id, "")
	}
	ids := func(o store.ListOptions) (out []string) {
		if o.Limit == 0 {
			o.Limit = 10
		}
		list, err := f.ListDocuments(t.Context(), f.ns, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			out = append(out, d.ID)
		}
		return out
	}
	if got := ids(store.ListOptions{}); !slices.Equal(got, []string{"a/1", "b/1", "b/2", "c%_"}) {
		t.Errorf("all: %v", got)
	}
	if got := ids(store.ListOptions{After: "a/1", Limit: 2}); !slices.Equal(got, []string{"b/1", "b/2"}) {
		t.Errorf("a page: %v", got)
	}
	if got := ids(store.ListOptions{Prefix: "c%"}); !slices.Equal(got, []string{"c%_"}) {
		t.Errorf("by prefix: %v", got)
	}
}

func TestFollowAndCatalogAgree(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "one\n\ntwo", "")
	f.doc(t, "b", strings.Repeat("A longer text that makes several chunks. ", 60), "")
	f.doc(t, "a", "three", "")
	if _, err := f.DeleteDocument(t.Context(), f.ns, "b"); err != nil {
		t.Fatal(err)
	}
	followed := f.follow(t, f.documents(), 0)
	var known index.Batch
	err := f.Catalog(t.Context(), f.documents(), func(b index.Batch) error {
		known.Seq, known.Add = b.Seq, append(known.Add, b.Add...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if known.Seq != followed.Seq || len(known.Add) != len(followed.Add) || len(followed.Ended) != 2 {
		t.Fatalf("catalog of %d units up to %d, followed %d units and %d ends up to %d",
			len(known.Add), known.Seq, len(followed.Add), len(followed.Ended), followed.Seq)
	}
	slices.SortFunc(known.Add, func(a, b index.Chunk) int { return cmp.Compare(a.ID, b.ID) })
	ended := 0
	for i, k := range known.Add {
		w := followed.Add[i]
		if k.ID != w.ID || k.Seq != w.Seq || k.Ordinal != w.Ordinal || k.Item.ID != w.Item.ID || w.Text == "" || w.Vector == nil {
			t.Errorf("unit %d is catalogued as %+v, followed as %+v", i, k, w)
		}
		if !k.Item.Superseded.IsZero() && k.Ordinal == 0 {
			ended++
		}
	}
	if ended != 2 {
		t.Errorf("%d ended parents, want 2", ended)
	}
	// What a leg does not want is not read.
	b, err := f.Follow(t.Context(), f.documents(), 0, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range b.Add {
		if e.Text != "" || e.Title != "" || e.Vector != nil {
			t.Errorf("unit %d came with text or vector", e.ID)
		}
	}
}

func TestReopen(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "one", "")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a"); !errors.Is(err, ragctx.ErrClosed) {
		t.Errorf("a write after close: %v", err)
	}
	g := open(t, f.path)
	if g.ns != f.ns || g.embedder != f.embedder {
		t.Errorf("ids changed: %d %d, then %d %d", f.ns, f.embedder, g.ns, g.embedder)
	}
	if _, text, err := g.Document(t.Context(), g.ns, "a", 0); err != nil || text != "one" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a file that is no database: %v", err)
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	f := fresh(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				turn := ragctx.Turn{ID: fmt.Sprintf("%d-%d", w, i), SessionID: "s", Prompt: "p", Occurred: t0}
				m, units, _, err := memory.Episode(turn)
				if err != nil {
					t.Error(err)
				}
				if _, _, _, err := f.PutTurn(t.Context(), f.ns, turn, m, f.content(m.Content, units), false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b := f.follow(t, store.Collection{Namespace: f.ns, Kind: store.KindMemories}, 0)
	if len(b.Add) != 160 {
		t.Errorf("%d units of 160 turns", len(b.Add))
	}
	last := uint64(0)
	for _, e := range b.Add {
		if e.ID <= last {
			t.Fatalf("unit %d follows %d", e.ID, last)
		}
		last = e.ID
	}
}

func TestTurns(t *testing.T) {
	f := fresh(t)
	turn := ragctx.Turn{ID: "t", SessionID: "s", Prompt: "p", Response: "r", Occurred: t0}
	put := func(turn ragctx.Turn) (store.Status, error) {
		m, units, _, err := memory.Episode(turn)
		if err != nil {
			t.Fatal(err)
		}
		st, _, _, err := f.PutTurn(t.Context(), f.ns, turn, m, f.content(m.Content, units), false)
		return st, err
	}
	if st, err := put(turn); err != nil || st != store.Created {
		t.Errorf("%v, %v", st, err)
	}
	if st, err := put(turn); err != nil || st != store.Unchanged {
		t.Errorf("sent twice: %v, %v", st, err)
	}
	taken := turn
	taken.UserID = "eve"
	if _, err := put(taken); !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("another user's turn: %v", err)
	}
	turn.Response = "other"
	if _, err := put(turn); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("another turn of the same id: %v", err)
	}
	m, err := f.Memory(t.Context(), f.ns, "t", t0)
	if err != nil || m.Content != "user: p\nassistant: r" || !m.Occurred.Equal(t0) {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "t", "", true); err != nil {
		t.Fatal(err)
	}
	turn.Response = "r"
	if _, err := put(turn); !errors.Is(err, ragctx.ErrConflict) || err.Error() != `turn "t": conflict: it was deleted; choose another id` {
		t.Errorf("a turn whose memory was deleted: %v", err)
	}
	turn.ID = "new"
	remember(t, f, ragctx.Memory{ID: "new", Content: "x"})
	if _, err := put(turn); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a turn with a memory's id: %v", err)
	}
}

func remember(t *testing.T, f *fixture, m ragctx.Memory) store.Status {
	t.Helper()
	if m.Occurred.IsZero() {
		m.Occurred = t0
	}
	_, st, _, err := f.PutMemory(t.Context(), f.ns, m, f.content(m.Content, memory.Chunks(m.Content)), store.Tier{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestMemories(t *testing.T) {
	f := fresh(t)
	now := t0.Add(24 * time.Hour)
	remember(t, f, ragctx.Memory{ID: "old", Content: "x", Importance: .5, Occurred: now.AddDate(0, 0, -300)})
	remember(t, f, ragctx.Memory{ID: "new", Content: "x", Importance: .5, Occurred: now, Tags: []string{"k"}})
	remember(t, f, ragctx.Memory{ID: "vip", Content: "x", Importance: 1, Occurred: now, SessionID: "s", Type: ragctx.MemorySemantic})
	remember(t, f, ragctx.Memory{ID: "ada", Content: "x", UserID: "ada", Importance: .1, Occurred: now})
	remember(t, f, ragctx.Memory{ID: "bob", Content: "x", UserID: "bob", Importance: .1, Occurred: now})
	remember(t, f, ragctx.Memory{ID: "gone", Content: "x", Expires: now})
	if st := remember(t, f, ragctx.Memory{ID: "old", Content: "x", Importance: .5, Occurred: now.AddDate(0, 0, -300)}); st != store.Unchanged {
		t.Errorf("the same again: %s", st)
	}
	ids := func(mf store.MemoryFilter) (out []string) {
		mf.Now = now
		if mf.Limit == 0 {
			mf.Limit = 10
		}
		list, err := f.ListMemories(t.Context(), f.ns, mf)
		if err != nil {
			t.Fatal(err)
		}
		last := 2.0
		for _, m := range list {
			if m.Score > last {
				t.Errorf("score %v after %v", m.Score, last)
			}
			last = m.Score
			out = append(out, m.ID)
		}
		return out
	}
	for _, c := range []struct {
		f    store.MemoryFilter
		want []string
	}{
		{store.MemoryFilter{}, []string{"vip", "new", "old"}},
		{store.MemoryFilter{UserID: "ada"}, []string{"vip", "new", "ada", "old"}},
		{store.MemoryFilter{AnyUser: true}, []string{"vip", "new", "ada", "bob", "old"}},
		{store.MemoryFilter{SessionID: "s"}, []string{"vip"}},
		{store.MemoryFilter{Filter: ragctx.Filter{Tags: []string{"k"}}}, []string{"new"}},
		{store.MemoryFilter{Types: []ragctx.MemoryType{ragctx.MemorySemantic}}, []string{"vip"}},
	} {
		if got := ids(c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "bob", "ada", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("ada deleted bob's memory: %v", err)
	}
	if _, _, _, err := f.PutMemory(t.Context(), f.ns, ragctx.Memory{ID: "bob", Content: "y", UserID: "ada"}, store.Content{},
		store.Tier{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("ada replaced bob's memory: %v", err)
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "vip", "", false); err != nil {
		t.Error(err)
	}
	if _, err := f.Memory(t.Context(), f.ns, "vip", now); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a deleted memory: %v", err)
	}
}

func TestCanceledWriteDoesNothing(t *testing.T) {
	f := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := docs.Prepare(ragctx.Document{ExternalID: "a", Text: "x"}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.PutDocument(ctx, f.ns, p, "", f.content("x", p.Chunks)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if b := f.follow(t, f.documents(), 0); len(b.Add) != 0 {
		t.Error("something was stored")
	}
}

func TestEqualTextsAreEmbeddedOnce(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "same text", "")
	f.doc(t, "b", "same text", "")
	key := store.VectorKeyOf("same text")
	got, err := f.Vectors(t.Context(), f.embedder, []store.VectorKey{key, store.VectorKeyOf("other")})
	if err != nil || len(got) != 1 || !slices.Equal(got[key], []float32{9, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	other, err := f.Embedder(t.Context(), embed.Identity{Name: "test", Revision: "2", Dimensions: 2})
	if err != nil || other == f.embedder {
		t.Errorf("another revision has id %d, %v", other, err)
	}
}
