package keyword

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// A search of many chunks has two passes; see the package comment.

// passOptions are the parameters of the two passes. Zero values stand for the defaults.
type passOptions struct {
	// rareWord is the number of chunks at which a word is no longer rare.
	rareWord int
	// minListed is the minimum size of the short list. It is larger if more hits are requested.
	minListed int
	// minRatio is the minimum ratio of all chunks to the short list. From there on, looking up
	// common grams for the short list is faster than reading them.
	minRatio int
}

func (p passOptions) withDefaults() passOptions {
	return passOptions{cmp.Or(p.rareWord, 8), cmp.Or(p.minListed, 300), cmp.Or(p.minRatio, 32)}
}

// shortListSize returns the size of the short list for k hits among live chunks, or 0 for a search
// in one pass.
func (p passOptions) shortListSize(k, live int) int {
	n := max(p.minListed, min(k, live))
	if n > live/p.minRatio {
		return 0
	}
	return n
}

// runPasses scores the features of a query and returns the best chunks.
func (s *scratch) runPasses(
	ctx context.Context, v *view, q *index.KeywordQuery, features []feature, p passOptions, groups *groupScores,
) (top, error) {
	n := p.shortListSize(q.K, v.live)
	if n == 0 && s.weights[analysis.Gram] > 0 {
		s.useLists(v, false) // reading grams in full takes far longer than words
	}
	common, err := s.firstPass(ctx, v, features, p.rareWord, groups)
	if err != nil {
		return top{}, err
	}
	if n > 0 && len(common) > 0 && q.Only == nil {
		best, err := s.rank(ctx, v, n, q.Accept)
		switch {
		case err != nil:
			return top{}, err
		case best.full():
			s.shorten(v, best.hits)
		case s.lists.inUse:
			return s.restart(ctx, v, q, features, p)
		}
	}
	if err := s.searchAll(ctx, v, common); err != nil {
		return top{}, err
	}
	return s.rank(ctx, v, q.K, q.Accept)
}

// searchAll adds the scores of features that are not words.
func (s *scratch) searchAll(ctx context.Context, v *view, features []feature) error {
	if s.short != nil {
		return s.searchShort(ctx, v, features)
	}
	for i := range features {
		if _, err := s.search(ctx, v, &features[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// restart scores all features again without the lists in memory. The chunks that were found are all
// that match, and few.
func (s *scratch) restart(ctx context.Context, v *view, q *index.KeywordQuery, features []feature, p passOptions) (top, error) {
	s.clear(v)
	s.start(v, s.longText, s.params)
	p.minRatio = math.MaxInt
	return s.runPasses(ctx, v, q, features, p, nil)
}

// firstPass scores all features except the grams of common words, which it returns.
func (s *scratch) firstPass(
	ctx context.Context, v *view, features []feature, rare int, groups *groupScores,
) (common []feature, err error) {
	isRare := make([]bool, len(features))
	for i := range features {
		f := &features[i]
		if f.kind == analysis.Gram {
			continue
		}
		chunks, err := s.search(ctx, v, f, groups)
		if err != nil {
			return nil, err
		}
		isRare[i] = f.kind == analysis.Word && chunks < rare
	}
	for _, f := range features {
		switch {
		case f.kind != analysis.Gram || s.weights[f.kind] == 0:
		case !slices.ContainsFunc(f.words, func(word int) bool { return isRare[word] }):
			common = append(common, f)
		default:
			if _, err := s.search(ctx, v, &f, nil); err != nil {
				return nil, err
			}
		}
	}
	return common, nil
}

// shorten restricts the rest of the search to the texts of the given chunks.
func (s *scratch) shorten(v *view, list []found) {
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(a.place, b.place) })
	s.short, s.subsets = make([][]uint32, 0, len(v.parts)), make([]subset, 0, len(v.parts))
	for i, p := range v.parts {
		n := 0
		for n < len(list) && list[n].place < v.firsts[i+1] {
			n++
		}
		places := p.columns().withSiblings(list[:n], v.firsts[i])
		s.short, s.subsets = append(s.short, places), append(s.subsets, p.subset(places))
		list = list[n:]
	}
}

// withSiblings returns the places of all chunks of the texts that the given chunks belong to. Both
// lists are ascending; the returned places are counted from first.
func (c *columns) withSiblings(list []found, first int) (places []uint32) {
	for _, hit := range list {
		at := uint32(hit.place - first) //nolint:gosec // below 2³²
		if n := len(places); n > 0 && places[n-1] >= at {
			continue // of a text that was added already
		}
		text := c.text[at]
		for at > 0 && c.text[at-1] == text {
			at--
		}
		for n := range c.chunkCounts[text] {
			places = append(places, at+n)
		}
	}
	return places
}

// subset returns the live chunks among those at the given places.
func (p part) subset(places []uint32) subset {
	s := subset{of: p}
	if len(places) == 0 {
		return s
	}
	cols := p.columns()
	in := bitset(nil).clone(cols.chunks()) // sorts the chunks
	for _, place := range places {
		if chunk := cols.chunk[place]; !p.dead.has(chunk) {
			in.set(chunk)
		}
	}
	s.chunks = slices.AppendSeq(make([]uint32, 0, len(places)), in.all())
	return s
}
