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

// everything is a plan to merge all segments into one.
var everything = mergeplan.MergePlanOptions{
	MaxSegmentsPerTier:   1,
	MaxSegmentSize:       mergeplan.MaxSegmentSizeLimit,
	MaxSegmentFileSize:   math.MaxInt64,
	TierGrowth:           1,
	SegmentsPerMergeTask: math.MaxInt32,
	CalcBudget:           func(int64, int64, *mergeplan.MergePlanOptions) int { return 1 },
	ScoreSegments:        func(s []mergeplan.Segment, _ *mergeplan.MergePlanOptions) float64 { return -float64(len(s)) },
}

// awaitMerges implements store. It runs beside write and close. A merge writes what was
// alive when it began, so its file may hold what has been deleted since; scorch merges
// one after the other, so a merge of nothing comes after those under way.
func (s *scorchStore) awaitMerges(ctx context.Context) error {
	nothing := everything
	nothing.CalcBudget = func(int64, int64, *mergeplan.MergePlanOptions) int { return math.MaxInt }
	return s.merge(ctx, nothing)
}

// tainted returns the segment files that may hold something of deleted units:
// all but those of the index's segments in which every unit is live.
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
		clean[fileOf(p)] = p.live == p.columns().units()
	}
	return slices.DeleteFunc(files, func(f string) bool { return clean[f] }), nil
}

// fileOf returns the file of a stored part, "" if it has none.
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

// prepareMerge returns a function that has scorch use fewer of the files; nil if it
// uses none. It runs beside write and close.
//
// A merge writes all that is alive in what it merges, so as little as can be is merged:
// scorch merges neighbours by size, and a segment that holds a deleted unit with the
// next smaller one at most doubles what it costs. That is done for one segment at a
// time. Where there are many, or large ones, all segments become one. Scorch does not
// merge a segment with itself: if it is the smallest, or the only one, the units of one
// parent are written again, which makes a smaller one.
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
	few := len(tainted) <= mostPairs && 2*old < live
	if parts == 1 || few && least.live > 0 && tainted[segmentID(least)] {
		units, err := unitsOfOneParent(least)
		if err != nil {
			return nil, err
		}
		if err := s.write(batch{units: units, meta: snap.meta}); err != nil {
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

// mostPairs is how many segments are merged one after the other.
const mostPairs = 8

// pairOf is a plan that makes one segment of two neighbours by size, of so many: of those
// with a tainted one, the two with the fewest units for each tainted one.
func pairOf(tainted map[uint64]bool, segments int) mergeplan.MergePlanOptions {
	pair := everything
	pair.SegmentsPerMergeTask = 2
	pair.CalcBudget = func(int64, int64, *mergeplan.MergePlanOptions) int { return segments - 1 }
	pair.ScoreSegments = func(two []mergeplan.Segment, _ *mergeplan.MergePlanOptions) float64 {
		units, hits := int64(0), 0
		for _, one := range two {
			if units += one.LiveSize(); tainted[one.Id()] {
				hits++
			}
		}
		switch {
		case len(two) < 2: // to leave it is better than to merge two others, if there are more by now
			return math.MaxFloat64 / 2
		case hits == 0:
			return math.MaxFloat64
		default:
			return float64(units) / float64(hits)
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
	units := mergeable(liveUnitsOf(snap.parts))
	if units == 0 {
		return nil, nil
	}
	// All that are smaller than those to be merged are together. The next larger one has more.
	small := upTo(units - 1)
	return func(ctx context.Context) error { return s.merge(ctx, small) }, nil
}

// merge has scorch merge by a plan. When that fails, scorch tries again without end,
// until it is called off. It hears of that, and of the end of ctx, only after the merge
// that it is at.
func (s *scorchStore) merge(ctx context.Context, plan mergeplan.MergePlanOptions) error {
	if s.failed.panicked.Load() {
		return errPanicked
	}
	select {
	case s.forcing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	called, callOff := context.WithCancel(ctx)
	defer callOff()
	before := s.errors()
	err := s.watch(ctx, func() error {
		defer func() { <-s.forcing }()
		return s.index.ForceMerge(called, &plan)
	}, callOff)
	if err == nil && s.errors() > before {
		err = errors.New("scorch could not merge")
	}
	return err
}

// errPanicked says that nothing is merged until the index is opened again.
var errPanicked = errors.New("scorch has failed for good; open the index again")

// left returns those of the files that are still there, and wakes scorch, which
// removes old files after a write only.
func (s *scorchStore) left(files []string) ([]string, error) {
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

// unitsOfOneParent returns the units of the parent with the fewest, as they are
// stored.
func unitsOfOneParent(p part) ([]storedUnit, error) {
	stored, ok := p.segment.(*storedSegment)
	if !ok {
		return nil, errors.New("the segment is not stored")
	}
	byParent := make(map[uint64][]uint32)
	for unit := range uint32(stored.cols.units()) { //nolint:gosec // at most 2³²
		if !p.dead.has(unit) {
			parent := stored.cols.row(unit).parent
			byParent[parent] = append(byParent[parent], unit)
		}
	}
	var fewest []uint32
	for _, units := range byParent {
		if fewest == nil || cmp.Or(cmp.Compare(len(units), len(fewest)), cmp.Compare(units[0], fewest[0])) < 0 {
			fewest = units
		}
	}
	return stored.readUnits(fewest)
}

// readUnits reads units back, given by ascending number.
func (s *storedSegment) readUnits(numbers []uint32) ([]storedUnit, error) {
	out := make([]storedUnit, len(numbers))
	for i, n := range numbers {
		r := s.cols.row(n)
		out[i] = storedUnit{id: r.id, parent: r.parent, length: r.length}
	}
	dict, err := s.seg.Dictionary(termField)
	if err != nil {
		return nil, err
	}
	r := &termReader{dict: dict}
	terms := dict.AutomatonIterator(nil, nil, nil)
	for {
		entry, err := terms.Next()
		if err != nil || entry == nil {
			return out, err
		}
		holders, err := s.units(r, []byte(entry.Term), math.MaxInt)
		if err != nil {
			return nil, err
		}
		key := storedKey{entry.Term, len(holders) == 1}
		for i, n := range numbers {
			if _, ok := slices.BinarySearch(holders, n); ok {
				out[i].keys = append(out[i].keys, key)
			}
		}
	}
}
