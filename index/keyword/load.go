package keyword

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
	"github.com/ragctx/ragctx/internal/throttle"
)

// The words of stored segments are loaded into memory in the background, as soon as a flush or Open
// publishes the segments. Until then postings are read from the store. Both ways give the same
// results.

// loadWords starts loading in the background. The caller holds mu.
func (ix *Index) loadWords() {
	if ix.dir == "" || ix.closed || !ix.loadingWords.CompareAndSwap(false, true) {
		return
	}
	ix.background.Go(func() {
		throttle.LowerPriority()
		for ix.loadNextWords(ix.life) {
		}
	})
}

// loadNextWords loads the words of one visible segment and reports whether to continue. If it
// returns false, loadingWords is reset. It holds the segment's files open only while the segment is
// visible, because others may wait for them to be removed.
func (ix *Index) loadNextWords(ctx context.Context) bool {
	v := ix.acquire()
	if v == nil {
		return false
	}
	defer v.release()
	s := v.nextUnloaded()
	if s == nil {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		ix.loadingWords.Store(false)
		return ix.view.Load() != v && !ix.closed && ix.loadingWords.CompareAndSwap(false, true)
	}
	wanted := func() bool { return ctx.Err() == nil && ix.sees(s.segmentCache) }
	var words *blockmax.Segment
	err := guard(func() (err error) {
		words, err = s.readWords(wanted, ix.opts.LongText)
		return err
	})
	switch {
	case errors.Is(err, errUnwanted):
	case err != nil:
		s.loadFailed = true
		ix.opts.Logger.Warn("keyword index: loading words into memory failed",
			slog.String("dir", ix.dir), slog.Any("error", err))
	default:
		s.words.Store(words)
	}
	return ctx.Err() == nil
}

// nextUnloaded returns a segment without loaded words, or nil. Only the loading goroutine
// may call it.
func (v *view) nextUnloaded() *storedSegment {
	for _, p := range v.stored() {
		if s, ok := p.segment.(*storedSegment); ok && s.words.Load() == nil && !s.loadFailed {
			return s
		}
	}
	return nil
}

// sees reports whether the current view contains a segment.
func (ix *Index) sees(d *segmentCache) bool {
	v := ix.view.Load()
	return v != nil && slices.ContainsFunc(v.stored(), func(p part) bool {
		s, ok := p.segment.(*storedSegment)
		return ok && s.segmentCache == d
	})
}

// inMemory returns the part's words and its set of dead texts. It returns nil if the postings must
// be read from the store. That is also the case if only some chunks of a text are dead, which no
// caller should cause.
func (p part) inMemory() (*blockmax.Segment, bitset) {
	s, ok := p.segment.(*storedSegment)
	if !ok {
		return nil, nil
	}
	words := s.words.Load()
	if words == nil || p.dead == nil {
		return words, nil
	}
	if _, whole := p.deadSet.of(p); !whole {
		return nil, nil
	}
	return words, p.deadSet.texts
}
