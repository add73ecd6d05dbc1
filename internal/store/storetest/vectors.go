package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/store"
)

// testVectors checks that equal texts share a vector.
func testVectors(t *testing.T, open Opener) {
	f := fresh(t, open)
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

// testMarkEmbedded completes the vectors of an embedder after another one was chosen.
func testMarkEmbedded(t *testing.T, open Opener) {
	f := fresh(t, open)
	if err := f.ChangeEmbedder(t.Context(), "2", 5); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		embedder int64
		want     string
	}{{1, "5"}, {2, ""}} {
		if err := f.MarkEmbedded(t.Context(), c.embedder, 100); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Setting(t.Context(), store.SettingUnembedded); err != nil || got != c.want {
			t.Errorf("after embedder %d is done, the first chunk without a vector is %q, want %q, %v", c.embedder, got,
				c.want, err)
		}
	}
}

// testEmbedders registers embedders and reads their identities.
func testEmbedders(t *testing.T, open Opener) {
	f := fresh(t, open)
	if id := must(f.AnyEmbedder(t.Context()))(t); id != 0 {
		t.Errorf("embedder %d has vectors in an empty store", id)
	}
	identity := embed.Identity{Name: "other", Dimensions: 3}
	other := must(f.Embedder(t.Context(), identity))(t)
	if again := must(f.Embedder(t.Context(), identity))(t); again != other || other == f.embedder {
		t.Errorf("ids %d, %d and %d", f.embedder, other, again)
	}
	if got, err := f.EmbedderIdentity(t.Context(), other); err != nil || got.Name != "other" || got.Dimensions != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	f.doc(t, "a", "one", "")
	if id := must(f.AnyEmbedder(t.Context()))(t); id != f.embedder {
		t.Errorf("embedder %d has vectors, want %d", id, f.embedder)
	}
}

// testChangeEmbedder embeds stored texts anew for another embedder, and deletes the old vectors.
func testChangeEmbedder(t *testing.T, open Opener) {
	f := fresh(t, open)
	var key store.VectorKey
	for i := range 5 {
		p := Prepare(t, fmt.Sprint(i), fmt.Sprint("text ", i))
		c := f.content(p.Text, p.Chunks)
		key = store.VectorKeyOf(store.EmbedText(p.Title, p.Chunks[0].Heading, p.Chunks[0].Text))
		c.Chunks[0].Hash = key
		must(f.PutDocument(t.Context(), f.ns, p, "", c))(t)
	}
	followed := f.follow(t, f.documents(), 0)
	next := must(f.Embedder(t.Context(), embed.Identity{Name: "next", Dimensions: 1}))(t)
	last, n := must(f.LastChunk(t.Context()))(t), must(f.CountChunks(t.Context()))(t)
	if n != 5 || last != followed.Add[4].ID {
		t.Errorf("the last chunk is %d of %d", last, n)
	}
	if err := f.ChangeEmbedder(t.Context(), fmt.Sprint(next), 1); err != nil {
		t.Fatal(err)
	}
	if id := must(f.Setting(t.Context(), store.SettingEmbedder))(t); id != fmt.Sprint(next) {
		t.Errorf("the embedder is %s, want %d", id, next)
	}
	var seq uint64
	embedded := 0
	for after := uint64(0); ; {
		texts, to, err := f.Unembedded(t.Context(), next, after, 2)
		if err != nil || len(texts) > 2 {
			t.Fatalf("%+v, %v", texts, err)
		}
		if to == after {
			break
		}
		after = to
		embedded += len(texts)
		vectors := make([][]float32, len(texts))
		for i := range texts {
			vectors[i] = []float32{7}
		}
		seq = must(f.PutVectors(t.Context(), next, texts, vectors, true))(t)[f.documents()]
	}
	if embedded != 5 {
		t.Errorf("%d texts lacked a vector, want 5", embedded)
	}
	b := must(f.Follow(t.Context(), f.documents(), followed.Seq, false, next))(t)
	if b.Seq != seq || len(b.Revised) != 5 || !slices.Equal(b.Revised[0].Vector, []float32{7}) {
		t.Errorf("followed %+v up to %d, want %d", b.Revised, b.Seq, seq)
	}
	announced, to, err := f.AnnounceVectors(t.Context(), 0, n)
	if again := announced[f.documents()]; err != nil || to != last || again <= seq {
		t.Errorf("AnnounceVectors = %v, %d, %v; want a change after %d and the chunk %d", announced, to, err, seq, last)
	}
	b = must(f.Follow(t.Context(), f.documents(), seq, false, next))(t)
	if len(b.Revised) != n {
		t.Errorf("announced %d chunks, want %d", len(b.Revised), n)
	}
	if _, to, err = f.AnnounceVectors(t.Context(), last, n); err != nil || to != last {
		t.Errorf("AnnounceVectors after the last chunk = %d, %v", to, err)
	}
	if err := f.MarkEmbedded(t.Context(), next, last); err != nil {
		t.Fatal(err)
	}
	if from := must(f.Setting(t.Context(), store.SettingUnembedded))(t); from != "" {
		t.Errorf("chunk %s lacks a vector", from)
	}
	for more := true; more; {
		more = must(f.DeleteOldVectors(t.Context(), next, 2))(t)
	}
	for embedder, want := range map[int64]int{f.embedder: 0, next: 1} {
		if got := must(f.Vectors(t.Context(), embedder, []store.VectorKey{key}))(t); len(got) != want {
			t.Errorf("embedder %d has vectors %v", embedder, got)
		}
	}
}

// testNextVectors stores the vectors of two embedders with a document.
func testNextVectors(t *testing.T, open Opener) {
	f := fresh(t, open)
	p := Prepare(t, "a", strings.Repeat("A paragraph of a few words, and some more of them.\n\n", 500))
	c := f.content(p.Text, p.Chunks)
	c.Next = must(f.Embedder(t.Context(), embed.Identity{Name: "next", Dimensions: 3}))(t)
	var keys []store.VectorKey
	for i := range c.Chunks {
		c.Chunks[i].NextVector = []float32{float32(i), 1, 2}
		c.Chunks[i].Hash = store.VectorKeyOf(fmt.Sprint(i))
		keys = append(keys, c.Chunks[i].Hash)
	}
	c.Chunks[1].NextVector = nil // the next embedder was unavailable
	must(f.PutDocument(t.Context(), f.ns, p, "", c))(t)
	for embedder, want := range map[int64]int{f.embedder: len(keys), c.Next: len(keys) - 1} {
		if got := must(f.Vectors(t.Context(), embedder, keys))(t); len(got) != want {
			t.Errorf("%d vectors of embedder %d, want %d", len(got), embedder, want)
		}
	}
}
