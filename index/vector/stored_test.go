package vector

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

func mustOpen(t testing.TB, o Options) *stored {
	t.Helper()
	o.Graph = kindFlat
	ix, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return ix.(*stored)
}

func mustFlush(t testing.TB, ix index.VectorIndex) {
	t.Helper()
	if err := ix.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Answers are those of a Flat bit for bit, wherever a row lies: in memory, in one
// of several mapped segments, or rewritten by a merge.
func TestStoredIsFlat(t *testing.T) {
	const dim, rounds = 21, 30
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	flat, stored := newFlat(dim), mustOpen(t, Options{Dir: dir, Dimensions: dim, FlushChanges: 100})
	for round := range rounds {
		chunks := random(r, r.Uint64N(800), 90, dim)
		gone := []uint64{r.Uint64N(900), r.Uint64N(900), r.Uint64N(900)}
		for _, ix := range []index.VectorIndex{flat, stored} {
			if err := ix.Apply(t.Context(), uint64(round+1), chunks, gone); err != nil {
				t.Fatal(err)
			}
		}
		if round%7 == 6 {
			mustFlush(t, stored)
		}
		if round == rounds/2 {
			mustFlush(t, stored)
			_ = stored.Close()
			stored = mustOpen(t, Options{Dir: dir, Dimensions: dim, FlushChanges: 100})
		}
		for _, k := range []int{1, 10, math.MaxInt} {
			q := index.VectorQuery{Vector: random(r, 0, 1, dim)[0].Vector, K: k, Accept: func(id uint64) bool { return id%5 != 0 }}
			want, err := flat.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := stored.Search(t.Context(), q)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("round %d: %v (%v), want %v", round, got, err, want)
			}
			for id := range uint64(900) {
				a, okA := flat.Similarity(q.Vector)(id)
				if b, okB := stored.Similarity(q.Vector)(id); a != b || okA != okB {
					t.Fatalf("Similarity of %d = %v, %v, want %v, %v", id, b, okB, a, okA)
				}
			}
		}
	}
}

// A small collection has no files until it is flushed.
func TestStoredLazyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "leg")
	s := mustOpen(t, Options{Dir: dir, Dimensions: 4})
	fill(t, s, random(rand.New(rand.NewPCG(1, 1)), 0, DefaultFlushChanges-1, 4))
	_ = s.Close()
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory exists: %v", err)
	}
}

// stocked returns a directory with an index of three segments and dead rows, whose
// origin is "monday".
func stocked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, stockedOptions(dir))
	for i := range uint64(3) {
		if err := s.Apply(t.Context(), i+1, random(rand.New(rand.NewPCG(i, 1)), 100*i, 100, 4), []uint64{10 * i}); err != nil {
			t.Fatal(err)
		}
		mustFlush(t, s)
	}
	_ = s.Close()
	return dir
}

func stockedOptions(dir string) Options {
	return Options{Dir: dir, Dimensions: 4, Identity: "fake/4", Origin: func() string { return "monday" }}
}

func segmentFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("no segment files (%v)", err)
	}
	return files
}

