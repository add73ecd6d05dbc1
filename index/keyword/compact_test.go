package keyword

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/index"
)

// holds reports whether any segment file holds the bytes, and returns the files.
func holds(t *testing.T, dir string, pattern []byte) (found bool, files []string) {
	t.Helper()
	files, err := segmentFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		b, err := os.ReadFile(f)
		if errors.Is(err, os.ErrNotExist) {
			return true // scorch removes files concurrently
		}
		if err != nil {
			t.Fatal(err)
		}
		found = found || bytes.Contains(b, pattern)
		return false
	})
	return found, files
}

// hasTerm reports whether a term is in the dictionary of any segment that a view
// reads, and returns their files.
func hasTerm(t *testing.T, v *view, term string) (found bool, files []string) {
	t.Helper()
	for _, p := range v.stored() {
		files = append(files, fileOf(p))
		_, ok, err := p.segment.(*storedSegment).file.find([]byte(term))
		if err != nil {
			t.Fatal(err)
		}
		found = found || ok
	}
	return found, files
}

// Deleted chunks stay in the files until Compact and are gone after it, with one segment or many.
func TestCompactErases(t *testing.T) {
	const gone = 0xA1B2C3D4E5F60718
	for name, items := range map[string]int{"OneSegment": 1, "ManySegments": 12} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a[b]*") // no pattern
			ix := mustOpen(t, dir, Options{})
			for i := range uint64(items) {
				chunks := []index.TextChunk{
					{ID: 10 * i, Item: i, Text: "common first"}, {ID: 10*i + 1, Item: i, Text: "common second second"},
				}
				if i == 0 {
					chunks = append(chunks, index.TextChunk{ID: gone, Item: 999, Text: "zyzzyva common"})
				}
				if err := ix.Apply(t.Context(), i+1, chunks, nil); err != nil {
					t.Fatal(err)
				}
				flush(t, ix)
			}
			if err := ix.Apply(t.Context(), 100, nil, []uint64{gone}); err != nil {
				t.Fatal(err)
			}
			flush(t, ix)
			before := search(t, ix, "common second")
			id, _ := holds(t, dir, []byte(key(gone)))
			word, _ := hasTerm(t, ix.view.Load(), "zyzzyva")
			if items == 1 && !(id && word) { // scorch may have merged several already
				t.Fatalf("before Compact: id found: %v, term found: %v", id, word)
			}
			if err := ix.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			found, onDisk := holds(t, dir, []byte(key(gone)))
			term, inUse := hasTerm(t, ix.view.Load(), "zyzzyva")
			slices.Sort(inUse)
			settled := items == 1 // scorch merges several by itself, whenever it likes
			if found || term || settled && !slices.Equal(onDisk, inUse) {
				t.Errorf("id found: %v, term found: %v, files %v, in use %v", found, term, onDisk, inUse)
			}
			if d := cmp.Diff(before, search(t, ix, "common second")); d != "" {
				t.Errorf("Compact changed the answer (-before +after):\n%s", d)
			}
			if err := ix.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, again := holds(t, dir, nil); settled && !slices.Equal(again, onDisk) {
				t.Error("there was nothing to compact, but files were written")
			}
		})
	}
}

// held is scorch's segment plugin. A test can block its merges in one directory.
type held struct{ segmentPlugin }

// heldMerges maps a directory to the func that is called with each merge there.
var heldMerges sync.Map

func init() { //nolint:gochecknoinits // scorch's registry may only be written before it is used
	scorch.RegisterSegmentPlugin(held{}, true)
}

func (h held) Merge(
	segments []scorchsegment.Segment, drops []*roaring.Bitmap, path string, closed chan struct{}, to scorchsegment.StatsReporter,
) ([][]uint64, uint64, error) {
	if wait, ok := heldMerges.Load(filepath.Dir(path)); ok {
		wait.(func([]scorchsegment.Segment))(segments)
	}
	return h.segmentPlugin.Merge(segments, drops, path, closed, to)
}

