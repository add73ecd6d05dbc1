package vector

import (
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// stockedNative returns a file system with an index of 200 chunks whose graph is
// stored.
func stockedNative(t *testing.T, i *ills) (*faultfs.FS, []index.VectorChunk) {
	t.Helper()
	fsys := faultfs.New()
	chunks := random(rand.New(rand.NewPCG(1, 1)), 0, 200, nativeDim)
	n := openTiny(t, tiny("/leg", fsys, i))
	applyAs(t, n, 1, chunks)
	mustFlush(t, n)
	settle(t, n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if files := graphFiles(fsys); len(files) != 2 {
		t.Fatalf("files %v", fsys.Files())
	}
	return fsys, chunks
}

func applyAs(t *testing.T, ix index.VectorIndex, seq uint64, upserts []index.VectorChunk, deletes ...uint64) {
	t.Helper()
	if err := ix.Apply(t.Context(), seq, upserts, deletes); err != nil {
		t.Fatal(err)
	}
}

func graphFiles(fsys *faultfs.FS) (names []string) {
	for _, name := range fsys.Files() {
		if strings.HasPrefix(name, "/leg/graph") {
			names = append(names, name)
		}
	}
	return names
}

// wantFlat expects of an index what a flat one of these chunks answers.
func wantFlat(t *testing.T, n *native, chunks []index.VectorChunk) {
	t.Helper()
	flat := newFlat(nativeDim)
	fill(t, flat, chunks)
	r := rand.New(rand.NewPCG(9, 9))
	for i := range 20 {
		q := index.VectorQuery{Vector: random(r, 0, 1, nativeDim)[0].Vector, K: 5, Exact: i%2 == 0}
		want, err := flat.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := n.Search(t.Context(), q); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v (%v), want %v", got, err, want)
		}
	}
	if got := n.Stats().Chunks; got != len(chunks) {
		t.Fatalf("%d chunks, want %d", got, len(chunks))
	}
}

// A graph that is stored is used again, and given only what it lacks.
func TestNativeReopens(t *testing.T) {
	i := new(ills)
	fsys, chunks := stockedNative(t, i)
	n := openTiny(t, tiny("/leg", fsys, i))
	applyAs(t, n, 2, random(rand.New(rand.NewPCG(2, 2)), 200, 10, nativeDim), 3)
	mustFlush(t, n)
	n.stop() // no graph is written any more
	n.background.Wait()
	_ = n.Close()
	made, puts := i.made.Load(), i.puts.Load()
	n = openTiny(t, tiny("/leg", fsys, i))
	settle(t, n)
	if made, puts := i.made.Load()-made, i.puts.Load()-puts; made != 1 || i.opened.Load() != 2 || puts > 10 {
		t.Errorf("%d graphs were made, %d opened, and %d vectors put", made, i.opened.Load(), puts)
	}
	rest := append(slices.Delete(slices.Clone(chunks), 3, 4), random(rand.New(rand.NewPCG(2, 2)), 200, 10, nativeDim)...)
	wantFlat(t, n, rest)
	if st := n.Stats(); !st.Graph.Answers || st.Graph.Linked+st.Graph.Waiting != len(rest) || st.Kind != kindNative {
		t.Errorf("%+v", st)
	}
}

// What does not belong to the rows, or not to this index, is not used, and goes.
func TestNativeStaleFiles(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(fsys *faultfs.FS, files []string)
		change func(o *Options)
		opened bool // all the same
	}{
		"torn": {harm: func(fsys *faultfs.FS, files []string) {
			fsys.Edit(files[1], func(b []byte) []byte { return b[:len(b)/2] })
		}},
		"torn note": {harm: func(fsys *faultfs.FS, files []string) {
			fsys.Edit(files[0], func(b []byte) []byte { return b[:len(b)/2] })
		}},
		"missing": {harm: func(fsys *faultfs.FS, files []string) { _ = fsys.Remove(files[1]) }},
		"no note": {harm: func(fsys *faultfs.FS, files []string) { _ = fsys.Remove(files[0]) }},
		"other file": {harm: func(fsys *faultfs.FS, files []string) {
			fsys.Edit(files[1], func([]byte) []byte { return nil })
		}},
		"older one beside": {opened: true, harm: func(fsys *faultfs.FS, _ []string) {
			fsys.Edit("/leg/"+graphName(0), func([]byte) []byte { return []byte("old") })
		}},
		"small index": {change: func(o *Options) { o.minGraphChunks = 1000 }},
		"flat":        {change: func(o *Options) { o.Graph = kindFlat }},
		"other rows":  {change: func(o *Options) { o.Identity = "other" }},
	} {
		t.Run(name, func(t *testing.T) {
			i := new(ills)
			fsys, chunks := stockedNative(t, i)
			files := graphFiles(fsys)
			before := slices.Clone(fsys.Bytes(files[1]))
			if c.harm != nil {
				c.harm(fsys, files)
			}
			o := tiny("/leg", fsys, i)
			if c.change != nil {
				c.change(&o)
			}
			ix, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer ix.Close()
			if n, ok := ix.(*native); ok && o.minGraphChunks < 1000 && o.Identity == "fake" {
				settle(t, n)
				wantFlat(t, n, chunks)
			}
			if opened := i.opened.Load() == 1; opened != c.opened {
				t.Errorf("the graph was used: %v", opened)
			}
			_ = ix.Close()
			for _, name := range graphFiles(fsys) {
				if b := fsys.Bytes(name); name != files[0] && (string(b) == "old" || slices.Equal(b, before)) != c.opened {
					t.Errorf("%s is still there", name)
				}
			}
		})
	}
}

