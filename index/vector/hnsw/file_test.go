package hnsw

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index/vector/kernel"
	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// fileOf returns what a graph writes, at a cache line.
func fileOf(tb testing.TB, g *Graph, name string) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := g.Write(&b, name); err != nil {
		tb.Fatal(err)
	}
	return aligned(b.Bytes())
}

func aligned(b []byte) []byte {
	a := bytesOf(kernel.Aligned[uint32]((len(b) + 3) / 4))[:len(b)]
	copy(a, b)
	return a
}

// opened returns the graph of a file, checked.
func opened(tb testing.TB, b []byte, o Options) *Graph {
	tb.Helper()
	g, _, err := open(b, o)
	if err != nil {
		tb.Fatal(err)
	}
	if err := g.Check(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return g
}

// reload goes on with what was written. Nothing has changed.
func (m *model) reload(t *rapid.T) {
	var b bytes.Buffer
	if err := m.g.Write(&b, "model"); err != nil {
		t.Fatal(err)
	}
	g, name, err := open(aligned(b.Bytes()), m.g.opt)
	if err != nil || name != "model" {
		t.Fatal(name, err)
	}
	if err := g.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.tuning = m.g.tuning
	before, after := m.g.Stats(), g.Stats()
	if before.Live != after.Live || before.Nodes != after.Nodes || before.Levels != after.Levels ||
		before.Waiting != after.Waiting {
		t.Fatalf("%+v, was %+v", after, before)
	}
	whole := after.Dead == 0
	for i := range 10 {
		q := Query{Unit: rapid.SampledFrom(m.pool).Draw(t, "query"), K: 1 + i, Exhaustive: i%2 == 0}
		want, said, err := m.g.Search(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, info, err := g.Search(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (whole || said.Exhaustive && info.Exhaustive) && (info.Error != said.Error || !slices.Equal(got, want)) {
			t.Fatalf("found %v %+v, before %v %+v", got, info, want, said)
		}
	}
	m.g = g
}

// finds looks for every vector with itself, as searches do by default.
func (m *model) finds(t *rapid.T) {
	for id, v := range m.vectors {
		found, info, err := m.g.Search(t.Context(), Query{Unit: v, K: 1}, nil)
		if err != nil || len(found) == 0 || float64(found[0].Score)+float64(info.Error) < 1 {
			t.Fatalf("%d: found %v, %+v, %v", id, found, info, err)
		}
	}
}

// TestModelReloads is TestModel with a graph that is written and read in between.
func TestModelReloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		vectors := clustered(300, 16, 5, rapid.SampledFrom([]float32{.01, .3, 3}).Draw(t, "spread"), seed)
		for range 10 {
			vectors = append(vectors, vectors[0], vectors[1], vectors[2])
		}
		g, err := New(Options{Dimensions: 16, M: 4, EfConstruction: 16, LinkFrom: 1, Seed: seed, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		g.tuning = tuning{walkFrom: 1, visitShare: 1}
		m := &model{g: g, vectors: make(map[uint64][]float32), pool: vectors}
		fails := func(t *rapid.T, err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"":       m.check,
			"put":    m.put,
			"delete": m.remove,
			"link":   func(t *rapid.T) { fails(t, m.g.Link(t.Context())) },
			"tidy":   func(t *rapid.T) { fails(t, m.g.Tidy(t.Context())) },
			"finds":  m.finds,
			"exact":  m.exact,
			"reload": m.reload,
		})
	})
}

// TestWriteBeside writes while others search, put, delete and link. Every file is
// a whole graph, with all that was there all the time.
func TestWriteBeside(t *testing.T) {
	const stay, rounds = 200, 5
	vectors := clustered(stay+stay, 16, 30, .5, 9)
	vectors = append(vectors, vectors[:stay/2]...) // duplicates
	o := Options{Dimensions: 16, Kernels: kernel.All()[len(kernel.All())-1], M: 4, EfConstruction: 16, Workers: 2, LinkFrom: 1}
	g := build(t, o, vectors[:stay])
	g.tuning = tuning{walkFrom: 1, visitShare: 1}
	var done atomic.Bool
	var group sync.WaitGroup
	defer group.Wait()
	defer done.Store(true)
	until := func(f func(i int)) {
		group.Go(func() {
			for i := 0; !done.Load(); i++ {
				f(i)
			}
		})
	}
	until(func(i int) {
		if err := g.Link(t.Context()); err != nil {
			t.Error(err)
		}
		if i%5 == 4 {
			if err := g.Tidy(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	until(func(i int) {
		if _, _, err := g.Search(t.Context(), Query{Unit: vectors[i%stay], K: 5}, nil); err != nil {
			t.Error(err)
		}
	})
	until(func(round int) {
		for i, v := range vectors[stay:] {
			if id := uint64(stay + i); (i+round)%3 == 0 {
				g.Delete(id)
			} else if err := g.Put(id, v); err != nil {
				t.Error(err)
			}
		}
	})
	for range rounds {
		h := opened(t, fileOf(t, g, ""), o)
		h.tuning = g.tuning
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
		for i, v := range vectors[:stay] {
			if !h.Same(uint64(i), v) {
				t.Fatalf("%d is another", i)
			}
		}
		if err := h.Link(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
	}
}

// small is a graph with everything: levels, duplicates, a dead root, a dead head, dead
// duplicates, some that wait, free slots.
func small(tb testing.TB) (*Graph, [][]float32) {
	vectors := clustered(400, 16, 5, .4, 12)
	copies := [][]float32{vectors[5], vectors[5], vectors[5], vectors[6], vectors[6], vectors[7]}
	vectors = append(vectors, copies...)
	g := build(tb, Options{Dimensions: 16, M: 4, EfConstruction: 16, LinkFrom: 1, Workers: 1, Seed: 3}, vectors)
	for i := 20; i < 60; i++ {
		g.Delete(uint64(i))
	}
	if err := g.Tidy(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	for i := 30; i < 50; i++ {
		if err := g.Put(uint64(i), vectors[i]); err != nil {
			tb.Fatal(err)
		}
	}
	for _, id := range []uint64{0, 5, 7, 31, 100, 101, 401, 405} {
		g.Delete(id)
	}
	return g, vectors
}

// TestNothingDeletedIsWritten looks for the ids and codes of deleted vectors.
func TestNothingDeletedIsWritten(t *testing.T) {
	const dim = 64
	vectors := clustered(1000, dim, 5, .4, 12)
	vectors = append(vectors, vectors[5], vectors[5], vectors[6], vectors[6])
	r := rand.New(rand.NewPCG(3, 3))
	ids := make([]uint64, len(vectors))
	g := newGraph(t, Options{Dimensions: dim, LinkFrom: 1})
	g.tuning.walkFrom = 1
	for i, v := range vectors {
		ids[i] = r.Uint64()
		if i == 950 {
			if err := g.Link(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1000 {
			i = 0
		}
		_ = g.Put(ids[i], v)
	}
	_ = g.Link(t.Context())
	for i := 900; i < 950; i++ { // they wait
		g.Delete(ids[i])
		ids[i] = r.Uint64()
		_ = g.Put(ids[i], vectors[i])
	}
	root := int(g.root.Load() - 1)
	gone := func(i int) bool { return i == root || i%3 == 2 && i < 1000 || i == 1001 }
	var dead []int
	for i := range vectors {
		if gone(i) {
			dead = append(dead, i)
			g.Delete(ids[i])
		}
	}
	file := fileOf(t, g, "")
	traces := func(i int) (id, codes bool) {
		own := make([]int8, dim)
		encode(vectors[i], own)
		return bytes.Contains(file, binary.NativeEndian.AppendUint64(nil, ids[i])), bytes.Contains(file, raw(own))
	}
	for _, i := range dead {
		id, codes := traces(i)
		if duplicate := i == 5 || i == 6 || i > 999; id || codes != duplicate && codes {
			t.Errorf("vector %d: id %v, codes %v", i, id, codes)
		}
	}
	for _, i := range []int{1, 3, 400, 903} {
		if id, codes := traces(i); !id || !codes {
			t.Errorf("vector %d: id %v, codes %v", i, id, codes)
		}
	}
	h := opened(t, file, Options{Dimensions: dim, LinkFrom: 1})
	h.tuning = g.tuning
	for i := range 900 {
		if gone(i) {
			continue
		}
		if found, _ := search(t, h, Query{Unit: vectors[i], K: 1, Dead: i%2 == 0}); found[0].ID != ids[i] && i > 6 {
			t.Errorf("%d is not found", i)
		}
	}
	if err := h.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.check(); err != nil {
		t.Fatal(err)
	}
}

func TestWriteFails(t *testing.T) {
	g, _ := small(t)
	for n := range 4 { // header, chunk, tower, sums
		if err := g.Write(&failingWriter{left: n}, ""); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d writes: %v", n, err)
		}
	}
	if err := g.Write(&failingWriter{left: 4}, ""); err != nil {
		t.Error(err)
	}
	if err := g.Write(io.Discard, strings.Repeat("x", MaxName+1)); err == nil {
		t.Error("a long name")
	}
	name := strings.Repeat("x", MaxName)
	if _, got, err := open(fileOf(t, g, name), g.opt); err != nil || got != name {
		t.Error(len(got), err)
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// TestReadFiles reads files of a file system in memory, which are not mapped.
func TestReadFiles(t *testing.T) {
	fsys := faultfs.New()
	if _, _, err := Read(fsys, "/graph", Options{Dimensions: 16}); err == nil {
		t.Error("no file")
	}
	empty := newGraph(t, Options{Dimensions: 16})
	full, vectors := small(t)
	for _, g := range []*Graph{empty, full} {
		if err := atomicfile.WriteFile(fsys, "/graph", func(w io.Writer) error { return g.Write(w, "name") }); err != nil {
			t.Fatal(err)
		}
		h, name, err := Read(fsys, "/graph", Options{Dimensions: 16})
		if err != nil || name != "name" {
			t.Fatal(name, err)
		}
		if h.Waiting() != g.Waiting() || h.Stats().Live != g.Stats().Live || h.Deleted() != 0 {
			t.Errorf("%+v, want %+v", h.Stats(), g.Stats())
		}
		if err := uses(t, h, vectors); err != nil {
			t.Fatal(err)
		}
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(h.Close(), h.Close()); err != nil {
			t.Fatal(err)
		}
		if err := uses(t, h, vectors); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	}
}

// TestFirstUse has many at once be the first to use what was read, and some who
// cannot wait.
func TestFirstUse(t *testing.T) {
	g, vectors := small(t)
	h, _, err := open(fileOf(t, g, ""), g.opt)
	if err != nil {
		t.Fatal(err)
	}
	if st := h.Stats(); st.Live != g.Stats().Live || h.degree() != 0 {
		t.Errorf("%+v", st)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := h.Check(ended); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if err := h.Check(ended); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			id := uint64(200 + i)
			found, _, err := h.Search(t.Context(), Query{Unit: vectors[id], K: 1, Ef: 50}, nil)
			if err != nil || found[0].ID != id || !h.Same(id, vectors[id]) {
				t.Errorf("%d: %v, %v", id, found, err)
			}
		})
	}
	group.Wait()
	if err := h.check(); err != nil {
		t.Fatal(err)
	}
}

// A graph whose Tidy did not come to its end has a tree that is not whole; it is not
// written until it is tidied.
func TestWriteAfterTornTidy(t *testing.T) {
	g := build(t, Options{Dimensions: 16, LinkFrom: 1, Workers: 1}, clustered(600, 16, 10, .5, 4))
	for id := range uint64(300) {
		g.Delete(id)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := g.Tidy(ended); err == nil {
		t.Fatal("tidied")
	}
	if err := g.Write(io.Discard, ""); err == nil {
		t.Error("written")
	}
	if err := g.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Write(io.Discard, ""); err != nil {
		t.Error(err)
	}
}
