package keyword

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"

	"github.com/ragctx/ragctx/index"
)

// The features of a text take about ten times as much memory as the text, and several
// times that while they are written. So a long parent is not kept in memory until a flush:
// it is analysed and written in pieces, each a segment. Then the segments become one, for
// the units of a parent are in one, and searches see it. Before that they see nothing of it.
const (
	longUnits  = backlog * segmentUnits // for which Apply would wait for the writer anyway
	pieceUnits = 500
)

// splitLong takes the units of long parents out of those of a batch.
func splitLong(units []index.TextUnit) (short []index.TextUnit, long [][]index.TextUnit) {
	short = units[:0:0]
	for rest := units; len(rest) > 0; {
		n := wholeParents(rest, 1)
		if n < longUnits {
			short = append(short, rest[:n]...)
		} else {
			long = append(long, rest[:n])
		}
		rest = rest[n:]
	}
	if long == nil {
		return units, nil
	}
	return short, long
}

// applyLong writes long parents, and shows them to searches. What fails leaves the index
// as it was, but for what later changes of the same units replace. Units are cleared as they
// are written.
func (ix *Index) applyLong(ctx context.Context, parents [][]index.TextUnit) error {
	if err := ix.Flush(ctx); err != nil { // so that nothing is in memory but what Apply adds
		return err
	}
	select {
	case ix.writer <- struct{}{}:
		defer func() { <-ix.writer }()
	case <-ctx.Done():
		return ctx.Err()
	}
	st, err := ix.freeze()
	if err != nil {
		return err
	}
	err = ix.writeWith(ctx, st, func(s store) (*snapshot, error) { return ix.writeLong(ctx, s, st, parents) })
	if err != nil {
		ix.thaw(st)
		return fmt.Errorf("keyword: write a long text: %w", err)
	}
	return nil
}

// writeLong stores long parents. The state before them, which st is, is stored.
func (ix *Index) writeLong(ctx context.Context, s store, st frozenState, parents [][]index.TextUnit) (*snapshot, error) {
	m := meta{version: version, origin: ix.opts.Origin(), cursor: st.base, units: unknownUnits}
	var ids []uint64
	for _, units := range parents {
		ids = append(ids, units[0].Parent)
		units = sorted(units)
		left := make(map[uint64]int)
		for piece := range slices.Chunk(units, pieceUnits) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := s.write(batch{units: liveUnits(newPart(analyseOn(piece, left), nil)), meta: m}); err != nil {
				return nil, err
			}
			clear(piece)
		}
	}
	for {
		v, err := viewOf(s)
		if err != nil {
			return nil, err
		}
		if size := v.scattered(ids); size > 0 {
			v.release()
			if err := s.gather(ctx, size); err != nil {
				return nil, err
			}
			continue
		}
		m.units, m.length = uint64(v.live), v.length //nolint:gosec // not negative
		v.release()
		if err := s.write(batch{meta: m}); err != nil {
			return nil, err
		}
		return s.snapshot()
	}
}

// viewOf returns a view of what is stored, with one reference.
func viewOf(s store) (*view, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.release()
	return newView(snap, snap.parts), nil
}

// scattered returns the number of live units of the largest part that has some of a parent
// of which another part has some, too; 0 if each parent is in one part.
func (v *view) scattered(parents []uint64) (size int) {
	for _, id := range parents {
		n, largest := 0, 0
		for _, p := range v.parts {
			if p.holdsParent(id) {
				n++
				largest = max(largest, p.live)
			}
		}
		if n > 1 {
			size = max(size, largest)
		}
	}
	return size
}

// holdsParent reports whether a unit of a parent is alive in the part.
func (p part) holdsParent(id uint64) bool {
	cols := p.columns()
	text, ok := slices.BinarySearch(cols.parents, id)
	if !ok {
		return false
	}
	place, _ := slices.BinarySearch(cols.text, uint32(text)) //nolint:gosec // at most 2³²
	return p.alive(cols, uint32(place))                      //nolint:gosec // at most 2³²
}

// gather implements store.
func (s *scorchStore) gather(ctx context.Context, units int) error {
	return s.merge(ctx, upTo(units))
}

// upTo is a plan that makes one of the segments with up to so many units: scorch takes
// those that have less than half of the size.
func upTo(units int) mergeplan.MergePlanOptions {
	small := everything
	small.MaxSegmentSize = min(2*int64(units)+2, mergeplan.MaxSegmentSizeLimit)
	return small
}

// keepsLong applies the long parents of a batch by themselves, and returns the rest. Where
// not even the first units can be written, as on a full disk, they are kept in memory as
// short parents are. After a later failure the index has to be opened and fed again.
func (ix *Index) keepsLong(ctx context.Context, units []index.TextUnit) (rest []index.TextUnit, err error) {
	short, long := splitLong(units)
	if long == nil || ix.dir == "" {
		return units, nil
	}
	err = ix.applyLong(ctx, long)
	switch {
	case err == nil:
		return short, nil
	case ix.life.Err() != nil:
		return nil, index.ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if first := long[0][0]; first == (index.TextUnit{}) {
		return nil, err
	}
	ix.opts.Logger.Error("keyword index: a long text stays in memory", slog.String("dir", ix.dir), slog.Any("error", err))
	return units, nil
}
