package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/storetest"
	"github.com/ragctx/ragctx/providers/docs"
)

func texts(t *testing.T, f *fixture) int {
	t.Helper()
	return count(t, f.path, `SELECT count(*) FROM texts`)
}

func TestEqualTextsAreStoredOnce(t *testing.T) {
	f := fresh(t)
	body := func(n int) string { return fmt.Sprintf("a text with the number %d", n) }
	for _, id := range []string{"a", "b", "c"} {
		f.doc(t, id, body(1), "")
	}
	if n := texts(t, f); n != 1 {
		t.Errorf("%d texts of three equal documents", n)
	}
	f.doc(t, "a", body(2), "") // the one that wrote the text goes on with another
	if _, err := f.EraseDocument(t.Context(), f.ns, "a"); err != nil {
		t.Fatal(err)
	}
	f.scrub(t, 100)
	if n := texts(t, f); n != 1 {
		t.Errorf("%d texts after one that wrote it was erased", n)
	}
	if n := count(t, f.path, `SELECT count(*) FROM items WHERE key = 'a' OR title = 'a'`); n != 0 {
		t.Error("the erased document is still named")
	}
	for _, id := range []string{"b", "c"} {
		if _, text, err := f.Document(t.Context(), f.ns, id, 0); err != nil || text != body(1) {
			t.Errorf("%s: %q, %v", id, text, err)
		}
	}
	f.doc(t, "d", body(1), "")
	if n := texts(t, f); n != 1 {
		t.Errorf("%d texts with one more", n)
	}
	for _, id := range []string{"b", "c", "d"} {
		if _, err := f.EraseDocument(t.Context(), f.ns, id); err != nil {
			t.Fatal(err)
		}
	}
	f.scrub(t, 100)
	if n := count(t, f.path, `SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM texts)`); n != 0 {
		t.Errorf("%d rows are left of what was erased", n)
	}
	if n := traces(t, f.path, "with the number"); n != 0 {
		t.Errorf("%d traces are left of what was erased", n)
	}
}

func TestTextsAreNotSharedAcrossNamespaces(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "the same", "")
	var err error
	if f.ns, err = f.Namespace(t.Context(), "other", true); err != nil {
		t.Fatal(err)
	}
	f.doc(t, "a", "the same", "")
	if n := texts(t, f); n != 2 {
		t.Errorf("%d texts in two namespaces", n)
	}
}

// TestSharedTexts puts, replaces and erases documents of few texts, some longer than a
// row, and takes snapshots.
func TestSharedTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		f := openWith(t, filepath.Join(dir, "a.db"), sqlite.Options{KeepVersions: 2})
		defer f.Close()
		want := make(map[string]string)
		check := func(f *fixture, when string) {
			for id, text := range want {
				if _, got, err := f.Document(t.Context(), f.ns, id, 0); err != nil || got != text {
					rt.Fatalf("%s: %s has %d bytes, want %d, %v", when, id, len(got), len(text), err)
				}
			}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "operations") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "id")
			switch op := rapid.IntRange(0, 9).Draw(rt, "op"); {
			case op < 6:
				seed := rapid.SampledFrom([]uint64{1, 1, 2, 2, 2, 3}).Draw(rt, "text")
				units := []int{3, 40, 660}[seed-1]
				_, text, err := f.long(t, t.Context(), id, seed, units)
				if err != nil {
					rt.Fatal(err)
				}
				want[id] = text
			case op < 8:
				if _, err := f.EraseDocument(t.Context(), f.ns, id); err != nil {
					rt.Fatal(err)
				}
				delete(want, id)
			default:
				to := t.TempDir()
				if _, err := f.Snapshot(t.Context(), filepath.Join(to, "s"), store.SnapshotOptions{}); err != nil {
					rt.Fatal(err)
				}
				into := filepath.Join(to, "restored")
				if err := os.Mkdir(into, 0o700); err != nil {
					rt.Fatal(err)
				}
				if _, err := sqlite.Restore(t.Context(), filepath.Join(to, "s"), into, store.RestoreOptions{}); err != nil {
					rt.Fatal(err)
				}
				restored := filepath.Join(into, store.DatabaseName)
				g := open(t, restored)
				check(g, "in a snapshot")
				if err := g.Close(); err != nil {
					rt.Fatal(err)
				}
			}
			check(f, "after it")
		}
		// Unused stubs and old versions are removed as well.
		swept(t, f.path)
	})
}

