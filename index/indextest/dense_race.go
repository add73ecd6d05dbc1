package indextest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// testDenseAtomic turns all units from one direction to another and back, batch
// by batch: a search sees all of them in one or in the other.
func testDenseAtomic(t *testing.T, leg *denseLeg) {
	const units, batches = 40, 60
	batch := func(degrees float64) []index.VectorUnit {
		out := make([]index.VectorUnit, units)
		for i := range out {
			out[i] = leg.at(uint64(i), degrees)
		}
		return out
	}
	leg.apply(t, batch(0))
	probe := leg.at(0, 0).Vector
	stop := readers(t, 2, func(t fataler) {
		hits := leg.search(t, index.DenseQuery{Vector: probe, K: units + 1, Exact: leg.approximate()})
		if len(hits) != units || math.Abs(hits[0].Score-hits[units-1].Score) > epsilon {
			t.Errorf("a search saw part of a batch: %v", hits)
		}
	})
	for i := range batches {
		leg.apply(t, batch(float64(90*((i+1)%2))))
	}
	stop()
}

// testDenseConcurrency runs every reading method beside a writer.
func testDenseConcurrency(t *testing.T, leg *denseLeg) {
	const rounds, size = 20, 60
	units := leg.clustered(rand.New(rand.NewPCG(11, 12)), rounds*size)
	probe := units[0].Vector
	odd := func(id uint64) bool { return id%2 == 1 }
	leg.apply(t, units[:size])
	stop := readers(t, 3, func(t fataler) {
		leg.search(t, index.DenseQuery{Vector: probe, K: 10})
		leg.search(t, index.DenseQuery{Vector: probe, K: 10, Exact: true})
		for _, h := range leg.search(t, index.DenseQuery{Vector: probe, K: 10, Accept: odd}) {
			if !odd(h.ID) {
				t.Errorf("got %+v, which was not accepted", h)
			}
		}
		leg.Similarity(probe, 3)
		leg.Cursor()
		leg.Stats()
	})
	for i := range rounds {
		gone := make([]uint64, 0, size/2)
		for _, u := range units[i*size : i*size+size/2] {
			gone = append(gone, u.ID)
		}
		leg.apply(t, units[i*size:(i+1)*size])
		leg.apply(t, nil, gone...)
		if err := leg.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	leg.wantUnits(t, rounds*size/2)
}

// reader is a test as seen by one of its goroutines, which may end itself but not
// the test.
type reader struct{ *testing.T }

// Fatalf implements fataler.
func (r reader) Fatalf(format string, args ...any) {
	r.Helper()
	r.Errorf(format, args...)
	runtime.Goexit()
}

// readers runs n goroutines that call read until the returned function is
// called, and at least once each; that function waits for them.
func readers(t *testing.T, n int, read func(t fataler)) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for {
				read(reader{t})
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	stop = sync.OnceFunc(func() {
		close(done)
		wg.Wait()
	})
	t.Cleanup(stop)
	return stop
}
