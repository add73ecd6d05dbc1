package keyword

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// What is scored in few units is read before: to look features up in every part takes most
// of the time and needs no order, unlike adding up what they score, so two goroutines share
// it.

// ahead is what was read of features before they are scored.
type ahead struct {
	readers  [2]fewReader
	features []readFeature
}

// readFeature says what was read of a feature.
type readFeature struct {
	by       *fewReader // nil where too many units have the feature
	postings int        // where its own start among the reader's
	ends     int        // likewise
	spread   spread
	err      error
}

// fewAhead is how many lists are not worth another goroutine.
const fewAhead = 16

// read reads features in the units of few.
func (a *ahead) read(ctx context.Context, few []subset, features []feature, live int) {
	a.features = slices.Grow(a.features[:0], len(features))[:len(features)]
	var next atomic.Int64
	work := func(r *fewReader) {
		r.postings, r.ends = r.postings[:0], r.ends[:0]
		for i := next.Add(1) - 1; i < int64(len(features)); i = next.Add(1) - 1 {
			a.features[i] = r.read(ctx, few, &features[i], live)
		}
	}
	var other sync.WaitGroup
	if len(features)*len(few) > fewAhead {
		other.Go(func() { work(&a.readers[1]) })
	}
	work(&a.readers[0])
	other.Wait()
}

// fewReader reads the postings of features in few units.
type fewReader struct {
	seen     bitset // empty but while the spread of one is counted
	postings []posting
	ends     []int // where those of each part end, from where the feature's start
}

func (r *fewReader) read(ctx context.Context, few []subset, f *feature, live int) readFeature {
	got := readFeature{postings: len(r.postings), ends: len(r.ends), err: ctx.Err()}
	if got.err != nil {
		return got
	}
	counts := false
	got.err = guard(func() (err error) {
		counts, got.spread, err = r.gather(few, f.text, kindFrequency[f.kind], limitOf(f.kind, live))
		return err
	})
	if counts {
		got.by = r
	}
	return got
}

// gather appends the postings of a term in the units of few, and counts how many units and
// parents have it in all, unless limit is uncounted. It reports false if more than limit
// units do.
func (r *fewReader) gather(few []subset, term string, most uint32, limit int) (counts bool, n spread, err error) {
	first := len(r.postings)
	for _, part := range few {
		q := among{lookup: lookup{term: term, most: most}, subset: part, counted: limit != uncounted, seen: &r.seen}
		var found spread
		if r.postings, found, err = part.of.among(q, r.postings); err != nil {
			return false, n, err
		}
		n.units += found.units
		n.texts += found.texts
		if n.units > limit {
			return false, n, nil
		}
		r.ends = append(r.ends, len(r.postings)-first)
	}
	return true, n, nil
}

// searchShort adds what features score on the short list.
func (s *scratch) searchShort(ctx context.Context, v *view, features []feature) error {
	s.ahead.read(ctx, s.few, features, v.live)
	defer func(own fewReader) { s.fewReader = own }(s.fewReader)
	for i, got := range s.ahead.features {
		if got.err != nil {
			return got.err
		}
		weight := features[i].weight * s.weights[features[i].kind]
		if got.by == nil || weight == 0 {
			continue
		}
		s.ends = got.by.ends[got.ends:][:len(s.few)]
		s.postings, s.spread = got.by.postings[got.postings:], got.spread
		s.add(v, weight)
	}
	return nil
}