// TestSharedTextsInParallel has several writers put, cut off, delete and erase documents
// of the same few texts concurrently with scrubs.
func TestSharedTextsInParallel(t *testing.T) {
	f := openWith(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{KeepVersions: 2})
	contents := make([]store.Content, 4)
	for i, units := range []int{3, 40, 200, 660} {
		contents[i] = storetest.RandomContent(rand.New(rand.NewPCG(uint64(i), 1)), units, f.embedder)
		for k := range contents[i].Chunks {
			contents[i].Chunks[k].Vector = []float32{float32(k), 1}
		}
	}
	var wg sync.WaitGroup
	for g := range 4 {
		w := &copier{fixture: f, t: t, contents: contents, name: g, rand: rand.New(rand.NewPCG(uint64(g), 2)), want: make(map[string]string)}
		wg.Go(w.run)
	}
	wg.Wait()
	f.scrub(t, 1<<40)
	if n := count(t, f.path, `SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM texts) + (SELECT count(*) FROM text_parts)
		+ (SELECT count(*) FROM units) + (SELECT count(*) FROM vectors)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	for i, c := range contents {
		if n := traces(t, f.path, c.Text[100:140]); n != 0 {
			t.Errorf("text %d has left %d traces", i, n)
		}
	}
}

// copier is a writer with ids of its own.
type copier struct {
	*fixture

	t        *testing.T
	contents []store.Content
	name     int
	rand     *rand.Rand
	want     map[string]string // texts by id
}

func (w *copier) run() {
	for n := range 60 {
		if err := w.step(n); err != nil {
			w.t.Error(err)
			return
		}
		for id, text := range w.want {
			if _, got, err := w.Document(w.t.Context(), w.ns, id, 0); err != nil || got != text {
				w.t.Errorf("%s has %d bytes of %d, %v", id, len(got), len(text), err)
				return
			}
		}
	}
	for i := range 3 {
		if _, err := w.EraseDocument(w.t.Context(), w.ns, fmt.Sprintf("%d-%d", w.name, i)); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *copier) step(n int) error {
	id := fmt.Sprintf("%d-%d", w.name, w.rand.IntN(3))
	var err error
	switch op := w.rand.IntN(10); {
	case op < 6:
		return w.put(id, n)
	case op < 8:
		_, err = w.EraseDocument(w.t.Context(), w.ns, id)
	case op < 9:
		if _, err = w.DeleteDocument(w.t.Context(), w.ns, id); errors.Is(err, ragctx.ErrNotFound) {
			err = nil
		}
	default:
		return w.SecureErase(w.t.Context(), nil)
	}
	delete(w.want, id)
	return err
}

// put stores a document, or breaks off while it is being stored.
func (w *copier) put(id string, n int) error {
	c := w.contents[w.rand.IntN(len(w.contents))]
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	if w.rand.IntN(4) == 0 {
		defer time.AfterFunc(time.Duration(w.rand.IntN(8))*time.Millisecond, cancel).Stop()
	}
	d := ragctx.Document{ExternalID: id, Title: fmt.Sprint(n), Text: c.Text}
	_, err := w.PutDocument(ctx, w.ns, passage.PreparedDocument{Document: d, Hash: docs.ContentHash(d)}, "", c)
	if err == nil {
		w.want[id] = c.Text
	}
	if !errors.Is(err, context.Canceled) {
		return err
	}
	// It may have been stored all the same.
	delete(w.want, id)
	if _, got, err := w.Document(w.t.Context(), w.ns, id, 0); err == nil {
		w.want[id] = got
	}
	return nil
}
