package keyword

import (
	"context"
	"log/slog"

	"github.com/ragctx/ragctx/index/keyword/blockmax"
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
		for ix.deriveAll(ix.life) {
		}
	})
}

// deriveAll reads the words of all segments that searches see, and reports whether to
// look again: others may be seen by then. If not, it is not deriving any more.
func (ix *Index) deriveAll(ctx context.Context) bool {
	v := ix.acquire()
	if v == nil {
		return false
	}
	defer v.release()
	some := false
	for _, p := range v.stored() {
		s, ok := p.segment.(*storedSegment)
		if !ok || s.words.Load() != nil || s.wordless {
			continue
		}
		some = true
		var words *blockmax.Segment
		err := guard(func() (err error) {
			words, err = s.deriveWords(ctx, ix.opts.LongText)
			return err
		})
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			s.wordless = true
			ix.opts.Logger.Warn("keyword index: words are not in memory", slog.String("dir", ix.dir), slog.Any("error", err))
			continue
		}
		s.words.Store(words)
	}
	if some {
		return true
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.deriving.Store(false)
	return ix.view.Load() != v && !ix.closed && ix.deriving.CompareAndSwap(false, true)
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
