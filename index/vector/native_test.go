package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
	"github.com/ragctx/ragctx/index/vector/kernel"
	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// nativeDim is no multiple of the lanes of any kernel.
const nativeDim = 20

// KeptVector returns what an index keeps of a vector.
func KeptVector(v []float32) []float32 {
	row := make([]int16, stride(len(v)))
	kernel.Encode16(row, v)
	return decoded(row, len(v))
}

// tiny returns options of an index that has a graph from a few chunks on: a fake one,
// or a real one if i is nil.
func tiny(dir string, fsys atomicfile.FS, i *ills) Options {
	o := Options{
		Dir: dir, Dimensions: nativeDim, Identity: "fake", FlushChanges: 50, FS: fsys, minGraphChunks: 3, minSaveChanges: 20, savePause: 1,
	}
	if i != nil {
		o.graphs = fakes(i, fsys)
	}
	return o
}

func openTiny(t testing.TB, o Options) *native {
	t.Helper()
	ix, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return ix.(*native)
}

// settle waits until the graph of an index answers and nothing is left to do.
func settle(t testing.TB, n *native) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Microsecond) {
		n.wake() // as the next batch does: that a graph may be saved again comes with time
		n.background.Wait()
		if a := n.accel.Load(); !n.workDue() && !n.maintaining.Load() && a != nil && a.complete.Load() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the graph does not answer: %+v", n.Stats())
		}
	}
}

func TestNative(t *testing.T) {
	for name, c := range map[string]struct {
		fs     atomicfile.FS
		fake   *ills
		memory bool
		miss   int64
		min    float64
	}{
		"Memory":        {fs: atomicfile.OS{}, memory: true, min: .95},
		"Files":         {fs: atomicfile.OS{}, min: .95},
		"FilesInMemory": {fs: faultfs.New(), min: .95},
		"Fake":          {fs: faultfs.New(), fake: new(ills), min: .99},
		"FakeMisses":    {fs: faultfs.New(), fake: new(ills), miss: 3, min: .5},
	} {
		t.Run(name, func(t *testing.T) {
			if c.fake != nil {
				c.fake.misses.Store(c.miss)
			}
			indextest.TestVector(t, func(t *testing.T, dir string) index.VectorIndex {
				if c.memory {
					dir = ""
				}
				return openTiny(t, tiny(dir, c.fs, c.fake))
			}, indextest.VectorOptions{Dim: nativeDim, Stored: KeptVector, MinRecall: c.min, Volatile: c.memory, Copies: 3000})
		})
	}
}

// A graph answers, and its hits are scored as a flat index does.
func TestNativeAnswers(t *testing.T) {
	i := new(ills)
	r := rand.New(rand.NewPCG(1, 1))
	n, flat := openTiny(t, tiny("/leg", faultfs.New(), i)), newFlat(nativeDim)
	chunks := random(r, 0, 500, nativeDim)
	fill(t, n, chunks)
	fill(t, flat, chunks)
	settle(t, n)
	for _, exact := range []bool{false, true} {
		for range 50 {
			q := index.VectorQuery{Vector: random(r, 0, 1, nativeDim)[0].Vector, K: 10, Exact: exact}
			got, ok, err := n.nearest(t.Context(), q)
			if !ok || err != nil {
				t.Fatalf("the graph does not answer: %v", err)
			}
			want, err := flat.Search(t.Context(), q)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v (%v), want %v", got, err, want)
			}
		}
	}
}