// A graph that has seen more than the rows that survived a crash is not used: it
// may lack what they have.
func TestNativeAheadOfRows(t *testing.T) {
	i := new(ills)
	fsys, chunks := stockedNative(t, i)
	o := tiny("/leg", fsys, i)
	o.FlushChanges = 1000
	n := openTiny(t, o)
	settle(t, n)
	far := random(rand.New(rand.NewPCG(5, 5)), 0, 60, nativeDim)
	applyAs(t, n, 2, far, 70, 71)
	settle(t, n) // writes the graph, and no rows
	n.stop()
	n.background.Wait()
	fsys.Restart(nil)
	opened := i.opened.Load()
	n = openTiny(t, o)
	wantFlat(t, n, chunks)
	settle(t, n)
	wantFlat(t, n, chunks)
	if i.opened.Load() != opened {
		t.Error("the graph was used")
	}
	applyAs(t, n, 2, far, 70, 71)
	wantFlat(t, n, append(slices.Delete(slices.Clone(chunks[60:]), 10, 12), far...))
}

// An index in which nothing changes any more writes its graph after fewer changes.
func TestNativeWritesAtRest(t *testing.T) {
	fsys := faultfs.New()
	o := tiny("/leg", fsys, new(ills))
	o.minSaveChanges, o.quietAfter = 1000, 50*time.Millisecond
	n := openTiny(t, o)
	chunks := random(rand.New(rand.NewPCG(1, 1)), 0, 200, nativeDim)
	for len(graphFiles(fsys)) == 0 {
		applyAs(t, n, 1, chunks)
		time.Sleep(2 * o.quietAfter) // which is what is tested
	}
	n.stop() // no graph is written any more
	n.background.Wait()
	_ = n.Close()
	n = openTiny(t, o)
	wantFlat(t, n, chunks)
	if st := n.Stats(); st.Graph.Linked == 0 {
		t.Errorf("%+v", st)
	}
}

// Files change as the kind of index does; the rows are kept.
func TestNativeAndFlatShareFiles(t *testing.T) {
	fsys, chunks := stockedNative(t, new(ills))
	for i, kind := range []string{kindFlat, kindNative, "", kindFlat} {
		o := tiny("/leg", fsys, new(ills))
		o.Graph = kind
		ix, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := ix.Stats().Chunks; got != len(chunks) || ix.Cursor() != 1 {
			t.Errorf("%d chunks as %q, Cursor %d", got, kind, ix.Cursor())
		}
		if n, ok := ix.(*native); ok {
			settle(t, n)
		}
		if files := graphFiles(fsys); (len(files) > 0) != (i == 1 || i == 2) {
			t.Errorf("as %q: %v", kind, files)
		}
		_ = ix.Close()
	}
}

