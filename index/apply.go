package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
)

// apply applies the batch after the last one. Both open indexes find its chunks at once, unless they are fed in the
// background. An index that fails is set aside and reopened; until then its scores are missing.
func (h *Hybrid) apply(ctx context.Context, b Batch) {
	h.write.Lock()
	defer h.write.Unlock()
	h.addChunks(b)
	if h.opts.Deferred {
		h.defers()
	} else {
		applyTo(ctx, h, "keyword", &h.keyword, &b)
		vectors := &h.vector.Load().slot
		if !vectors.paused.Load() {
			defer h.revises(b)()
		}
		applyTo(ctx, h, "vector", vectors, &b)
	}
	h.applyEnds(b)
	if !h.opts.Deferred {
		h.fedView.Store(h.view.Load())
	}
	h.applied.Store(max(h.applied.Load(), b.Seq))
}

// revises counts the beginning of a batch in which chunks get their vectors late, and returns a func that counts its end.
func (h *Hybrid) revises(b Batch) (end func()) {
	if len(b.Revised) == 0 {
		return func() {}
	}
	h.revising.Add(1)
	return func() { h.revising.Add(1) }
}

// applyTo applies a batch to an index. The work ends with the index, not with the caller's context.
func applyTo[L part](ctx context.Context, h *Hybrid, name string, s *slot[L], b *Batch) {
	if err := s.apply(h.shadows.life, b); err != nil && h.shadows.life.Err() == nil {
		failed(ctx, h, name, s, err, s.complete.Load(), b.Seq)
	}
}

// failed handles an index that rejected a batch. An error of the batch itself, such as a vector of
// another length, would recur, so the batch is skipped if the index has all before it. Otherwise the index restarts from its
// files, or is paused if its server is at fault.
func failed[L part](ctx context.Context, h *Hybrid, name string, s *slot[L], err error, level bool, seq uint64) {
	if errors.Is(err, ragctx.ErrInvalid) {
		h.opts.Logger.ErrorContext(ctx, "index rejected chunks, which it will not find", "index", name, "error", err)
		if level {
			s.at.Store(seq)
		}
		return
	}
	s.paused.Store(errors.Is(err, ragctx.ErrUnavailable))
	err = errors.Join(err, s.suspend(h.opts.Now()))
	h.opts.Logger.WarnContext(ctx, "index failed and will be reopened", "index", name, "error", err)
	h.wakeUp()
}

// addToCatalog applies a batch of chunks without texts and vectors to the catalog alone.
func (h *Hybrid) addToCatalog(b Batch) {
	h.write.Lock()
	defer h.write.Unlock()
	h.addChunks(b)
	h.applyEnds(b)
	h.applied.Store(max(h.applied.Load(), b.Seq))
}

