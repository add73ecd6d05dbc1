package keyword

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
)

// everything is a plan that merges all segments into one.
var everything = mergeplan.MergePlanOptions{
	MaxSegmentsPerTier:   1,
	MaxSegmentSize:       mergeplan.MaxSegmentSizeLimit,
	MaxSegmentFileSize:   math.MaxInt64,
	TierGrowth:           1,
	SegmentsPerMergeTask: math.MaxInt32,
	CalcBudget:           func(int64, int64, *mergeplan.MergePlanOptions) int { return 1 },
	ScoreSegments:        func(s []mergeplan.Segment, _ *mergeplan.MergePlanOptions) float64 { return -float64(len(s)) },
}

// awaitMerges implements store. It may run concurrently with write and close. A merge writes the
// chunks that were alive when it began, so its file may hold chunks deleted since. Scorch merges
// sequentially, so an empty merge ends after those that have begun.
func (s *scorchStore) awaitMerges(ctx context.Context) error {
	nothing := everything
	nothing.CalcBudget = func(int64, int64, *mergeplan.MergePlanOptions) int { return math.MaxInt }
	return s.merge(ctx, nothing)
}

// tainted returns the segment files that may hold data of deleted chunks: all but the files of
// current segments without dead chunks.
func (s *scorchStore) tainted() ([]string, error) {
	files, err := segmentFiles(s.dir)
	if err != nil {
		return nil, err
	}
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.release()
	clean := make(map[string]bool)
	for _, p := range snap.parts {
		clean[fileOf(p)] = p.live == p.columns().chunks()
	}
	return slices.DeleteFunc(files, func(f string) bool { return clean[f] }), nil
}

// fileOf returns the file of a stored part, or "".
func fileOf(p part) string {
	stored, ok := p.segment.(*storedSegment)
	if !ok {
		return ""
	}
	if f, ok := stored.seg.(scorchsegment.PersistedSegment); ok {
		return f.Path()
	}
	return ""
}

// prepareMerge returns a function that makes scorch use fewer of the files, or nil if it uses none.
// The function may run concurrently with write and close.
//
// A merge rewrites all live data of the merged segments, so it should cover little. Scorch merges
// neighbours by size: merging a segment that holds a deleted chunk with the next smaller one at
// most doubles the cost. That is done for one segment at a time. If there are many such segments,
// or large ones, all segments are merged into one. Scorch does not merge a segment with itself. If
// the segment is the smallest or the only one, the chunks of one item are written again, which
// creates a smaller one.
func (s *scorchStore) prepareMerge(files []string) (func(context.Context) error, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.release()
	tainted := make(map[uint64]bool)
	live, old := 0, 0
	for _, p := range snap.parts {
		if live += p.live; slices.Contains(files, fileOf(p)) {
			tainted[segmentID(p)] = true
			old += p.live
		}
	}
	if len(tainted) == 0 {
		return nil, nil
	}
	parts := len(snap.parts)
	least := slices.MinFunc(snap.parts, func(a, b part) int { return cmp.Compare(a.live, b.live) })
	few := len(tainted) <= maxPairMerges && 2*old < live
	if parts == 1 || few && least.live > 0 && tainted[segmentID(least)] {
		chunks, err := chunksOfOneItem(least)
		if err != nil {
			return nil, err
		}
		if err := s.write(batch{chunks: chunks, meta: snap.meta}); err != nil {
			return nil, err
		}
		parts++
	}
	plan := everything
	if few {
		plan = pairOf(tainted, parts)
	}
	return func(ctx context.Context) error { return s.merge(ctx, plan) }, nil
}

// maxPairMerges is the maximum number of segments that are merged one after the other.
const maxPairMerges = 8