// A stream of erasures removes the graph's file, and does not have it written each time.
func TestNativeCompactRests(t *testing.T) {
	i := new(ills)
	fsys, _ := stockedNative(t, i)
	o := tiny("/leg", fsys, i)
	o.savePause = time.Hour
	n := openTiny(t, o)
	for round, want := range []int{2, 0} {
		applyAs(t, n, uint64(2+round), nil, uint64(5+round))
		if err := n.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(t, n)
		if files := graphFiles(fsys); len(files) != want {
			t.Errorf("after %d erasures: %v", round+1, files)
		}
	}
}

// What may not be written yet is written later, though the index is at rest by then.
func TestNativeWritesAfterPause(t *testing.T) {
	more := random(rand.New(rand.NewPCG(5, 5)), 5000, 100, nativeDim)
	erase := func(t *testing.T, n *native) {
		n.delaySaves(n.opts.savePause)
		applyAs(t, n, 2, nil, 5)
		if err := n.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, n *native){
		"Erased": erase,
		"ErasedThenAdded": func(t *testing.T, n *native) {
			erase(t, n)
			applyAs(t, n, 3, more[:1])
		},
		"AddedBeforeRest": func(t *testing.T, n *native) {
			n.delaySaves(n.opts.savePause)
			applyAs(t, n, 2, more)
		},
		"LinkedAtRest": func(t *testing.T, n *native) {
			for !n.quiet.Load() {
				time.Sleep(time.Millisecond)
			}
			n.delaySaves(n.opts.savePause)
			lengths, err := norms(more, nativeDim)
			if err == nil {
				err = n.change(2, more, lengths, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := new(ills)
			fsys, _ := stockedNative(t, i)
			before := graphFiles(fsys)
			o := tiny("/leg", fsys, i)
			o.savePause, o.quietAfter = 300*time.Millisecond, 20*time.Millisecond
			n := openTiny(t, o)
			settle(t, n)
			change(t, n)
			for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
				if files := graphFiles(fsys); len(files) == 2 && !slices.Equal(files, before) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("the graph is not written again: %v, %v before", graphFiles(fsys), before)
				}
			}
		})
	}
}

// Compact leaves nothing of deleted chunks in the files of the graph, nor does what
// is written later.
func TestNativeCompactClears(t *testing.T) {
	i := new(ills)
	fsys, chunks := stockedNative(t, i)
	n := openTiny(t, tiny("/leg", fsys, i))
	settle(t, n)
	if err := n.Compact(t.Context()); err != nil || len(graphFiles(fsys)) != 2 {
		t.Fatalf("nothing was deleted: %v, %v", graphFiles(fsys), err)
	}
	applyAs(t, n, 2, nil, 5)
	before := graphFiles(fsys)
	if err := n.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range before[1:] {
		if slices.Contains(graphFiles(fsys), name) {
			t.Errorf("%s is still there", name)
		}
	}
	settle(t, n)
	if len(graphFiles(fsys)) != 2 {
		t.Errorf("files %v, %+v", graphFiles(fsys), n.Stats())
	}
	_ = n.Close()
	n = openTiny(t, tiny("/leg", fsys, i))
	wantFlat(t, n, slices.Delete(chunks, 5, 6))
}

// What goes wrong with the graph costs the graph.
func TestNativeMakesGraphAgain(t *testing.T) {
	i := new(ills)
	fsys, chunks := stockedNative(t, i)
	n := openTiny(t, tiny("/leg", fsys, i))
	settle(t, n)
	for round, use := range map[string]func(){
		"search": func() { wantFlat(t, n, chunks) },
		"put": func() {
			chunks[7] = random(rand.New(rand.NewPCG(8, 8)), 7, 1, nativeDim)[0]
			applyAs(t, n, 2, chunks[7:8])
		},
		"link": func() { _ = n.accel.Load().link(t.Context()) },
	} {
		made := i.made.Load()
		i.fails.Store(true)
		use()
		wantFlat(t, n, chunks)
		i.fails.Store(false)
		n.retry.Store(1) // not to wait
		wantFlat(t, n, chunks)
		settle(t, n)
		wantFlat(t, n, chunks)
		if i.made.Load() == made {
			t.Errorf("%s: no graph was made", round)
		}
	}
}

