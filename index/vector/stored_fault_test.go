package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

const (
	faultDir = "/data/index/vector"
	faultDim = 5
)

// step is one batch of the script that the fault tests run.
type step struct {
	upserts []index.VectorChunk
	deletes []uint64
	flush   bool
	compact bool
}

// script returns batches that add, replace and delete, and flush often enough
// for several merges. The batch at i has sequence number i+1.
func script() (steps []step) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 15 {
		s := step{flush: i%2 == 1 || i > 8, compact: i == 12}
		s.upserts = random(r, uint64(i*6), 6, faultDim)
		if i > 0 {
			s.upserts = append(s.upserts, random(r, r.Uint64N(uint64(i*6)), 1, faultDim)...)
			s.deletes = []uint64{r.Uint64N(uint64(i * 6)), r.Uint64N(uint64(i * 6))}
		}
		steps = append(steps, s)
	}
	return steps
}

// models returns what an index in memory finds after each number of steps.
func models(t *testing.T, steps []step) []*flat {
	t.Helper()
	out := make([]*flat, len(steps)+1)
	for n := range out {
		out[n] = newFlat(faultDim)
		for i, s := range steps[:n] {
			if err := out[n].Apply(t.Context(), uint64(i+1), s.upserts, s.deletes); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// run applies the steps after the index's cursor, and returns the largest cursor
// that it promised. It goes on after errors, as the engine does, but for those of
// Apply, which only damage causes.
func run(t *testing.T, s *stored, steps []step) (promised uint64) {
	t.Helper()
	promised = s.Cursor()
	for i := int(promised); i < len(steps); i++ {
		if err := s.Apply(t.Context(), uint64(i+1), steps[i].upserts, steps[i].deletes); err != nil {
			return promised
		}
		if steps[i].flush {
			_ = s.Flush(t.Context())
		}
		if steps[i].compact {
			_ = s.Compact(t.Context())
		}
		s.background.Wait() // one operation after the other: the same order in each run
		promised = s.Cursor()
	}
	return promised
}

func faultOptions(fsys *faultfs.FS) Options {
	return Options{Graph: kindFlat, Dir: faultDir, Dimensions: faultDim, Identity: "fake", FS: fsys}.withDefaults()
}

func openFault(t *testing.T, fsys *faultfs.FS) *stored {
	t.Helper()
	s, err := openStored(faultOptions(fsys))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same compares every answer of an index with that of a model, bit for bit.
func same(t *testing.T, s *stored, want *flat) error {
	t.Helper()
	probes := random(rand.New(rand.NewPCG(3, 4)), 0, 3, faultDim)
	for _, p := range probes {
		q := index.VectorQuery{Vector: p.Vector, K: 1000}
		got, err := s.Search(t.Context(), q)
		if err != nil {
			return err
		}
		exact, err := want.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, exact) || s.Stats().Chunks != len(exact) {
			t.Fatalf("%d chunks, hits\n%v\nwant\n%v", s.Stats().Chunks, got, exact)
		}
		for _, h := range exact {
			if score, ok := s.Similarity(p.Vector)(h.ID); !ok || score != h.Score {
				t.Fatalf("Similarity of %d = %v, %v, want %v", h.ID, score, ok, h.Score)
			}
		}
	}
	return nil
}

// mustSame is same for an index that has to answer.
func mustSame(t *testing.T, s *stored, want *flat) {
	t.Helper()
	if err := same(t, s, want); err != nil {
		t.Fatal(err)
	}
}

// eachOperation runs the script once for every operation of the file system, or
// every stride-th, with a fault there; -short leaves out nine tenths of them.
func eachOperation(t *testing.T, stride int, fault faultfs.Fault, test func(t *testing.T, fsys *faultfs.FS, s *stored)) {
	t.Helper()
	clean := faultfs.New()
	s := openFault(t, clean)
	run(t, s, script())
	_ = s.Close()
	operations, _ := clean.Count()
	if operations < 100 {
		t.Fatalf("the script takes %d operations only", operations)
	}
	if testing.Short() {
		stride *= 10
	}
	for n := 1; n <= operations; n += stride {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			fsys := faultfs.New()
			fault.N = n
			fsys.Inject(fault)
			s, err := openStored(faultOptions(fsys))
			if err != nil {
				fsys.Restart(nil)
				s = openFault(t, fsys)
			}
			test(t, fsys, s)
		})
	}
}

func TestFailedOperations(t *testing.T) {
	steps := script()
	want := models(t, steps)
	for name, fault := range map[string]faultfs.Fault{
		"Full":       {Err: syscall.ENOSPC},
		"IO":         {Err: syscall.EIO},
		"ShortWrite": {Effect: faultfs.Short, Err: syscall.ENOSPC},
		"FullToEnd":  {Effect: faultfs.Short, Err: syscall.ENOSPC, Sticky: true},
		"TornRename": {Effect: faultfs.Tear},
	} {
		t.Run(name, func(t *testing.T) {
			stride := 3
			if name == "Full" {
				stride = 1
			}
			eachOperation(t, stride, fault, func(t *testing.T, fsys *faultfs.FS, s *stored) {
				promised := run(t, s, steps)
				mustSame(t, s, want[len(steps)])
				if name == "TornRename" { // the manifest may be lost, but is never half believed
					_ = s.Close()
					s = openFault(t, fsys)
					mustSame(t, s, want[s.Cursor()])
					_ = s.Close()
					return
				}
				fsys.Inject(faultfs.Fault{})
				if err := s.Flush(t.Context()); err != nil {
					t.Fatalf("Flush after the fault: %v", err)
				}
				s.background.Wait()
				if c := s.Cursor(); c != uint64(len(steps)) || promised > c {
					t.Fatalf("Cursor = %d after %d", c, promised)
				}
				_ = s.Close()
				fsys.Restart(nil)
				again := openFault(t, fsys)
				defer again.Close()
				if again.Recovered() != "" || again.Cursor() != uint64(len(steps)) {
					t.Fatalf("reopened: recovered %q, Cursor %d", again.Recovered(), again.Cursor())
				}
				mustSame(t, again, want[len(steps)])
				if left := len(fsys.Files()); left != 1+len(again.listed) {
					t.Errorf("%d files after reopening, for %d segments", left, len(again.listed))
				}
			})
		})
	}
}

func TestCrashes(t *testing.T) {
	steps := script()
	want := models(t, steps)
	for chance := range uint64(5) {
		t.Run(fmt.Sprint(chance), func(t *testing.T) {
			stride := 3
			if chance == 0 {
				stride = 1
			}
			eachOperation(t, stride, faultfs.Fault{Effect: faultfs.Crash}, func(t *testing.T, fsys *faultfs.FS, s *stored) {
				promised := run(t, s, steps)
				_ = s.Close()
				var source *rand.Rand
				if chance > 0 {
					source = rand.New(rand.NewPCG(chance, 7))
				}
				fsys.Restart(source)
				again := openFault(t, fsys)
				c := again.Cursor()
				if again.Recovered() != "" || c < promised {
					t.Fatalf("recovered %q, Cursor %d, promised %d", again.Recovered(), c, promised)
				}
				mustSame(t, again, want[c])
				run(t, again, steps)
				mustSame(t, again, want[len(steps)])
				_ = again.Close()
			})
		})
	}
}

// A disk that reports success and does nothing may cost what was promised, but
// shows no state that never was.
func TestLyingDisk(t *testing.T) {
	steps := script()
	want := models(t, steps)
	eachOperation(t, 2, faultfs.Fault{Effect: faultfs.Lose}, func(t *testing.T, fsys *faultfs.FS, s *stored) {
		run(t, s, steps)
		_ = s.Close()
		fsys.Restart(nil)
		again := openFault(t, fsys)
		mustSame(t, again, want[again.Cursor()])
		_ = again.Close()
	})
}

// damaged checks a directory in which something is wrong: the index finds out, or
// answers right. Once it has found out, the next open starts afresh.
func damaged(t *testing.T, fsys *faultfs.FS, want []*flat) (harmless bool) {
	t.Helper()
	s := openFault(t, fsys)
	if s.Recovered() != "" && s.Cursor() != 0 {
		t.Fatalf("recovered %q with Cursor %d", s.Recovered(), s.Cursor())
	}
	found := s.Recovered() != ""
	if err := same(t, s, want[s.Cursor()]); err != nil {
		found = true
		if _, ok := s.Similarity([]float32{1, 0, 0, 0, 0})(70); ok || s.Flush(t.Context()) == nil || s.Apply(t.Context(), 99, nil, nil) == nil {
			t.Fatal("a damaged index goes on")
		}
		_ = s.Close()
		if s = openFault(t, fsys); s.Recovered() == "" || s.Cursor() != 0 {
			t.Fatalf("after damage (%v): recovered %q, Cursor %d", err, s.Recovered(), s.Cursor())
		}
	}
	if found {
		mustSame(t, s, want[0])
	}
	_ = s.Close()
	return !found
}

// Every byte of every file is changed in turn, with -short one of eleven.
func TestFlippedBytes(t *testing.T) {
	steps := script()
	want := models(t, steps)
	clean := faultfs.New()
	s := openFault(t, clean)
	run(t, s, steps)
	_ = s.Close()
	for _, name := range clean.Files() {
		for at := range clean.Bytes(name) {
			if testing.Short() && at%11 != 0 {
				continue
			}
			fsys := faultfs.New()
			if err := fsys.MkdirAll(faultDir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, other := range clean.Files() {
				fsys.Edit(other, func([]byte) []byte { return clean.Bytes(other) })
			}
			fsys.Edit(name, func(b []byte) []byte { b[at] ^= 1 << (at % 8); return b })
			if damaged(t, fsys, want) && !padding(s, name, at) {
				t.Fatalf("%s: byte %d makes no difference", name, at)
			}
		}
	}
}

// padding reports whether a byte belongs to no part of a segment file.
func padding(s *stored, name string, at int) bool {
	for _, h := range s.listed {
		l := layoutOf(s.opts.Identity, len(h.ids), h.width)
		if name == faultDir+"/"+h.name && int64(at) >= l.rows+int64(4*len(h.ids)*h.width) && int64(at) < l.sums {
			return true
		}
	}
	return false
}

// What is read wrong once, while opening, searching or merging, does no harm.
func TestFlippedReads(t *testing.T) {
	steps := script()
	want := models(t, steps)
	eachOperation(t, 1, faultfs.Fault{Op: faultfs.Read, Effect: faultfs.Flip}, func(t *testing.T, fsys *faultfs.FS, s *stored) {
		run(t, s, steps)
		if err := same(t, s, want[len(steps)]); err != nil {
			_ = s.Close()
			fsys.Restart(nil)
			damaged(t, fsys, want)
			return
		}
		_ = s.Close()
	})
}
