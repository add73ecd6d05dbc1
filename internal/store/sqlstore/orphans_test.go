package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
)

// shelf is a database of documents with given chunks.
type shelf struct {
	*Store

	t            *testing.T
	ns, embedder int64
}

func openShelf(t *testing.T) *shelf {
	t.Helper()
	s := OpenFile(t, Options{})
	out := &shelf{Store: s, t: t}
	var err error
	if out.ns, err = s.Namespace(t.Context(), "default", true); err != nil {
		t.Fatal(err)
	}
	if out.embedder, err = s.Embedder(t.Context(), embed.Identity{Name: "test", Dimensions: 2}); err != nil {
		t.Fatal(err)
	}
	return out
}

// put stores a document, a chunk each text.
func (s *shelf) put(id string, texts ...string) {
	s.t.Helper()
	whole := strings.Join(texts, "\n")
	c := store.Content{Text: whole, Embedder: s.embedder}
	at := 0
	for i, text := range texts {
		ch := chunk.Chunk{Ordinal: i, Text: text, Start: chunk.Pos{Byte: at}, End: chunk.Pos{Byte: at + len(text)}}
		c.Chunks = append(c.Chunks, store.Chunk{Chunk: ch, Hash: store.VectorKeyOf(text), Vector: []float32{1, 2}})
		at += len(text) + 1
	}
	p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: whole}, docs.Options{})
	if err == nil {
		_, err = s.PutDocument(s.t.Context(), s.ns, p, "", c)
	}
	if err != nil {
		s.t.Error(err)
	}
}

// bare returns how many chunks have no vector.
func (s *shelf) bare() (n int) {
	s.t.Helper()
	err := s.view(s.t.Context(), func(tx *Tx) error {
		return tx.QueryRowContext(s.t.Context(), `SELECT count(*) FROM units WHERE hash NOT IN (SELECT hash FROM vectors)`).Scan(&n)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// A text that is stored again between the search for unused vectors and their removal keeps its
// vector.
func TestVectorReusedDuringSearch(t *testing.T) {
	s := openShelf(t)
	s.put("a", "the same words")
	s.put("z", "other words")
	if _, err := s.EraseDocument(t.Context(), s.ns, "a"); err != nil {
		t.Fatal(err)
	}
	o := orphans{used: make(map[store.VectorKey]bool)}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.collectGarbage(t.Context()))
	must(s.view(t.Context(), func(tx *Tx) error { return o.load(t.Context(), tx) }))
	for o.checked < o.newest {
		must(s.view(t.Context(), func(tx *Tx) error { return o.checkNext(t.Context(), tx) }))
	}
	if len(o.keys) != 1 {
		t.Fatalf("%d vectors are looked for", len(o.keys))
	}
	s.put("b", "the same words")
	must(s.Slice(t.Context(), 0, NoNamespaces, o.drop))
	if n := s.bare(); n > 0 {
		t.Errorf("%d chunks have no vector", n)
	}
}

// Chunks without a stored vector leave nothing to look for.
func TestNoVectorNoOrphan(t *testing.T) {
	s := openShelf(t)
	s.put("a", "some words")
	err := s.write.do(t.Context(), Low, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM vectors`)
		return err
	})
	if err == nil {
		_, err = s.EraseDocument(t.Context(), s.ns, "a")
	}
	if err == nil {
		err = s.collectGarbage(t.Context())
	}
	n, orphaned := s.orphaned(t.Context())
	if n != 0 || err != nil || orphaned != nil {
		t.Errorf("%d vectors are looked for, %v, %v", n, err, orphaned)
	}
}

func TestVectorsOfSharedTextsSurviveErasures(t *testing.T) {
	s := openShelf(t)
	for round := range 8 {
		var texts []string
		for i := range 300 {
			texts = append(texts, fmt.Sprintf("text %d of round %d", i, round))
		}
		s.put(fmt.Sprint("gone", round), texts...)
		s.put(fmt.Sprint("stays", round), fmt.Sprint("something after ", round))
		erased, err := s.EraseDocument(t.Context(), s.ns, fmt.Sprint("gone", round))
		if err != nil {
			t.Fatal(err)
		}
		var writing sync.WaitGroup
		writing.Go(func() {
			time.Sleep(time.Duration(round) * time.Millisecond) // another moment of the erasure each time
			for i := 0; i < len(texts); i += 10 {
				s.put(fmt.Sprintf("again%d-%d", round, i), texts[i])
			}
		})
		if err := s.SecureErase(t.Context(), []int64{erased.Pending}); err != nil {
			t.Fatal(err)
		}
		writing.Wait()
	}
	if n := s.bare(); n > 0 {
		t.Errorf("%d chunks have no vector", n)
	}
}

// Looking at units costs what there are, not the highest id that was ever given.
func TestOrphanSearchPages(t *testing.T) {
	s := openShelf(t)
	s.put("a", "words")
	err := s.Slice(t.Context(), 0, NoNamespaces, func(ctx context.Context, tx *Tx, _ func(int) bool) error {
		_, err := tx.ExecContext(ctx, `UPDATE units SET id = 100000000`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	o := orphans{used: make(map[store.VectorKey]bool)}
	looks := 0
	for err := s.view(t.Context(), func(tx *Tx) error { return o.load(t.Context(), tx) }); o.checked < o.newest; looks++ {
		if err != nil {
			t.Fatal(err)
		}
		err = s.view(t.Context(), func(tx *Tx) error { return o.checkNext(t.Context(), tx) })
	}
	if looks != 1 {
		t.Errorf("looked %d times at one unit", looks)
	}
}
