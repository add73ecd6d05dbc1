package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

// t0 is the time before the first reading of a clock.
var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Clock returns a clock that advances by a second on each reading, from noon of 1 March 2026.
func Clock() func() time.Time {
	var readings atomic.Int64
	return func() time.Time { return t0.Add(time.Duration(readings.Add(1)) * time.Second) }
}

// Prepare returns a document ready to be stored.
func Prepare(t testing.TB, id, text string) passage.PreparedDocument {
	t.Helper()
	p, err := docs.Prepare(ragctx.Document{ExternalID: id, Text: text}, docs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Content returns a text and its chunks, each with a vector that holds the chunk's length.
func Content(embedder int64, text string, chunks []chunk.Chunk) store.Content {
	c := store.Content{Text: text, Embedder: embedder}
	for _, ch := range chunks {
		c.Chunks = append(c.Chunks, store.Chunk{
			Chunk: ch, Hash: store.VectorKeyOf(ch.Text), Vector: []float32{float32(len(ch.Text)), 1},
		})
	}
	return c
}

// RandomContent returns a text of chunks of 400 bytes, each with a vector of its own.
func RandomContent(rng *rand.Rand, chunks int, embedder int64) store.Content {
	c := store.Content{Embedder: embedder, Chunks: make([]store.Chunk, chunks)}
	var text strings.Builder
	for i := range c.Chunks {
		start := text.Len()
		for text.Len() < start+400 {
			fmt.Fprintf(&text, "%x ", rng.Uint32())
		}
		t := text.String()[start:]
		v := make([]float32, 256)
		v[rng.IntN(len(v))] = 1
		c.Chunks[i] = store.Chunk{
			Chunk: chunk.Chunk{
				Ordinal: i, Text: t, Start: chunk.Pos{Byte: start}, End: chunk.Pos{Byte: start + len(t)},
			},
			Hash: store.VectorKeyOf(t), Vector: v,
		}
	}
	c.Text = text.String()
	return c
}

// LongDocument returns a document of random text, whose vectors hold the chunks' ordinals.
func LongDocument(id string, seed uint64, chunks int, embedder int64) (passage.PreparedDocument, store.Content) {
	c := RandomContent(rand.New(rand.NewPCG(seed, 1)), chunks, embedder)
	for i := range c.Chunks {
		c.Chunks[i].Vector = []float32{float32(i), 1}
	}
	hash := docs.ContentHash(ragctx.Document{Text: c.Text})
	return passage.PreparedDocument{Document: ragctx.Document{ExternalID: id, Text: c.Text}, Hash: hash}, c
}

// FollowAll returns all changes after seq as one batch.
func FollowAll(t testing.TB, s store.Changes, c store.Collection, seq uint64, embedder int64) index.Batch {
	t.Helper()
	all := index.Batch{Seq: seq}
	for {
		b, err := s.Follow(t.Context(), c, all.Seq, true, embedder)
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

// world is a store under test with a namespace and an embedder.
type world struct {
	store.Store

	now      func() time.Time
	ns       int64
	embedder int64
}

// fresh opens an empty store.
func fresh(t *testing.T, open Opener) *world {
	t.Helper()
	return openIn(t, open, t.TempDir(), Options{})
}

// openIn opens the store in a directory. At the end of the test it must be without damage.
func openIn(t *testing.T, open Opener, dir string, o Options) *world {
	t.Helper()
	o.Now = Clock()
	f := &world{Store: open(t, dir, o), now: o.Now}
	t.Cleanup(func() {
		r, err := f.Verify(context.Background(), store.VerifyOptions{})
		if err != nil && !errors.Is(err, ragctx.ErrClosed) || r.Damaged() {
			t.Errorf("at the end of the test: %+v, %v", r.Findings, err)
		}
		f.Close()
	})
	var err error
	if f.ns, err = f.Namespace(t.Context(), "default", true); err != nil {
		t.Fatal(err)
	}
	if f.embedder, err = f.Embedder(t.Context(), embed.Identity{Name: "test", Dimensions: 2}); err != nil {
		t.Fatal(err)
	}
	return f
}

// in returns the store with another namespace.
func (f *world) in(t testing.TB, namespace string) *world {
	t.Helper()
	other := *f
	other.ns = must(f.Namespace(t.Context(), namespace, true))(t)
	return &other
}

func (f *world) documents() store.Collection {
	return store.Collection{Namespace: f.ns, Kind: store.KindDocuments}
}

func (f *world) memories() store.Collection {
	return store.Collection{Namespace: f.ns, Kind: store.KindMemories}
}

func (f *world) content(text string, chunks []chunk.Chunk) store.Content {
	return Content(f.embedder, text, chunks)
}

func (f *world) follow(t testing.TB, c store.Collection, seq uint64) index.Batch {
	t.Helper()
	return FollowAll(t, f, c, seq, f.embedder)
}

// doc stores a document.
func (f *world) doc(t testing.TB, id, text, root string) store.Put {
	t.Helper()
	p := Prepare(t, id, text)
	put, err := f.PutDocument(t.Context(), f.ns, p, root, f.content(p.Text, p.Chunks))
	if err != nil {
		t.Fatal(err)
	}
	return put
}

// remember stores a memory over any version.
func remember(t testing.TB, f *world, m ragctx.Memory) store.Status {
	t.Helper()
	if m.Occurred.IsZero() {
		m.Occurred = t0
	}
	_, st, _, err := f.ReplaceMemory(t.Context(), f.ns, m, f.content(m.Content, memory.Chunks(m.Content)), store.Tier{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// putTurn stores a turn with its episode.
func (f *world) putTurn(
	t testing.TB, turn ragctx.Turn, deliver bool,
) (st store.Status, seq uint64, row int64, err error) {
	t.Helper()
	m, chunks, speakers, err := memory.Episode(turn)
	if err != nil {
		t.Fatal(err)
	}
	c := f.content(m.Content, chunks)
	for i, s := range speakers {
		c.Chunks[i].Speaker = s
	}
	return f.PutTurn(t.Context(), f.ns, turn, m, c, deliver)
}

// must returns v, and fails the test on an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
