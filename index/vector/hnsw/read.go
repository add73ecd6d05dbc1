package hnsw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/ragctx/ragctx/index/vector/kernel"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// Read opens a graph written by [Graph.Write] and returns it with its name. The file is mapped
// where the system supports that, otherwise read into memory. It is never modified. It may be
// removed or replaced afterwards, but not written to. Dimensions must match the file, and so must M
// unless it is 0. Seed is taken from the file.
//
// The file is verified before its first use. An operation that meets damage returns [ErrDamaged],
// and so do all later ones. A walk can reach any part of the file, so all of it is verified at
// once; see [Graph.Check].
func Read(fsys atomicfile.FS, path string, o Options) (*Graph, string, error) {
	g, name, err := read(fsys, path, o)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return g, name, nil
}

func read(fsys atomicfile.FS, path string, o Options) (*Graph, string, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	b, unmap, err := atomicfile.Contents(f, info.Size(), true)
	if err != nil {
		return nil, "", err
	}
	g, name, err := open(b, o)
	if err != nil {
		return nil, "", errors.Join(err, unmap())
	}
	g.unmap = unmap
	return g, name, nil
}

// open returns the graph in the bytes of a file, which are aligned to a cache line.
func open(b []byte, o Options) (g *Graph, name string, err error) {
	g = &Graph{mapped: b}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	h, name, err := decodeHeader(b)
	if err != nil {
		return nil, "", err
	}
	o.M = cmp.Or(o.M, int(h.M))
	o.Seed = h.Seed
	if g, err = New(o); err != nil {
		return nil, "", err
	}
	if err := h.fits(g, len(b)); err != nil {
		return nil, "", err
	}
	sums, err := h.sums(b)
	if err != nil {
		return nil, "", err
	}
	g.mapped = b
	g.load(h, b[h.Size:])
	g.unverified.Store(&verification{turn: make(chan struct{}, 1), header: *h, sums: sums})
	return g, name, nil
}

// load sets up g from a header; chunks and towers are in b.
func (g *Graph) load(h *header, b []byte) {
	cut := func(words uint32) []uint32 {
		part := b[: 4*words : 4*words]
		b = b[4*words:]
		return wordsOf(part)
	}
	d := &directory{codes: g.dir.Load().codes}
	for range h.chunks() {
		c := g.view(cut(h.ChunkWords))
		d.chunks = append(d.chunks, c)
		d.codes.Chunks = append(d.codes.Chunks, c.codes)
	}
	for range h.towers() {
		d.towers = append(d.towers, atomics(cut(h.TowerWords)))
	}
	g.dir.Store(d)
	g.slots.Store(h.Slots)
	g.lists = h.Lists
	g.entry.Store(h.Entry)
	g.root.Store(h.Root)
	g.residual.Store(h.Residual)
	g.counts.live.Store(int64(h.Live))
	g.counts.held.Store(int64(h.Held))
	g.counts.waiting.Store(int64(h.Waiting))
	g.counts.nodes.Store(int64(h.Nodes))
}

// Check verifies the file that the graph was read from, unless that is done, and builds the state
// derived from it: the ids and what Put needs. Every other operation calls it first. When ctx ends,
// it returns the cause; a later call continues from the completed part.
func (g *Graph) Check(ctx context.Context) error { return g.ready(ctx) }

// Close releases the file. No other method may be running; all later calls fail.
func (g *Graph) Close() error {
	g.dir.Store(&directory{codes: kernel.Rows8{Shift: chunkShift, Stride: g.stride}})
	g.slots.Store(0)
	g.fail(errClosed)
	unmap := g.unmap
	if g.unmap = nil; unmap == nil {
		return nil
	}
	return unmap()
}
