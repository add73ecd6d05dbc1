package keyword

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// When only a few chunks are scored, features are read before they are scored. Looking features up
// in every part takes most of the time and needs no order, unlike adding up scores, so two
// goroutines share it.

// prefetch reads features before they are scored.
type prefetch struct {
	readers  [2]subsetReader
	features []prefetched
}

// prefetched locates the postings of a feature that was read.
type prefetched struct {
	reader   *subsetReader // nil if too many chunks have the feature
	postings int           // start of its postings in the reader
	ends     int           // start of its ends in the reader
	docFreq  docFreq
	err      error
}

// minParallel is the number of lists above which a second goroutine pays off.
const minParallel = 16

// read reads the features in the given subsets.
func (a *prefetch) read(ctx context.Context, subsets []subset, features []feature, live int) {
	a.features = slices.Grow(a.features[:0], len(features))[:len(features)]
	var next atomic.Int64
	work := func(r *subsetReader) {
		r.postings, r.ends = r.postings[:0], r.ends[:0]
		for i := next.Add(1) - 1; i < int64(len(features)); i = next.Add(1) - 1 {
			a.features[i] = r.read(ctx, subsets, &features[i], live)
		}
	}
	var other sync.WaitGroup
	if len(features)*len(subsets) > minParallel {
		other.Go(func() { work(&a.readers[1]) })
	}
	work(&a.readers[0])
	other.Wait()
}

// subsetReader reads the postings of features in subsets of the parts.
type subsetReader struct {
	seen     bitset // empty except while document frequencies are counted
	postings []posting
	ends     []int // end of each part's postings, relative to the feature's start
}

func (r *subsetReader) read(ctx context.Context, subsets []subset, f *feature, live int) prefetched {
	got := prefetched{postings: len(r.postings), ends: len(r.ends), err: ctx.Err()}
	if got.err != nil {
		return got
	}
	counts := false
	got.err = guard(func() (err error) {
		counts, got.docFreq, err = r.gather(subsets, f.text, kindFrequency[f.kind], LimitOf(f.kind, live))
		return err
	})
	if counts {
		got.reader = r
	}
	return got
}

// gather appends the postings of a term in the subsets. Unless limit is uncounted, it also counts
// the chunks and items that have the term in all chunks. It returns false above limit chunks.
func (r *subsetReader) gather(subsets []subset, term string, most uint32, limit int) (counts bool, n docFreq, err error) {
	first := len(r.postings)
	for _, part := range subsets {
		q := subsetLookup{lookup: lookup{term: term, maxTf: most}, subset: part, counted: limit != uncounted, seen: &r.seen}
		var found docFreq
		if r.postings, found, err = part.of.among(q, r.postings); err != nil {
			return false, n, err
		}
		n.chunks += found.chunks
		n.texts += found.texts
		if n.chunks > limit {
			return false, n, nil
		}
		r.ends = append(r.ends, len(r.postings)-first)
	}
	return true, n, nil
}

// searchShort adds the scores of the features on the short list.
func (s *scratch) searchShort(ctx context.Context, v *view, features []feature) error {
	s.prefetch.read(ctx, s.subsets, features, v.live)
	defer func(own subsetReader) { s.subsetReader = own }(s.subsetReader)
	for i, got := range s.prefetch.features {
		if got.err != nil {
			return got.err
		}
		weight := features[i].weight * s.weights[features[i].kind]
		if got.reader == nil || weight == 0 {
			continue
		}
		s.ends = got.reader.ends[got.ends:][:len(s.subsets)]
		s.postings, s.docFreq = got.reader.postings[got.postings:], got.docFreq
		s.add(v, weight)
	}
	return nil
}