// A graph that keeps failing is not made without end.
func TestNativeWaitsAfterFailure(t *testing.T) {
	i := new(ills)
	i.fails.Store(true)
	n := openTiny(t, tiny("", faultfs.New(), i))
	chunks := random(rand.New(rand.NewPCG(1, 1)), 0, 100, nativeDim)
	fill(t, n, chunks)
	for range 100 {
		wantFlat(t, n, chunks)
	}
	if made := i.made.Load(); made > 3 {
		t.Errorf("%d graphs were made", made)
	}
}

// A damaged byte of the graph's files never changes an answer.
func TestNativeFlippedBytes(t *testing.T) {
	fsys, chunks := stockedNative(t, nil)
	for _, name := range graphFiles(fsys) {
		size := len(fsys.Bytes(name))
		step := max(1, size/300)
		if testing.Short() {
			step = max(1, size/30)
		}
		for at := 0; at < size; at += step {
			copied := faultfs.New()
			_ = copied.MkdirAll("/leg", 0o700)
			for _, other := range fsys.Files() {
				copied.Edit(other, func([]byte) []byte { return slices.Clone(fsys.Bytes(other)) })
			}
			copied.Edit(name, func(b []byte) []byte { b[at] ^= 1 << (at % 8); return b })
			n := openTiny(t, tiny("/leg", copied, nil))
			wantFlat(t, n, chunks)
			settle(t, n)
			wantFlat(t, n, chunks)
			_ = n.Close()
		}
	}
}

// Operations of the file system that fail cost files of the graph, never an answer.
func TestNativeFailedOperations(t *testing.T) {
	for name, fault := range map[string]faultfs.Fault{
		"IO":         {Err: syscall.EIO},
		"FullToEnd":  {Op: faultfs.Write, Effect: faultfs.Short, Err: syscall.ENOSPC, Sticky: true},
		"TornRename": {Op: faultfs.Rename, Effect: faultfs.Tear},
	} {
		t.Run(name, func(t *testing.T) {
			for fault.N = 1; ; fault.N++ {
				fsys := faultfs.New()
				fsys.Inject(fault)
				ix, err := New(tiny("/leg", fsys, new(ills)))
				if err != nil {
					continue // the rows cannot be opened
				}
				n := ix.(*native)
				done := withFault(t, n, fsys)
				_ = n.Close()
				if done {
					return
				}
			}
		})
	}
}

// withFault fills an index, changes it and opens it again, and reports whether no
// fault came in between.
func withFault(t *testing.T, n *native, fsys *faultfs.FS) (whole bool) {
	t.Helper()
	chunks := random(rand.New(rand.NewPCG(1, 1)), 0, 200, nativeDim)
	_ = n.Apply(t.Context(), 1, chunks, nil)
	_ = n.Flush(t.Context())
	n.background.Wait()
	chunks[9] = random(rand.New(rand.NewPCG(2, 2)), 9, 1, nativeDim)[0]
	_ = n.Apply(t.Context(), 2, chunks[9:10], nil)
	_ = n.Flush(t.Context())
	_ = n.Compact(t.Context())
	n.background.Wait()
	if n.rows.usable(t.Context()) == nil {
		wantFlat(t, n, chunks)
	}
	_ = n.Close()
	ix, err := New(tiny("/leg", fsys, new(ills)))
	if err != nil {
		return false
	}
	defer ix.Close()
	n = ix.(*native)
	if c := n.Cursor(); c < 2 {
		chunks[9] = random(rand.New(rand.NewPCG(1, 1)), 0, 200, nativeDim)[9]
		if n.Apply(t.Context(), 1, chunks, nil) != nil {
			return false // the rows are damaged
		}
	}
	n.background.Wait()
	if n.rows.usable(t.Context()) == nil {
		wantFlat(t, n, chunks)
	}
	_, fired := fsys.Count()
	return !fired
}