// pairOf is a plan that merges two neighbours by size: among pairs with a tainted segment, the pair
// with the fewest chunks for each tainted one.
func pairOf(tainted map[uint64]bool, segments int) mergeplan.MergePlanOptions {
	pair := everything
	pair.SegmentsPerMergeTask = 2
	pair.CalcBudget = func(int64, int64, *mergeplan.MergePlanOptions) int { return segments - 1 }
	pair.ScoreSegments = func(two []mergeplan.Segment, _ *mergeplan.MergePlanOptions) float64 {
		chunks, hits := int64(0), 0
		for _, one := range two {
			if chunks += one.LiveSize(); tainted[one.Id()] {
				hits++
			}
		}
		switch {
		case len(two) < 2: // leaving it is better than merging two others, if more segments have appeared
			return math.MaxFloat64 / 2
		case hits == 0:
			return math.MaxFloat64
		default:
			return float64(chunks) / float64(hits)
		}
	}
	return pair
}

// segmentID returns scorch's id of a stored part.
func segmentID(p part) uint64 {
	if stored, ok := p.segment.(*storedSegment); ok {
		return stored.id
	}
	return 0
}

// prepareTidy implements store.
func (s *scorchStore) prepareTidy() (func(context.Context) error, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.release()
	chunks := mergeable(liveCounts(snap.parts))
	if chunks == 0 {
		return nil, nil
	}
	// The segments to merge are the smallest ones. The next larger one has more chunks.
	small := upTo(chunks - 1)
	return func(ctx context.Context) error { return s.merge(ctx, small) }, nil
}

// merge makes scorch merge by a plan. If that fails, scorch retries without end until it is
// cancelled. Scorch notices the cancellation, and the end of ctx, only after the current merge.
func (s *scorchStore) merge(ctx context.Context, plan mergeplan.MergePlanOptions) error {
	if s.failed.panicked.Load() {
		return errPanicked
	}
	select {
	case s.forcing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	mergeCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	before := s.errors()
	err := s.watch(ctx, func() error {
		defer func() { <-s.forcing }()
		return s.index.ForceMerge(mergeCtx, &plan)
	}, cancel)
	if err == nil && s.errors() > before {
		err = errors.New("scorch could not merge")
	}
	return err
}

// errPanicked reports that no merge will happen until the index is reopened.
var errPanicked = errors.New("scorch's merger has panicked; reopen the index")

// remaining returns the files that still exist. It also wakes scorch, which removes old files only
// after a write.
func (s *scorchStore) remaining(files []string) ([]string, error) {
	left := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		_, err := os.Lstat(f)
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(left) == 0 {
		return nil, nil
	}
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.release()
	return left, s.write(batch{meta: snap.meta})
}

// chunksOfOneItem returns the chunks of the item that has the fewest.
func chunksOfOneItem(p part) ([]*pendingChunk, error) {
	stored, ok := p.segment.(*storedSegment)
	if !ok {
		return nil, errors.New("the segment is not stored")
	}
	byItem := make(map[uint64][]uint32)
	for chunk := range uint32(stored.cols.chunks()) { //nolint:gosec // at most 2³²
		if !p.dead.has(chunk) {
			item := stored.cols.row(chunk).item
			byItem[item] = append(byItem[item], chunk)
		}
	}
	var fewest []uint32
	for _, chunks := range byItem {
		if fewest == nil || cmp.Or(cmp.Compare(len(chunks), len(fewest)), cmp.Compare(chunks[0], fewest[0])) < 0 {
			fewest = chunks
		}
	}
	return stored.readChunks(fewest)
}

// readChunks reads chunks back from the store, given by ascending number.
func (s *storedSegment) readChunks(numbers []uint32) ([]*pendingChunk, error) {
	m := newMemorySegment(len(numbers))
	for i, n := range numbers {
		r := s.cols.row(n)
		m.addChunk(r.id, r.item)
		m.rows[i].length = r.length
	}
	q := subsetLookup{subset: subset{chunks: numbers}, lookup: lookup{maxTf: MaxFrequency}}
	var nums []uint32
	var list []posting
	c := s.file.seek(nil)
	for c.advance() {
		l, err := s.file.list(c.list)
		if err == nil {
			list, err = l.appendAmong(list[:0], &q, &nums)
		}
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			continue
		}
		q.renumber(list)
		m.lists[m.addList(termOf(c.key))] = slices.Clone(list)
	}
	m.finish()
	return liveChunks(newPart(m, nil)), c.err
}