// writeUntil writes segments of two chunks, with ids above after, until done. That makes scorch
// merge them.
func writeUntil(t *testing.T, ix *Index, after uint64, done func() bool) {
	t.Helper()
	for seq := uint64(1); !done(); seq++ {
		if seq > 100 {
			t.Fatal("scorch does not merge a hundred segments")
		}
		chunks := []index.TextChunk{{ID: after + 2*seq, Text: "common"}, {ID: after + 2*seq + 1, Text: "common"}}
		if err := ix.Apply(t.Context(), seq, chunks, nil); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
	}
}

// mergedMeanwhile is a store in which a merge lasts until Compact waits for it or asks for the old
// files.
type mergedMeanwhile struct {
	store

	goOn func()
}

func (s mergedMeanwhile) awaitMerges(ctx context.Context) error {
	s.goOn()
	return s.store.awaitMerges(ctx)
}

func (s mergedMeanwhile) tainted() ([]string, error) {
	files, err := s.store.tainted()
	s.goOn()
	if err == nil {
		err = s.store.awaitMerges(context.Background())
	}
	return files, err
}

// A chunk deleted during scorch's own merge is in the file that the merge writes. Compact must
// handle that file although it does not exist yet when Compact is called.
func TestCompactAwaitsMerges(t *testing.T) {
	const some = 0xA1B2C3D4_00000000 // no other bytes of a file are like an id
	dir := t.TempDir()
	merging, goOn := make(chan []byte, 1), make(chan struct{})
	first := sync.OnceFunc(func() { <-goOn })
	heldMerges.Store(scorchDir(dir), func(merged []scorchsegment.Segment) {
		id, err := merged[0].DocID(0)
		if err != nil {
			t.Error(err)
		}
		select {
		case merging <- slices.Clone(id): // it lies in the file
		default:
		}
		first()
	})
	defer heldMerges.Delete(scorchDir(dir))
	ix, err := open(dir, Options{tidyDelay: time.Hour}, func(dir string) (store, error) {
		s, err := openScorch(dir)
		return mergedMeanwhile{s, sync.OnceFunc(func() { close(goOn) })}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	var gone []byte
	writeUntil(t, ix, some, func() bool {
		select {
		case gone = <-merging:
		default:
		}
		return gone != nil
	})
	if err := ix.Apply(t.Context(), 1000, nil, []uint64{binary.BigEndian.Uint64(gone)}); err != nil {
		t.Fatal(err)
	}
	if err := ix.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _ := holds(t, dir, gone); found {
		t.Error("a file has the deleted id")
	}
}

// Compact stops waiting for a merge of scorch's own when its context ends. The next Compact does
// the rest.
func TestCompactEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	merging, goOn := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(merging); <-goOn })
	heldMerges.Store(scorchDir(dir), func([]scorchsegment.Segment) { first() })
	defer heldMerges.Delete(scorchDir(dir))
	ix := mustOpen(t, dir, Options{tidyDelay: time.Hour})
	writeUntil(t, ix, 0, func() bool {
		select {
		case <-merging:
			return true
		default:
			return false
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range 2 {
		if err := ix.Compact(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Compact beside a merge: %v", err)
		}
	}
	close(goOn)
	if err := ix.Compact(t.Context()); err != nil {
		t.Error(err)
	}
}

// After a panic of scorch's merger, every Compact returns an error without waiting. Writes are
// still found.
func TestCompactAfterAPanic(t *testing.T) {
	dir := t.TempDir()
	heldMerges.Store(scorchDir(dir), func([]scorchsegment.Segment) { panic("rotten") })
	defer heldMerges.Delete(scorchDir(dir))
	ix := mustOpen(t, dir, Options{tidyDelay: time.Hour})
	writeUntil(t, ix, 0, func() bool {
		s, ok := ix.store.(*scorchStore)
		return ok && s.failed.panicked.Load()
	})
	for range 2 {
		if err := ix.Compact(t.Context()); !errors.Is(err, errPanicked) {
			t.Errorf("Compact: %v", err)
		}
	}
	if hits := search(t, ix, "common").Hits; len(hits) == 0 {
		t.Error("nothing is found")
	}
}

// Compact also removes the remains of a discarded index.
func TestCompactRemovesTrash(t *testing.T) {
	dir := stored(t)
	if err := os.MkdirAll(trashDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	ix := mustOpen(t, dir, Options{})
	if err := ix.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trashDir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the trash is there: %v", err)
	}
}

// unmergeable is a store that cannot merge.
type unmergeable struct{ store }

func (s unmergeable) prepareMerge(files []string) (func(context.Context) error, error) {
	merge, err := s.store.prepareMerge(files)
	if merge != nil {
		merge = func(context.Context) error { return errFull }
	}
	return merge, err
}

func TestCompactFails(t *testing.T) {
	ix, err := open(t.TempDir(), Options{}, func(dir string) (store, error) {
		s, err := openScorch(dir)
		return unmergeable{s}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	if err := ix.Apply(t.Context(), 1, benchChunks(50), nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	if err := ix.Apply(t.Context(), 2, nil, []uint64{7}); err != nil {
		t.Fatal(err)
	}
	if err := ix.Compact(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("Compact: %v, want the disk's error", err)
	}
	if n := ix.Stats().Chunks; n != 49 {
		t.Errorf("%d chunks after a failed Compact, want 49", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ix.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Compact: %v, want context.Canceled", err)
	}
}

// stuck is a store that fails to remove old files.
type stuck struct {
	store
	failed *bool
}

func (s stuck) cleanupError() error {
	if *s.failed {
		return errNotRemoved
	}
	return nil
}

func (s stuck) remaining(files []string) ([]string, error) {
	*s.failed = true
	return files, nil
}

// TestCompactAfterAFailure makes a store fail to remove old files and then to reopen. The next
// compaction reopens it and removes everything.
func TestCompactAfterAFailure(t *testing.T) {
	dir := t.TempDir()
	opened := 0
	ix, err := open(dir, Options{}, func(dir string) (store, error) {
		opened++
		if opened == 2 {
			return nil, errFull
		}
		s, err := openScorch(dir)
		if opened == 1 && err == nil {
			s = stuck{s, new(bool)}
		}
		return s, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	chunks := append(benchChunks(50), index.TextChunk{ID: 1000, Item: 1000, Text: "zqgonexw"})
	if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	if err := ix.Apply(t.Context(), 2, nil, []uint64{1000}); err != nil {
		t.Fatal(err)
	}
	if err := ix.Compact(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("Compact: %v, want the error of opening", err)
	}
	if err := ix.Compact(t.Context()); err != nil {
		t.Errorf("once it opens: %v", err)
	}
	if n := ix.Stats().Chunks; n != 50 || len(search(t, ix, "zqgonexw").Hits) != 0 {
		t.Errorf("%d chunks", n)
	}
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte("zqgonexw")) {
			t.Errorf("deleted text is in %s", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// sameChunk reports whether two chunks have the same terms with the same frequencies.
func sameChunk(a, b *pendingChunk) bool {
	terms := func(u *pendingChunk) map[string]uint32 {
		all := make(map[string]uint32)
		for term, i := range u.from.terms {
			for _, e := range u.from.lists[i] {
				if e.chunk == u.number {
					all[term] = e.tf
				}
			}
		}
		return all
	}
	x, y := a.from.cols.row(a.number), b.from.cols.row(b.number)
	return a.id == b.id && x.item == y.item && x.length == y.length && maps.Equal(terms(a), terms(b))
}

// Chunks read back from a segment equal the chunks written.
func TestChunksReadBack(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{})
	if err := ix.Apply(t.Context(), 1, benchChunks(100), nil); err != nil {
		t.Fatal(err)
	}
	want := liveChunks(ix.view.Load().parts[0])
	flush(t, ix)
	part := ix.view.Load().parts[0]
	stored, ok := part.segment.(*storedSegment)
	if !ok {
		t.Fatalf("segment is a %T", part.segment)
	}
	for _, step := range []int{1, 7, 60} {
		var numbers []uint32
		var some []*pendingChunk
		for n := 0; n < len(want); n += step {
			numbers = append(numbers, uint32(n))
			some = append(some, want[slices.IndexFunc(want, func(u *pendingChunk) bool { return u.id == stored.cols.row(uint32(n)).id })])
		}
		got, err := stored.readChunks(numbers)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(some, got, sameChunk) {
			t.Errorf("every %d: written %v, read %v", step, some, got)
		}
	}
}

// mergeBelow merges all segments of fewer chunks into one: a large batch is stored as several.
func mergeBelow(t *testing.T, ix *Index, chunks uint64) {
	t.Helper()
	plan := everything
	plan.MaxSegmentSize = 2 * int64(chunks)
	err := ix.withStore(t.Context(), func(s store) error { return s.(*scorchStore).merge(t.Context(), plan) })
	if err != nil {
		t.Fatal(err)
	}
	flush(t, ix) // publishes the merged segment
}

// Compact rewrites the segments with deleted chunks and little else, wherever they are.
func TestCompactLeavesOthers(t *testing.T) {
	const some = 0xA1B2C3D4_00000000 // no other bytes of a file are like an id
	for name, first := range map[string]uint64{"Smallest": 8500, "Middle": 7500} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ix := mustOpen(t, dir, Options{tidyDelay: time.Hour})
			for seq, ids := range [][2]uint64{{0, 5000}, {5000, 7500}, {7500, 8500}, {8500, 8800}} {
				var chunks []index.TextChunk
				for id := ids[0]; id < ids[1]; id++ {
					chunks = append(chunks, index.TextChunk{ID: some + id, Item: id / 10, Text: fmt.Sprint("harbour w", id)})
				}
				if err := ix.Apply(t.Context(), uint64(seq)+1, chunks, nil); err != nil {
					t.Fatal(err)
				}
				flush(t, ix)
				mergeBelow(t, ix, ids[1]-ids[0])
			}
			if n := slices.Sorted(slices.Values(sizes(ix))); !slices.Equal(n, []int{300, 1000, 2500, 5000}) {
				t.Fatalf("there are segments of %d chunks; scorch merges so few by itself", n)
			}
			_, before := hasTerm(t, ix.view.Load(), "harbour")
			if err := ix.Apply(t.Context(), 9, nil, []uint64{some + first + 1}); err != nil {
				t.Fatal(err)
			}
			want := search(t, ix, "harbour")
			if err := ix.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			found, after := holds(t, dir, []byte(key(some+first+1)))
			kept := slices.DeleteFunc(before, func(f string) bool { return !slices.Contains(after, f) })
			if found || len(kept) < 2 {
				t.Errorf("id found: %v; of the files %d are left, and there are %v", found, len(kept), after)
			}
			if d := cmp.Diff(want, search(t, ix, "harbour")); d != "" {
				t.Error(d)
			}
		})
	}
}

// plannedSegment is a segment in a merge plan.
type plannedSegment struct{ id, chunks uint64 }

func (s plannedSegment) Id() uint64      { return s.id } //nolint:staticcheck // mergeplan calls it so
func (s plannedSegment) FullSize() int64 { return int64(s.chunks) }
func (s plannedSegment) LiveSize() int64 { return int64(s.chunks) }
func (s plannedSegment) HasVector() bool { return false }
func (s plannedSegment) FileSize() int64 { return int64(s.chunks) }

// A pair is planned for the number of segments at that time. When scorch merges, there may be more,
// and the tainted one may be gone. Clean segments must then stay as they are.
func TestPairOfLeavesOthers(t *testing.T) {
	segments := []mergeplan.Segment{
		plannedSegment{1, 500_000},
		plannedSegment{2, 300_000},
		plannedSegment{3, 1000},
		plannedSegment{4, 500},
		plannedSegment{5, 20},
		plannedSegment{6, 10},
	}
	for name, c := range map[string]struct {
		tainted  uint64
		segments int
		want     [][]mergeplan.Segment
	}{
		"AsMany":  {3, 6, [][]mergeplan.Segment{segments[2:4]}},
		"OneMore": {3, 5, [][]mergeplan.Segment{segments[2:4]}},
		"More":    {3, 3, [][]mergeplan.Segment{segments[2:4]}},
		"Gone":    {7, 6, nil},
	} {
		t.Run(name, func(t *testing.T) {
			plan := pairOf(map[uint64]bool{c.tainted: true}, c.segments)
			p, err := mergeplan.Plan(segments, &plan)
			if err != nil {
				t.Fatal(err)
			}
			var merged [][]mergeplan.Segment
			for _, task := range p.Tasks {
				merged = append(merged, task.Segments)
			}
			if d := cmp.Diff(c.want, merged, cmp.AllowUnexported(plannedSegment{})); d != "" {
				t.Errorf("merged (-want +got):\n%s", d)
			}
		})
	}
}