func edit(t *testing.T, name string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What cannot be used is thrown away, with a reason.
func TestStoredStartsAfresh(t *testing.T) {
	manifest := func(dir string) string { return filepath.Join(dir, manifestFile) }
	for name, c := range map[string]struct {
		harm   func(t *testing.T, dir string)
		change func(*Options)
		reason string
	}{
		"other dimensions": {change: func(o *Options) { o.Dimensions = 5 }, reason: "4 components"},
		"other embedder":   {change: func(o *Options) { o.Identity = "fake/5" }, reason: "fake/4"},
		"unknown origin":   {change: func(o *Options) { o.Knows = func(o string) bool { return o == "sunday" } }, reason: "another store"},
		"noted": {reason: "an earlier read failed", harm: func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, damagedFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"torn manifest": {reason: "incomplete", harm: func(t *testing.T, dir string) {
			edit(t, manifest(dir), func(b []byte) []byte { return b[:len(b)/2] })
		}},
		"empty manifest": {reason: "incomplete", harm: func(t *testing.T, dir string) {
			edit(t, manifest(dir), func([]byte) []byte { return nil })
		}},
		"other format": {reason: "format", harm: func(t *testing.T, dir string) {
			m, err := readManifest(stockedOptions(dir).withDefaults().FS, dir)
			if err != nil {
				t.Fatal(err)
			}
			m.Format = "flat/0"
			if err := writeManifest(stockedOptions(dir).withDefaults().FS, dir, m); err != nil {
				t.Fatal(err)
			}
		}},
		"missing segment": {reason: "no such file", harm: func(t *testing.T, dir string) {
			_ = os.Remove(segmentFiles(t, dir)[1])
		}},
		"swapped segments": {reason: "manifest", harm: func(t *testing.T, dir string) {
			f := segmentFiles(t, dir)
			edit(t, f[1], func([]byte) []byte {
				b, _ := os.ReadFile(f[2])
				return b
			})
		}},
		"short segment": {reason: "bytes", harm: func(t *testing.T, dir string) {
			edit(t, segmentFiles(t, dir)[0], func(b []byte) []byte { return b[:len(b)-1] })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := stocked(t)
			mine := filepath.Join(dir, "notes.txt")
			if err := os.WriteFile(mine, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			o := stockedOptions(dir)
			if c.harm != nil {
				c.harm(t, dir)
			}
			if c.change != nil {
				c.change(&o)
			}
			s := mustOpen(t, o)
			if r := s.Recovered(); !strings.Contains(r, c.reason) || s.Cursor() != 0 || s.Stats().Chunks != 0 {
				t.Fatalf("recovered %q, want it to say %q; Cursor %d, %+v", r, c.reason, s.Cursor(), s.Stats())
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(mine) {
				t.Errorf("left over: %v (%v)", left, err)
			}
			if err := s.Apply(t.Context(), 1, random(rand.New(rand.NewPCG(1, 1)), 0, 10, o.Dimensions), nil); err != nil {
				t.Fatal(err)
			}
			mustFlush(t, s)
			_ = s.Close()
			o.Knows = func(origin string) bool { return origin == "monday" }
			if again := mustOpen(t, o); again.Recovered() != "" || again.Cursor() != 1 || again.Stats().Chunks != 10 {
				t.Errorf("after filling again: recovered %q, Cursor %d, %+v", again.Recovered(), again.Cursor(), again.Stats())
			}
		})
	}
}

// An error that says nothing of what is stored costs nothing.
func TestStoredKeepsWhatItCannotOpen(t *testing.T) {
	fsys := faultfs.New()
	s := openFault(t, fsys)
	run(t, s, script()[:4])
	_ = s.Close()
	files := fsys.Files()
	for _, err := range []error{syscall.EMFILE, syscall.EACCES, syscall.ENOMEM} {
		fsys.Inject(faultfs.Fault{Op: faultfs.Open, N: 1, Err: err})
		if ix, got := New(faultOptions(fsys)); !errors.Is(got, err) {
			t.Errorf("New = %v, %v; want %v", ix, got, err)
		}
		if now := fsys.Files(); !slices.Equal(now, files) {
			t.Fatalf("%v: files %v, before %v", err, now, files)
		}
	}
}

// While the disk is full everything is found, and nothing is promised.
func TestStoredFullDisk(t *testing.T) {
	fsys := faultfs.New()
	o := faultOptions(fsys)
	o.FlushChanges = 4
	s := mustOpen(t, o)
	fsys.Inject(faultfs.Fault{Op: faultfs.Write, N: 1, Effect: faultfs.Short, Err: syscall.ENOSPC, Sticky: true})
	r := rand.New(rand.NewPCG(1, 1))
	for i := range uint64(100) {
		if err := s.Apply(t.Context(), i+1, random(r, i, 1, faultDim), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Flush = %v, want no space", err)
	}
	if st := s.Stats(); st.Chunks != 100 || st.Pending != 100 || s.Cursor() != 0 {
		t.Errorf("%+v, Cursor %d", st, s.Cursor())
	}
	fsys.Inject(faultfs.Fault{})
	mustFlush(t, s)
	if st := s.Stats(); st.Chunks != 100 || st.Pending != 0 || s.Cursor() != 100 {
		t.Errorf("after the disk has room: %+v, Cursor %d", st, s.Cursor())
	}
}

// Segments go when the last view that shows them does, and no sooner.
func TestSegmentsAreReleased(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir(), Dimensions: 4, FlushChanges: 10})
	all := make(map[*segment]bool)
	r := rand.New(rand.NewPCG(1, 1))
	var old *storedView
	for i := range uint64(40) {
		if err := s.Apply(t.Context(), i+1, random(r, i*5, 10, 4), nil); err != nil {
			t.Fatal(err)
		}
		v := s.acquire()
		for _, h := range v.segs {
			all[h.segment] = true
		}
		if i == 20 {
			old = v
		} else {
			v.release()
		}
	}
	mustFlush(t, s)
	s.background.Wait()
	if _, err := old.scan(t.Context(), search{unit: make([]float32, 8), k: 10}); err != nil {
		t.Fatalf("scan of an old view: %v", err)
	}
	for _, h := range s.listed {
		delete(all, h.segment)
	}
	for _, h := range old.segs {
		delete(all, h.segment)
	}
	if len(all) < 3 {
		t.Fatal("too few segments were replaced to test with")
	}
	for seg := range all {
		if n := seg.refs.Load(); n != 0 {
			t.Errorf("%s is replaced and has %d references", seg.name, n)
		}
	}
	old.release()
	kept := s.listed
	_ = s.Close()
	for _, h := range append(kept, old.segs...) {
		if n := h.refs.Load(); n != 0 {
			t.Errorf("%s of a closed index has %d references", h.name, n)
		}
	}
}

// There are few segments, and a row is written few times.
func TestMergesAreGeometric(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var segs []liveSegment
		total, written := 0, 0
		for range rapid.IntRange(1, 300).Draw(rt, "flushes") {
			n := rapid.IntRange(1, 100).Draw(rt, "rows")
			segs = append(segs, liveSegment{segment: &segment{ids: make([]uint64, n)}, live: n})
			total, written = total+n, written+n
			for from := pickMerge(segs); len(from) > 0; from = pickMerge(segs) {
				sum := 0
				for _, h := range from {
					sum += h.live
				}
				segs = slices.DeleteFunc(segs, func(h liveSegment) bool {
					return slices.ContainsFunc(from, func(f liveSegment) bool { return f.segment == h.segment })
				})
				segs = append(segs, liveSegment{segment: &segment{ids: make([]uint64, sum)}, live: sum})
				written += sum
			}
			levels := math.Log2(float64(total)) + 1
			if float64(len(segs)) > minMerge+levels || float64(written) > float64(total)*levels {
				rt.Fatalf("%d segments, %d rows written for %d", len(segs), written, total)
			}
		}
	})
}

func TestEmptySegmentsGo(t *testing.T) {
	fsys := faultfs.New()
	s := mustOpen(t, faultOptions(fsys))
	for i := range uint64(3) {
		if err := s.Apply(t.Context(), i+1, random(rand.New(rand.NewPCG(1, 1)), 0, 20, faultDim), nil); err != nil {
			t.Fatal(err)
		}
		mustFlush(t, s)
		s.background.Wait()
	}
	if files := fsys.Files(); len(files) != 2 {
		t.Errorf("files %v, want a manifest and a segment", files)
	}
}

// A fault of the caller's own is not taken for one of the files.
func TestPanicInAcceptGoesOn(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir(), Dimensions: 4})
	fill(t, s, random(rand.New(rand.NewPCG(1, 1)), 0, 10, 4))
	mustFlush(t, s)
	defer func() {
		if recover() == nil {
			t.Error("the panic did not reach the caller")
		}
		if _, err := s.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 0, 0, 0}, K: 1}); err != nil {
			t.Errorf("Search after it: %v", err)
		}
	}()
	var missing *index.Scored
	_, _ = s.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 0, 0, 0}, K: 1, Accept: func(uint64) bool { return missing.ID == 1 }})
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"dimensions": {}, "graph": {Graph: "other", Dimensions: 4}, "flush chunks": {Dimensions: 4, FlushChanges: -1},
		"identity": {Dimensions: 4, Identity: strings.Repeat("x", maxIdentity+1)},
	} {
		if ix, err := New(o); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: New = %v, %v; want ErrInvalid", name, ix, err)
		}
	}
	ix, err := New(Options{Dimensions: 4, Graph: kindFlat})
	if _, ok := ix.(*flat); !ok || err != nil {
		t.Errorf("New without a directory = %T, %v", ix, err)
	}
}

