package hnsw

import (
	"context"
	"math/bits"
	"slices"
)

// scan compares the query with all vectors.
func (f *finder) scan(ctx context.Context) error {
	f.info.Exhaustive = true
	f.best.reset(f.query.K, 2*f.info.Error)
	f.refresh()
	for i, c := range f.d.chunks {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		there := c.live
		if f.query.Dead {
			there = c.held
		}
		f.scanChunk(uint32(i)<<chunkShift, c, there) //nolint:gosec // below maxSlots
	}
	return nil
}

// waiting returns the waiting slots.
func (f *finder) waiting() []uint32 {
	f.pending = f.pending[:0]
	for i, c := range f.d.chunks {
		if c.pending.Load() == 0 {
			continue
		}
		for at := range c.waiting.all {
			f.pending = append(f.pending, uint32(i)<<chunkShift|at) //nolint:gosec // below maxSlots
		}
	}
	return f.pending
}

// scanSlots compares the slots that the walk has not seen.
func (f *finder) scanSlots(slots []uint32) {
	for part := range slices.Chunk(slots, batch) {
		f.fresh = f.fresh[:0]
		for _, slot := range part {
			if f.seen[slot>>6]>>(slot&63)&1 == 0 {
				f.fresh = append(f.fresh, slot)
			}
		}
		f.info.Visited += len(f.fresh)
		f.collect(f.fresh, f.compare(f.fresh))
	}
}

// scanChunk compares the slots of a chunk that are set in a bitmap, 64 at a time. It reads no
// others, which may be under a concurrent write.
func (f *finder) scanChunk(first uint32, c *chunk, set *bitmap) {
	stride := f.g.stride
	for w := range set {
		word := set[w].Load()
		if word == 0 {
			continue
		}
		at := uint32(w) << 6 //nolint:gosec // below chunkSlots
		n := bits.OnesCount64(word)
		f.info.Visited += n
		slots := f.fresh[:0]
		for rest := word; rest != 0; rest &= rest - 1 {
			slots = append(slots, first+at+uint32(bits.TrailingZeros64(rest))) //nolint:gosec // below 64
		}
		f.fresh = slots
		if n == 64 {
			f.compareRun(c, at, c.codes[int(at)*stride:int(at+64)*stride])
		} else {
			f.compare(slots)
		}
		f.collect(slots, f.sims[:n])
	}
}

// compareRun sets sims to the cosines of 64 consecutive slots.
func (s *scratch) compareRun(c *chunk, at uint32, codes []int8) {
	raw := s.raw[:64]
	s.g.kernels.Scan8(s.query, codes, raw)
	for i, r := range c.rows[at : at+64] {
		s.sims[i] = s.scale * r.scale * float32(raw[i]-s.g.kernels.Bias*r.sum)
	}
}

// collect adds matching slots that reach the floor to best.
func (f *finder) collect(slots []uint32, sims []float32) {
	floor := f.best.floor()
	for i, sim := range sims {
		if sim < floor {
			continue
		}
		if c, at := f.d.chunk(slots[i]); f.matches(c, at) {
			f.best.add(entry{sim, slots[i]})
			floor = f.best.floor()
		}
	}
}