// loadCatalog fills the catalog from its file and the feed.
func (h *Hybrid) loadCatalog(ctx context.Context) error {
	if err := h.restore(); err != nil {
		h.opts.Logger.WarnContext(ctx, "index catalog cannot be used and is rebuilt", "dir", h.opts.Dir, "reason", err)
	}
	if h.applied.Load() == 0 {
		err := h.opts.Feed.All(ctx, func(b Batch) error {
			h.addToCatalog(b)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read catalog: %w", err)
		}
	}
	for {
		b, err := h.opts.Feed.Follow(ctx, h.applied.Load(), Want{})
		if err != nil {
			return fmt.Errorf("follow store: %w", err)
		}
		if b.Seq <= h.applied.Load() {
			return nil
		}
		h.addToCatalog(b)
	}
}

// applyEnds marks ended and removed items. It runs after the indexes have the new chunks: for a
// moment both versions of a document can be found, and the check against the store drops the old
// one. At no moment is neither found.
func (h *Hybrid) applyEnds(b Batch) {
	var changed []*item
	for _, e := range b.Ended {
		if p := h.byItem[e.Item]; p != nil {
			changed = append(changed, p)
			p.ended.Store(e.Seq)
			p.superseded.Store(micros(e.At))
			if p.thread != nil {
				p.thread.varying.Store(true)
			}
		}
	}
	shorter := make(map[*thread]bool)
	for _, r := range b.Removed {
		if p := h.byItem[r.Item]; p != nil {
			changed = append(changed, p)
			p.removed.Store(true)
			delete(h.byItem, r.Item)
			if p.thread != nil {
				shorter[p.thread] = true
			}
		}
	}
	for t := range shorter {
		t.drop()
	}
	if len(b.Ended)+len(b.Removed) == 0 {
		return
	}
	next := *h.view.Load()
	if next.anyRestricted && len(next.unrestricted.pages) > 0 {
		next.unrestricted = next.unrestrictedWithout(changed)
	} else {
		next.anyRestricted = true
		next = next.withUnrestricted()
	}
	h.removedChunks += len(b.removedChunks())
	if h.removedChunks >= max(minPurge, len(next.ids)/8) {
		next, h.removedChunks = next.withoutRemoved(), 0
	}
	h.view.Store(&next)
}

// minPurge is the minimum number of removed chunks for which the catalog is rebuilt without them.
const minPurge = 1000

// addChunks publishes a view with the batch's new chunks.
func (h *Hybrid) addChunks(b Batch) {
	view := h.view.Load()
	speakers := view.speakers
	var fresh []catalogEntry
	for i := range b.Add {
		e := &b.Add[i]
		if _, ok := view.at(e.ID); ok {
			continue // already applied
		}
		p := h.byItem[e.Item.ID]
		if p == nil {
			p = newItem(e.Item)
			p.thread = h.threads.threadOf(e.Item)
			h.byItem[e.Item.ID] = p
		}
		var code uint32
		code, speakers = h.speakerCode(e.Speaker, speakers)
		fresh = append(fresh, catalogEntry{e.ID, p, int32(e.Ordinal), code}) //nolint:gosec // a document has far fewer than 2³¹ chunks
	}
	if len(fresh) == 0 {
		return
	}
	next := view.with(fresh)
	next.speakers = speakers
	h.threads.add(fresh) // now sorted by with
	countChunks(fresh)
	h.view.Store(&next)
}

// countChunks records the chunks of their items.
func countChunks(chunks []catalogEntry) {
	for _, u := range chunks {
		if p := u.item; p.chunks.Load() == 0 || u.id < p.firstChunk {
			p.firstChunk = u.id
		}
		u.item.chunks.Add(1)
	}
}

// speakerCode returns the code of a speaker, and the speakers including it.
func (h *Hybrid) speakerCode(v Speaker, speakers []Speaker) (uint32, []Speaker) {
	timed := v.Timed
	v.Timed = false
	n, ok := h.speakerCodes[v]
	if !ok {
		n = uint32(len(speakers)) //nolint:gosec // far fewer than 2³¹ speakers
		speakers = append(speakers, v)
		h.speakerCodes[v] = n
	}
	if timed {
		return n<<1 | 1, speakers
	}
	return n << 1, speakers
}

func newItem(of *Item) *item {
	p := &item{Item: of}
	p.ended.Store(of.Ended)
	p.superseded.Store(micros(of.Superseded))
	return p
}

// Effective returns the last upsert of each chunk of a batch, without the chunks that the batch deletes.
func Effective[C any](upserts []C, deletes []uint64, id func(C) uint64) []C {
	seen := make(map[uint64]struct{}, len(upserts)+len(deletes))
	for _, id := range deletes {
		seen[id] = struct{}{}
	}
	kept := make([]C, 0, len(upserts))
	for _, u := range slices.Backward(upserts) {
		if _, ok := seen[id(u)]; !ok {
			seen[id(u)] = struct{}{}
			kept = append(kept, u)
		}
	}
	slices.Reverse(kept)
	return kept
}