// FuzzSegment opens arbitrary bytes as a segment: nothing is read past them, and
// what opens is sound.
func FuzzSegment(f *testing.F) {
	fsys := faultfs.New()
	s, err := openStored(faultOptions(fsys))
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(s.Apply(f.Context(), 1, random(rand.New(rand.NewPCG(1, 1)), 0, 70, faultDim), nil), s.Flush(f.Context())); err != nil {
		f.Fatal(err)
	}
	_ = s.Close()
	name := faultDir + "/" + s.listed[0].name
	f.Add(fsys.Bytes(name), 70)
	f.Add(fsys.Bytes(name), 69)
	f.Add([]byte(segmentMagic), 1)
	f.Fuzz(func(t *testing.T, b []byte, rows int) {
		if rows < 1 || rows > 1000 {
			t.Skip()
		}
		fsys.Edit(name, func([]byte) []byte { return b })
		seg, err := openSegment(fsys, name, "fake", faultDim, rows)
		if err != nil {
			return
		}
		defer seg.release()
		for block := range seg.sums {
			_ = seg.check(block)
		}
		if row, ok := seg.locate(seg.last); !ok || row != rows-1 {
			t.Errorf("the last of %d rows is at %d, %v", rows, row, ok)
		}
	})
}

// FuzzManifest opens an index with an arbitrary manifest of valid checksum.
func FuzzManifest(f *testing.F) {
	fsys := faultfs.New()
	s, err := openStored(faultOptions(fsys))
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(s.Apply(f.Context(), 1, random(rand.New(rand.NewPCG(1, 1)), 0, 70, faultDim), nil),
		s.Flush(f.Context()), s.Apply(f.Context(), 2, nil, []uint64{3}), s.Flush(f.Context())); err != nil {
		f.Fatal(err)
	}
	_ = s.Close()
	files := fsys.Files()
	f.Add(fsys.Bytes(faultDir + "/" + manifestFile)[8:])
	f.Add([]byte(`{"format":"flat/2","identity":"fake","dimensions":5,"segments":[{"file":"../../etc/passwd","rows":1}]}`))
	f.Add([]byte(`{"format":"flat/2","identity":"fake","dimensions":5,"segments":[{"file":"0000000000000001.segment","rows":2147483647}]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		copied := faultfs.New()
		_ = copied.MkdirAll(faultDir, 0o700)
		for _, name := range files {
			copied.Edit(name, func([]byte) []byte { return fsys.Bytes(name) })
		}
		copied.Edit(faultDir+"/"+manifestFile, func([]byte) []byte { return atomicfile.AppendFrame(nil, payload) })
		ix, err := New(faultOptions(copied))
		if err != nil {
			t.Fatal(err)
		}
		defer ix.Close()
		hits, err := ix.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 2, 3, 4, 5}, K: 100})
		if err != nil || len(hits) != ix.Stats().Chunks {
			t.Errorf("%d hits of %+v, %v", len(hits), ix.Stats(), err)
		}
	})
}
