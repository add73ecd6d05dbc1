package keyword

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"

	"github.com/ragctx/ragctx/index"
)

// The features of a text take about ten times as much memory as the text, and several times that
// while they are written. So a long item does not wait in memory for a flush: it is analysed and
// written in batches, each a segment. Then the segments are merged, because the chunks of an item
// must be in one segment. The item becomes visible to searches only after that.
const (
	longItem  = backlog * segmentChunks // Apply would wait for the writer at this size anyway
	longBatch = 500
)

// splitLong separates the chunks of long items from the rest of a batch.
func splitLong(chunks []index.TextChunk) (short []index.TextChunk, long [][]index.TextChunk) {
	short = chunks[:0:0]
	for rest := chunks; len(rest) > 0; {
		n := wholeItems(rest, 1)
		if n < longItem {
			short = append(short, rest[:n]...)
		} else {
			long = append(long, rest[:n])
		}
		rest = rest[n:]
	}
	if long == nil {
		return chunks, nil
	}
	return short, long
}

// applyLong writes long items and publishes them. A failure leaves the index as it was, except
// for chunks that later changes replace. It clears the chunks as they are written.
func (ix *Index) applyLong(ctx context.Context, items [][]index.TextChunk) error {
	if err := ix.Flush(ctx); err != nil { // so that memory holds only what Apply adds
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
	err = ix.writeWith(ctx, st, func(s store) (*snapshot, error) { return ix.writeLong(ctx, s, st, items) })
	if err != nil {
		ix.thaw(st)
		return fmt.Errorf("keyword: write a long text: %w", err)
	}
	return nil
}

// writeLong stores long items. st is the state before them, which is already stored.
func (ix *Index) writeLong(ctx context.Context, s store, st frozenState, items [][]index.TextChunk) (*snapshot, error) {
	m := meta{version: version, origin: ix.opts.Origin(), cursor: st.base, chunks: unknownChunks}
	var ids []uint64
	for _, chunks := range items {
		ids = append(ids, chunks[0].Item)
		chunks = sorted(chunks)
		left := make(map[uint64]int)
		for piece := range slices.Chunk(chunks, longBatch) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := s.write(batch{chunks: liveChunks(newPart(analyseOn(piece, left), nil)), meta: m}); err != nil {
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
			if err := s.mergeSmall(ctx, size); err != nil {
				return nil, err
			}
			continue
		}
		m.chunks, m.length = uint64(v.live), v.length //nolint:gosec // not negative
		v.release()
		if err := s.write(batch{meta: m}); err != nil {
			return nil, err
		}
		return s.snapshot()
	}
}

// viewOf returns a view of the stored parts, with one reference.
func viewOf(s store) (*view, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.release()
	return newView(snap, snap.parts), nil
}

// scattered returns the live size of the largest part that shares an item with another part. It
// returns 0 if each item is in one part.
func (v *view) scattered(items []uint64) (size int) {
	for _, id := range items {
		n, largest := 0, 0
		for _, p := range v.parts {
			if p.holdsItem(id) {
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

// holdsItem reports whether the part has a live chunk of an item.
func (p part) holdsItem(id uint64) bool {
	cols := p.columns()
	text, ok := slices.BinarySearch(cols.items, id)
	if !ok {
		return false
	}
	place, _ := slices.BinarySearch(cols.text, uint32(text)) //nolint:gosec // at most 2³²
	return p.alive(cols, uint32(place))                      //nolint:gosec // at most 2³²
}

// mergeSmall implements store.
func (s *scorchStore) mergeSmall(ctx context.Context, chunks int) error {
	return s.merge(ctx, upTo(chunks))
}

// upTo is a plan that merges the segments of at most the given number of chunks into one. Scorch
// considers only segments below half of MaxSegmentSize.
func upTo(chunks int) mergeplan.MergePlanOptions {
	small := everything
	small.MaxSegmentSize = min(2*int64(chunks)+2, mergeplan.MaxSegmentSizeLimit)
	return small
}

// storeLong applies the long items of a batch and returns the other chunks. If not even the first
// chunks can be written, as on a full disk, it returns all, to be kept in memory as short items
// are. After a later failure the index has to be reopened and refilled.
func (ix *Index) storeLong(ctx context.Context, chunks []index.TextChunk) (rest []index.TextChunk, err error) {
	short, long := splitLong(chunks)
	if long == nil || ix.dir == "" {
		return chunks, nil
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
	if first := long[0][0]; first == (index.TextChunk{}) {
		return nil, err
	}
	ix.opts.Logger.Error("keyword index: writing a long text failed; it stays in memory",
		slog.String("dir", ix.dir), slog.Any("error", err))
	return chunks, nil
}
