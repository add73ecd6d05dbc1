package hnsw

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestCurve(t *testing.T) {
	if os.Getenv("CURVE") == "" {
		t.Skip()
	}
	n, nq := 100_000, 1000
	vs := clustered(n+nq, 384, 1000, .8, 5)
	vs, qs := vs[:n], vs[n:]
	truth := make([][]uint64, nq)
	o := Options{Dimensions: 384}
	fmt.Sscan(os.Getenv("EFC"), &o.EfConstruction)
	fmt.Sscan(os.Getenv("M"), &o.M)
	g := newGraph(t, o)
	for i, v := range vs {
		g.Put(uint64(i), v)
	}
	t0 := cpu()
	for i, q := range qs {
		found, info := search(t, g, Query{Unit: q, K: 10, Exhaustive: true})
		if i == 0 {
			t.Log(len(found), info)
		}
		truth[i] = rescored(vs, q, 10, found)
	}
	t.Logf("exact %v per query", (cpu()-t0)/time.Duration(nq))
	t0 = cpu()
	g.Link(t.Context())
	t.Logf("build %v %+v", cpu()-t0, g.Stats())
	for _, ef := range []int{10, 14, 20, 30, 40, 60, 80, 120, 200} {
		hits := 0
		visited := 0
		var out []Near
		for i, q := range qs {
			found, info := search(t, g, Query{Unit: q, K: 10, Ef: ef})
			visited += info.Visited
			for _, id := range rescored(vs, q, 10, found) {
				if slices.Contains(truth[i], id) {
					hits++
				}
			}
		}
		best := time.Hour
		for range 3 {
			t0 = cpu()
			for _, q := range qs {
				out, _, _ = g.Search(t.Context(), Query{Unit: q, K: 10, Ef: ef}, out[:0])
			}
			best = min(best, (cpu()-t0)/time.Duration(nq))
		}
		t.Logf("ef %3d recall %.4f visited %d %v %.0f q/s", ef, float64(hits)/float64(10*nq), visited/nq, best, 1e9/float64(best))
	}
	lost := 0
	for i := 0; i < n; i += 3 {
		found, _ := search(t, g, Query{Unit: vs[i], K: 1})
		if found[0].ID != uint64(i) {
			lost++
			for _, ef := range []int{100, 200, 400, 1000} {
				again, _ := search(t, g, Query{Unit: vs[i], K: 1, Ef: ef})
				t.Log(i, ef, found[0], again[0])
			}
			d := g.dir.Load()
			s := g.borrow()
			in := 0
			for j := range uint32(n) {
				if slices.Contains(s.read(j, 0), uint32(i)) {
					in++
				}
			}
			p := g.parent(d, uint32(i)) - 1
			t.Log(in, p, dot(vs[i], vs[p]), d.level(uint32(i)), len(s.read(uint32(i), 0)))
			pf, _ := search(t, g, Query{Unit: vs[p], K: 1})
			t.Log(pf[0])
		}
	}
	t.Logf("lost %d of %d", lost, n/7)
}
