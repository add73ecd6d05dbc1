package vector

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/index/vector/hnsw"
	"github.com/ragctx/ragctx/index/vector/kernel"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

var errFake = errors.New("the fake fails")

// ills is what is wrong with a fake graph. They may change at any time.
type ills struct {
	misses atomic.Int64 // one in so many is not found
	fails  atomic.Bool  // every operation but Write is an error
	slow   atomic.Int64 // nanoseconds that a search takes
	// linger lets a search find what is deleted as if it were there.
	linger atomic.Bool
	made   atomic.Int64 // graphs that were made
	opened atomic.Int64 // graphs that were read
	puts   atomic.Int64
	// beside runs once, in the next search, before it looks.
	beside atomic.Pointer[func()]
}

// fakeGraph is a graph that compares with every vector.
type fakeGraph struct {
	*ills
	mu      sync.RWMutex
	live    map[uint64][]float32
	dead    []fakeRow
	waiting map[uint64]bool
	deleted uint64
	freed   atomic.Uint64
	closed  bool
}

type fakeRow struct {
	ID   uint64
	Unit []float32
}

var _ annGraph = (*fakeGraph)(nil)

// fakes returns how fake graphs are made, and read from the files of a file system.
func fakes(i *ills, fsys atomicfile.FS) *graphFactory {
	empty := func() *fakeGraph {
		i.made.Add(1)
		return &fakeGraph{ills: i, live: make(map[uint64][]float32), waiting: make(map[uint64]bool)}
	}
	return &graphFactory{
		empty: func() (annGraph, error) { return empty(), nil },
		open: func(path string) (annGraph, string, error) {
			b, err := atomicfile.ReadFile(fsys, path, 1<<30)
			if err != nil {
				return nil, "", err
			}
			payload, rest, err := atomicfile.NextFrame(b)
			if err != nil || len(rest) > 0 {
				return nil, "", hnsw.ErrDamaged
			}
			var file fakeFile
			if err := gob.NewDecoder(bytes.NewReader(payload)).Decode(&file); err != nil {
				return nil, "", err
			}
			i.opened.Add(1)
			g := empty()
			for _, r := range file.Live {
				g.live[r.ID] = r.Unit
			}
			return g, file.Name, nil
		},
	}
}

type fakeFile struct {
	Name string
	Live []fakeRow
}

func (g *fakeGraph) err() error {
	if g.fails.Load() {
		return errFake
	}
	return nil
}

func (g *fakeGraph) Put(id uint64, unit []float32) error {
	if err := g.err(); err != nil {
		return err
	}
	g.puts.Add(1)
	g.Delete(id)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live[id], g.waiting[id] = slices.Clone(unit), true
	return nil
}

func (g *fakeGraph) Delete(id uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if unit, ok := g.live[id]; ok {
		g.dead = append(g.dead, fakeRow{id, unit})
		g.deleted++
		delete(g.live, id)
		delete(g.waiting, id)
	}
}

func (g *fakeGraph) Same(id uint64, unit []float32) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Equal(g.live[id], unit)
}

func (g *fakeGraph) IDs() iter.Seq[uint64] {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Values(slices.Collect(maps.Keys(g.live)))
}

func (g *fakeGraph) Search(ctx context.Context, q hnsw.Query, to []hnsw.Near) ([]hnsw.Near, hnsw.Info, error) {
	if err := cmp.Or(g.err(), ctx.Err()); err != nil {
		return to, hnsw.Info{}, err
	}
	time.Sleep(time.Duration(g.slow.Load()))
	if beside := g.beside.Swap(nil); beside != nil {
		(*beside)()
	}
	all := g.score(q)
	slices.SortFunc(all, func(a, b hnsw.Near) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	most := 4 * q.K
	if q.Exhaustive {
		most = q.K
		for most < len(all) && all[most].Score >= all[q.K-1].Score-1e-5 {
			most++
		}
	}
	return append(to, all[:min(most, len(all))]...), hnsw.Info{Exhaustive: q.Exhaustive, Error: 1e-5}, nil
}

func (g *fakeGraph) score(q hnsw.Query) (all []hnsw.Near) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	offer := func(id uint64, unit []float32) {
		if n := g.misses.Load(); n > 0 && !q.Exhaustive && rand.Int64N(n) == 0 {
			return
		}
		if q.Accept == nil || q.Accept(id) {
			row := make([]int16, len(q.Unit))
			kernel.Encode16(row, unit)
			all = append(all, hnsw.Near{ID: id, Score: dot(q.Unit, row)})
		}
	}
	for id, unit := range g.live {
		offer(id, unit)
	}
	if q.Dead || g.linger.Load() {
		for _, r := range g.dead {
			offer(r.ID, r.Unit)
		}
	}
	return all
}

func (g *fakeGraph) Deleted() uint64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.deleted
}

func (g *fakeGraph) Freed() uint64 { return g.freed.Load() }

// Link links all but three.
func (g *fakeGraph) Link(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.waiting {
		if len(g.waiting) > 3 {
			delete(g.waiting, id)
		}
	}
	return cmp.Or(g.err(), ctx.Err())
}

func (g *fakeGraph) Waiting() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.waiting)
}

func (g *fakeGraph) Tidy(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = nil
	return g.err()
}

func (g *fakeGraph) Stale() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.dead) > 20 && len(g.dead) > len(g.live)/2
}

func (g *fakeGraph) Write(w io.Writer, name string) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	file := fakeFile{Name: name}
	for id, unit := range g.live {
		file.Live = append(file.Live, fakeRow{id, unit})
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(file); err != nil {
		return err
	}
	_, err := w.Write(atomicfile.AppendFrame(nil, b.Bytes()))
	return err
}

func (g *fakeGraph) Stats() hnsw.Stats {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return hnsw.Stats{Live: len(g.live), Dead: len(g.dead), Waiting: len(g.waiting), Bytes: int64(len(g.live))}
}

func (g *fakeGraph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		panic("closed twice")
	}
	g.closed, g.live, g.dead = true, nil, nil
	return nil
}
