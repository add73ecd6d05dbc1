package keyword

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/ragctx/ragctx/index/keyword/blockmax"
	"github.com/ragctx/ragctx/internal/throttle"
)

// The words of stored segments are read into memory in the background, as soon as a
// flush or opening shows them; until then their postings are read where they are stored.
// Both ways give the same answers.

// derive has that begin. The caller holds mu.
func (ix *Index) derive() {
	if ix.dir == "" || ix.closed || !ix.deriving.CompareAndSwap(false, true) {
		return
	}
	ix.background.Go(func() {
		throttle.LowerPriority()
		for ix.deriveNext(ix.life) {
		}
	})
}

// deriveNext reads the words of a segment that searches see, and reports whether to look
// again. If not, it is not deriving any more. It keeps files open for as long as that
// segment is seen, and no longer: others may wait for them to go.
func (ix *Index) deriveNext(ctx context.Context) bool {
	v := ix.acquire()
	if v == nil {
		return false
	}
	defer v.release()
	s := v.underived()
	if s == nil {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		ix.deriving.Store(false)
		return ix.view.Load() != v && !ix.closed && ix.deriving.CompareAndSwap(false, true)
	}
	wanted := func() bool { return ctx.Err() == nil && ix.sees(s.derived) }
	var words *blockmax.Segment
	err := guard(func() (err error) {
		words, err = s.deriveWords(wanted, ix.opts.LongText)
		return err
	})
	switch {
	case errors.Is(err, errUnwanted):
	case err != nil:
		s.wordless = true
		ix.opts.Logger.Warn("keyword index: words are not in memory", slog.String("dir", ix.dir), slog.Any("error", err))
	default:
		s.words.Store(words)
	}
	return ctx.Err() == nil
}

// underived returns a segment whose words are to be read into memory, or nil. Only who
// derives them may ask.
func (v *view) underived() *storedSegment {
	for _, p := range v.stored() {
		if s, ok := p.segment.(*storedSegment); ok && s.words.Load() == nil && !s.wordless {
			return s
		}
	}
	return nil
}

// sees reports whether searches see a segment.
func (ix *Index) sees(d *derived) bool {
	v := ix.view.Load()
	return v != nil && slices.ContainsFunc(v.stored(), func(p part) bool {
		s, ok := p.segment.(*storedSegment)
		return ok && s.derived == d
	})
}

// inMemory returns the part's words, and which of its texts are dead; nil where they are
// to be read where they are stored: so are those of a text of which some units are dead
// and some are not, which no caller should bring about.
func (p part) inMemory() (*blockmax.Segment, bitset) {
	s, ok := p.segment.(*storedSegment)
	if !ok {
		return nil, nil
	}
	words := s.words.Load()
	if words == nil || p.dead == nil {
		return words, nil
	}
	if _, whole := p.gone.of(p); !whole {
		return nil, nil
	}
	return words, p.gone.text
}
