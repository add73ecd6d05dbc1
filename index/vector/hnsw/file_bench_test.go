package hnsw

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// sketch is a graph of n vectors of 384 components, with lists of any neighbors:
// for files it is as good as a linked one, and made in seconds.
func sketch(tb testing.TB, n int) *Graph {
	g := newGraph(tb, Options{Dimensions: 384})
	r := rand.New(rand.NewPCG(1, 1))
	some := clustered(1000, 384, 10, .8, 1)
	for i := range n {
		if err := g.Put(uint64(i)*0x9e3779b97f4a7c15, some[r.IntN(len(some))]); err != nil {
			tb.Fatal(err)
		}
	}
	s := g.borrow()
	defer g.giveBack(s)
	for slot := range uint32(n) {
		c, at := s.d.chunk(slot)
		c.clearWaiting(at)
		list := make([]uint32, 0, g.m0)
		if slot > 0 { // a tree with eight children each
			parent := (slot - 1) / 8
			c.parents[at].Store(parent + 1)
			list = append(list, parent)
		}
		for child := slot*8 + 1; child <= slot*8+8 && child < uint32(n); child++ {
			list = append(list, child)
		}
		for len(list) < g.m0 {
			if x := r.Uint32N(uint32(n)); x != slot {
				list = append(list, x)
			}
		}
		s.write(slot, 0, list)
	}
	g.counts.waiting.Store(0)
	g.counts.nodes.Store(int64(n))
	g.root.Store(1)
	g.entry.Store(entryOf(0, s.d.level(0)))
	return g
}

func BenchmarkFile(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if testing.Short() && n > 100_000 {
				b.Skip("takes a gigabyte of memory and disk")
			}
			path := filepath.Join(b.TempDir(), "graph")
			g := sketch(b, n)
			b.Run("write", func(b *testing.B) {
				for b.Loop() {
					if err := atomicfile.WriteFile(atomicfile.OS{}, path, func(w io.Writer) error { return g.Write(w, "") }); err != nil {
						b.Fatal(err)
					}
				}
				info, _ := os.Stat(path)
				b.SetBytes(info.Size())
			})
			g = nil
			for _, check := range []bool{false, true} {
				b.Run(map[bool]string{false: "read", true: "check"}[check], func(b *testing.B) {
					for b.Loop() {
						g, _, err := Read(atomicfile.OS{}, path, Options{Dimensions: 384})
						if err == nil && check {
							err = g.Check(b.Context())
						}
						if err != nil {
							b.Fatal(err)
						}
						_ = g.Close()
					}
				})
			}
		})
	}
}
