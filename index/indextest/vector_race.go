package indextest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// testVectorAtomic turns all chunks from one direction to another and back, batch by batch. A
// search must see all of them in the same direction.
func testVectorAtomic(t *testing.T, ix *vectorIndex) {
	const chunks, batches = 40, 60
	batch := func(degrees float64) []index.VectorChunk {
		out := make([]index.VectorChunk, chunks)
		for i := range out {
			out[i] = ix.at(uint64(i), degrees)
		}
		return out
	}
	ix.apply(t, batch(0))
	probe := ix.at(0, 0).Vector
	stop := readers(t, 2, func(t fataler) {
		hits := ix.search(t, index.VectorQuery{Vector: probe, K: chunks + 1, Exact: ix.approximate()})
		if len(hits) != chunks || math.Abs(hits[0].Score-hits[chunks-1].Score) > epsilon {
			t.Errorf("a search saw part of a batch: %v", hits)
		}
	})
	for i := range batches {
		ix.apply(t, batch(float64(90*((i+1)%2))))
	}
	stop()
}

// testVectorConcurrency runs every reading method concurrently with a writer.
func testVectorConcurrency(t *testing.T, ix *vectorIndex) {
	const rounds, size = 20, 60
	chunks := ix.clustered(rand.New(rand.NewPCG(11, 12)), rounds*size)
	probe := chunks[0].Vector
	odd := func(id uint64) bool { return id%2 == 1 }
	ix.apply(t, chunks[:size])
	stop := readers(t, 3, func(t fataler) {
		ix.search(t, index.VectorQuery{Vector: probe, K: 10})
		ix.search(t, index.VectorQuery{Vector: probe, K: 10, Exact: true})
		for _, h := range ix.search(t, index.VectorQuery{Vector: probe, K: 10, Accept: odd}) {
			if !odd(h.ID) {
				t.Errorf("got %+v, which was not accepted", h)
			}
		}
		ix.Similarity(probe)(3)
		ix.Cursor()
		ix.Stats()
	})
	for i := range rounds {
		gone := make([]uint64, 0, size/2)
		for _, u := range chunks[i*size : i*size+size/2] {
			gone = append(gone, u.ID)
		}
		ix.apply(t, chunks[i*size:(i+1)*size])
		ix.apply(t, nil, gone...)
		if err := ix.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	ix.wantChunks(t, rounds*size/2)
}

// reader is the test as one of its goroutines sees it. It may end the goroutine but not the test.
type reader struct{ *testing.T }

// Fatalf implements fataler.
func (r reader) Fatalf(format string, args ...any) {
	r.Helper()
	r.Errorf(format, args...)
	runtime.Goexit()
}

// readers runs n goroutines that call read, at least once each, until stop is called. stop waits
// for them.
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
